/* Frames: a four-byte big-endian length, then that many bytes (P1-FRAME-01). */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEADER 4

MBI bool mbi_take_stdout(int *private_fd, mbi_fault *fault)
{
    /* From 3 up, so that a closed stream is never taken for a standard one; closed in children. */
    *private_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (*private_fd < 0) {
        return mbi_refuse(fault, MB_PROCESS_IO, "standard output cannot be kept: %s",
                          strerror(errno));
    }
    int moved;
    do {
        moved = dup2(STDERR_FILENO, STDOUT_FILENO);
    } while (moved < 0 && errno == EINTR);
    if (moved < 0) {
        return mbi_refuse(fault, MB_PROCESS_IO,
                          "standard output cannot be led to standard error: %s", strerror(errno));
    }
    return true;
}

/* Waits until a nonblocking descriptor is ready again. */
static bool wait_for(int fd, short events)
{
    struct pollfd wanted;
    wanted.fd = fd;
    wanted.events = events;
    wanted.revents = 0;
    return poll(&wanted, 1, -1) >= 0 || errno == EINTR;
}

/* Reads until `length` bytes are there or the input ends. False on an error of the system. */
static bool read_up_to(int fd, unsigned char *bytes, size_t length, size_t *got, mbi_fault *fault)
{
    *got = 0;
    while (*got < length) {
        const ssize_t n = read(fd, bytes + *got, length - *got);
        if (n > 0) {
            *got += (size_t)n;
        } else if (n == 0) {
            return true;
        } else if ((errno == EAGAIN || errno == EWOULDBLOCK) && wait_for(fd, POLLIN)) {
            continue;
        } else if (errno != EINTR) {
            return mbi_refuse(fault, MB_PROCESS_IO, "standard input cannot be read: %s",
                              strerror(errno));
        }
    }
    return true;
}

MBI bool mbi_read_frame(int fd, unsigned number, mbi_buffer *payload, mbi_fault *fault)
{
    unsigned char header[HEADER];
    size_t got;
    if (!read_up_to(fd, header, HEADER, &got, fault)) {
        return false;
    }
    if (got == 0) {
        return mbi_refuse(fault, MB_FRAME_MISSING,
                          "frame %u: the input ends where frame %u of 2 is due", number, number);
    }
    if (got < HEADER) {
        return mbi_refuse(fault, MB_FRAME_TRUNCATED,
                          "frame %u: the input ends after %zu of %d header bytes", number, got,
                          HEADER);
    }
    const size_t length = ((size_t)header[0] << 24) | ((size_t)header[1] << 16) |
                          ((size_t)header[2] << 8) | (size_t)header[3];
    if (length == 0) {
        return mbi_refuse(fault, MB_FRAME_EMPTY, "frame %u: the declared length is 0", number);
    }
    if (length > MB_FRAME_MAX) {
        return mbi_refuse(fault, MB_FRAME_TOO_LARGE,
                          "frame %u: the declared length is %zu bytes, the limit %d", number,
                          length, MB_FRAME_MAX);
    }
    /* One byte more: the scanner reads numbers up to a NUL. */
    payload->bytes = cJSON_malloc(length + 1);
    if (payload->bytes == NULL) {
        return mbi_refuse_memory(fault, "a request frame");
    }
    payload->capacity = length + 1;
    if (!read_up_to(fd, payload->bytes, length, &got, fault)) {
        return false;
    }
    if (got < length) {
        return mbi_refuse(fault, MB_FRAME_TRUNCATED,
                          "frame %u: the input ends after %zu of %zu payload bytes", number, got,
                          length);
    }
    payload->bytes[length] = '\0';
    payload->length = length;
    return true;
}

MBI bool mbi_read_end(int fd, mbi_fault *fault)
{
    unsigned char beyond;
    size_t got;
    if (!read_up_to(fd, &beyond, 1, &got, fault)) {
        return false;
    }
    if (got > 0) {
        return mbi_refuse(fault, MB_FRAME_EXTRA, "frame 3: bytes follow frame 2, the last one");
    }
    return true;
}

/* While a reader may be gone, writing to it is an error and no signal. What the author decided
 * about SIGPIPE is kept for afterwards. */
static bool pipe_signal_off(struct sigaction *before)
{
    struct sigaction ignore;
    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    (void)sigemptyset(&ignore.sa_mask);
    return sigaction(SIGPIPE, &ignore, before) == 0;
}

static bool write_all(int fd, const unsigned char *bytes, size_t length, mbi_fault *fault)
{
    size_t written = 0;
    while (written < length) {
        const ssize_t n = write(fd, bytes + written, length - written);
        if (n > 0) {
            written += (size_t)n;
        } else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && wait_for(fd, POLLOUT)) {
            continue;
        } else if (n == 0 || errno != EINTR) {
            return mbi_refuse(fault, MB_PROCESS_IO,
                              "standard output takes no more after %zu of %zu bytes: %s", written,
                              length, n == 0 ? "nothing was written" : strerror(errno));
        }
    }
    return true;
}

MBI bool mbi_write_all(int fd, const void *bytes, size_t length, mbi_fault *fault)
{
    struct sigaction before;
    if (!pipe_signal_off(&before)) {
        return mbi_refuse(fault, MB_PROCESS_IO, "SIGPIPE cannot be ignored: %s", strerror(errno));
    }
    const bool good = write_all(fd, bytes, length, fault);
    (void)sigaction(SIGPIPE, &before, NULL);
    return good;
}

MBI void mbi_outlive_readers(void)
{
    struct sigaction before;
    (void)pipe_signal_off(&before);
}

MBI void mbi_diagnose(const char *text, size_t length)
{
    struct sigaction before;
    mbi_fault ignored;
    if (pipe_signal_off(&before)) {
        (void)fflush(stdout);
        (void)fflush(stderr);
        (void)write_all(STDERR_FILENO, (const unsigned char *)text, length, &ignored);
        (void)sigaction(SIGPIPE, &before, NULL);
    }
}
