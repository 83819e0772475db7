/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * QPs: the object (sdr_qp.c), which is opened, connected and destroyed in sdr_qp_open.c.
 */
#ifndef SDR_QP_H
#define SDR_QP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sdr_list.h"
#include "sdr_rxk.h"
#include "sdr_sdk.h"

struct sdr_context;
struct sdr_wire_key;

struct sdr_qp {
	struct sdr_context *ctx;
	struct sdr_uc_qp *uqp;
	struct sdr_list link; /* ctx->qps */
	struct sdr_list busy; /* ctx->busy */
	struct sdr_qp *hash_next;
	struct sdr_qp_hooks hooks;
	uint64_t (*marks_via)
		[SDR_UC_ECNS]; /* as hooks.marks: of ways from 1 on; NULL: counted there */
	void (*control)(void *user, const void *buf, size_t len); /* hooks.user's */
	bool numbered; /* sends no CTS; its send limit moves by sdr_qp_limit_set */
	bool hooked;   /* and grants are the owner's */
	bool connected;
	bool peer_rkeyed;	       /* its messages need a grant */
	int err;		       /* negative errno: broken */
	uint8_t generations, channels; /* both sides' */
	uint8_t channel;	       /* of the next run */
	uint8_t tx_flags;	       /* SDR_UC_F_ECT, or 0 */
	uint8_t tx_via;		       /* way that packets go by */
	uint32_t qpn, rkey;	       /* own */
	uint32_t peer_qpn, peer_rkey;
	uint32_t peer_window;	 /* bytes that its host holds unread; 0: not known */
	struct sdr_uc_addr peer; /* where CTSs go; len 0: not connected */
	uint32_t mtu, chunk;	 /* bytes */
	uint64_t max_msg;	 /* bytes */
	uint32_t run_pkts;	 /* packets a descriptor carries at most */
	uint64_t spread_min;	 /* bytes of a message that may go to the peer's workers */
	uint32_t window;	 /* messages in flight a direction */

	/* receive: message numbers [base, base + window) */
	struct sdr_rxk rxk;
	uint32_t base;	/* all below are completed or skipped */
	uint32_t next;	/* number of the next sdr_recv_post */
	uint32_t nlive; /* posted and not completed */
	uint64_t *done; /* by slot: completed or skipped, number >= base */
	uint64_t *live; /* by slot: posted and not completed */

	/* receive: clear to send */
	/* the sender knows of the numbers below this: it used (not rkeyed) or confirmed them */
	uint32_t cts_seen;
	/* rkeyed: those below were sent at least once since the repetition began */
	uint32_t keys_sent;
	bool cts_armed;
	uint64_t cts_due, cts_wait; /* ns: next repetition, and the pause after it */
	uint64_t cts_since;	    /* ns: of the last post */

	/* send */
	uint32_t snd_next, snd_limit;
	/* by slot, of [snd_limit - IDs, snd_limit), 0: unknown; NULL: none needed */
	struct sdr_wire_key *keys;
	/* the keys of all numbers below are known, or not needed any more */
	uint32_t snd_known;
	uint32_t nopen; /* public handles */
	struct sdr_list sends, ready, waiting;
	uint64_t rate_bps; /* payload bits per second, 0 unlimited */
	uint64_t rate_at;  /* ns: when the bucket has run out of what was sent */
};

static inline uint32_t sdr_qp_slot(const struct sdr_qp *qp, uint32_t msn)
{
	return msn & ((1u << qp->rxk.split.id_bits) - 1);
}

/* Generations are a power of two, so this runs on where msn wraps. */
static inline uint8_t sdr_qp_gen(const struct sdr_qp *qp, uint32_t msn)
{
	return (uint8_t)(msn >> qp->rxk.split.id_bits & (qp->generations - 1u));
}

static inline uint32_t sdr_qp_npkts(const struct sdr_qp *qp, uint64_t length)
{
	return length ? (uint32_t)((length - 1) / qp->mtu + 1) : 1;
}

/* Where its owner is to be met. */
void sdr_qp_info_addr(struct sdr_wire_qp_info *i, const struct sdr_uc_addr *addr);
/* The engine says that it is broken. */
void sdr_qp_broken(struct sdr_qp *qp, int err);
/* Puts the QP on ctx->busy while it has something to do without events. */
void sdr_qp_busy_update(struct sdr_qp *qp);

#endif /* SDR_QP_H */
