// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spawn, nap: builtins for the shell of the tests (lib.sh loads them)
 *
 *	spawn [-e] [-n NETNS] [-v NAME] COMMAND [ARGUMENT...]
 *	nap SECONDS
 *
 * spawn runs a program as the shell itself would, and in the network namespace NETNS as
 * "ip netns exec" would; its exit status is the program's.
 *
 *	-n	in that namespace, with a /sys of its own
 *	-v	what it prints is the variable's value, as of NAME=$(COMMAND)
 *	-e	in place of this shell, as exec does
 *
 * A fork of bash under User Mode Linux gives the child each page that the shell has ever
 * written, by a call to the host for nearly each, only for an exec to throw all of it away:
 * some 20 ms of processor time, twice as long as the program then takes.  Here it is a
 * vfork(), which copies nothing.
 *
 * The licence is one that bash's own, GPL-3.0-or-later, goes with.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <config.h>
#include <builtins.h>
#include <shell.h>
#include <builtins/bashgetopt.h>
#include <builtins/common.h>

/* trap.h, which is not installed, has it. */
extern void restore_original_signals(void);

#define NETNS_DIR	"/run/netns/"
#define CANNOT		126	/* exit statuses as a shell's */
#define NOT_FOUND	127
#define CHUNK		65536

struct program {
	char	**argv;
	char	**env;
	int	netns;		/* -1: this one */
	int	output;		/* -1: where the shell's goes */
	sigset_t signals;	/* blocked in it */
};

/* --- the program's own process ----------------------------------------------- */

/* As iproute2's netns_switch() does: /sys shows the devices of the namespace it was mounted in. */
static int enter(int netns)
{
	if (setns(netns, CLONE_NEWNET) || unshare(CLONE_NEWNS))
		return -1;
	if (mount("", "/", "none", MS_SLAVE | MS_REC, NULL))
		return -1;
	if (umount2("/sys", MNT_DETACH) && errno != EINVAL)
		return -1;
	return mount("sysfs", "/sys", "sysfs", 0, NULL);
}

/* After vfork() the memory is the shell's: nothing of it is changed here. */
static _Noreturn void become(const struct program *c)
{
	int saved;

	if (c->netns >= 0 && enter(c->netns))
		goto failed;
	if (c->output >= 0 && dup2(c->output, STDOUT_FILENO) < 0)
		goto failed;
	sigprocmask(SIG_SETMASK, &c->signals, NULL);
	execvpe(c->argv[0], c->argv, c->env);
failed:
	saved = errno;
	dprintf(STDERR_FILENO, "spawn: %s: %s\n", c->argv[0], strerror(saved));
	_exit(saved == ENOENT ? NOT_FOUND : CANNOT);
}

/* --- the shell's ---------------------------------------------------------------- */

/* All that comes until its end, as text; NULL: no memory */
static char *read_all(int fd)
{
	size_t len = 0, room = CHUNK;
	char *text = malloc(room), *more;
	ssize_t n;

	while (text) {
		n = read(fd, text + len, room - len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		len += n;
		if (room - len > 1)
			continue;
		room *= 2;
		more = realloc(text, room);
		if (!more)
			free(text);
		text = more;
	}
	if (!text)
		return NULL;
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	return text;
}

static int status_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return CANNOT;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static __attribute__((noinline)) pid_t start(const struct program *c)
{
	pid_t pid = vfork();

	if (!pid)
		become(c);
	return pid;
}

/* The shell reaps any child when SIGCHLD comes, so that has to wait. */
static int run(struct program *c, const char *name)
{
	int ends[2] = { -1, -1 }, status;
	char *text = NULL;
	sigset_t child;
	pid_t pid;

	if (name && pipe2(ends, O_CLOEXEC)) {
		builtin_error("pipe: %s", strerror(errno));
		return EXECUTION_FAILURE;
	}
	c->output = ends[1];
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, &c->signals);
	pid = start(c);
	if (name) {
		close(ends[1]);
		text = pid > 0 ? read_all(ends[0]) : NULL;
		close(ends[0]);
	}
	status = pid > 0 ? status_of(pid) : CANNOT;
	sigprocmask(SIG_SETMASK, &c->signals, NULL);
	if (pid < 0)
		builtin_error("vfork: %s", strerror(errno));
	if (name)
		bind_variable(name, text ? text : (char *)"", 0);
	free(text);
	return status;
}

static int open_netns(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), NETNS_DIR "%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		builtin_error("%s: %s", path, strerror(errno));
	return fd;
}

/* Words in a row, as execve() wants them */
static char **words(WORD_LIST *list)
{
	char **argv = calloc(list_length((GENERIC_LIST *)list) + 1, sizeof(*argv));
	size_t n = 0;

	for (; argv && list; list = list->next)
		argv[n++] = list->word->word;
	return argv;
}

static int spawn_builtin(WORD_LIST *list)
{
	struct program c = { .netns = -1, .output = -1 };
	const char *netns = NULL, *name = NULL;
	int option, status = EXECUTION_FAILURE;
	bool in_place = false;

	reset_internal_getopt();
	while ((option = internal_getopt(list, "+en:v:")) != -1) {
		switch (option) {
		case 'e': in_place = true; break;
		case 'n': netns = list_optarg; break;
		case 'v': name = list_optarg; break;
		default:
			builtin_usage();
			return EX_USAGE;
		}
	}
	if (!loptend) {
		builtin_usage();
		return EX_USAGE;
	}
	if (netns) {
		c.netns = open_netns(netns);
		if (c.netns < 0)
			return EXECUTION_FAILURE;
	}
	maybe_make_export_env();
	c.env = export_env;
	c.argv = words(loptend);
	if (in_place && c.argv) {
		sigprocmask(SIG_SETMASK, NULL, &c.signals);
		restore_original_signals();
		become(&c);
	}
	if (c.argv)
		status = run(&c, name);
	free(c.argv);
	if (c.netns >= 0)
		close(c.netns);
	return status;
}

/* A signal ends it early only where that ends the shell. */
static int nap_builtin(WORD_LIST *list)
{
	struct timespec left;
	double seconds;
	char *end;

	if (!list || list->next) {
		builtin_usage();
		return EX_USAGE;
	}
	seconds = strtod(list->word->word, &end);
	if (*end || end == list->word->word || !(seconds >= 0 && seconds < 1e9)) {
		builtin_error("%s: no number of seconds", list->word->word);
		return EX_USAGE;
	}
	left.tv_sec = (time_t)seconds;
	left.tv_nsec = (long)((seconds - left.tv_sec) * 1e9 + 0.5);
	if (left.tv_nsec >= 1000000000) {
		left.tv_nsec -= 1000000000;
		left.tv_sec++;
	}
	while (nanosleep(&left, &left) && errno == EINTR)
		QUIT;
	return EXECUTION_SUCCESS;
}

static char *const spawn_doc[] = {
	"Run a program without a fork of the shell, -n: in a network namespace,",
	"-v: with what it prints in a variable, -e: in place of the shell.", NULL
};

static char *const nap_doc[] = { "Wait, as sleep does, without a process.", NULL };

struct builtin spawn_struct = {
	"spawn", spawn_builtin, BUILTIN_ENABLED, spawn_doc,
	"spawn [-e] [-n NETNS] [-v NAME] COMMAND [ARGUMENT...]", NULL
};

struct builtin nap_struct = {
	"nap", nap_builtin, BUILTIN_ENABLED, nap_doc, "nap SECONDS", NULL
};
