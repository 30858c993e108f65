// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_faults: a fault at the Nth system call of a program
 *
 *	circuit_faults list FILE COMMAND...	each of them into FILE: number, the
 *						kernel's number of the call, errors
 *	circuit_faults kill N COMMAND...	SIGKILL in place of the Nth
 *	circuit_faults ERROR N COMMAND...	the Nth is not made and returns -ERROR:
 *						EIO, ENOSPC, ENOBUFS, ENOMEM or EINTR
 *
 * close(2) is made all the same: Linux releases the descriptor whatever it returns.
 *
 * Counted from 1, from the program's own first instruction, as what the loader does
 * before is not the program's.  Its children are left alone.  "list" names the errors
 * that the kernel may give for such a call, as the man pages have them, and EIO for all
 * that can fail.
 *
 * Exit status: the command's, 137 if it was killed, 134 and so on by other signals;
 * 125 if it could not be traced; 126 if it ended before its Nth call.
 *
 * By ptrace(2): at the entry of a call its number is replaced by -1, so that the kernel
 * makes none, and at its exit the result.  At the program's entry point (AT_ENTRY) a
 * breakpoint waits.  For x86-64, as the registers are its own.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT	125	/* exit statuses of our own */
#define TOO_FEW	126

static const struct {
	const char *name;
	int number;
} errors[] = {
	{ "EIO", EIO }, { "ENOSPC", ENOSPC }, { "ENOBUFS", ENOBUFS }, { "ENOMEM", ENOMEM },
	{ "EINTR", EINTR },
};

/* Beside EIO */
static const struct {
	long call;
	const char *errors;
} calls[] = {
	{ SYS_write, "ENOSPC EINTR" }, { SYS_pwrite64, "ENOSPC EINTR" },
	{ SYS_fsync, "ENOSPC" }, { SYS_ftruncate, "ENOSPC EINTR" },
	{ SYS_rename, "ENOSPC" }, { SYS_mkdir, "ENOSPC" },
	{ SYS_open, "ENOSPC EINTR" }, { SYS_openat, "ENOSPC EINTR" },
	{ SYS_sendto, "ENOBUFS EINTR" }, { SYS_sendmsg, "ENOBUFS EINTR" },
	{ SYS_recvfrom, "ENOBUFS EINTR" }, { SYS_recvmsg, "ENOBUFS EINTR" },
	{ SYS_read, "EINTR" }, { SYS_pread64, "EINTR" }, { SYS_flock, "EINTR" },
	{ SYS_poll, "EINTR" }, { SYS_ppoll, "EINTR" }, { SYS_close, "EINTR" },
	{ SYS_socket, "ENOBUFS" }, { SYS_mmap, "ENOMEM" },
	{ SYS_clone, "ENOMEM" },
};

struct fault {
	FILE *list;
	bool kill;
	int error;
	unsigned long at;
};

static void die(const char *what)
{
	perror(what);
	exit(CANNOT);
}

#ifdef __x86_64__

static void get_registers(pid_t pid, struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_GETREGS, pid, NULL, regs))
		die("PTRACE_GETREGS");
}

static void set_registers(pid_t pid, struct user_regs_struct *regs)
{
	if (ptrace(PTRACE_SETREGS, pid, NULL, regs))
		die("PTRACE_SETREGS");
}

/* --- the beginning --------------------------------------------------------- */

static unsigned long entry_point(pid_t pid)
{
	char path[64];
	Elf64_auxv_t aux;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", pid);
	f = fopen(path, "re");
	if (!f)
		die(path);
	while (fread(&aux, sizeof(aux), 1, f) == 1 && aux.a_type != AT_NULL) {
		if (aux.a_type != AT_ENTRY)
			continue;
		fclose(f);
		return aux.a_un.a_val;
	}
	fprintf(stderr, "circuit_faults: %s has no AT_ENTRY\n", path);
	exit(CANNOT);
}

/* Until it stops, or has ended: then we end as it did. */
static int wait_for(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (WIFEXITED(status))
		exit(WEXITSTATUS(status));
	if (WIFSIGNALED(status))
		exit(128 + WTERMSIG(status));
	return WSTOPSIG(status);
}

static void run_to(pid_t pid, unsigned long address)
{
	struct user_regs_struct regs;
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, pid, address, NULL);
	if (errno || ptrace(PTRACE_POKETEXT, pid, address, (word & ~0xffL) | 0xcc))
		die("PTRACE_POKETEXT");
	if (ptrace(PTRACE_CONT, pid, NULL, NULL))
		die("PTRACE_CONT");
	if (wait_for(pid) != SIGTRAP)
		die("the breakpoint was not reached");
	get_registers(pid, &regs);
	regs.rip = address;
	set_registers(pid, &regs);
	if (ptrace(PTRACE_POKETEXT, pid, address, word))
		die("PTRACE_POKETEXT");
}

static pid_t begin(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (!pid) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			die("PTRACE_TRACEME");
		execvp(command[0], command);
		die(command[0]);
	}
	if (wait_for(pid) != SIGTRAP)
		die("execve");
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		die("PTRACE_SETOPTIONS");
	run_to(pid, entry_point(pid));
	return pid;
}

/* --- calls ----------------------------------------------------------------- */

/* To the next entry or exit of a call; signals on the way are delivered. */
static void run_to_call(pid_t pid)
{
	int signal = 0;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, NULL, (long)signal))
			die("PTRACE_SYSCALL");
		signal = wait_for(pid);
		if (signal == (SIGTRAP | 0x80))
			return;
		if (signal == SIGTRAP)
			signal = 0;
	}
}

/* One does not return, the others have no error for what a program asks of them. */
static bool cannot_fail(long call)
{
	static const long never[] = {
		SYS_exit_group, SYS_brk, SYS_getpid, SYS_getppid, SYS_gettid, SYS_getuid,
		SYS_geteuid, SYS_getgid, SYS_getegid, SYS_umask, SYS_time,
		SYS_clock_gettime,
	};
	size_t i;

	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		if (never[i] == call)
			return true;
	return false;
}

static void list_call(FILE *list, unsigned long n, long call)
{
	const char *more = "";
	size_t i;

	for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].call == call)
			more = calls[i].errors;
	if (cannot_fail(call))
		fprintf(list, "%lu %ld\n", n, call);
	else
		fprintf(list, "%lu %ld EIO %s\n", n, call, more);
	fflush(list);
}

static void fail_call(pid_t pid, struct user_regs_struct *regs, int error)
{
	if (regs->orig_rax != SYS_close) {
		regs->orig_rax = (unsigned long)-1;
		set_registers(pid, regs);
	}
	run_to_call(pid);
	get_registers(pid, regs);
	regs->rax = (unsigned long)-(long)error;
	set_registers(pid, regs);
}

static void make_fault(pid_t pid, const struct fault *fault, struct user_regs_struct *regs)
{
	if (fault->kill) {
		kill(pid, SIGKILL);
		wait_for(pid);
		die("SIGKILL");
	}
	fail_call(pid, regs, fault->error);
	if (ptrace(PTRACE_DETACH, pid, NULL, NULL))
		die("PTRACE_DETACH");
	wait_for(pid);
	die("it stopped");
}

static void trace(char **command, const struct fault *fault)
{
	pid_t pid = begin(command);
	struct user_regs_struct regs;
	unsigned long n;

	for (n = 1;; n++) {
		run_to_call(pid);
		get_registers(pid, &regs);
		if (fault->list)
			list_call(fault->list, n, (long)regs.orig_rax);
		else if (n == fault->at)
			make_fault(pid, fault, &regs);
		if (!fault->list && regs.orig_rax == SYS_exit_group) {
			fprintf(stderr, "circuit_faults: it ended with call %lu\n", n);
			kill(pid, SIGKILL);
			exit(TOO_FEW);
		}
		run_to_call(pid);
	}
}

#else

static void trace(char **command, const struct fault *fault)
{
	(void)command;
	(void)fault;
	fprintf(stderr, "circuit_faults: only x86-64's registers are known here\n");
	exit(CANNOT);
}

#endif

/* --- main ------------------------------------------------------------------ */

static int error_of(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcmp(errors[i].name, name))
			return errors[i].number;
	return 0;
}

int main(int argc, char **argv)
{
	struct fault fault = { 0 };

	if (argc < 4)
		goto usage;
	fault.kill = !strcmp(argv[1], "kill");
	fault.error = error_of(argv[1]);
	if (!strcmp(argv[1], "list")) {
		fault.list = fopen(argv[2], "we");
		if (!fault.list)
			die(argv[2]);
	} else if (fault.kill || fault.error) {
		fault.at = strtoul(argv[2], NULL, 10);
	}
	if (!fault.list && !fault.at)
		goto usage;
	trace(argv + 3, &fault);
	return 0;
usage:
	fprintf(stderr, "usage: circuit_faults list FILE | kill N | ERROR N COMMAND...\n");
	return CANNOT;
}
