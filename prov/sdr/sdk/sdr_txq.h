/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The batch in front of the engine (sdr_txq.c).
 */
#ifndef SDR_TXQ_H
#define SDR_TXQ_H

#include <stdbool.h>
#include <stdint.h>

#include "uc/sdr_uc.h"

struct sdr_context;
struct sdr_snd_handle;

#define SDR_TX_DESCS   256u /* descriptors in the batch */
#define SDR_TX_RESERVE 32u  /* of them for control datagrams only */
/* data bytes queued before the engine is offered some */
#define SDR_TX_BYTES  (1u << 20)
#define SDR_CTL_SLOTS 64u /* control datagrams queued; power of two */

struct sdr_txq {
	struct sdr_uc_tx v[SDR_TX_DESCS];
	struct sdr_snd_handle *own[SDR_TX_DESCS]; /* of WRITEs: whose queued counts it */
	uint32_t head, tail;			  /* descriptors [head, tail) are to go */
	uint64_t bytes;				  /* data in them */
	bool blocked;				  /* the engine was full in this round */
	uint8_t *ctl; /* SDR_CTL_SLOTS * ctl_size bytes, a ring in the order of the CTLs queued */
	uint32_t ctl_size;
	uint32_t ctl_head, ctl_tail; /* free-running */
	bool ctl_open;		     /* a slot was given out and not pushed yet */
	struct sdr_uc_addr to[SDR_CTL_SLOTS];
};

/* Bytes that a control datagram's slot has: probes are the longest. */
static inline uint32_t sdr_txq_ctl_most(const struct sdr_uc_info *info)
{
	uint32_t most = info->probe_max > info->ctl_max ? info->probe_max : info->ctl_max;

	return (most + 63u) & ~63u;
}

/* True when one more data descriptor has room; offers the engine some if not. */
bool sdr_txq_room(struct sdr_context *ctx);
/* The last descriptor if it is a WRITE of h, else NULL. */
struct sdr_uc_tx *sdr_txq_last(struct sdr_context *ctx, const struct sdr_snd_handle *h);
/* Takes a descriptor (room was true); its bytes are counted by the caller in ctx->txq.bytes. */
struct sdr_uc_tx *sdr_txq_push(struct sdr_context *ctx, struct sdr_snd_handle *h);
/* Takes the descriptors of h out of the batch. */
void sdr_txq_drop(struct sdr_context *ctx, struct sdr_snd_handle *h);

#endif /* SDR_TXQ_H */
