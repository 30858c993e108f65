// SPDX-License-Identifier: GPL-2.0
/*
 * Plan -> wants: which item carries which number, in the order in which they
 * are set.  Room first, then the shaper, then the circuit with its window, and
 * last what leads traffic to it, so that nothing is ever sent that nothing holds.  Of a
 * path that gets H-TCP (guarantee.h) the module, which does not run there, and the circuit
 * in it are no part.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "guarantee.h"
#include "htb.h"
#include "object.h"
#include "out.h"
#include "qdisc.h"
#include "wants.h"

#define BREAKER_DEFAULT "100"	/* thousandths, the module's own */
#define TXQLEN_DEFAULT "1000"	/* DEFAULT_TX_QUEUE_LEN */

static struct want *add_want(struct wants *w, enum item_kind kind, const char *name,
			     enum rule rule)
{
	struct want *want = &w->list[w->n++];

	want->kind = kind;
	want->rule = rule;
	want->optional = false;
	want->ifindex = 0;
	want->value[0] = 0;
	want->route = NULL;
	out_copy(want->name, sizeof(want->name), name);
	return want;
}

static void want_text(struct wants *w, enum item_kind kind, const char *name,
		      enum rule rule, const char *value)
{
	struct want *want = add_want(w, kind, name, rule);

	out_copy(want->value, sizeof(want->value), value);
}

static void want_buffers(struct wants *w, const struct plan *p)
{
	static const char * const names[] = {
		"net.core.rmem_max", "net.core.wmem_max",
		"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
	};
	struct want *want;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		want = add_want(w, ITEM_SYSCTL, names[i], RULE_AT_LEAST);
		want->optional = i < 2;
		snprintf(want->value, sizeof(want->value), "%s%u", i < 2 ? "" : "0 0 ",
			 p->buffer);
	}
	want = add_want(w, ITEM_SYSCTL, "net.ipv4.tcp_mem", RULE_AT_LEAST);
	want->optional = true;
	snprintf(want->value, sizeof(want->value), "%" PRIu64 " %" PRIu64 " %" PRIu64,
		 p->tcp_mem[0], p->tcp_mem[1], p->tcp_mem[2]);
}

/*
 * On a device that has no queue by default a txqueuelen of 0 becomes 1000 as
 * soon as it gets a qdisc (qdisc_create(): "Caught tx_queue_len zero misconfig")
 * and would stay so; said beforehand, undo can put it back.
 */
static void want_shaper(struct wants *w, const struct circuit *c,
			const struct facts *f, const struct plan *p)
{
	struct qdisc q = { .limit = (uint32_t)p->limit };
	struct want *want;

	if (c->shaper == SHAPER_NONE)
		return;
	want_text(w, ITEM_TXQLEN, f->dev, RULE_NOT_ZERO, TXQLEN_DEFAULT);
	if (c->shaper == SHAPER_HTB) {
		q.state = QDISC_HTB;
		q.defcls = CLASS_REST;
	} else if (c->shaper == SHAPER_TBF) {
		q.state = QDISC_TBF;
		q.rate = c->rate;
		q.burst = (uint32_t)p->burst;
	} else {
		q.state = f->tx_queues > 1 ? QDISC_MQ : QDISC_FQ;
		q.queues = f->tx_queues;
		q.maxrate = p->maxrate;
		q.limit = p->packets;
		q.flow_limit = p->flow_packets;
	}
	want = add_want(w, ITEM_QDISC, f->dev, RULE_EXACT);
	qdisc_format(&q, want->value, sizeof(want->value));
}

static void want_class(struct wants *w, const char *dev, uint32_t minor,
		       const struct htb_class *class)
{
	char name[ITEM_NAME];
	struct want *want = add_want(w, ITEM_CLASS, class_name(name, sizeof(name), dev, minor),
				     RULE_EXACT);

	class_format(class, want->value, sizeof(want->value));
}

/* That of all else first, so that from the first moment on it has a rate. */
static void want_classes(struct wants *w, const struct circuit *c, const struct facts *f,
			 const struct plan *p, const struct place *place)
{
	const struct htb_class rest = {
		.state = CLASS_OURS, .rate = place->rest.rate, .burst = place->rest.burst,
		.quantum = place->rest.quantum,
	};
	const struct htb_class class = {
		.state = CLASS_OURS, .rate = c->rate, .burst = (uint32_t)p->burst,
		.quantum = p->quantum, .limit = (uint32_t)p->limit,
	};

	want_class(w, f->dev, CLASS_REST, &rest);
	want_class(w, f->dev, place->classid, &class);
}

static void want_filter(struct wants *w, const char *dev, const struct prefix *to,
			uint32_t minor)
{
	const struct filter filter = { .state = FILTER_OURS, .minor = minor };
	char name[ITEM_NAME];
	struct want *want = add_want(w, ITEM_FILTER, filter_name(name, sizeof(name), dev, to),
				     RULE_EXACT);

	filter_format(&filter, want->value, sizeof(want->value));
}

/* The class with its queue is there before traffic is led into it. */
static void want_htb(struct wants *w, const struct circuit *c, const struct facts *f,
		     const struct plan *p, const struct place *place)
{
	uint32_t i;

	if (c->shaper != SHAPER_HTB)
		return;
	want_classes(w, c, f, p, place);
	for (i = 0; i < c->n_to; i++)
		want_filter(w, f->dev, &c->to[i], place->classid);
}

/*
 * To a prefix by whichever device, or all that leaves by this one.  It always has
 * its rate: where the module does not pace at it, the breaker still needs it to
 * tell a path that is slower than the circuit.
 */
static void want_circuit(struct wants *w, const struct circuit *c, const struct facts *f,
			 const struct plan *p)
{
	struct prefix all[2] = { { .family = AF_INET }, { .family = AF_INET6 } };
	struct circuit copy = *c;
	struct object o = { .window = p->fcwnd, .rate = c->rate };
	struct want *want = add_want(w, ITEM_CIRCUIT, circuit_name(c), RULE_EXACT);

	if (!c->pace)
		o.flags |= TCP_CIRCUIT_F_UNPACED;
	if (c->early_window)
		o.flags |= TCP_CIRCUIT_F_EARLY_WINDOW;
	o.n = c->n_to ?: 2;
	o.prefixes = c->n_to ? copy.to : all;
	if (!c->n_to)
		memcpy(o.dev, f->out, sizeof(o.dev));
	object_format(&o, want->value);		/* of TO_MAX prefixes: it fits */
}

static void want_route(struct wants *w, const struct route_want *route)
{
	struct want *want;
	char to[64];

	want = add_want(w, ITEM_ROUTE, format_prefix(to, sizeof(to), &route->to), RULE_ROUTE);
	want->route = route;
}

/* @own_netns: the machine's own namespace, where the allowed list is kept. */
static void want_default_cc(struct wants *w, const struct circuit *c, bool own_netns)
{
	if (!c->default_cc)
		return;
	/* the kernel allows a default to everyone, and would not take it back */
	if (own_netns)
		want_text(w, ITEM_SYSCTL, ALLOWED_CC, RULE_HAS_WORD, circuit_algorithm(c));
	want_text(w, ITEM_SYSCTL, DEFAULT_CC, RULE_EXACT, circuit_algorithm(c));
}

/*
 * The breaker of a path whose rate is guaranteed in part is armed.  Only where the module
 * is there: loaded by this run it has its own default.
 */
void wants_add_breaker(const struct circuit *c, struct wants *w)
{
	if (c->guarantee == GUARANTEE_SEMI && !circuit_is_htcp(c))
		want_text(w, ITEM_SYSCTL, BREAKER_SYSCTL, RULE_NOT_ZERO, BREAKER_DEFAULT);
}

/* The device that an item goes with, 0 = none */
static int bound_to(enum item_kind kind, const struct facts *f)
{
	switch (kind) {
	case ITEM_MODULE:
	case ITEM_SYSCTL:
		return 0;
	case ITEM_CIRCUIT:
	case ITEM_ROUTE:
		return f->out_ifindex;
	default:
		return f->ifindex;
	}
}

/* The module and the machine's numbers, which circuits share */
void wants_shared(const struct circuit *c, const struct plan *p, struct wants *w)
{
	static const char * const switches[] = {
		"net.ipv4.tcp_window_scaling", "net.ipv4.tcp_sack",
		/* only the maximum is raised, so the buffer must be let grow */
		"net.ipv4.tcp_moderate_rcvbuf",
		/* or ssthresh and RTT of an earlier connection come back */
		"net.ipv4.tcp_no_metrics_save",
	};
	size_t i;

	w->n = 0;
	if (!circuit_is_htcp(c))
		want_text(w, ITEM_MODULE, MODULE_NAME, RULE_EXACT, "loaded");
	for (i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		want_text(w, ITEM_SYSCTL, switches[i], RULE_AT_LEAST, "1");
	want_buffers(w, p);
}

/*
 * All else, behind what there is in @w.  @place: of htb; @routes: one for each prefix of
 * @c, which last as long as @w; of the daemon's NULL, as what it paces goes its own way.
 */
void wants_own(const struct circuit *c, const struct facts *f, const struct plan *p,
	       const struct place *place, const struct route_want *routes, bool own_netns,
	       struct wants *w)
{
	uint32_t k;

	want_shaper(w, c, f, p);
	want_htb(w, c, f, p, place);
	if (!c->ctcpd && !circuit_is_htcp(c))
		want_circuit(w, c, f, p);
	for (k = 0; k < c->n_to && !c->ctcpd; k++)
		want_route(w, &routes[k]);
	want_default_cc(w, c, own_netns);
	for (k = 0; k < w->n; k++)
		w->list[k].ifindex = bound_to(w->list[k].kind, f);
}

/* How many there are, of up to three. */
static int three_numbers(const char *s, uint64_t n[3])
{
	int found = sscanf(s, "%" SCNu64 " %" SCNu64 " %" SCNu64, &n[0], &n[1], &n[2]);

	return found < 0 ? 0 : found;
}

/* Up to three numbers, the larger of each. */
static void at_least(const char *want, const char *base, char target[ITEM_VALUE])
{
	uint64_t a[3] = { 0 }, b[3] = { 0 };
	int n = three_numbers(want, a), i, used = 0;

	three_numbers(base, b);		/* what it has not got is 0 */
	for (i = 0; i < n; i++)
		used += snprintf(target + used, ITEM_VALUE - (size_t)used, "%s%" PRIu64,
				 i ? " " : "", a[i] > b[i] ? a[i] : b[i]);
}

static int route_target(const struct route_want *want, const char *base,
			char target[ITEM_VALUE], struct err *e)
{
	struct route have, out;
	int rc;

	if (route_from_text(base, &have))
		return err_set(e, -EBADMSG, "a route in the state is not one");
	rc = route_build(want, &have, &out, e);
	if (!rc)
		route_to_text(&out, target);
	return rc;
}

/* What the item becomes if it was @base. */
int want_target(const struct want *w, const char *base, char target[ITEM_VALUE],
		struct err *e)
{
	switch (w->rule) {
	case RULE_ROUTE:
		return route_target(w->route, base, target, e);
	case RULE_AT_LEAST:
		at_least(w->value, base, target);
		return 0;
	case RULE_NOT_ZERO:
		snprintf(target, ITEM_VALUE, "%s", strcmp(base, "0") ? base : w->value);
		return 0;
	case RULE_HAS_WORD:
		if (has_word(base, w->value))
			snprintf(target, ITEM_VALUE, "%s", base);
		else
			snprintf(target, ITEM_VALUE, "%.900s %.100s", base, w->value);
		return 0;
	case RULE_EXACT:
		snprintf(target, ITEM_VALUE, "%s", w->value);
		return 0;
	}
	return -EINVAL;
}
