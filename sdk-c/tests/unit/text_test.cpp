// Diagnostics: one bounded line, whatever stands in the outside text.
#include "internal.hpp"

#include <gtest/gtest.h>

namespace
{

std::string quote(const std::string &text)
{
    char out[MBI_QUOTED_MAX];
    return mbi_quote(text.c_str(), out);
}

TEST(Quote, EscapesWhatATerminalWouldActOn)
{
    EXPECT_EQ(quote("a\"b\\c\n\x1B\x7F"), R"("a\"b\\c\u000a\u001b\u007f")");
    EXPECT_EQ(quote("\xC2\x9B é😀"), "\"\\u009b é😀\"");
    EXPECT_EQ(quote("\xFFx\xE2\x82"), R"("\ufffdx\ufffd\ufffd")");
}

TEST(Quote, CutsLongText)
{
    std::string ids;
    for (int i = 0; i < 128; i++) {
        ids += "😀";
    }
    const std::string quoted = quote(ids);
    EXPECT_LT(quoted.size(), static_cast<std::size_t>(MBI_QUOTED_MAX));
    EXPECT_EQ(quoted.substr(quoted.size() - 4), "…\"");
    EXPECT_EQ(mbi_utf8_valid_up_to(reinterpret_cast<const unsigned char *>(quoted.c_str()),
                                   quoted.size()),
              quoted.size());
}

TEST(Identifier, IsBounded)
{
    EXPECT_TRUE(mbi_is_identifier("a"));
    EXPECT_TRUE(mbi_is_identifier(("a" + std::string(95, '-')).c_str()));
    EXPECT_FALSE(mbi_is_identifier(("a" + std::string(96, '-')).c_str()));
    for (const char *bad : {"", "A", "1", "_a", "a b", "aA", "a\xC3\xA9", "Not Found"}) {
        EXPECT_FALSE(mbi_is_identifier(bad)) << bad;
    }
}

TEST(Parameters, AreReadByTypeAndExactName)
{
    cJSON *parameters = cJSON_Parse(
        R"({"s":"text","i":4294967296,"n":0.5,"b":true,"l":["x","y"],"m":[1],"big":1e20})");
    std::int64_t integer = 0;
    double number = 0;
    bool boolean = false;
    EXPECT_STREQ(mb_param_string(parameters, "s"), "text");
    EXPECT_EQ(mb_param_string(parameters, "S"), nullptr);
    EXPECT_EQ(mb_param_string(parameters, "i"), nullptr);
    EXPECT_TRUE(mb_param_integer(parameters, "i", &integer));
    EXPECT_EQ(integer, 4294967296);
    EXPECT_FALSE(mb_param_integer(parameters, "n", &integer));
    EXPECT_FALSE(mb_param_integer(parameters, "big", &integer));
    EXPECT_FALSE(mb_param_integer(parameters, "b", &integer));
    EXPECT_TRUE(mb_param_number(parameters, "n", &number));
    EXPECT_EQ(number, 0.5);
    EXPECT_TRUE(mb_param_boolean(parameters, "b", &boolean));
    EXPECT_TRUE(boolean);
    EXPECT_FALSE(mb_param_boolean(parameters, "i", &boolean));
    EXPECT_EQ(cJSON_GetArraySize(mb_param_strings(parameters, "l")), 2);
    EXPECT_EQ(mb_param_strings(parameters, "m"), nullptr);
    EXPECT_EQ(mb_param(parameters, "absent"), nullptr);
    cJSON_Delete(parameters);
}

TEST(Version, IsTheHeaders)
{
    EXPECT_STREQ(mb_version(), MB_VERSION);
    EXPECT_EQ(std::string(MB_VERSION), std::to_string(MB_VERSION_MAJOR) + "." +
                                           std::to_string(MB_VERSION_MINOR) + "." +
                                           std::to_string(MB_VERSION_PATCH));
}

} // namespace
