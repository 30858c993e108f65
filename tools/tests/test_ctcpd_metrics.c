// SPDX-License-Identifier: GPL-2.0
/*
 * Metrics: the text against a strict reader of Prometheus' text format 0.0.4, the server by
 * real clients, where may be listened, and the dashboard against the names.
 */
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

#include "ctcpd_act_fake.h"
#include "ctcpd_said.h"

#include "ctcpd/listen.h"
#include "ctcpd/metrics.h"
#include "ctcpd/run.h"

#define NAMES_MAX	64
#define DROPPED_S	20	/* by when an idle client is dropped: TIMEOUT_S, and patience */
#define IDLE_MS		7500	/* more than TIMEOUT_S */

/* --- a strict reader --------------------------------------------------------------- */

struct family {
	char name[80], type[16];
	unsigned int samples;
};

struct text {
	struct family families[NAMES_MAX];
	unsigned int n;
};

static bool is_name(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!isalpha((unsigned char)s[i]) && s[i] != '_' &&
		    (!i || !isdigit((unsigned char)s[i])))
			return false;
	return n > 0;
}

/* {key="value",...}: what is behind it, or NULL */
static const char *labels_end(const char *p)
{
	size_t n;

	if (*p != '{')
		return p;
	do {
		p++;
		n = strcspn(p, "=");
		if (!is_name(p, n) || p[n + 1] != '"')
			return NULL;
		for (p += n + 2; *p != '"'; p++) {
			if (*p == '\\' && !strchr("\\\"n", *++p))
				return NULL;
			if (!*p || *p == '\n')
				return NULL;
		}
		p++;
	} while (*p == ',');
	return *p == '}' ? p + 1 : NULL;
}

static bool ends_in(const char *s, const char *tail)
{
	size_t n = strlen(s), t = strlen(tail);

	return n >= t && !strcmp(s + n - t, tail);
}

static void read_help(struct text *t, const char *line)
{
	struct family *f = &t->families[t->n];
	size_t n = strcspn(line + 7, " ");
	unsigned int i;

	assert_in_range(t->n, 0, NAMES_MAX - 1);
	assert_true(is_name(line + 7, n) && n < sizeof(f->name));
	assert_true(strlen(line + 7 + n) > 10);	/* and what it is */
	memset(f, 0, sizeof(*f));
	memcpy(f->name, line + 7, n);
	for (i = 0; i < t->n; i++)
		assert_string_not_equal(t->families[i].name, f->name);
	t->n++;
}

static void read_type(struct text *t, const char *line)
{
	struct family *f = &t->families[t->n - 1];
	char name[80], type[16];
	int words;

	assert_true(t->n > 0);
	words = sscanf(line, "# TYPE %79s %15s", name, type);
	assert_int_equal(words, 2);
	assert_string_equal(name, f->name);
	assert_int_equal(f->type[0] || f->samples, 0);
	assert_true(!strcmp(type, "gauge") || !strcmp(type, "counter"));
	assert_int_equal(!strcmp(type, "counter"), ends_in(name, "_total"));
	strcpy(f->type, type);
}

static void read_sample(struct text *t, const char *line)
{
	struct family *f = &t->families[t->n - 1];
	size_t n = strlen(f->name);
	const char *value;
	char *end;
	double d;

	assert_true(t->n > 0 && f->type[0]);
	if (strncmp(line, f->name, n))
		print_error("%s: not of %s\n", line, f->name);
	assert_memory_equal(line, f->name, n);
	value = labels_end(line + n);
	assert_non_null(value);
	assert_int_equal(*value, ' ');
	d = strtod(value + 1, &end);
	assert_int_equal(*end, 0);
	assert_true(isdigit((unsigned char)value[1]) && d >= 0);
	if (ends_in(f->name, "_ratio"))
		assert_true(d <= 1);
	f->samples++;
}

/* Each sample of another series */
static void assert_distinct(char **lines, unsigned int n)
{
	unsigned int i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < i; j++)
			assert_true(strlen(lines[i]) != strlen(lines[j]) ||
				    strcmp(lines[i], lines[j]));
}

static void read_text(const char *text, struct text *t)
{
	char *copy = strdup(text), *save, *line, *series[1024];
	unsigned int n = 0;

	memset(t, 0, sizeof(*t));
	assert_non_null(copy);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_null(strstr(text, "\n\n"));
	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strncmp(line, "# HELP ", 7)) {
			read_help(t, line);
		} else if (*line == '#') {
			read_type(t, line);
		} else {
			read_sample(t, line);
			*strrchr(line, ' ') = 0;
			assert_in_range(n, 0, ARRAY_SIZE(series) - 1);
			series[n++] = line;
		}
	}
	assert_distinct(series, n);
	free(copy);
}

/* --- the text ---------------------------------------------------------------------- */

static const struct poll_totals totals = {
	.polls = 1234, .failed = 5, .flows = 60, .remotes = 60, .flows_left_out = 3,
	.flows_of = { [VERDICT_CLEAN] = 60 }, .remotes_of = { [VERDICT_OVERRUN] = 7 },
	.acked = UINT64_MAX, .segs = 1000, .retrans = 31, .local_drops = 9, .cpu_us = 12345,
	.history_failed = 2, .history_ok = true,
};

/* @n of them, 10.0.0.1 with the fewest bytes; @v6: the last is 2001:db8::1 */
static struct remotes *remotes(unsigned int n, bool v6)
{
	struct remotes *rs = remotes_new();
	unsigned int i;

	assert_non_null(rs);
	remotes_begin(rs, 1000000);
	for (i = 1; i <= n; i++) {
		struct flow f = { .last.conn.peer = { AF_INET, 32, { 10, 0, 0, (uint8_t)i } } };

		if (v6 && i == n)
			parse_address("2001:db8::1", &f.last.conn.peer);
		f.last.conn.cookie = i;
		strcpy(f.last.conn.algorithm, "cubic");
		f.first_us = 1000000;
		f.facts.us = 4000000;
		f.facts.acked = 1000000ULL * i;
		f.facts.recent = (struct work){ .us = 4000000, .acked = f.facts.acked,
						.busy = 3000000, .rwnd = 1000000 };
		f.facts.segs = 1000;
		f.facts.retrans = 25;
		f.facts.best_rate = 2000000;
		f.facts.min_rtt_us = 47123;
		assert_int_equal(remotes_flow(rs, &f, false), 0);
	}
	assert_int_equal(remotes_end(rs, 1000000, NULL, NULL), 0);
	return rs;
}

static char *text_with(unsigned int n, bool v6, const struct act *act)
{
	struct remotes *rs = remotes(n, v6);
	size_t len;
	char *text;

	assert_int_equal(metrics_text(&totals, rs, act, &text, &len), 0);
	assert_int_equal(strlen(text), len);
	remotes_free(rs);
	return text;
}

static char *text_of(unsigned int n, bool v6)
{
	return text_with(n, v6, NULL);
}

static void assert_line(const char *text, const char *line)
{
	const char *p = strstr(text, line);

	while (p && ((p > text && p[-1] != '\n') || p[strlen(line)] != '\n'))
		p = strstr(p + 1, line);
	if (!p)
		print_error("no line \"%s\"\n", line);
	assert_non_null(p);
}

static void test_text(void **state)
{
	char *text = text_of(2, true);
	struct text t;

	(void)state;
	read_text(text, &t);
	assert_line(text, "ctcpd_build_info{version=\"" CTCP_VERSION "\"} 1");
	assert_line(text, "ctcpd_polls_total 1234");
	assert_line(text, "ctcpd_polls_failed_total 5");
	assert_line(text, "ctcpd_poll_cpu_seconds 0.012345");
	assert_line(text, "ctcpd_flows 60");
	assert_line(text, "ctcpd_flows_left_out 3");
	assert_line(text, "ctcpd_flows_by_verdict{verdict=\"clean\"} 60");
	assert_line(text, "ctcpd_flows_by_verdict{verdict=\"unknown\"} 0");
	assert_line(text, "ctcpd_remotes_by_verdict{verdict=\"overrun\"} 7");
	assert_line(text, "ctcpd_acked_bytes_total 18446744073709551615");
	assert_line(text, "ctcpd_segments_total 1000");
	assert_line(text, "ctcpd_retransmitted_segments_total 31");
	assert_line(text, "ctcpd_local_drops_total 9");
	assert_line(text, "ctcpd_history_up 1");
	assert_line(text, "ctcpd_history_write_failures_total 2");
	assert_line(text, "ctcpd_remotes_left_out 0");
	assert_line(text, "ctcpd_remote_flows{remote=\"2001:db8::1\"} 1");
	assert_line(text, "ctcpd_remote_acked_bytes{remote=\"10.0.0.1\"} 1000000");
	assert_line(text, "ctcpd_remote_rate_bytes_per_second{remote=\"10.0.0.1\"} 250000");
	assert_line(text, "ctcpd_remote_best_rate_bytes_per_second{remote=\"10.0.0.1\"} 2000000");
	assert_line(text, "ctcpd_remote_retransmit_ratio{remote=\"10.0.0.1\"} 0.025000");
	assert_line(text, "ctcpd_remote_min_rtt_seconds{remote=\"10.0.0.1\"} 0.047123");
	assert_line(text, "ctcpd_remote_busy_ratio{remote=\"10.0.0.1\"} 0.750");
	assert_line(text, "ctcpd_remote_receive_window_ratio{remote=\"10.0.0.1\"} 0.250");
	assert_line(text, "ctcpd_remote_send_buffer_ratio{remote=\"10.0.0.1\"} 0.000");
	free(text);
}

static void test_no_remote(void **state)
{
	char *text = text_of(0, false);
	struct text t;

	(void)state;
	read_text(text, &t);
	assert_line(text, "ctcpd_remotes_left_out 0");
	free(text);
}

/* Those with the most bytes; a scrape stays small however many there are. */
static void test_many_remotes(void **state)
{
	char *text = text_of(60, false);
	struct text t;
	unsigned int i;

	(void)state;
	read_text(text, &t);
	for (i = 0; i < t.n; i++)
		if (!strncmp(t.families[i].name, "ctcpd_remote_", 13))
			assert_int_equal(t.families[i].samples, METRICS_REMOTES);
	assert_line(text, "ctcpd_remotes_left_out 10");
	assert_null(strstr(text, "\"10.0.0.10\""));
	assert_non_null(strstr(text, "\"10.0.0.11\""));
	free(text);
}

/* --- pacing -------------------------------------------------------------------------- */

static void add_pacing(struct fake_act *f, const char *to, const struct search *s)
{
	struct err e;

	assert_in_range(f->n, 0, FAKE_MAX - 1);
	f->list[f->n] = (struct pacing){ .search = s, .rate = s->rate, .stood_down = "",
					 .hands = f->n ? "sockets" : "classes", .unfit = "" };
	assert_int_equal(parse_prefix(to, &f->list[f->n].to, &e), 0);
	f->n++;
}

static void test_pacing(void **state)
{
	static const struct search kept = { .state = SEARCH_KEPT, .rate = 115000000 };
	static const struct search tried = { .state = SEARCH_TRYING, .rate = 1000 };
	static const struct search back = { .state = SEARCH_TAKEN_BACK };
	struct fake_act f = { .totals = { .paced = 2, .paced_by = { 2, 7 }, .unfit = 4,
					  .stood_down = 1, .paced_changes = 17,
					  .failed = 3, .acts = true, .unable = "",
					  .hindered = "" } };
	struct text t;
	char *text;

	(void)state;
	add_pacing(&f, "10.0.0.1", &tried);
	add_pacing(&f, "10.0.1.0/24", &kept);
	add_pacing(&f, "10.0.0.2", &back);
	text = text_with(1, false, fake_act(&f));
	read_text(text, &t);
	assert_line(text, "ctcpd_acts 1");
	assert_line(text, "ctcpd_cannot_act 0");
	assert_line(text, "ctcpd_paced_remotes 2");
	assert_line(text, "ctcpd_paced_remotes_by_means{paced_by=\"classes\"} 2");
	assert_line(text, "ctcpd_paced_remotes_by_means{paced_by=\"sockets\"} 7");
	assert_line(text, "# HELP ctcpd_unfit_devices Devices on which a remote is to be paced and nothing can be, or that are gone.");
	assert_line(text, "ctcpd_unfit_devices 4");
	assert_line(text, "ctcpd_stood_down_remotes 1");
	assert_line(text, "ctcpd_rate_changes_total 17");
	assert_line(text, "ctcpd_rate_change_failures_total 3");
	assert_line(text, "ctcpd_searches_by_state{state=\"watching\"} 0");
	assert_line(text, "ctcpd_searches_by_state{state=\"trying\"} 1");
	assert_line(text, "ctcpd_searches_by_state{state=\"kept\"} 1");
	assert_line(text, "ctcpd_searches_by_state{state=\"taken-back\"} 1");
	assert_line(text, "ctcpd_paced_left_out 0");
	assert_line(text, "ctcpd_paced_rate_bytes_per_second{remote=\"10.0.1.0/24\",paced_by=\"sockets\"} 115000000");
	assert_line(text, "ctcpd_paced_rate_bytes_per_second{remote=\"10.0.0.1\",paced_by=\"classes\"} 1000");
	assert_null(strstr(text, "second{remote=\"10.0.0.2\""));
	free(text);
	f.totals.unable = "CAP_NET_ADMIN is not there";
	text = text_with(1, false, fake_act(&f));
	assert_line(text, "ctcpd_acts 0");
	assert_line(text, "ctcpd_cannot_act 1");
	free(text);
	text = text_of(1, false);
	assert_line(text, "ctcpd_acts 0");
	assert_line(text, "ctcpd_cannot_act 0");
	assert_line(text, "ctcpd_paced_remotes 0");
	free(text);
}

/* Those with the highest rates; a scrape stays small however many there are. */
static void test_many_paced(void **state)
{
	static struct search searches[FAKE_MAX];
	struct fake_act f = { .totals.unable = "", .totals.hindered = "" };
	char to[32], *text;
	struct text t;
	unsigned int i;

	(void)state;
	for (i = 0; i < 60; i++) {
		searches[i] = (struct search){ .state = SEARCH_KEPT, .rate = 1000 * (i + 1) };
		snprintf(to, sizeof(to), "10.0.0.%u", i + 1);
		add_pacing(&f, to, &searches[i]);
	}
	text = text_with(0, false, fake_act(&f));
	read_text(text, &t);
	for (i = 0; i < t.n; i++)
		if (!strcmp(t.families[i].name, "ctcpd_paced_rate_bytes_per_second"))
			assert_int_equal(t.families[i].samples, METRICS_REMOTES);
	assert_line(text, "ctcpd_paced_left_out 10");
	assert_null(strstr(text, "\"10.0.0.10\""));
	assert_non_null(strstr(text, "\"10.0.0.11\""));
	free(text);
}

static void test_no_memory(void **state)
{
	struct fake_act f = { .totals.unable = "", .totals.hindered = "", .fails = -ENOMEM };
	struct remotes *rs = remotes(1, false);
	size_t len;
	char *text;

	(void)state;
	assert_int_equal(metrics_text(&totals, rs, fake_act(&f), &text, &len), -ENOMEM);
	remotes_free(rs);
}

static void test_labels(void **state)
{
	char buf[64];
	struct out o = out_to(buf, sizeof(buf));

	(void)state;
	metrics_label(&o, "name", "a\\b\"c\nd");
	assert_string_equal(buf, "name=\"a\\\\b\\\"c\\nd\"");
}

/* --- where to listen --------------------------------------------------------------- */

static void test_listen(void **state)
{
	static const struct {
		const char *text, *says;	/* NULL: it is one */
		bool local;
	} rows[] = {
		{ "127.0.0.1:9810", NULL, true },
		{ "127.1.2.3:1", NULL, true },
		{ "[::1]:9100", NULL, true },
		{ "192.0.2.7:65535", NULL, false },
		{ "0.0.0.0:9100", NULL, false },
		{ "[::]:9100", NULL, false },
		{ "[2001:db8::7]:9100", NULL, false },
		{ "", "no address with a port", false },
		{ "9100", "no address with a port", false },
		{ ":9100", "no address with a port", false },
		{ "127.0.0.1", "no address with a port", false },
		{ "localhost:9100", "names of hosts are none", false },
		{ "dtn.example.org:9100", "names of hosts are none", false },
		{ "*:9100", "no address", false },
		{ "::1:9100", "must be in brackets", false },
		{ "[::1]", "no address", false },
		{ "[127.0.0.1]:9100", "without brackets", false },
		{ "[::1:9100", "no address", false },
		{ "[]:9100", "no address", false },
		{ "127.0.0.1:", "port", false },
		{ "127.0.0.1:0", "from 1 to 65535", false },
		{ "127.0.0.1:65536", "from 1 to 65535", false },
		{ "127.0.0.1:-1", "port", false },
		{ "127.0.0.1:http", "port", false },
		{ "127.0.0.1:9100 ", "port", false },
		{ " 127.0.0.1:9100", "no address", false },
		{ "127.0.0.1:9100/metrics", "port", false },
		{ "[fe80::1%eth0]:9100", "no address", false },
		{ "[2001:0db8:0000:0000:0000:0000:0000:0000:0000:0000:0000]:1", "too long", false },
	};
	struct listen l;
	struct err e;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int rc = listen_parse(rows[i].text, &l, &e);

		if (rc != (rows[i].says ? -EINVAL : 0) ||
		    (rc && !strstr(e.text, rows[i].says)))
			print_error("\"%s\": %d (%s)\n", rows[i].text, rc, rc ? e.text : "");
		assert_int_equal(rc, rows[i].says ? -EINVAL : 0);
		if (rc)
			assert_non_null(strstr(e.text, rows[i].says));
		else
			assert_int_equal(l.local, rows[i].local);
	}
}

/* --- the server -------------------------------------------------------------------- */

/* One that nobody listens on: asked for, and let go again */
static uint16_t free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	close(fd);
	return ntohs(at.sin_port);
}

struct server {
	uint16_t port;
	char listen[32];
	struct metrics *metrics;
};

static void begin(struct server *s)
{
	struct err e = { "" };
	int rc;

	s->port = free_port();
	snprintf(s->listen, sizeof(s->listen), "127.0.0.1:%u", s->port);
	s->metrics = metrics_start(s->listen, &rc, &e);
	if (!s->metrics)
		print_error("%d: %s\n", rc, e.text);
	assert_non_null(s->metrics);
}

static void set_text(struct server *s, const char *text)
{
	char *copy = strdup(text);

	assert_non_null(copy);
	metrics_set(s->metrics, copy, strlen(copy));
}

static int connected(const struct server *s)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(s->port),
				  .sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0), small = 4096;

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

/* How many bytes came until the server closed; -1: it did not within DROPPED_S */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	static char drain[65536];
	size_t used = 0;
	ssize_t n;

	for (;;) {
		if (poll(&p, 1, DROPPED_S * 1000) != 1)
			return -1;
		n = used + 1 < size ? recv(fd, buf + used, size - 1 - used, 0) :
		    recv(fd, drain, sizeof(drain), 0);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	buf[used < size ? used : size - 1] = 0;
	return (ssize_t)used;
}

/* The whole answer to "METHOD PATH"; "" if there was none */
static void ask(const struct server *s, const char *what, char *buf, size_t size)
{
	char request[256];
	int fd = connected(s), n;

	n = snprintf(request, sizeof(request),
		     "%s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n", what);
	send(fd, request, (size_t)n, MSG_NOSIGNAL);
	assert_true(read_all(fd, buf, size) >= 0);
	close(fd);
}

static void assert_answer(const struct server *s, const char *what, const char *status,
			  const char *has)
{
	char buf[4096];

	ask(s, what, buf, sizeof(buf));
	if (strncmp(buf, status, strlen(status)) || !strstr(buf, has))
		print_error("%s: %s\n", what, buf);
	assert_memory_equal(buf, status, strlen(status));
	assert_non_null(strstr(buf, has));
}

static void test_server(void **state)
{
	struct server s;
	char buf[4096];

	(void)state;
	begin(&s);
	assert_true(metrics_is_local(s.metrics));
	assert_answer(&s, "GET /metrics", "HTTP/1.1 503", "no poll");
	set_text(&s, "ctcpd_flows 1\n");
	assert_answer(&s, "GET /metrics", "HTTP/1.1 200", "\r\n\r\nctcpd_flows 1\n");
	assert_answer(&s, "GET /metrics", "HTTP/1.1 200", "text/plain; version=0.0.4");
	set_text(&s, "ctcpd_flows 2\n");
	assert_answer(&s, "GET /metrics", "HTTP/1.1 200", "\r\n\r\nctcpd_flows 2\n");
	assert_answer(&s, "GET /metrics?name=x", "HTTP/1.1 200", "ctcpd_flows 2\n");
	ask(&s, "HEAD /metrics", buf, sizeof(buf));
	assert_memory_equal(buf, "HTTP/1.1 200", 12);
	assert_null(strstr(buf, "ctcpd_flows"));
	assert_answer(&s, "GET /", "HTTP/1.1 404", "only /metrics");
	assert_answer(&s, "GET /metrics/x", "HTTP/1.1 404", "only /metrics");
	assert_answer(&s, "GET /../../etc/passwd", "HTTP/1.1 404", "only /metrics");
	assert_answer(&s, "POST /metrics", "HTTP/1.1 405", "Allow: GET, HEAD");
	assert_answer(&s, "DELETE /metrics", "HTTP/1.1 405", "Allow: GET, HEAD");
	metrics_stop(s.metrics);
}

static void test_used_port(void **state)
{
	struct server s;
	struct err e;
	int rc = 0;

	(void)state;
	begin(&s);
	assert_null(metrics_start(s.listen, &rc, &e));
	assert_int_equal(rc, -EADDRINUSE);
	assert_non_null(strstr(e.text, s.listen));
	assert_non_null(strstr(e.text, "another program does already"));
	assert_null(metrics_start("192.0.2.1:9810", &rc, &e));
	assert_int_equal(rc, -EADDRNOTAVAIL);
	assert_non_null(strstr(e.text, "no such address"));
	assert_null(metrics_start("localhost:9810", &rc, &e));
	assert_int_equal(rc, -EINVAL);
	metrics_stop(s.metrics);
	/* and a daemon that is begun anew has it at once */
	s.metrics = metrics_start(s.listen, &rc, &e);
	assert_non_null(s.metrics);
	metrics_stop(s.metrics);
}

/* What an address that is taken costs is its metrics; it is asked for again with each poll. */
static void test_listens_later(void **state)
{
	struct daemon d = { .began_us = 1 };
	struct server s;

	(void)state;
	begin(&s);
	log_open(&d.log, false);
	d.log.quiet = true;
	daemon_metrics_again(&d);
	assert_null(d.metrics);			/* off: nothing is asked for */
	assert_true(log_is_new(&d.log.said, "metrics"));
	strcpy(d.config.metrics, s.listen);
	daemon_metrics_again(&d);
	daemon_metrics_again(&d);
	assert_null(d.metrics);
	assert_false(log_is_new(&d.log.said, "metrics"));
	metrics_stop(s.metrics);
	daemon_metrics_again(&d);
	assert_non_null(d.metrics);
	assert_true(metrics_is_local(d.metrics));
	assert_true(log_is_new(&d.log.said, "metrics"));
	metrics_stop(d.metrics);
	log_close(&d.log);
}

static void listen_changes(struct daemon *d, const char *to)
{
	FILE *file = fopen(d->options.config, "w");

	assert_non_null(file);
	fprintf(file, "[history]\nfile =\n[metrics]\nlisten = %s\n", to);
	assert_int_equal(fclose(file), 0);
	daemon_reload(d);
}

static bool is_listened_on(uint16_t port)
{
	const struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port),
					.sin_addr = { htonl(INADDR_LOOPBACK) } };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool is = !connect(fd, (const struct sockaddr *)&to, sizeof(to));

	close(fd);
	return is;
}

/* An address of a reload is asked for again, too; that of before is not listened on meanwhile. */
static void test_reload_listens_later(void **state)
{
	char file[] = "/tmp/test_ctcpd_metrics.XXXXXX";
	struct daemon d = { .began_us = 1, .options.config = file };
	struct said said;
	struct server before, s;

	(void)state;
	close(mkstemp(file));
	config_defaults(&d.config);
	d.config.history[0] = 0;
	log_open(&d.log, false);
	d.keep.log = &d.log;
	begin(&before);
	d.metrics = before.metrics;
	strcpy(d.config.metrics, before.listen);
	begin(&s);
	said_begin(&said);
	listen_changes(&d, s.listen);
	daemon_metrics_again(&d);
	assert_null(d.metrics);
	assert_string_equal(d.config.metrics, s.listen);
	assert_false(is_listened_on(before.port));
	assert_int_equal(said_times(&said, "; it is tried again with each poll"), 1);
	metrics_stop(s.metrics);
	daemon_metrics_again(&d);
	assert_non_null(d.metrics);
	assert_true(is_listened_on(s.port));
	assert_int_equal(said_times(&said, "metrics are on 127.0.0.1:"), 1);
	listen_changes(&d, "nowhere");
	assert_non_null(strstr(d.refused.text, ", line 4: listen: \"nowhere\" is no address"));
	assert_true(is_listened_on(s.port));
	listen_changes(&d, "");
	assert_string_equal(d.refused.text, "");
	assert_null(d.metrics);
	assert_false(is_listened_on(s.port));
	said_end(&said);
	said_close(&said);
	log_close(&d.log);
	unlink(file);
}

/* Of one that is to pace and cannot: what it paced before stays, so that it changes not nothing */
static void test_what_it_does(void **state)
{
	struct fake_act f = { .totals = { .acts = true, .unable = "", .hindered = "" } };
	struct daemon d = { .act = (struct act *)&f };
	struct said said;

	(void)state;
	log_open(&d.log, false);
	said_begin(&said);
	daemon_say_mode(&d);
	assert_true(d.said_acts);
	assert_int_equal(said_times(&said, " paces what is overrun\n"), 1);
	f.totals.acts = false;
	daemon_say_mode(&d);
	assert_false(d.said_acts);
	assert_int_equal(said_times(&said, " observes; it changes nothing\n"), 1);
	f.totals.unable = "it needs CAP_NET_ADMIN";
	daemon_say_mode(&d);
	assert_int_equal(said_times(&said, " observes, as it cannot pace; what is paced stays"), 1);
	assert_int_equal(said_times(&said, "changes nothing"), 1);
	said_end(&said);
	said_close(&said);
	log_close(&d.log);
}

/* How many of @n the server has closed, within 200 ms for each that it has not */
static unsigned int closed_of(const int *fds, unsigned int n)
{
	unsigned int i, closed = 0;
	char byte;

	for (i = 0; i < n; i++) {
		struct pollfd p = { .fd = fds[i], .events = POLLIN };

		closed += poll(&p, 1, 200) == 1 && recv(fds[i], &byte, 1, MSG_DONTWAIT) <= 0;
	}
	return closed;
}

static bool is_answered(const struct server *s)
{
	char buf[4096];

	ask(s, "GET /metrics", buf, sizeof(buf));
	return buf[0];
}

/* Clients that send nothing keep nobody out for longer than their time. */
static void test_idle_clients(void **state)
{
	const time_t end = time(NULL) + 2 * DROPPED_S;
	int idle[12], i;
	struct server s;
	char buf[64];

	(void)state;
	begin(&s);
	set_text(&s, "ctcpd_flows 3\n");
	for (i = 0; i < 7; i++)
		idle[i] = connected(&s);
	send(idle[0], "GET /met", 8, MSG_NOSIGNAL);
	assert_answer(&s, "GET /metrics", "HTTP/1.1 200", "ctcpd_flows 3\n");
	for (; i < 12; i++)
		idle[i] = connected(&s);
	/* of one address there are eight, and no more */
	assert_in_range(closed_of(idle, 12), 4, 8);
	for (i = 0; i < 12; i++) {
		assert_true(read_all(idle[i], buf, sizeof(buf)) >= 0);
		close(idle[i]);
	}
	/* a client sees its end before the server has counted it */
	while (!is_answered(&s) && time(NULL) < end)
		poll(NULL, 0, 10);
	assert_answer(&s, "GET /metrics", "HTTP/1.1 200", "ctcpd_flows 3\n");
	metrics_stop(s.metrics);
}

/* Nor do those that send, or read, a little now and then. */
static void test_dripping_clients(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	const size_t size = 32U << 20;
	const time_t end = time(NULL) + DROPPED_S;
	char *text = malloc(size), buf[1024];
	struct server s;
	int fds[8], i;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	begin(&s);
	metrics_set(s.metrics, text, size);
	for (i = 0; i < 8; i++)
		fds[i] = connected(&s);
	send(fds[7], request, strlen(request), MSG_NOSIGNAL);
	assert_int_equal(recv(fds[7], buf, 12, MSG_WAITALL), 12);
	set_text(&s, "ctcpd_flows 3\n");
	for (i = 0; i < 7; i++)
		send(fds[i], "GET /metrics?", 13, MSG_NOSIGNAL);
	while (!closed_of(fds, 1) && time(NULL) < end) {
		for (i = 0; i < 7; i++)
			send(fds[i], "x", 1, MSG_NOSIGNAL);
		while (recv(fds[7], buf, sizeof(buf), MSG_DONTWAIT) > 0)
			;
	}
	assert_int_equal(closed_of(fds, 7), 7);
	assert_in_range(read_all(fds[7], buf, sizeof(buf)), 0, size / 2);
	while (!is_answered(&s) && time(NULL) < end)
		poll(NULL, 0, 10);
	assert_answer(&s, "GET /metrics", "HTTP/1.1 200", "ctcpd_flows 3\n");
	for (i = 0; i < 8; i++)
		close(fds[i]);
	metrics_stop(s.metrics);
}

/* What one reads slowly stays as it was; others have the new text; and it ends. */
static void test_slow_reader(void **state)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	const size_t size = 32U << 20;
	struct server s;
	char *text = malloc(size), head[512];
	ssize_t n;
	int fd;

	(void)state;
	assert_non_null(text);
	memset(text, 'x', size);
	begin(&s);
	metrics_set(s.metrics, text, size);
	fd = connected(&s);
	send(fd, request, strlen(request), MSG_NOSIGNAL);
	assert_int_equal(recv(fd, head, 12, MSG_WAITALL), 12);
	set_text(&s, "ctcpd_flows 4\n");
	assert_answer(&s, "GET /metrics", "HTTP/1.1 200", "ctcpd_flows 4\n");
	/* the server's end cannot be seen before all that is under way has been read */
	poll(NULL, 0, IDLE_MS);
	n = read_all(fd, head, sizeof(head));
	assert_in_range(n, 0, size - 1);
	close(fd);
	metrics_stop(s.metrics);
}

/* One in the midst of an answer, one that says nothing, one that is waited for by nobody */
static void test_stop(void **state)
{
	struct server s;
	int fd, other;

	(void)state;
	begin(&s);
	set_text(&s, "ctcpd_flows 5\n");
	fd = connected(&s);
	other = connected(&s);
	send(fd, "GET /metrics HTTP/1.1\r\n", 23, MSG_NOSIGNAL);
	metrics_stop(s.metrics);
	close(fd);
	close(other);
	metrics_stop(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_no_remote),
		cmocka_unit_test(test_many_remotes),
		cmocka_unit_test(test_pacing),
		cmocka_unit_test(test_many_paced),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_listen),
		cmocka_unit_test(test_server),
		cmocka_unit_test(test_used_port),
		cmocka_unit_test(test_listens_later),
		cmocka_unit_test(test_reload_listens_later),
		cmocka_unit_test(test_what_it_does),
		cmocka_unit_test(test_idle_clients),
		cmocka_unit_test(test_dripping_clients),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
