/// @file modberth_sdk.hpp
/// @brief Make a Modberth module in C++17: a header over the C SDK.
///
/// A module is a program that the host starts once per action. It reads one request from standard
/// input, gives one result for every target and is gone.
///
/// @code
/// #include <modberth_sdk.hpp>
///
/// int main()
/// {
///     modberth::module m;
///     m.each("greet", [](const modberth::target& target, const modberth::params&) {
///         return modberth::json{{"hello", target.id()}};
///     });
///     return m.run();
/// }
/// @endcode
///
/// @par What a module may rely on
/// The input is a request that the host has checked. The SDK checks it again by the whole strict
/// JSON profile; but it is no gateway for untrusted JSON from anywhere else (P1-SDK-13).
///
/// @par What a module must not do
/// A handler leaves no detached process behind and writes nothing outside the sandbox (P1-SDK-13).
/// The SDK itself opens no socket, starts no process and writes no file (P1-SDK-12).
///
/// @par Exceptions
/// What a handler throws never leaves module::run() or serve(). Without exceptions
/// (`-fno-exceptions`) everything works as well: return a target_error instead of throwing it. Only
/// if memory runs out the process then ends by std::abort().
#ifndef MODBERTH_SDK_HPP
#define MODBERTH_SDK_HPP

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <modberth_sdk.h>

/// The module SDK.
namespace modberth
{

/// The code of a target error: the module has no such action, or no use for such a request.
inline constexpr const char* unsupported_action = MB_UNSUPPORTED_ACTION;

class json;

/// Inner workings; no part of the interface.
namespace detail
{

[[noreturn]] inline void out_of_memory()
{
#if defined(__cpp_exceptions)
    throw std::bad_alloc();
#else
    std::abort();
#endif
}

inline cJSON* need(cJSON* item)
{
    if (item == nullptr) {
        out_of_memory();
    }
    return item;
}

/// Text for a C function. NUL would end it: it becomes the overlong form that the C SDK refuses as
/// json.nul, so that no text is silently cut.
inline std::string c_text(std::string_view value)
{
    std::string text;
    for (auto nul = value.find('\0'); nul != std::string_view::npos; nul = value.find('\0')) {
        text.append(value.substr(0, nul)).append("\xC0\x80");
        value.remove_prefix(nul + 1);
    }
    return text.append(value);
}

struct deleter {
    void operator()(cJSON* item) const noexcept { cJSON_Delete(item); }
};

template <class T, class = void>
struct has_from_params : std::false_type {
};
template <class T, class = void>
struct has_to_json : std::false_type {
};

} // namespace detail

/// A JSON value that somebody else owns. It must not outlive its owner: what a handler is given
/// ends when the handler returns.
class json_view
{
public:
    /// A view of nothing.
    json_view() noexcept = default;
    /// A view of a cJSON value; nullptr is a view of nothing.
    explicit json_view(const cJSON* item) noexcept : item_(item) {}

    /// Whether there is a value at all.
    [[nodiscard]] explicit operator bool() const noexcept { return item_ != nullptr; }
    /// The cJSON value, borrowed; nullptr if there is none.
    [[nodiscard]] const cJSON* get() const noexcept { return item_; }

    /// Whether the value is null.
    [[nodiscard]] bool is_null() const noexcept { return cJSON_IsNull(item_) != 0; }
    /// Whether the value is true or false.
    [[nodiscard]] bool is_boolean() const noexcept { return cJSON_IsBool(item_) != 0; }
    /// Whether the value is a number.
    [[nodiscard]] bool is_number() const noexcept { return cJSON_IsNumber(item_) != 0; }
    /// Whether the value is a string.
    [[nodiscard]] bool is_string() const noexcept { return cJSON_IsString(item_) != 0; }
    /// Whether the value is an array.
    [[nodiscard]] bool is_array() const noexcept { return cJSON_IsArray(item_) != 0; }
    /// Whether the value is an object.
    [[nodiscard]] bool is_object() const noexcept { return cJSON_IsObject(item_) != 0; }

    /// The boolean, if it is one.
    [[nodiscard]] std::optional<bool> as_boolean() const noexcept
    {
        return is_boolean() ? std::optional<bool>(cJSON_IsTrue(item_) != 0) : std::nullopt;
    }
    /// The number, if it is one. It is always finite in a request.
    [[nodiscard]] std::optional<double> as_number() const noexcept
    {
        return is_number() ? std::optional<double>(item_->valuedouble) : std::nullopt;
    }
    /// The number, if it is a whole one within plus or minus 9007199254740991.
    [[nodiscard]] std::optional<std::int64_t> as_integer() const noexcept
    {
        constexpr auto most = static_cast<double>(MB_INTEGER_MAX);
        if (!is_number() || !(item_->valuedouble >= -most && item_->valuedouble <= most)) {
            return std::nullopt;
        }
        const auto whole = static_cast<std::int64_t>(item_->valuedouble);
        const auto back = static_cast<double>(whole);
        return back < item_->valuedouble || back > item_->valuedouble
                   ? std::nullopt
                   : std::optional<std::int64_t>(whole);
    }
    /// The text, if it is a string. UTF-8.
    [[nodiscard]] std::optional<std::string_view> as_string() const noexcept
    {
        return is_string() ? std::optional<std::string_view>(item_->valuestring) : std::nullopt;
    }

    /// The member of this name (compared byte for byte), or a view of nothing.
    [[nodiscard]] json_view operator[](const char* name) const noexcept
    {
        return json_view(is_object() ? cJSON_GetObjectItemCaseSensitive(item_, name) : nullptr);
    }
    /// The number of entries of an object or array, else 0.
    [[nodiscard]] std::size_t size() const noexcept
    {
        return is_array() || is_object() ? static_cast<std::size_t>(cJSON_GetArraySize(item_)) : 0;
    }
    /// The name of a member, empty for every other value.
    [[nodiscard]] std::string_view name() const noexcept
    {
        return item_ != nullptr && item_->string != nullptr ? std::string_view(item_->string)
                                                            : std::string_view();
    }

    /// Walks the entries of an object or array.
    class iterator
    {
    public:
        /// An iterator at an entry, nullptr for the end.
        explicit iterator(const cJSON* item) noexcept : item_(item) {}
        /// The entry.
        json_view operator*() const noexcept { return json_view(item_); }
        /// Goes to the next entry.
        iterator& operator++() noexcept
        {
            item_ = item_->next;
            return *this;
        }
        /// Whether two iterators stand at different entries.
        bool operator!=(const iterator& other) const noexcept { return item_ != other.item_; }

    private:
        const cJSON* item_;
    };
    /// The first entry.
    [[nodiscard]] iterator begin() const noexcept
    {
        return iterator(is_array() || is_object() ? item_->child : nullptr);
    }
    /// Behind the last entry.
    [[nodiscard]] iterator end() const noexcept { return iterator(nullptr); }

    /// A deep copy; null if there is no value.
    [[nodiscard]] json clone() const;

private:
    const cJSON* item_ = nullptr;
};

struct member;

/// A JSON value of its own: it can be moved, and cloned, but not copied by accident.
class json
{
public:
    /// null.
    json() : json(nullptr) {}
    /// null.
    json(std::nullptr_t) : item_(detail::need(cJSON_CreateNull())) {}
    /// A boolean.
    template <class T, std::enable_if_t<std::is_same_v<T, bool>, int> = 0>
    json(T value) : item_(detail::need(cJSON_CreateBool(value ? 1 : 0)))
    {
    }
    /// A number. Whole numbers beyond plus or minus 9007199254740991, NaN and infinities are
    /// refused when the answer is written.
    template <class T,
              std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>, int> = 0>
    json(T value) : item_(detail::need(cJSON_CreateNumber(static_cast<double>(value))))
    {
    }
    /// Text: UTF-8 without NUL; anything else is refused when the answer is written.
    json(std::string_view value)
        : item_(detail::need(cJSON_CreateString(detail::c_text(value).c_str())))
    {
    }
    /// Text.
    json(const std::string& value) : json(std::string_view(value)) {}
    /// Text.
    json(const char* value) : json(std::string_view(value)) {}
    /// An object: `json{{"a", 1}, {"b", "two"}}`.
    json(std::initializer_list<member> members);
    /// No pointer but text turns into a boolean by accident.
    template <class T, std::enable_if_t<
                           std::is_pointer_v<T> && !std::is_convertible_v<T, const char*>, int> = 0>
    json(T) = delete;

    /// Moves.
    json(json&&) noexcept = default;
    /// Moves.
    json& operator=(json&&) noexcept = default;
    json(const json&) = delete;
    json& operator=(const json&) = delete;
    ~json() = default;

    /// An object without members.
    [[nodiscard]] static json object() { return take(cJSON_CreateObject()); }
    /// An array without elements.
    [[nodiscard]] static json array() { return take(cJSON_CreateArray()); }
    /// An array of these elements.
    template <class... Ts>
    [[nodiscard]] static json array_of(Ts&&... elements)
    {
        json list = array();
        (list.push_back(json(std::forward<Ts>(elements))), ...);
        return list;
    }
    /// Takes ownership of a cJSON value. nullptr counts as want of memory.
    [[nodiscard]] static json take(cJSON* item) { return json(item, 0); }

    /// Appends to an array.
    json& push_back(json value)
    {
        add(cJSON_AddItemToArray(item_.get(), value.item_.get()), value);
        return *this;
    }
    /// Adds a member to an object. A name twice is refused when the answer is written.
    json& set(std::string_view name, json value)
    {
        const std::string text = detail::c_text(name);
        add(cJSON_AddItemToObject(item_.get(), text.c_str(), value.item_.get()), value);
        return *this;
    }

    /// The value to look at.
    [[nodiscard]] json_view view() const noexcept { return json_view(item_.get()); }
    /// A deep copy.
    [[nodiscard]] json clone() const { return view().clone(); }
    /// Gives up ownership. The value is empty afterwards; only assigning to it makes sense.
    [[nodiscard]] cJSON* release() noexcept { return item_.release(); }

private:
    json(cJSON* item, int) : item_(detail::need(item)) {}
    static void add(cJSON_bool added, json& value)
    {
        if (added == 0) {
            detail::out_of_memory();
        }
        (void)value.item_.release();
    }

    std::unique_ptr<cJSON, detail::deleter> item_;
};

/// One member in the list that makes an object.
struct member {
    /// A name and its value.
    member(std::string_view member_name, json member_value)
        : name(member_name), value(std::move(member_value))
    {
    }
    /// The name.
    std::string_view name;
    /// The value. The list is constant, its values are moved out of it all the same.
    mutable json value;
};

inline json::json(std::initializer_list<member> members) : json(cJSON_CreateObject(), 0)
{
    for (const member& one : members) {
        set(one.name, std::move(one.value));
    }
}

inline json json_view::clone() const
{
    return item_ == nullptr ? json() : json::take(cJSON_Duplicate(item_, 1));
}

/// The error of one target: throw it, or return it, from a handler for each target.
///
/// A code that is no identifier (`[a-z][a-z0-9_.-]{0,95}`) or a message of more than 1,024 code
/// points is a fault of the module and ends the action (P1-SDK-05).
class target_error : public std::exception
{
public:
    /// A code for programs and a message for people.
    target_error(std::string_view code, std::string_view message)
        : text_(std::make_shared<const texts>(texts{std::string(code), std::string(message)}))
    {
    }
    /// The code.
    [[nodiscard]] const std::string& code() const noexcept { return text_->code; }
    /// The message.
    [[nodiscard]] const std::string& message() const noexcept { return text_->message; }
    /// The message.
    [[nodiscard]] const char* what() const noexcept override { return text_->message.c_str(); }

private:
    struct texts {
        std::string code;
        std::string message;
    };
    /// Shared, so that copying the exception cannot throw.
    std::shared_ptr<const texts> text_;
};

/// The result of one target: what a handler of the whole batch returns one of per target.
class result
{
public:
    /// A row as it stands, for those who need to make it by hand: `{"target":…,"data":…}`.
    [[nodiscard]] static result raw(json row) { return result(std::move(row)); }
    /// Gives up ownership of the row.
    [[nodiscard]] cJSON* release() noexcept { return row_.release(); }

private:
    friend class target;
    explicit result(json row) : row_(std::move(row)) {}
    json row_;
};

/// One target of the batch. Its id is opaque: never trim, fold or normalise it.
class target
{
public:
    /// A target of the C SDK; the text of its id stays where it is.
    explicit target(const mb_target& from) noexcept : target_(from) {}
    /// The id: UTF-8 of 1 to 128 code points.
    [[nodiscard]] std::string_view id() const noexcept { return {target_.id, target_.length}; }
    /// The place in the request, counted from 0.
    [[nodiscard]] std::size_t index() const noexcept { return target_.index; }
    /// The result of this target that has data.
    [[nodiscard]] result data(json value) const
    {
        return result(json::take(mb_result_data(&target_, value.release())));
    }
    /// The result of this target that has an error.
    [[nodiscard]] result error(std::string_view code, std::string_view message) const
    {
        json outcome{{"code", code}, {"message", message}};
        return result(json{{"target", id()}, {"error", std::move(outcome)}});
    }

private:
    mb_target target_;
};

/// The parameters of the request, by name. Names are compared byte for byte.
class params
{
public:
    /// The parameters of the C SDK: an object.
    explicit params(const cJSON* object) noexcept : view_(object) {}
    /// The parameter, whatever its type; a view of nothing if it is absent.
    [[nodiscard]] json_view operator[](const char* name) const noexcept { return view_[name]; }
    /// A parameter of type string; nothing if it is absent or of another type.
    [[nodiscard]] std::optional<std::string_view> string(const char* name) const noexcept
    {
        return view_[name].as_string();
    }
    /// A parameter of type integer; nothing if it is absent or no whole number.
    [[nodiscard]] std::optional<std::int64_t> integer(const char* name) const noexcept
    {
        return view_[name].as_integer();
    }
    /// A parameter of type number; nothing if it is absent or of another type.
    [[nodiscard]] std::optional<double> number(const char* name) const noexcept
    {
        return view_[name].as_number();
    }
    /// A parameter of type boolean; nothing if it is absent or of another type.
    [[nodiscard]] std::optional<bool> boolean(const char* name) const noexcept
    {
        return view_[name].as_boolean();
    }
    /// A parameter of type string-list; nothing if it is absent or no list of strings.
    [[nodiscard]] std::optional<std::vector<std::string_view>> strings(const char* name) const
    {
        const json_view list = view_[name];
        if (!list.is_array()) {
            return std::nullopt;
        }
        std::vector<std::string_view> texts;
        for (const json_view item : list) {
            const auto text = item.as_string();
            if (!text) {
                return std::nullopt;
            }
            texts.push_back(*text);
        }
        return texts;
    }
    /// All of them, as an object.
    [[nodiscard]] json_view view() const noexcept { return view_; }

private:
    json_view view_;
};

/// One request as a handler of the whole batch sees it. It ends when the handler returns.
class batch
{
public:
    /// A batch of the C SDK.
    explicit batch(const mb_batch& from)
        : parameters_(from.parameters), action_(from.action), id_(from.id)
    {
        for (std::size_t i = 0; i < from.count; i++) {
            targets_.emplace_back(from.targets[i]);
        }
    }
    /// The targets in request order: 1 to 64.
    [[nodiscard]] const std::vector<target>& targets() const noexcept { return targets_; }
    /// The parameters.
    [[nodiscard]] const params& parameters() const noexcept { return parameters_; }
    /// The name of the action.
    [[nodiscard]] std::string_view action() const noexcept { return action_; }
    /// The id of the request, 1 to 128 code points. The SDK copies it into the answer.
    [[nodiscard]] std::string_view id() const noexcept { return id_; }

private:
    std::vector<target> targets_;
    params parameters_;
    std::string_view action_;
    std::string_view id_;
};

/// The results of a whole batch, in any order, exactly one for each target.
using results = std::vector<result>;

/// What a handler for each target gives: data, or the error of this target.
class outcome
{
public:
    /// Data.
    outcome(json data) : value_(std::move(data)) {}
    /// An error.
    outcome(target_error error) : value_(std::move(error)) {}

private:
    friend class module;
    std::variant<json, target_error> value_;
};

namespace detail
{

template <class T>
struct has_from_params<
    T, std::enable_if_t<std::is_same_v<T, decltype(T::from_params(std::declval<const params&>()))>>>
    : std::true_type {
};

template <class T>
struct has_to_json<
    T, std::enable_if_t<std::is_convertible_v<decltype(std::declval<const T&>().to_json()), json>>>
    : std::true_type {
};

template <class R>
inline constexpr bool is_outcome_v =
    has_to_json<R>::value || std::is_convertible_v<R, json> || std::is_convertible_v<R, outcome>;

template <class R>
outcome to_outcome(R&& value)
{
    using plain = std::decay_t<R>;
    if constexpr (std::is_same_v<plain, outcome> || std::is_same_v<plain, json> ||
                  std::is_same_v<plain, target_error>) {
        return outcome(std::forward<R>(value));
    } else if constexpr (has_to_json<plain>::value) {
        return outcome(json(value.to_json()));
    } else {
        return outcome(json(std::forward<R>(value)));
    }
}

inline cJSON* set_error(mb_context* context, const target_error& error)
{
    return mb_target_error(context, c_text(error.code()).c_str(), c_text(error.message()).c_str());
}

/// An array for the C SDK.
inline cJSON* to_array(results rows)
{
    json list = json::array();
    for (result& row : rows) {
        list.push_back(json::take(row.release()));
    }
    return list.release();
}

template <class F, class = void>
struct may_be_empty : std::false_type {
};

template <class F>
struct may_be_empty<
    F, std::enable_if_t<std::is_convertible_v<std::nullptr_t, F> &&
                        std::is_convertible_v<decltype(std::declval<const F&>() == nullptr), bool>>>
    : std::true_type {
};

/// Whether there is nothing to call: a null pointer to a function, or an empty std::function.
template <class F>
bool is_empty([[maybe_unused]] const F& handler)
{
    if constexpr (may_be_empty<F>::value) {
        return handler == nullptr;
    } else {
        return false;
    }
}

/// Calls a handler so that no exception passes through C.
template <class F>
cJSON* guarded(mb_context* context, [[maybe_unused]] bool each, F&& call) noexcept
{
#if defined(__cpp_exceptions)
    try {
        return call();
    } catch (const target_error& error) {
        return each ? set_error(context, error) : mb_failed(context, error.what());
    } catch (const std::exception& error) {
        return mb_failed(context, error.what());
    } catch (...) {
        return mb_failed(context, "an exception that is no std::exception");
    }
#else
    (void)context;
    return call();
#endif
}

} // namespace detail

/// A module: a table of actions and what serves them.
class module
{
public:
    /// A module without actions.
    module() = default;
    /// Moves.
    module(module&&) noexcept = default;
    /// Moves.
    module& operator=(module&&) noexcept = default;
    module(const module&) = delete;
    module& operator=(const module&) = delete;
    ~module() = default;

    /// Registers a handler that is called once for each target:
    /// `(const target&, const params&) -> data`.
    ///
    /// Data is a json, anything a json is made from, a struct with `json to_json() const`, or an
    /// outcome. A thrown target_error becomes the error of this target; any other exception becomes
    /// the error `internal`, with what() on standard error (P1-SDK-07).
    ///
    /// @param action The name that the manifest declares. Registering it twice, a name that is no
    ///        identifier, or a handler that is null makes run() refuse with process.actions.
    /// @param handler The handler.
    /// @return The module.
    template <class Handler>
    module& each(std::string_view action, Handler handler)
    {
        static_assert(std::is_invocable_v<Handler&, const target&, const params&>,
                      "modberth: a handler for each target takes (const target&, const params&)");
        using given = std::invoke_result_t<Handler&, const target&, const params&>;
        static_assert(detail::is_outcome_v<given>,
                      "modberth: a handler for each target returns JSON data or a target_error");
        entry& added = add(action);
        if (detail::is_empty(handler)) {
            return *this;
        }
        const auto call = std::make_shared<Handler>(std::move(handler));
        added.each = [call](const target& one, const params& parameters) -> outcome {
            return detail::to_outcome((*call)(one, parameters));
        };
        return *this;
    }

    /// Registers a handler for each target with parameters of the author's own type:
    /// `(const target&, const Parameters&) -> data`.
    ///
    /// @tparam Parameters A type with `static Parameters from_params(const params&)`. What that
    ///         throws is the outcome of every target.
    /// @param action As in the other form.
    /// @param handler The handler.
    /// @return The module.
    template <class Parameters, class Handler>
    module& each(std::string_view action, Handler handler)
    {
        static_assert(
            detail::has_from_params<Parameters>::value,
            "modberth: the parameters need `static T from_params(const modberth::params&)`");
        static_assert(std::is_invocable_v<Handler&, const target&, const Parameters&>,
                      "modberth: this handler takes (const target&, const Parameters&)");
        using given = std::invoke_result_t<Handler&, const target&, const Parameters&>;
        static_assert(detail::is_outcome_v<given>,
                      "modberth: a handler for each target returns JSON data or a target_error");
        entry& added = add(action);
        if (detail::is_empty(handler)) {
            return *this;
        }
        const auto call = std::make_shared<Handler>(std::move(handler));
        /* One process serves one request, so the parameters are made once. */
        const auto typed = std::make_shared<std::unique_ptr<const Parameters>>();
        added.each = [call, typed](const target& one, const params& parameters) -> outcome {
            if (!*typed) {
                *typed = std::make_unique<const Parameters>(Parameters::from_params(parameters));
            }
            return detail::to_outcome((*call)(one, **typed));
        };
        return *this;
    }

    /// Registers a handler that is called once with the whole batch: `(const batch&) -> results`
    /// (P1-SDK-03). An exception ends the action without a result: output.handler_failed.
    ///
    /// @param action As in each().
    /// @param handler The handler.
    /// @return The module.
    template <class Handler>
    module& batch(std::string_view action, Handler handler)
    {
        static_assert(std::is_invocable_r_v<results, Handler&, const modberth::batch&>,
                      "modberth: a handler of the whole batch is (const batch&) -> results");
        entry& added = add(action);
        if (detail::is_empty(handler)) {
            return *this;
        }
        const auto call = std::make_shared<Handler>(std::move(handler));
        added.batch = [call](const modberth::batch& all) -> results { return (*call)(all); };
        return *this;
    }

    /// Serves one request: reads it, calls the handler, checks and writes the answer.
    ///
    /// A refusal leaves standard output empty and writes one line `modberth: CODE: TEXT` to
    /// standard error.
    ///
    /// @return The exit status for the process: 0 when the frames are written, else 1.
    [[nodiscard]] int run()
    {
        std::vector<mb_action> table;
        for (const auto& one : entries_) {
            mb_action row{};
            row.name = one->name.c_str();
            row.each = one->each ? call_each : nullptr;
            row.batch = one->batch ? call_batch : nullptr;
            row.user = one.get();
            table.push_back(row);
        }
        table.push_back(mb_action{});
        return mb_run(table.data());
    }

private:
    /// One action; exactly one of the two functions is set, and none where the handler was null:
    /// the C SDK then refuses the table.
    struct entry {
        std::string name;
        std::function<outcome(const target&, const params&)> each;
        std::function<results(const modberth::batch&)> batch;
    };

    entry& add(std::string_view action)
    {
        entries_.push_back(std::make_unique<entry>());
        entries_.back()->name = detail::c_text(action);
        return *entries_.back();
    }

    static cJSON* call_each(const mb_target* one, const cJSON* parameters, mb_context* context)
    {
        return detail::guarded(context, true, [&]() -> cJSON* {
            const auto* self = static_cast<const entry*>(mb_user(context));
            outcome given = self->each(target(*one), params(parameters));
            if (const auto* error = std::get_if<target_error>(&given.value_)) {
                return detail::set_error(context, *error);
            }
            return std::get_if<json>(&given.value_)->release();
        });
    }

    static cJSON* call_batch(const mb_batch* all, mb_context* context)
    {
        return detail::guarded(context, false, [&]() -> cJSON* {
            const auto* self = static_cast<const entry*>(mb_user(context));
            return detail::to_array(self->batch(modberth::batch(*all)));
        });
    }

    std::vector<std::unique_ptr<entry>> entries_;
};

/// Serves one request with one callback over the untouched request:
/// `(json_view request) -> results`.
///
/// @param handler The callback. It gets the object `{version, type, id, action, targets,
///        parameters}`, already checked.
/// @return The exit status for the process: 0 when the frames are written, else 1.
template <class Handler>
[[nodiscard]] int serve(Handler handler)
{
    static_assert(std::is_invocable_r_v<results, Handler&, json_view>,
                  "modberth: serve() takes a callback (json_view) -> results");
    if (detail::is_empty(handler)) {
        return mb_serve(nullptr);
    }
    return mb_serve_with(
        [](const cJSON* request, mb_context* context) -> cJSON* {
            return detail::guarded(context, false, [&]() -> cJSON* {
                auto& call = *static_cast<Handler*>(mb_user(context));
                return detail::to_array(call(json_view(request)));
            });
        },
        &handler);
}

} // namespace modberth

#endif
