// SPDX-License-Identifier: GPL-2.0
/*
 * circuit_stacks: circuit under what else is done to TCP sockets
 *
 * Runs as root in a namespace with a loopback device, circuit loaded and its
 * default, the namespace's fcwnd at WINDOW, tcp_fastopen at 519 (both ends, no
 * cookie), no circuit configured.  Each point says what holds: the window, the
 * data, the circuit that the sockets to a peer share, as netlink shows it.  TAP on
 * stdout.  A feature that this kernel lacks has a line "# absent: ..." instead of
 * points.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/tls.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "nl.h"
#include "sock.h"
#include "tap.h"

#define WINDOW		60U
#define BYTES		(1 << 20)

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif
#ifndef SOL_MPTCP
#define SOL_MPTCP	284
#endif
#define MPTCP_INFO	1

static struct nl nl;

static void __attribute__((format(printf, 3, 4)))
point(bool good, const char *what, const char *format, ...)
{
	char seen[200], line[300];
	va_list args;

	va_start(args, format);
	vsnprintf(seen, sizeof(seen), format, args);
	va_end(args);
	snprintf(line, sizeof(line), "%s: %s", what, seen);
	tap_point(good ? line : what, good ? "" : seen);
}

static void absent(const char *what)
{
	printf("# absent: %s: %s\n", what, strerror(errno));
	fflush(stdout);
}

/* --- sockets ----------------------------------------------------------------- */

struct pair {
	int	listener, client, server;
	struct sockaddr_in6	to;	/* or a sockaddr_in */
	socklen_t	len;
};

static struct tcp_circuit_info info_of(int fd)
{
	struct tcp_circuit_info info;

	if (!get_circuit_info(fd, &info))
		info.tci_source = errno + 1000;
	return info;
}

static int ask(int fd, int option, uint32_t value)
{
	return setsockopt(fd, SOL_TCP_CIRCUIT, option, &value, sizeof(value)) ?
		errno : 0;
}

/* A listener on any port, and a client that is not connected yet */
static bool prepare(struct pair *p, int family, const char *host, int protocol)
{
	socklen_t len = sizeof(p->to);
	int one = 1;

	p->listener = socket(family, SOCK_STREAM, protocol);
	if (p->listener < 0)
		return false;
	p->client = socket(family, SOCK_STREAM, protocol);
	p->server = -1;
	p->len = socket_address(host, 0, &p->to);
	if (setsockopt(p->listener, SOL_SOCKET, SO_REUSEADDR, &one,
		       sizeof(one)) ||
	    bind(p->listener, (void *)&p->to, p->len) ||
	    listen(p->listener, 8) ||
	    getsockname(p->listener, (void *)&p->to, &len))
		tap_bail("listen");
	return true;
}

static void connect_pair(struct pair *p)
{
	if (connect(p->client, (void *)&p->to, p->len))
		tap_bail("connect");
	p->server = accept(p->listener, NULL, NULL);
	if (p->server < 0)
		tap_bail("accept");
}

static void connected(struct pair *p)
{
	if (!prepare(p, AF_INET, "127.0.0.1", 0))
		tap_bail("socket");
	connect_pair(p);
}

/* --- circuits ---------------------------------------------------------------- */

static void talk(const struct nl_message *m, nl_handler handler, void *arg)
{
	int err = nl_talk(&nl, m, handler, arg);

	errno = -err;
	if (err)
		tap_bail(*nl.text ? nl.text : "netlink");
}

static void dump(nl_handler handler, void *arg)
{
	static struct nl_message m;

	nl_begin(&nl, &m, TCP_CIRCUIT_CMD_GET, NLM_F_DUMP);
	talk(&m, handler, arg);
}

static int count_circuit(const struct nlmsghdr *answer, void *arg)
{
	int *count = arg;

	*count += !!nl_find(answer, TCP_CIRCUIT_A_ID);
	return 0;
}

static int circuits(void)
{
	int count = 0;

	dump(count_circuit, &count);
	return count;
}

struct peer {
	struct in_addr	address;
	int		sockets;
};

static int count_sockets(const struct nlmsghdr *answer, void *arg)
{
	const struct nlattr *prefix = nl_find(answer, TCP_CIRCUIT_A_PREFIX);
	const struct nlattr *a = prefix ?
		nl_find_in(prefix, TCP_CIRCUIT_PREFIX_A_ADDRESS) : NULL;
	struct peer *peer = arg;

	if (a && nl_len(a) == sizeof(peer->address) &&
	    !memcmp(nl_data(a), &peer->address, sizeof(peer->address)))
		peer->sockets += nl_number_of(answer, TCP_CIRCUIT_A_SOCKETS);
	return 0;
}

/* How many sockets share the circuit of this IPv4 peer */
static int sockets_to(const char *host)
{
	struct peer peer = { 0 };

	inet_pton(AF_INET, host, &peer.address);
	dump(count_sockets, &peer);
	return peer.sockets;
}

/* A circuit of all IPv4 addresses of the loopback device, with a pace */
static void new_object(uint32_t window, uint64_t rate)
{
	static struct nl_message m;

	nl_begin(&nl, &m, TCP_CIRCUIT_CMD_NEW, NLM_F_CREATE | NLM_F_EXCL);
	nl_put_string(&m, TCP_CIRCUIT_A_NAME, "loopback");
	nl_put_prefix_text(&m, "127.0.0.0/8");
	nl_put_u32(&m, TCP_CIRCUIT_A_WINDOW, window);
	nl_put_u64(&m, TCP_CIRCUIT_A_RATE, rate);
	talk(&m, NULL, NULL);
}

static void del_object(void)
{
	static struct nl_message m;

	nl_begin(&nl, &m, TCP_CIRCUIT_CMD_DEL, 0);
	nl_put_string(&m, TCP_CIRCUIT_A_NAME, "loopback");
	talk(&m, NULL, NULL);
}

/* --- what holds -------------------------------------------------------------- */

/* Close the pair: once what was in flight has arrived, its circuit is gone. */
static void finish(struct pair *p, const char *what)
{
	int left = 0;

	close(p->client);
	if (p->server >= 0)
		close(p->server);
	if (p->listener >= 0)
		close(p->listener);
	for (int tries = 0; tries < 1000; tries++) {
		left = circuits();
		if (!left)
			break;
		usleep(10000);
	}
	point(!left, what, "closed: %d circuits left (expected 0)", left);
}

static unsigned char byte_at(size_t i)
{
	return (i * 2654435761U) >> 24;
}

/* Carry BYTES from one socket to the other: how many arrived with the right value */
static size_t carry(int from, int to)
{
	static unsigned char out[BYTES], in[BYTES];
	struct pollfd pfd[2] = { { .fd = from, .events = POLLOUT },
				 { .fd = to, .events = POLLIN } };
	size_t sent = 0, got = 0, same = 0;

	for (size_t i = 0; i < BYTES; i++)
		out[i] = byte_at(i);
	while (got < BYTES && poll(pfd, 2, 20000) > 0) {
		ssize_t n = 0;

		if (sent < BYTES)
			n = send(from, out + sent, BYTES - sent, MSG_DONTWAIT);
		if (n > 0)
			sent += n;
		if (sent == BYTES)
			pfd[0].fd = -1;
		n = recv(to, in + got, BYTES - got, MSG_DONTWAIT);
		if (n > 0)
			got += n;
		else if (!n || (errno != EAGAIN && errno != EINTR))
			break;
	}
	for (size_t i = 0; i < got; i++)
		same += in[i] == byte_at(i);
	return same;
}

static void data(int from, int to, const char *what)
{
	size_t same = carry(from, to);

	point(same == BYTES, what, "%zu bytes as sent (expected %d)", same,
	      BYTES);
}

static void window(int fd, const char *what, uint32_t fcwnd, uint32_t source,
		   uint32_t snd_cwnd)
{
	struct tcp_circuit_info i = info_of(fd);

	point(i.tci_fcwnd == fcwnd && i.tci_source == source &&
	      tcp_info_of(fd).tcpi_snd_cwnd == snd_cwnd, what,
	      "fcwnd %u from %u, snd_cwnd %u (expected %u from %u, %u)",
	      i.tci_fcwnd, i.tci_source, tcp_info_of(fd).tcpi_snd_cwnd, fcwnd,
	      source, snd_cwnd);
}

/* What each stack must leave alone: the window given, one asked for, the data */
static void all_of_it(struct pair *p, const char *what)
{
	data(p->client, p->server, what);
	window(p->client, what, WINDOW, TCP_CIRCUIT_SOURCE_NETNS, WINDOW / 2);
	point(!ask(p->client, TCP_CIRCUIT_FCWND, 17), what, "FCWND is taken");
	window(p->client, what, 17, TCP_CIRCUIT_SOURCE_SOCKET, 17);
	data(p->client, p->server, what);
	data(p->server, p->client, what);
}

/* --- kTLS -------------------------------------------------------------------- */

static bool use_tls(int fd)
{
	return !setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls"));
}

static void tls_key(int fd, int direction)
{
	struct tls12_crypto_info_aes_gcm_128 key = {
		.info = { .version = TLS_1_2_VERSION,
			  .cipher_type = TLS_CIPHER_AES_GCM_128 },
		.iv = "12345678", .key = "0123456789abcdef",
		.salt = "abcd", .rec_seq = "00000000",
	};

	if (setsockopt(fd, SOL_TLS, direction, &key, sizeof(key)))
		tap_bail("a TLS key");
}

static void tls(bool circuit_first)
{
	const char *what = circuit_first ? "circuit, then kTLS"
					 : "kTLS, then circuit";
	struct pair p;

	connected(&p);
	set_algorithm(p.client, circuit_first ? "circuit" : "reno");
	set_algorithm(p.server, circuit_first ? "circuit" : "reno");
	if (!use_tls(p.client) || !use_tls(p.server)) {
		absent("kTLS");
		finish(&p, "kTLS that is not there");
		return;
	}
	set_algorithm(p.client, "circuit");
	set_algorithm(p.server, "circuit");
	tls_key(p.client, TLS_TX);
	tls_key(p.server, TLS_RX);
	tls_key(p.server, TLS_TX);
	tls_key(p.client, TLS_RX);
	all_of_it(&p, what);
	finish(&p, what);
}

/* --- MPTCP ------------------------------------------------------------------- */

static void mptcp_options(int fd)
{
	struct tcp_circuit_info info;
	uint32_t fcwnd = 17;
	socklen_t len = sizeof(info);
	int set_err, get_err;

	set_err = setsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_FCWND, &fcwnd,
			     sizeof(fcwnd)) ? errno : 0;
	get_err = getsockopt(fd, SOL_TCP_CIRCUIT, TCP_CIRCUIT_INFO, &info,
			     &len) ? errno : 0;
	point((set_err == EOPNOTSUPP || set_err == ENOPROTOOPT) &&
	      get_err == EOPNOTSUPP, "MPTCP: options",
	      "set: %s, get: %s (expected not supported by protocol or kernel)",
	      strerror(set_err), strerror(get_err));
}

static void mptcp(const char *algorithm, int sockets)
{
	char what[64], raw[512];
	socklen_t len = sizeof(raw);
	struct pair p;

	snprintf(what, sizeof(what), "MPTCP, %s", algorithm ?: "by default");
	if (!prepare(&p, AF_INET, "127.0.0.1", IPPROTO_MPTCP)) {
		absent("MPTCP");
		return;
	}
	if (algorithm && setsockopt(p.client, IPPROTO_TCP, TCP_CONGESTION,
				    algorithm, strlen(algorithm)))
		absent("TCP_CONGESTION on MPTCP");
	connect_pair(&p);
	point(!getsockopt(p.client, SOL_MPTCP, MPTCP_INFO, raw, &len) ||
	      errno != EOPNOTSUPP, what, "it is MPTCP, not TCP in its place");
	mptcp_options(p.client);
	data(p.client, p.server, what);
	data(p.server, p.client, what);
	point(sockets_to("127.0.0.1") == sockets, what,
	      "%d subflows run circuit (expected %d)", sockets_to("127.0.0.1"),
	      sockets);
	finish(&p, what);
}

static int send_buffer(int fd)
{
	int bytes = 0;
	socklen_t len = sizeof(bytes);

	if (getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, &len))
		tap_bail("SO_SNDBUF");
	return bytes;
}

/*
 * A connection that is there takes circuit: the subflow's send buffer opens for the
 * window, and that of the whole connection, which writers wait for, has to follow.
 */
static void mptcp_room(void)
{
	const char *what = "MPTCP, circuit taken after accept()";
	struct pair p;
	int before, after;

	if (!prepare(&p, AF_INET, "127.0.0.1", IPPROTO_MPTCP)) {
		absent("MPTCP");
		return;
	}
	if (setsockopt(p.listener, IPPROTO_TCP, TCP_CONGESTION, "reno", 4)) {
		absent("TCP_CONGESTION on MPTCP");
		finish(&p, what);
		return;
	}
	connect_pair(&p);
	data(p.client, p.server, what);
	before = send_buffer(p.server);
	if (setsockopt(p.server, IPPROTO_TCP, TCP_CONGESTION, "circuit", 7))
		tap_bail("TCP_CONGESTION");
	after = send_buffer(p.server);
	point(after > before, what,
	      "send buffer %d B (expected more than the %d B before)", after,
	      before);
	finish(&p, what);
}

/* --- sockmap ------------------------------------------------------------------ */

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int new_sockmap(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_SOCKMAP,
				.key_size = 4, .value_size = 4,
				.max_entries = 1 };

	return bpf(BPF_MAP_CREATE, &attr);
}

/* A map without a program: it replaces the socket's operations all the same */
static void sockmap(void)
{
	uint32_t key = 0, fd;
	union bpf_attr attr = { .key = (uintptr_t)&key, .value = (uintptr_t)&fd };
	int map = new_sockmap();
	struct pair p;

	if (map < 0) {
		absent("sockmap");
		return;
	}
	connected(&p);
	fd = p.client;
	attr.map_fd = map;
	if (bpf(BPF_MAP_UPDATE_ELEM, &attr)) {
		absent("a socket in a sockmap");
	} else {
		all_of_it(&p, "in a sockmap");
		attr.value = 0;
		if (bpf(BPF_MAP_DELETE_ELEM, &attr))
			tap_bail("BPF_MAP_DELETE_ELEM");
		data(p.client, p.server, "out of the sockmap");
	}
	finish(&p, "a sockmap's socket");
	close(map);
}

/* --- opening otherwise -------------------------------------------------------- */

static void fast_open(void)
{
	char text[16] = "";
	struct pair p;
	ssize_t got;
	int queue = 8;

	prepare(&p, AF_INET, "127.0.0.1", 0);
	if (setsockopt(p.listener, IPPROTO_TCP, TCP_FASTOPEN, &queue,
		       sizeof(queue)))
		tap_bail("TCP_FASTOPEN");
	if (sendto(p.client, "with the SYN", 12, MSG_FASTOPEN, (void *)&p.to,
		   p.len) != 12)
		tap_bail("MSG_FASTOPEN");
	p.server = accept(p.listener, NULL, NULL);
	got = recv(p.server, text, sizeof(text) - 1, 0);
	point(got == 12 && !strcmp(text, "with the SYN"), "TFO",
	      "%zd bytes '%s' (expected 12)", got, text);
	point(tcp_info_of(p.client).tcpi_options & TCPI_OPT_SYN_DATA, "TFO",
	      "options 0x%x (expected 0x%x in them: data went with the SYN)",
	      tcp_info_of(p.client).tcpi_options, TCPI_OPT_SYN_DATA);
	window(p.server, "TFO: server", WINDOW, TCP_CIRCUIT_SOURCE_NETNS,
	       WINDOW / 2);
	all_of_it(&p, "TFO");
	finish(&p, "TFO");
}

static void write_sysctl(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		tap_bail(path);
	close(fd);
}

static void cookies(void)
{
	struct pair p;

	write_sysctl("/proc/sys/net/ipv4/tcp_syncookies", "2");
	prepare(&p, AF_INET, "127.0.0.1", 0);
	ask(p.listener, TCP_CIRCUIT_FCWND, 41);
	connect_pair(&p);
	window(p.server, "a child by syncookie inherits", 41,
	       TCP_CIRCUIT_SOURCE_SOCKET, 41);
	all_of_it(&p, "syncookies");
	finish(&p, "syncookies");
	write_sysctl("/proc/sys/net/ipv4/tcp_syncookies", "1");
}

#define LISTENERS	4
#define CHILDREN	16

/*
 * The index of the listener that has a connection to accept.  connect() returns at the
 * SYN-ACK: ksoftirqd may process the ACK that makes the child later.
 */
static int listener_with_child(const struct pair p[LISTENERS])
{
	struct pollfd fds[LISTENERS];

	for (int i = 0; i < LISTENERS; i++) {
		fds[i].fd = p[i].listener;
		fds[i].events = POLLIN;
	}
	errno = ETIMEDOUT;
	if (poll(fds, LISTENERS, 10000) < 1)
		tap_bail("a child of a listener");
	for (int i = 0; i < LISTENERS; i++)
		if (fds[i].revents)
			return i;
	return 0;
}

static void listen_together(struct pair p[LISTENERS])
{
	int one = 1;

	for (int i = 0; i < LISTENERS; i++) {
		p[i].listener = socket(AF_INET, SOCK_STREAM, 0);
		setsockopt(p[i].listener, SOL_SOCKET, SO_REUSEPORT, &one,
			   sizeof(one));
		p[i].len = socket_address("127.0.0.1", htons(5123), &p[i].to);
		if (bind(p[i].listener, (void *)&p[i].to, p[i].len) ||
		    listen(p[i].listener, 32))
			tap_bail("SO_REUSEPORT");
		ask(p[i].listener, TCP_CIRCUIT_FCWND, 20 + i);
	}
}

/* Each child has the window of the listener that accepts it. */
static void reuseport(void)
{
	struct pair p[LISTENERS];
	int right = 0;

	memset(p, 0, sizeof(p));
	listen_together(p);
	for (int n = 0; n < CHILDREN; n++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0), child, i;

		if (connect(fd, (void *)&p[0].to, p[0].len))
			tap_bail("connect");
		i = listener_with_child(p);
		child = accept(p[i].listener, NULL, NULL);
		if (child < 0)
			tap_bail("accept");
		right += info_of(child).tci_fcwnd == 20U + i;
		close(fd);
		close(child);
	}
	point(right == CHILDREN, "SO_REUSEPORT",
	      "%d children with their listener's window (expected %d)", right,
	      CHILDREN);
	for (int i = 1; i < LISTENERS; i++)
		close(p[i].listener);
	p[0].client = socket(AF_INET, SOCK_STREAM, 0);
	p[0].server = -1;
	finish(&p[0], "SO_REUSEPORT");
}

/* --- becoming another -------------------------------------------------------- */

static void disconnect(void)
{
	struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	struct pair p;

	prepare(&p, AF_INET, "0.0.0.0", 0);
	socket_address("127.0.0.1", p.to.sin6_port, &p.to);
	connect_pair(&p);
	close(p.server);
	if (connect(p.client, &nowhere, sizeof(nowhere)))
		tap_bail("AF_UNSPEC");
	point(!sockets_to("127.0.0.1"), "disconnected",
	      "%d sockets in its circuit (expected 0)", sockets_to("127.0.0.1"));
	socket_address("127.0.0.2", p.to.sin6_port, &p.to);
	connect_pair(&p);
	point(sockets_to("127.0.0.2") == 1, "connected to another peer",
	      "%d sockets in that one's circuit (expected 1)",
	      sockets_to("127.0.0.2"));
	window(p.client, "connected to another peer", WINDOW,
	       TCP_CIRCUIT_SOURCE_NETNS, WINDOW);
	data(p.client, p.server, "connected to another peer");
	finish(&p, "connected to another peer");
}

static void address_form(void)
{
	int v4 = AF_INET, family = 0;
	socklen_t len = sizeof(family);
	struct pair p;

	prepare(&p, AF_INET6, "::ffff:127.0.0.1", 0);
	connect_pair(&p);
	if (setsockopt(p.client, IPPROTO_IPV6, IPV6_ADDRFORM, &v4, sizeof(v4)))
		tap_bail("IPV6_ADDRFORM");
	getsockopt(p.client, SOL_SOCKET, SO_DOMAIN, &family, &len);
	point(family == AF_INET, "IPV6_ADDRFORM", "domain %d (expected %d)",
	      family, AF_INET);
	point(info_of(p.client).tci_sockets == 2, "IPV6_ADDRFORM",
	      "%u sockets in the circuit (expected 2)",
	      info_of(p.client).tci_sockets);
	set_algorithm(p.client, "reno");
	point(info_of(p.server).tci_sockets == 1, "IPV6_ADDRFORM, left",
	      "%u sockets in the circuit (expected 1)",
	      info_of(p.server).tci_sockets);
	set_algorithm(p.client, "circuit");
	point(info_of(p.client).tci_sockets == 2, "IPV6_ADDRFORM, left and back",
	      "%u sockets in the circuit (expected 2)",
	      info_of(p.client).tci_sockets);
	all_of_it(&p, "IPV6_ADDRFORM");
	finish(&p, "IPV6_ADDRFORM");
}

static void repair_set(int fd, int option, int value)
{
	if (setsockopt(fd, IPPROTO_TCP, option, &value, sizeof(value)))
		tap_bail("TCP_REPAIR");
}

static unsigned int queue_seq(int fd, int queue)
{
	unsigned int seq;
	socklen_t len = sizeof(seq);

	repair_set(fd, TCP_REPAIR_QUEUE, queue);
	if (getsockopt(fd, IPPROTO_TCP, TCP_QUEUE_SEQ, &seq, &len))
		tap_bail("TCP_QUEUE_SEQ");
	return seq;
}

/* As a checkpoint does, continue the client's end in another socket. */
static void repair(void)
{
	struct tcp_repair_window win;
	struct sockaddr_in own;
	socklen_t own_len = sizeof(own), win_len = sizeof(win);
	unsigned int send_seq, recv_seq;
	struct pair p;

	connected(&p);
	if (getsockname(p.client, (void *)&own, &own_len))
		tap_bail("getsockname");
	repair_set(p.client, TCP_REPAIR, 1);
	send_seq = queue_seq(p.client, TCP_SEND_QUEUE);
	recv_seq = queue_seq(p.client, TCP_RECV_QUEUE);
	if (getsockopt(p.client, IPPROTO_TCP, TCP_REPAIR_WINDOW, &win, &win_len))
		tap_bail("TCP_REPAIR_WINDOW");
	close(p.client);
	p.client = socket(AF_INET, SOCK_STREAM, 0);
	repair_set(p.client, TCP_REPAIR, 1);
	repair_set(p.client, TCP_REPAIR_QUEUE, TCP_SEND_QUEUE);
	repair_set(p.client, TCP_QUEUE_SEQ, send_seq);
	repair_set(p.client, TCP_REPAIR_QUEUE, TCP_RECV_QUEUE);
	repair_set(p.client, TCP_QUEUE_SEQ, recv_seq);
	if (bind(p.client, (void *)&own, own_len) ||
	    connect(p.client, (void *)&p.to, p.len) ||
	    setsockopt(p.client, IPPROTO_TCP, TCP_REPAIR_WINDOW, &win, win_len))
		tap_bail("a repaired connection");
	repair_set(p.client, TCP_REPAIR, 0);
	all_of_it(&p, "TCP_REPAIR");
	finish(&p, "TCP_REPAIR");
}

/* --- closing and pausing ------------------------------------------------------ */

static void unread(void)
{
	char text[100] = "";
	struct pair p;

	connected(&p);
	if (send(p.client, text, sizeof(text), 0) != sizeof(text))
		tap_bail("send");
	close(p.server);
	p.server = -1;
	point(send(p.client, text, 1, MSG_NOSIGNAL) < 0 && errno == ECONNRESET,
	      "closed with unread data", "%s (expected ECONNRESET)",
	      strerror(errno));
	finish(&p, "closed with unread data");
}

/* setsockopt() accepts a pace of 0. */
static void zero_pace(void)
{
	const char *what = "a circuit's rate, and SO_MAX_PACING_RATE 0";
	unsigned long pace = 0;
	struct pair p;

	new_object(WINDOW, 1000000);
	connected(&p);
	if (setsockopt(p.client, SOL_SOCKET, SO_MAX_PACING_RATE, &pace,
		       sizeof(pace)))
		tap_bail("SO_MAX_PACING_RATE");
	if (send(p.client, "x", 1, 0) != 1)
		tap_bail("send");
	point(true, what, "the kernel is still there");
	pace = ~0UL;
	setsockopt(p.client, SOL_SOCKET, SO_MAX_PACING_RATE, &pace, sizeof(pace));
	del_object();
	point(recv(p.server, &pace, sizeof(pace), 0) == 1, what,
	      "the byte arrives");
	data(p.client, p.server, "paced no more");
	finish(&p, "SO_MAX_PACING_RATE");
}

/* From now on all of this process' allocations that cannot wait fail, or none does. */
static void memory_fails(bool fails)
{
	int fd = open("/proc/self/make-it-fail", O_WRONLY);

	if (fd < 0 || write(fd, fails ? "1" : "0", 1) != 1)
		tap_bail("make-it-fail");
	close(fd);
}

/*
 * A socket without memory for its circuit does not use the circuit's window, and tries
 * to join again at each look.
 */
static void no_memory(void)
{
	const char *what = "no memory for a circuit";
	struct pair p;

	if (!getenv("FAILSLAB")) {
		errno = ENOENT;
		absent("allocations that fail when asked to");
		return;
	}
	connected(&p);
	set_algorithm(p.client, "reno");
	set_algorithm(p.server, "reno");	/* no socket is left in the circuit */
	memory_fails(true);
	set_algorithm(p.client, "circuit");
	point(!info_of(p.client).tci_sockets, what,
	      "%u sockets in it (expected 0)", info_of(p.client).tci_sockets);
	point(tcp_info_of(p.client).tcpi_snd_cwnd <= 10, what,
	      "snd_cwnd %u (expected at most TCP's ten)",
	      tcp_info_of(p.client).tcpi_snd_cwnd);
	memory_fails(false);
	data(p.client, p.server, what);
	set_algorithm(p.client, "reno");
	set_algorithm(p.client, "circuit");
	set_algorithm(p.server, "circuit");
	all_of_it(&p, "memory again");
	finish(&p, what);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	if (nl_open(&nl, TCP_CIRCUIT_GENL_NAME))
		tap_bail("the family tcp_circuit");
	tls(true);
	tls(false);
	mptcp("circuit", 2);
	mptcp("reno", 1);
	mptcp(NULL, 2);
	mptcp_room();
	sockmap();
	fast_open();
	cookies();
	reuseport();
	disconnect();
	address_form();
	repair();
	unread();
	zero_pace();
	no_memory();
	return tap_finish();
}
