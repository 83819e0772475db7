/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The context: one engine, its batch, its pools and its QPs.  The object is in sdr_context.c, the
 * round in which everything happens in sdr_context_progress.c.
 *
 * Ownership: a context owns pools and batch; a QP owns its message table; handles belong to the
 * context's pool and point to their QP.  One thread at a time; only the bitmaps, the slot words and
 * the notes of receive workers (sdr_crew.c) are atomic.
 */
#ifndef SDR_CONTEXT_H
#define SDR_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sdr_list.h"
#include "base/sdr_rand.h"
#include "sdr_pool.h"
#include "sdr_sdk.h"
#include "sdr_txq.h"

#define SDR_EV_MAX	128u	  /* events taken from the engine at a time */
#define SDR_QP_BUCKETS	256u	  /* hash of QPs by number; power of two */
#define SDR_TX_RETRY_NS 100000ull /* how soon a full engine is tried again */

struct sdr_crew;

struct sdr_context {
	struct sdr_uc *uc;
	struct sdr_uc_info info;
	uint32_t mtu; /* bytes */
	/* what infos say where the engine has no address of its own; len 0: nothing */
	struct sdr_uc_addr home;
	int err;      /* the engine broke: every progress says so */
	uint64_t now; /* ns, engine time */
	bool in_progress;
	bool dry;		      /* the last round took all that had come */
	bool tx_reading;	      /* a send waits for the engine to have read its buffer */
	uint8_t key[SDR_SIPHASH_KEY]; /* generator for keys: the hash of a counter */
	uint64_t nonce;
	struct sdr_list qps;	 /* all */
	struct sdr_list busy;	 /* with something to send or a CTS to repeat */
	struct sdr_list touched; /* receives with packets in this round */
	struct sdr_qp *bucket[SDR_QP_BUCKETS];
	uint32_t nmrs;
	struct {
		sdr_ctl_fn fn;
		void *user;
	} cls[SDR_CLASS_DGRAM + 1];
	struct {
		sdr_ctl_other_fn fn;
		void *user;
	} other; /* of another version */
	struct {
		sdr_path_fn fn;
		void *user;
	} path; /* what this host learns of ways */
	uint64_t pkts_dup, pkts_late, pkts_bad, chunks_rx, cts_tx, cts_rx;
	struct sdr_uc_ev ev[SDR_EV_MAX];
	int ev_pos, ev_n; /* [ev_pos, ev_n) are not dispatched yet */
	/* of the datagram that is being handled: since when this host had it, 0 unknown */
	uint64_t ctl_since;
	uint8_t ctl_ecn;       /* enum sdr_uc_ecn of the datagram that is being handled */
	uint8_t ctl_source;    /* of the engine, that it came to */
	struct sdr_crew *crew; /* NULL: the engine has no receive workers */
	struct sdr_pool pool;
	struct sdr_txq txq;
};

void sdr_context_random(struct sdr_context *ctx, uint64_t out[2]);
struct sdr_qp *sdr_context_qp_find(struct sdr_context *ctx, uint32_t qpn);

#endif /* SDR_CONTEXT_H */
