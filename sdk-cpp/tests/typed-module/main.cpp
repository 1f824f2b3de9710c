// Typed parameters, typed data, errors by value and by exception, and modules whose table is wrong.
// The same source is built without exceptions too.
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <modberth_sdk.hpp>

namespace
{

struct Query {
    std::string text;
    std::int64_t limit = 0;
    double scale = 1.0;
    bool deep = false;
    std::vector<std::string> names{};

    static Query from_params(const modberth::params& parameters)
    {
        Query made;
        made.text = parameters.string("text").value_or("none");
        made.limit = parameters.integer("limit").value_or(-1);
        made.scale = parameters.number("scale").value_or(1.0);
        made.deep = parameters.boolean("deep").value_or(false);
        for (const auto name :
             parameters.strings("names").value_or(std::vector<std::string_view>{})) {
            made.names.emplace_back(name);
        }
        return made;
    }
};

struct Answer {
    std::string text;
    std::size_t index;

    [[nodiscard]] modberth::json to_json() const { return {{"text", text}, {"index", index}}; }
};

modberth::json describe(const modberth::target&, const Query& query)
{
    modberth::json names = modberth::json::array();
    for (const auto& name : query.names) {
        names.push_back(name);
    }
    return {{"text", query.text},
            {"limit", query.limit},
            {"scale", query.scale},
            {"deep", query.deep},
            {"names", std::move(names)}};
}

Answer typed(const modberth::target& target, const Query& query)
{
    return {query.text, target.index()};
}

modberth::outcome by_value(const modberth::target& target, const modberth::params&)
{
    if (target.index() == 0) {
        return modberth::target_error("not_found", "by value");
    }
    return modberth::json("found");
}

modberth::json nul_in_text(const modberth::target&, const modberth::params&)
{
    return std::string("a\0b", 3);
}

modberth::json nul_in_name(const modberth::target&, const modberth::params&)
{
    modberth::json data = modberth::json::object();
    data.set(std::string_view("a\0b", 3), true);
    return data;
}

modberth::target_error nul_in_code(const modberth::target&, const modberth::params&)
{
    return {std::string_view("code\0", 5), "text"};
}

modberth::target_error nul_in_error(const modberth::target&, const modberth::params&)
{
    return {"code", std::string_view("a\0b", 3)};
}

#if defined(__cpp_exceptions)
struct Strict {
    static Strict from_params(const modberth::params&)
    {
        throw modberth::target_error("unusable", "thrown by from_params");
    }
};
#endif

} // namespace

int main(int argc, char** argv)
{
    const std::string_view word = argc > 1 ? argv[1] : "";
    modberth::module m;
    m.each<Query>("describe", describe);
    m.each<Query>("typed", typed);
    m.each("by-value", by_value);
    m.each("nul-in-text", nul_in_text);
    m.each("nul-in-name", nul_in_name);
    m.each("nul-in-code", nul_in_code);
    m.each("nul-in-error", nul_in_error);
    m.each("plain", [](const modberth::target& target, const modberth::params&) {
        return std::string(target.id());
    });
    m.batch("about", [](const modberth::batch& all) {
        modberth::results rows;
        for (const modberth::target& one : all.targets()) {
            rows.push_back(one.data({{"id", all.id()}, {"action", all.action()}}));
        }
        return rows;
    });
    // What a handler holds need not be copyable.
    auto owned = std::make_unique<int>(7);
    m.each("owns", [owned = std::move(owned)](const modberth::target&, const modberth::params&) {
        return *owned;
    });
#if defined(__cpp_exceptions)
    m.each<Strict>("strict", [](const modberth::target&, const Strict&) { return true; });
    m.each("throws-number",
           [](const modberth::target&, const modberth::params&) -> modberth::json { throw 42; });
    m.batch("batch-throws-number", [](const modberth::batch&) -> modberth::results { throw 42; });
    m.batch("batch-throws-target-error", [](const modberth::batch&) -> modberth::results {
        throw modberth::target_error("not_found", "in a batch");
    });
#endif
    if (word == "twice") {
        m.each("plain", nul_in_text);
    } else if (word == "bad-name") {
        m.each("Not An Identifier", nul_in_text);
    } else if (word == "nul-name") {
        m.each(std::string_view("a\0b", 3), nul_in_text);
    } else if (word == "null-each") {
        m.each("null", static_cast<decltype(&nul_in_text)>(nullptr));
    } else if (word == "null-typed") {
        m.each<Query>("null", static_cast<decltype(&describe)>(nullptr));
    } else if (word == "empty-batch") {
        m.batch("null", std::function<modberth::results(const modberth::batch&)>());
    } else if (word == "empty-serve") {
        return modberth::serve(std::function<modberth::results(modberth::json_view)>());
    }
    return m.run();
}
