// SPDX-License-Identifier: GPL-2.0
/*
 * Sysctls of a namespace, net.ipv4.tcp_circuit_*
 *
 *	fcwnd		window where no circuit and no route gives one, segments
 *	fcwnd_max	what sockets of one user to one peer may ask for together,
 *			where nothing gives a window, segments
 *	breaker		thousandths lost, or marked, that trip a breaker; 0 = off
 *	breaker_ms	length of four slots; a breaker trips after four in a row
 *			with evidence, or two that lost more than half
 *	breaker_quiet	s, after which it closes; 0 = never
 *
 * And in the machine's own namespace (init_net), limits of all others, whoever is
 * their administrator:
 *
 *	ceiling_window	the largest window of a circuit or socket, 0 = no ceiling
 *	ceiling_circuits	the most circuits of a namespace
 *	ceiling_breaker	1: no breaker is laxer than the machine's own
 */

#include <linux/slab.h>
#include <linux/sysctl.h>

#include "circuit.h"

static u32 ceiling_window;
static u32 ceiling_circuits = 65536;
static u32 ceiling_breaker = 1;

static u32 window_limit = TCP_CIRCUIT_WINDOW_LIMIT;
static u32 fcwnd_limit = TCP_CIRCUIT_FCWND_LIMIT;
static u32 breaker_limit = 1000;	/* thousandths */
static u32 breaker_ms_least = 500;
static u32 breaker_ms_limit = 600000;	/* ten minutes */
static u32 quiet_limit = 604800;	/* s, a week */
static u32 circuits_limit = 1U << 20;

static bool is_machines_own(const struct circuit_net *cn)
{
	return net_eq(cn->net, &init_net);
}

/* @window, or the ceiling of @cn if that is lower, segments */
u32 circuit_ceiling(const struct circuit_net *cn, u32 window)
{
	u32 ceiling = READ_ONCE(ceiling_window);

	return ceiling && !is_machines_own(cn) ? min(window, ceiling) : window;
}

u32 circuit_objects_most(const struct circuit_net *cn)
{
	return is_machines_own(cn) ? circuits_limit : READ_ONCE(ceiling_circuits);
}

/* The stricter of two, where 0 is the laxest */
static u32 stricter_least(u32 a, u32 b)
{
	if (!a || !b)
		return a ?: b;
	return min(a, b);
}

static u32 stricter_quiet(u32 a, u32 b)
{
	return a && b ? max(a, b) : 0;
}

/* Is @cn not init_net, and do the machine's own limits bound its breakers? */
bool circuit_breaker_is_machines(const struct circuit_net *cn)
{
	return !is_machines_own(cn) && READ_ONCE(ceiling_breaker) &&
	       READ_ONCE(circuit_net_of(&init_net)->breaker);
}

struct breaker_limits circuit_breaker_limits(const struct circuit_net *cn)
{
	const struct circuit_net *own = circuit_net_of(&init_net);
	struct breaker_limits l = {
		.threshold = READ_ONCE(cn->breaker),
		.ms = READ_ONCE(cn->breaker_ms),
		.quiet = READ_ONCE(cn->breaker_quiet),
	};

	if (!circuit_breaker_is_machines(cn))
		return l;
	l.threshold = stricter_least(l.threshold, READ_ONCE(own->breaker));
	l.ms = min(l.ms, READ_ONCE(own->breaker_ms));
	l.quiet = stricter_quiet(l.quiet, READ_ONCE(own->breaker_quiet));
	return l;
}

static proc_handler circuit_u32_handler;

#define CIRCUIT_U32(field, least, most) {				\
		.procname	= "tcp_circuit_" #field,		\
		.data		= (void *)offsetof(struct circuit_net, field), \
		.maxlen		= sizeof(u32),				\
		.mode		= 0644,					\
		.proc_handler	= circuit_u32_handler,			\
		.extra1		= least,				\
		.extra2		= most,					\
	}

#define CIRCUIT_CEILING(what, most) {					\
		.procname	= "tcp_circuit_ceiling_" #what,		\
		.data		= &ceiling_##what,			\
		.maxlen		= sizeof(u32),				\
		.mode		= 0644,					\
		.proc_handler	= circuit_u32_handler,			\
		.extra1		= SYSCTL_ZERO,				\
		.extra2		= most,					\
	}

/* .data is the offset of the value in struct circuit_net. */
static const struct ctl_table circuit_sysctls[] = {
	CIRCUIT_U32(fcwnd, SYSCTL_ZERO, &window_limit),
	CIRCUIT_U32(fcwnd_max, SYSCTL_ZERO, &fcwnd_limit),
	CIRCUIT_U32(breaker, SYSCTL_ZERO, &breaker_limit),
	CIRCUIT_U32(breaker_ms, &breaker_ms_least, &breaker_ms_limit),
	CIRCUIT_U32(breaker_quiet, SYSCTL_ZERO, &quiet_limit),
};

static const struct ctl_table ceiling_sysctls[] = {
	CIRCUIT_CEILING(window, &window_limit),
	CIRCUIT_CEILING(circuits, &circuits_limit),
	CIRCUIT_CEILING(breaker, SYSCTL_ONE),
};

#define N_OWN		ARRAY_SIZE(circuit_sysctls)
#define N_CEILINGS	ARRAY_SIZE(ceiling_sysctls)

/* A setting was written; .data of a namespace's own ones points into its circuit_net. */
static void circuit_sysctl_written(const struct ctl_table *table)
{
	size_t i;

	for (i = 0; i < N_OWN; i++)
		if (table->procname == circuit_sysctls[i].procname) {
			circuit_net_changed(table->data -
					    (unsigned long)circuit_sysctls[i].data);
			return;
		}
	circuit_all_changed();
}

static int circuit_u32_handler(CIRCUIT_CTL_TABLE *table, int write,
			       void *buffer, size_t *len, loff_t *pos)
{
	int err = proc_douintvec_minmax(table, write, buffer, len, pos);

	if (write && !err)
		circuit_sysctl_written(table);
	return err;
}

/* Older kernels need an empty entry at the end. */
int __net_init circuit_sysctl_init(struct circuit_net *cn)
{
	size_t i, n = N_OWN;

	cn->breaker = 100;
	cn->breaker_ms = 2000;
	cn->breaker_quiet = 300;
	cn->sysctls = kcalloc(N_OWN + N_CEILINGS + 1, sizeof(*cn->sysctls),
			      GFP_KERNEL_ACCOUNT);
	if (!cn->sysctls)
		return -ENOMEM;
	memcpy(cn->sysctls, circuit_sysctls, sizeof(circuit_sysctls));
	for (i = 0; i < N_OWN; i++)
		cn->sysctls[i].data = (char *)cn +
				      (unsigned long)cn->sysctls[i].data;
	if (is_machines_own(cn)) {
		memcpy(cn->sysctls + N_OWN, ceiling_sysctls,
		       sizeof(ceiling_sysctls));
		n += N_CEILINGS;
	}

	cn->header = circuit_register_sysctl(cn->net, "net/ipv4", cn->sysctls, n);
	if (!cn->header) {
		kfree(cn->sysctls);
		return -ENOMEM;
	}
	return 0;
}

void circuit_sysctl_exit(struct circuit_net *cn)
{
	unregister_net_sysctl_table(cn->header);
	kfree(cn->sysctls);
}
