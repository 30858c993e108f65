/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SQLite's own VFS with faults: from the k-th call that changes a file on, such calls fail,
 * or the k-th one kills the process when it is half done.
 *
 * It counts what a loss of power would not forgive: a page that goes into the database before
 * the log that has it is on the disk, and a log that begins anew before the database is.
 *
 * Of its methods none is of shared memory: what runs by it needs no -shm.
 */
#ifndef CTCPD_TEST_FAULTY_VFS_H
#define CTCPD_TEST_FAULTY_VFS_H

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

struct fault {
	unsigned int at;	/* 0: none */
	unsigned int last;	/* the last call that fails; 0 with SIGKILL */
	int code;		/* SQLITE_FULL, ...; 0: the process is killed */
	unsigned int calls;	/* so far */
};

static struct fault fault;
static int main_fails;	/* 0, or what each write into a database itself, not its log, gives */

static struct {
	bool main, log;		/* has been written since it was last synced */
	unsigned int into_main;	/* writes into a database */
	unsigned int unsafe;
} power;

struct faulty_file {
	sqlite3_file base;
	sqlite3_file *real;	/* right behind it in memory */
	int flags;		/* SQLITE_OPEN_MAIN_DB, ... */
};

static sqlite3_vfs *real_vfs;

static bool fails_now(void)
{
	bool fails;

	fault.calls++;
	fails = fault.at && fault.calls >= fault.at && fault.calls <= fault.last;
	if (fails)
		errno = fault.code == SQLITE_FULL ? ENOSPC : EIO;
	return fails;
}

static bool dies_now(void)
{
	return fault.at && !fault.code && fault.calls >= fault.at;
}

static sqlite3_file *real_of(sqlite3_file *f)
{
	return ((struct faulty_file *)f)->real;
}

static int faulty_close(sqlite3_file *f)
{
	return real_of(f)->pMethods->xClose(real_of(f));
}

static int faulty_read(sqlite3_file *f, void *buf, int n, sqlite3_int64 at)
{
	return real_of(f)->pMethods->xRead(real_of(f), buf, n, at);
}

static bool is_kind(sqlite3_file *f, int flag)
{
	return ((struct faulty_file *)f)->flags & flag;
}

static void note_write(sqlite3_file *f, sqlite3_int64 at)
{
	if (is_kind(f, SQLITE_OPEN_MAIN_DB)) {
		power.unsafe += power.log;
		power.into_main++;
		power.main = true;
	} else if (is_kind(f, SQLITE_OPEN_WAL)) {
		power.unsafe += power.main && !at;
		power.log = true;
	}
}

static int faulty_write(sqlite3_file *f, const void *buf, int n, sqlite3_int64 at)
{
	const struct sqlite3_io_methods *m = real_of(f)->pMethods;

	if (fails_now())
		return fault.code;
	if (main_fails && is_kind(f, SQLITE_OPEN_MAIN_DB))
		return main_fails;
	if (dies_now()) {
		m->xWrite(real_of(f), buf, n / 2, at);
		raise(SIGKILL);
	}
	note_write(f, at);
	return m->xWrite(real_of(f), buf, n, at);
}

static int faulty_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	if (fails_now())
		return fault.code == SQLITE_FULL ? SQLITE_IOERR_TRUNCATE : fault.code;
	if (dies_now())
		raise(SIGKILL);
	if (is_kind(f, SQLITE_OPEN_WAL)) {
		power.unsafe += power.main;
		power.log = false;
	}
	return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int faulty_sync(sqlite3_file *f, int flags)
{
	if (fails_now())
		return fault.code == SQLITE_FULL ? SQLITE_IOERR_FSYNC : fault.code;
	if (dies_now())
		raise(SIGKILL);
	/* nothing here outlives a loss of power, and the tests need not wait for a disk */
	(void)flags;
	if (is_kind(f, SQLITE_OPEN_MAIN_DB))
		power.main = false;
	else if (is_kind(f, SQLITE_OPEN_WAL))
		power.log = false;
	return SQLITE_OK;
}

static int faulty_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int faulty_lock(sqlite3_file *f, int how)
{
	return real_of(f)->pMethods->xLock(real_of(f), how);
}

static int faulty_unlock(sqlite3_file *f, int how)
{
	return real_of(f)->pMethods->xUnlock(real_of(f), how);
}

static int faulty_reserved(sqlite3_file *f, int *is)
{
	return real_of(f)->pMethods->xCheckReservedLock(real_of(f), is);
}

static int faulty_control(sqlite3_file *f, int op, void *arg)
{
	return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int faulty_sector(sqlite3_file *f)
{
	return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int faulty_device(sqlite3_file *f)
{
	return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static const sqlite3_io_methods faulty_methods = {
	.iVersion = 1,
	.xClose = faulty_close, .xRead = faulty_read, .xWrite = faulty_write,
	.xTruncate = faulty_truncate, .xSync = faulty_sync, .xFileSize = faulty_size,
	.xLock = faulty_lock, .xUnlock = faulty_unlock, .xCheckReservedLock = faulty_reserved,
	.xFileControl = faulty_control, .xSectorSize = faulty_sector,
	.xDeviceCharacteristics = faulty_device,
};

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags, int *got)
{
	struct faulty_file *file = (struct faulty_file *)f;
	int rc;

	(void)vfs;
	f->pMethods = NULL;
	if (fails_now())
		return fault.code == SQLITE_FULL ? SQLITE_CANTOPEN : fault.code;
	if (dies_now())
		raise(SIGKILL);
	file->real = (sqlite3_file *)(file + 1);
	file->flags = flags;
	memset(file->real, 0, (size_t)real_vfs->szOsFile);
	rc = real_vfs->xOpen(real_vfs, name, file->real, flags, got);
	if (file->real->pMethods)
		f->pMethods = &faulty_methods;
	return rc;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int sync)
{
	(void)vfs;
	if (fails_now())
		return fault.code == SQLITE_FULL ? SQLITE_IOERR_DELETE : fault.code;
	if (dies_now())
		raise(SIGKILL);
	return real_vfs->xDelete(real_vfs, name, sync);
}

static sqlite3_vfs faulty_vfs;

/* All databases that are opened from now on have it */
static inline void faulty_vfs_use(void)
{
	real_vfs = sqlite3_vfs_find("unix");
	faulty_vfs = *real_vfs;
	faulty_vfs.zName = "faulty";
	faulty_vfs.szOsFile = (int)sizeof(struct faulty_file) + real_vfs->szOsFile;
	faulty_vfs.xOpen = faulty_open;
	faulty_vfs.xDelete = faulty_delete;
	faulty_vfs.pNext = NULL;
	sqlite3_vfs_register(&faulty_vfs, 1);
}

/* Also where it is not used: a test that has failed leaves it */
static inline void faulty_vfs_end(void)
{
	memset(&fault, 0, sizeof(fault));
	memset(&power, 0, sizeof(power));
	main_fails = 0;
	sqlite3_vfs_unregister(&faulty_vfs);
}

static inline void fault_at(unsigned int at, unsigned int last, int code)
{
	fault = (struct fault){ .at = at, .last = last, .code = code };
}

#endif
