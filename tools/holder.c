// SPDX-License-Identifier: GPL-2.0
/*
 * What processes hold: see holder.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "holder.h"
#include "text.h"

struct walk {
	holder_fn each;
	void *data;
	bool ended;
};

/* Of a name that is a number and nothing else; -1 of others. */
static int number(const char *name)
{
	char *end;
	long n = strtol(name, &end, 10);

	return end == name || *end ? -1 : (int)n;
}

/* The inode of the socket that @link names, 0 of what is none. */
static uint32_t socket_inode(const char *link)
{
	static const char head[] = "socket:[";

	if (strncmp(link, head, strlen(head)))
		return 0;
	return (uint32_t)strtoul(link + strlen(head), NULL, 10);
}

/*
 * -EACCES, -EPERM: the process does not show it.  One that it has no more, or whose path is too
 * long to read, is no socket.
 */
static int look_at(struct walk *w, pid_t pid, int dir, const char *name)
{
	struct holder h = { .pid = pid, .fd = number(name) };
	char link[64];
	ssize_t n;

	if (h.fd < 0)
		return 0;
	n = readlinkat(dir, name, link, sizeof(link) - 1);
	if (n < 0)
		return errno == EACCES || errno == EPERM ? -errno : 0;
	link[n] = 0;
	h.inode = socket_inode(link);
	if (h.inode)
		w->ended = !w->each(&h, w->data);
	return 0;
}

/* -errno: it does not show what it has.  That it has ended meanwhile is no error. */
static int walk_process(struct walk *w, pid_t pid)
{
	const struct dirent *entry;
	char path[32];
	int rc = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT || errno == ESRCH ? 0 : -errno;
	while (!w->ended && !rc && (entry = readdir(dir)))
		rc = look_at(w, pid, dirfd(dir), entry->d_name);
	closedir(dir);
	return rc;
}

/* @blind: how many processes do not show what they hold */
int holders_walk(holder_fn each, void *data, uint32_t *blind, struct err *e)
{
	struct walk w = { .each = each, .data = data };
	const struct dirent *entry;
	DIR *proc = opendir("/proc");
	pid_t pid;

	*blind = 0;
	if (!proc)
		return err_set(e, -errno, "cannot look for processes in /proc: %s",
			       strerror(errno));
	while (!w.ended && (entry = readdir(proc))) {
		pid = number(entry->d_name);
		if (pid > 0 && walk_process(&w, pid))
			++*blind;
	}
	closedir(proc);
	return 0;
}

/* Of a file of /proc/PID, as much as there is room for; -1: that process has ended */
static ssize_t read_of(pid_t pid, const char *name, char *buf, size_t len)
{
	char path[32];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, buf, len);
	close(fd);
	return n;
}

/* "?" of one that has ended */
void holder_program(pid_t pid, char program[PROGRAM_LEN])
{
	ssize_t n = read_of(pid, "comm", program, PROGRAM_LEN - 1);

	if (n <= 0)
		n = snprintf(program, PROGRAM_LEN, "?");
	program[n] = 0;
	program[strcspn(program, "\n")] = 0;
	text_clean(program);
}

/* Its words with single blanks between; false: it has ended, or has none. */
bool holder_command(pid_t pid, char command[COMMAND_LEN])
{
	ssize_t n = read_of(pid, "cmdline", command, COMMAND_LEN - 1);

	if (n <= 0)
		return false;
	while (n && !command[n - 1])
		n--;
	command[n] = 0;
	while (n-- > 0)
		if (!command[n])
			command[n] = ' ';
	text_clean(command);
	return true;
}

/* Of a line of proc_locks(5), "1: FLOCK  ADVISORY  WRITE 4242 00:19:77 0 EOF" */
static bool line_is_of(const char *line, const struct stat *st, char pid[PID_LEN])
{
	unsigned int major, minor;
	unsigned long inode;

	return sscanf(line, "%*u: FLOCK %*s WRITE %15[0-9] %x:%x:%lu", pid, &major, &minor,
		      &inode) == 4 &&
	       inode == st->st_ino && makedev(major, minor) == st->st_dev;
}

static bool is_alive(const char *pid)
{
	return !kill(number(pid), 0) || errno != ESRCH;
}

/* Who has the lock of a file, by flock(2); not who took it and has ended, as flock(1) does */
bool holder_of_file(const struct stat *st, char pid[PID_LEN])
{
	FILE *locks = fopen("/proc/locks", "re");
	char line[160];
	bool found = false;

	while (locks && !found && fgets(line, sizeof(line), locks))
		found = line_is_of(line, st, pid) && is_alive(pid);
	if (locks)
		fclose(locks);
	return found;
}

bool holder_of_lock(int fd, char pid[PID_LEN])
{
	struct stat st;

	return !fstat(fd, &st) && holder_of_file(&st, pid);
}
