/* The insides of the C SDK behind functions that take and give bytes only. */
#include "internal.h"

#include <string.h>

/* Why something was refused; the texts end with NUL. */
typedef struct {
    char code[64];
    char text[MBI_TEXT_MAX];
    size_t offset;
} mbs_refusal;

size_t mbs_refusal_size(void);
bool mbs_check(const unsigned char *document, size_t length, mbs_refusal *refusal);
bool mbs_cjson_accepts(const unsigned char *document, size_t length);
bool mbs_rewrite(const unsigned char *document, size_t length, unsigned char **bytes, size_t *size,
                 mbs_refusal *refusal);
bool mbs_answer(const unsigned char *hello, size_t hello_length, const unsigned char *invoke,
                size_t invoke_length, const unsigned char *results, size_t results_length,
                unsigned char **bytes, size_t *size, mbs_refusal *refusal);
size_t mbs_number(double value, char out[MBI_NUMBER_MAX]);
void mbs_free(unsigned char *bytes);

size_t mbs_refusal_size(void)
{
    return sizeof(mbs_refusal);
}

static bool refused(mbs_refusal *refusal, const mbi_fault *fault)
{
    memset(refusal, 0, sizeof *refusal);
    strncpy(refusal->code, fault->code, sizeof refusal->code - 1);
    memcpy(refusal->text, fault->text, sizeof refusal->text);
    return false;
}

static bool refused_json(mbs_refusal *refusal, const mbi_json_fault *json)
{
    mbi_fault fault;
    (void)mbi_refuse_json(&fault, "document", json);
    (void)refused(refusal, &fault);
    refusal->offset = json->offset;
    return false;
}

bool mbs_check(const unsigned char *document, size_t length, mbs_refusal *refusal)
{
    mbi_json_fault json;
    return mbi_json_check(document, length, NULL, &json) || refused_json(refusal, &json);
}

static cJSON *parse(const unsigned char *document, size_t length)
{
    return cJSON_ParseWithLengthOpts((const char *)document, length + 1, NULL, 1);
}

bool mbs_cjson_accepts(const unsigned char *document, size_t length)
{
    cJSON *tree = parse(document, length);
    cJSON_Delete(tree);
    return tree != NULL;
}

static bool rewrite(const unsigned char *document, size_t length, mbi_buffer *out, mbi_fault *fault)
{
    mbi_big_numbers big = {NULL, 0};
    cJSON *tree = parse(document, length);
    if (tree == NULL || !mbi_big_numbers_collect(&big, tree)) {
        cJSON_Delete(tree);
        return mbi_refuse_memory(fault, "the tree");
    }
    mbi_writer writer = {out, MB_FRAME_MAX, &big, "document", fault};
    const bool good = mbi_write_value(&writer, tree, 0, "root");
    mbi_big_numbers_free(&big);
    cJSON_Delete(tree);
    return good;
}

static bool give(mbi_buffer *out, bool good, unsigned char **bytes, size_t *size,
                 mbs_refusal *refusal, const mbi_fault *fault)
{
    if (!good) {
        mbi_buffer_free(out);
        return refused(refusal, fault);
    }
    *bytes = out->bytes;
    *size = out->length;
    return true;
}

bool mbs_rewrite(const unsigned char *document, size_t length, unsigned char **bytes, size_t *size,
                 mbs_refusal *refusal)
{
    mbi_buffer out = {NULL, 0, 0};
    mbi_fault fault;
    if (!mbs_check(document, length, refusal)) {
        return false;
    }
    const bool good = rewrite(document, length, &out, &fault);
    return give(&out, good, bytes, size, refusal, &fault);
}

bool mbs_answer(const unsigned char *hello, size_t hello_length, const unsigned char *invoke,
                size_t invoke_length, const unsigned char *results, size_t results_length,
                unsigned char **bytes, size_t *size, mbs_refusal *refusal)
{
    const mbi_buffer hello_payload = {(unsigned char *)(uintptr_t)hello, hello_length, 0};
    const mbi_buffer invoke_payload = {(unsigned char *)(uintptr_t)invoke, invoke_length, 0};
    mbi_request request;
    mbi_buffer out = {NULL, 0, 0};
    mbi_fault fault;
    memset(&request, 0, sizeof request);
    bool good = mbi_request_hello(&hello_payload, &fault) &&
                mbi_request_invoke(&request, &invoke_payload, &fault);
    if (good && results != NULL) {
        cJSON *tree = parse(results, results_length);
        good = mbi_answer(&request, tree, &out, &fault);
        cJSON_Delete(tree);
    }
    mbi_request_free(&request);
    return give(&out, good, bytes, size, refusal, &fault);
}

size_t mbs_number(double value, char out[MBI_NUMBER_MAX])
{
    return mbi_number_format(value, out);
}

void mbs_free(unsigned char *bytes)
{
    cJSON_free(bytes);
}
