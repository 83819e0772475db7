/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Room between a device's memory and the network, see sdr_stage.c.
 */
#ifndef SDR_STAGE_H
#define SDR_STAGE_H

#include <stdbool.h>
#include <stdint.h>
#include "base/sdr_list.h"
#include "base/sdr_mem.h"
#include "sdr_scratch.h"

/* bytes that are copied at a time, at least: what was copied travels while the rest waits */
#define SDR_STAGE_PIECE (512u << 10)

struct sdr_conn;
struct sdr_rel;

struct sdr_stages { /* of an endpoint */
	struct sdr_scratch tx, rx;
	struct sdr_list wait; /* conn_bulk.tx.stage_link: they want room to send from */
};

/* One segment's: bytes [0, done) of it are at both places. */
struct sdr_stage {
	const struct sdr_mem *mem; /* NULL: there is no stage */
	uint8_t *far;		   /* the segment in mem */
	uint8_t *near;		   /* and in our memory */
	uint64_t len, done;	   /* bytes */
};

void sdr_stages_open(struct sdr_rel *rel);
void sdr_stages_close(struct sdr_rel *rel);

/*
 * For len bytes at far to be sent.  False: there is no room now, and the connection is kicked when
 * there is.
 */
bool sdr_stage_tx_open(struct sdr_stage *s, struct sdr_conn *c, const struct sdr_mem *mem,
		       const uint8_t *far, uint64_t len);
/* Bytes [0, end) are near now, and perhaps more.  0 or a negative errno of mem. */
int sdr_stage_tx_fetch(struct sdr_stage *s, uint64_t end);
void sdr_stage_tx_close(struct sdr_stage *s, struct sdr_conn *c);

/* For len bytes that come in.  False: there is no room now. */
bool sdr_stage_rx_open(struct sdr_stage *s, struct sdr_rel *rel, const struct sdr_mem *mem,
		       uint8_t *far, uint64_t len);
/* Bytes [0, end) have come: are at their place, if that is worth a copy or all of it. */
int sdr_stage_rx_store(struct sdr_stage *s, uint64_t end);
void sdr_stage_rx_close(struct sdr_stage *s, struct sdr_rel *rel);

#endif /* SDR_STAGE_H */
