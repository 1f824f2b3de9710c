/* A module that does all it can to outlive its host: it ignores every signal, wants no signal at
 * its parent's end, and forks twice. It never answers. */
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

static void stay(void)
{
    for (int number = 1; number <= 64; number++) {
        signal(number, SIG_IGN);
    }
    prctl(PR_SET_PDEATHSIG, 0);
}

int main(void)
{
    stay();
    for (int depth = 0; depth < 2; depth++) {
        if (fork() == 0) {
            setsid();
            stay();
        }
    }
    for (int stream = 0; stream < 3; stream++) {
        close(stream);
    }
    for (;;) {
        pause();
    }
}
