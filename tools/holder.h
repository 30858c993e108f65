/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which processes hold which sockets, by proc(5): /proc/PID/fd/FD is a link to
 * "socket:[INODE]".  Of the processes that this one sees, whatever their network
 * namespace: a socket may be in another's hands.  And who has a lock, by proc_locks(5).
 */
#ifndef CTCP_HOLDER_H
#define CTCP_HOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "err.h"

#define COMMAND_LEN	256	/* bytes of a command line that are told */
#define PID_LEN		16	/* bytes of a process id as text */
#define PROGRAM_LEN	64	/* bytes; TASK_COMM_LEN is 16, that of kernel threads longer */

struct holder {
	pid_t pid;
	int fd;
	uint32_t inode;
};

/* False ends the walk. */
typedef bool (*holder_fn)(const struct holder *h, void *data);

int holders_walk(holder_fn each, void *data, uint32_t *blind, struct err *e);
void holder_program(pid_t pid, char program[PROGRAM_LEN]);
bool holder_of_lock(int fd, char pid[PID_LEN]);
/* ... also of a file that this process may not open */
bool holder_of_file(const struct stat *st, char pid[PID_LEN]);
bool holder_command(pid_t pid, char command[COMMAND_LEN]);

#endif
