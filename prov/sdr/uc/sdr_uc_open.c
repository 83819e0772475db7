/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * From a name to an engine: chooses the kind, hands it the address, puts fault injection over it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sdr_fault.h"
#include "sdr_soft.h"
#include "sdr_uc_open.h"

static const char sdr_uc_soft_name[] = "soft";

static int sdr_uc_open_soft(const char *rest, const struct sdr_uc_open_attr *a, struct sdr_uc **uc)
{
	struct sdr_soft_attr sa;

	memset(&sa, 0, sizeof(sa));
	if (*rest == ':')
		rest++;
	if (sdr_soft_addr_parse(rest, &sa.bind)) {
		if (a->err)
			snprintf(a->err, a->err_len,
				 "engine \"soft:%s\": expected a numeric ADDRESS, ADDRESS:PORT, "
				 "[IPV6] or [IPV6]:PORT",
				 rest);
		return -EINVAL;
	}
	sa.mtu = a->mtu;
	sa.rcvbuf = a->rcvbuf;
	sa.sndbuf = a->sndbuf;
	sa.channels = a->channels;
	sa.off = a->off;
	sa.err = a->err;
	sa.err_len = a->err_len;
	return sdr_soft_open(&sa, uc);
}

int sdr_uc_open(const char *name, const struct sdr_uc_open_attr *attr, struct sdr_uc **uc)
{
	static const struct sdr_uc_open_attr none;
	const struct sdr_uc_open_attr *a = attr ? attr : &none;
	size_t n = sizeof(sdr_uc_soft_name) - 1;
	struct sdr_fault_spec spec;
	struct sdr_uc *inner;
	int ret;

	if (!name || strncmp(name, sdr_uc_soft_name, n) || (name[n] && name[n] != ':')) {
		if (a->err)
			snprintf(a->err, a->err_len,
				 "engine \"%s\": expected soft, soft:ADDRESS or soft:ADDRESS:PORT",
				 name ? name : "");
		return -EINVAL;
	}
	ret = sdr_fault_parse(a->fault, &spec, a->err, a->err_len);
	if (ret)
		return ret;
	ret = sdr_uc_open_soft(name + n, a, &inner);
	if (ret)
		return ret;
	if (!a->fault || !*a->fault) {
		*uc = inner;
		return 0;
	}
	if (!spec.has_seed)
		spec.seed = a->seed;
	ret = sdr_fault_open_spec(inner, &spec, uc);
	if (ret)
		inner->ops->close(inner);
	return ret;
}
