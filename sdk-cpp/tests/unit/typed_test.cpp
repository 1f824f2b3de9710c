// What the C++ SDK adds: typed handlers, errors by value, exceptions, the raw form. The tests run
// over a build with exceptions and one without.
#include "process.hpp"

#include <gtest/gtest.h>

using namespace testing_support;

namespace
{

std::string answer(const std::string& rows)
{
    return R"({"version":1,"type":"result","id":"request-id","results":[)" + rows + "]}";
}

void expect_refusal(const observed& seen, const std::string& code, const std::string& place)
{
    EXPECT_EQ(seen.status, 1);
    EXPECT_EQ(seen.out, "");
    const std::string line = last_line(seen);
    EXPECT_EQ(line.rfind("modberth: " + code + ": ", 0), 0U) << line;
    EXPECT_NE(line.find(place), std::string::npos) << line;
}

class Typed : public testing::TestWithParam<const char*>
{
protected:
    static std::string results(const std::string& action, const std::string& targets,
                               const std::string& parameters = "{}")
    {
        return result_of(run(GetParam(), request(invoke(action, targets, parameters))));
    }
};

TEST_P(Typed, ParametersOfTheAuthorsType)
{
    EXPECT_EQ(
        results("describe", R"(["a"])",
                R"({"text":"x","limit":4294967296,"scale":0.5,"deep":true,"names":["p","q"]})"),
        answer(
            R"({"target":"a","data":{"text":"x","limit":4294967296,"scale":0.5,"deep":true,"names":["p","q"]}})"));
    // Of another type counts as absent.
    EXPECT_EQ(
        results("describe", R"(["a"])",
                R"({"text":1,"limit":1.5,"scale":"1","deep":0,"names":["p",1]})"),
        answer(
            R"({"target":"a","data":{"text":"none","limit":-1,"scale":1,"deep":false,"names":[]}})"));
}

TEST_P(Typed, DataOfTheAuthorsType)
{
    EXPECT_EQ(results("typed", R"(["a","b"])", R"({"text":"x"})"),
              answer(R"({"target":"a","data":{"text":"x","index":0}},)"
                     R"({"target":"b","data":{"text":"x","index":1}})"));
    EXPECT_EQ(results("plain", R"(["é"])"), answer(R"({"target":"é","data":"é"})"));
    EXPECT_EQ(results("owns", R"(["a"])"), answer(R"({"target":"a","data":7})"));
}

// P1-SDK-03
TEST_P(Typed, ABatchKnowsItsRequest)
{
    EXPECT_EQ(results("about", R"(["a"])"),
              answer(R"({"target":"a","data":{"id":"request-id","action":"about"}})"));
}

TEST_P(Typed, ErrorsByValue)
{
    EXPECT_EQ(results("by-value", R"(["a","b"])"),
              answer(R"({"target":"a","error":{"code":"not_found","message":"by value"}},)"
                     R"({"target":"b","data":"found"})"));
}

// P1-HOST-18: text with NUL is refused, not cut
TEST_P(Typed, NulInText)
{
    expect_refusal(run(GetParam(), request(invoke("nul-in-text", R"(["a"])"))), "json.nul",
                   R"(results[0], target "a")");
    expect_refusal(run(GetParam(), request(invoke("nul-in-name", R"(["a"])"))), "json.nul",
                   R"(results[0], target "a")");
    expect_refusal(run(GetParam(), request(invoke("nul-in-error", R"(["a"])"))), "json.nul",
                   R"(results[0], target "a")");
    expect_refusal(run(GetParam(), request(invoke("nul-in-code", R"(["a"])"))), "output.error_code",
                   R"(results[0], target "a")");
}

TEST_P(Typed, AWrongTable)
{
    for (const char* word : {"twice", "bad-name", "nul-name"}) {
        start how;
        how.arguments = {word};
        expect_refusal(run(GetParam(), request(invoke("plain")), how), "process.actions",
                       "actions[");
    }
}

// A handler that is not there is refused before anything is asked of it.
TEST_P(Typed, AHandlerThatIsNull)
{
    start how;
    for (const char* word : {"null-each", "null-typed", "empty-batch"}) {
        how.arguments = {word};
        expect_refusal(run(GetParam(), request(invoke("plain")), how), "process.actions",
                       R"("null" needs exactly one of each and batch)");
    }
    how.arguments = {"empty-serve"};
    expect_refusal(run(GetParam(), request(invoke("plain")), how), "process.actions",
                   "neither a table nor a handler");
}

INSTANTIATE_TEST_SUITE_P(Exceptions, Typed,
                         testing::Values(MODBERTH_TYPED_MODULE, MODBERTH_TYPED_MODULE_PLAIN),
                         [](const testing::TestParamInfo<const char*>& one) {
                             return one.index == 0 ? "With" : "Without";
                         });

TEST(Exceptions, BecomeErrors)
{
    EXPECT_EQ(
        result_of(run(MODBERTH_TYPED_MODULE, request(invoke("strict")))),
        answer(R"({"target":"a","error":{"code":"unusable","message":"thrown by from_params"}},)"
               R"({"target":"b","error":{"code":"unusable","message":"thrown by from_params"}})"));
    const observed seen = run(MODBERTH_TYPED_MODULE, request(invoke("throws-number", R"(["a"])")));
    EXPECT_NE(result_of(seen).find(R"("code":"internal")"), std::string::npos);
    EXPECT_NE(seen.err.find("no std::exception"), std::string::npos);
}

// P1-SDK-07
TEST(Exceptions, OutOfABatchEndTheAction)
{
    expect_refusal(run(MODBERTH_TYPED_MODULE, request(invoke("batch-throws-number"))),
                   "output.handler_failed", "no std::exception");
    expect_refusal(run(MODBERTH_TYPED_MODULE, request(invoke("batch-throws-target-error"))),
                   "output.handler_failed", "in a batch");
}

// P1-SDK-11, in C++
TEST(Serve, GetsTheUntouchedRequest)
{
    const std::string message = invoke("echo", R"(["a"])", R"({"x":[1,{"y":null}]})");
    EXPECT_EQ(result_of(run(MODBERTH_SERVING, request(message))),
              answer(R"({"target":"a","data":{"request":)" + message + R"(,"calls":1}})"));
    expect_refusal(run(MODBERTH_SERVING, request(invoke("nothing"))), "output.target_missing",
                   R"(target "a")");
}

} // namespace
