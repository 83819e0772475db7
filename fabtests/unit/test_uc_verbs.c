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

static int verbs_open(const struct uc_conform *c, struct uc_net *net)
{
	int family = c->arg ? *(const int *)c->arg : AF_INET, ret;
	const struct sdr_uc_dev *d;
	struct sdr_uc_dev *v;
	unsigned int n, i;
	char err[256];

	ret = sdr_verbs_engine.probe(&v, &n, err, sizeof(err));
	if (ret || !n)
		return 77;
	for (i = 0; i < 2 && !ret; i++) {
		d = dev_find(v, n, family, i);
		if (d) {
			struct sdr_uc_open_attr a = { .device = d->name, .bind = d->addr };

			ret = sdr_verbs_engine.open(&a, &net->uc[i]);
		} else {
			ret = 77;
		}
	}
	if (ret && i == 2)
		net->uc[0]->ops->close(net->uc[0]);
	free(v);
	return ret;
}

static const int v6 = AF_INET6;

#define SETTLE .settle_ns = 100000000 /* ns: the guest is emulated */

static const struct uc_conform rows[] = {
	{ .name = "verbs", .open = verbs_open, SETTLE },
	{ .name = "verbs, IPv6", .open = verbs_open, .arg = &v6, SETTLE },
};

int main(int argc, char **argv)
{
	return uc_conform_run(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
