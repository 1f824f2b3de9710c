// What a module in C does: threads, children, pipes, epoll, timers, signals, files. Prints "done" where all of it works,
// else the line that did not. argv[1] is a folder to write in.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NEED(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("line %d: %s: %s\n", __LINE__, #condition, strerror(errno));                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static volatile sig_atomic_t signals;

static void count(int number) {
    (void)number;
    signals++;
}

static void *thread(void *argument) {
    void *block = malloc(1 << 20);
    NEED(block != NULL);
    memset(block, 1, 1 << 20);
    free(block);
    return argument;
}

int main(int argc, char **argv) {
    NEED(argc == 2);

    pthread_t threads[4];
    int own[4];
    for (int i = 0; i < 4; i++) NEED(pthread_create(&threads[i], NULL, thread, &own[i]) == 0);
    for (int i = 0; i < 4; i++) {
        void *result;
        NEED(pthread_join(threads[i], &result) == 0 && result == &own[i]);
    }

    int ends[2], status;
    NEED(pipe2(ends, O_CLOEXEC) == 0);
    pid_t child = fork();
    if (child == 0) _exit(write(ends[1], "x", 1) == 1 ? 7 : 1);
    char byte;
    NEED(read(ends[0], &byte, 1) == 1 && byte == 'x');
    NEED(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    child = vfork();
    if (child == 0) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(1);
    }
    NEED(waitpid(child, &status, 0) == child && status == 0);
    char *arguments[] = {"sh", "-c", "exit 5", NULL}, *environment[] = {NULL};
    NEED(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environment) == 0);
    siginfo_t ended;
    NEED(waitid(P_PID, child, &ended, WEXITED) == 0 && ended.si_status == 5);
    NEED(system("exit 3") >> 8 == 3);

    NEED(signal(SIGUSR1, count) != SIG_ERR && signal(SIGALRM, count) != SIG_ERR);
    NEED(raise(SIGUSR1) == 0 && signals == 1);
    NEED(kill(getpid(), SIGUSR1) == 0 && signals == 2);
    struct itimerval soon = {.it_value = {.tv_usec = 1000}};
    sigset_t block, before;
    NEED(sigemptyset(&block) == 0 && sigaddset(&block, SIGALRM) == 0);
    NEED(sigprocmask(SIG_BLOCK, &block, &before) == 0 && setitimer(ITIMER_REAL, &soon, NULL) == 0);
    while (signals < 3) sigsuspend(&before);

    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
    int epoll = epoll_create1(EPOLL_CLOEXEC), pair[2];
    struct itimerspec once = {.it_value = {.tv_nsec = 1000000}};
    struct epoll_event watch = {.events = EPOLLIN}, ready;
    NEED(timer >= 0 && event >= 0 && epoll >= 0 && timerfd_settime(timer, 0, &once, NULL) == 0);
    NEED(epoll_ctl(epoll, EPOLL_CTL_ADD, timer, &watch) == 0 && epoll_wait(epoll, &ready, 1, -1) == 1);
    NEED(eventfd_write(event, 1) == 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, event, &watch) == 0);
    NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
    NEED(send(pair[0], "y", 1, MSG_NOSIGNAL) == 1 && recv(pair[1], &byte, 1, 0) == 1 && byte == 'y');
    struct timespec short_time = {.tv_nsec = 1000};
    NEED(nanosleep(&short_time, NULL) == 0);

    char path[4096], line[16];
    struct stat found;
    NEED(chdir(argv[1]) == 0 && getcwd(path, sizeof path) != NULL);
    NEED(mkdir("d", 0700) == 0);
    FILE *file = fopen("d/f", "w+");
    NEED(file != NULL && fputs("text", file) >= 0 && fflush(file) == 0 && fsync(fileno(file)) == 0);
    NEED(fcntl(fileno(file), F_SETFD, FD_CLOEXEC) == 0);
    rewind(file);
    NEED(fgets(line, sizeof line, file) != NULL && strcmp(line, "text") == 0);
    void *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    NEED(map != MAP_FAILED && memcmp(map, "text", 4) == 0 && munmap(map, 4096) == 0 && fclose(file) == 0);
    NEED(rename("d/f", "g") == 0 && symlink("g", "l") == 0 && stat("l", &found) == 0 && found.st_size == 4);
    NEED(readlink("l", line, sizeof line) == 1 && truncate("g", 2) == 0 && chmod("g", 0600) == 0);
    NEED(link("g", "h") == 0 && unlink("g") == 0 && unlink("h") == 0 && unlink("l") == 0 && rmdir("d") == 0);
    NEED(access("d", F_OK) == -1 && errno == ENOENT);

    // Memory that becomes code.
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    NEED(code != MAP_FAILED && mprotect(code, 4096, PROT_READ | PROT_EXEC) == 0);
    NEED(madvise(code, 4096, MADV_DONTNEED) == 0);
    struct rlimit limit;
    NEED(getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
    puts("done");
    return 0;
}
