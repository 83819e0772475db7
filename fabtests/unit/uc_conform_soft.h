/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Rows of the conformance suite over the soft engine: two of them on loopback. */
#ifndef UC_CONFORM_SOFT_H
#define UC_CONFORM_SOFT_H

#include "uc/sdr_uc_addr.h"
#include "uc/soft/sdr_soft.h"
#include "uc_conform.h"

struct uc_soft_arg {
	const char *addr;
	uint8_t channels, off; /* of sdr_uc_open_attr, */
	uint64_t shm;	       /* likewise */
};

static inline int uc_soft_open(const struct uc_conform *c, struct uc_net *net)
{
	static const struct uc_soft_arg plain = { .addr = "127.0.0.1" };
	const struct uc_soft_arg *arg = c->arg ? c->arg : &plain;
	struct sdr_uc_open_attr a = { .channels = arg->channels, .off = arg->off, .shm = arg->shm };
	int i, ret = sdr_uc_addr_parse(arg->addr, &a.bind);

	for (i = 0; i < 2 && !ret; i++)
		ret = sdr_soft_engine.open(&a, &net->uc[i]);
	if (ret && i == 2)
		net->uc[0]->ops->close(net->uc[0]);
	return ret == -EADDRNOTAVAIL || ret == -EAFNOSUPPORT || ret == -ENODEV ? 77 : ret;
}

#endif /* UC_CONFORM_SOFT_H */
