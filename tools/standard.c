// SPDX-License-Identifier: GPL-2.0
/*
 * Open those of the three that are closed: see standard.h.
 */
#include <fcntl.h>
#include <unistd.h>

#include "standard.h"

/*
 * Where one of the three is closed, a netlink socket would take its number.  What is written
 * to a closed standard output is lost, as on a full disk.
 */
void standard_files_open(void)
{
	int fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open(fd == STDOUT_FILENO ? "/dev/full" : "/dev/null", O_RDWR);
}
