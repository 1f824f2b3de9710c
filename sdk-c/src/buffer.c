/* Bytes that grow, from the allocator that cJSON uses. */
#include "internal.h"

#include <string.h>

MBI bool mbi_append(mbi_buffer *buffer, const void *bytes, size_t length)
{
    if (length > buffer->capacity - buffer->length) {
        size_t capacity = buffer->capacity < 256 ? 256 : buffer->capacity;
        while (capacity - buffer->length < length) {
            if (capacity > SIZE_MAX / 2) {
                return false;
            }
            capacity *= 2;
        }
        unsigned char *larger = cJSON_malloc(capacity);
        if (larger == NULL) {
            return false;
        }
        if (buffer->length > 0) {
            memcpy(larger, buffer->bytes, buffer->length);
        }
        cJSON_free(buffer->bytes);
        buffer->bytes = larger;
        buffer->capacity = capacity;
    }
    if (length > 0) {
        memcpy(buffer->bytes + buffer->length, bytes, length);
    }
    buffer->length += length;
    return true;
}

MBI void mbi_buffer_free(mbi_buffer *buffer)
{
    cJSON_free(buffer->bytes);
    buffer->bytes = NULL;
    buffer->length = 0;
    buffer->capacity = 0;
}
