/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What act_find(), act_each(), act_devices_each() and act_totals() tell, as a test has it, and
 * nothing to reload: it is linked with --wrap of these (tests.mk), and what it asks for stands in
 * their place.
 */
#ifndef CTCPD_ACT_FAKE_H
#define CTCPD_ACT_FAKE_H

#include "ctcpd/act.h"

#define FAKE_MAX	64U

struct fake_act {
	struct act_totals totals;
	uint32_t n;
	struct pacing list[FAKE_MAX];
	uint32_t n_devices;
	struct pacing_device devices[4];
	int fails;		/* what act_each() returns */
};

bool __wrap_act_find(const struct act *a, const struct prefix *addr, struct pacing *p);
int __wrap_act_each(const struct act *a, pacing_fn each, void *data);
int __wrap_act_devices_each(const struct act *a, pacing_device_fn each, void *data);
const struct act_totals *__wrap_act_totals(const struct act *a);
void __wrap_act_reload(struct act *a, int64_t now);

static inline const struct act *fake_act(const struct fake_act *f)
{
	return (const struct act *)f;
}

bool __wrap_act_find(const struct act *a, const struct prefix *addr, struct pacing *p)
{
	const struct fake_act *f = (const struct fake_act *)a;
	uint32_t i;

	for (i = 0; i < f->n; i++) {
		if (!prefix_holds(&f->list[i].to, addr))
			continue;
		*p = f->list[i];
		return true;
	}
	return false;
}

int __wrap_act_each(const struct act *a, pacing_fn each, void *data)
{
	const struct fake_act *f = (const struct fake_act *)a;
	int rc = f->fails;
	uint32_t i;

	for (i = 0; i < f->n && !rc; i++)
		rc = each(&f->list[i], data);
	return rc;
}

int __wrap_act_devices_each(const struct act *a, pacing_device_fn each, void *data)
{
	const struct fake_act *f = (const struct fake_act *)a;
	uint32_t i;
	int rc = 0;

	for (i = 0; i < f->n_devices && !rc; i++)
		rc = each(&f->devices[i], data);
	return rc;
}

const struct act_totals *__wrap_act_totals(const struct act *a)
{
	return &((const struct fake_act *)a)->totals;
}

void __wrap_act_reload(struct act *a, int64_t now)
{
	(void)a;
	(void)now;
}

#endif
