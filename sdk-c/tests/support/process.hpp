// Starts a module, feeds it bytes and observes it from outside.
#ifndef MODBERTH_TESTS_PROCESS_HPP
#define MODBERTH_TESTS_PROCESS_HPP

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace testing_support
{

struct observed {
    /// The exit status, or minus the signal that ended the process.
    int status = -1;
    std::string out;
    std::string err;
};

struct start {
    /// Bytes per write; each write is taken before the next one. 0: everything at once.
    std::size_t piece = 0;
    /// Standard streams that are closed.
    bool close_in = false;
    bool close_out = false;
    bool close_err = false;
    /// What stands in for standard output, if not a pipe: a file descriptor.
    int out = -1;
    /// More environment, as NAME=VALUE.
    std::vector<std::string> environment{};
    std::vector<std::string> arguments{};
};

/// One frame: the length, then the payload.
inline std::string frame(std::string_view payload)
{
    std::string bytes;
    for (int shift = 24; shift >= 0; shift -= 8) {
        bytes.push_back(static_cast<char>((payload.size() >> shift) & 0xFF));
    }
    return bytes.append(payload);
}

inline const char *const hello = R"({"version":1,"type":"hello","host_api":1})";
inline const char *const answer_hello = R"({"version":1,"type":"hello","protocol":1})";

/// An invoke message from pieces of JSON.
inline std::string invoke(std::string_view action, std::string_view targets = R"(["a","b"])",
                          std::string_view parameters = "{}")
{
    return std::string(R"({"version":1,"type":"invoke","id":"request-id","action":")")
        .append(action)
        .append(R"(","targets":)")
        .append(targets)
        .append(R"(,"parameters":)")
        .append(parameters)
        .append("}");
}

/// Both frames of a request.
inline std::string request(std::string_view invoke_message)
{
    return frame(hello) + frame(invoke_message);
}

/// Splits output into its payloads; anything that is not a whole number of frames throws.
inline std::vector<std::string> payloads(std::string_view bytes)
{
    std::vector<std::string> found;
    while (!bytes.empty()) {
        if (bytes.size() < 4) {
            throw std::runtime_error("a cut frame header");
        }
        std::size_t length = 0;
        for (std::size_t i = 0; i < 4; i++) {
            length = length << 8 | static_cast<unsigned char>(bytes[i]);
        }
        bytes.remove_prefix(4);
        if (length > bytes.size()) {
            throw std::runtime_error("a cut frame payload");
        }
        found.emplace_back(bytes.substr(0, length));
        bytes.remove_prefix(length);
    }
    return found;
}

/// The payload of the result frame; throws unless there are exactly the two frames of an answer.
inline std::string result_of(const observed &seen)
{
    const auto found = payloads(seen.out);
    if (seen.status != 0 || found.size() != 2 || found[0] != answer_hello) {
        throw std::runtime_error("no answer: status " + std::to_string(seen.status) + ", stderr " +
                                 seen.err);
    }
    return found[1];
}

/// The last line of standard error, without its end.
inline std::string last_line(const observed &seen)
{
    if (seen.err.empty() || seen.err.back() != '\n') {
        return "no line: " + seen.err;
    }
    const auto before = seen.err.rfind('\n', seen.err.size() - 2);
    const auto begin = before == std::string::npos ? 0 : before + 1;
    return seen.err.substr(begin, seen.err.size() - 1 - begin);
}

namespace detail
{

[[noreturn]] inline void child(const std::string &program, const start &how, const int in[2],
                               const int out[2], const int err[2])
{
    const auto use = [](int from, int to, bool closed) {
        if (closed) {
            close(to);
        } else {
            dup2(from, to);
        }
    };
    use(in[0], 0, how.close_in);
    use(how.out >= 0 ? how.out : out[1], 1, how.close_out);
    use(err[1], 2, how.close_err);
    std::vector<std::string> environment{"PATH=/usr/bin", "LANG=C.UTF-8"};
    // A suppressed leak or a sanitizer's report must not look like a refusal.
    environment.emplace_back("ASAN_OPTIONS=exitcode=99");
    environment.emplace_back("UBSAN_OPTIONS=exitcode=99:print_stacktrace=1");
    environment.insert(environment.end(), how.environment.begin(), how.environment.end());
    std::vector<char *> variables;
    for (auto &variable : environment) {
        variables.push_back(variable.data());
    }
    variables.push_back(nullptr);
    std::vector<std::string> words{program};
    words.insert(words.end(), how.arguments.begin(), how.arguments.end());
    std::vector<char *> arguments;
    for (auto &word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    execve(program.c_str(), arguments.data(), variables.data());
    _exit(127);
}

inline void pipe_or_throw(int ends[2])
{
    if (pipe2(ends, O_CLOEXEC) != 0) {
        throw std::runtime_error("pipe2");
    }
}

} // namespace detail

/// Runs the program to its end. A hang is ended after a minute by SIGKILL.
inline observed run(const std::string &program, std::string_view input, const start &how = {})
{
    int in[2], out[2], err[2];
    detail::pipe_or_throw(in);
    detail::pipe_or_throw(out);
    detail::pipe_or_throw(err);
    const pid_t pid = fork();
    if (pid < 0) {
        throw std::runtime_error("fork");
    }
    if (pid == 0) {
        detail::child(program, how, in, out, err);
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    signal(SIGPIPE, SIG_IGN);
    fcntl(in[1], F_SETFL, O_NONBLOCK);

    observed seen;
    std::string *texts[2] = {&seen.out, &seen.err};
    pollfd wanted[3] = {{in[1], POLLOUT, 0}, {out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
    if (input.empty()) {
        close(in[1]);
        wanted[0].fd = -1;
    }
    while (wanted[0].fd >= 0 || wanted[1].fd >= 0 || wanted[2].fd >= 0) {
        const int ready = poll(wanted, 3, 60000);
        if (ready < 0 && errno == EINTR) {
            continue;
        }
        if (ready <= 0) {
            kill(pid, SIGKILL);
            break;
        }
        for (int i = 1; i < 3; i++) {
            if (wanted[i].revents != 0) {
                char piece[65536];
                const ssize_t n = read(wanted[i].fd, piece, sizeof piece);
                if (n > 0) {
                    texts[i - 1]->append(piece, static_cast<std::size_t>(n));
                } else {
                    close(wanted[i].fd);
                    wanted[i].fd = -1;
                }
            }
        }
        if (wanted[0].fd >= 0 && wanted[0].revents != 0) {
            const std::size_t length =
                how.piece > 0 ? std::min(how.piece, input.size()) : input.size();
            const ssize_t n = write(in[1], input.data(), length);
            if (n > 0) {
                input.remove_prefix(static_cast<std::size_t>(n));
            }
            if (input.empty() || (n < 0 && errno != EAGAIN)) {
                close(in[1]);
                wanted[0].fd = -1;
            }
        }
    }
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    seen.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    return seen;
}

} // namespace testing_support

#endif
