/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * From a name to an engine: chooses the kind, hands it the address, puts fault injection over it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "uc/fault/sdr_fault.h"
#include "uc/soft/sdr_soft.h"
#include "sdr_uc_addr.h"
#include "sdr_uc_open.h"
#include "uc/verbs/sdr_verbs.h"

#define SDR_UC_NAMES \
	"soft, soft:ADDRESS, soft:ADDRESS:PORT, verbs, verbs:DEVICE or verbs:DEVICE:ADDRESS[:PORT]"

static int sdr_uc_open_soft(const char *rest, const struct sdr_uc_open_attr *a, struct sdr_uc **uc)
{
	struct sdr_soft_attr sa;

	memset(&sa, 0, sizeof(sa));
	if (*rest == ':')
		rest++;
	if (sdr_uc_addr_parse(rest, &sa.bind)) {
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

static int sdr_uc_open_verbs(const char *rest, const struct sdr_uc_open_attr *a, struct sdr_uc **uc)
{
	struct sdr_verbs_attr va = { .mtu = a->mtu, .err = a->err, .err_len = a->err_len };
	char device[SDR_VERBS_NAME];
	const char *addr;
	size_t n;

	if (*rest == ':')
		rest++;
	n = strcspn(rest, ":");
	addr = rest[n] ? rest + n + 1 : "";
	if (n >= sizeof(device) || (!n && *rest) || sdr_uc_addr_parse(addr, &va.bind)) {
		if (a->err)
			snprintf(
				a->err, a->err_len,
				"engine \"verbs:%s\": expected DEVICE and a numeric ADDRESS, ADDRESS:PORT, [IPV6] "
				"or "
				"[IPV6]:PORT",
				rest);
		return -EINVAL;
	}
	memcpy(device, rest, n);
	device[n] = 0;
	va.device = n ? device : NULL;
	return sdr_verbs_open(&va, uc);
}

static const struct sdr_uc_kind {
	const char *name;
	int (*open)(const char *rest, const struct sdr_uc_open_attr *a, struct sdr_uc **uc);
} sdr_uc_kinds[] = { { "soft", sdr_uc_open_soft }, { "verbs", sdr_uc_open_verbs } };

/* *rest: what follows the name, from its colon on. */
static const struct sdr_uc_kind *sdr_uc_kind_find(const char *name, const char **rest)
{
	size_t i, n = name ? strcspn(name, ":") : 0;

	for (i = 0; i < sizeof(sdr_uc_kinds) / sizeof(sdr_uc_kinds[0]); i++) {
		if (n && strlen(sdr_uc_kinds[i].name) == n &&
		    strncmp(name, sdr_uc_kinds[i].name, n) == 0) {
			*rest = name + n;
			return &sdr_uc_kinds[i];
		}
	}
	return NULL;
}

int sdr_uc_open(const char *name, const struct sdr_uc_open_attr *attr, struct sdr_uc **uc)
{
	static const struct sdr_uc_open_attr none;
	const struct sdr_uc_open_attr *a = attr ? attr : &none;
	const struct sdr_uc_kind *kind;
	struct sdr_fault_spec spec;
	const char *rest = "";
	struct sdr_uc *inner;
	int ret;

	kind = sdr_uc_kind_find(name, &rest);
	if (!kind) {
		if (a->err)
			snprintf(a->err, a->err_len, "engine \"%s\": expected " SDR_UC_NAMES,
				 name ? name : "");
		return -EINVAL;
	}
	ret = sdr_fault_parse(a->fault, &spec, a->err, a->err_len);
	if (ret)
		return ret;
	ret = kind->open(rest, a, &inner);
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
