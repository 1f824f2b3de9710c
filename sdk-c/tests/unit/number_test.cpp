// Numbers out: nothing is lost, whatever the locale.
#include "internal.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

namespace
{

std::string format(double value)
{
    char text[MBI_NUMBER_MAX];
    const std::size_t length = mbi_number_format(value, text);
    return {text, length};
}

// The values that cJSON's own printer damages.
TEST(Number, WholeNumbersInTheExactRangeStayIntegers)
{
    EXPECT_EQ(format(0), "0");
    EXPECT_EQ(format(-0.0), "-0");
    EXPECT_EQ(format(9007199254740991), "9007199254740991");
    EXPECT_EQ(format(-9007199254740991), "-9007199254740991");
    EXPECT_EQ(format(8999999999999999), "8999999999999999");
    EXPECT_EQ(format(1e15), "1000000000000000");
    EXPECT_EQ(format(2147483648), "2147483648");
}

TEST(Number, FractionsAreAsShortAsTheyCanBe)
{
    EXPECT_EQ(format(0.1), "0.1");
    EXPECT_EQ(format(0.1 + 0.2), "0.30000000000000004");
    EXPECT_EQ(format(1.5), "1.5");
    EXPECT_EQ(format(1e-7), "1e-07");
}

// decisions on numbers: what came in beyond the range goes out with an exponent
TEST(Number, BeyondTheExactRangeThereIsAnExponent)
{
    EXPECT_EQ(format(1e20), "1e+20");
    EXPECT_EQ(format(9007199254740992), "9.007199254740992e+15");
    EXPECT_EQ(format(1.7976931348623157e308), "1.7976931348623157e+308");
}

TEST(Number, ReadsBackToTheSameDouble)
{
    std::mt19937_64 bits(20240501);
    for (int i = 0; i < 200000; i++) {
        const std::uint64_t pattern = bits();
        double value;
        std::memcpy(&value, &pattern, sizeof value);
        if (!std::isfinite(value)) {
            continue;
        }
        const std::string text = format(value);
        ASSERT_EQ(std::strtod(text.c_str(), nullptr), value) << text;
        ASSERT_LT(text.size(), static_cast<std::size_t>(MBI_NUMBER_MAX));
        // The scanner must take what the writer writes.
        mbi_json_fault fault{};
        ASSERT_TRUE(mbi_json_check_value(reinterpret_cast<const unsigned char *>(text.c_str()),
                                         text.size(), 3, &fault))
            << text << " " << fault.code;
    }
}

TEST(Number, BigNumbersAreRemembered)
{
    cJSON *tree = cJSON_Parse(R"({"a":[1e20,5,{"b":-1e300}],"c":9007199254740991})");
    mbi_big_numbers big{};
    ASSERT_TRUE(mbi_big_numbers_collect(&big, tree));
    EXPECT_EQ(big.count, 2U);
    EXPECT_TRUE(mbi_big_numbers_contain(&big, 1e20));
    EXPECT_TRUE(mbi_big_numbers_contain(&big, -1e300));
    EXPECT_FALSE(mbi_big_numbers_contain(&big, 1e300));
    EXPECT_FALSE(mbi_big_numbers_contain(&big, 9007199254740991));
    mbi_big_numbers_free(&big);
    cJSON_Delete(tree);
}

// MODBERTH_COMMA_LOCALE is a locale that the build makes: its decimal point is a comma.
TEST(Number, TheLocaleOfTheProcessHasNoSay)
{
    ASSERT_EQ(setenv("LOCPATH", MODBERTH_LOCPATH, 1), 0);
    ASSERT_NE(std::setlocale(LC_ALL, "xx_XX"), nullptr);
    ASSERT_STREQ(std::localeconv()->decimal_point, ",");
    mbi_fault fault;
    mbi_locale locale;
    ASSERT_TRUE(mbi_locale_enter(&locale, &fault));
    const std::string text = format(1.5);
    mbi_json_fault json{};
    EXPECT_FALSE(mbi_json_check(reinterpret_cast<const unsigned char *>("{\"a\":1.5e400}"), 13,
                                nullptr, &json));
    mbi_locale_leave(&locale);
    EXPECT_EQ(text, "1.5");
    EXPECT_STREQ(std::localeconv()->decimal_point, ",") << "the author's locale comes back";
    std::setlocale(LC_ALL, "C");
}

} // namespace
