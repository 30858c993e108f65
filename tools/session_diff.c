// SPDX-License-Identifier: GPL-2.0
/*
 * Plans -> wants -> diff of all circuits of a session: see session.h.
 */
#include <errno.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admit.h"
#include "congctl.h"
#include "guarantee.h"
#include "guests.h"
#include "link.h"
#include "session_plan.h"
#include "sysctl.h"
#include "units.h"

/* The window is counted in segments of the device's MTU unless told. */
static void say_route_mtu(struct session *s, const struct prefix *prefix,
			  const struct plan *plan, const struct route *now)
{
	uint32_t headers = prefix->family == AF_INET6 ? TCP_IP6_HEADERS : TCP_IP4_HEADERS;
	uint32_t mtu = route_mtu(now);
	char to[64];

	if (!mtu || mtu >= plan->mss + headers || mtu < headers + MSS_MIN)
		return;
	note(&s->notes,
	     "the route to %s has an MTU of %u: its segments are smaller than planned; --mss %u counts them right",
	     format_prefix(to, sizeof(to), prefix), mtu, mtu - headers);
}

/* NULL: no circuit had a route to @to, by this name. */
static const struct base *base_of_route(struct session *s, const struct prefix *to,
					char name[64])
{
	const struct item *it = diff_find(&s->diff, ITEM_ROUTE, format_prefix(name, 64, to));

	return it ? item_base(&s->diff, it) : NULL;
}

/* On a second run it is ours, also where somebody's is used before it. */
static void prefer_ours(struct session *s, const struct prefix *to, struct route *now)
{
	char name[64], text[ITEM_VALUE];
	const struct base *b = base_of_route(s, to, name);
	struct backend *backend = &s->kernel.backend;
	struct err unused = { "" };

	route_to_text(now, text);
	if (b && now->len && !item_equal(ITEM_ROUTE, name, text, b->ours) &&
	    backend->find(backend, ITEM_ROUTE, name, b->ours, text, &unused) == 1)
		route_from_text(text, now);
}

/* Ours, and new with us, to a circuit that leaves by another device: the prefix moves from it. */
static bool is_left_behind(struct session *s, const struct prefix *to, const struct planned *p,
			   const struct route *now)
{
	char name[64], text[ITEM_VALUE];
	const struct base *b = base_of_route(s, to, name);

	if (!b || !now->len || route_ifindex(now) == p->facts->out_ifindex)
		return false;
	route_to_text(now, text);
	return !strcmp(b->before, "absent") &&
	       (item_equal(ITEM_ROUTE, name, text, b->ours) ||
		(b->next && item_equal(ITEM_ROUTE, name, text, b->next)));
}

/* Its gateway is that of the other device: it goes as if that route were not there. */
static int follow_covering(struct session *s, const struct prefix *to, const struct planned *p,
			   struct route *now, struct err *e)
{
	int rc = route_covering(&s->kernel.nl, to, now, e);
	char text[64];

	if (rc || route_ifindex(now) == p->facts->out_ifindex)
		return rc;
	return err_set(e, -ENETUNREACH, "--to: %s is not reached by %s; --via GATEWAY says how",
		       format_prefix(text, sizeof(text), to), p->facts->out);
}

/*
 * By --via a route leaves as that says, else as the one there, which on a second
 * run is ours, or as the one that covers it.
 */
static int want_route(struct session *s, const struct circuit *c, const struct prefix *to,
		      const struct planned *p, struct route_want *want, struct err *e)
{
	struct route now;
	int rc;

	memset(want, 0, sizeof(*want));
	want->to = *to;
	want->ifindex = p->facts->out_ifindex;
	memcpy(want->dev, p->facts->out, sizeof(want->dev));
	want->congctl = circuit_algorithm(c);
	want->gateway = *circuit_via(c, to);
	want->via = want->gateway.family;
	rc = kernel_route(&s->kernel, to, &now, e);
	if (!rc && !now.len && !want->via) {
		rc = route_next_hop(&s->kernel.nl, p->facts, want, e);
		if (!rc)
			rc = route_lookup(&s->kernel.nl, to, NULL, RTM_F_FIB_MATCH, &now, e);
	}
	if (rc || !now.len)
		return rc;
	prefer_ours(s, to, &now);
	if (!want->via && is_left_behind(s, to, p, &now))
		rc = follow_covering(s, to, p, &now, e);
	if (rc)
		return rc;
	say_route_mtu(s, to, &p->plan, &now);
	if (!want->via)
		want->like = now;
	return 0;
}

/* One for each prefix, in @want, which the caller frees. */
static int want_routes(struct session *s, const struct circuit *c, const struct planned *p,
		       struct route_want **want, struct err *e)
{
	struct route_want *list = calloc(c->n_to + 1, sizeof(*list));
	uint32_t i;
	int rc = list ? 0 : err_set(e, -ENOMEM, "out of memory");

	for (i = 0; i < c->n_to && !rc; i++)
		rc = want_route(s, c, &c->to[i], p, &list[i], e);
	*want = list;
	return rc;
}

/*
 * Rules (ip rule) may send the far side's traffic by another table than main.  Asked
 * as TCP asks: first for a source, then once more with it.  A longer prefix in the
 * main table is somebody's choice.
 */
static void check_route(struct session *s, const struct prefix *prefix, const char *congctl)
{
	struct prefix to = prefix_middle(prefix), from;
	char far[64], source[64];
	struct route r;
	struct err unused = { "" };
	uint32_t table;

	if (route_lookup(&s->kernel.nl, &to, NULL, 0, &r, &unused) ||
	    !route_source(&r, &from) ||
	    route_lookup(&s->kernel.nl, &to, &from, RTM_F_FIB_MATCH, &r, &unused))
		return;
	table = route_table(&r);
	if (route_has_congctl(&r, congctl) || table == RT_TABLE_MAIN || table == RT_TABLE_LOCAL)
		return;
	note(&s->notes,
	     "from %s to %s the kernel takes a route of table %u, by ip rule, and not the circuit's: give that one congctl %s",
	     format_addr(source, sizeof(source), &from), format_prefix(far, sizeof(far), prefix),
	     table, congctl);
}

void session_check_routes(struct session *s, const struct circuit *c)
{
	uint32_t i;

	for (i = 0; i < c->n_to; i++)
		check_route(s, &c->to[i], circuit_algorithm(c));
}

static void say_how_long(struct session *s, const struct circuit *c)
{
	const char *file = s->args->file;

	if (!file)
		note(&s->notes,
		     "all of this lasts until ctcp-setup undo %s, or the next boot: ctcp-setup save %s keeps it for ctcp-setup.service",
		     circuit_name(c), CIRCUITS_FILE);
	else if (strcmp(file, CIRCUITS_FILE))
		note(&s->notes,
		     "all of this lasts until ctcp-setup undo --all, or the next boot: ctcp-setup.service applies %s then",
		     CIRCUITS_FILE);
	else
		note(&s->notes,
		     "all of this lasts until ctcp-setup undo --all, or the next boot, unless ctcp-setup.service is enabled");
}

/* The device of a connection by a VLAN is the VLAN. */
static void say_who_is_above(struct session *s, const struct circuit *c, int ifindex)
{
	char above[IFNAMSIZ];
	struct err unused = { "" };

	if (!link_above(ifindex, above, &unused) && above[0])
		note(&s->notes,
		     "connections by %s, which sits on %s, do not belong to this circuit: --to PREFIX takes them in, or a circuit on %s",
		     above, c->dev, above);
}

static void say_rest(struct session *s, const struct circuit *c, const struct planned *p)
{
	char rate[32];

	if (s->rest.rate == RATE_MAX && !c->rest && !p->facts->speed_mbit)
		note(&s->notes,
		     "the speed of %s is not known: all else that leaves by it is not held to what the circuits leave; --rest RATE does that, or --uplink RATE",
		     c->dev);
	else
		note(&s->notes, "all else that leaves by %s is held to %s together", c->dev,
		     format_rate(rate, sizeof(rate), s->rest.rate));
}

static void say_who_uses_it(struct session *s, const struct circuit *c, const struct planned *p)
{
	char rate[32];

	if (!c->n_to)
		say_who_is_above(s, c, p->facts->ifindex);

	if (!c->n_to && !c->default_cc)
		note(&s->notes,
		     "no traffic uses %s yet: --to PREFIX makes a route carry it, --default-cc all connections, or an application asks for it (TCP_CONGESTION)",
		     circuit_algorithm(c));
	if (c->shaper == SHAPER_TBF)
		note(&s->notes,
		     "all else that leaves by %s is held to %s, too, in the same queue",
		     c->dev, format_rate(rate, sizeof(rate), c->rate));
	if (c->shaper == SHAPER_FQ && p->plan.maxrate < FQ_NO_MAXRATE)
		note(&s->notes, "all else that leaves by %s is held to %s, too, each flow",
		     c->dev, format_rate(rate, sizeof(rate), p->plan.maxrate));
	if (c->shaper == SHAPER_HTB)
		say_rest(s, c, p);
	say_how_long(s, c);
}

/*
 * Outside the machine's own namespace the kernel takes only an algorithm that is
 * allowed to all as the default.  Asked before and not by trying:
 * tcp_set_default_congestion_control() keeps a reference to the module when it
 * refuses, which could then never be removed.
 */
static int check_default_cc(const struct circuit *c, bool own_netns, struct err *e)
{
	char allowed[ITEM_VALUE];
	struct err unused = { .text = "" };

	if (!c->default_cc || own_netns || sysctl_get(ALLOWED_CC, allowed, &unused) ||
	    has_word(allowed, circuit_algorithm(c)))
		return 0;
	return err_set(e, -EPERM,
		       "--default-cc: in this network namespace the kernel refuses %s until %s of the machine's own lists it (here \"%.200s\")",
		       circuit_algorithm(c), ALLOWED_CC, allowed);
}

/* Before the first change: a path whose algorithm the kernel has not is not set up. */
static int check_algorithm(const struct session *s, const struct circuit *c, bool own_netns,
			   struct err *e)
{
	int rc = 0;

	if (circuit_is_htcp(c) && is_strict(s) && !s->args->dry_run)
		rc = congctl_need(circuit_algorithm(c), e);
	return rc ? rc : check_default_cc(c, own_netns, e);
}

/* Of the list, or one that this run removes, or that an earlier one left half removed */
static bool is_told_of(struct session *s, const char *name)
{
	const struct item *it = diff_find(&s->diff, ITEM_CIRCUIT, name);

	return (it && it->base != NOBODY) || order_has(&s->names, name);
}

/* A prefix is that of one circuit, also where no state tells of it: by circuit set. */
static int check_prefixes(struct session *s, const struct circuit *c, struct err *e)
{
	struct err unused = { "" };
	struct object o;
	char to[64];
	uint32_t i;
	int rc = 0;

	for (i = 0; i < c->n_to && !rc && kernel_has_module(&s->kernel); i++) {
		if (object_of_prefix(&s->kernel.genl, &c->to[i], &o, &unused))
			continue;
		if (strcmp(o.name, circuit_name(c)) && !is_told_of(s, o.name))
			rc = err_set(e, -EEXIST,
				     "--to: %s is that of circuit %s in the kernel, which no state tells of; ctcp-setup circuit del %s would clear the way",
				     format_prefix(to, sizeof(to), &c->to[i]), o.name, o.name);
		object_free(&o);
	}
	return rc;
}

/* --- the diff -------------------------------------------------------------- */

/* What the device of @i carries, by its speed and by what circuits state; 0 = not known */
static uint64_t capacity_of(const struct session *s, uint32_t i)
{
	const struct facts *f = s->planned[i].facts;
	uint64_t uplink = 0;
	uint32_t k;

	for (k = 0; k < s->state.n_circuits && !uplink; k++)
		if (s->state.circuits[k].standing != REMOVING &&
		    s->planned[k].facts->wire_ifindex == f->wire_ifindex)
			uplink = s->state.circuits[k].circuit.uplink;
	return wire_capacity(f->speed_mbit * MBIT, uplink);
}

/* What is left of a device is the same for all of its circuits. */
static void place_of(struct session *s, uint32_t i, struct place *place)
{
	const struct member *m = &s->state.circuits[i];
	const struct facts *f = s->planned[i].facts;

	memset(place, 0, sizeof(*place));
	if (m->circuit.shaper != SHAPER_HTB)
		return;
	if (s->rest_of != f->ifindex)
		plan_rest(f, state_rest(&s->state, i, capacity_of(s, i)), &s->rest);
	s->rest_of = f->ifindex;
	place->rest = s->rest;
	place->classid = m->classid;
}

/* Without a word of the kernel's: those that are kept are named alone. */
static bool keep_routes(struct session *s, const struct circuit *c, const struct planned *p,
			struct route_want **want)
{
	struct route_want *list = calloc(c->n_to + 1, sizeof(*list));
	char to[64];
	uint32_t i;

	for (i = 0; list && i < c->n_to; i++) {
		list[i].to = c->to[i];
		if (diff_keeps_route(&s->diff, format_prefix(to, sizeof(to), &c->to[i]),
				     p->facts->out_ifindex))
			continue;
		free(list);
		return false;
	}
	*want = list;
	return list;
}

/* Of thousands of circuits all but the first want no more of what they share. */
static int want_shared(struct session *s, uint32_t i, bool asked, struct err *e)
{
	const struct circuit *c = &s->state.circuits[i].circuit;
	const struct plan *p = &s->planned[i].plan;
	struct most *most = &s->most;
	struct wants w;
	int rc;

	if (c->ctcpd)
		return 0;
	if (most->known && most->htcp == circuit_is_htcp(c) && most->asked >= asked &&
	    most->buffer >= p->buffer && most->tcp_mem >= p->tcp_mem[0]) {
		diff_want_same(&s->diff, i);
		return 0;
	}
	wants_shared(c, p, &w);
	rc = diff_want_shared(&s->diff, &w, i, asked, e);
	if (rc)
		return rc;
	most->known = true;
	most->asked |= asked;
	most->htcp = circuit_is_htcp(c);
	most->buffer = p->buffer > most->buffer ? p->buffer : most->buffer;
	most->tcp_mem = p->tcp_mem[0] > most->tcp_mem ? p->tcp_mem[0] : most->tcp_mem;
	return 0;
}

static int want_circuit(struct session *s, uint32_t i, uint64_t need, bool asked, bool own_netns,
			struct err *e)
{
	const struct circuit *c = &s->state.circuits[i].circuit;
	struct planned *p = &s->planned[i];
	struct route_want *routes = NULL;
	struct place place;
	struct wants w;
	int rc = asked ? check_algorithm(s, c, own_netns, e) : 0;

	if (!rc && asked && !s->diff.look)
		rc = check_prefixes(s, c, e);

	if (!rc && !c->ctcpd && (asked || !keep_routes(s, c, p, &routes)))
		rc = want_routes(s, c, p, &routes, e);
	if (rc)
		goto out;
	if (need > p->plan.need && !c->ctcpd)
		plan_memory(p->facts, need - p->plan.need, &p->plan,
			    asked && !s->reverting ? &s->notes : NULL);
	rc = want_shared(s, i, asked, e);
	if (rc)
		goto out;
	place_of(s, i, &place);
	w.n = 0;
	wants_own(c, p->facts, &p->plan, &place, routes, own_netns, &w);
	if (c->guarantee == GUARANTEE_SEMI && sysctl_exists(BREAKER_SYSCTL))
		wants_add_breaker(c, &w);
	if (asked && !s->reverting && !c->ctcpd)
		say_who_uses_it(s, c, p);
	rc = diff_want(&s->diff, &w, i, asked, e);
out:
	free(routes);
	return rc;
}

static int not_standing(const struct session *s, const struct member *m, struct err *e)
{
	char pid[16];

	if (store_is_locked(&s->store, pid))
		return err_set(e, -EBUSY, "another ctcp-setup is at work on it, process %s", pid);
	return err_set(e, -EBUSY,
		       "a run on it was cut short; ctcp-setup undo %s, or the same command again",
		       m->circuit.dev);
}

/*
 * One that cannot be planned wants nothing if its device is gone; else it is not known
 * what it wants, and what it has stays.  Who only looks tells of the circuit alone.
 */
static int want_or_hold(struct session *s, uint32_t i, uint64_t need, bool asked,
			bool own_netns, struct err *e)
{
	const struct member *m = &s->state.circuits[i];
	const struct planned *p = &s->planned[i];
	struct err why = { "" };

	if (session_is_aside(s, i)) {
		if (m->circuit.ctcpd)
			diff_set_aside(&s->diff, m);
		return 0;
	}
	if (s->diff.look && (m->standing == ADDING || m->standing == REMOVING))
		planned_set(s, i, not_standing(s, m, &why), &why);
	s->diff.aside = s->diff.look && !session_shows(s, i);
	if (!p->rc)
		planned_set(s, i, want_circuit(s, i, need, asked, own_netns, &why), &why);
	if (stops(s, i))
		return cannot_plan(s, i, e);
	if (p->rc && (s->reverting || (s->args->file && !m->left_out)))
		note(&s->notes, "circuit %s: %.300s%s", m->circuit.name, planned_why(p),
		     s->reverting ? "" : "; what was set up stays");
	if (p->rc && (m->ifindex || s->diff.look))
		diff_hold(&s->diff, m);
	return 0;
}

/* --- ahead ----------------------------------------------------------------- */

static bool is_asked(const struct session *s, uint32_t i)
{
	return s->state.circuits[i].standing == ADDING;
}

static bool is_wanted(const struct session *s, uint32_t i)
{
	return s->diff.look || s->state.circuits[i].standing != REMOVING;
}

/* As want_circuit() will ask, for what comes of it is not known yet */
static void ask_circuit(struct session *s, uint32_t i)
{
	const struct circuit *c = &s->state.circuits[i].circuit;
	struct route_want *routes = calloc(c->n_to + 1, sizeof(*routes));
	struct backend *b = &s->kernel.backend;
	char value[ITEM_VALUE];
	struct err unused = { "" };
	struct place place;
	struct wants w;
	uint32_t k;

	if (!routes)
		return;
	if (is_asked(s, i) && !s->diff.look)
		check_prefixes(s, c, &unused);
	for (k = 0; k < c->n_to && !c->ctcpd; k++)
		want_route(s, c, &c->to[k], &s->planned[i], &routes[k], &unused);
	place_of(s, i, &place);
	w.n = 0;
	wants_own(c, s->planned[i].facts, &s->planned[i].plan, &place, routes, false, &w);
	for (k = 0; k < w.n; k++)
		if (item_goes_with_many(w.list[k].kind))
			b->get(b, w.list[k].kind, w.list[k].name, value, &unused);
	free(routes);
}

/* What stands is read by the tables of the kernel that have it; what comes is asked ahead. */
static void know_tables(struct session *s)
{
	uint32_t i, routes = 0;
	int last = 0;

	if (s->diff.trust || s->state.n_circuits < s->kernel.backend.many)
		return;
	for (i = 0; i < s->state.n_circuits; i++)
		routes += s->state.circuits[i].circuit.ctcpd ? 0 :
			  s->state.circuits[i].circuit.n_to;
	kernel_know(&s->kernel, routes);
	for (i = 0; i < s->state.n_circuits; i++) {
		const struct facts *f = s->planned[i].facts;

		if (!s->state.circuits[i].classid || !f->ifindex || f->ifindex == last ||
		    session_is_aside(s, i))
			continue;
		last = f->ifindex;
		kernel_know_device(&s->kernel, f->dev, f->ifindex);
	}
}

/* The module stays for the circuits of another namespace. */
static void check_others(struct session *s)
{
	char file[600], dev[IFNAMSIZ];
	uint32_t i;

	for (i = 0; i < s->diff.n_items; i++) {
		struct item *it = s->diff.items[i];

		if (it->kind != ITEM_MODULE || it->circuit != NOBODY ||
		    !store_others(&s->store, file, sizeof(file), dev))
			continue;
		it->held = true;
		note(&s->notes,
		     "module %s stays for %s in another network namespace; if that one is gone: rm %s && modprobe -r %s",
		     it->name, dev, file, it->name);
	}
}

/* Those that this run sets up on the device that they have now */
static void know_devices(struct session *s)
{
	uint32_t i;

	for (i = 0; i < s->state.n_circuits; i++) {
		struct member *m = &s->state.circuits[i];

		if (m->ifindex && !m->left_out && !s->planned[i].rc)
			m->anew = false;
	}
}

/* What the daemon paced until now, where an administrator's circuit takes its place */
static void say_given_way(struct session *s)
{
	uint32_t i, n = 0;

	for (i = 0; i < s->state.n_circuits && !s->ctcpd && !s->reverting; i++)
		n += s->state.circuits[i].circuit.ctcpd &&
		     s->state.circuits[i].standing == REMOVING;
	if (n)
		note(&s->notes, "ctcpd paced %u remote%s there, which %s with this: what an administrator sets up comes first",
		     n, n > 1 ? "s" : "", n > 1 ? "end" : "ends");
}

/* Asked for is what this command adds. */
int session_diff(struct session *s, struct err *e)
{
	/* tcp_mem is the machine's, and only its own namespace shows it */
	bool own_netns = sysctl_exists("net.ipv4.tcp_mem");
	uint64_t need;
	uint32_t i;
	int rc = plan_all(s, e);

	s->diff.state = &s->state;
	s->diff.backend = &s->kernel.backend;
	s->diff.notes = &s->notes;
	s->diff.revert = s->reverting;
	s->diff.heal = s->args->file;
	s->diff.trust = !s->diff.look && !s->diff.restore && !s->reverting && !s->cut_short &&
			!s->args->file;
	if (!rc)
		rc = diff_begin(&s->diff, e);
	if (!rc && s->ctcpd)
		diff_set_aside_others(&s->diff);
	if (!s->diff.look)
		say_given_way(s);
	need = rc ? 0 : need_of_all(s);
	if (!rc)
		know_tables(s);
	for (i = 0; i < s->state.n_circuits && !rc; i++) {
		if (i % MANY_AT_ONCE == 0 && !s->diff.trust)
			session_ahead(s, i, is_asked, ask_circuit);
		if (is_wanted(s, i))
			rc = want_or_hold(s, i, need, is_asked(s, i), own_netns, e);
	}
	kernel_ahead_end(&s->kernel);
	if (!rc && !s->diff.look)
		check_others(s);
	if (!rc && !s->diff.look)
		rc = guests_hold(&s->kernel.nl, &s->diff, e);
	if (!rc)
		rc = diff_end(&s->diff, e);
	if (!rc && (s->diff.heal || s->diff.restore))
		know_devices(s);
	return rc;
}

/*
 * What the standing circuits have lost, as the same commands again would set it.  One that
 * cannot be planned at present loses nothing more.
 */
int session_restore(struct session *s, struct err *e)
{
	state_drop_before(&s->state);
	s->diff.restore = true;
	return session_diff(s, e);
}

