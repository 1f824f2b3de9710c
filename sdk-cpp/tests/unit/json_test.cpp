// The JSON values of the C++ SDK.
#include <modberth_sdk.hpp>

#include <gtest/gtest.h>

#include <type_traits>

namespace
{

using modberth::json;
using modberth::json_view;

static_assert(std::is_nothrow_move_constructible_v<json>);
static_assert(!std::is_copy_constructible_v<json>);
static_assert(!std::is_convertible_v<int*, json>, "no pointer becomes a boolean");
static_assert(std::is_convertible_v<char*, json>);
static_assert(std::is_nothrow_copy_constructible_v<modberth::target_error>);

TEST(Json, KeepsTypes)
{
    EXPECT_TRUE(json().view().is_null());
    EXPECT_TRUE(json(nullptr).view().is_null());
    EXPECT_EQ(json(true).view().as_boolean(), true);
    EXPECT_EQ(json(7).view().as_integer(), 7);
    EXPECT_EQ(json(std::size_t{7}).view().as_integer(), 7);
    EXPECT_EQ(json(0.5).view().as_number(), 0.5);
    EXPECT_EQ(json("é").view().as_string(), "é");
    EXPECT_EQ(json(std::string("s")).view().as_string(), "s");
    EXPECT_FALSE(json(0.5).view().as_integer());
    EXPECT_FALSE(json(1e20).view().as_integer());
    EXPECT_FALSE(json(true).view().as_number());
    EXPECT_FALSE(json("1").view().as_integer());
}

TEST(Json, BuildsObjectsAndArrays)
{
    json made{{"a", 1}, {"b", {{"c", "deep"}}}, {"d", json::array_of(1, "two", nullptr)}};
    made.set("e", json::object());
    const json_view view = made.view();
    EXPECT_EQ(view.size(), 4U);
    EXPECT_EQ(view["b"]["c"].as_string(), "deep");
    EXPECT_EQ(view["d"].size(), 3U);
    EXPECT_TRUE(view["e"].is_object());
    EXPECT_FALSE(view["A"]) << "names are told apart by case";
    EXPECT_FALSE(view["b"]["missing"]["further"]);
    std::string names;
    for (const json_view member : view) {
        names += member.name();
    }
    EXPECT_EQ(names, "abde");
}

TEST(Json, MovesAndClones)
{
    json first{{"a", 1}};
    json copy = first.clone();
    json second = std::move(first);
    EXPECT_EQ(second.view()["a"].as_integer(), 1);
    EXPECT_NE(copy.view().get(), second.view().get());
    first = json(3);
    EXPECT_EQ(first.view().as_integer(), 3);
    cJSON* released = second.release();
    EXPECT_NE(released, nullptr);
    cJSON_Delete(released);
    EXPECT_TRUE(json_view().clone().view().is_null());
}

TEST(Json, ItsListsCannotBeBuiltWrong)
{
    json list = json::array();
    list.push_back(1).push_back("x");
    EXPECT_EQ(list.view().size(), 2U);
    json number(1);
    EXPECT_THROW(json::take(nullptr), std::bad_alloc);
    EXPECT_EQ(number.view().size(), 0U);
}

} // namespace
