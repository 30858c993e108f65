// SPDX-License-Identifier: GPL-2.0
/*
 * The folders of what is pinned: see pace_pins.h.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pace_pins.h"
#include "pace_slot.h"

void pace_pins_name(char dir[PACE_DIR], const char *root, uint64_t cookie, unsigned int layout)
{
	char behind[16] = "";

	if (layout > 1)
		snprintf(behind, sizeof(behind), "-%u", layout);
	snprintf(dir, PACE_DIR, "%s/%llu%s", root, (unsigned long long)cookie, behind);
}

/* Of this namespace, and of another layout than this version's */
static bool is_others(const char *name, uint64_t cookie)
{
	unsigned long layout = 1;
	char *end;

	if (*name < '0' || *name > '9' || strtoull(name, &end, 10) != cookie)
		return false;
	if (*end == '-')
		layout = strtoul(end + 1, &end, 10);
	return !*end && layout != PACE_LAYOUT;
}

/* The next of @d; false: there is none */
static bool next_of_others(DIR *d, const char *root, uint64_t cookie, char dir[PACE_DIR])
{
	struct dirent *entry;

	while ((entry = readdir(d))) {
		if (!is_others(entry->d_name, cookie))
			continue;
		snprintf(dir, PACE_DIR, "%s/%.40s", root, entry->d_name);
		return true;
	}
	return false;
}

static int look_at_others(const char *root, uint64_t cookie, struct err *e)
{
	char dir[PACE_DIR];
	DIR *d = opendir(root);
	bool there;

	if (!d && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (!d)
		return err_set(e, -EOPNOTSUPP, "%s cannot be read: %s", root, strerror(errno));
	there = next_of_others(d, root, cookie, dir);
	closedir(d);
	if (!there)
		return 0;
	return err_set(e, -ESTALE,
		       "what another version of ctcpd pinned is at %s; rm -r %s ends it for connections that begin",
		       dir, dir);
}

int pace_pins_look(const char *root, uint64_t cookie, struct err *e)
{
	char dir[PACE_DIR];

	pace_pins_name(dir, root, cookie, PACE_LAYOUT);
	if (!access(dir, F_OK))
		return 1;
	if (errno == ENOENT || errno == ENOTDIR)
		return look_at_others(root, cookie, e);
	return err_set(e, -EOPNOTSUPP, "%s cannot be looked for: %s", dir, strerror(errno));
}

/* Whatever that version called them */
static void unpin_all(int fd)
{
	int copy = dup(fd);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			unlinkat(fd, entry->d_name, 0);
	if (d)
		closedir(d);
	else if (copy >= 0)
		close(copy);
}

/* Who paces by it holds it.  True: it is gone */
static bool drop(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	bool gone = false;

	if (fd < 0)
		return false;
	if (!flock(fd, LOCK_EX | LOCK_NB)) {
		unpin_all(fd);
		gone = !rmdir(dir);
	}
	close(fd);
	return gone;
}

void pace_pins_drop_others(const char *root, uint64_t cookie, struct notes *notes)
{
	char dir[PACE_DIR];
	DIR *d = opendir(root);

	while (d && next_of_others(d, root, cookie, dir))
		if (drop(dir))
			note(notes,
			     "what another version of ctcpd paced by sockets is unpinned, %s: its connections keep their rate until they end",
			     dir);
	if (d)
		closedir(d);
}
