/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the bulk room keeps for an endpoint and for each of its connections.
 */
#ifndef SDR_BULK_H
#define SDR_BULK_H

#include "fec/sdr_code.h"
#include "fec/sdr_fec.h"
#include "model/sdr_choice.h"
#include "rel/conn/sdr_conn.h"
#include "sdr_berth_rx.h"
#include "sdr_berth_tx.h"
#include "sdr_scratch.h"
#include "sdr_stage.h"

#define SDR_FEC_CACHE	(SDR_FEC_SYMS_MAX + 1u)
#define SDR_TX_LOG_MIN	64u /* entries of the data transmission log, power of two */
#define SDR_TX_LOG_MAX	(1u << 20)
#define SDR_SEG_CLASSES 32u /* log2 of packets */

struct sdr_seg_tx;
struct sdr_txent;

struct sdr_rel_bulk { /* of an endpoint */
	struct sdr_slab btx_pool, brx_pool, srx_pool, gtx_pool, grx_pool;
	void *seg_free[SDR_SEG_CLASSES]; /* freed sdr_seg_tx */
	struct sdr_htab binds; /* transfers that wait for a BIND, by connection and number */
	/* parity */
	struct sdr_scratch scratch;
	struct sdr_code_scratch code_scratch;
	/* decoding that threads do, and when a step of it was seen last, ns */
	struct sdr_list decodes;
	uint64_t decode_ns;
	uint64_t nlent, nlent_back; /* so far: lent, and taken back because no thread did it */
	struct sdr_stages stages;
	struct sdr_berths berths;
	struct sdr_slab key_pool; /* of peers' berths */
	bool far_told; /* that the engine does not reach a device's memory, as it might */
	struct sdr_choice_table *choices;
	struct sdr_fec *fecs[SDR_FEC_CACHE]; /* by number of rows; NULL: not used yet */
};

struct sdr_complete { /* a segment that is done, to be reported */
	uint32_t msn, echo;
	uint64_t last_ns;
	uint64_t at; /* not before */
	uint32_t dec_pkts, dec_chunks;
	bool twice; /* its sender expects losses: reported once more */
};

struct sdr_conn_bulk {			     /* of a connection */
	const struct sdr_scheme_ops *scheme; /* the peer's, else that of the settings */
	struct {
		struct sdr_list bulks, segs;
		struct sdr_list lost_segs, ends, copies;
		struct sdr_list evaluate; /* groups of which nothing is in flight */
		uint32_t nend_probed;  /* groups whose receiver got END although it could decode */
		uint32_t ngroups;      /* groups with a buffer for parity */
		bool parity_wait;      /* the next one waits for such a buffer to come back */
		struct sdr_conn *conn; /* whose this is */
		/* stages.wait: the next segment waits for room between device and network */
		struct sdr_list stage_link;
		struct sdr_ring index; /* of sdr_seg_tx *, open segments by message number */
		uint32_t msn;	       /* of the next message */
		struct sdr_ring log;   /* of sdr_txent, transmissions */
		/* round trips in a row in which data were lost and none came; the last, ns */
		uint32_t barren;
		uint64_t barren_ns;
		struct sdr_list keys; /* the peer's berths, for transfers to come */
		uint32_t nkeys;
	} tx;
	struct {
		struct sdr_list brx, dirty;
		struct sdr_list asked;	 /* segments whose sender asks: reported once more */
		struct sdr_list partial; /* of brx, those with messages that are not bound yet */
		uint32_t nwrites;	 /* of brx, WRITEs of the peer */
		uint32_t nbrx, nroom;	 /* of brx, all; those that wait for room of ours */
		uint64_t report_at;	 /* ns: what is dirty is reported, all of it together */
		/* data that come without a pause: the last of them, ns, and how many, bytes */
		uint64_t train_ns, train_bytes;
		uint32_t trains; /* so far */
		bool train_told; /* this one is reported in small parts; the last such, ns */
		uint64_t train_told_ns;
		/* packets of this stretch of a near path and of the last; it began, ns */
		uint32_t near_came, near_last;
		uint64_t near_ns;
		uint64_t asked_ns; /* for the round trip, with a report */
		/* the end of the numbers that the peer has given transfers */
		uint32_t seen;
		/* refused messages beyond the window: skipped as it moves */
		uint32_t skip_lo, skip_hi;
		/* by ID: its latest message was refused, not completed */
		uint64_t skipped[(1u << SDR_IMM_ID_BITS_MAX) / 64];
		/* completions to report: now, and once more a little later */
		struct sdr_ring comp[2]; /* of sdr_complete */
		struct sdr_conn_berths berths;
	} rx;
	struct sdr_choice choice; /* the last decision; why is valid with chosen */
	uint64_t cover_ppm;	  /* of the transfer */
	bool chosen;
};

int sdr_bulk_open(struct sdr_rel *rel); /* 0 or -ENOMEM */
void sdr_bulk_close(struct sdr_rel *rel);
void sdr_bulk_conn_init(struct sdr_conn *c);
/* No operation is under way any more. */
void sdr_bulk_conn_free(struct sdr_conn *c);

#endif /* SDR_BULK_H */
