/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * From a name to an engine: finds its row, reads the device and the address, puts fault injection
 * over it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "uc/fault/sdr_fault.h"
#include "sdr_uc_addr.h"
#include "sdr_uc_open.h"
#include "sdr_uc_registry.h"

int sdr_uc_open_engine(const struct sdr_uc_engine *e, const struct sdr_uc_open_attr *attr,
		       struct sdr_uc **uc)
{
	struct sdr_uc_open_attr a = *attr;
	struct sdr_fault_spec spec;
	struct sdr_uc *inner;
	int ret;

	if (!a.bind.ss_family)
		a.bind.ss_family = AF_INET;
	ret = sdr_fault_parse(a.fault, &spec, a.err, a.err_len);
	if (ret)
		return ret;
	ret = e->open(&a, &inner);
	if (ret)
		return ret;
	if (!a.fault || !*a.fault) {
		*uc = inner;
		return 0;
	}
	if (!spec.has_seed)
		spec.seed = a.seed;
	ret = sdr_fault_open_spec(inner, &spec, uc);
	if (ret)
		inner->ops->close(inner);
	return ret;
}

/* What follows the engine in a name: [DEVICE[:]] of an engine that serves devices, [ADDRESS]. */
static int sdr_uc_name_parse(const struct sdr_uc_engine *e, const char *rest,
			     struct sdr_uc_open_attr *a, char device[SDR_UC_DEV_NAME])
{
	const char *addr = rest;
	size_t n;

	if (e->probe) {
		n = strcspn(rest, ":");
		addr = rest[n] ? rest + n + 1 : "";
		if (n >= SDR_UC_DEV_NAME || (!n && *rest))
			goto bad;
		memcpy(device, rest, n);
		device[n] = 0;
		a->device = n ? device : NULL;
	}
	if (!sdr_uc_addr_parse(addr, &a->bind))
		return 0;
bad:
	if (a->err)
		snprintf(a->err, a->err_len,
			 "engine \"%s:%s\": expected %sa numeric ADDRESS, ADDRESS:PORT, [IPV6] or "
			 "[IPV6]:PORT",
			 e->name, rest, e->probe ? "DEVICE and " : "");
	return -EINVAL;
}

int sdr_uc_open(const char *name, const struct sdr_uc_open_attr *attr, struct sdr_uc **uc)
{
	struct sdr_uc_open_attr a = { 0 };
	size_t n = name ? strcspn(name, ":") : 0;
	char device[SDR_UC_DEV_NAME], names[SDR_UC_ERR_LEN];
	const struct sdr_uc_engine *e;
	int ret;

	if (attr)
		a = *attr;
	a.device = NULL;
	e = n ? sdr_uc_engine_find_here(name, n) : NULL;
	if (!e) {
		sdr_uc_engine_syntax(names, sizeof(names));
		if (a.err)
			snprintf(a.err, a.err_len, "engine \"%s\": expected %s", name ? name : "",
				 names);
		return -EINVAL;
	}
	ret = sdr_uc_name_parse(e, name[n] ? name + n + 1 : "", &a, device);
	return ret ? ret : sdr_uc_open_engine(e, &a, uc);
}
