// The smallest module: each target gets its own id.
#include <modberth_sdk.hpp>

int main()
{
    modberth::module m;
    m.each("name",
           [](const modberth::target& target, const modberth::params&) { return target.id(); });
    return m.run();
}
