// SPDX-License-Identifier: GPL-2.0
/*
 * ctcp-setup verify [DEV]: is the kernel as the circuits of this namespace were set up,
 * and with --measure, do they carry what was planned?
 *
 * What differs is what a second run of the same command would change.  Nothing is
 * changed and nothing locked.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "guests.h"
#include "htb.h"
#include "out.h"
#include "print.h"
#include "session_plan.h"
#include "text.h"
#include "verify.h"

/* Where the differences go: lines on stdout, or a list for JSON */
struct report {
	json_t *list;		/* NULL: lines */
	char dev[IFNAMSIZ];	/* whose guests are told of */
	unsigned int circuits, differences;
	unsigned int ours, left_over;	/* of the differences: of circuits, and of none any more */
	unsigned int ctcpds, away;	/* ... and of what the daemon paces; with its device */
	unsigned int troubles, blocked;	/* of ours: not planned, and behind what is somebody's */
	bool over;		/* a change that waits has not been taken back */
	uint32_t shorts;	/* circuits that are busy and short of their rates */
};

/* Whose difference it is: lhc on eth1, or the device of which the circuit has its name */
static void print_whose(const struct circuit *of)
{
	char dev[IFNAMSIZ];

	if (!of) {
		printf("left over: ");
		return;
	}
	if (strcmp(circuit_name(of), of->dev))
		printf("%s%s on ", circuit_name(of), of->ctcpd ? " of ctcpd" : "");
	printf("%s: ", text_copy(dev, sizeof(dev), of->dev));
}

/* @of: NULL, of no circuit any more */
static void add_change(struct report *r, const struct circuit *of, const struct change *c)
{
	char is[ITEM_TEXT], wants[ITEM_TEXT], line[DRIFT_TEXT], name[ITEM_NAME], dev[IFNAMSIZ];

	r->differences++;
	if (of && of->ctcpd)
		r->ctcpds++;
	else if (of)
		r->ours++;
	else
		r->left_over++;
	if (of && !of->ctcpd && drift_is_blocked(c))
		r->blocked++;
	if (!r->list) {
		print_whose(of);
		printf("%s\n", of ? drift_text(c, line, sizeof(line)) :
				    leftover_text(c, line, sizeof(line)));
		return;
	}
	json_array_append_new(r->list,
			      json_pack("{s:s?, s:s?, s:s, s:s, s:s, s:s}", "dev",
					of ? text_copy(dev, sizeof(dev), of->dev) : NULL,
					"circuit", of ? circuit_name(of) : NULL,
					"item", item_kind_name(c->kind),
					"name", text_copy(name, sizeof(name), c->name),
					"is", item_describe(c->kind, c->name, c->from, is,
							    sizeof(is)),
					"wants", item_describe(c->kind, c->name, c->to, wants,
							       sizeof(wants))));
}

/* What keeps the circuit from being planned at all, as a device that is gone */
static void add_trouble(struct report *r, const struct circuit *of, const struct planned *p)
{
	bool away = p->rc == -ENODEV || p->rc == -ENETDOWN;
	const char *trouble = planned_why(p);
	char dev[IFNAMSIZ];

	r->differences++;
	r->away += of->ctcpd && away;
	r->ctcpds += of->ctcpd && !away;
	r->ours += !of->ctcpd;
	r->troubles += !of->ctcpd;
	text_copy(dev, sizeof(dev), of->dev);
	if (r->list) {
		json_array_append_new(r->list,
				      json_pack("{s:s, s:s, s:s, s:s, s:s, s:n}", "dev", dev,
						"circuit", circuit_name(of), "item", "circuit",
						"name", dev, "is", trouble, "wants"));
		return;
	}
	print_whose(of);
	printf("%s\n", trouble);
}

/* What could not be asked of a circuit is no difference of it. */
static int verify_one(struct session *s, uint32_t i, struct report *r, struct err *e)
{
	const struct circuit *of = &s->state.circuits[i].circuit;
	const struct change *c;
	uint32_t k;

	r->circuits++;
	if (is_not_answered(s->planned[i].rc))
		return cannot_plan(s, i, e);
	if (s->planned[i].rc) {
		add_trouble(r, of, &s->planned[i]);
		return 0;
	}
	for (k = diff_first(&s->diff, i); (c = diff_change(&s->diff, i, k)); k++)
		add_change(r, of, c);
	return 0;
}

/* What a circuit that is gone has left, as undo could not, or was not to, set it back */
static void verify_leftovers(const struct session *s, struct report *r)
{
	uint32_t i;

	for (i = 0; i < s->diff.n_items; i++) {
		const struct item *it = s->diff.items[i];
		struct change c = { .kind = it->kind, .name = it->name, .from = it->now,
				    .to = it->target };

		if (item_is_leftover(it))
			add_change(r, NULL, &c);
	}
}

/* One that nobody takes back in time is a difference; that it waits is none. */
static void verify_waiting(const struct session *s, struct report *r)
{
	uint64_t now = boottime_ns();
	char text[CONFIRM_TEXT];

	if (!confirm_is_over(&s->waits, now)) {
		if (!s->args->quiet)
			print_waiting(&s->waits, r->list);
		return;
	}
	r->differences++;
	r->over = true;
	confirm_text(&s->waits, now, text);
	if (r->list)
		json_array_append_new(r->list, json_pack("{s:n, s:n, s:s, s:s, s:s, s:n}", "dev",
							 "circuit", "item", "confirm", "name",
							 s->waits.user, "is", text, "wants"));
	else
		printf("%s\n", text);
}

static int add_guest(const char *kind, const char *guest, void *data)
{
	struct report *r = data;
	char name[ITEM_NAME];

	text_copy(name, sizeof(name), guest);
	r->differences++;
	if (r->list)
		json_array_append_new(r->list, json_pack("{s:s, s:n, s:s, s:s, s:s, s:n}", "dev",
							 r->dev, "circuit", "item", kind, "name",
							 name, "is", "somebody else's", "wants"));
	else
		printf("%s: %s on our root %x: is somebody else's\n", r->dev, name, OUR_MAJOR);
	return 0;
}

/* Once a device that has an htb */
static int verify_root(struct session *s, uint32_t i, struct report *r, struct err *e)
{
	const struct member *m = &s->state.circuits[i];
	uint32_t k;

	if (!m->classid || s->planned[i].rc)
		return 0;
	for (k = 0; k < i; k++)
		if (s->state.circuits[k].classid && s->state.circuits[k].ifindex == m->ifindex &&
		    session_shows(s, k))
			return 0;
	text_copy(r->dev, sizeof(r->dev), m->circuit.dev);
	return guests_each(&s->kernel.nl, &s->diff, m->circuit.dev, m->ifindex, add_guest, r, e);
}

/* What change is refused for, before it sets anything again */
static void put_first(const struct report *r, struct out *o)
{
	if (!r->troubles && !r->blocked)
		return;
	out_text(o, "once ");
	if (r->troubles)
		out_text(o, "that is mended");
	if (r->troubles && r->blocked)
		out_text(o, " and ");
	if (r->blocked)
		out_text(o, "somebody else's root qdisc or route is gone");
	out_text(o, ", ");
}

/*
 * What would end the differences, each of a kind; of somebody else's that is his to say.
 * --all takes all circuits away: where some stand, what is left over has a name of its own.
 */
static void put_advice(const struct report *r, struct out *o)
{
	const char *force = r->circuits ? "NAME --force, by the NAME of a circuit that is gone," :
					  "--all --force";

	if (r->ours) {
		out_text(o, "; ");
		put_first(r, o);
		out_text(o, "ctcp-setup change NAME sets again what is lost, "
			 "ctcp-setup undo NAME goes back");
	}
	if (r->ctcpds)
		out_text(o, "; ctcpd lets go of what somebody else has changed, "
			 "ctcp-setup del NAME ends it at once");
	if (r->away)
		out_text(o, "; ctcpd paces again what it had paced on a device that is gone or "
			 "down once the device is back");
	if (r->left_over) {
		out_text(o, "; ctcp-setup undo ");
		out_text(o, force);
		out_text(o, " restores what is left over");
	}
	if (r->over)
		out_text(o, "; ctcp-setup cancel takes back the change that was not confirmed");
	if (r->differences > r->ours + r->ctcpds + r->away + r->left_over + r->over)
		out_text(o, "; what is somebody else's is not ours to change");
}

static int bad(const struct report *r, struct err *e)
{
	char shorts[64] = "", advice[512] = "", differences[64] = "";
	struct out o = out_to(advice, sizeof(advice));

	if (r->shorts)
		snprintf(shorts, sizeof(shorts), "%u circuit%s short of %s rate", r->shorts,
			 r->shorts > 1 ? "s are" : " is", r->shorts > 1 ? "their" : "its");
	if (r->differences)
		snprintf(differences, sizeof(differences), "%u difference%s from what was set up",
			 r->differences, r->differences > 1 ? "s" : "");
	put_advice(r, &o);
	return err_set(e, -EBADE, "%s%s%s%s", shorts, shorts[0] && differences[0] ? "; " : "",
		       differences, advice);
}

static int verdict(const struct report *r, const char *dev, bool quiet, struct err *e)
{
	if (dev[0] && !r->circuits)
		return err_set(e, -ENOENT,
			       "ctcp-setup has set up no circuit %s, nor one on a device of that name; ctcp-setup list lists those it has",
			       dev);
	if (r->differences || r->shorts)
		return bad(r, e);
	if (r->list || quiet)
		return 0;
	if (r->circuits)
		printf("%u circuit%s as set up\n", r->circuits, r->circuits > 1 ? "s" : "");
	else
		printf("no circuit in this network namespace\n");
	return 0;
}

static int verify_all(struct session *s, struct report *r, struct err *e)
{
	int rc = session_look(s, e);
	uint32_t i;

	if (!rc)
		verify_waiting(s, r);
	for (i = 0; i < s->state.n_circuits && !rc; i++) {
		if (!session_shows(s, i))
			continue;
		rc = verify_one(s, i, r, e);
		if (!rc)
			rc = verify_root(s, i, r, e);
	}
	if (!rc && !s->args->circuit.dev[0])
		verify_leftovers(s, r);
	return rc;
}

/* A list, or with --measure an object of two. */
static json_t *json_report(const struct report *r, json_t *measured)
{
	if (!measured)
		return json_incref(r->list);
	return json_pack("{s:O, s:O}", "differences", r->list, "circuits", measured);
}

static int run(struct session *s, void *data, struct err *e)
{
	struct report r = { .list = s->args->json ? json_array() : NULL };
	json_t *measured = s->args->json && s->args->measure ? json_array() : NULL;
	int rc = verify_all(s, &r, e);
	struct err unused = { "" };

	(void)data;
	if (!rc && s->args->measure && r.circuits)
		rc = verify_measure(s, measured, &r.shorts, e);
	if (!rc)
		rc = verdict(&r, s->args->circuit.dev, s->args->quiet, e);
	if (r.list && (!rc || rc == -EBADE))
		print_json(stdout, json_report(&r, measured), &unused);
	json_decref(r.list);
	json_decref(measured);
	return rc;
}

int command_verify(const struct args *a, struct err *e)
{
	return session_run(a, run, NULL, e);
}
