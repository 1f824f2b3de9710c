// A module in the raw form: one callback over the untouched request.
#include <modberth_sdk.hpp>

int main()
{
    std::size_t calls = 0;
    return modberth::serve([&calls](modberth::json_view request) {
        calls++;
        modberth::results rows;
        if (request["action"].as_string() == "nothing") {
            return rows;
        }
        for (const modberth::json_view target : request["targets"]) {
            modberth::json row{{"target", target.clone()}};
            row.set("data", modberth::json{{"request", request.clone()}, {"calls", calls}});
            rows.push_back(modberth::result::raw(std::move(row)));
        }
        return rows;
    });
}
