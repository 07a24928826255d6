/* Print where a program's code lies, and then the address of every instruction that it executes:
   steps PROGRAM ARGUMENTS */
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_code(pid_t child) {
    char name[64], line[512];
    snprintf(name, sizeof name, "/proc/%d/maps", (int)child);
    FILE *maps = fopen(name, "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "r-xp"))
            fputs(line, stdout);
    if (maps)
        fclose(maps);
}

int main(int count, char **words) {
    pid_t child = fork();
    if (!child) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        execv(words[1], words + 1);
        _exit(127);
    }
    int status, stops = 0;
    struct user_regs_struct registers;
    for (waitpid(child, &status, 0); WIFSTOPPED(status); waitpid(child, &status, 0)) {
        if (!stops++)
            print_code(child);
        if (ptrace(PTRACE_GETREGS, child, 0, &registers) == 0)
            printf("%llx\n", registers.rip);
        ptrace(PTRACE_SINGLESTEP, child, 0, 0);
    }
    return !WIFEXITED(status) || WEXITSTATUS(status);
}
