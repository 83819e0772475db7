/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A peer that lies, driven by a stream of decisions: random numbers of a seed (sdr_liar) or a
 * fuzzer's bytes (fuzz_liar).  Three real endpoints on the simulated network:
 *
 *   victim   whose application posts, receives, cancels, closes and restarts as it likes
 *   liar     a real endpoint that is silenced and restarted now and then; in its name, and in those
 *	      of other addresses without an endpoint, come forged packets: well-formed frames
 *	      with values that are plausible now (taken from the victim's own state), wrong by
 *	      one, or from nowhere
 *   honest   talks to the victim all along
 *
 * The connection may fail and its own operations may fail.  What must hold is checked after each
 * round:
 *
 *   L1   each operation of the victim ends once, and none is left when its endpoint has closed
 *   L2   no byte outside a posted buffer is written, and none inside it after its completion; nor
 *	  in a region that only may be read
 *   L3   the honest node's messages, writes and reads arrive whole, in time, and none is lost that
 *        was reported sent
 *   L4   live heap bytes of the victim stay below HEAP_* of liar_bed.c, and are none after its
 *        close
 *   L5   steps of the victim (sdr_rel_step) for one packet stay below LIAR_PKT_*; for the rest of a
 *	  round below LIAR_ROUND_*
 *   L6   the victim comes to rest, its deadlines lie in the future, and a shut down endpoint
 *        becomes quiet
 *   L7   its books add up (rel/sdr_rel_books.h)
 *   L8   when the liar is gone, what the victim has posted to it ends within the timeout; when it
 *        only shows that it lives, nothing that it owes is waited for any longer
 *   L9   an address that never showed that it hears the victim (by a cookie, by the number of a
 *	  connection that is its own) gets at most LIAR_AMPLIFY times the bytes that came from
 *	  it, and for each HELLO, which may name it as an address of the liar's,
 *	  SDR_MULTIPATH_TRIES challenges of LIAR_ASK bytes
 *
 * What is wrong is said on stderr, and abort() ends the program.
 */
#ifndef LIAR_H
#define LIAR_H

#include "../bed/rel_inside.h"
#include "rel/path/sdr_cc_ops.h"
#include "sdk/sdr_context.h"
#include "sdk/sdr_qp.h"
#include "tools/sim/sim_eps.h"
#include "../bed/bed_mem.h"

#define LIAR_NODES    3u
#define LIAR_OPS      4096u /* of all applications of a run */
#define LIAR_OPS_OPEN 40u   /* the victim's own to the liar at a time: below what its queues take */
#define LIAR_REGION   65536u
#define LIAR_DEPTH    256u
/* addresses that the liar sends from: its own and others behind which there is no node */
#define LIAR_NUMBERS 8u

#define LIAR_AMPLIFY 3u	 /* L9 */
#define LIAR_ASK     96u /* wire bytes, L9 */

/* L3: a clean path of some milliseconds. */
#define LIAR_IN_TIME_NS (3000 * MS)

/*
 * L5.  A packet may cost a walk over what one connection has unanswered or under way, and something
 * for each byte.
 */
/* the packet log and the records of a connection, once each: SDR_REL_CTL_WINDOW */
#define LIAR_PKT_STEPS 4096u
/* and each object that the victim holds, and packet that it has under way */
#define LIAR_PKT_OBJ 4u
/* an END of 5 bytes may void what the window reaches, 2^12 bits, in words, twice */
#define LIAR_PKT_BYTE 32u
/* timers; SDR_TX_BUDGET of packets, each of which looks at what is owed */
#define LIAR_ROUND_STEPS 65536u
/* 64 packets of a turn, twice: each may look at all reports that are owed */
#define LIAR_ROUND_OBJ	128u
#define LIAR_ROUNDS_MAX 5000u /* progress calls of a node in one instant */
#define LIAR_BOOKS	4u    /* of these from one look at all books to the next */
#define LIAR_IDLE_MAX	8u    /* of these without anything to do while the deadline has passed */

enum liar_node { LIAR_VICTIM, LIAR_PEER, LIAR_HONEST };

/* Where decisions come from.  Bytes when `random` is false: zeros when there are no more. */
struct liar_draw {
	const uint8_t *in;
	size_t left;
	uint64_t rng;
	bool random;
};
uint64_t liar_bits(struct liar_draw *d, uint32_t bytes);
uint32_t liar_below(struct liar_draw *d, uint32_t n); /* [0, n); n > 0 */
static inline bool liar_one_in(struct liar_draw *d, uint32_t n)
{
	return !liar_below(d, n);
}

struct liar_op {
	struct liar_op *next; /* open ones of the node */
	uint8_t node, kind;
	uint16_t flags;
	uint32_t peer; /* enum liar_node, LIAR_NODES: any */
	bool silent, multi, huge;
	bool done, over; /* over: its endpoint has closed, or it has ended for good */
	bool honest;	 /* of the conversation with the honest node */
	bool failed;
	uint32_t word;	 /* honest: number of its message */
	uint64_t at;	 /* ns, posted */
	uint8_t *mem;	 /* NULL: no bytes */
	size_t len;	 /* without guards */
	uint64_t owed;	 /* bytes that the endpoint may hold for it */
	uint64_t region; /* honest: offset of a write or read */
	uint8_t fill;	 /* what all bytes were set to when it ended */
	bool sealed;
};

struct liar_region {
	uint64_t key;
	uint8_t *mem;
	uint32_t access;
};
#define LIAR_KEY_RW	0x1005u
#define LIAR_KEY_RO	0x1006u
#define LIAR_KEY_WO	0x1007u
#define LIAR_KEY_HONEST 0xfeedface1009ull /* the liar does not know it */
#define LIAR_REGIONS	4u

struct liar_stats {
	uint64_t forged, floods, conns, restarts, talks, ops;
	uint64_t heap_peak;		 /* bytes */
	uint64_t pkt_steps, round_steps; /* the most */
	uint64_t trace;			 /* hash of all packets */
	uint64_t ns;			 /* of virtual time */
};

/* The conversation: one message, write or read at a time each way. */
struct liar_talk {
	struct liar_op *tx, *rx;
	uint32_t word;
	uint64_t next, since; /* ns */
	uint32_t len;
};

struct liar {
	struct liar_draw *d;
	struct liar_stats st;
	bool verbose;
	struct sim_eps eps;
	struct sdr_sim_world *w; /* of eps */
	struct sdr_rel_cfg cfg;
	struct sdr_cc_ops answers; /* cfg.cc, but that it asks for marks */
	struct sdr_sim_node_attr na[LIAR_NODES];
	bool rma_events;
	bool rkeyed;
	struct sdr_sim_link network; /* of the liar's path */
	uint64_t honest_delay;
	uint64_t job_ns; /* until what endpoints lend to threads is done; 0: nothing is */

	struct node {
		struct liar *l;
		uint32_t idx;
		struct sim_ep *ep;
		struct liar_region region[LIAR_REGIONS];
		struct sdr_peer *peer[LIAR_NODES]; /* held; NULL: not named */
	} node[LIAR_NODES];
	struct liar_op *op;
	uint32_t nops;

	/*
	 * the victim's engine, to tell its memory from the network's, and its input, to count steps
	 */
	struct sdr_uc_ops uc_ops;
	const struct sdr_uc_ops *uc_real;
	sdr_ctl_fn ctl;
	uint64_t ctl_steps, ctl_seen;
	uint64_t heap_open; /* bytes of the endpoint as it opened */
	uint32_t conns_peak, peers_peak;
	uint64_t sent_peak; /* bytes */

	/* the liar */
	bool mute;	   /* the real endpoint's packets are lost */
	uint32_t habits;   /* what this one does: bits of enum liar_habit */
	uint64_t cid;	   /* of the connection spoken to last */
	uint32_t pn, rseq; /* next */
	uint64_t cookie[LIAR_NUMBERS];
	/* L9: wire bytes from and to each, and whether it is there, as far as the victim knows */
	uint64_t said[LIAR_NUMBERS], told[LIAR_NUMBERS];
	uint32_t asked[LIAR_NUMBERS], hellos; /* challenges to each; what may have named it */
	bool proved[LIAR_NUMBERS];
	uint8_t last[SDR_PROBE_MAX]; /* packet sent last */
	size_t last_len;
	uint32_t last_from;
	uint8_t frames[SDR_CTL_MAX]; /* being built */
	size_t n;
	bool strict; /* nothing in it that makes the victim drop it whole: it may be long */
	bool acked;  /* has an ACK, of which there is one */

	struct liar_talk to, from; /* the victim's messages to the honest node, and its */
};

#define LIAR_CHECK(cond, ...)                                                              \
	do {                                                                               \
		if (!(cond)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #cond); \
			fprintf(stderr, __VA_ARGS__);                                      \
			fprintf(stderr, "\n");                                             \
			abort();                                                           \
		}                                                                          \
	} while (0)

/* One run: at most `steps` steps of the program, or until the decisions have run out. */
void liar_run(struct liar_draw *d, uint32_t steps, bool verbose, struct liar_stats *out);

/* ---- liar_bed.c: nodes and time, the oracles that go with each round ------------------------- */
void liar_boot(struct liar *l, uint32_t node);
void liar_close(struct liar *l, uint32_t node, bool crash); /* without a farewell; L1, L4 */
void liar_shutdown(struct liar *l, uint32_t node);	    /* in order, and closed; L6 */
void liar_rounds(struct liar *l);			    /* all that is due now */
void liar_pass(struct liar *l, uint64_t ns);
int liar_progress(void *user, struct sim_ep *ep); /* hook of eps: L4, L5 */
uint64_t liar_objects(const struct sdr_rel *rel);

/* ---- liar_ops.c, liar_app.c, liar_talk.c: applications --------------------------------------- */
void liar_regions(struct liar *l, uint32_t node);
void liar_regions_free(struct liar *l);
void liar_done(void *user, const struct sdr_rel_cqe *e);
int liar_mr_get(void *user, uint64_t key, uint64_t addr, uint64_t len, uint32_t access, void **va,
		void **region);
void liar_app_step(struct liar *l, uint32_t node); /* the node's application does something */
void liar_talk(struct liar *l);			   /* between two rounds: L3 */
uint64_t liar_talk_at(const struct liar *l);	   /* ns: when it goes on; NEVER */
void liar_ops_over(struct liar *l, uint32_t node, bool ended);
void liar_ops_check(struct liar *l); /* L2 */
void liar_ops_free(struct liar *l);
uint64_t liar_ops_owed(const struct liar *l);
bool liar_ops_to_peer(const struct liar *l); /* the victim has some under way */

/* ---- liar_forge.c: lies ---------------------------------------------------------------------- */
void liar_forge(struct liar *l); /* one packet or several */
void liar_ping(struct liar *l);
void liar_flood(struct liar *l); /* many of one kind */
void liar_seen(struct liar *l, const struct sdr_sim_packet *p);

#endif /* LIAR_H */
