/* A module that answers its request for the target "a" and then stays until somebody has opened the
 * FIFO `gate` of its package for writing, so that as many actions as wanted are in flight at once.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char request[65536];

static int send(const char *payload)
{
    uint32_t length = (uint32_t)strlen(payload);
    unsigned char head[4] = {(unsigned char)(length >> 24), (unsigned char)(length >> 16),
                             (unsigned char)(length >> 8), (unsigned char)length};
    return write(1, head, 4) == 4 && write(1, payload, length) == (ssize_t)length;
}

/* Both frames, as text: their lengths have no byte that looks like a quotation mark followed by a
 * name. */
static size_t take(void)
{
    size_t have = 0;
    ssize_t got;
    while (have < sizeof request && (got = read(0, request + have, sizeof request - have)) > 0) {
        have += (size_t)got;
    }
    return have;
}

int main(void)
{
    static const char name[] = "\"id\":\"";
    const char *id = memmem(request, take(), name, sizeof name - 1);
    char answer[256];
    if (!id) {
        return 1;
    }
    snprintf(answer, sizeof answer,
             "{\"version\":1,\"type\":\"result\",\"id\":\"%.32s\",\"results\":[{\"target\":\"a\","
             "\"data\":1}]}",
             id + sizeof name - 1);
    if (!send("{\"version\":1,\"type\":\"hello\",\"protocol\":1}") || !send(answer)) {
        return 2;
    }
    return open("gate", O_RDONLY) < 0 ? 3 : 0;
}
