// SPDX-License-Identifier: GPL-2.0
/*
 * cost_meter: where a sender's instructions go
 *
 * For the emulated machine of cost.sh, where the time stamp counter counts
 * instructions: between two stamps lie as many as were executed, whatever the
 * host does meanwhile.  One processor only.
 *
 * Each probed function has an account.  What is executed is charged to the
 * innermost of them, so that an account holds the function without those that
 * it calls and that have one too, and without interrupts.
 *
 *	ack	tcp_ack() of a sender's socket
 *	xmit	tcp_write_xmit()
 *	down	__tcp_transmit_skb(): IP, qdisc, device
 *	timer	hrtimers, among them that of the pace
 *	input	tcp_v4_rcv() of a sender's socket, without ack and xmit
 *	peer	tcp_v4_rcv() of a receiver's
 *	softirq	the rest of the soft interrupts, other: the rest; idle
 *
 * The probes' own instructions are measured when the module is loaded, with a
 * function that does nothing, and subtracted.
 *
 * "SKIP COUNT" written to its parameter measure begins a measurement, of COUNT
 * acknowledgements behind the first SKIP; /proc/cost then reads
 *
 *	acks N segments N
 *	ACCOUNT calls instructions
 */

#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <net/tcp.h>
#include <trace/events/power.h>

#define DEPTH		64
#define CALIBRATION	1000

enum { OTHER, IDLE, SOFTIRQ, PEER, INPUT, TIMER, ACK, XMIT, DOWN, EMPTY, ACCOUNTS };

static const char * const account_names[ACCOUNTS] = {
	"other", "idle", "softirq", "peer", "input", "timer", "ack", "xmit",
	"down", "empty",
};

struct account {
	u64	spent;		/* instructions */
	u64	calls;
	u64	children;	/* calls of other accounts from here */
};

static struct {
	struct account	account[ACCOUNTS];
	u64	segments;	/* of the sender's data */
} now, first, last;

static u8 stack[DEPTH];
static int depth;
static u64 since;		/* the stamp up to which all is charged */
static u64 seen, skip, stop;	/* acknowledgements */
static u64 inner, outer;	/* a probe's own, inside and outside of its account */
static ushort port = 5201;	/* where the receiver listens */

module_param(port, ushort, 0444);

static void charge(void)
{
	u64 stamp = rdtsc_ordered();

	now.account[stack[depth]].spent += stamp - since;
	since = stamp;
}

static void enter(u8 which)
{
	unsigned long flags;

	local_irq_save(flags);
	charge();
	now.account[stack[depth]].children++;
	if (!WARN_ON_ONCE(depth + 1 >= DEPTH))
		stack[++depth] = which;
	now.account[which].calls++;
	local_irq_restore(flags);
}

static int leave(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	unsigned long flags;

	local_irq_save(flags);
	charge();
	if (!WARN_ON_ONCE(!depth))
		depth--;
	local_irq_restore(flags);
	return 0;
}
NOKPROBE_SYMBOL(leave);

static void count_ack(void)
{
	seen++;
	if (seen == skip)
		first = now;
	if (seen == stop)
		last = now;
}

static bool sends(const struct sock *sk)
{
	return inet_sk(sk)->inet_dport == htons(port);
}

static bool to_sender(const struct sk_buff *skb)
{
	return ((struct tcphdr *)skb->data)->source == htons(port);
}

/*
 * What the functions were called with is in the registers of the x86-64 ABI: di,
 * si.  1 says that this call is none of ours.
 */

static int enter_ack(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (!sends((struct sock *)regs->di))
		return 1;
	count_ack();
	enter(ACK);
	return 0;
}
NOKPROBE_SYMBOL(enter_ack);

static int enter_xmit(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (!sends((struct sock *)regs->di))
		return 1;
	enter(XMIT);
	return 0;
}
NOKPROBE_SYMBOL(enter_xmit);

static int enter_down(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	if (!sends((struct sock *)regs->di))
		return 1;
	now.segments += tcp_skb_pcount((struct sk_buff *)regs->si);
	enter(DOWN);
	return 0;
}
NOKPROBE_SYMBOL(enter_down);

static int enter_input(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	enter(to_sender((struct sk_buff *)regs->di) ? INPUT : PEER);
	return 0;
}
NOKPROBE_SYMBOL(enter_input);

static int enter_softirq(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	enter(SOFTIRQ);
	return 0;
}
NOKPROBE_SYMBOL(enter_softirq);

static int enter_timer(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	enter(TIMER);
	return 0;
}
NOKPROBE_SYMBOL(enter_timer);

static int enter_empty(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	enter(EMPTY);
	return 0;
}
NOKPROBE_SYMBOL(enter_empty);

noinline void cost_empty(void);
noinline void cost_empty(void)
{
	barrier();
}

#define PROBE(function, name) {						\
	.kp.symbol_name = function,					\
	.entry_handler = enter_##name,					\
	.handler = leave,						\
	.maxactive = DEPTH,						\
}

static struct kretprobe probes[] = {
	PROBE("cost_empty", empty),
	PROBE("tcp_ack", ack),
	PROBE("tcp_write_xmit", xmit),
	PROBE("__tcp_transmit_skb", down),
	PROBE("tcp_v4_rcv", input),
	PROBE("__do_softirq", softirq),
	PROBE("hrtimer_interrupt", timer),
	PROBE("tcp_pace_kick", timer),
};

static struct kretprobe *probe_list[ARRAY_SIZE(probes)];

/* Idle is the lowest account, and ends with the first interrupt. */
static void idle_begins(void *data, unsigned int state, unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	charge();
	stack[0] = state == PWR_EVENT_EXIT ? OTHER : IDLE;
	local_irq_restore(flags);
}

static int idle_ends(struct kprobe *p, struct pt_regs *regs)
{
	if (!depth && stack[0] == IDLE)
		idle_begins(NULL, PWR_EVENT_EXIT, 0);
	return 0;
}

static struct kprobe irq_probe = {
	.symbol_name = "irq_enter_rcu",
	.pre_handler = idle_ends,
};

/* The first round warms up what a probe allocates. */
static void calibrate(void)
{
	unsigned long flags;
	int i, round;

	local_irq_save(flags);
	for (round = 0; round < 2; round++) {
		charge();
		memset(&now, 0, sizeof(now));
		for (i = 0; i < CALIBRATION; i++)
			cost_empty();
		charge();
	}
	local_irq_restore(flags);
	inner = now.account[EMPTY].spent / CALIBRATION;
	outer = now.account[OTHER].spent / CALIBRATION;
	memset(&now, 0, sizeof(now));
}

static int cost_show(struct seq_file *m, void *v)
{
	bool done = stop && seen >= stop;
	int i;

	seq_printf(m, "acks %llu segments %llu\n", done ? stop - skip : 0,
		   last.segments - first.segments);
	for (i = 0; done && i < EMPTY; i++) {
		const struct account *a = &last.account[i];
		const struct account *b = &first.account[i];
		u64 calls = a->calls - b->calls;
		u64 children = a->children - b->children;

		seq_printf(m, "%s %llu %lld\n", account_names[i], calls,
			   (s64)(a->spent - b->spent - inner * calls -
				 outer * children));
	}
	seq_printf(m, "probe %llu %llu\n", inner, outer);
	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probes[i].nmissed)
			seq_printf(m, "missed %s %d\n",
				   probes[i].kp.symbol_name, probes[i].nmissed);
	return 0;
}

static int measure_set(const char *val, const struct kernel_param *kp)
{
	u64 skipped, count;

	if (sscanf(val, "%llu %llu", &skipped, &count) != 2 || !skipped)
		return -EINVAL;
	skip = skipped;
	stop = skipped + count;
	seen = 0;
	return 0;
}

static const struct kernel_param_ops measure_ops = {
	.set	= measure_set,
};

module_param_cb(measure, &measure_ops, NULL, 0200);

static int __init cost_init(void)
{
	int i, err;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		probe_list[i] = &probes[i];
	since = rdtsc_ordered();
	err = register_kretprobe(&probes[0]);
	if (err)
		return err;
	calibrate();
	err = register_kretprobes(probe_list + 1, ARRAY_SIZE(probes) - 1);
	if (err) {
		pr_err("cost_meter: a function cannot be probed: %d\n", err);
		goto err_first;
	}
	err = register_kprobe(&irq_probe);
	if (err)
		goto err_probes;
	err = register_trace_cpu_idle(idle_begins, NULL);
	if (err)
		goto err_irq;
	if (proc_create_single("cost", 0444, NULL, cost_show))
		return 0;
	err = -ENOMEM;
	unregister_trace_cpu_idle(idle_begins, NULL);
err_irq:
	unregister_kprobe(&irq_probe);
err_probes:
	unregister_kretprobes(probe_list + 1, ARRAY_SIZE(probes) - 1);
err_first:
	unregister_kretprobe(&probes[0]);
	return err;
}

module_init(cost_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Counts a TCP sender's instructions in an emulated machine");
