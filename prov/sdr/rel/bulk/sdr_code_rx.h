/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Coded segments coming in, see sdr_code_rx.c.
 */
#ifndef SDR_CODE_RX_H
#define SDR_CODE_RX_H

#include "sdr_seg_rx.h"
#include "sdr_decode.h"
#include "fec/sdr_code.h"
#include "fec/sdr_fec.h"

struct sdr_group_rx {
	struct sdr_seg_rx *data, *parity; /* parity NULL: not bound */
	const struct sdr_fec *fec;
	uint8_t *scratch;
	bool of_berth;	   /* scratch is */
	uint32_t stuck_cw; /* a codeword that could not be decoded */
	bool dead;	   /* no memory to decode: waits for the data themselves */
	struct sdr_code code;
	struct sdr_decode decode; /* under way, or not */
};

struct sdr_group_rx *sdr_group_rx_new(struct sdr_bulk_rx *b, const struct sdr_plan_msg *m);
void sdr_group_rx_free(struct sdr_conn *c, struct sdr_group_rx *g);
/*
 * Packets of either came: decodes if that completes the data, or has it done (sdr_decode_lent).
 * True: the segment is complete.
 */
bool sdr_group_rx_try(struct sdr_conn *c, struct sdr_group_rx *g);
/* What was decoded: packets, and the chunks of the bitmap that they lie in. */
void sdr_group_rx_decoded(const struct sdr_group_rx *g, uint32_t *pkts, uint32_t *chunks);

#endif /* SDR_CODE_RX_H */
