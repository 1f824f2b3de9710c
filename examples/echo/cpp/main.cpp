#include <modberth_sdk.hpp>

struct EchoParams {
    std::string message;

    static EchoParams from_params(const modberth::params& parameters)
    {
        const auto message = parameters.string("message");
        if (!message) {
            throw modberth::target_error(modberth::unsupported_action, "Echo needs a message.");
        }
        return {std::string(*message)};
    }
};

int main()
{
    modberth::module m;
    m.each<EchoParams>("echo", [](const modberth::target& target, const EchoParams& parameters) {
        return modberth::json{{"message", parameters.message}, {"index", target.index()}};
    });
    return m.run();
}
