// The writer: every bound of the profile, and what cJSON lets an author build by mistake.
#include "internal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace
{

using tree = std::unique_ptr<cJSON, void (*)(cJSON *)>;

struct written {
    std::string code;
    std::string text;
};

/// Writes a value as the data of target "x".
written write(cJSON *value)
{
    const tree owner(value, cJSON_Delete);
    mbi_buffer out{};
    mbi_fault fault{};
    mbi_big_numbers none{};
    mbi_writer writer{&out, MB_FRAME_MAX, &none, "results[0], target \"x\"", &fault};
    written seen;
    if (mbi_write_value(&writer, value, MBI_DATA_DEPTH, "data")) {
        seen.text.assign(reinterpret_cast<const char *>(out.bytes), out.length);
    } else {
        seen.code = fault.code;
        seen.text = fault.text;
    }
    mbi_buffer_free(&out);
    return seen;
}

std::string code_of(cJSON *value)
{
    return write(value).code;
}

cJSON *nested(int levels, cJSON *inside)
{
    for (int i = 0; i < levels; i++) {
        cJSON *outer = cJSON_CreateArray();
        cJSON_AddItemToArray(outer, inside);
        inside = outer;
    }
    return inside;
}

cJSON *array_of(int count)
{
    cJSON *array = cJSON_CreateArray();
    for (int i = 0; i < count; i++) {
        cJSON_AddItemToArray(array, cJSON_CreateNumber(i));
    }
    return array;
}

cJSON *object_of(int count)
{
    cJSON *object = cJSON_CreateObject();
    for (int i = 0; i < count; i++) {
        cJSON_AddNumberToObject(object, ("k" + std::to_string(i)).c_str(), i);
    }
    return object;
}

std::string repeated(const std::string &piece, std::size_t times)
{
    std::string text;
    for (std::size_t i = 0; i < times; i++) {
        text += piece;
    }
    return text;
}

cJSON *text(const std::string &value)
{
    return cJSON_CreateString(value.c_str());
}

cJSON *named(const std::string &name)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddTrueToObject(object, name.c_str());
    return object;
}

// P1-SDK-08
TEST(Writer, TextPassesUnchanged)
{
    EXPECT_EQ(write(text("\x01\x1F\"\\\b\f\n\r\t\x7F/é\xE2\x80\xA8😀")).text,
              "\"\\u0001\\u001f\\\"\\\\\\b\\f\\n\\r\\t\x7F/é\xE2\x80\xA8😀\"");
}

TEST(Writer, NamesPassUnchanged)
{
    cJSON *object = cJSON_CreateObject();
    for (const char *name : {"__proto__", "constructor", "a", "A", "", "e\xCC\x81", "é"}) {
        cJSON_AddNullToObject(object, name);
    }
    EXPECT_EQ(write(object).text, "{\"__proto__\":null,\"constructor\":null,\"a\":null,\"A\":null,"
                                  "\"\":null,\"e\xCC\x81\":null,\"é\":null}");
}

// P1-HOST-21: the root of the frame is at depth 0, data at depth 3, and no value at depth 13
TEST(Writer, Depth)
{
    EXPECT_EQ(code_of(nested(9, cJSON_CreateNumber(1))), "");
    EXPECT_EQ(code_of(nested(10, cJSON_CreateNumber(1))), "json.depth");
    EXPECT_EQ(code_of(nested(10, nullptr)), "");
    EXPECT_EQ(code_of(nested(5000, cJSON_CreateNumber(1))), "json.depth");
}

// P1-HOST-35
TEST(Writer, Entries)
{
    EXPECT_EQ(code_of(array_of(256)), "");
    EXPECT_EQ(code_of(array_of(257)), "json.entries");
    EXPECT_EQ(code_of(object_of(256)), "");
    EXPECT_EQ(code_of(object_of(257)), "json.entries");
}

// P1-HOST-35: code points, not bytes
TEST(Writer, Lengths)
{
    EXPECT_EQ(code_of(text(repeated("😀", 65536))), "");
    EXPECT_EQ(code_of(text(repeated("x", 65537))), "json.string_length");
    EXPECT_EQ(code_of(text(repeated("x", 65536 * 4 + 2))), "json.string_length");
    EXPECT_EQ(code_of(text(repeated("😀", 65537))), "json.string_length");
    EXPECT_EQ(code_of(named(repeated("é", 240))), "");
    EXPECT_EQ(code_of(named(repeated("é", 241))), "json.name_length");
    EXPECT_EQ(code_of(named(repeated("n", 2000))), "json.name_length");
}

// P1-HOST-17
TEST(Writer, DuplicateNames)
{
    cJSON *object = object_of(200);
    cJSON_AddNumberToObject(object, "k7", 1);
    const written seen = write(object);
    EXPECT_EQ(seen.code, "json.duplicate_key");
    EXPECT_NE(seen.text.find("data.k7"), std::string::npos) << seen.text;
}

TEST(Writer, TextThatIsNoUtf8)
{
    EXPECT_EQ(code_of(text("\xED\xA0\x80")), "json.utf8");
    EXPECT_EQ(code_of(text("\xC3")), "json.utf8");
    EXPECT_EQ(code_of(text("\xFF" + std::string(300000, 'x'))), "json.utf8");
    EXPECT_EQ(code_of(named("\xC0\x81")), "json.utf8");
    // NUL as far as a C string can hold it.
    EXPECT_EQ(code_of(named("\xC0\x80")), "json.nul");
    EXPECT_EQ(code_of(text("a\xC0\x80")), "json.nul");
}

TEST(Writer, ReservedNames)
{
    EXPECT_EQ(code_of(named("$serde_json::private::Number")), "json.reserved_key");
    EXPECT_EQ(code_of(named("$serde_json")), "");
}

// P1-HOST-19, P1-HOST-20
TEST(Writer, Numbers)
{
    EXPECT_EQ(code_of(cJSON_CreateNumber(std::nan(""))), "json.nonfinite");
    EXPECT_EQ(code_of(cJSON_CreateNumber(-HUGE_VAL)), "json.nonfinite");
    EXPECT_EQ(code_of(cJSON_CreateNumber(9007199254740992.0)), "json.integer_range");
    EXPECT_EQ(code_of(cJSON_CreateNumber(-1e20)), "json.integer_range");
    EXPECT_EQ(write(cJSON_CreateNumber(9007199254740991.0)).text, "9007199254740991");
}

TEST(Writer, NamesThePath)
{
    cJSON *object = cJSON_CreateObject();
    cJSON *rows = cJSON_AddArrayToObject(object, "rows");
    cJSON_AddItemToArray(rows, cJSON_CreateNull());
    cJSON *row = cJSON_CreateObject();
    cJSON_AddItemToArray(rows, row);
    cJSON_AddNumberToObject(row, "a b", std::nan(""));
    EXPECT_EQ(write(object).text,
              "results[0], target \"x\": data.rows[1][\"a b\"]: a number that is NaN");
}

// A deep path of long names must not run over its room.
TEST(Writer, CutsALongPath)
{
    cJSON *inside = cJSON_CreateNumber(std::nan(""));
    for (int i = 0; i < 9; i++) {
        cJSON *outer = cJSON_CreateObject();
        cJSON_AddItemToObject(outer, repeated("é", 240).c_str(), inside);
        inside = outer;
    }
    EXPECT_EQ(code_of(inside), "json.nonfinite");
}

TEST(Writer, RawJsonIsCheckedToo)
{
    EXPECT_EQ(write(cJSON_CreateRaw(R"({"a":[1e20]})")).text, R"({"a":[1e20]})");
    EXPECT_EQ(code_of(cJSON_CreateRaw(R"({"a":1,"a":2})")), "json.duplicate_key");
    EXPECT_EQ(code_of(cJSON_CreateRaw("")), "json.truncated");
    EXPECT_EQ(code_of(cJSON_CreateRaw("1,\"x\":2")), "json.trailing");
    EXPECT_EQ(code_of(nested(9, cJSON_CreateRaw("[1]"))), "json.depth");
    EXPECT_EQ(code_of(cJSON_CreateRaw(std::string(MB_FRAME_MAX + 1, ' ').c_str())),
              "frame.too_large");
}

TEST(Writer, ItemsThatAreNoJson)
{
    cJSON *invalid = cJSON_CreateNull();
    invalid->type = cJSON_Invalid;
    EXPECT_EQ(code_of(invalid), "output.value");
    cJSON *without_text = cJSON_CreateString("x");
    cJSON_free(without_text->valuestring);
    without_text->valuestring = nullptr;
    EXPECT_EQ(code_of(without_text), "output.value");
    cJSON *nameless = cJSON_CreateObject();
    cJSON_AddItemToArray(nameless, cJSON_CreateTrue());
    EXPECT_EQ(code_of(nameless), "output.value");
}

TEST(Writer, ACycleEnds)
{
    cJSON *array = array_of(1);
    array->child->next = array->child;
    mbi_buffer out{};
    mbi_fault fault{};
    mbi_big_numbers none{};
    mbi_writer writer{&out, MB_FRAME_MAX, &none, "results[0]", &fault};
    EXPECT_FALSE(mbi_write_value(&writer, array, MBI_DATA_DEPTH, "data"));
    EXPECT_STREQ(fault.code, "json.entries");
    mbi_buffer_free(&out);
    array->child->next = nullptr;
    cJSON_Delete(array);
}

} // namespace
