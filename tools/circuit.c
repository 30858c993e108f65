// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of a circuit as a person types them, and the checks that need no machine.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "circuit.h"
#include "guarantee.h"
#include "out.h"
#include "text.h"
#include "units.h"
#include "words.h"

static const char * const shaper_names[] = {
	[SHAPER_TBF] = "tbf",
	[SHAPER_FQ] = "fq",
	[SHAPER_HTB] = "htb",
	[SHAPER_NONE] = "none",
	[SHAPER_AUTO] = "auto",
};

/* The kernel's rule, net/core/dev.c: dev_valid_name(). */
bool dev_is_valid(const char *s)
{
	return *s && strlen(s) < IFNAMSIZ && strcmp(s, ".") && strcmp(s, "..") &&
	       !strpbrk(s, "/: \t\n\v\f\r");
}

/* What neither a terminal nor JSON can be given is no name to set up a circuit by. */
int parse_dev(const char *s, char dev[IFNAMSIZ], struct err *e)
{
	if (!dev_is_valid(s))
		return err_set(e, -EINVAL,
			       "\"%s\" is not a device name; 1 to %d characters, no blank, slash or colon",
			       s, IFNAMSIZ - 1);
	if (!text_is_plain(s))
		return err_set(e, -EINVAL,
			       "\"%s\" has control characters or is not UTF-8; give the device another name, ip link set dev OLD name NEW",
			       s);
	memset(dev, 0, IFNAMSIZ);
	memcpy(dev, s, strlen(s));
	return 0;
}

/*
 * The kernel's rule, and two of ours: a name stands on command lines, where it must
 * not look like an option, nor like the address of a peer.
 */
int parse_name(const char *s, char name[TCP_CIRCUIT_NAME_LEN], struct err *e)
{
	struct prefix unused;
	size_t i, n = strlen(s);

	for (i = 0; i < n && s[i] > ' ' && s[i] <= '~'; i++)
		;
	if (!n || n >= TCP_CIRCUIT_NAME_LEN || i < n || *s == '-' || !parse_address(s, &unused))
		return err_set(e, -EINVAL,
			       "\"%s\" is not a name for a circuit; 1 to %d printable characters, no blank, no \"-\" first, not an address",
			       s, TCP_CIRCUIT_NAME_LEN - 1);
	memset(name, 0, TCP_CIRCUIT_NAME_LEN);
	memcpy(name, s, n);
	return 0;
}

int parse_shaper(const char *s, enum shaper *shaper, struct err *e)
{
	int i = word_find(shaper_names, 0, SHAPER_AUTO + 1, s);

	if (i < 0)
		return err_set(e, i, "--shaper: \"%s\" is not one of tbf, fq, htb, none, auto",
			       s);
	*shaper = (enum shaper)i;
	return 0;
}

const char *shaper_name(enum shaper shaper)
{
	return shaper_names[shaper];
}

static unsigned int addr_bits(int family)
{
	return family == AF_INET ? 32 : 128;
}

int parse_address(const char *s, struct prefix *p)
{
	memset(p, 0, sizeof(*p));
	p->family = strchr(s, ':') ? AF_INET6 : AF_INET;
	p->len = addr_bits(p->family);
	return inet_pton(p->family, s, p->addr) == 1 ? 0 : -EINVAL;
}

/* Clears what is behind the prefix length; true if there was something. */
static bool clear_host_bits(struct prefix *p)
{
	unsigned int i = p->len / 8, bytes = addr_bits(p->family) / 8;
	unsigned char behind = (unsigned char)(0xff >> p->len % 8);
	bool any = false;

	for (; i < bytes; i++, behind = 0xff) {
		any |= p->addr[i] & behind;
		p->addr[i] &= (unsigned char)~behind;
	}
	return any;
}

int parse_prefix(const char *s, struct prefix *p, struct err *e)
{
	const char *slash = strchr(s, '/');
	char addr[INET6_ADDRSTRLEN], right[INET6_ADDRSTRLEN + 4];
	size_t n = slash ? (size_t)(slash - s) : strlen(s);
	uint32_t len;

	if (n >= sizeof(addr))
		goto bad;
	memcpy(addr, s, n);
	addr[n] = 0;
	if (parse_address(addr, p))
		goto bad;
	if (!slash)
		return 0;
	if (parse_count("--to", slash + 1, 0, p->len, &len, e))
		goto bad;
	p->len = len;
	if (clear_host_bits(p))
		return err_set(e, -EINVAL,
			       "--to: \"%s\" has bits behind its prefix length; did you mean %s?",
			       s, format_prefix(right, sizeof(right), p));
	return 0;
bad:
	return err_set(e, -EINVAL,
		       "--to: \"%s\" is not a prefix; write e.g. 192.0.2.0/24 or 2001:db8::/32",
		       s);
}

static int add_to(struct circuit *c, const struct prefix *p, struct err *e)
{
	char text[64];
	uint32_t i;

	for (i = 0; i < c->n_to; i++)
		if (prefix_equal(&c->to[i], p))
			return err_set(e, -EINVAL, "--to: %s is given twice; once is enough",
				       format_prefix(text, sizeof(text), p));
	if (c->n_to == TO_MAX)
		return err_set(e, -E2BIG,
			       "--to: %s is one prefix more than a circuit takes here, %d; a shorter prefix that covers several?",
			       format_prefix(text, sizeof(text), p), TO_MAX);
	c->to[c->n_to++] = *p;
	qsort(c->to, c->n_to, sizeof(c->to[0]), prefix_compare);
	return 0;
}

/* PREFIX[,PREFIX...], more of the far side */
int parse_to(const char *s, struct circuit *c, struct err *e)
{
	char *copy, *rest, *one;
	struct prefix p;
	int rc = 0;

	if (!strchr(s, ','))
		return parse_prefix(s, &p, e) ?: add_to(c, &p, e);
	copy = strdup(s);
	rest = copy;
	if (!copy)
		return err_set(e, -ENOMEM, "out of memory");
	while (!rc && (one = strsep(&rest, ",")))
		rc = parse_prefix(one, &p, e) ?: add_to(c, &p, e);
	free(copy);
	return rc;
}

static struct prefix *via_of(struct circuit *c, int family)
{
	return &c->via[family == AF_INET6];
}

/* A gateway of each family at most */
int parse_via(const char *s, struct circuit *c, struct err *e)
{
	struct prefix p, *via;
	char text[64];

	if (parse_address(s, &p))
		return err_set(e, -EINVAL, "--via: \"%s\" is not an address; write e.g. 192.0.2.1",
			       s);
	via = via_of(c, p.family);
	if (via->family)
		return err_set(e, -EINVAL,
			       "--via: \"%s\" is a second gateway of its family, beside %s; one of each is all that it takes",
			       s, format_addr(text, sizeof(text), via));
	*via = p;
	return 0;
}

/* IPv4 first, then by address, of two with one address the shorter. */
int prefix_compare(const void *a, const void *b)
{
	const struct prefix *p = a, *q = b;
	int order = memcmp(p->addr, q->addr, sizeof(p->addr));

	if (p->family != q->family)
		return p->family == AF_INET ? -1 : 1;
	return order ? order : (int)p->len - (int)q->len;
}

bool prefix_equal(const struct prefix *a, const struct prefix *b)
{
	return a->family == b->family && a->len == b->len &&
	       !memcmp(a->addr, b->addr, sizeof(a->addr));
}

/* An address in the middle, which is nobody's own more often than the first one is. */
struct prefix prefix_middle(const struct prefix *p)
{
	struct prefix addr = *p;

	if (p->len < addr_bits(p->family))
		addr.addr[p->len / 8] |= (unsigned char)(0x80 >> p->len % 8);
	return addr;
}

/* Its first @len bits, where it has as many. */
void prefix_cut(struct prefix *p, unsigned int len)
{
	p->len = len;
	clear_host_bits(p);
}

/* False if one of them is none. */
bool prefix_holds(const struct prefix *p, const struct prefix *addr)
{
	struct prefix cut = *addr;

	if (!p->family || p->family != addr->family || addr->len < p->len)
		return false;
	prefix_cut(&cut, p->len);
	return prefix_equal(&cut, p);
}

static void put_addr(struct out *o, const struct prefix *p)
{
	char text[INET6_ADDRSTRLEN] = "none";
	int i;

	for (i = 0; i < 4 && p->family == AF_INET; i++) {
		out_bytes(o, ".", !!i);
		out_number(o, p->addr[i]);
	}
	if (p->family == AF_INET)
		return;
	if (p->family)
		inet_ntop(p->family, p->addr, text, sizeof(text));
	out_text(o, text);
}

char *format_addr(char *buf, size_t len, const struct prefix *p)
{
	struct out o = out_to(buf, len);

	put_addr(&o, p);
	return buf;
}

void prefix_put(struct out *o, const struct prefix *p)
{
	put_addr(o, p);
	if (!p->family)
		return;
	out_bytes(o, "/", 1);
	out_number(o, p->len);
}

char *format_prefix(char *buf, size_t len, const struct prefix *p)
{
	struct out o = out_to(buf, len);

	prefix_put(&o, p);
	return buf;
}

/* All of the far side, with commas between; @len of TO_TEXT is enough. */
char *format_to(char *buf, size_t len, const struct circuit *c)
{
	struct out o = out_to(buf, len);
	uint32_t i;

	if (!c->n_to)
		out_text(&o, "none");
	for (i = 0; i < c->n_to; i++) {
		out_bytes(&o, ",", !!i);
		prefix_put(&o, &c->to[i]);
	}
	return buf;
}

/* The gateway to this part of the far side; its family is 0 if none was given. */
const struct prefix *circuit_via(const struct circuit *c, const struct prefix *to)
{
	return &c->via[to->family == AF_INET6];
}

/* IPv6 where all of the far side is: its headers are longer. */
int circuit_family(const struct circuit *c)
{
	return c->n_to && c->to[0].family == AF_INET6 ? AF_INET6 : AF_INET;
}

/* In the kernel. */
const char *circuit_name(const struct circuit *c)
{
	return c->name[0] ? c->name : c->dev;
}

/* Its shaper leaves room for other circuits on the device. */
bool circuit_shares(const struct circuit *c)
{
	return c->shaper == SHAPER_NONE || c->shaper == SHAPER_HTB;
}

/* A gateway leads to prefixes of its own family. */
static int check_via(const struct circuit *c, struct err *e)
{
	char text[64];
	uint32_t i, k;

	for (i = 0; i < 2; i++) {
		const struct prefix *via = &c->via[i];

		for (k = 0; k < c->n_to && c->to[k].family != via->family; k++)
			;
		if (!via->family || k < c->n_to)
			continue;
		format_addr(text, sizeof(text), via);
		if (!c->n_to)
			return err_set(e, -EINVAL,
				       "--via needs --to: %s is a gateway towards which prefix?",
				       text);
		return err_set(e, -EINVAL,
			       "--via: %s is a gateway, but no prefix of --to is of its family",
			       text);
	}
	return 0;
}

/* What each has and needs. */
static int check_shaper(const struct circuit *c, struct err *e)
{
	const char *name = shaper_name(c->shaper);

	/* once more when it is chosen */
	if (c->shaper == SHAPER_AUTO)
		return 0;
	if (c->burst && c->shaper != SHAPER_TBF && c->shaper != SHAPER_HTB)
		return err_set(e, -EINVAL,
			       "--burst is the bucket of tbf or htb; --shaper %s has none", name);
	if (c->rest && c->shaper != SHAPER_HTB)
		return err_set(e, -EINVAL,
			       "--rest is for what is in no class of htb; --shaper %s has no classes",
			       name);
	if (c->shaper == SHAPER_HTB && !c->n_to)
		return err_set(e, -EINVAL,
			       "--shaper htb needs --to: by its prefix traffic finds the class");
	if (c->limit && c->shaper == SHAPER_NONE)
		return err_set(e, -EINVAL,
			       "--limit is room in a queue; --shaper none has no queue");
	return 0;
}

/* What the options say about each other.  The parsers checked each alone. */
int circuit_check(const struct circuit *c, struct err *e)
{
	char name[TCP_CIRCUIT_NAME_LEN];

	if (!c->rate)
		return err_set(e, -EINVAL,
			       "--rate is missing; what does the circuit carry, e.g. --rate 4gbit?");
	if (!c->rtt_us)
		return err_set(e, -EINVAL,
			       "--rtt is missing; what is the round trip at no load, e.g. --rtt 26ms?");
	if (!c->dev[0])
		return err_set(e, -EINVAL,
			       "which device? e.g. ctcp-setup --rate 4gbit --rtt 26ms eth1");
	if (!c->name[0] && parse_name(c->dev, name, e))
		return err_set(e, -EINVAL,
			       "the name of device \"%s\" cannot be that of its circuit; --name gives it another",
			       c->dev);
	if (check_via(c, e) || guarantee_check(c, e))
		return -EINVAL;
	return check_shaper(c, e);
}
