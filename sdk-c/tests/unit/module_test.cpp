// Real processes: frames in, frames or one line out. The C++ SDK runs the same tests over its own
// modules, with MODBERTH_TYPED: what its types forbid is left out there.
#include "process.hpp"
#include "vectors.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>

using namespace testing_support;

namespace
{

const std::string faulty = MODBERTH_FAULTY;
#ifndef MODBERTH_TYPED
const std::string serving = MODBERTH_SERVING;
#endif

/// P1-SDK-07: nonzero exit, empty standard output, one line that names code and place.
void expect_refusal(const observed &seen, const std::string &code, const std::string &place)
{
    EXPECT_EQ(seen.status, 1);
    EXPECT_EQ(seen.out, "");
    const std::string line = last_line(seen);
    EXPECT_EQ(line.rfind("modberth: " + code + ": ", 0), 0U) << line;
    EXPECT_NE(line.find(place), std::string::npos) << line;
    EXPECT_LE(line.size() + 1, 2048U);
}

void expect_refused(std::string_view input, const std::string &code, const std::string &place)
{
    expect_refusal(run(faulty, input), code, place);
}

void expect_message_refused(std::string_view message, const std::string &code,
                            const std::string &place)
{
    SCOPED_TRACE(std::string(message.substr(0, 200)));
    expect_refused(request(message), code, place);
}

std::string results(const std::string &action, const std::string &targets = R"(["a","b"])",
                    const std::string &parameters = "{}")
{
    return result_of(run(faulty, request(invoke(action, targets, parameters))));
}

std::string answer(const std::string &rows)
{
    return R"({"version":1,"type":"result","id":"request-id","results":[)" + rows + "]}";
}

// --- frames ---

// P1-FRAME-05, P1-SDK-01
TEST(Frames, CutShort)
{
    expect_refused("", "frame.missing", "frame 1");
    expect_refused(std::string_view("\0\0", 2), "frame.truncated", "frame 1");
    expect_refused(frame(hello).substr(0, 10), "frame.truncated", "frame 1");
    expect_refused(frame(hello), "frame.missing", "frame 2");
    const std::string whole = request(invoke("ok"));
    expect_refused(std::string_view(whole).substr(0, whole.size() - 1), "frame.truncated",
                   "frame 2");
    expect_refused(std::string_view(whole).substr(0, frame(hello).size() + 3), "frame.truncated",
                   "frame 2");
}

// P1-FRAME-02, P1-FRAME-03
TEST(Frames, LengthOutOfBounds)
{
    expect_refused(std::string_view("\0\0\0\0", 4), "frame.empty", "frame 1");
    expect_refused(std::string_view("\0\x10\0\x01", 4), "frame.too_large", "1048577 bytes");
    expect_refused("\xFF\xFF\xFF\xFF", "frame.too_large", "4294967295 bytes");
}

// P1-SDK-01
TEST(Frames, Extra)
{
    expect_refused(request(invoke("ok")) + frame(hello), "frame.extra", "frame 3");
    expect_refused(request(invoke("ok")) + "x", "frame.extra", "frame 3");
}

// P1-FRAME-02: the bound itself passes
TEST(Frames, LargestPayload)
{
    const std::string message = invoke("ok");
    expect_refused(frame(hello) +
                       frame(message + std::string(MODBERTH_FRAME_MAX + 1 - message.size(), ' ')),
                   "frame.too_large", "frame 2");
    const observed seen =
        run(faulty,
            frame(hello) + frame(message + std::string(MODBERTH_FRAME_MAX - message.size(), ' ')));
    EXPECT_EQ(seen.status, 0) << seen.err;
}

// P1-FRAME-01, P1-FRAME-04, P1-FRAME-06: lengths count bytes of every UTF-8 width, in any
// fragmentation
TEST(Frames, OneByteAtATime)
{
    start how;
    how.piece = 1;
    const std::string input = request(invoke("ok", R"(["é","日","😀"])"));
    const observed slow = run(faulty, input, how);
    EXPECT_EQ(slow.status, 0) << slow.err;
    EXPECT_EQ(slow.out, run(faulty, input).out);
}

// --- JSON ---

// P1-FRAME-03 and the whole profile: every refused vector as a frame of a real request
TEST(Json, EveryRefusedVector)
{
    for (const vector &one : vectors(MODBERTH_VECTORS)) {
        if (!one.code.empty() && !one.bytes.empty() && one.bytes.size() <= MODBERTH_FRAME_MAX) {
            SCOPED_TRACE(one.name);
            expect_refused(frame(hello) + frame(one.bytes), one.code, "frame 2, byte ");
        }
    }
    expect_refused(frame("{\"version\":1,}") + frame(invoke("ok")), "json.syntax",
                   "frame 1, byte 13");
}

// P1-SDK-08 and the profile: every accepted vector as parameters, and back unchanged where a double
// can carry it
TEST(Json, EveryAcceptedVectorPasses)
{
    for (const vector &one : vectors(MODBERTH_VECTORS)) {
        // As parameters it stands one level deeper.
        if (one.code.empty() && one.name.find("depth") == std::string::npos) {
            SCOPED_TRACE(one.name);
            const observed seen = run(faulty, request(invoke("ok", R"(["a"])", one.bytes)));
            EXPECT_EQ(seen.status, 0) << seen.err;
        }
    }
}

// --- messages ---

// P1-SDK-01
TEST(Messages, Hello)
{
    const auto refuse = [](const std::string &text, const std::string &code) {
        SCOPED_TRACE(text);
        expect_refused(frame(text) + frame(invoke("ok")), code, "frame 1: ");
    };
    refuse(R"({"version":2,"type":"hello","host_api":1})", "request.version");
    refuse(R"({"version":1.0,"type":"hello","host_api":1})", "request.version");
    refuse(R"({"version":1e0,"type":"hello","host_api":1})", "request.version");
    refuse(R"({"version":true,"type":"hello","host_api":1})", "request.version");
    refuse(R"({"version":"1","type":"hello","host_api":1})", "request.version");
    refuse(R"({"version":1,"type":"hello","host_api":2})", "request.host_api");
    refuse(R"({"version":2,"type":"hello","host_api":2})", "request.version");
    refuse(R"({"version":1,"type":"hello"})", "request.message");
    refuse(R"({"version":1,"type":"hello","host_api":1,"x":1})", "request.message");
    refuse(R"({"version":1,"TYPE":"hello","host_api":1})", "request.message");
    refuse(R"({"version":1,"type":"invoke","host_api":1})", "request.message");
    refuse(R"({"version":1,"type":1,"host_api":1})", "request.message");
    refuse("{}", "request.message");
}

// Names are compared after unescaping, and order is free.
TEST(Messages, HelloInAnyForm)
{
    const observed seen = run(faulty, frame(R"({"host_api":1, "typ\u0065":"hello","version":1} )") +
                                          frame(invoke("ok")));
    EXPECT_EQ(seen.status, 0) << seen.err;
}

std::string invoke_with(const std::string &field, const std::string &value)
{
    std::string message = "{";
    const char *const fields[][2] = {{"version", "1"},        {"type", "\"invoke\""},
                                     {"id", "\"r\""},         {"action", "\"ok\""},
                                     {"targets", R"(["a"])"}, {"parameters", "{}"}};
    for (const auto &one : fields) {
        const std::string content = field == one[0] ? value : one[1];
        if (!content.empty()) {
            message += std::string(message.size() > 1 ? "," : "") + "\"" + one[0] + "\":" + content;
        }
    }
    return message + "}";
}

TEST(Messages, Invoke)
{
    for (const char *field : {"version", "type", "id", "action", "targets", "parameters"}) {
        expect_message_refused(invoke_with(field, ""), "request.message", field);
    }
    expect_message_refused(invoke_with("parameters", R"({},"extra":1)"), "request.message",
                           "extra");
    expect_message_refused(invoke_with("version", "2"), "request.version", "frame 2");
    expect_message_refused(invoke_with("version", "true"), "request.version", "frame 2");
    expect_message_refused(invoke_with("type", "\"hello\""), "request.message", "type");
    expect_message_refused(invoke_with("id", "1"), "request.id", "frame 2");
    expect_message_refused(invoke_with("id", "\"\""), "request.id", "0 code points");
    expect_message_refused(invoke_with("id", "\"" + std::string(129, 'x') + "\""), "request.id",
                           "129");
    for (const char *bad : {"1", "\"\"", "\"Echo\"", "\"a b\"", "null"}) {
        expect_message_refused(invoke_with("action", bad), "request.message", "action");
    }
    expect_message_refused(invoke_with("action", "\"a" + std::string(96, 'x') + "\""),
                           "request.message", "action");
    for (const char *bad : {"[]", "1", "null", "\"x\""}) {
        expect_message_refused(invoke_with("parameters", bad), "request.parameters_type",
                               "parameters");
    }
}

std::string numbered_targets(int count)
{
    std::string list = "[";
    for (int i = 0; i < count; i++) {
        list += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) + "\"";
    }
    return list + "]";
}

// P1-SDK-02
TEST(Messages, Targets)
{
    const auto refuse = [](const std::string &targets, const std::string &code,
                           const std::string &place) {
        expect_message_refused(invoke("ok", targets), code, place);
    };
    refuse("{}", "request.message", "targets");
    refuse("[]", "request.target_count", "there are 0");
    refuse(numbered_targets(65), "request.target_count", "there are 65");
    refuse(R"(["a",1])", "request.target_type", "targets[1]");
    refuse(R"(["a",null])", "request.target_type", "targets[1]");
    refuse(R"([""])", "request.target_length", "targets[0]");
    refuse("[\"" + std::string(129, 'x') + "\"]", "request.target_length", "129");
    refuse(R"(["a","a/b"])", "request.target_character", R"(targets[1]: "a/b")");
    refuse(R"(["a\\b"])", "request.target_character", "targets[0]");
    refuse(R"(["a:b"])", "request.target_character", "targets[0]");
    refuse(R"(["a\u0000b"])", "json.nul", "frame 2, byte");
    refuse(R"(["a","b","\u0061"])", "request.target_duplicate", "targets[2]");
}

// P1-SDK-04, P1-SDK-08
TEST(Messages, IdsPassUnchanged)
{
    std::string astral;
    for (int i = 0; i < 128; i++) {
        astral += "😀";
    }
    const std::string targets = R"(["__proto__"," a ","..","b\nc","é",")"
                                "e\xCC\x81\",\"" +
                                astral + "\"]";
    std::string rows;
    int index = 0;
    for (const std::string &id :
         {std::string("__proto__"), std::string(" a "), std::string(".."), std::string("b\\nc"),
          std::string("é"), std::string("e\xCC\x81"), astral}) {
        rows += (index > 0 ? "," : "") + std::string("{\"target\":\"") + id +
                "\",\"data\":{\"index\":" + std::to_string(index) + "}}";
        index++;
    }
    EXPECT_EQ(results("ok", targets), answer(rows));
}

TEST(Messages, SixtyFourTargets)
{
    EXPECT_NE(results("ok", numbered_targets(64)).find(R"({"target":"t63","data":{"index":63}})"),
              std::string::npos);
}

TEST(Messages, ALongRequestIdComesBack)
{
    std::string id;
    for (int i = 0; i < 128; i++) {
        id += "\\u00e9";
    }
    const observed seen = run(faulty, request(invoke_with("id", "\"" + id + "\"")));
    std::string raw;
    for (int i = 0; i < 128; i++) {
        raw += "é";
    }
    EXPECT_NE(result_of(seen).find("\"id\":\"" + raw + "\""), std::string::npos);
}

// --- handlers ---

// P1-SDK-03, P1-SDK-04: the whole batch in one call, and exactly the two frames
TEST(Handlers, GoodResults)
{
    EXPECT_EQ(results("ok"),
              answer(R"({"target":"a","data":{"index":0}},{"target":"b","data":{"index":1}})"));
    EXPECT_EQ(results("reversed"),
              answer(R"({"target":"b","data":{"index":1}},{"target":"a","data":{"index":0}})"));
    EXPECT_EQ(results("keys", R"(["a"])"),
              answer(R"({"target":"a","data":{"__proto__":{"x":1},"constructor":2,"a":1,"A":2}})"));
    EXPECT_EQ(results("control", R"(["a"])"),
              answer("{\"target\":\"a\",\"data\":\"\\u0001\\u001f\\\"\\\\\xE2\x80\xA8\"}"));
    EXPECT_EQ(results("big-integer-ok", R"(["a"])"),
              answer(R"({"target":"a","data":9007199254740991})"));
    EXPECT_NE(results("message-1024").find("é"), std::string::npos);
}

// P1-SDK-10
TEST(Handlers, UnknownAction)
{
    EXPECT_EQ(
        results("no-such"),
        answer(
            R"({"target":"a","error":{"code":"unsupported_action","message":"This module has no action \"no-such\"."}},)"
            R"({"target":"b","error":{"code":"unsupported_action","message":"This module has no action \"no-such\"."}})"));
}

// P1-SDK-05: a result that is none says what one is
TEST(Handlers, AResultThatIsNone)
{
    expect_refusal(run(faulty, request(invoke("rows", R"(["a"])", R"({"rows":[1]})"))),
                   "output.results_type", "results[0]: a result is an object with target and data");
}

// P1-SDK-07: in the per-target form a failure is that target's error
TEST(Handlers, EachTargetFailsAlone)
{
    const observed seen = run(faulty, request(invoke("each-raise", R"(["a","bad1"])")));
    EXPECT_EQ(
        result_of(seen),
        answer(
            R"({"target":"a","data":{"index":0}},{"target":"bad1","error":{"code":"internal","message":"The module failed on this target."}})"));
    EXPECT_NE(seen.err.find("raised on purpose"), std::string::npos);
    EXPECT_EQ(
        results("each-target-error", R"(["bad","b"])"),
        answer(
            R"({"target":"bad","error":{"code":"not_found","message":"no such target"}},{"target":"b","data":{"index":1}})"));
}

// P1-SDK-05, P1-SDK-07: which target, and why
TEST(Handlers, BadResults)
{
    const auto refuse = [](const std::string &action, const std::string &code,
                           const std::string &place) {
        SCOPED_TRACE(action);
        expect_refusal(run(faulty, request(invoke(action, R"(["a","b"])"))), code, place);
    };
    refuse("raise", "output.handler_failed", "raised on purpose");
    refuse("missing", "output.target_missing", R"(target "a", targets[0])");
    refuse("unknown", "output.target_unknown", R"(results[0], target "stranger")");
    refuse("duplicate", "output.target_duplicate", R"(results[1], target "a")");
    refuse("both", "output.outcome_both", R"(results[0], target "a")");
    refuse("neither", "output.outcome_missing", R"(results[0], target "a")");
    refuse("extra-field", "output.result_fields",
           R"(results[0], target "a": unknown field "extra")");
    refuse("bad-code", "output.error_code", R"("Not Found")");
    refuse("each-bad-code", "output.error_code", R"(results[0], target "a")");
    refuse("long-message", "output.error_message", "1025 code points, the limit is 1024");
    refuse("nan", "json.nonfinite", R"(results[0], target "a")");
    refuse("infinity", "json.nonfinite", R"(results[0], target "a")");
    refuse("big-integer", "json.integer_range", "9007199254740992");
    refuse("surrogate", "json.utf8", R"(results[0], target "a")");
    refuse("too-big", "frame.too_large", R"(results[0], target "a")");
#ifndef MODBERTH_TYPED
    refuse("not-a-list", "output.results_type", "no array");
#endif
}

// Numbers that came in go out as the same double; beyond the exact range with an exponent
TEST(Handlers, NumbersPassThrough)
{
    const char *const cases[][2] = {{"1e20", "1e+20"},
                                    {"9007199254740993.0", "9.007199254740992e+15"},
                                    {"1.7976931348623157e308", "1.7976931348623157e+308"},
                                    {"-0", "-0"},
                                    {"0.1", "0.1"},
                                    {"0.30000000000000004", "0.30000000000000004"},
                                    {"1e15", "1000000000000000"},
                                    {"-9007199254740991", "-9007199254740991"},
                                    {"5e-324", "4.94065645841247e-324"}};
    for (const auto &one : cases) {
        EXPECT_EQ(results("number-echo", R"(["a"])", std::string("{\"value\":") + one[0] + "}"),
                  answer(std::string(R"({"target":"a","data":)") + one[1] + "}"));
    }
}

// P1-SDK-06
TEST(Handlers, StrayPrints)
{
    for (const char *action : {"print", "child-print"}) {
        const observed seen = run(faulty, request(invoke(action, R"(["a"])")));
        EXPECT_EQ(result_of(seen), answer(R"({"target":"a","data":{"index":0}})"));
        EXPECT_NE(seen.err.find("stray"), std::string::npos) << action;
    }
}

// --- the raw form ---

#ifndef MODBERTH_TYPED

// P1-SDK-11
TEST(Serve, GetsTheUntouchedRequest)
{
    const std::string message = invoke("echo", R"(["a"])", R"({"x":[1,{"y":null}]})");
    EXPECT_EQ(result_of(run(serving, request(message))),
              answer(R"({"target":"a","data":{"request":)" + message + "}}"));
    start how;
    how.arguments = {"with"};
    EXPECT_EQ(result_of(run(serving, request(message), how)),
              answer(R"({"target":"a","data":{"request":)" + message + R"(,"user":"user"}})"));
}

TEST(Serve, Refuses)
{
    start with;
    with.arguments = {"with"};
    expect_refusal(run(serving, request(invoke("nothing"))), "output.handler_failed", "no results");
    expect_refusal(run(serving, request(invoke("text"))), "output.results_type", "no array");
    expect_refusal(run(serving, request(invoke("reason")), with), "output.handler_failed",
                   "the reason");
    start none;
    none.arguments = {"none"};
    expect_refusal(run(serving, request(invoke("x")), none), "process.actions", "handler");
}

// A row without a name must not end the table in silence.
TEST(Table, ARowWithoutAName)
{
    start how;
    how.arguments = {"no-name"};
    for (const char *action : {"first", "last"}) {
        expect_refusal(run(serving, request(invoke(action)), how), "process.actions", "actions[1]");
    }
}

// P1-SDK-10: the author who misspelt an action sees which there are, in one bounded line
TEST(Table, AnUnknownActionNamesTheOthers)
{
    start how;
    how.arguments = {"empty"};
    EXPECT_EQ(run(serving, request(invoke("x")), how).err,
              "action \"x\": not in this module; it has no actions\n");
    how.arguments = {"many"};
    const observed seen = run(serving, request(invoke("x")), how);
    EXPECT_EQ(seen.err.rfind("action \"x\": not in this module; its actions: a0000, a0001, ", 0),
              0U)
        << seen.err;
    EXPECT_NE(seen.err.find(", a0278 and 721 more\n"), std::string::npos) << seen.err;
    EXPECT_EQ(run(serving, request(invoke("a0999")), how).err, "");
}

#endif

// --- streams ---

TEST(Streams, Closed)
{
    start in, out, err;
    in.close_in = true;
    out.close_out = true;
    err.close_err = true;
    expect_refusal(run(faulty, "", in), "process.io", "standard input");
    expect_refusal(run(faulty, request(invoke("ok")), out), "process.io", "standard output");
    const observed silent = run(faulty, request(invoke("ok")), err);
    EXPECT_EQ(silent.status, 1);
    EXPECT_EQ(silent.out, "");
}

// A reader that is gone is a refusal, not a signal.
TEST(Streams, NobodyReads)
{
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    start how;
    how.out = ends[1];
    expect_refusal(run(faulty, request(invoke("ok")), how), "process.io", "after 0 of");
    close(ends[1]);
}

TEST(Streams, Full)
{
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    start how;
    how.out = full;
    expect_refusal(run(faulty, request(invoke("ok")), how), "process.io", "standard output");
    close(full);
}

// A locale with a comma, set by the environment, has no say.
TEST(Streams, Locale)
{
    start how;
    how.environment = {std::string("LOCPATH=") + MODBERTH_LOCPATH, "LC_ALL=xx_XX"};
    how.arguments = {"locale"};
    const observed seen =
        run(faulty, request(invoke("number-echo", R"(["a"])", R"({"value":1.5})")), how);
    EXPECT_EQ(result_of(seen), answer(R"({"target":"a","data":1.5})"));
}

} // namespace
