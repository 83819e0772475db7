/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The verbs engine under the conformance suite: between the first two devices of this host with
 * addresses of one family, or on the only one.  Without a device there is nothing to test: 77, as
 * "make check" has it.  In the guest of fabtests/rxe there are two.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "uc/fault/sdr_fault.h"
#include "uc/verbs/sdr_verbs.h"
#include "uc_conform.h"

/* The n-th device with an address of the family; the last one before it if there are fewer. */
static const struct sdr_uc_dev *dev_find(const struct sdr_uc_dev *v, unsigned int n, int family,
					 unsigned int nth)
{
	const struct sdr_uc_dev *found = NULL;
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct sockaddr_in6 *in6 = (const void *)&v[i].addr;

		if (v[i].addr.ss_family != family || (found && !strcmp(found->name, v[i].name)))
			continue;
		if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
			continue;
		found = &v[i];
		if (!nth--)
			break;
	}
	return found;
}

struct verbs_arg {
	int family;
	const char *fault; /* NULL: nothing over it */
	uint8_t workers;
};

static int verbs_open_one(const struct sdr_uc_dev *d, const struct verbs_arg *arg,
			  struct sdr_uc **uc)
{
	struct sdr_uc_open_attr a = { .device = d->name, .bind = d->addr, .workers = arg->workers };
	struct sdr_uc *inner;
	int ret = sdr_verbs_engine.open(&a, &inner);

	if (ret)
		return ret;
	*uc = inner;
	return arg->fault ? sdr_fault_open(inner, arg->fault, 5, uc, NULL, 0) : 0;
}

static int verbs_open(const struct uc_conform *c, struct uc_net *net)
{
	const struct verbs_arg *arg = c->arg;
	const struct sdr_uc_dev *d;
	struct sdr_uc_dev *v;
	unsigned int n, i;
	char err[256];
	int ret;

	ret = sdr_verbs_engine.probe(&v, &n, err, sizeof(err));
	if (ret || !n)
		return 77;
	for (i = 0; i < 2 && !ret; i++) {
		d = dev_find(v, n, arg->family, i);
		ret = d ? verbs_open_one(d, arg, &net->uc[i]) : 77;
	}
	if (ret && i == 2)
		net->uc[0]->ops->close(net->uc[0]);
	free(v);
	return ret;
}

static const struct verbs_arg v4 = { .family = AF_INET };
static const struct verbs_arg v6 = { .family = AF_INET6 };
static const struct verbs_arg none = { .family = AF_INET, .fault = "drop=0" };
static const struct verbs_arg two = { .family = AF_INET, .workers = 2 };
static const struct verbs_arg two_delay = { .family = AF_INET, .fault = "delay=5ms", .workers = 2 };
static const struct verbs_arg delay = { .family = AF_INET, .fault = "delay=5ms" };

#define SETTLE .settle_ns = 100000000 /* ns: the guest is emulated */

static const struct uc_conform rows[] = {
	{ .name = "verbs", .open = verbs_open, .arg = &v4, SETTLE },
	{ .name = "verbs, IPv6", .open = verbs_open, .arg = &v6, SETTLE },
	{ .name = "verbs under drop=0", .open = verbs_open, .arg = &none, SETTLE },
	{ .name = "verbs under delay=5ms", .open = verbs_open, .arg = &delay, SETTLE },
	{ .name = "verbs, 2 workers", .open = verbs_open, .arg = &two, SETTLE },
	{ .name = "verbs, 2 workers, under delay=5ms",
	  .open = verbs_open,
	  .arg = &two_delay,
	  SETTLE },
};

int main(int argc, char **argv)
{
	return uc_conform_run(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
