// Each CASE is one mistake that must not compile; without one the file is right.
#include <modberth_sdk.hpp>

struct Query {
    std::string text;
    static Query from_params(const modberth::params&) { return {}; }
};

struct Other {
    int value;
};

int main()
{
    modberth::module m;
#if CASE == 0
    m.each<Query>("a", [](const modberth::target&, const Query& query) { return query.text; });
#elif CASE == 1 // the handler takes another type than the parameters have
    m.each<Query>("a", [](const modberth::target&, const Other& other) { return other.value; });
#elif CASE == 2 // the parameters' type cannot be made from a request
    m.each<Other>("a", [](const modberth::target&, const Other& other) { return other.value; });
#elif CASE == 3 // a member of another type
    m.each<Query>("a", [](const modberth::target&, const Query& query) -> modberth::json {
        const int number = query.text;
        return number;
    });
#elif CASE == 4 // data that is no JSON
    m.each<Query>("a", [](const modberth::target&, const Query&) { return Other{1}; });
#elif CASE == 5 // the arguments the wrong way round
    m.each("a", [](const modberth::params&, const modberth::target&) { return 1; });
#elif CASE == 6 // a batch that gives no results
    m.batch("a", [](const modberth::batch&) { return modberth::json(1); });
#elif CASE == 7 // a pointer as a boolean
    m.each("a",
           [&m](const modberth::target&, const modberth::params&) { return modberth::json(&m); });
#elif CASE == 8 // the exit status is lost
    m.run();
    return 0;
#endif
    return m.run();
}
