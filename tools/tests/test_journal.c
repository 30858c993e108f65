// SPDX-License-Identifier: GPL-2.0
/*
 * The journal: cut short at every byte, every byte changed, junk, a disk that
 * is full at every byte of a write, and the stacks of several circuits.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#include "journal.h"

static void add_record(struct journal *j, uint32_t seq, enum item_kind kind,
		       const char *name, const char *before, const char *after)
{
	struct record *r = &j->records[j->n++];

	memset(r, 0, sizeof(*r));
	r->seq = seq;
	r->kind = kind;
	snprintf(r->name, sizeof(r->name), "%s", name);
	snprintf(r->before, sizeof(r->before), "%s", before);
	snprintf(r->after, sizeof(r->after), "%s", after);
}

static struct journal *sample(const char *dev)
{
	struct journal *j = calloc(1, sizeof(*j));
	struct err e;

	assert_non_null(j);
	strcpy(j->netns, "c4242");
	j->circuit = (struct circuit)CIRCUIT_DEFAULTS;
	strcpy(j->circuit.dev, dev);
	j->circuit.rate = 500000000;
	j->circuit.rtt_us = 26000;
	assert_int_equal(parse_prefix("192.0.2.0/24", &j->circuit.to, &e), 0);
	j->applying = true;
	add_record(j, 1, ITEM_MODULE, "tcp_circuit", "absent", "loaded");
	add_record(j, 2, ITEM_SYSCTL, "net.ipv4.tcp_rmem", "4096 131072 6291456",
		   "4096 131072 67603128");
	add_record(j, 3, ITEM_QDISC, dev, "default",
		   "tbf rate 500000000 burst 100000 limit 16900782");
	add_record(j, 4, ITEM_ROUTE, "192.0.2.0/24", "absent", "0218000003000001");
	strcpy(j->records[1].prior, "4096 131072 7777777");
	return j;
}

struct fixture {
	struct journal *j, *back;
	char *text;
	size_t len;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->j = sample("eth1");
	f->back = calloc(1, sizeof(*f->back));
	*state = f;
	return journal_format(f->j, &f->text, &f->len);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	free(f->j);
	free(f->back);
	free(f->text);
	free(f);
	return 0;
}

static void test_there_and_back(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(journal_parse(f->text, f->len, f->back), 0);
	assert_memory_equal(f->j->records, f->back->records, 4 * sizeof(struct record));
	assert_int_equal(f->back->n, 4);
	assert_true(f->back->applying);
	assert_true(circuit_equal(&f->j->circuit, &f->back->circuit));
	assert_string_equal(f->back->netns, "c4242");
}

static void test_cut_short(void **state)
{
	struct fixture *f = *state;
	size_t n;

	for (n = 0; n < f->len; n++)
		assert_int_equal(journal_parse(f->text, n, f->back), -EBADMSG);
}

/* Each bit of each byte, and each byte as NUL, newline, tab. */
static void test_changed(void **state)
{
	static const char junk[] = { 0, '\n', '\t', (char)0xff };
	struct fixture *f = *state;
	size_t i, k;

	for (i = 0; i < f->len; i++) {
		char was = f->text[i];

		for (k = 0; k < 8 + sizeof(junk); k++) {
			f->text[i] = k < 8 ? (char)(was ^ 1 << k) : junk[k - 8];
			if (f->text[i] != was)
				assert_int_equal(journal_parse(f->text, f->len, f->back),
						 -EBADMSG);
		}
		f->text[i] = was;
	}
	assert_int_equal(journal_parse(f->text, f->len, f->back), 0);
}

static void test_too_long(void **state)
{
	struct fixture *f = *state;
	char *twice = malloc(2 * f->len);

	memcpy(twice, f->text, f->len);
	memcpy(twice + f->len, f->text, f->len);
	assert_int_equal(journal_parse(twice, 2 * f->len, f->back), -EBADMSG);
	twice[f->len] = '\n';
	assert_int_equal(journal_parse(twice, f->len + 1, f->back), -EBADMSG);
	twice[f->len] = 0;
	assert_int_equal(journal_parse(twice, f->len + 1, f->back), -EBADMSG);
	free(twice);
}

/* A record taken out, or two exchanged: each line's own CRC is right then. */
static void test_lines_moved(void **state)
{
	struct fixture *f = *state;
	char *a = strstr(f->text, "record\t1"), *b = strstr(a, "record\t2");
	char *c = strstr(b, "record\t3");
	size_t la = (size_t)(b - a), lb = (size_t)(c - b);
	char *other = malloc(f->len);

	memcpy(other, f->text, f->len);
	memcpy(other + (a - f->text), b, lb);
	memcpy(other + (a - f->text) + lb, a, la);
	assert_int_equal(journal_parse(other, f->len, f->back), -EBADMSG);
	memcpy(other, f->text, (size_t)(a - f->text));
	memcpy(other + (a - f->text), b, f->len - (size_t)(b - f->text));
	assert_int_equal(journal_parse(other, f->len - la, f->back), -EBADMSG);
	free(other);
}

static void test_never_a_journal(void **state)
{
	static const char * const texts[] = {
		"", "\n", "\t", "end", "end\t0\t00000000\n", "record\n", "record\t1\n",
		"dev\n", "circuit\n", "state\n", "netns\t\n", "record\t1\tsysctl\tx\n",
		"ctcp-setup journal 2\t00000000\n",
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(journal_parse(texts[i], strlen(texts[i]), f->back), -EBADMSG);
}

static void make_dir(struct journals *js)
{
	memset(js, 0, sizeof(*js));
	js->lock = -1;
	strcpy(js->dir, "/tmp/ctcp-journal-XXXXXX");
	assert_non_null(mkdtemp(js->dir));
}

static void remove_dir(struct journals *js)
{
	char cmd[300];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", js->dir);
	journals_free(js);
	assert_int_equal(system(cmd), 0);
}

static void read_again(struct journals *js, uint32_t n)
{
	char dir[sizeof(js->dir)];
	struct err e = { "" };

	strcpy(dir, js->dir);
	journals_free(js);
	strcpy(js->dir, dir);
	assert_int_equal(journals_read(js, &e), 0);
	assert_int_equal(js->n, n);
}

static void test_files(void **state)
{
	struct fixture *f = *state;
	struct journals js;
	struct err e;

	make_dir(&js);
	assert_int_equal(journals_read(&js, &e), 0);
	assert_int_equal(js.n, 0);
	assert_int_equal(journals_lock(&js, &e), 0);
	assert_int_equal(journal_write(&js, f->j, &e), 0);
	read_again(&js, 1);
	assert_non_null(journals_find(&js, "c4242", "eth1"));
	assert_null(journals_find(&js, "c4243", "eth1"));
	assert_null(journals_find(&js, "c4242", "eth2"));
	assert_int_equal(journal_remove(&js, f->j, &e), 0);
	read_again(&js, 0);
	remove_dir(&js);
}

static void put_file(const struct journals *js, const char *name, const char *text, size_t len)
{
	char path[400];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", js->dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	fclose(out);
}

/* Damaged, or another circuit's: named, and nothing of it used. */
static void test_damaged_file(void **state)
{
	struct fixture *f = *state;
	struct journals js;
	struct err e;

	make_dir(&js);
	put_file(&js, "c4242.eth1", f->text, f->len - 1);
	assert_int_equal(journals_read(&js, &e), -EBADMSG);
	assert_int_equal(js.n, 0);
	assert_non_null(strstr(e.text, "c4242.eth1 is damaged"));
	put_file(&js, "c4242.eth1", f->text, f->len);
	read_again(&js, 1);
	put_file(&js, "c4242.eth2", f->text, f->len);
	journals_free(&js);
	put_file(&js, "x", "", 0);
	remove_dir(&js);
}

static const char *vanishes;	/* file that goes just before it is opened */

int __real_openat(int dir, const char *name, int flags, ...);
int __wrap_openat(int dir, const char *name, int flags, ...);

int __wrap_openat(int dir, const char *name, int flags, ...)
{
	if (vanishes && !strcmp(name, vanishes))
		unlinkat(dir, name, 0);
	return __real_openat(dir, name, flags);
}

/* Who only looks takes no lock: a journal may go between its name and its content. */
static void test_beside_writer(void **state)
{
	struct fixture *f = *state;
	struct journals js;

	make_dir(&js);
	put_file(&js, "c4242.eth1", f->text, f->len);
	read_again(&js, 1);
	vanishes = "c4242.eth1";
	read_again(&js, 0);
	vanishes = NULL;
	remove_dir(&js);
}

static uint32_t count_files(const char *path)
{
	DIR *dir = opendir(path);
	uint32_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n - 2;
}

/*
 * Room for n bytes in the file and no more, as on a full disk: the write fails,
 * what was there stays, nothing is left beside it.
 */
static void test_no_room(void **state)
{
	const struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	struct fixture *f = *state;
	struct journals js;
	struct err e;
	size_t n;

	signal(SIGXFSZ, SIG_IGN);
	make_dir(&js);
	f->j->applying = false;
	assert_int_equal(journal_write(&js, f->j, &e), 0);
	f->j->applying = true;
	for (n = 0; n < f->len; n++) {
		const struct rlimit few = { n, RLIM_INFINITY };

		assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
		assert_int_equal(journal_write(&js, f->j, &e), -EFBIG);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
		assert_int_equal(count_files(js.dir), 1);
	}
	read_again(&js, 1);
	assert_false(js.list[0]->applying);
	remove_dir(&js);
}

static void test_no_dir(void **state)
{
	struct fixture *f = *state;
	struct journals js = { .lock = -1, .dir = "/proc/nonesuch" };
	struct err e;

	assert_true(journals_lock(&js, &e) < 0);
	assert_non_null(strstr(e.text, "/proc/nonesuch"));
	assert_true(journal_write(&js, f->j, &e) < 0);
	journals_free(&js);
}

/* Another process holds the lock for good: the wait ends and names it. */
static void test_locked(void **state)
{
	struct journals a, b;
	char pid[16];
	struct err e;

	(void)state;
	make_dir(&a);
	b = a;
	assert_int_equal(journals_lock(&a, &e), 0);
	assert_int_equal(journals_lock(&b, &e), -EBUSY);
	snprintf(pid, sizeof(pid), "process %d;", getpid());
	assert_non_null(strstr(e.text, pid));
	journals_free(&b);
	remove_dir(&a);
}

/* Whoever may open the lock may hold it; one of an older version was open to all. */
static void test_lock_mode(void **state)
{
	struct journals js;
	char path[300];
	struct stat st;
	struct err e;
	int old;

	(void)state;
	for (old = 0; old < 2; old++) {
		make_dir(&js);
		snprintf(path, sizeof(path), "%s/lock", js.dir);
		if (old) {
			put_file(&js, "lock", "1\n", 2);
			assert_int_equal(chmod(path, 0644), 0);
		}
		assert_int_equal(journals_lock(&js, &e), 0);
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
		remove_dir(&js);
	}
}

static void test_stacks(void **state)
{
	struct journal *a = sample("eth1"), *b = sample("eth2"), *c = sample("eth3");
	struct journal *list[] = { c, a, b }, *owner = NULL;
	struct journals js = { .n = 3, .list = list };
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		b->records[i].seq += 10;
		c->records[i].seq += 20;
	}
	assert_ptr_equal(record_above(&js, a, &a->records[1], &owner), &b->records[1]);
	assert_ptr_equal(owner, b);
	assert_ptr_equal(record_above(&js, b, &b->records[1], &owner), &c->records[1]);
	assert_null(record_above(&js, c, &c->records[1], &owner));
	/* each has a device of its own */
	assert_null(record_above(&js, a, &a->records[2], &owner));
	assert_true(item_is_shared(&js, "c4242", "eth9", ITEM_SYSCTL, "net.ipv4.tcp_rmem"));
	assert_false(item_is_shared(&js, "c1", "eth9", ITEM_SYSCTL, "net.ipv4.tcp_rmem"));
	/* but the module is the machine's */
	assert_true(item_is_shared(&js, "c1", "eth9", ITEM_MODULE, "tcp_circuit"));
	assert_int_equal(next_seq(&js), 25);
	free(a);
	free(b);
	free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_there_and_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_short, setup, teardown),
		cmocka_unit_test_setup_teardown(test_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lines_moved, setup, teardown),
		cmocka_unit_test_setup_teardown(test_never_a_journal, setup, teardown),
		cmocka_unit_test_setup_teardown(test_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beside_writer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_dir, setup, teardown),
		cmocka_unit_test(test_locked),
		cmocka_unit_test(test_lock_mode),
		cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
