/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Insides of the SDK, shared by its files and its tests only.
 *
 *   sdr_context.c	create, destroy
 *   sdr_context_progress.c	the round, time
 *   sdr_mr.c		registered memory
 *   sdr_context_open.c	the one file that opens an engine by name
 *   sdr_txq.c		the batch in front of the engine
 *   sdr_pool.c		handles and bitmaps
 *   sdr_qp.c		QPs
 *   sdr_qp_open.c	geometry, connect, destroy
 *   sdr_msgtab.c	the receive side's window of message numbers
 *   sdr_recv.c		receives, and what a packet changes in them
 *   sdr_uimm.c		the user's immediate
 *   sdr_rxk.c		the receive worker kernel
 *   sdr_cts.c		clear to send, both sides
 *   sdr_keys.c		the same where messages need a grant
 *   sdr_send.c		sends
 *   sdr_send_poll.c	when one has ended
 *   sdr_send_run.c	their packets as descriptors
 *   sdr_strerror.c
 *
 * Ownership: a context owns pools and batch; a QP owns its message table; handles belong to the
 * context's pool and point to their QP.  One thread at a time; only the bitmaps and the slot words
 * are atomic.
 */
#ifndef SDR_SDK_PRIV_H
#define SDR_SDK_PRIV_H

#include "sdr_sdk.h"
#include "base/sdr_bitmap.h"
#include "base/sdr_endian.h"
#include "base/sdr_list.h"
#include "base/sdr_rand.h"
#include "sdr_rxk.h"

#define SDR_EV_MAX	    128u /* events taken from the engine at a time */
#define SDR_PROGRESS_EVENTS 256	 /* events a round of sdr_context_progress */
#define SDR_TX_DESCS	    256u /* descriptors in the batch */
#define SDR_TX_RESERVE	    32u	 /* of them for control datagrams only */
/* data bytes queued before the engine is asked to take some */
#define SDR_TX_BYTES	(1u << 20)
#define SDR_CTL_SLOTS	64u	  /* control datagrams queued; power of two */
#define SDR_TX_RETRY_NS 100000ull /* how soon a full engine is tried again */
#define SDR_TRAIN_PKTS	64u	  /* packets of one UDP GSO train, */
#define SDR_TRAIN_BYTES 65000u	  /* and its bytes with headers */
/* trains a descriptor carries where there is one channel */
#define SDR_RUN_TRAINS 4u
/* slabs of handles a context: 256 Ki messages in flight each way */
#define SDR_SLABS_MAX	    4096u
#define SDR_BITS_INLINE	    4u		 /* bitmap words inside a receive handle */
#define SDR_BITS_CLASSES    32u		 /* class c holds SDR_BITS_INLINE << c words */
#define SDR_BITS_IDLE_MAX   (16u << 20)	 /* bytes of idle bitmaps kept for reuse */
#define SDR_QP_BUCKETS	    256u	 /* hash of QPs by number; power of two */
#define SDR_CHUNK_DEFAULT   65536u	 /* bytes */
#define SDR_MAX_MSG_DEFAULT (1ull << 30) /* bytes */
#define SDR_CTS_FIRST_NS    10000000ull	 /* first repetition of an unanswered CTS, doubled up to */
#define SDR_CTS_MAX_NS	    1000000000ull
/* how long it is repeated when no receive is posted any more */
#define SDR_CTS_LINGER_NS 30000000000ull
/* a rate-limited sender that was late may make up this much */
#define SDR_RATE_CATCHUP_NS 1000000ull
/* and injects at most this much (or a packet) at a time */
#define SDR_RATE_QUANTUM_NS 100000ull

/* ---- handles --------------------------------------------------------------------------------- */

struct sdr_rcv_handle {
	struct sdr_rxk_msg k; /* first: the kernel's slabs are these handles */
	struct sdr_rcv_state st;
	struct sdr_qp *qp;	     /* NULL: free */
	struct sdr_rcv_handle *next; /* free list */
	struct sdr_list touched;     /* packets came in this round */
	uint64_t *words;	     /* both bitmaps, inline or of the pool */
	struct sdr_uc_grant grant;   /* keyed engine, QP without hooks */
	uint32_t index;
	uint8_t cls;
	uint64_t inl[SDR_BITS_INLINE];
};

struct sdr_snd_handle {
	struct sdr_qp *qp;	     /* NULL: free */
	struct sdr_snd_handle *next; /* free list */
	struct sdr_list all;	     /* qp->sends */
	struct sdr_list link;	     /* qp->ready or qp->waiting while a part is to be sent */
	uint64_t length;	     /* bytes */
	uint32_t msn;
	uint32_t npkts; /* with bytes */
	uint32_t total; /* npkts and the empty ones behind for the user's immediate */
	uint32_t tail;	/* bytes of packet npkts - 1 */
	uint32_t uimm;
	uint64_t va; /* keyed: where the message lies at the receiver */
	uint32_t key;
	bool keyed;
	bool whole; /* one part is the message: it may be registered */
	bool reg_tried;
	void *mr; /* own registration, of [mr_base, mr_base + length); NULL: none */
	const void *mr_base;
	void *part_mr;	     /* the caller's, of the latest part; NULL: none, or not worth it */
	uint32_t queued;     /* descriptors in the batch */
	const uint8_t *part; /* bytes of packet part_first */
	uint32_t part_first, part_next, part_end;
	uint8_t gen;
	bool ended; /* public sends: no more parts */
};

struct sdr_pool_bits {
	struct sdr_pool_bits *next;
};

struct sdr_pool {
	void **rslab; /* SDR_SLABS_MAX pointers, filled from the front */
	void **sslab;
	uint32_t nrslab, nsslab;
	struct sdr_rcv_handle *rfree;
	struct sdr_snd_handle *sfree;
	struct sdr_pool_bits *bits[SDR_BITS_CLASSES];
	uint64_t idle_bytes; /* in bits[] */
};

int sdr_pool_init(struct sdr_pool *p);
void sdr_pool_free(struct sdr_pool *p);
/*
 * A receive handle with zeroed bitmaps for so many bits; k.npkts and the bitmap pointers are set.
 * NULL: no memory.
 */
struct sdr_rcv_handle *sdr_pool_rcv_get(struct sdr_pool *p, uint32_t npkts, uint32_t nchunks);
void sdr_pool_rcv_put(struct sdr_pool *p, struct sdr_rcv_handle *h);
struct sdr_snd_handle *sdr_pool_snd_get(struct sdr_pool *p);
void sdr_pool_snd_put(struct sdr_pool *p, struct sdr_snd_handle *h);

/* ---- batch in front of the engine ------------------------------------------------------------ */

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

/* True when one more data descriptor has room; asks the engine to take some if not. */
bool sdr_txq_room(struct sdr_context *ctx);
/* The last descriptor if it is a WRITE of h, else NULL. */
struct sdr_uc_tx *sdr_txq_last(struct sdr_context *ctx, const struct sdr_snd_handle *h);
/* Takes a descriptor (room was true); its bytes are counted by the caller in ctx->txq.bytes. */
struct sdr_uc_tx *sdr_txq_push(struct sdr_context *ctx, struct sdr_snd_handle *h);
/* Takes the descriptors of h out of the batch. */
void sdr_txq_drop(struct sdr_context *ctx, struct sdr_snd_handle *h);

/* ---- context --------------------------------------------------------------------------------- */

struct sdr_context {
	struct sdr_uc *uc;
	struct sdr_uc_info info;
	uint32_t mtu; /* bytes */
	int err;      /* the engine broke: every progress says so */
	uint64_t now; /* ns, engine time */
	bool in_progress;
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
	uint64_t pkts_dup, pkts_late, pkts_bad, chunks_rx, cts_tx, cts_rx;
	struct sdr_uc_ev ev[SDR_EV_MAX];
	int ev_pos, ev_n; /* [ev_pos, ev_n) are not dispatched yet */
	struct sdr_pool pool;
	struct sdr_txq txq;
};

struct sdr_mr {
	struct sdr_context *ctx;
	void *uc_mr;
	uintptr_t addr;
	size_t len;
};

void sdr_context_random(struct sdr_context *ctx, uint64_t out[2]);
struct sdr_qp *sdr_context_qp_find(struct sdr_context *ctx, uint32_t qpn);
bool sdr_mr_covers(const struct sdr_mr *mr, const struct sdr_context *ctx, const void *addr,
		   uint64_t len);

/* ---- QP -------------------------------------------------------------------------------------- */

struct sdr_qp {
	struct sdr_context *ctx;
	struct sdr_uc_qp *uqp;
	struct sdr_list link; /* ctx->qps */
	struct sdr_list busy; /* ctx->busy */
	struct sdr_qp *hash_next;
	struct sdr_qp_hooks hooks;
	bool hooked, connected;
	bool peer_keyed;	       /* its messages need a grant */
	int err;		       /* negative errno: broken */
	uint8_t generations, channels; /* both sides' */
	uint8_t channel;	       /* of the next run */
	uint32_t qpn, rkey;	       /* own */
	uint32_t peer_qpn, peer_rkey;
	struct sdr_uc_addr peer; /* where CTSs go; len 0: not connected */
	uint32_t mtu, chunk;	 /* bytes */
	uint64_t max_msg;	 /* bytes */
	uint32_t run_pkts;	 /* packets a descriptor carries at most */
	uint32_t window;	 /* messages in flight a direction */

	/* receive: message numbers [base, base + window) */
	struct sdr_rxk rxk;
	uint32_t base;	/* all below are completed or skipped */
	uint32_t next;	/* number of the next sdr_recv_post */
	uint32_t nlive; /* posted and not completed */
	uint64_t *done; /* by slot: completed or skipped, number >= base */
	uint64_t *live; /* by slot: posted and not completed */

	/* receive: clear to send */
	/* the sender knows of the numbers below this: it used (not keyed) or confirmed them */
	uint32_t cts_seen;
	/* keyed: those below were told at least once since the repetition began */
	uint32_t keys_told;
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
	uint64_t rate_bps; /* payload bits a second, 0 unlimited */
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

/* The engine says that it is broken. */
void sdr_qp_broken(struct sdr_qp *qp, int err);
/* Puts the QP on ctx->busy while it has something to do without events. */
void sdr_qp_busy_update(struct sdr_qp *qp);

/* ---- message table --------------------------------------------------------------------------- */

enum sdr_msgtab_state {
	SDR_MSG_FREE,	/* may be posted */
	SDR_MSG_LIVE,	/* posted */
	SDR_MSG_DONE,	/* completed or skipped, or below the window */
	SDR_MSG_BEYOND, /* above the window: its slot may still be another message's */
};
enum sdr_msgtab_state sdr_msgtab_state(const struct sdr_qp *qp, uint32_t msn);
/* FREE -> LIVE.  The engine has bound the slot. */
void sdr_msgtab_open(struct sdr_qp *qp, struct sdr_rcv_handle *h);
/* LIVE -> DONE; afterwards no packet reaches the message's bits or bytes. */
void sdr_msgtab_close(struct sdr_qp *qp, struct sdr_rcv_handle *h);
/*
 * FREE -> DONE for all of [lo, hi) that the window reaches; returns where it stopped, hi at the
 * most.
 */
uint32_t sdr_msgtab_skip(struct sdr_qp *qp, uint32_t lo, uint32_t hi);

/* ---- receive, CTS, send ---------------------------------------------------------------------- */

void sdr_recv_placed(struct sdr_qp *qp, const struct sdr_uc_ev *ev);
/* Calls the hooks of all receives touched in the round. */
void sdr_recv_round_end(struct sdr_context *ctx);
void sdr_recv_free(struct sdr_rcv_handle *h);

void sdr_cts_input(struct sdr_context *ctx, uint8_t type, const uint8_t *buf, size_t len);
/* A receive was posted, or the QP got connected. */
void sdr_cts_kick(struct sdr_qp *qp);
/* The sender knows of the numbers below `posted`. */
void sdr_cts_seen(struct sdr_qp *qp, uint32_t posted);
/* True when `next` must not be posted before the sender is known to have come closer. */
bool sdr_cts_gated(struct sdr_qp *qp);
void sdr_cts_run(struct sdr_qp *qp);

/* Receiver: tells the keys of [from, next). */
void sdr_keys_tell(struct sdr_qp *qp, uint32_t from);
/*
 * False: not a KEYS for a QP of ours.  *told: the QP, if any, whose receiver is to hear that the
 * numbers below snd_known are understood.
 */
bool sdr_keys_input(struct sdr_context *ctx, const uint8_t *buf, size_t len, struct sdr_qp **told);

/* The limit has moved, or keys have come; voids: some say that a message is not to be sent. */
void sdr_send_review(struct sdr_qp *qp, bool voids);
/* Moves what may be sent into the batch. */
void sdr_send_pump(struct sdr_qp *qp);
/* ns at which pump may send again, UINT64_MAX: nothing is waiting for time. */
uint64_t sdr_send_due(const struct sdr_qp *qp);
void sdr_send_free(struct sdr_snd_handle *h);

/*
 * Packets [first, first + n), all below h->total, into the batch; buf: bytes of packet first; mr:
 * covers them, or NULL. Returns packets taken.
 */
uint32_t sdr_send_run(struct sdr_snd_handle *h, const uint8_t *buf, uint32_t first, uint32_t n,
		      void *mr);
/*
 * The registration for packets of a message that lies at base as a whole; the first call makes it.
 */
void *sdr_send_reg(struct sdr_snd_handle *h, const void *base);
/* The caller's registration, where one pays. */
void *sdr_send_mr_of(const struct sdr_snd_handle *h, const struct sdr_mr *mr);
/* The engine has yet to read what it was given. */
bool sdr_send_reading(const struct sdr_snd_handle *h);

#endif /* SDR_SDK_PRIV_H */
