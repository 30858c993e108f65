// SPDX-License-Identifier: GPL-2.0
/*
 * Connections that last too long are shut down, and no others.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd/late.h"

#define LASTS_MS	1000
#define PATIENCE_MS	20000

static atomic_uint waits;	/* that have a limit */

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at);

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *at)
{
	atomic_fetch_add(&waits, 1);
	return __real_pthread_cond_timedwait(c, m, at);
}

/* [0] is that of the server, [1] the client's */
static void pair(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
}

/* Within so many ms */
static bool is_shut_down(int client, int ms)
{
	struct pollfd p = { .fd = client, .events = POLLIN };
	char byte;

	return poll(&p, 1, ms) == 1 && !recv(client, &byte, 1, MSG_DONTWAIT);
}

static void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

static void test_late(void **state)
{
	struct late *l = late_begin(2, LASTS_MS);
	struct late_place *first, *second;
	int a[2], b[2], c[2];

	(void)state;
	assert_non_null(l);
	pair(a);
	pair(b);
	pair(c);
	first = late_add(l, a[0]);
	second = late_add(l, b[0]);
	assert_non_null(first);
	assert_non_null(second);
	/* one too many */
	assert_null(late_add(l, c[0]));
	assert_true(is_shut_down(c[1], 0));
	late_drop(l, NULL);
	/* one that ends by itself is left as it is, and makes room */
	late_drop(l, first);
	assert_true(is_shut_down(b[1], PATIENCE_MS));
	assert_false(is_shut_down(a[1], LASTS_MS));
	first = late_add(l, a[0]);
	assert_non_null(first);
	assert_true(is_shut_down(a[1], PATIENCE_MS));
	late_drop(l, first);
	late_drop(l, second);
	late_end(l);
	late_end(NULL);
	close_pair(a);
	close_pair(b);
	close_pair(c);
}

/* Each has its own time. */
static void test_one_by_one(void **state)
{
	struct late *l = late_begin(2, LASTS_MS);
	int a[2], b[2];

	(void)state;
	pair(a);
	pair(b);
	assert_non_null(late_add(l, a[0]));
	poll(NULL, 0, LASTS_MS / 3);
	assert_non_null(late_add(l, b[0]));
	assert_true(is_shut_down(a[1], PATIENCE_MS));
	assert_true(is_shut_down(b[1], PATIENCE_MS));
	late_end(l);
	close_pair(a);
	close_pair(b);
}

/* One wait is as long as the connection may last: the thread does not look again and again. */
static void test_sleeps(void **state)
{
	struct late *l = late_begin(1, LASTS_MS);
	int a[2];

	(void)state;
	pair(a);
	atomic_store(&waits, 0);
	assert_non_null(late_add(l, a[0]));
	assert_true(is_shut_down(a[1], PATIENCE_MS));
	/* a wait may end early without a reason */
	assert_in_range(atomic_load(&waits), 1, 5);
	late_end(l);
	close_pair(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_one_by_one),
		cmocka_unit_test(test_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
