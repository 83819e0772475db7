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
#include "base/sdr_slab.h"
#include "sdr_scratch.h"

/* bytes that are copied at a time, at least: what was copied travels while the rest waits */
#define SDR_STAGE_PIECE (512u << 10)

struct sdr_conn;
struct sdr_rel;

struct sdr_stages { /* of an endpoint */
	struct sdr_scratch tx, rx;
	struct sdr_list wait; /* conn_bulk.tx.stage_link: they want room to send from */
	/* bulk_rx.room: nothing of them is granted before there is room for all of it; in order */
	struct sdr_list rx_wait;
	struct sdr_list olds; /* sdr_stage_old */
	struct sdr_slab old_pool;
};

/* A segment's that is over, while a device still has packets of it to send. */
struct sdr_stage_old {
	struct sdr_list link; /* stages.olds */
	uint8_t *near;
	uint64_t len;
};

/* One segment's, or a granted transfer's: bytes [0, done) of it are at both places. */
struct sdr_stage {
	const struct sdr_mem *mem; /* NULL: there is no stage */
	uint8_t *far;		   /* the segment in mem */
	uint8_t *near;		   /* and in our memory */
	uint64_t len, done;	   /* bytes */
	bool part;		   /* near is of another one, which outlives it, or lent */
	struct sdr_stage_old *old; /* out: what it will be */
};

void sdr_stages_open(struct sdr_rel *rel);
void sdr_stages_close(struct sdr_rel *rel);
/* Once a round, and soon again while there are olds: what a device has read is room again. */
void sdr_stages_round(struct sdr_rel *rel);

/*
 * A transfer between mem and an engine that reaches devices goes through memory of ours all the
 * same: told once, with the engine's reason.
 */
void sdr_stages_told(struct sdr_rel *rel);

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
/*
 * For len bytes that come to near, which is somebody else's and outlives it.  mem NULL: far is
 * where the CPU reaches it.
 */
void sdr_stage_rx_lent(struct sdr_stage *s, const struct sdr_rel *rel, const struct sdr_mem *mem,
		       uint8_t *far, uint8_t *near, uint64_t len);
/* Of whole, the len bytes from off on. */
void sdr_stage_rx_part(struct sdr_stage *s, const struct sdr_stage *whole, uint64_t off,
		       uint64_t len);
/* Bytes [0, end) have come: are at their place, if that is worth a copy or all of it. */
int sdr_stage_rx_store(struct sdr_stage *s, uint64_t end);
/* Bytes [from, to) have come, to at most len: are at their place, whatever of the others is. */
int sdr_stage_rx_run(const struct sdr_stage *s, uint64_t from, uint64_t to);
void sdr_stage_rx_close(struct sdr_stage *s, struct sdr_rel *rel);

#endif /* SDR_STAGE_H */
