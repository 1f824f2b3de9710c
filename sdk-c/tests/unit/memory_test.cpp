// Want of memory at any moment: a clear refusal, nothing leaked (a sanitizer run sees to that).
#include "internal.hpp"
#include "process.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace
{

long allowed = 0;

void *scarce(std::size_t size)
{
    return allowed-- > 0 ? std::malloc(size) : nullptr;
}

cJSON *data(const mb_target *target, const cJSON *, mb_context *context)
{
    if (target->index == 1) {
        return mb_target_error(context, "not_found", "no such target");
    }
    cJSON *made = cJSON_CreateArray();
    for (int i = 0; made != nullptr && i < 200; i++) {
        cJSON *text = cJSON_CreateString("some text that makes the frame grow");
        if (text == nullptr) {
            cJSON_Delete(made);
            return mb_failed(context, "no memory");
        }
        cJSON_AddItemToArray(made, text);
    }
    return made;
}

cJSON *all(const mb_batch *batch, mb_context *)
{
    cJSON *results = cJSON_CreateArray();
    for (std::size_t i = 0; results != nullptr && i < batch->count; i++) {
        cJSON *result = mb_result_data(&batch->targets[i], cJSON_CreateNumber(1e20));
        if (result == nullptr) {
            cJSON_Delete(results);
            return nullptr;
        }
        cJSON_AddItemToArray(results, result);
    }
    return results;
}

const mb_action actions[] = {
    {"each", data, nullptr, nullptr}, {"batch", nullptr, all, nullptr}, {}};

/// One exchange without its streams. True if the answer stands.
bool exchange(const std::string &message, mbi_fault &fault)
{
    mbi_buffer payloads[2] = {};
    std::string texts[2] = {testing_support::hello, message};
    for (int i = 0; i < 2; i++) {
        payloads[i].bytes = reinterpret_cast<unsigned char *>(texts[i].data());
        payloads[i].length = texts[i].size();
    }
    mbi_request request{};
    mbi_buffer out{};
    cJSON *results = nullptr;
    const bool good = mbi_request_hello(&payloads[0], &fault) &&
                      mbi_request_invoke(&request, &payloads[1], &fault) &&
                      mbi_dispatch(actions, &request, &results, &fault) &&
                      mbi_answer(&request, results, &out, &fault);
    mbi_buffer_free(&out);
    cJSON_Delete(results);
    mbi_request_free(&request);
    return good;
}

class Memory : public testing::TestWithParam<const char *>
{
};

TEST_P(Memory, EveryAllocationMayFail)
{
    const std::string message =
        testing_support::invoke(GetParam(), R"(["a","b","c"])", R"({"big":[1e20,1e21]})");
    cJSON_Hooks hooks = {scarce, std::free};
    bool good = false;
    long count = 0;
    for (; !good && count < 10000; count++) {
        mbi_fault fault{};
        cJSON_InitHooks(&hooks);
        allowed = count;
        good = exchange(message, fault);
        cJSON_InitHooks(nullptr);
        if (!good) {
            const std::string code = fault.code;
            EXPECT_TRUE(code == "process.memory" || code == "output.handler_failed") << code;
        }
        // From some point on only the handler fails, which is that target's own error.
        if (good && allowed < 0) {
            good = false;
        }
    }
    EXPECT_TRUE(good) << "with enough memory it works";
    EXPECT_GT(count, 30);
}

INSTANTIATE_TEST_SUITE_P(Forms, Memory, testing::Values("each", "batch", "unknown"));

} // namespace
