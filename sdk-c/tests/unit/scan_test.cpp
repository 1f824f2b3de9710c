// The strict scanner by all vectors, and where it says a fault stands.
#include "internal.hpp"
#include "vectors.hpp"

#include <gtest/gtest.h>

using testing_support::vector;

namespace
{

struct verdict {
    std::string code;
    std::size_t offset = 0;
};

verdict check(const std::string &bytes)
{
    mbi_json_fault fault{};
    if (mbi_json_check(reinterpret_cast<const unsigned char *>(bytes.c_str()), bytes.size(),
                       nullptr, &fault)) {
        return {};
    }
    return {fault.code, fault.offset};
}

// P1-HOST-17 to P1-HOST-22, P1-HOST-35, as decided for SDKs: all vectors, each with its code
TEST(Vectors, GetTheirCode)
{
    for (const vector &one : testing_support::vectors(MODBERTH_VECTORS)) {
        EXPECT_EQ(check(one.bytes).code, one.code) << one.name;
    }
}

// 202 vectors were there from the beginning, and 6 of the accepted ones break a process bound.
TEST(VectorFiles, AreComplete)
{
    const auto all = testing_support::vectors(MODBERTH_VECTORS);
    EXPECT_GE(all.size(), 202U);
    std::size_t refused = 0;
    for (const auto &one : all) {
        refused += one.code.empty() ? 0 : 1;
    }
    EXPECT_GE(refused, 151U);
}

TEST(Scan, NamesTheByte)
{
    EXPECT_EQ(check(R"({"a":1,"a":2})").offset, 7U);
    EXPECT_EQ(check(R"({"a":[1,2,9007199254740992]})").offset, 10U);
    EXPECT_EQ(check(R"({"a":"\ud800"})").offset, 6U);
    EXPECT_EQ(check("{\"a\":\"\xFF\"}").offset, 6U);
    EXPECT_EQ(check(R"({"a":1)").offset, 6U);
}

// P1-HOST-21: 100,000 levels are refused like 13
TEST(Scan, DeepNestingEndsAtTheLimit)
{
    const verdict seen = check(R"({"a":)" + std::string(100000, '['));
    EXPECT_EQ(seen.code, "json.depth");
    EXPECT_EQ(seen.offset, 5U + 12U);
}

TEST(Scan, KeepsThePlacesOfRootMembers)
{
    const std::string text = R"({"x": 1.0 ,"y":{"z":[2]}, "w":"v"})";
    mbi_root root{};
    mbi_json_fault fault{};
    ASSERT_TRUE(mbi_json_check(reinterpret_cast<const unsigned char *>(text.c_str()), text.size(),
                               &root, &fault));
    ASSERT_EQ(root.count, 3U);
    const auto value = [&](std::size_t i) {
        return text.substr(root.values[i].start, root.values[i].end - root.values[i].start);
    };
    EXPECT_EQ(value(0), "1.0");
    EXPECT_EQ(value(1), R"({"z":[2]})");
    EXPECT_EQ(value(2), R"("v")");
}

TEST(Scan, AValueHasTheDepthItIsGiven)
{
    const auto check_value = [](const std::string &text, unsigned depth) {
        mbi_json_fault fault{};
        return mbi_json_check_value(reinterpret_cast<const unsigned char *>(text.c_str()),
                                    text.size(), depth, &fault)
                   ? std::string()
                   : std::string(fault.code);
    };
    EXPECT_EQ(check_value("[1]", 11), "");
    EXPECT_EQ(check_value("[1]", 12), "json.depth");
    EXPECT_EQ(check_value("1", 13), "json.depth");
    EXPECT_EQ(check_value("", 3), "json.truncated");
    EXPECT_EQ(check_value("1 2", 3), "json.trailing");
}

} // namespace
