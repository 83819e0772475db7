/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A segment going out: one SDR message of a transfer.  See sdr_seg_tx.c.
 */
#ifndef SDR_SEG_TX_H
#define SDR_SEG_TX_H

#include "rel/conn/sdr_conn_mtu.h"
#include "sdr_bulk_tx.h"

struct sdr_seg_tx {
	struct sdr_list link;	   /* conn->segs, in the order of first sending */
	struct sdr_list lost_link; /* conn->lost_segs: packets wait to be sent again */
	struct sdr_list mine;	   /* bulk->segs */
	struct sdr_list end_link;  /* conn->ends: everything was sent (once more), END is owed */
	struct sdr_bulk_tx *bulk;  /* NULL: released, only the log names it */
	const struct sdr_conn_shape *shape; /* that it is numbered on */
	struct sdr_snd_handle *h;
	const uint8_t *base;
	struct sdr_stage stage; /* base is near of it */
	uint64_t len;
	struct sdr_group_tx *grp; /* NULL: not coded */
	bool parity;		  /* carries the group's parity */
	uint32_t msn, npkts, nchunks, nruns;
	uint32_t goal; /* packets [0, goal) leave by themselves: all, or the planned parity */
	uint32_t next; /* packets [next, goal) were never sent */
	uint32_t high; /* 1 + highest packet ever sent */
	uint32_t nacked, nlost, nagain, again_hint;
	/* by path: newest transmission of it that was reported delivered; packets in flight */
	uint32_t rack_seq[SDR_PATHS_MAX], flying[SDR_PATHS_MAX];
	uint32_t end_seq; /* packet with its latest END */
	/* packet with the oldest END that was not answered when the next one left */
	uint32_t end_first;
	bool ended;
	uint32_t top;	   /* highest packet known to be delivered */
	uint32_t inflight; /* packets sent, neither acknowledged nor lost */
	/* packets that were lost without our hearing of it before it was over */
	uint32_t unknown;
	uint32_t dec_chunks; /* chunks that came out of parity, the receiver says */
	uint32_t rtx, dups;  /* packets sent again, duplicates the receiver reported */
	uint32_t nlog;	     /* log entries naming this */
	uint32_t klass;	     /* log2 of capacity, for the free list */
	/* bitmaps of packets: delivered; sent and lost; to be sent (again) */
	uint64_t *acked, *lost, *again;
	/* bitmap of chunks: with packets sent again; parity: of packets ever sent */
	uint64_t *chunk_rtx;
	uint32_t *run_log; /* log position of each run's latest transmission */
	uint8_t *run_ntx;  /* transmissions of each run, saturating */
	uint8_t *on;	   /* path of each packet's latest transmission */
};

/* in flight + lost + acknowledged = sent; of parity, what was sent is a bitmap: at most all */
static inline bool sdr_seg_tx_counts(const struct sdr_seg_tx *s)
{
	uint64_t known = (uint64_t)s->inflight + s->nlost + s->nacked;

	return s->next <= s->goal && s->goal <= s->npkts && s->high <= s->npkts &&
	       s->nagain <= s->npkts - s->nacked &&
	       (s->parity ? known <= s->npkts : known == s->next);
}

/* n packets of it are not in flight any more on that path */
static inline void sdr_seg_tx_land(struct sdr_seg_tx *s, uint32_t path, uint32_t n)
{
	struct sdr_conn *c = s->bulk->conn;

	SDR_ASSERT(s->inflight >= n && s->flying[path] >= n);
	s->inflight -= n;
	s->flying[path] -= n;
	sdr_conn_land(c, sdr_conn_path(c, path), (uint64_t)n * s->shape->mtu);
}

/* IP bytes of all packets of a segment but the last, which may be shorter. */
static inline uint32_t sdr_seg_tx_pkt_bytes(const struct sdr_conn *c, const struct sdr_path *p,
					    const struct sdr_seg_tx *s)
{
	return sdr_conn_mtu_data(c, p, s->len < s->shape->mtu ? s->len : s->shape->mtu);
}

/* the next of b; NULL: not now */
struct sdr_seg_tx *sdr_seg_tx_open(struct sdr_conn *c, struct sdr_bulk_tx *b);
void sdr_seg_tx_sent(struct sdr_seg_tx *s); /* END is due if nothing is left to send */
void sdr_seg_tx_release(struct sdr_conn *c, struct sdr_seg_tx *s);
void sdr_seg_tx_drop(struct sdr_rel *rel, struct sdr_seg_tx *s);
/* delivered, with its group; true: and the whole transfer */
bool sdr_seg_tx_end(struct sdr_seg_tx *s);
struct sdr_seg_tx *sdr_seg_tx_by_msn(const struct sdr_conn *c, uint32_t msn);
void sdr_seg_tx_end_due(struct sdr_seg_tx *s);
/* these packets are to be sent (again) */
void sdr_seg_tx_again(struct sdr_seg_tx *s, uint32_t lo, uint32_t hi);

#endif /* SDR_SEG_TX_H */
