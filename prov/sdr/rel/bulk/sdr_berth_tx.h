/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Berths at the peer: keys that are here before a transfer needs them.  See sdr_berth_tx.c.
 */
#ifndef SDR_BERTH_TX_H
#define SDR_BERTH_TX_H

#include <stdbool.h>
#include <stdint.h>
#include "base/sdr_list.h"

#define SDR_BERTH_KEYS_MAX 64u /* of a peer's that are kept: more is no honest peer's */

struct sdr_conn;
struct sdr_frame_rec;
struct sdr_rel;

struct sdr_berth_key {
	struct sdr_list link; /* of its connection's; none: an operation has it */
	uint32_t id, rkey;
	uint64_t va, len; /* len: bytes */
};

/* A record of the peer's: a key comes, or is taken back.  False: it cannot be. */
bool sdr_berth_key_input(struct sdr_conn *c, const struct sdr_frame_rec *f);
/* For a transfer of len bytes.  NULL: there is none, or none as long. */
struct sdr_berth_key *sdr_berth_key_take(struct sdr_conn *c, uint64_t len);
/* It was not used after all. */
void sdr_berth_key_back(struct sdr_conn *c, struct sdr_berth_key *k);
void sdr_berth_key_free(struct sdr_rel *rel, struct sdr_berth_key *k);
void sdr_berth_keys_free(struct sdr_conn *c); /* all that no operation has */

#endif /* SDR_BERTH_TX_H */
