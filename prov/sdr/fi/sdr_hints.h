/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Whether what the caller of fi_getinfo asks for can be had (sdr_hints.c).  0, or -FI_ENODATA, with
 * the reason in the log where it is not a matter of the address.
 */
#ifndef SDR_HINTS_H
#define SDR_HINTS_H

#include <stdbool.h>
#include <stdint.h>

#include <rdma/fabric.h>

struct sdr_cand;

/* Another provider asks, for one of its links. */
static inline bool sdr_hints_linked(const struct fi_info *hints)
{
	return hints && (hints->caps & FI_PEER);
}

/* Older applications have no field for a traffic class. */
static inline bool sdr_knows_tclass(uint32_t version)
{
	return FI_VERSION_GE(version, FI_VERSION(1, 9));
}

/* Everything that does not depend on the address; hints: NULL: none. */
int sdr_hints_check(uint32_t version, const struct fi_info *hints, enum fi_ep_type type);
/* What depends on it. */
int sdr_hints_check_at(const struct fi_info *hints, enum fi_ep_type type, const struct sdr_cand *c);

#endif /* SDR_HINTS_H */
