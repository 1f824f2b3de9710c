// A module of the C++ SDK whose handlers go wrong on demand. Tests feed it frames and look at what
// comes out. In most batch handlers the first target of the batch is the one that is wrong.
#include <clocale>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <modberth_sdk.hpp>

namespace
{

using modberth::batch;
using modberth::json;
using modberth::params;
using modberth::result;
using modberth::results;
using modberth::target;
using modberth::target_error;

json index_data(const target& one)
{
    return json{{"index", one.index()}};
}

/// The given result for the first target and right ones for the others.
results first_is(const batch& all, result first)
{
    results rows;
    rows.push_back(std::move(first));
    for (std::size_t i = 1; i < all.targets().size(); i++) {
        rows.push_back(all.targets()[i].data(index_data(all.targets()[i])));
    }
    return rows;
}

results first_data(const batch& all, json data)
{
    return first_is(all, all.targets().front().data(std::move(data)));
}

std::string repeated(const std::string& piece, std::size_t count)
{
    std::string text;
    for (std::size_t i = 0; i < count; i++) {
        text += piece;
    }
    return text;
}

bool is_bad(const target& one)
{
    return one.id().rfind("bad", 0) == 0;
}

results ok(const batch& all)
{
    results rows;
    for (const target& one : all.targets()) {
        rows.push_back(one.data(index_data(one)));
    }
    return rows;
}

results reversed(const batch& all)
{
    results rows;
    for (auto one = all.targets().rbegin(); one != all.targets().rend(); ++one) {
        rows.push_back(one->data(index_data(*one)));
    }
    return rows;
}

results raise_batch(const batch&)
{
    throw std::runtime_error("raised on purpose");
}

json each_raise(const target& one, const params&)
{
    if (is_bad(one)) {
        throw std::runtime_error("raised on purpose");
    }
    return index_data(one);
}

json each_target_error(const target& one, const params&)
{
    if (is_bad(one)) {
        throw target_error("not_found", "no such target");
    }
    return index_data(one);
}

results missing(const batch& all)
{
    results rows = ok(all);
    rows.erase(rows.begin());
    return rows;
}

results unknown(const batch& all)
{
    return first_is(all, result::raw({{"target", "stranger"}, {"data", nullptr}}));
}

results duplicate(const batch& all)
{
    results rows = ok(all);
    if (rows.size() > 1) {
        const target& first = all.targets().front();
        rows[1] = first.data(index_data(first));
    }
    return rows;
}

results both(const batch& all)
{
    return first_is(all, result::raw({{"target", all.targets().front().id()},
                                      {"data", nullptr},
                                      {"error", {{"code", "both"}, {"message", "both"}}}}));
}

results neither(const batch& all)
{
    return first_is(all, result::raw({{"target", all.targets().front().id()}}));
}

results extra_field(const batch& all)
{
    return first_is(
        all,
        result::raw({{"target", all.targets().front().id()}, {"data", nullptr}, {"extra", true}}));
}

results bad_code(const batch& all)
{
    return first_is(all, all.targets().front().error("Not Found", "x"));
}

json each_bad_code(const target&, const params&)
{
    throw target_error("Not Found", "x");
}

results long_message(const batch& all)
{
    return first_is(all, all.targets().front().error("long_message", repeated("é", 1025)));
}

results message_1024(const batch& all)
{
    return first_is(all, all.targets().front().error("long_message", repeated("é", 1024)));
}

results not_a_number(const batch& all)
{
    return first_data(all, std::numeric_limits<double>::quiet_NaN());
}

results infinite(const batch& all)
{
    return first_data(all, std::numeric_limits<double>::infinity());
}

results big_integer(const batch& all)
{
    return first_data(all, std::int64_t{MB_INTEGER_MAX} + 1);
}

results big_integer_ok(const batch& all)
{
    return first_data(all, std::int64_t{MB_INTEGER_MAX});
}

results surrogate(const batch& all)
{
    return first_data(all, "\xED\xA0\x80");
}

/// A list that alone passes the limit of a frame.
json huge()
{
    json list = json::array();
    for (int i = 0; i < 64; i++) {
        list.push_back(std::string(60000, 'x'));
    }
    return list;
}

results too_big(const batch& all)
{
    return first_data(all, huge());
}

// The same faults in the each-target form, on targets whose id begins "bad".

json each_long_message(const target& one, const params&)
{
    if (is_bad(one)) {
        throw target_error("long_message", repeated("é", 1025));
    }
    return index_data(one);
}

json each_nan(const target& one, const params&)
{
    return is_bad(one) ? json(std::numeric_limits<double>::quiet_NaN()) : index_data(one);
}

json each_infinity(const target& one, const params&)
{
    return is_bad(one) ? json(std::numeric_limits<double>::infinity()) : index_data(one);
}

json each_big_integer(const target& one, const params&)
{
    return is_bad(one) ? json(std::int64_t{MB_INTEGER_MAX} + 1) : index_data(one);
}

json each_surrogate(const target& one, const params&)
{
    return is_bad(one) ? json("\xED\xA0\x80") : index_data(one);
}

json each_too_big(const target& one, const params&)
{
    return is_bad(one) ? huge() : index_data(one);
}

results print(const batch& all)
{
    // Neither is flushed: the end of the process does that.
    std::printf("stray print\n");
    std::puts("stray print");
    return ok(all);
}

results child_print(const batch& all)
{
    const pid_t child = fork();
    if (child == 0) {
        execl("/bin/echo", "echo", "stray", "child", static_cast<char*>(nullptr));
        _exit(127);
    }
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        throw std::runtime_error("the child failed");
    }
    return ok(all);
}

json number_echo(const target&, const params& parameters)
{
    return parameters["value"].clone();
}

/// Data of the kind, count and unit that the parameters say.
json made(const target&, const params& parameters)
{
    const std::string_view kind = parameters.string("kind").value();
    const std::string unit(parameters.string("unit").value());
    const std::int64_t count = parameters.integer("count").value();
    if (kind == "text") {
        return repeated(unit, static_cast<std::size_t>(count));
    }
    json data = kind == "name" || kind == "members" ? json::object() : json::array();
    if (kind == "name") {
        data.set(repeated(unit, static_cast<std::size_t>(count)), nullptr);
        return data;
    }
    for (std::int64_t i = kind == "levels" ? 1 : 0; i < count; i++) {
        if (kind == "levels") {
            data = json::array_of(std::move(data));
        } else if (kind == "list") {
            data.push_back(nullptr);
        } else {
            data.set(std::to_string(i), nullptr);
        }
    }
    return data;
}

/// The results that the parameter rows holds, whatever they are.
results rows(const batch& all)
{
    results given;
    for (const modberth::json_view row : all.parameters()["rows"]) {
        given.push_back(result::raw(row.clone()));
    }
    return given;
}

results keys(const batch& all)
{
    results rows;
    for (const target& one : all.targets()) {
        rows.push_back(
            one.data({{"__proto__", {{"x", 1}}}, {"constructor", 2}, {"a", 1}, {"A", 2}}));
    }
    return rows;
}

results control(const batch& all)
{
    results rows;
    for (const target& one : all.targets()) {
        rows.push_back(one.data("\x01\x1F\"\\\xE2\x80\xA8"));
    }
    return rows;
}

} // namespace

int main(int argc, char** argv)
{
    // With this word the module follows the locale of its environment, as many programs do.
    if (argc > 1 && std::string_view(argv[1]) == "locale" &&
        std::setlocale(LC_ALL, "") == nullptr) {
        return 70;
    }
    modberth::module m;
    m.batch("ok", ok).batch("reversed", reversed);
    m.batch("raise", raise_batch).each("each-raise", each_raise);
    m.each("each-target-error", each_target_error);
    m.batch("missing", missing).batch("unknown", unknown).batch("duplicate", duplicate);
    m.batch("both", both).batch("neither", neither).batch("extra-field", extra_field);
    m.batch("bad-code", bad_code).each("each-bad-code", each_bad_code);
    m.batch("long-message", long_message).batch("message-1024", message_1024);
    m.batch("nan", not_a_number).batch("infinity", infinite);
    m.batch("big-integer", big_integer).batch("big-integer-ok", big_integer_ok);
    m.batch("surrogate", surrogate).batch("too-big", too_big);
    // A result list of another type does not compile: the action not-a-list is absent.
    m.batch("print", print).batch("child-print", child_print);
    m.each("each-long-message", each_long_message).each("each-too-big", each_too_big);
    m.each("each-nan", each_nan).each("each-infinity", each_infinity);
    m.each("each-big-integer", each_big_integer).each("each-surrogate", each_surrogate);
    m.each("number-echo", number_echo);
    m.each("made", made).batch("rows", rows);
    m.batch("keys", keys).batch("control", control);
    return m.run();
}
