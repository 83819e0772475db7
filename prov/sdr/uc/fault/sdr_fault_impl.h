/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Insides of fault injection, shared by its files only.
 *
 *   sdr_fault_spec.c  the text
 *   sdr_fault.c       the engine: its operations
 *   sdr_fault_dice.c  what happens to the next packet
 *   sdr_fault_direct.c  packets that leave at once
 *   sdr_fault_delayq.c  packets that leave later: rate, delay, jitter, reordering
 *   sdr_fault_held.c    what waits meanwhile
 */
#ifndef SDR_FAULT_IMPL_H
#define SDR_FAULT_IMPL_H

#include "base/sdr_ring.h"
#include "sdr_fault.h"
#include "sdr_fault_dice.h"

#define SDR_FAULT_OUT	  128u	 /* descriptors handed to the inner engine in one call */
#define SDR_FAULT_BUF_LEN 65536u /* bytes of a buffer that holds copies of packets */
/* bytes of such buffers; what does not fit is lost as in a full queue */
#define SDR_FAULT_POOL_MAX  (256u << 20)
#define SDR_FAULT_HELD_MAX  (1u << 18)	/* packets held at a time; likewise */
#define SDR_FAULT_QUEUE_MIN (4u << 20)	/* minimum bytes of a rate's default queue */
#define SDR_FAULT_QUEUE_NS  50000000ull /* and its length in time at that rate: twice 25 ms */
#define SDR_FAULT_IP_UDP    28u		/* bytes in front of the BTH that a rate counts (IPv4) */
/* a reordered packet waits 0.1 to 1 ms beyond its turn, */
#define SDR_FAULT_HOLD_MIN_NS 100000ull
#define SDR_FAULT_HOLD_MAX_NS 1000000ull
/* or the time of up to so many packets at the rate, if that is longer */
#define SDR_FAULT_HOLD_PKTS 8u
#define SDR_FAULT_RETRY_NS  50000ull /* wait after the inner engine took no more */

struct sdr_fault_qp {
	struct sdr_uc_qp qp;
	struct sdr_uc_qp *inner;
	uint32_t mtu;
};

struct sdr_fault_buf {
	struct sdr_fault_buf *next; /* in the free list */
	uint32_t used, refs;	    /* bytes; packets that lie here */
	uint8_t data[SDR_FAULT_BUF_LEN];
};

struct sdr_fault_pkt {
	uint64_t due; /* ns */
	struct sdr_fault_buf *buf;
	const uint8_t *data;
	struct sdr_fault_qp *qp; /* WRITE; NULL: of a QP that is gone */
	uint32_t len, slot, first, user_imm, epoch, rkey;
	uint64_t va;
	uint8_t kind, flags, gen, channel, via;
	struct sdr_uc_addr to; /* CTL */
};

/* Descriptors on their way to the inner engine; [pos, n) it has not taken yet. */
struct sdr_fault_stage {
	struct sdr_uc_tx tx[SDR_FAULT_OUT];
	struct sdr_fault_buf *buf[SDR_FAULT_OUT];
	uint32_t pkts[SDR_FAULT_OUT];
	struct sdr_uc_addr to[SDR_FAULT_OUT];
	struct sdr_fault_qp *qp[SDR_FAULT_OUT];
	uint32_t pos, n;
};

/* Packets that wait, and their bytes (sdr_fault_held.c). */
struct sdr_fault_held {
	struct sdr_ring fifo;	    /* of sdr_fault_pkt, in order of sending: due never falls */
	struct sdr_fault_pkt *late; /* binary heap by due: reordered packets */
	uint32_t late_cap, late_count;
	struct sdr_fault_buf *cur, *free;
	uint64_t pool_bytes;
};

struct sdr_fault_delayq {
	struct sdr_fault_held held;
	/* ns since open: when the last bit of the newest packet has left; fractions add up */
	double wire_free;
	uint64_t last_due; /* ns: of the newest packet in fifo */
	uint64_t retry;	   /* ns: when the stage is tried again; 0: it is empty */
	uint64_t queue_bytes;
	struct sdr_fault_stage stage;
};

struct sdr_fault {
	struct sdr_uc uc;
	struct sdr_uc *inner;
	struct sdr_fault_spec spec;
	struct sdr_fault_dice dice;
	double go_bad, go_good; /* Gilbert-Elliott transition probabilities */
	uint64_t opened;	/* ns */
	uint64_t queue_drop;	/* packets lost to a full queue or pool, blackouts included */
	bool holds;		/* packets take the way through hold */
	struct sdr_fault_delayq delayq;
	struct sdr_uc_tx out[SDR_FAULT_OUT];
	/* where posting resumes when this one is not taken: descriptor, */
	int out_d[SDR_FAULT_OUT];
	uint32_t out_pkt[SDR_FAULT_OUT]; /* packet */
};

static inline struct sdr_fault_qp *sdr_fault_qp_of(struct sdr_uc_qp *qp)
{
	return (struct sdr_fault_qp *)qp;
}

static inline uint32_t sdr_fault_pkts(const struct sdr_uc_tx *t)
{
	uint32_t mtu;

	if (t->kind != SDR_UC_TX_WRITE || !t->len)
		return 1;
	mtu = ((const struct sdr_fault_qp *)t->w.qp)->mtu;
	return (uint32_t)(((uint64_t)t->len + mtu - 1) / mtu);
}
static inline bool sdr_fault_black(const struct sdr_fault *f, uint64_t now)
{
	return f->spec.blackout_len_ns && now - f->opened >= f->spec.blackout_ns &&
	       now - f->opened < f->spec.blackout_ns + f->spec.blackout_len_ns;
}

/* A copy of p's bytes; late: beyond its turn.  False: there is no room. */
bool sdr_fault_held_add(struct sdr_fault_held *h, struct sdr_fault_pkt *p, const uint8_t *bytes,
			bool late);
/* Takes the next packet that is due; its bytes stay until sdr_fault_held_put. */
bool sdr_fault_held_next(struct sdr_fault_held *h, uint64_t now, struct sdr_fault_pkt *p);
void sdr_fault_held_put(struct sdr_fault_held *h, struct sdr_fault_buf *b, uint32_t refs);
/* ns: when the first is due, UINT64_MAX: none; the last that still has somewhere to go, 0: none. */
uint64_t sdr_fault_held_first(const struct sdr_fault_held *h);
uint64_t sdr_fault_held_last(const struct sdr_fault_held *h);
/* A QP goes: packets of it are held for nobody. */
void sdr_fault_held_part(struct sdr_fault_held *h, const struct sdr_fault_qp *qp);
void sdr_fault_held_free(struct sdr_fault_held *h);

/* Takes every descriptor; what has no room is lost. */
void sdr_fault_delayq_post(struct sdr_fault *f, struct sdr_uc_tx *v, int n);
/* Sends what is due. */
void sdr_fault_delayq_release(struct sdr_fault *f, uint64_t now);
/* sdr_uc_ops.drain */
void sdr_fault_delayq_drain(struct sdr_fault *f, uint64_t patience_ns);
uint64_t sdr_fault_delayq_deadline(const struct sdr_fault *f);
void sdr_fault_delayq_purge(struct sdr_fault *f, struct sdr_fault_qp *qp);
void sdr_fault_delayq_free(struct sdr_fault *f);

#endif /* SDR_FAULT_IMPL_H */
