// SPDX-License-Identifier: GPL-2.0
/*
 * States on disk: see store.h.
 *
 * A file is written beside its place, made durable, and renamed into it; so
 * there is the old state or the new one, and never half of either.  /run is
 * empty after a boot, as is what the kernel had been told; a folder that is not
 * knows by the machine's boot id that its files tell of another one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"
#include "holder.h"
#include "replace.h"
#include "store.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71	/* Linux 5.14 */
#endif

#define RUN_DIR		"/run/ctcp-setup"
#define BOOT_ID		"/proc/sys/kernel/random/boot_id"
#define LOCK_NAME	"lock"
#define MODULE_FILE	"module"
#define MODULE_SYSFS	"/sys/module/" MODULE_NAME
#define NOTE_TEXT	64	/* boot, blank, a number of 20 digits, newline */
#define SUFFIX		".state"
#define LOCK_WAIT_MS	5000
#define LOCK_POLL_MS	20
#define STATE_MAX	(256 << 20)	/* bytes; 60,000 circuits have some 30 MB */

/*
 * A cookie is never used again before the next boot.  Kernels before 5.14 have none: there it
 * is the inode, which may be.
 */
static int netns_key(char key[NETNS_KEY])
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc;
	uint64_t cookie;
	socklen_t len = sizeof(cookie);
	struct stat st;

	if (fd < 0)
		return -errno;
	rc = getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &len) ? -errno : 0;
	close(fd);
	if (!rc)
		snprintf(key, NETNS_KEY, "c%" PRIu64, cookie);
	if (rc != -ENOPROTOOPT)
		return rc;
	if (stat("/proc/self/ns/net", &st))
		return -errno;
	snprintf(key, NETNS_KEY, "i%" PRIu64, (uint64_t)st.st_ino);
	return 0;
}

/*
 * Without /proc it is unknown, as it was for the run before.  Any other failure is one:
 * a state of another boot is void, and nothing of it would be undone.
 */
static int read_boot(char *buf, size_t len)
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC), rc = 0;
	ssize_t n;

	if (fd < 0) {
		snprintf(buf, len, "unknown");
		return errno == ENOENT ? 0 : -errno;
	}
	n = read(fd, buf, len - 1);
	if (n <= 0)
		rc = n ? -errno : -EIO;
	buf[n > 0 ? n : 0] = 0;
	buf[strcspn(buf, "\n")] = 0;
	close(fd);
	return rc;
}

/* In a user namespace root's files are those of whoever has "/". */
static bool is_trusted(uid_t uid)
{
	struct stat root;

	return !uid || uid == geteuid() || (!stat("/", &root) && uid == root.st_uid);
}

/*
 * Whoever may put a state there has what it names set to what it says.  A folder that is not
 * there will be made.
 */
static int check_dir(const char *dir, struct err *e)
{
	struct stat st;

	if (stat(dir, &st) && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (stat(dir, &st))
		return err_set(e, -errno, "cannot look at %s, the folder of the state: %s", dir,
			       strerror(errno));
	if (!is_trusted(st.st_uid))
		return err_set(e, -EPERM,
			       "%s, the folder of the state, is user %u's; it must be root's or your own",
			       dir, st.st_uid);
	if (S_ISDIR(st.st_mode) && st.st_mode & 022)
		return err_set(e, -EPERM,
			       "%s, the folder of the state, can be written to by others, by its mode %04o; chmod go-w %s",
			       dir, st.st_mode & 07777, dir);
	return 0;
}

int store_open(struct store *s, struct err *e)
{
	const char *dir = getenv("CTCP_RUNDIR");
	int rc;

	memset(s, 0, sizeof(*s));
	s->lock = -1;
	s->module = MODULE_SYSFS;
	if (!dir || !*dir)
		dir = RUN_DIR;
	if (strlen(dir) >= sizeof(s->dir))
		return err_set(e, -ENAMETOOLONG, "CTCP_RUNDIR is longer than %zu bytes",
			       sizeof(s->dir) - 1);
	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	rc = check_dir(s->dir, e);
	if (rc)
		return rc;
	rc = read_boot(s->boot, sizeof(s->boot));
	if (rc)
		return err_set(e, rc, "cannot read " BOOT_ID ", which tells this boot: %s",
			       strerror(-rc));
	rc = netns_key(s->netns);
	return rc ? err_set(e, rc, "cannot tell this network namespace: %s", strerror(-rc)) : 0;
}

void store_close(struct store *s)
{
	free(s->text);
	s->text = NULL;
	store_unlock(s);
}

void store_unlock(struct store *s)
{
	if (s->lock >= 0)
		close(s->lock);
	s->lock = -1;
}

/* --- lock ------------------------------------------------------------------ */

/* Who holds the lock, else who wrote there last */
static void read_holder(int fd, char pid[16])
{
	ssize_t n;

	if (holder_of_lock(fd, pid))
		return;
	n = pread(fd, pid, 15, 0);
	pid[n > 0 ? n : 0] = 0;
	pid[strcspn(pid, "\n")] = 0;
	if (!pid[0])
		strcpy(pid, "unknown");
}

static int lock_busy(int fd, struct err *e)
{
	char pid[16];

	read_holder(fd, pid);
	return err_set(e, -EALREADY,
		       "another ctcp-setup has been at work for %d s, process %s; wait for it or end it",
		       LOCK_WAIT_MS / 1000, pid);
}

/* The wait begins anew with each run that comes before this one, however many there are. */
static int wait_for_lock(int fd, struct err *e)
{
	const struct timespec poll = { .tv_nsec = LOCK_POLL_MS * 1000000L };
	char holder[16], before[16] = "";
	int waited;

	for (waited = 0; flock(fd, LOCK_EX | LOCK_NB); waited += LOCK_POLL_MS) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_set(e, -errno, "cannot lock the state: %s",
				       strerror(errno));
		read_holder(fd, holder);
		if (strcmp(holder, before))
			waited = 0;
		if (waited >= LOCK_WAIT_MS)
			return lock_busy(fd, e);
		strcpy(before, holder);
		nanosleep(&poll, NULL);
	}
	return 0;
}

static int open_lock(struct store *s, struct err *e)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "%s/" LOCK_NAME, s->dir);
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (s->lock < 0)
		return err_set(e, -errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(s->lock, &st) || !S_ISREG(st.st_mode))
		return err_set(e, -EBADMSG, "%s is not a file; remove it", path);
	/* whoever can open it can hold it for ever; it may be of an older version */
	if (fchmod(s->lock, 0600))
		return err_set(e, -errno, "cannot close %s to others: %s", path, strerror(errno));
	return 0;
}

/* Whatever the umask: who shows circuits looks into it, and ctcpd as a user of its own. */
int store_make_dir(const struct store *s, struct err *e)
{
	if ((!mkdir(s->dir, 0755) && !chmod(s->dir, 0755)) || errno == EEXIST)
		return 0;
	return err_set(e, -errno, "cannot make %s for the state: %s", s->dir, strerror(errno));
}

/* One lock for all namespaces: circuits of two may share the module. */
int store_lock(struct store *s, struct err *e)
{
	int rc;

	rc = store_make_dir(s, e);
	if (rc)
		return rc;
	/* somebody may have made it since it was looked at */
	rc = check_dir(s->dir, e);
	if (!rc)
		rc = open_lock(s, e);
	if (!rc)
		rc = wait_for_lock(s->lock, e);
	if (rc)
		return rc;
	/* who holds it is for the next one's message only */
	if (ftruncate(s->lock, 0) || dprintf(s->lock, "%d\n", getpid()) < 0)
		return 0;
	return 0;
}

/* Is a run under way?  Where the lock cannot be opened that is not known. */
bool store_is_locked(const struct store *s, char pid[16])
{
	char path[300];
	bool locked;
	int fd;

	snprintf(path, sizeof(path), "%s/" LOCK_NAME, s->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	locked = flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;
	read_holder(fd, pid);
	close(fd);
	return locked;
}

/* --- read ------------------------------------------------------------------ */

void store_path(const struct store *s, char *buf, size_t len)
{
	snprintf(buf, len, "%s/%s" SUFFIX, s->dir, s->netns);
}

/*
 * For it and what is made of it: a copy that is parsed, and circuits, base and items, which
 * take five times as much
 */
static char *text_room(size_t len)
{
	heap_expect(7 * len);
	return malloc(len + 1);
}

/* -ENOENT: there is none. */
static int read_file(const char *path, char **text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;
	struct stat st;
	ssize_t n = 1;

	*text = NULL;
	*len = 0;
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size > STATE_MAX)
		rc = -EBADMSG;
	else
		*text = text_room((size_t)st.st_size);
	if (!rc && !*text)
		rc = -ENOMEM;
	while (!rc && *len < (size_t)st.st_size && n) {
		n = read(fd, *text + *len, (size_t)st.st_size - *len);
		if (n < 0 && errno != EINTR)
			rc = -errno;
		else if (n > 0)
			*len += (size_t)n;
	}
	close(fd);
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

/* No folder, no file: no circuit yet. */
int store_read(struct store *s, struct state *st, struct err *e)
{
	char path[320];
	struct err why = { "" };
	int rc;

	memset(st, 0, sizeof(*st));
	store_path(s, path, sizeof(path));
	free(s->text);
	rc = read_file(path, &s->text, &s->len);
	if (rc == -ENOENT)
		return 0;
	if (rc)
		return err_set(e, rc, "cannot read the state %s: %s", path, strerror(-rc));
	rc = state_parse(s->text, s->len, s->boot, st, &why);
	if (rc == -EBADMSG)
		return err_set(e, rc,
			       "the state %s is damaged and nothing of it was used, %s; set back by hand what it names, then delete it",
			       path, why.text);
	return rc ? err_set(e, rc, "%s", why.text) : 0;
}

/* --- write ----------------------------------------------------------------- */

static int write_beside(const char *path, const char *text, size_t len)
{
	int fd, rc;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* whoever shows circuits reads it, whatever the umask of who set them up */
	rc = fchmod(fd, 0644) ? -errno : write_all(fd, text, len);
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

/* All of @text, or what was there before; durable with sync_dir() */
static int place_file(const char *path, const char *text, size_t len)
{
	char beside[340];
	int rc;

	snprintf(beside, sizeof(beside), "%s.new", path);
	rc = write_beside(beside, text, len);
	if (!rc && rename(beside, path))
		rc = -errno;
	if (rc)
		unlink(beside);
	return rc;
}

static int write_file(const struct store *s, const char *path, const char *text, size_t len)
{
	int rc = place_file(path, text, len);

	return rc ? rc : sync_dir(s->dir);
}

static int remove_file(const struct store *s, const char *path)
{
	if (unlink(path))
		return errno == ENOENT ? 0 : -errno;
	return sync_dir(s->dir);
}

/* A state that holds nothing has no file. */
int store_write(struct store *s, const struct state *st, struct err *e)
{
	char path[320], *text = NULL;
	size_t len;
	int rc;

	store_path(s, path, sizeof(path));
	if (state_is_empty(st)) {
		s->touched = true;
		rc = remove_file(s, path);
		return rc ? err_set(e, rc, "cannot remove the state %s: %s", path,
				    strerror(-rc)) : 0;
	}
	rc = state_format(st, s->boot, &text, &len);
	if (!rc && !s->touched && s->text && s->len == len && !memcmp(s->text, text, len)) {
		free(text);
		return 0;
	}
	if (!rc)
		rc = place_file(path, text, len);
	free(text);
	s->touched |= !rc;
	if (!rc)
		rc = sync_dir(s->dir);
	return rc ? err_set(e, rc, "cannot write the state %s: %s", path, strerror(-rc)) : 0;
}

/*
 * Before anything changes.  Where only the folder fails the file is the new one already, and
 * would tell of circuits that nobody has set up.
 */
int store_prepare(struct store *s, const struct state *st, struct err *e)
{
	int rc = store_write(s, st, e);
	struct err why = { "" };

	if (rc && s->touched && store_restore(s, &why)) {
		struct err first = *e;

		err_set(e, rc, "%.300s; it tells of changes that were not made, as %.300s",
			first.text, why.text);
	}
	return rc;
}

/* The file as it was read. */
int store_restore(struct store *s, struct err *e)
{
	char path[320];
	int rc;

	store_path(s, path, sizeof(path));
	rc = s->text ? write_file(s, path, s->text, s->len) : remove_file(s, path);
	return rc ? err_set(e, rc, "cannot write the state %s: %s", path, strerror(-rc)) : 0;
}

/* --- the module ------------------------------------------------------------ */

static void module_path(const struct store *s, char *buf, size_t len)
{
	snprintf(buf, len, "%s/" MODULE_FILE, s->dir);
}

/*
 * Which load of the module is there: the number of its folder in sysfs, which all mounts
 * have in common.  The kernel counts on and gives none twice before it has given 2^32.
 * 0: it is not there, or there is no sysfs.
 */
static int load_number(const struct store *s, uint64_t *load, struct err *e)
{
	struct stat st;

	*load = 0;
	if (!stat(s->module, &st))
		*load = (uint64_t)st.st_ino;
	else if (errno != ENOENT && errno != ENOTDIR)
		return err_set(e, -errno, "cannot look at %s, which tells one load of the module from the next: %s",
			       s->module, strerror(errno));
	return 0;
}

/* Until the module is there its note has no number: whoever finds it so knows no better. */
static void module_note(const struct store *s, uint64_t load, char text[NOTE_TEXT])
{
	if (load)
		snprintf(text, NOTE_TEXT, "%s %" PRIu64 "\n", s->boot, load);
	else
		snprintf(text, NOTE_TEXT, "%s\n", s->boot);
}

static bool note_is(const struct store *s, uint64_t load, const char *text, size_t len)
{
	char note[NOTE_TEXT];

	module_note(s, load, note);
	return len == strlen(note) && !memcmp(text, note, len);
}

/* Into has_module; a note that cannot be read is none that is not there. */
int store_read_module(struct store *s, struct err *e)
{
	char path[320], *text;
	uint64_t load;
	size_t len;
	int rc;

	s->has_module = false;
	s->knows_load = false;
	s->stale_module = false;
	module_path(s, path, sizeof(path));
	rc = read_file(path, &text, &len);
	if (rc == -ENOENT)
		return 0;
	if (rc)
		return err_set(e, rc, "cannot read %s, which tells who loaded the module: %s", path,
			       strerror(-rc));
	rc = load_number(s, &load, e);
	s->knows_load = load && note_is(s, load, text, len);
	s->has_module = s->knows_load || note_is(s, 0, text, len);
	s->stale_module = !s->has_module;
	free(text);
	return rc;
}

static int write_note(struct store *s, uint64_t load, struct err *e)
{
	char path[320], text[NOTE_TEXT];
	int rc;

	module_path(s, path, sizeof(path));
	module_note(s, load, text);
	rc = write_file(s, path, text, strlen(text));
	if (rc)
		return err_set(e, rc, "cannot write the state %s: %s", path, strerror(-rc));
	s->has_module = true;
	s->knows_load = load;
	return 0;
}

/* Before it is loaded, and after it is removed. */
int store_keep_module(struct store *s, bool keep, struct err *e)
{
	char path[320];
	int rc;

	if (keep)
		return write_note(s, 0, e);
	module_path(s, path, sizeof(path));
	rc = remove_file(s, path);
	if (rc)
		return err_set(e, rc, "cannot write the state %s: %s", path, strerror(-rc));
	s->has_module = false;
	s->stale_module = false;
	return 0;
}

/* The one that is there now is the one that was kept. */
int store_know_module(struct store *s, struct err *e)
{
	uint64_t load;
	int rc = load_number(s, &load, e);

	return rc || !load ? rc : write_note(s, load, e);
}

static bool is_state(const char *name)
{
	size_t n = strlen(name), end = strlen(SUFFIX);

	return n > end && name[0] != '.' && !strcmp(name + n - end, SUFFIX);
}

/* A circuit that does: the daemon's need none */
static bool needs_module(const struct state *st, char dev[IFNAMSIZ])
{
	uint32_t i;

	for (i = 0; i < st->n_circuits; i++) {
		if (st->circuits[i].circuit.ctcpd)
			continue;
		memcpy(dev, st->circuits[i].circuit.dev, IFNAMSIZ);
		return true;
	}
	return false;
}

/* One that cannot be read may have circuits, too. */
static bool has_circuits(const struct store *s, const char *path, char dev[IFNAMSIZ])
{
	struct state st = { 0 };
	struct err unused = { "" };
	bool has = true;
	char *text;
	size_t len;
	int rc;

	strcpy(dev, "?");
	rc = read_file(path, &text, &len);
	if (rc)
		return rc != -ENOENT;
	if (!state_parse(text, len, s->boot, &st, &unused))
		has = needs_module(&st, dev);
	state_free(&st);
	free(text);
	return has;
}

/* Another namespace's state with a circuit: its file, and the device of one. */
bool store_others(const struct store *s, char *file, size_t len, char dev[IFNAMSIZ])
{
	DIR *dir = opendir(s->dir);
	char own[320];
	struct dirent *entry;
	bool found = false;

	store_path(s, own, sizeof(own));
	while (dir && !found && (entry = readdir(dir))) {
		if (!is_state(entry->d_name))
			continue;
		snprintf(file, len, "%s/%s", s->dir, entry->d_name);
		found = strcmp(file, own) && has_circuits(s, file, dev);
	}
	if (dir)
		closedir(dir);
	return found;
}
