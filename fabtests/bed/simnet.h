/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A test bench: reliable endpoints on the simulated network, driven in virtual time, watched all
 * the time.
 *
 * The bench owns a world, one endpoint a node, and every operation posted.  It lets each endpoint
 * progress until it has nothing to do, then jumps to the next moment at which something can
 * happen.  While doing so it checks (numbers as in DESIGN.md, Invariants):
 *
 *   I1   each posted operation ends exactly once, and a claimed one twice
 *   I2   each message is delivered once at most, to a receive that it matches, in the order sent,
 *        and its bytes are those of the sender at the time of the post
 *   I3   the bytes around each buffer, and each buffer after its completion, stay as they are
 *   I14  each grant of an rkeyed node ended, before its endpoint was closed
 *   I15  each atomic happened once (simnet_atoms.c)
 *   I11  the hash over the trace of all packets (the caller compares two runs)
 *   I16  what the endpoints were asked to keep in order is seen in it
 *   I13  progress comes to an end, deadlines lie in the future, wake-ups without an arrival are few
 *
 * Buffers of sends are overwritten as soon as they are the caller's again, so that bytes read too
 * late are wrong bytes.  The first thing that goes wrong is kept as a text (simnet.why); from then
 * on nothing moves.
 */
#ifndef SIMNET_H
#define SIMNET_H

#include "tools/sim/sim_eps.h"
#include "wire/sdr_atomic.h"

#define SIMNET_NODES_MAX 64u
/* bytes in front of, between and behind the parts of a buffer */
#define SIMNET_GUARD	  32u
#define SIMNET_ROUNDS_MAX 10000u /* progress calls of a node in one instant */
/* and of those that do nothing while the deadline is not in the future */
#define SIMNET_IDLE_MAX	  8u
#define SIMNET_BOOKS	  1u		 /* progress calls from one look at all books to the next */
#define SIMNET_FLYING_MAX (768ull << 20) /* wire bytes under way: more is a storm */
/* rounds of a node in a virtual ms that no packet and no post caused */
#define SIMNET_WAKES_MAX  1000u
#define SIMNET_INLINE	  200u /* bytes that always travel inside a record */
#define SIMNET_NOBODY	  UINT32_MAX
#define SIMNET_GUARD_BYTE 0xa5
/* receive buffers before anything arrives, write regions */
#define SIMNET_FRESH	   0xee
#define SIMNET_USED	   0xdd			    /* send buffers after completion */
#define SIMNET_WO_GAP	   8u			    /* bytes between two writes */
#define SIMNET_RO_ID(node) (0x70000000ull + (node)) /* pattern of the readable regions */
/* region of each node that may be read: seeded bytes */
#define SIMNET_KEY_RO 1u
#define SIMNET_KEY_WO 2u /* region that may be written */

#define SIMNET_KEY_AT 3u    /* words of each node for atomics */
#define SIMNET_ATOMS  2049u /* so many */

#define US_NS 1000ull
#define MS_NS 1000000ull
#define S_NS  1000000000ull

struct simnet;

/* An operation: what was posted, what came of it. */
struct simnet_op {
	struct simnet *sn;
	uint32_t id; /* index in simnet.ops; a message's name */
	uint32_t node;
	uint32_t peer;	/* node, or SIMNET_NOBODY */
	uint8_t kind;	/* enum sdr_rel_kind */
	uint16_t flags; /* SDR_REL_F_* or SDR_REL_R_* */
	uint64_t tag, ignore, data;
	uint64_t len; /* bytes of all parts */
	uint64_t rma_addr, rma_key;
	uint64_t posted_ns, done_ns;
	uint8_t *mem; /* guards and parts; NULL: no bytes */
	size_t mem_len;
	uint8_t niov;
	struct sdr_rel_iov iov[SDR_REL_IOV_MAX];
	uint32_t expect, done; /* completions owed, seen */
	bool silent;	       /* no completion expected on success */
	bool canceled;	       /* we cancelled it */
	bool closed;	       /* its endpoint is gone */
	bool may_fail;	       /* the test expects an error, or does not care */
	bool must_fail;
	bool consumed;		/* send: a receive got it, or dropped it */
	bool claimed;		/* peek: holds a message */
	uint32_t taken;		/* receive: messages so far */
	uint32_t took;		/* and the last of them, SIMNET_NOBODY unknown */
	bool remote_seen;	/* write with data: reported at the target */
	struct sdr_rel_cqe cqe; /* the last one */
	uint64_t ticket;	/* fetch atomic: the first old value */
	bool sealed;		/* sum is valid: the bytes must not change any more */
	uint64_t sum;
};

struct simnet_region {
	uint8_t *mem;
	uint64_t len;
	uint64_t next; /* WO: bytes handed out to writes */
};

struct simnet_node {
	struct simnet *sn;
	uint32_t idx;
	struct sim_ep *ep; /* rel, deadline, dirty */
	struct sdr_peer *peers[SIMNET_NODES_MAX];
	struct simnet_region ro, wo;
	uint64_t *at;		 /* SIMNET_ATOMS words */
	uint64_t remote_atomics; /* events */
	uint64_t remote_writes;	 /* events */
	uint64_t late_done;	 /* completions of operations closed before: a failure */
};

struct simnet_cfg {
	uint64_t seed;
	uint32_t nodes;
	bool virtual_payload; /* no bytes are checked */
	bool rma_events;
	struct sdr_sim_link link;
	struct sdr_sim_node_attr node;
	uint8_t rkeyed[SIMNET_NODES_MAX]; /* enum sdr_sim_rkeyed, in place of node.rkeyed */
	uint32_t mtu[SIMNET_NODES_MAX];	  /* in place of node.mtu, where not 0 */
	/* of each node and connection, in place of node.sources and rel.paths, where not 0 */
	uint32_t paths;
	uint8_t sources[SIMNET_NODES_MAX]; /* of that node, where not 0 */
	struct sdr_rel_cfg rel;
	uint64_t job_ns;	 /* until threads have done what endpoints lend; 0 nothing is */
	uint64_t tick_ns;	 /* least time between two rounds: interrupt coalescing; 0 none */
	uint64_t ro_len, wo_len; /* bytes of each node's regions */
	void *user;		 /* for filter and on_done */
	bool (*filter)(void *user, struct sdr_sim_packet *pkt);
	void (*on_done)(void *user, struct simnet_op *op); /* must not post */
	void (*on_trace)(void *user, uint64_t now_ns, enum sdr_sim_what what,
			 const struct sdr_sim_packet *pkt);
	int verbose; /* to stderr: 1 operations, 2 packets too */
};

struct simnet_match { /* a receive got a message by matching */
	uint32_t recv, msg;
	uint64_t at, len; /* where in the buffer */
};

struct simnet {
	struct simnet_cfg cfg;
	struct sim_eps eps;
	struct sdr_sim_world *w; /* of eps */
	struct simnet_node nodes[SIMNET_NODES_MAX];
	struct simnet_op **ops;
	uint32_t nops, ops_cap;
	uint32_t open; /* completions owed */
	struct simnet_match *matches;
	uint32_t nmatches, matches_cap;
	uint32_t unknown; /* messages received that could not be identified */
	uint64_t last_round;
	uint64_t trace; /* hash */
	uint64_t rng;
	bool failed;
	char why[512];
};

/* Settings every scenario starts from: sr, bbr, 64 KiB chunks, 30 s. */
void simnet_cfg_default(struct simnet_cfg *cfg);
int simnet_open(struct simnet *sn, const struct simnet_cfg *cfg);
/*
 * Checks everything a last time, closes what is open and frees all.  Returns !failed, with the text
 * in why_out.
 */
bool simnet_close(struct simnet *sn, char *why_out, size_t why_len);
void simnet_fail(struct simnet *sn, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
uint64_t simnet_now(const struct simnet *sn);
uint64_t simnet_rand(struct simnet *sn);
uint64_t simnet_below(struct simnet *sn, uint64_t n); /* uniform in [0, n) */
bool simnet_chance(struct simnet *sn, double p);

/* ---- nodes ---- */
/* The endpoint disappears without a farewell; what it had posted counts as closed. */
void simnet_crash(struct simnet *sn, uint32_t node);
/*
 * In order: shutdown, and progress until it is quiet or limit_ns have passed.  False: it was not
 * quiet.
 */
bool simnet_shutdown(struct simnet *sn, uint32_t node, uint64_t limit_ns);
/* A new endpoint at a node that is down. */
int simnet_boot(struct simnet *sn, uint32_t node);
struct sdr_peer *simnet_peer(struct simnet *sn, uint32_t node, uint32_t to);

/* ---- operations: NULL when the endpoint says -EAGAIN; any other error is a failure ---- */
struct simnet_wr {
	uint8_t kind;
	uint8_t parts; /* iovs, 0: one */
	uint16_t flags;
	uint32_t peer; /* node; receives: or SIMNET_NOBODY for any */
	uint64_t len;
	uint64_t tag, ignore;
	uint64_t min_multi;
	/* WRITE with key SIMNET_KEY_WO: rma_addr is chosen by the bench */
	uint64_t rma_addr, rma_key;
	bool may_fail, must_fail; /* must_fail: remote access that has to be refused */
	/*
	 * ATOMIC, FETCH_ATOMIC: len is 8 times so many words, to each of which 1 is added; 1: the
	 * word of tickets.  rma_addr is chosen by the bench.
	 */
	uint32_t words;
};
struct simnet_op *simnet_post(struct simnet *sn, uint32_t node, const struct simnet_wr *wr);
struct simnet_op *simnet_send(struct simnet *sn, uint32_t node, uint32_t to, uint64_t len,
			      uint16_t flags);
struct simnet_op *simnet_recv(struct simnet *sn, uint32_t node, uint32_t from, uint64_t len);
/* Receive or discard (R_DISCARD in flags) what a peek has claimed. */
bool simnet_claim(struct simnet *sn, struct simnet_op *peek, uint16_t flags);
/* 0 or -ENOENT. */
int simnet_cancel(struct simnet *sn, struct simnet_op *op);
static inline bool simnet_op_done(const struct simnet_op *op)
{
	return op->done >= op->expect;
}
static inline bool simnet_op_ok(const struct simnet_op *op)
{
	return op->done && !op->cqe.err;
}

/* ---- time: each returns false once something failed ---- */
/*
 * All endpoints work until they have nothing to do now; then the next moment, but not beyond
 * `until`.
 */
bool simnet_advance(struct simnet *sn, uint64_t until);
bool simnet_run_for(struct simnet *sn, uint64_t ns);
/*
 * Until cond is true; failure (named what) when limit_ns pass before or nothing can happen any
 * more.
 */
bool simnet_run_cond(struct simnet *sn, bool (*cond)(void *arg), void *arg, uint64_t limit_ns,
		     const char *what);
bool simnet_run_op(struct simnet *sn, struct simnet_op *op, uint64_t limit_ns);
bool simnet_run_all(struct simnet *sn, uint64_t limit_ns); /* all operations done */

/* ---- checks ---- */
/* Guards and sealed buffers of all operations (or of every step-th). */
bool simnet_check_memory(struct simnet *sn, uint32_t step);
/* Matching order, writes in the regions. To be called when everything is done. */
bool simnet_check_end(struct simnet *sn);
/* Sum over all nodes that are up. */
void simnet_stats(struct simnet *sn, struct sdr_rel_stats *out);
void simnet_node_stats(struct simnet *sn, uint32_t node, struct sdr_rel_stats *out);
/* I9: fails when anything was sent or requested again or came twice. */
bool simnet_check_no_repair(struct simnet *sn);

/* I15: atomics happened once each.  To be called when the last acknowledgements are through. */
bool simnet_check_atoms(struct simnet *sn);

/* ---- inside the bench ---- */
struct simnet_atom { /* of the post's request */
	struct sdr_rel_iov in;
	struct sdr_rel_atomic wr;
};
void simnet_atoms_ready(struct simnet_op *op, uint32_t words, struct simnet_atom *a);
void simnet_atoms_done(struct simnet_op *op);
/* Bytes [off, off + n) of message id. */
void simnet_pattern_fill(uint8_t *p, uint64_t id, uint64_t off, uint64_t n);
/* Offset of the first wrong byte, n if there is none. */
uint64_t simnet_pattern_check(const uint8_t *p, uint64_t id, uint64_t off, uint64_t n);
bool simnet_all(const uint8_t *p, uint64_t n, uint8_t byte); /* n bytes have one value */
void simnet_parts_fill(struct simnet_op *op);
void simnet_parts_set(struct simnet_op *op, int byte);
/* First wrong byte of the first len bytes, compared with message id from off on. */
uint64_t simnet_parts_check(const struct simnet_op *op, uint64_t id, uint64_t off, uint64_t len);
/* The buffer is the caller's again: from now on it must not change. */
void simnet_op_seal(struct simnet_op *op);
void simnet_write_check(struct simnet *sn, const struct simnet_op *op, const char *when);
void simnet_done(void *user, const struct sdr_rel_cqe *e);
int simnet_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access, void **va,
		  void **region);
void simnet_region_init(struct simnet *sn, struct simnet_node *nd);
void simnet_ops_close_node(struct simnet *sn, uint32_t node);
void simnet_ops_free(struct simnet *sn);
const char *simnet_kind_name(uint8_t kind);
static inline bool simnet_is_send(uint8_t kind)
{
	return kind == SDR_REL_SEND || kind == SDR_REL_TSEND;
}
static inline bool simnet_is_atomic(uint8_t kind)
{
	return kind == SDR_REL_ATOMIC || kind == SDR_REL_FETCH_ATOMIC;
}
static inline bool simnet_is_recv(uint8_t kind)
{
	return kind == SDR_REL_RECV || kind == SDR_REL_TRECV;
}

#endif /* SIMNET_H */
