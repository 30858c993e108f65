// SPDX-License-Identifier: GPL-2.0
/*
 * A circuit as text, as words of a command line, and as a message: see object.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/genetlink.h>
#include <stdlib.h>
#include <string.h>

#include "grow.h"
#include "link.h"
#include "live.h"
#include "object.h"
#include "out.h"
#include "print.h"
#include "text.h"
#include "units.h"
#include "words.h"

void object_free(struct object *o)
{
	free(o->prefixes);
	o->prefixes = NULL;
	o->n = 0;
}

int object_add_prefix(struct object *o, const struct prefix *p)
{
	struct prefix *more = grown(o->prefixes, o->n, sizeof(*more));

	if (!more)
		return -ENOMEM;
	o->prefixes = more;
	more[o->n++] = *p;
	return 0;
}

/* The order in which they are written, whatever order they were said in. */
void object_sort(struct object *o)
{
	if (o->n)
		qsort(o->prefixes, o->n, sizeof(*o->prefixes), prefix_compare);
}

/* --- text ------------------------------------------------------------------ */

/* -E2BIG: it has more prefixes than an item holds. */
int object_format(const struct object *o, char value[ITEM_VALUE])
{
	struct out out = out_to(value, ITEM_VALUE);
	uint32_t i;

	out_pair(&out, "window=", o->window);
	out_pair_unless_0(&out, " rate=", o->rate);
	out_text(&out, " prefixes=");
	for (i = 0; i < o->n; i++) {
		out_bytes(&out, ",", !!i);
		prefix_put(&out, &o->prefixes[i]);
	}
	if (o->dev[0]) {
		out_text(&out, " dev=");
		out_text(&out, o->dev);
	}
	out_pair_unless_0(&out, " mark=", o->mark);
	out_pair_unless_0(&out, " flags=", o->flags);
	return out_fits(&out) ? 0 : -E2BIG;
}

static int parse_prefixes(char *list, struct object *o)
{
	struct prefix p;
	struct err e;
	char *one;

	while ((one = strsep(&list, ",")))
		if (parse_prefix(one, &p, &e) || object_add_prefix(o, &p))
			return -EBADMSG;
	return 0;
}

/* Takes what it knows; object_parse() compares the whole afterwards. */
static int parse_pair(char *pair, struct object *o)
{
	char *key = strsep(&pair, "=");

	if (!pair)
		return -EBADMSG;
	if (!strcmp(key, "window"))
		o->window = (uint32_t)strtoul(pair, NULL, 10);
	else if (!strcmp(key, "rate"))
		o->rate = strtoull(pair, NULL, 10);
	else if (!strcmp(key, "prefixes"))
		return parse_prefixes(pair, o);
	else if (!strcmp(key, "dev"))
		snprintf(o->dev, sizeof(o->dev), "%s", pair);
	else if (!strcmp(key, "mark"))
		o->mark = (uint32_t)strtoul(pair, NULL, 10);
	else if (!strcmp(key, "flags"))
		o->flags = (uint32_t)strtoul(pair, NULL, 10);
	return 0;
}

/* A strict inverse; what "absent" is, the caller has seen to.  @o has no name. */
int object_parse(const char *value, struct object *o)
{
	char copy[ITEM_VALUE], again[ITEM_VALUE], *rest = copy, *pair;
	int rc = 0;

	memset(o, 0, sizeof(*o));
	snprintf(copy, sizeof(copy), "%s", value);
	while (!rc && (pair = strsep(&rest, " ")))
		rc = parse_pair(pair, o);
	object_sort(o);
	if (!rc && (!o->n || object_format(o, again) || strcmp(again, value)))
		rc = -EBADMSG;
	if (rc)
		object_free(o);
	return rc;
}

/*
 * Ours, even where its device has gone meanwhile and with it the device's name; or,
 * if nothing has that name any more (@dev_gone), where it was given another.
 */
bool object_is(const char *now, const char *ours, bool dev_gone)
{
	char as_ours[ITEM_VALUE];
	struct object a, b;
	bool is;

	if (!strcmp(now, ours))
		return true;
	if (object_parse(now, &a))
		return false;
	if (object_parse(ours, &b)) {
		object_free(&a);
		return false;
	}
	if (b.dev[0] && (a.dev[0] == '#' || (dev_gone && a.dev[0])))
		memcpy(a.dev, b.dev, sizeof(a.dev));
	is = !object_format(&a, as_ours) && !strcmp(as_ours, ours);
	object_free(&a);
	object_free(&b);
	return is;
}

/* --- words ----------------------------------------------------------------- */

/* What the parser of an option said of a word that is none. */
static int said_of(const char *word, int rc, struct err *e)
{
	char why[sizeof(e->text)];
	const char *colon = strstr(e->text, ": ");

	if (!rc || strncmp(e->text, "--", 2) || !colon)
		return rc;
	snprintf(why, sizeof(why), "%s", colon);
	return err_set(e, rc, "%s%s", word, why);
}

static int add_prefix_word(const char *value, struct object *o, struct err *e)
{
	struct prefix p;
	int rc = said_of("prefix", parse_prefix(value, &p, e), e);

	if (rc)
		return rc;
	if (o->n == TCP_CIRCUIT_PREFIXES_MAX)
		return err_set(e, -E2BIG,
			       "prefix: \"%s\" is one more than the %d that a circuit may have",
			       value, TCP_CIRCUIT_PREFIXES_MAX);
	return object_add_prefix(o, &p) ? err_set(e, -ENOMEM, "out of memory") : 0;
}

/* @key: one that takes_value() */
static int parse_word(const char *key, const char *value, struct object *o, struct err *e)
{
	if (!strcmp(key, "prefix"))
		return add_prefix_word(value, o, e);
	if (!strcmp(key, "window"))
		return parse_count(key, value, 1, TCP_CIRCUIT_WINDOW_LIMIT, &o->window, e);
	if (!strcmp(key, "rate"))
		return said_of(key, parse_rate(value, &o->rate, e), e);
	if (!strcmp(key, "mark"))
		return parse_count(key, value, 1, UINT32_MAX, &o->mark, e);
	return parse_dev(value, o->dev, e);
}

static const struct {
	const char *word;
	uint32_t flag;
} flag_words[] = {
	{ "early-window", TCP_CIRCUIT_F_EARLY_WINDOW },
	{ "unpaced", TCP_CIRCUIT_F_UNPACED },
};

/* 0: none of them. */
static uint32_t flag_of(const char *word)
{
	size_t i;

	for (i = 0; i < sizeof(flag_words) / sizeof(flag_words[0]); i++)
		if (!strcmp(flag_words[i].word, word))
			return flag_words[i].flag;
	return 0;
}

static bool takes_value(const char *key)
{
	static const char * const keys[] = { "prefix", "window", "rate", "dev", "mark" };

	return word_find(keys, 0, sizeof(keys) / sizeof(keys[0]), key) >= 0;
}

static bool has_value(const struct object *o, const char *key)
{
	return (!strcmp(key, "window") && o->window) || (!strcmp(key, "rate") && o->rate) ||
	       (!strcmp(key, "dev") && o->dev[0]) || (!strcmp(key, "mark") && o->mark);
}

/* NAME prefix P... window N [rate R [unpaced]] [dev D] [mark M] [early-window] */
int object_from_words(int n, char **words, struct object *o, struct err *e)
{
	int i, rc;

	rc = parse_name(words[0], o->name, e);
	for (i = 1; i < n && !rc; i++) {
		const char *key = words[i];

		if (flag_of(key)) {
			o->flags |= flag_of(key);
			continue;
		}
		if (has_value(o, key))
			return err_set(e, -EINVAL, "%s is given twice, again as \"%s\"", key,
				       i + 1 < n ? words[i + 1] : "");
		if (!takes_value(key))
			return err_set(e, -EINVAL,
				       "\"%s\" is not one of prefix, window, rate, unpaced, dev, mark, early-window",
				       key);
		if (i + 1 == n)
			return err_set(e, -EINVAL, "\"%s\" needs a value behind it", key);
		rc = parse_word(key, words[++i], o, e);
	}
	if (!rc && !o->n)
		rc = err_set(e, -EINVAL,
			     "circuit %s needs a prefix, e.g. prefix 192.0.2.0/24; prefix 0.0.0.0/0 is all of IPv4",
			     o->name);
	if (!rc && !o->window)
		rc = err_set(e, -EINVAL,
			     "circuit %s needs a window, e.g. window 1000 segments", o->name);
	object_sort(o);
	return rc;
}

/* Their words, each with a blank before it. */
void object_print_flags(FILE *out, const struct object *o)
{
	size_t i;

	for (i = 0; i < sizeof(flag_words) / sizeof(flag_words[0]); i++)
		if (o->flags & flag_words[i].flag)
			fprintf(out, " %s", flag_words[i].word);
}

/* The words that object_from_words() takes, for a shell. */
void object_print_words(FILE *out, const struct object *o)
{
	char text[WORD(TCP_CIRCUIT_NAME_LEN)], dev[IFNAMSIZ];
	size_t i;

	fprintf(out, "%s", shell_word(text, sizeof(text), o->name));
	for (i = 0; i < o->n; i++)
		fprintf(out, " prefix %s", format_prefix(text, sizeof(text), &o->prefixes[i]));
	fprintf(out, " window %u", o->window);
	if (o->rate)
		fprintf(out, " rate %s", tc_rate(text, sizeof(text), o->rate));
	if (o->dev[0])
		fprintf(out, " dev %s",
			shell_word(text, sizeof(text), text_copy(dev, sizeof(dev), o->dev)));
	if (o->mark)
		fprintf(out, " mark %u", o->mark);
	object_print_flags(out, o);
}

/* --- messages -------------------------------------------------------------- */

static int attr_prefix(const struct nlattr *nest, struct object *o)
{
	const struct nlattr *attr;
	struct prefix p = { 0 };
	uint16_t bytes = 0;
	int len = -1;

	mnl_attr_for_each_nested(attr, nest) {
		uint16_t n = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) == TCP_CIRCUIT_PREFIX_A_LEN && n == 1) {
			len = mnl_attr_get_u8(attr);
		} else if (mnl_attr_get_type(attr) == TCP_CIRCUIT_PREFIX_A_ADDRESS &&
			   (n == 4 || n == 16)) {
			bytes = n;
			memcpy(p.addr, mnl_attr_get_payload(attr), n);
		}
	}
	if (!bytes || len < 0 || len > 8 * bytes)
		return -EBADMSG;
	p.family = bytes == 4 ? AF_INET : AF_INET6;
	p.len = (unsigned int)len;
	return object_add_prefix(o, &p);
}

/* The module's rule: printable, no blank (uapi/linux/tcp_circuit.h). */
static int attr_name(const struct nlattr *attr, struct object *o)
{
	const char *s;

	if (mnl_attr_validate(attr, MNL_TYPE_NUL_STRING) ||
	    mnl_attr_get_payload_len(attr) > sizeof(o->name))
		return -EBADMSG;
	for (s = mnl_attr_get_str(attr); *s; s++)
		if (*s <= ' ' || *s > '~')
			return -EBADMSG;
	strcpy(o->name, mnl_attr_get_str(attr));
	return 0;
}

static int attr_u32(const struct nlattr *attr, uint32_t *out)
{
	if (mnl_attr_validate(attr, MNL_TYPE_U32))
		return -EBADMSG;
	*out = mnl_attr_get_u32(attr);
	return 0;
}

static int attr_dev(const struct nlattr *attr, struct object *o)
{
	uint32_t index;
	int rc = attr_u32(attr, &index);

	if (!rc && index && !if_indextoname(index, o->dev))
		snprintf(o->dev, sizeof(o->dev), "#%u", index);
	return rc;
}

/* One attribute of a circuit; those of other things are passed over. */
int object_attr(const struct nlattr *attr, struct object *o)
{
	switch (mnl_attr_get_type(attr)) {
	case TCP_CIRCUIT_A_NAME:
		return attr_name(attr, o);
	case TCP_CIRCUIT_A_PREFIX:
		return attr_prefix(attr, o);
	case TCP_CIRCUIT_A_WINDOW:
		return attr_u32(attr, &o->window);
	case TCP_CIRCUIT_A_RATE:
		if (mnl_attr_validate(attr, MNL_TYPE_U64))
			return -EBADMSG;
		o->rate = mnl_attr_get_u64(attr);
		return 0;
	case TCP_CIRCUIT_A_IFINDEX:
		return attr_dev(attr, o);
	case TCP_CIRCUIT_A_MARK:
		return attr_u32(attr, &o->mark);
	case TCP_CIRCUIT_A_FLAGS:
		return attr_u32(attr, &o->flags);
	default:
		return 0;
	}
}

static void put_prefix(struct nlmsghdr *nlh, const struct prefix *p)
{
	struct nlattr *nest = mnl_attr_nest_start(nlh, TCP_CIRCUIT_A_PREFIX);

	mnl_attr_put(nlh, TCP_CIRCUIT_PREFIX_A_ADDRESS, p->family == AF_INET ? 4 : 16, p->addr);
	mnl_attr_put_u8(nlh, TCP_CIRCUIT_PREFIX_A_LEN, (uint8_t)p->len);
	mnl_attr_nest_end(nlh, nest);
}

int object_put(struct nlmsghdr *nlh, const struct object *o, struct err *e)
{
	int index = o->dev[0] ? link_index(o->dev) : 0;
	uint32_t i;

	if (o->dev[0] && !index)
		return err_set(e, -ENODEV, "there is no device %s", o->dev);
	mnl_attr_put_strz(nlh, TCP_CIRCUIT_A_NAME, o->name);
	for (i = 0; i < o->n; i++)
		put_prefix(nlh, &o->prefixes[i]);
	mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_WINDOW, o->window);
	if (o->rate)
		mnl_attr_put_u64(nlh, TCP_CIRCUIT_A_RATE, o->rate);
	if (index)
		mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_IFINDEX, (uint32_t)index);
	if (o->mark)
		mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_MARK, o->mark);
	if (o->flags)
		mnl_attr_put_u32(nlh, TCP_CIRCUIT_A_FLAGS, o->flags);
	return 0;
}

/* --- the kernel ------------------------------------------------------------ */

static int on_object(const struct nlmsghdr *nlh, void *data)
{
	const struct nlattr *attr;
	int rc;

	mnl_attr_for_each(attr, nlh, sizeof(struct genlmsghdr)) {
		rc = object_attr(attr, data);
		if (rc) {
			errno = -rc;
			return MNL_CB_ERROR;
		}
	}
	return MNL_CB_OK;
}

/* -ENOENT: there is none of this name; -EPROTONOSUPPORT: there is no family. */
static int get_object(struct genl *g, struct nlmsghdr *nlh, struct object *o, struct err *e)
{
	int rc = nlm_get(&g->nl, nlh, on_object, o, e);

	object_sort(o);
	if (rc)
		object_free(o);
	return rc;
}

int object_get(struct genl *g, const char *name, struct object *o, struct err *e)
{
	union genl_request req = { 0 };
	struct nlmsghdr *nlh;
	int rc;

	memset(o, 0, sizeof(*o));
	rc = genl_resolve(g, e);
	if (rc)
		return rc;
	nlh = genl_message(g, &req, TCP_CIRCUIT_CMD_GET);
	mnl_attr_put_strz(nlh, TCP_CIRCUIT_A_NAME, name);
	return get_object(g, nlh, o, e);
}

static bool has_prefix(const struct object *o, const struct prefix *p)
{
	uint32_t i;

	for (i = 0; i < o->n; i++)
		if (prefix_equal(&o->prefixes[i], p))
			return true;
	return false;
}

/*
 * The circuit of any device and mark that has this very prefix.  -ENOENT: there is none,
 * or a longer prefix has the address that is asked for.
 */
int object_of_prefix(struct genl *g, const struct prefix *p, struct object *o, struct err *e)
{
	union genl_request req = { 0 };
	struct nlmsghdr *nlh;
	int rc;

	memset(o, 0, sizeof(*o));
	rc = genl_resolve(g, e);
	if (rc)
		return rc;
	nlh = genl_message(g, &req, TCP_CIRCUIT_CMD_GET);
	mnl_attr_put(nlh, TCP_CIRCUIT_A_ADDRESS, p->family == AF_INET ? 4 : 16, p->addr);
	rc = get_object(g, nlh, o, e);
	if (!rc && (!o->name[0] || !has_prefix(o, p))) {
		object_free(o);
		rc = -ENOENT;
	}
	return rc;
}

/* The kernel says that a prefix is another circuit's, and not which. */
static void say_whose_prefix(const struct object *o, struct err *why)
{
	const struct prefix *p = NULL;
	const struct live *other;
	struct lives ls;
	struct err unused = { "" };
	char text[64], said[sizeof(why->text)];

	if (!lives_read(&ls, &unused))
		p = lives_clash(&ls, o, &other);
	if (p) {
		snprintf(said, sizeof(said), "%s", why->text);
		err_set(why, -EEXIST, "%s: %s is that of %s", said,
			format_prefix(text, sizeof(text), p), other->object.name);
	}
	lives_free(&ls);
}

/* Created, or replaced: which of the two is right, the caller knows. */
int object_set(struct genl *g, const struct object *o, struct err *e)
{
	union genl_request req = { 0 };
	struct nlmsghdr *nlh;
	struct err why;
	int rc;

	rc = genl_resolve(g, e);
	if (rc)
		return rc;
	nlh = genl_message(g, &req, TCP_CIRCUIT_CMD_NEW);
	nlh->nlmsg_flags = NLM_F_CREATE;
	rc = object_put(nlh, o, e);
	if (rc)
		return rc;
	rc = nlm_talk(&g->nl, nlh, &why);
	if (rc == -EEXIST)
		say_whose_prefix(o, &why);
	return rc ? err_set(e, rc, "the kernel refuses circuit %s: %s", o->name, why.text) : 0;
}

int object_del(struct genl *g, const char *name, struct err *e)
{
	union genl_request req = { 0 };
	struct nlmsghdr *nlh;
	struct err why;
	int rc;

	rc = genl_resolve(g, e);
	if (rc)
		return rc;
	nlh = genl_message(g, &req, TCP_CIRCUIT_CMD_DEL);
	mnl_attr_put_strz(nlh, TCP_CIRCUIT_A_NAME, name);
	rc = nlm_talk(&g->nl, nlh, &why);
	return rc ? err_set(e, rc, "the kernel does not remove circuit %s: %s", name,
			    why.text) : 0;
}
