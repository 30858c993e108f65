// SPDX-License-Identifier: GPL-2.0
/*
 * The plan for a person, as shell commands, and as JSON.
 *
 * JSON is in base units: bit/s, bytes, us, segments.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "guarantee.h"
#include "htb.h"
#include "object.h"
#include "print.h"
#include "qdisc.h"
#include "rough.h"
#include "text.h"
#include "units.h"

#define MORE_NOTES "and %u more such notes"

void print_notes(FILE *out, const struct notes *notes)
{
	unsigned int i;

	for (i = 0; i < notes->n; i++)
		fprintf(out, "note: %s\n", notes->text[i]);
	if (notes->more)
		fprintf(out, "note: " MORE_NOTES "\n", notes->more);
}

void print_bytes(FILE *out, uint64_t bytes, const char *tail)
{
	char text[ROUGH_TEXT];

	fputs(rough_bytes(text, sizeof(text), bytes, tail), out);
}

static void print_shaper(FILE *out, const struct circuit *c, const struct plan *p)
{
	char rate[32];

	if (c->shaper == SHAPER_NONE) {
		fprintf(out, "  shaper   none: %s\n",
			c->pace ? "only pacing holds the rate" :
			circuit_is_htcp(c) ? "something else must hold the rate" :
			"something else must hold the rate; with --pace the module does");
	} else if (c->shaper == SHAPER_HTB) {
		fprintf(out,
			"  shaper   htb class of rate %s burst %" PRIu64
			" quantum %u limit %" PRIu64 " bytes\n",
			format_rate(rate, sizeof(rate), c->rate), p->burst, p->quantum, p->limit);
	} else if (c->shaper == SHAPER_TBF) {
		fprintf(out, "  shaper   tbf rate %s burst %" PRIu64 " limit %" PRIu64 " bytes\n",
			format_rate(rate, sizeof(rate), c->rate), p->burst, p->limit);
	} else {
		fprintf(out, "  shaper   fq, each stream %s, %u packets each, %u in all\n",
			p->maxrate == FQ_NO_MAXRATE ? "as paced" :
			format_rate(rate, sizeof(rate), p->maxrate), p->flow_packets,
			p->packets);
	}
	if (c->pace)
		fprintf(out, "  pace     %s for all streams together\n",
			format_rate(rate, sizeof(rate), c->rate));
	if (c->early_window)
		fprintf(out, "  early    a client's window is opened right behind the SYN-ACK\n");
}

static void print_buffers(FILE *out, const struct circuit *c, const struct plan *p)
{
	char loss[32];

	fprintf(out, "  buffers  %u bytes at most, each socket each way", p->buffer);
	if (c->loss)
		fprintf(out, ", room for %u round%s of repair at a loss of %s", p->rounds,
			p->rounds > 1 ? "s" : "", format_loss(loss, sizeof(loss), c->loss));
	fprintf(out, "\n");
}

/* What the daemon paces is no circuit: its traffic has a window of its own. */
static void print_paced_head(FILE *out, const struct circuit *c)
{
	char rate[32], rtt[32], to[TO_TEXT], dev[IFNAMSIZ];

	fprintf(out, "%s: %s, paced by ctcpd at %s (", text_copy(dev, sizeof(dev), c->dev),
		c->name, format_rate(rate, sizeof(rate), c->rate));
	print_bytes(out, c->rate, "/s) ");
	fprintf(out, "and %s to %s\n", format_time(rtt, sizeof(rtt), c->rtt_us),
		format_to(to, sizeof(to), c));
}

void print_head(FILE *out, const struct circuit *c)
{
	char rate[32], rtt[32], to[TO_TEXT], dev[IFNAMSIZ];
	const char *name = circuit_name(c);

	if (c->ctcpd) {
		print_paced_head(out, c);
		return;
	}
	fprintf(out, "%s: circuit ", text_copy(dev, sizeof(dev), c->dev));
	if (strcmp(name, c->dev))
		fprintf(out, "%s ", name);
	fprintf(out, "of %s (", format_rate(rate, sizeof(rate), c->rate));
	print_bytes(out, c->rate, "/s) ");
	fprintf(out, "and %s", format_time(rtt, sizeof(rtt), c->rtt_us));
	if (c->n_to)
		fprintf(out, " to %s", format_to(to, sizeof(to), c));
	fprintf(out, "\n");
}

/* Said where the path is not what circuit is made for. */
static void print_algorithm(FILE *out, const struct circuit *c)
{
	if (c->guarantee != GUARANTEE_FULL)
		fprintf(out, "  congctl  %s: %s (Alali 2016, 3.5.3)\n", circuit_algorithm(c),
			circuit_algorithm_why(c));
}

void print_plan(FILE *out, const struct circuit *c, const struct plan *p)
{
	if (c->ctcpd) {
		print_shaper(out, c, p);
		return;
	}
	print_algorithm(out, c);
	fprintf(out, "  window   %s%u segments, %" PRIu64 " bytes as %u on the wire",
		circuit_is_htcp(c) ? "its own; there is room for " : "", p->fcwnd,
		(uint64_t)p->fcwnd * p->wire, p->wire);
	if (c->streams > 1)
		fprintf(out, "; %u for each of %u streams that all send", p->share,
			c->streams);
	fprintf(out, "\n");
	print_shaper(out, c, p);
	print_buffers(out, c, p);
}

/* Why which shaper: as a line of the plan, or as a comment among commands */
void print_chosen(FILE *out, const struct notes *chosen, bool comment)
{
	unsigned int i;

	for (i = 0; i < chosen->n; i++)
		fprintf(out, "%s%s\n", comment ? "# shaper of " : "  chosen   ", chosen->text[i]);
}

/* net.ipv4.tcp_rmem "4096 131072 6291456": its third number alone differs */
static bool only_max_differs(const char *a, const char *b)
{
	const char *ea = strrchr(a, ' '), *eb = strrchr(b, ' ');

	return ea && eb && ea - a == eb - b && !strncmp(a, b, (size_t)(ea - a));
}

/* What is, and behind @word what is instead of it */
static const char *is_text(const struct change *c, const char *word, char *buf, size_t len)
{
	char from[ITEM_TEXT], to[ITEM_TEXT];

	item_describe(c->kind, c->name, c->from, from, sizeof(from));
	item_describe(c->kind, c->name, c->to, to, sizeof(to));
	if (c->kind == ITEM_SYSCTL && only_max_differs(from, to))
		snprintf(buf, len, "%s max is %s, %s %s", c->name, strrchr(from, ' ') + 1, word,
			 strrchr(to, ' ') + 1);
	else
		snprintf(buf, len, "%s %s is %s, %s %s", item_kind_name(c->kind), c->name, from,
			 word, to);
	text_clean(buf);
	return buf;
}

/* What a change to come says of the kernel: what is, and what was planned */
const char *drift_text(const struct change *c, char *buf, size_t len)
{
	return is_text(c, "plan wants", buf, len);
}

/* The same of what no circuit wants any more */
const char *leftover_text(const struct change *c, char *buf, size_t len)
{
	return is_text(c, "before it was", buf, len);
}

/* @made: and not what would be */
void print_changes(FILE *out, const struct diff *ch, bool made)
{
	char from[ITEM_TEXT], to[ITEM_TEXT], name[ITEM_NAME];
	uint32_t i;

	if (!ch->n)
		fprintf(out, "  nothing to change\n");
	for (i = 0; i < ch->n; i++) {
		const struct change *c = &ch->list[i];

		fprintf(out, "  %s %s %s: %s -> %s\n", i ? "       " : made ? "changed" : "differs",
			item_kind_name(c->kind), text_copy(name, sizeof(name), c->name),
			item_describe(c->kind, c->name, c->from, from, sizeof(from)),
			item_describe(c->kind, c->name, c->to, to, sizeof(to)));
	}
}

/* A word as a shell takes it; @len of four times its length and three is enough. */
const char *shell_word(char *buf, size_t len, const char *word)
{
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:@%+,-";
	size_t used = 0;

	if (*word && !word[strspn(word, plain)]) {
		snprintf(buf, len, "%s", word);
		return buf;
	}
	used += (size_t)snprintf(buf, len, "'");
	for (; *word && used < len; word++)
		used += (size_t)snprintf(buf + used, len - used, *word == '\'' ? "'\\''" : "%c",
					 *word);
	if (used < len)
		snprintf(buf + used, len - used, "'");
	return buf;
}

/* A rate that tc's floating point reads back exactly: no point in it. */
const char *tc_rate(char *buf, size_t len, uint64_t rate)
{
	format_rate(buf, len, rate);
	if (strchr(buf, '.'))
		snprintf(buf, len, "%" PRIu64 "bit", rate * 8);
	return buf;
}

static void fq_arguments(const struct qdisc *q, char *buf, size_t len)
{
	char rate[32];

	snprintf(buf, len, "fq limit %u flow_limit %u maxrate %s", q->limit, q->flow_limit,
		 tc_rate(rate, sizeof(rate), q->maxrate));
}

static int mq_commands(const struct qdisc *q, const char *dev, char *buf, size_t len)
{
	char fq[96];
	uint32_t i;
	int used;

	fq_arguments(q, fq, sizeof(fq));
	used = snprintf(buf, len, "tc qdisc replace dev %s root handle %x: mq\n", dev, OUR_MAJOR);
	for (i = 1; i <= q->queues && (size_t)used < len; i++)
		used += snprintf(buf + used, len - (size_t)used,
				 "tc qdisc replace dev %s parent %x:%x handle %x: %s\n", dev,
				 OUR_MAJOR, i, OUR_MAJOR + i, fq);
	return (size_t)used < len ? 0 : -E2BIG;
}

/* Of htb what is there already is as it should be, or was taken away by the line before. */
static bool same_kind(const struct change *c)
{
	size_t n = strcspn(c->to, " ");

	return (!strncmp(c->from, c->to, n + 1) && strncmp(c->to, "htb", n)) ||
	       !strcmp(c->from, "default");
}

/* A txqueuelen and a qdisc are of the circuit's device: @dev, for a shell. */
static int qdisc_commands(const struct change *c, const char *dev, char *buf, size_t len)
{
	struct qdisc q;
	char text[96];
	int used = 0;

	if (qdisc_parse(c->to, &q))
		return -EINVAL;
	if (!same_kind(c) || q.state == QDISC_DEFAULT)
		used = snprintf(buf, len, "tc qdisc del dev %s root\n", dev);
	if (q.state == QDISC_DEFAULT)
		return 0;
	if (q.state == QDISC_MQ)
		return mq_commands(&q, dev, buf + used, len - (size_t)used);
	if (q.state == QDISC_HTB) {
		snprintf(buf + used, len - (size_t)used,
			 "tc qdisc replace dev %s root handle %x: htb default %x\n", dev, OUR_MAJOR,
			 q.defcls);
		return 0;
	}
	if (q.state == QDISC_FQ) {
		fq_arguments(&q, text, sizeof(text));
		snprintf(buf + used, len - (size_t)used,
			 "tc qdisc replace dev %s root handle %x: %s\n", dev, OUR_MAJOR, text);
		return 0;
	}
	snprintf(buf + used, len - (size_t)used,
		 "tc qdisc replace dev %s root handle %x: tbf rate %s burst %ub limit %ub\n",
		 dev, OUR_MAJOR, tc_rate(text, sizeof(text), q.rate), q.burst, q.limit);
	return 0;
}

static int route_commands(const struct change *c, const char *dev, char *buf, size_t len)
{
	char text[512];
	struct route r, from;
	int partial;

	if (route_from_text(c->to, &r) || route_from_text(c->from, &from))
		return -EINVAL;
	if (!r.len) {
		route_selector(&from, dev, text, sizeof(text));
		snprintf(buf, len, "ip route del %s %s\n", c->name, text);
		return 0;
	}
	partial = route_command(&r, dev, text, sizeof(text));
	snprintf(buf, len, "%sip route replace %s\n",
		 partial ? "# the route has more attributes than ip takes as arguments\n" : "",
		 text);
	return 0;
}

static int class_commands(const struct change *c, const char *dev, char *buf, size_t len)
{
	struct htb_class class;
	char rate[32], id[CLASS_NAME];
	uint32_t minor;
	int used;

	if (class_minor(c->name, &minor) || class_parse(c->to, &class))
		return -EINVAL;
	snprintf(id, sizeof(id), "%x:%x", OUR_MAJOR, minor);
	if (class.state == CLASS_ABSENT) {
		snprintf(buf, len, "tc class del dev %s classid %s\n", dev, id);
		return 0;
	}
	tc_rate(rate, sizeof(rate), class.rate);
	used = snprintf(buf, len,
			"tc class replace dev %s parent %x: classid %s htb rate %s ceil %s burst %ub cburst %ub quantum %u\n",
			dev, OUR_MAJOR, id, rate, rate, class.burst, class.burst, class.quantum);
	if (class.limit)
		snprintf(buf + used, len - (size_t)used,
			 "tc qdisc replace dev %s parent %s handle %x: bfifo limit %u\n", dev, id,
			 class_leaf_handle(minor) >> 16, class.limit);
	return 0;
}

/* One of the two; a prefix of length 0 is all that the protocol has. */
static void print_filter(FILE *out, const char *dev, const struct prefix *to, bool tagged,
			 const struct filter *f)
{
	const char *protocol = to->family == AF_INET ? "ip" : "ipv6";
	char text[64];

	fprintf(out, "tc filter %s dev %s parent %x: protocol %s pref %u handle 0x%x flower",
		f->state == FILTER_ABSENT ? "del" : "replace", dev, OUR_MAJOR,
		tagged ? "802.1Q" : protocol, filter_prio(to, tagged), filter_handle(to, 0));
	if (f->state == FILTER_OURS) {
		if (tagged)
			fprintf(out, " vlan_ethtype %s", protocol);
		if (to->len)
			fprintf(out, " dst_ip %s", format_prefix(text, sizeof(text), to));
		fprintf(out, " classid %x:%x", OUR_MAJOR, f->minor);
	}
	fprintf(out, "\n");
}

static int filter_commands(const struct change *c, const char *dev, char *buf, size_t len)
{
	struct prefix to;
	struct filter f;
	struct err unused = { "" };
	FILE *out;

	if (parse_prefix(strchr(c->name, ' ') + 1, &to, &unused) || filter_parse(c->to, &f))
		return -EINVAL;
	out = fmemopen(buf, len, "w");
	if (!out)
		return -ENOMEM;
	print_filter(out, dev, &to, f.state == FILTER_ABSENT, &f);
	print_filter(out, dev, &to, f.state != FILTER_ABSENT, &f);
	fclose(out);
	return 0;
}

/* Of which there is no standard command: ours. */
static int circuit_commands(const struct change *c, char *buf, size_t len)
{
	char name[WORD(TCP_CIRCUIT_NAME_LEN)];
	struct object o;
	FILE *out;

	if (!strcmp(c->to, "absent")) {
		snprintf(buf, len, "ctcp-setup circuit del %s\n",
			 shell_word(name, sizeof(name), c->name));
		return 0;
	}
	if (object_parse(c->to, &o))
		return -EINVAL;
	snprintf(o.name, sizeof(o.name), "%.31s", c->name);
	out = fmemopen(buf, len, "w");
	if (out) {
		fprintf(out, "ctcp-setup circuit set ");
		object_print_words(out, &o);
		fprintf(out, "\n");
		fclose(out);
	}
	object_free(&o);
	return out ? 0 : -ENOMEM;
}

/* The shell lines that do what one change does. */
int change_commands(const struct change *c, const char *device, char *buf, size_t len)
{
	char dev[WORD(IFNAMSIZ)], name[IFNAMSIZ];

	shell_word(dev, sizeof(dev), text_copy(name, sizeof(name), device));
	switch (c->kind) {
	case ITEM_MODULE:
		snprintf(buf, len, "modprobe %s%s\n", strcmp(c->to, "absent") ? "" : "-r ",
			 c->name);
		return 0;
	case ITEM_SYSCTL:
		snprintf(buf, len, "sysctl -w %s='%s'\n", c->name, c->to);
		return 0;
	case ITEM_TXQLEN:
		snprintf(buf, len, "ip link set dev %s txqueuelen %s\n", dev, c->to);
		return 0;
	case ITEM_QDISC:
		return qdisc_commands(c, dev, buf, len);
	case ITEM_ROUTE:
		return route_commands(c, dev, buf, len);
	case ITEM_CIRCUIT:
		return circuit_commands(c, buf, len);
	case ITEM_CLASS:
		return class_commands(c, dev, buf, len);
	case ITEM_FILTER:
		return filter_commands(c, dev, buf, len);
	default:
		return -EINVAL;
	}
}

/* The name of the device, for one that is gone its number. */
static const char *change_device(const struct change *c, char dev[IFNAMSIZ])
{
	if (c->kind == ITEM_QDISC || c->kind == ITEM_TXQLEN)
		return c->name;
	if (!c->ifindex || !if_indextoname((unsigned int)c->ifindex, dev))
		snprintf(dev, IFNAMSIZ, "#%d", c->ifindex);
	return dev;
}

int print_commands(FILE *out, const struct diff *ch, struct err *e)
{
	char dev[IFNAMSIZ];
	/* an mq of the kernel's 4096 queues, each a line of 205 bytes at most */
	static char lines[1 << 20];
	uint32_t i;

	if (!ch->n)
		fprintf(out, "# nothing to change\n");
	for (i = 0; i < ch->n; i++) {
		const struct change *one = &ch->list[i];
		int rc = change_commands(one, change_device(one, dev), lines, sizeof(lines));

		if (rc)
			return err_set(e, rc, "cannot write %s %s as a command: %s",
				       item_kind_name(one->kind), one->name, strerror(-rc));
		fputs(lines, out);
	}
	return 0;
}

/* As print_commands(), each line one of @list */
int json_commands(json_t *list, const struct diff *ch, struct err *e)
{
	char *text = NULL, *line, *save;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	int rc;

	if (!out)
		return err_set(e, -ENOMEM, "cannot print: out of memory");
	rc = print_commands(out, ch, e);
	fclose(out);
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		json_array_append_new(list, json_string(line));
	free(text);
	return rc;
}

json_t *json_to(const struct circuit *c)
{
	json_t *list = json_array();
	char to[64];
	uint32_t i;

	for (i = 0; i < c->n_to; i++)
		json_array_append_new(list, json_string(format_prefix(to, sizeof(to), &c->to[i])));
	return list;
}

/* Also to what list tells of a circuit */
void json_algorithm(json_t *root, const struct circuit *c)
{
	json_object_set_new(root, "guarantee", json_string(guarantee_name(c->guarantee)));
	json_object_set_new(root, "prefer", c->prefer == PREFER_UNSAID ? json_null() :
			    json_string(prefer_name(c->prefer)));
	json_object_set_new(root, "congctl", json_string(circuit_algorithm(c)));
	json_object_set_new(root, "congctl_why", json_string(circuit_algorithm_why(c)));
}

static json_t *json_paced(const struct circuit *c, const struct plan *p)
{
	return json_pack("{s:s, s:o, s:s, s:o, s:I, s:I, s:s, s:I, s:I, s:I, s:I}",
			 "owner", "ctcpd", "dev", json_plain(c->dev), "name", circuit_name(c),
			 "to", json_to(c), "rate_bit_s", (json_int_t)(c->rate * 8),
			 "rtt_us", (json_int_t)c->rtt_us, "shaper", shaper_name(c->shaper),
			 "wire_bytes", (json_int_t)p->wire, "limit_bytes", (json_int_t)p->limit,
			 "burst_bytes", (json_int_t)p->burst,
			 "quantum_bytes", (json_int_t)p->quantum);
}

json_t *json_plan(const struct circuit *c, const struct plan *p)
{
	json_t *root;

	if (c->ctcpd)
		return json_paced(c, p);
	root = json_pack("{s:o,s:I,s:I,s:f,s:i,s:I,s:I,s:I,s:I,s:I,s:s,s:f,s:i,s:I,s:[I,I,I],s:b,s:b}",
			 "dev", json_plain(c->dev), "rate_bit_s", (json_int_t)(c->rate * 8),
			 "rtt_us", (json_int_t)c->rtt_us, "multiple", c->multiple / 1000.0,
			 "streams", (int)c->streams, "mss", (json_int_t)p->mss,
			 "wire_bytes", (json_int_t)p->wire,
			 "fcwnd_segments", (json_int_t)p->fcwnd,
			 "share_segments", (json_int_t)p->share,
			 "limit_bytes", (json_int_t)p->limit, "shaper", shaper_name(c->shaper),
			 "loss", c->loss / 1e9, "repair_rounds", (int)p->rounds,
			 "buffer_bytes", (json_int_t)p->buffer,
			 "tcp_mem_pages", (json_int_t)p->tcp_mem[0], (json_int_t)p->tcp_mem[1],
			 (json_int_t)p->tcp_mem[2], "default_cc", c->default_cc,
			 "early_window", c->early_window);
	if (c->pace)
		json_object_set_new(root, "pace_bit_s", json_integer((json_int_t)c->rate * 8));
	if (c->shaper == SHAPER_HTB)
		json_object_set_new(root, "quantum_bytes", json_integer(p->quantum));
	if (c->shaper == SHAPER_TBF || c->shaper == SHAPER_HTB)
		json_object_set_new(root, "burst_bytes", json_integer((json_int_t)p->burst));
	if (c->shaper == SHAPER_FQ) {
		json_object_set_new(root, "stream_rate_bit_s",
				    p->maxrate == FQ_NO_MAXRATE ? json_null() :
				    json_integer((json_int_t)p->maxrate * 8));
		json_object_set_new(root, "limit_packets", json_integer(p->packets));
		json_object_set_new(root, "flow_limit_packets", json_integer(p->flow_packets));
	}
	if (c->n_to)
		json_object_set_new(root, "to", json_to(c));
	json_object_set_new(root, "name", json_string(circuit_name(c)));
	json_algorithm(root, c);
	return root;
}

json_t *json_changes(const struct diff *ch)
{
	json_t *list = json_array(), *one;
	char from[ITEM_TEXT], to[ITEM_TEXT];
	uint32_t i;

	for (i = 0; i < ch->n; i++) {
		const struct change *c = &ch->list[i];

		item_describe(c->kind, c->name, c->from, from, sizeof(from));
		item_describe(c->kind, c->name, c->to, to, sizeof(to));
		one = json_pack("{s:s, s:o, s:s, s:s}", "kind", item_kind_name(c->kind),
				"name", json_plain(c->name), "from", from, "to", to);
		json_array_append_new(list, one);
	}
	return list;
}

json_t *json_notes(const struct notes *notes)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; i < notes->n; i++)
		json_array_append_new(list, json_string(notes->text[i]));
	if (notes->more)
		json_array_append_new(list, json_sprintf(MORE_NOTES, notes->more));
	return list;
}
