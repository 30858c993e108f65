// SPDX-License-Identifier: GPL-2.0
/*
 * The control socket: questions and answers between two processes; clients that misbehave, of
 * whom none holds the daemon; and whose the socket is.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd/control.h"

#define BIG	(1U << 20)	/* bytes: more than any socket buffer takes at once */

static char dir[40];
static char file[64];

/* --- a daemon ----------------------------------------------------------------------------- */

static int answer(const json_t *question, json_t **said, void *data, struct err *e)
{
	const char *command = json_string_value(json_object_get(question, "command"));
	int *asked = data;

	(*asked)++;
	if (!command)
		return err_set(e, -EINVAL, "which command?");
	if (!strcmp(command, "big")) {
		char *text = malloc(BIG + 1);

		memset(text, 'x', BIG);
		text[BIG] = 0;
		*said = json_pack("{s:s}", "text", text);
		free(text);
		return 0;
	}
	if (strcmp(command, "status"))
		return err_set(e, -ENOENT, "\"%s\" is no command", command);
	*said = json_pack("{s:i}", "flows", 7);
	return 0;
}

static struct control *opened(void)
{
	struct err e;
	int rc;
	struct control *c = control_listen(file, &rc, &e);

	if (!c)
		fail_msg("control_listen: %d %s", rc, e.text);
	return c;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Serves for that long; the longest that one control_serve() took, ms */
static uint64_t serve_for(struct control *c, uint64_t ms, int *asked)
{
	uint64_t until = now_ms() + ms, longest = 0;

	while (now_ms() < until) {
		struct pollfd p = { .fd = control_fd(c), .events = POLLIN };
		uint64_t began;

		if (poll(&p, 1, 10) <= 0)
			continue;
		began = now_ms();
		control_serve(c, answer, asked);
		if (now_ms() - began > longest)
			longest = now_ms() - began;
	}
	return longest;
}

static pid_t daemon_begins(void)
{
	pid_t pid = fork();
	struct control *c;
	int asked = 0;

	if (pid)
		return pid;
	c = opened();
	for (;;)
		serve_for(c, 1000, &asked);
}

static void daemon_ends(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* As soon as it answers; 10 s at most */
static int ask(const char *text, json_t **said, struct err *e)
{
	json_t *question = json_loads(text, 0, NULL);
	int rc = -ENOENT, i;

	assert_non_null(question);
	for (i = 0; i < 1000 && (rc == -ENOENT || rc == -ECONNREFUSED); i++) {
		rc = control_ask(file, question, said, e);
		if ((rc == -ENOENT || rc == -ECONNREFUSED) && strncmp(e->text, "no daemon", 9))
			break;
		usleep(rc ? 10000 : 0);
	}
	json_decref(question);
	return rc;
}

static void test_ask(void **state)
{
	pid_t pid = daemon_begins();
	struct err e = { "" };
	json_t *said;

	(void)state;
	assert_int_equal(ask("{\"command\": \"status\"}", &said, &e), 0);
	assert_int_equal(json_integer_value(json_object_get(said, "flows")), 7);
	json_decref(said);
	assert_int_equal(ask("{\"command\": \"dance\"}", &said, &e), -ENOENT);
	assert_string_equal(e.text, "\"dance\" is no command");
	assert_null(said);
	assert_int_equal(ask("{\"x\": 1}", &said, &e), -EINVAL);
	assert_string_equal(e.text, "which command?");
	assert_int_equal(ask("{\"command\": \"big\"}", &said, &e), 0);
	assert_int_equal(json_string_length(json_object_get(said, "text")), BIG);
	json_decref(said);
	daemon_ends(pid);
	/* its socket is still there, and nobody behind it */
	assert_int_equal(access(file, F_OK), 0);
	said = json_object();
	{
		json_t *none;

		assert_int_equal(control_ask(file, said, &none, &e), -ECONNREFUSED);
		assert_non_null(strstr(e.text, "no daemon answers at /tmp/test_ctcpd_control."));
		unlink(file);
		assert_int_equal(control_ask(file, said, &none, &e), -ENOENT);
	}
	json_decref(said);
}

/* --- clients that misbehave ------------------------------------------------------------------ */

static int connected(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	assert_true(fd >= 0);
	strcpy(to.sun_path, file);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void says(int fd, const char *text, size_t n)
{
	assert_int_equal(send(fd, text, n, MSG_NOSIGNAL), n);
}

/* What has come so far; *@ended: and nothing will any more */
static size_t comes(int fd, char *buf, size_t room, bool *ended)
{
	size_t got = 0;
	ssize_t n;

	while ((n = recv(fd, buf + got, room - 1 - got, 0)) > 0)
		got += (size_t)n;
	buf[got] = 0;
	*ended = !n || (n < 0 && errno != EAGAIN);
	return got;
}

static void test_bad_questions(void **state)
{
	static const struct {
		const char *text, *answer;
	} rows[] = {
		{ "\n", "\"ok\":false" },
		{ "status\n", "no JSON object" },
		{ "[1]\n", "no JSON object: it is another thing" },
		{ "{\"command\": 1}\n", "which command?" },
		{ "{\"command\": \"status\", \"command\": \"status\"}\n", "\"ok\":false" },
		{ "{\"command\": \"status\"} x\n", "\"ok\":false" },
		{ "{\"command\": \"\xff\"}\n", "\"ok\":false" },
		{ "{\"command\": \"status\"}\nand more\n", "\"flows\":7" },
	};
	struct control *c = opened();
	char buf[1024];
	int asked = 0;
	bool ended;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int fd = connected();

		says(fd, rows[i].text, strlen(rows[i].text));
		serve_for(c, 50, &asked);
		comes(fd, buf, sizeof(buf), &ended);
		if (!strstr(buf, rows[i].answer) || !ended)
			fail_msg("row %zu: expected %s, got \"%s\"", i, rows[i].answer, buf);
		close(fd);
	}
	control_close(c);
}

/* In pieces it is a question; one that is longer than any is refused. */
static void test_pieces(void **state)
{
	static const char text[] = "{\"command\": \"status\"}\n";
	struct control *c = opened();
	char buf[8192];
	int fd = connected(), asked = 0;
	bool ended;
	size_t i;

	(void)state;
	for (i = 0; i < strlen(text); i++) {
		says(fd, text + i, 1);
		serve_for(c, 2, &asked);
	}
	serve_for(c, 50, &asked);
	comes(fd, buf, sizeof(buf), &ended);
	assert_non_null(strstr(buf, "\"flows\":7"));
	assert_int_equal(asked, 1);
	close(fd);

	fd = connected();
	memset(buf, 'x', sizeof(buf));
	says(fd, buf, 5000);
	serve_for(c, 50, &asked);
	comes(fd, buf, sizeof(buf), &ended);
	assert_non_null(strstr(buf, "a question has at most 4096 bytes, and this one has more"));
	assert_int_equal(asked, 1);
	close(fd);
	control_close(c);
}

/* Sent by a process that waits until all of it is taken, and reads the answer then */
static pid_t asks_long(size_t n)
{
	pid_t pid = fork();
	char *text, buf[256];
	ssize_t got;
	int fd;

	if (pid)
		return pid;
	fd = connected();
	text = malloc(n);
	memset(text, 'x', n);
	fcntl(fd, F_SETFL, 0);
	if (send(fd, text, n, MSG_NOSIGNAL) != (ssize_t)n)
		_exit(1);
	got = recv(fd, buf, sizeof(buf) - 1, MSG_WAITALL);
	buf[got > 0 ? got : 0] = 0;
	if (!strstr(buf, "at most 4096 bytes"))
		_exit(2);
	_exit(recv(fd, buf, 1, 0) ? 3 : 0);
}

/* All of it is taken, up to a bound; and the end of the answer is one, and no reset. */
static void test_long_questions(void **state)
{
	static const struct {
		size_t n;
		int status;
	} rows[] = {
		{ 4096, 0 }, { 5000, 0 }, { 100000, 0 }, { 1000000, 0 }, { 8U << 20, 1 },
	};
	struct control *c = opened();
	int asked = 0, status, tries;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		pid_t pid = asks_long(rows[i].n);

		for (tries = 0; !waitpid(pid, &status, WNOHANG) && tries < 1000; tries++)
			serve_for(c, 10, &asked);
		if (!WIFEXITED(status) || WEXITSTATUS(status) != rows[i].status)
			fail_msg("%zu bytes: status %#x, expected exit %d", rows[i].n, status,
				 rows[i].status);
	}
	assert_int_equal(asked, 0);
	control_close(c);
}

/* One that goes on holds its place no longer than one that is silent. */
static void test_endless_question(void **state)
{
	struct control *c = opened();
	uint64_t until = now_ms() + 2 * CONTROL_MS;
	char buf[4096];
	int asked = 0, fd = connected();

	(void)state;
	memset(buf, 'x', sizeof(buf));
	says(fd, buf, sizeof(buf));
	while (now_ms() < until && send(fd, buf, 1, MSG_NOSIGNAL) == 1)
		serve_for(c, 50, &asked);
	assert_true(now_ms() < until);
	close(fd);
	control_close(c);
}

/* Neither silence nor a full buffer holds the others, and both end. */
static void test_slow_clients(void **state)
{
	struct control *c = opened();
	int silent = connected(), deaf = connected(), asked = 0, fd;
	char *buf = malloc(BIG + 4096), small[256];
	bool ended;

	(void)state;
	says(deaf, "{\"command\": \"big\"}\n", 19);
	/* whoever waits for it does so for CONTROL_MS; a busy machine takes half of that */
	assert_true(serve_for(c, 300, &asked) < CONTROL_MS);
	fd = connected();
	says(fd, "{\"command\": \"status\"}\n", 22);
	assert_true(serve_for(c, 100, &asked) < CONTROL_MS);
	comes(fd, small, sizeof(small), &ended);
	assert_non_null(strstr(small, "\"flows\":7"));
	close(fd);
	comes(silent, small, sizeof(small), &ended);
	assert_false(ended);
	serve_for(c, CONTROL_MS + 500, &asked);
	comes(silent, small, sizeof(small), &ended);
	assert_true(ended);
	assert_true(comes(deaf, buf, BIG + 4096, &ended) < BIG);
	assert_true(ended);
	close(silent);
	close(deaf);
	free(buf);
	control_close(c);
}

/* More than there are places wait, and get their answer when one is free. */
static void test_many(void **state)
{
	struct control *c = opened();
	int fd[CONTROL_CLIENTS + 8], asked = 0;
	char buf[256];
	bool ended;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(fd); i++)
		fd[i] = connected();
	serve_for(c, 50, &asked);
	says(fd[CONTROL_CLIENTS], "{\"command\": \"status\"}\n", 22);
	serve_for(c, 50, &asked);
	assert_int_equal(asked, 0);
	close(fd[3]);
	serve_for(c, 50, &asked);
	assert_int_equal(asked, 1);
	comes(fd[CONTROL_CLIENTS], buf, sizeof(buf), &ended);
	assert_non_null(strstr(buf, "\"flows\":7"));
	for (i = 0; i < ARRAY_SIZE(fd); i++)
		if (i != 3)
			close(fd[i]);
	serve_for(c, 50, &asked);
	control_close(c);
}

/* --- whose it is ------------------------------------------------------------------------------ */

static void test_second(void **state)
{
	struct control *c = opened(), *second;
	struct stat st;
	char process[40];
	struct err e;
	int rc;

	(void)state;
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	second = control_listen(file, &rc, &e);
	assert_null(second);
	assert_int_equal(rc, -EADDRINUSE);
	assert_non_null(strstr(e.text, "another ctcpd answers at"));
	snprintf(process, sizeof(process), " already, process %d", getpid());
	assert_non_null(strstr(e.text, process));
	assert_int_equal(access(file, F_OK), 0);
	control_close(c);
	assert_int_equal(access(file, F_OK), -1);
	control_close(opened());
}

static void test_stale(void **state)
{
	pid_t pid = daemon_begins();
	struct err e;
	json_t *said;

	(void)state;
	assert_int_equal(ask("{\"command\": \"status\"}", &said, &e), 0);
	json_decref(said);
	daemon_ends(pid);
	assert_int_equal(access(file, F_OK), 0);
	control_close(opened());
	assert_int_equal(access(file, F_OK), -1);
}

static void refused(const char *name, int want, const char *why)
{
	struct err e = { "" };
	int rc = 0;

	assert_null(control_listen(name, &rc, &e));
	if (rc != want || !strstr(e.text, why))
		fail_msg("\"%.30s\": expected %d, %s; got %d, %s", name, want, why, rc, e.text);
}

static void test_places(void **state)
{
	char name[256], lock[256];
	struct control *c;
	struct stat st;
	struct err e;
	int rc, fd;

	(void)state;
	/* the folder is made, but not those above it */
	snprintf(name, sizeof(name), "%s/new/control", dir);
	c = control_listen(name, &rc, &e);
	assert_non_null(c);
	snprintf(lock, sizeof(lock), "%s/new", dir);
	assert_int_equal(stat(lock, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	control_close(c);
	snprintf(lock, sizeof(lock), "%s/new/control.lock", dir);
	unlink(lock);
	snprintf(lock, sizeof(lock), "%s/new", dir);
	rmdir(lock);
	snprintf(name, sizeof(name), "%s/a/b/control", dir);
	refused(name, -ENOENT, "cannot be made: No such file or directory; be root, or name");
	refused("", -ENAMETOOLONG, "no name for a socket");
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	refused(name, -ENAMETOOLONG, "1 to 107 bytes");

	/* somebody's file is not ours to remove */
	fd = open(file, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	refused(file, -EEXIST, "is no socket; move it away");
	assert_int_equal(unlink(file), 0);
}

static int clean(void **state)
{
	char name[80];

	(void)state;
	unlink(file);
	snprintf(name, sizeof(name), "%s.lock", file);
	unlink(name);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_ask, clean),
		cmocka_unit_test_teardown(test_bad_questions, clean),
		cmocka_unit_test_teardown(test_pieces, clean),
		cmocka_unit_test_teardown(test_long_questions, clean),
		cmocka_unit_test_teardown(test_endless_question, clean),
		cmocka_unit_test_teardown(test_slow_clients, clean),
		cmocka_unit_test_teardown(test_many, clean),
		cmocka_unit_test_teardown(test_second, clean),
		cmocka_unit_test_teardown(test_stale, clean),
		cmocka_unit_test_teardown(test_places, clean),
	};
	int rc;

	strcpy(dir, "/tmp/test_ctcpd_control.XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(file, sizeof(file), "%s/control", dir);
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(dir);
	return rc;
}
