/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Coded segments coming in, see sdr_code_rx.c.
 */
#ifndef SDR_CODE_RX_H
#define SDR_CODE_RX_H

#include "sdr_bulk_rx.h"
#include "fec/sdr_code.h"
#include "fec/sdr_fec.h"

struct sdr_group_rx {
	struct sdr_seg_rx *data, *parity; /* parity NULL: not bound */
	const struct sdr_fec *fec;
	uint8_t *scratch;
	uint32_t stuck_cw; /* a codeword that could not be decoded */
	bool dead;	   /* no memory to decode: waits for the data themselves */
	struct sdr_code code;
};

struct sdr_group_rx *sdr_group_rx_new(struct sdr_bulk_rx *b, const struct sdr_plan_msg *m);
void sdr_group_rx_free(struct sdr_conn *c, struct sdr_group_rx *g);
/*
 * Packets of either came: decodes if that completes the data.  > 0: packets decoded, the segment is
 * complete.
 */
uint32_t sdr_group_rx_try(struct sdr_conn *c, struct sdr_group_rx *g, uint32_t *chunks);

#endif /* SDR_CODE_RX_H */
