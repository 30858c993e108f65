// SPDX-License-Identifier: GPL-2.0
/*
 * Files of one number
 */
#include <fcntl.h>

#include "fuzz.h"

ssize_t write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY), err;
	ssize_t done;

	if (fd < 0)
		bail(path);
	done = write(fd, text, len);
	err = errno;
	close(fd);
	errno = err;
	return done;
}

static size_t read_file(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY);
	size_t len = 0;
	ssize_t done;

	if (fd < 0)
		bail(path);
	while (len < size - 1 &&
	       (done = read(fd, text + len, size - 1 - len)) > 0)
		len += done;
	text[len] = '\0';
	close(fd);
	return len;
}

unsigned long long read_number(const char *path)
{
	char text[64];

	read_file(path, text, sizeof(text));
	return strtoull(text, NULL, 10);
}

void write_number(const char *path, unsigned long long number)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%llu", number);

	if (write_file(path, text, len) != len)
		bail(path);
}
