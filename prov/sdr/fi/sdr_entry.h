/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One entry of what fi_getinfo returns (sdr_entry.c).
 */
#ifndef SDR_ENTRY_H
#define SDR_ENTRY_H

#include <stdint.h>

#include <rdma/fabric.h>

struct sdr_cand;

/*
 * An endpoint of this type at this address, for hints that were found good (sdr_hints.c), or NULL.
 * dscp: the setting, for who asks for no traffic class.  The caller frees it; NULL: no memory.
 */
struct fi_info *sdr_entry_make(uint32_t version, const struct fi_info *hints, enum fi_ep_type type,
			       const struct sdr_cand *c, uint8_t dscp);

#endif /* SDR_ENTRY_H */
