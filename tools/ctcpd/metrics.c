// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics over HTTP: see metrics.h.
 *
 * libmicrohttpd has a thread of its own, so that no client makes the daemon wait.  What it
 * shares with the daemon is one response: metrics_set() puts another in its place, and the
 * library's own count of users keeps the old one as long as a client reads it.
 *
 * A client has one request a connection.  One that sends or reads nothing is dropped after
 * TIMEOUT_S, and one that does so byte by byte after LASTS_S, for which the library has no limit
 * (late.h); there are never more than CONNECTIONS_MAX, and the text is in memory once, however
 * many read it.
 *
 * From libmicrohttpd 0.9.71 (enum MHD_Result) to 1.0; nothing is used that came later or has
 * gone since.
 */
#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "late.h"
#include "listen.h"
#include "metrics.h"

#define CONNECTIONS_MAX		16U
#define CONNECTIONS_OF_ONE	8U	/* by an address: others still get in */
#define CONNECTION_BYTES	16384U	/* of memory, for its request's headers */
#define TIMEOUT_S		5U
#define LASTS_S			10U	/* from accept() to the end of the answer */

struct metrics {
	struct MHD_Daemon *daemon;
	struct late *late;
	pthread_mutex_t lock;		/* of @now */
	struct MHD_Response *now;	/* NULL: none so far */
	bool local;
};

static struct MHD_Response *response(char *text, size_t len, enum MHD_ResponseMemoryMode mode,
				     const char *type)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, text, mode);

	if (!r)
		return NULL;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	return r;
}

/* @text lasts. */
static enum MHD_Result refuse(struct MHD_Connection *c, unsigned int status, const char *text)
{
	struct MHD_Response *r = response((char *)text, strlen(text), MHD_RESPMEM_PERSISTENT,
					  "text/plain; charset=utf-8");
	enum MHD_Result rc;

	if (!r)
		return MHD_NO;
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result answer(void *data, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **of_request)
{
	struct metrics *m = data;
	enum MHD_Result rc;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)of_request;
	if (strcmp(url, "/metrics"))
		return refuse(c, MHD_HTTP_NOT_FOUND, "There is only /metrics.\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n");
	pthread_mutex_lock(&m->lock);
	rc = m->now ? MHD_queue_response(c, MHD_HTTP_OK, m->now) :
	     refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "There was no poll so far.\n");
	pthread_mutex_unlock(&m->lock);
	return rc;
}

/* @place: of this connection.  The library closes it when this has returned. */
static void begins_or_ends(void *data, struct MHD_Connection *c, void **place,
			   enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info;
	struct metrics *m = data;

	if (what != MHD_CONNECTION_NOTIFY_STARTED) {
		late_drop(m->late, *place);
		return;
	}
	info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	*place = info ? late_add(m->late, info->connect_fd) : NULL;
}

static struct MHD_Daemon *start_library(struct metrics *m, int fd, sa_family_t family)
{
	unsigned int flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC |
			     (family == AF_INET6 ? MHD_USE_IPv6 : 0);

	return MHD_start_daemon(flags, 0, NULL, NULL, answer, m,
				MHD_OPTION_LISTEN_SOCKET, fd,
				MHD_OPTION_NOTIFY_CONNECTION, begins_or_ends, m,
				MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
				MHD_OPTION_PER_IP_CONNECTION_LIMIT, CONNECTIONS_OF_ONE,
				MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
				MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S,
				MHD_OPTION_END);
}

/* All signals are for the daemon's own thread.  Where it fails @fd is closed. */
static bool start(struct metrics *m, int fd, sa_family_t family)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	m->late = late_begin(CONNECTIONS_MAX, LASTS_S * 1000);
	m->daemon = m->late ? start_library(m, fd, family) : NULL;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!m->late)
		close(fd);
	return m->daemon;
}

struct metrics *metrics_start(const char *listen, int *rc, struct err *e)
{
	struct metrics *m = NULL;
	struct listen at;
	int fd;

	*rc = listen_parse(listen, &at, e);
	if (*rc)
		return NULL;
	fd = listen_open(listen, &at, e);
	if (fd < 0)
		goto err_listen;
	m = calloc(1, sizeof(*m));
	if (!m)
		goto err_memory;
	m->local = at.local;
	pthread_mutex_init(&m->lock, NULL);
	if (!start(m, fd, at.addr.ss_family))
		goto err_start;
	return m;

err_start:	/* the library has closed the socket, in all but a few of its ways out */
	late_end(m->late);
	pthread_mutex_destroy(&m->lock);
	free(m);
	fd = -1;
err_memory:
	if (fd >= 0)
		close(fd);
	fd = err_set(e, -ENOMEM, "cannot listen on %s: no memory, or no thread", listen);
err_listen:
	*rc = fd;
	return NULL;
}

bool metrics_is_local(const struct metrics *m)
{
	return m->local;
}

void metrics_set(struct metrics *m, char *text, size_t len)
{
	struct MHD_Response *r = response(text, len, MHD_RESPMEM_MUST_FREE,
					  "text/plain; version=0.0.4; charset=utf-8");
	struct MHD_Response *before;

	if (!r) {
		free(text);
		return;
	}
	pthread_mutex_lock(&m->lock);
	before = m->now;
	m->now = r;
	pthread_mutex_unlock(&m->lock);
	if (before)
		MHD_destroy_response(before);
}

void metrics_stop(struct metrics *m)
{
	if (!m)
		return;
	MHD_stop_daemon(m->daemon);
	late_end(m->late);
	if (m->now)
		MHD_destroy_response(m->now);
	pthread_mutex_destroy(&m->lock);
	free(m);
}
