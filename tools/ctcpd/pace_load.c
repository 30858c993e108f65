// SPDX-License-Identifier: GPL-2.0
/*
 * The BPF program that paces sockets: see pace_load.h.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hands_bpf.h"
#include "out.h"
#include "pace_load.h"
#include "pace_missing.h"

#define SLOTS_BYTES	(PACE_SLOTS * sizeof(struct pace_slot))
#define LINK		"event"

static const char * const maps[] = { "pace_trie", "pace_slots", "pace_marks" };
static const char * const passes[PACE_PASSES] = {
	[PACE_COUNT] = "pace_count", [PACE_SET] = "pace_set",
};

/* What libbpf said first of a failure, where the rest follows from it; it knows no caller */
static char said[256];

static int hear(enum libbpf_print_level level, const char *format, va_list args)
{
	if (level != LIBBPF_WARN || said[0])
		return 0;
	vsnprintf(said, sizeof(said), format, args);
	said[strcspn(said, "\n")] = 0;
	return 0;
}

static int kernel_error(int rc, const char *what, struct err *e)
{
	return err_set(e, rc, "%s: %s%s%.200s", what, strerror(-rc), said[0] ? "; " : "", said);
}

/* --- the folder ------------------------------------------------------------ */

static int netns_cookie(uint64_t *cookie, struct err *e)
{
	socklen_t len = sizeof(*cookie);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc = 0;

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, cookie, &len))
		rc = err_set(e, -errno, "this network namespace's cookie cannot be read: %s",
			     strerror(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

/* @anew: it was not there */
static int make_folder(const char *dir, bool *anew, struct err *e)
{
	*anew = !mkdir(dir, 0700);
	if (*anew || errno == EEXIST)
		return 0;
	return err_set(e, -errno, "%s cannot be made: %s", dir, strerror(errno));
}

/* Held as long as it is open, so that two processes do not divide the same sockets */
static int hold_folder(struct pace_load *l, struct err *e)
{
	l->lock = open(l->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (l->lock < 0)
		return err_set(e, -errno, "%s: %s", l->dir, strerror(errno));
	if (!flock(l->lock, LOCK_EX | LOCK_NB))
		return 0;
	if (errno == EWOULDBLOCK)
		return err_set(e, -EAGAIN, "another process paces by sockets: it holds %s", l->dir);
	return err_set(e, -errno, "%s cannot be locked: %s", l->dir, strerror(errno));
}

/* Of a namespace without a cookie, as of kernels before 5.14, nothing is. */
int pace_is_pinned(struct err *e)
{
	uint64_t cookie;
	int rc = netns_cookie(&cookie, e);

	if (rc == -ENOPROTOOPT)
		return 0;
	return rc ?: pace_pins_look(PACE_PINS, cookie, e);
}

void pace_drop_others(struct notes *notes)
{
	struct err unsaid;
	uint64_t cookie;

	if (!netns_cookie(&cookie, &unsaid))
		pace_pins_drop_others(PACE_PINS, cookie, notes);
}

static void path_of(const struct pace_load *l, const char *name, char *path, size_t len)
{
	snprintf(path, len, "%s/%s", l->dir, name);
}

static void unpin(const struct pace_load *l, const char *name)
{
	char path[128];

	path_of(l, name, path, sizeof(path));
	unlink(path);
}

/* --- maps and programs ----------------------------------------------------- */

static int place_maps(struct pace_load *l, uint64_t cookie, struct err *e)
{
	struct bpf_map *map = bpf_object__find_map_by_name(l->object, ".rodata.netns");
	char path[128];
	size_t i;
	int rc = map ? bpf_map__set_initial_value(map, &cookie, sizeof(cookie)) : -EINVAL;

	for (i = 0; i < sizeof(maps) / sizeof(maps[0]) && !rc; i++) {
		path_of(l, maps[i], path, sizeof(path));
		map = bpf_object__find_map_by_name(l->object, maps[i]);
		rc = map ? bpf_map__set_pin_path(map, path) : -EINVAL;
	}
	return rc ? kernel_error(rc, "the BPF program does not fit this ctcpd", e) : 0;
}

/* The verifier's -EACCES is about the program; that this process may, was asked before. */
static int load_code(int rc)
{
	switch (rc) {
	case -EPERM:
		return -EACCES;
	case -EACCES:
	case -EINVAL:
	case -ENOENT:
	case -ESRCH:
		return -EOPNOTSUPP;
	default:
		return rc;
	}
}

/* A map that is pinned there is taken as it is: what is paced, and by whom */
static int load_object(struct pace_load *l, uint64_t cookie, struct err *e)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = "ctcpd_pace");
	int rc;

	l->object = bpf_object__open_mem(pace_object, (size_t)(pace_object_end - pace_object),
					 &options);
	if (!l->object)
		return kernel_error(-errno, "the BPF program cannot be read", e);
	rc = place_maps(l, cookie, e);
	if (rc)
		return rc;
	rc = bpf_object__load(l->object);
	if (!rc)
		return 0;
	return kernel_error(load_code(rc), "the kernel does not take the BPF program", e);
}

static int map_slots(struct pace_load *l, struct err *e)
{
	int fd = bpf_object__find_map_fd_by_name(l->object, "pace_slots");
	void *slots = mmap(NULL, SLOTS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (slots == MAP_FAILED)
		return err_set(e, -errno, "the BPF program's map cannot be read: %s",
			       strerror(errno));
	l->slots = slots;
	l->trie = bpf_object__find_map_fd_by_name(l->object, "pace_trie");
	return 0;
}

static int begin_passes(struct pace_load *l, struct err *e)
{
	const struct bpf_program *program;
	int i;

	for (i = 0; i < PACE_PASSES; i++) {
		program = bpf_object__find_program_by_name(l->object, passes[i]);
		l->pass[i] = bpf_program__attach_iter(program, NULL);
		if (!l->pass[i])
			return kernel_error(-errno, "the kernel does not go over its sockets", e);
	}
	return 0;
}

/* --- the program that follows sockets -------------------------------------- */

/* In place of that of whoever ran before, at once.  -ENOENT: there was none */
static int replace(struct pace_load *l, const char *path, struct bpf_program *program)
{
	int rc;

	l->event = bpf_link__open(path);
	if (!l->event)
		return -errno;
	rc = bpf_link__update_program(l->event, program);
	if (!rc)
		return 0;
	bpf_link__destroy(l->event);
	l->event = NULL;
	unlink(path);
	return -ENOENT;
}

static int attach(struct pace_load *l, struct bpf_program *program, struct err *e)
{
	char root[256];
	int fd, rc = pace_cgroup_root(root, sizeof(root), e);

	if (rc)
		return rc;
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, -errno, "%s: %s", root, strerror(errno));
	l->event = bpf_program__attach_cgroup(program, fd);
	if (!l->event)
		rc = kernel_error(-errno, "the BPF program cannot be attached to the root cgroup",
				  e);
	close(fd);
	return rc;
}

static int follow(struct pace_load *l, struct err *e)
{
	struct bpf_program *program = bpf_object__find_program_by_name(l->object, "pace_event");
	char path[128];
	int rc;

	path_of(l, LINK, path, sizeof(path));
	rc = replace(l, path, program);
	if (rc != -ENOENT)
		return rc ? kernel_error(rc, path, e) : 0;
	rc = attach(l, program, e);
	if (rc)
		return rc;
	rc = bpf_link__pin(l->event, path);
	return rc ? kernel_error(rc, "the BPF program cannot be pinned", e) : 0;
}

bool pace_stays(const struct pace_load *l)
{
	char path[128];

	path_of(l, LINK, path, sizeof(path));
	return !access(path, F_OK) || errno != ENOENT;
}

/* Somebody's own may have taken its place. */
bool pace_is_attached(const struct pace_load *l)
{
	struct bpf_link_info info = { 0 };
	__u32 len = sizeof(info);

	return !bpf_obj_get_info_by_fd(bpf_link__fd(l->event), &info, &len) &&
	       info.cgroup.cgroup_id;
}

/* --- all of it ------------------------------------------------------------- */

static int load(struct pace_load *l, uint64_t cookie, struct err *e)
{
	int rc = load_object(l, cookie, e);

	if (!rc)
		rc = pace_missing_marks(bpf_object__find_map_fd_by_name(l->object, "pace_marks"),
					e);
	if (!rc)
		rc = map_slots(l, e);
	if (!rc)
		rc = begin_passes(l, e);
	return rc ?: follow(l, e);
}

int pace_load(struct pace_load *l, struct err *e)
{
	uint64_t cookie;
	bool anew = false;
	int rc = pace_missing_rights(e) ?: pace_missing_here(e);

	*l = (struct pace_load){ .lock = -1, .trie = -1 };
	said[0] = 0;
	libbpf_set_print(hear);
	if (!rc)
		rc = netns_cookie(&cookie, e);
	if (!rc)
		rc = make_folder(PACE_PINS, &anew, e);
	if (rc)
		return rc;
	pace_pins_name(l->dir, PACE_PINS, cookie, PACE_LAYOUT);
	rc = make_folder(l->dir, &anew, e);
	if (!rc)
		rc = hold_folder(l, e);
	if (!rc)
		rc = load(l, cookie, e);
	if (rc)
		pace_unload(l, anew);
	return rc;
}

static void unpin_all(struct pace_load *l)
{
	size_t i;

	unpin(l, LINK);
	for (i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		unpin(l, maps[i]);
	rmdir(l->dir);
	rmdir(PACE_PINS);
}

/* Closing a link that is pinned leaves it attached. */
void pace_unload(struct pace_load *l, bool unpins)
{
	int i;

	if (unpins)
		unpin_all(l);
	for (i = 0; i < PACE_PASSES; i++)
		bpf_link__destroy(l->pass[i]);
	bpf_link__destroy(l->event);
	if (l->slots)
		munmap(l->slots, SLOTS_BYTES);
	bpf_object__close(l->object);
	if (l->lock >= 0)
		close(l->lock);
	*l = (struct pace_load){ .lock = -1, .trie = -1 };
}

int pace_pass_open(const struct pace_load *l, enum pace_pass pass)
{
	int fd = bpf_iter_create(bpf_link__fd(l->pass[pass]));

	return fd < 0 ? -errno : fd;
}

/* -EAGAIN: a million sockets were passed, and it goes on */
int pace_pass_run(int fd)
{
	char unused[64];
	ssize_t n;

	do
		n = read(fd, unused, sizeof(unused));
	while (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
	n = n < 0 ? -errno : 0;
	close(fd);
	return (int)n;
}
