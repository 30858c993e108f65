// SPDX-License-Identifier: GPL-2.0
/*
 * Searches by the network that they are in: see act_nets.h.
 */
#include <stdlib.h>
#include <string.h>

#include "act_table.h"

void act_nets_init(struct act_nets *ns)
{
	memset(ns, 0, sizeof(*ns));
	recent_init(&ns->all);
	ns->poll = 1;
}

void act_nets_free(struct act_nets *ns)
{
	recent_free(&ns->all);
}

void act_nets_again(struct act_nets *ns)
{
	ns->poll++;
	ns->refused = false;
}

/* False: there is none of that level, or @of is as wide and not one of several in it */
static bool net_of(const struct prefix *of, unsigned int level, struct prefix *net)
{
	if (level && of->family == AF_INET)
		return false;
	*net = paced_subnet(of);
	if (level)
		prefix_cut(net, SITE_IP6);
	return net->len < of->len;
}

static struct act_net *find(const struct act_nets *ns, const struct prefix *net)
{
	return (struct act_net *)recent_peek(&ns->all, net, sizeof(*net));
}

static struct act_net *new_net(struct act_nets *ns, const struct prefix *to, unsigned int level)
{
	struct act_net *net = calloc(1, sizeof(*net));

	if (!net)
		return NULL;
	net->to = *to;
	net->level = level;
	net->node.key = &net->to;
	net->node.len = sizeof(net->to);
	TAILQ_INIT(&net->searches);
	if (recent_add(&ns->all, &net->node)) {
		free(net);
		return NULL;
	}
	return net;
}

static bool join(struct act_nets *ns, struct acting *e, unsigned int level)
{
	struct prefix to;
	struct act_net *net;

	if (!net_of(&e->to, level, &to))
		return true;
	net = find(ns, &to) ?: new_net(ns, &to, level);
	if (!net)
		return false;
	TAILQ_INSERT_TAIL(&net->searches, e, in_net[level]);
	net->n++;
	e->net[level] = net;
	return true;
}

static void leave(struct act_nets *ns, struct acting *e, unsigned int level)
{
	struct act_net *net = e->net[level];

	if (!net)
		return;
	e->net[level] = NULL;
	TAILQ_REMOVE(&net->searches, e, in_net[level]);
	if (--net->n)
		return;
	recent_remove(&ns->all, &net->node);
	free(net);
}

bool act_nets_join(struct act_nets *ns, struct acting *e)
{
	unsigned int i;

	for (i = 0; i < NET_LEVELS; i++) {
		if (join(ns, e, i))
			continue;
		act_nets_leave(ns, e);
		return false;
	}
	return true;
}

void act_nets_leave(struct act_nets *ns, struct acting *e)
{
	unsigned int i;

	for (i = 0; i < NET_LEVELS; i++)
		leave(ns, e, i);
}

struct act_net *act_nets_full(const struct act_nets *ns, const struct prefix *to)
{
	static const uint32_t most[NET_LEVELS] = { NET_MAX, SITE_MAX };
	unsigned int i = NET_LEVELS;
	struct act_net *net;
	struct prefix of;

	while (i--) {
		net = net_of(to, i, &of) ? find(ns, &of) : NULL;
		if (net && net->n >= most[i])
			return net;
	}
	return NULL;
}

void act_nets_refuse(struct act_nets *ns, struct act_net *net)
{
	net->full = ns->poll;
	ns->refused = true;
}

struct acting *act_net_silent_longest(const struct act_net *net, int64_t now,
				      bool (*may)(const struct acting *e, int64_t now,
						  const void *data),
				      const void *data)
{
	struct acting *e, *first = NULL;

	TAILQ_FOREACH(e, &net->searches, in_net[net->level])
		if (may(e, now, data) && (!first || e->search.seen < first->search.seen))
			first = e;
	return first;
}
