// The JSON vectors of conformance/cases/json: documents that a strict checker accepts or refuses.
#ifndef MODBERTH_TESTS_VECTORS_HPP
#define MODBERTH_TESTS_VECTORS_HPP

#include <cjson/cJSON.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace testing_support
{

struct vector {
    std::string name;
    std::string bytes;
    /// The code under the process profile; empty if the document is accepted.
    std::string code;
};

namespace detail
{

/// cJSON's strings end at NUL, and some vectors hold it. While cJSON reads the file, an escaped NUL
/// is this private character.
inline const char *const stand_in = "\xEE\x80\x80";

inline std::string read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw std::runtime_error("cannot read " + path);
    }
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::string hide_nul(const std::string &text)
{
    std::string hidden;
    for (std::size_t i = 0; i < text.size(); i++) {
        if (text.compare(i, 6, "\\u0000") == 0) {
            hidden += stand_in;
            i += 5;
        } else if (text[i] == '\\') {
            // Any other escape: its second byte begins none of its own.
            hidden += text.substr(i, 2);
            i++;
        } else {
            hidden += text[i];
        }
    }
    return hidden;
}

inline const cJSON *need(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);
    if (found == nullptr) {
        throw std::runtime_error(std::string("a vector lacks ") + name);
    }
    return found;
}

inline std::string text_of(const cJSON *value)
{
    std::string text = cJSON_GetStringValue(value);
    for (auto at = text.find(stand_in); at != std::string::npos; at = text.find(stand_in, at)) {
        text.replace(at, 3, 1, '\0');
    }
    return text;
}

/// Bytes are {utf8}, {hex}, {repeat, times} or {concat}.
inline std::string bytes_of(const cJSON *bytes)
{
    if (const cJSON *utf8 = cJSON_GetObjectItemCaseSensitive(bytes, "utf8")) {
        return text_of(utf8);
    }
    std::string made;
    if (const cJSON *hex = cJSON_GetObjectItemCaseSensitive(bytes, "hex")) {
        const std::string digits = text_of(hex);
        for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
            made.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
        }
    } else if (const cJSON *repeat = cJSON_GetObjectItemCaseSensitive(bytes, "repeat")) {
        const std::string piece = bytes_of(repeat);
        const auto times = static_cast<std::size_t>(need(bytes, "times")->valuedouble);
        for (std::size_t i = 0; i < times; i++) {
            made += piece;
        }
    } else {
        const cJSON *part = nullptr;
        cJSON_ArrayForEach(part, need(bytes, "concat"))
        {
            made += bytes_of(part);
        }
    }
    return made;
}

} // namespace detail

/// Both files, each vector with its code under the process profile.
inline std::vector<vector> vectors(const std::string &folder)
{
    std::vector<vector> all;
    for (const char *name : {"accept", "reject"}) {
        const std::string text = detail::hide_nul(detail::read_file(folder + "/" + name + ".json"));
        const std::unique_ptr<cJSON, void (*)(cJSON *)> file(cJSON_Parse(text.c_str()),
                                                             cJSON_Delete);
        const cJSON *item = nullptr;
        cJSON_ArrayForEach(item, detail::need(file.get(), "vectors"))
        {
            // A bound of the process profile can turn what the grammar alone decides.
            const cJSON *process = cJSON_GetObjectItemCaseSensitive(item, "process");
            const cJSON *code =
                cJSON_GetObjectItemCaseSensitive(process != nullptr ? process : item, "code");
            all.push_back({detail::text_of(detail::need(item, "name")),
                           detail::bytes_of(detail::need(item, "bytes")),
                           cJSON_IsString(code) ? detail::text_of(code) : std::string()});
        }
    }
    return all;
}

} // namespace testing_support

#endif
