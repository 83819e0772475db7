/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the tests of the reliable endpoint start from: up to four endpoints on the simulated
 * network, in virtual time, and a script that drops or delays exactly the packets a test names.
 *
 * A packet is named by what it carries: a handshake datagram of a type, a frame of a type, a record
 * of an operation, a data packet of the message table.  A rule takes the nth to the mth packet with
 * that in it from one node.  Every rule counts what it saw, so that a test can demand that its loss
 * really happened.
 *
 * Each operation is a bed_op that counts its completions; bed_close demands that each ended exactly
 * once and that the guards around each buffer are untouched.  The link has 5 ms one way and no
 * rate; endpoints pace at 10 Gbit/s, so that a round trip is BED_RTT and bytes cost little.
 */
#ifndef BED_H
#define BED_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include "rel_inside.h"
#include "tools/sim/sim_eps.h"
#include "bed_mem.h"
#include "bed_what.h"

#define BED_NODES   6u
#define BED_OPS	    8192u
#define BED_RULES   16u
#define BED_BUFS    4096u
#define BED_REGIONS 8u
#define BED_LOG	    16384u
#define BED_DELAY   (5 * MS) /* one way */
#define BED_RTT	    (2 * BED_DELAY)
#define BED_SEC	    (1000 * MS)
#define BED_ANY	    UINT32_MAX

struct bed;
struct bed_op {
	struct bed *bed;
	uint32_t node;
	int expect;	      /* completions owed; -1: any number */
	int n;		      /* seen */
	struct sdr_rel_cqe e; /* the last */
	uint64_t at;	      /* ns, of the last */
};

struct bed_rule {
	uint32_t src;	   /* node or BED_ANY */
	uint32_t lane;	   /* of the link, or BED_ANY; the caller may change it */
	uint32_t what;	   /* enum bed_what bits: any of them */
	uint64_t first, n; /* packets [first, first + n) that match, from 0 */
	uint64_t delay;	   /* ns; 0: dropped */
	uint64_t seen, hit;
};

struct bed_region {
	uint64_t key;
	uint8_t *p;
	uint64_t len;
	uint32_t access;
};

struct bed_buf {
	uint8_t *mem;
	size_t len;
};

struct bed_node {
	struct bed *bed;
	uint32_t idx;
	struct sim_ep *ep; /* rel, deadline, dirty */
	struct bed_region region[BED_REGIONS];
	uint32_t nregions;
	struct sdr_rel_cqe log[BED_LOG]; /* all completions, REMOTE_* too */
	uint32_t nlog;
	uint64_t seen[BED_KINDS];     /* packets sent by what they carried */
	uint64_t bytes;		      /* wire bytes sent */
	uint64_t sent[SDR_PATHS_MAX]; /* packets by each lane */
	uint32_t nrefused;	      /* times that it was told of devices' data staged */
};

struct bed {
	struct sim_eps eps;
	struct sdr_sim_world *w; /* of eps */
	struct sdr_sim_link link;
	uint64_t seed; /* of what the link does by chance */
	struct sdr_rel_cfg cfg[BED_NODES];
	struct sdr_sim_node_attr na[BED_NODES];
	bool rma_events;
	struct sdr_path_mem *paths[BED_NODES]; /* the caller's, freed after closing; NULL: none */
	/* what its endpoint is told that it is called, by number; 0: nothing */
	uint32_t name[BED_NODES];
	uint32_t n;
	struct bed_node node[BED_NODES];
	struct bed_op *op;
	uint32_t nops;
	struct bed_buf buf[BED_BUFS];
	uint32_t nbufs;
	struct bed_rule rule[BED_RULES];
	uint32_t nrules;
	bool (*filter)(struct bed *b, struct sdr_sim_packet *p, uint32_t what); /* false drops */
	/* see struct sdr_sim_world_attr; gets the bed */
	bool (*translate)(void *user, uint32_t node, uint32_t *from, uint32_t *to);
	/* between two rounds of a node */
	void (*app)(struct bed *b, uint32_t node);
	/* sent to where no node is */
	void (*astray)(struct bed *b, const struct sdr_sim_packet *p);
	/* what endpoints lend to threads is done after so long, ns; 0: they do it themselves */
	uint64_t job_ns;
	bool child; /* of a process that had these threads: what they did is not to be relied on */
	void *user;
	bool verbose;
};

/* Defaults, then the caller changes cfg, na and link, then boots. */
struct bed *bed_new(uint32_t nodes);
void bed_boot(struct bed *b);
/*
 * Before booting: nodes have n sources, and their connections may use n paths.  What a path has of
 * its own is set once the bed is up: sdr_sim_link_set_both(b->w, SDR_SIM_LANE(0, k), 1, &link).
 */
void bed_paths(struct bed *b, uint32_t n);
static inline struct bed *bed_open(uint32_t nodes)
{
	struct bed *b = bed_new(nodes);

	bed_boot(b);
	return b;
}
void bed_boot_node(struct bed *b, uint32_t node);
void bed_crash(struct bed *b, uint32_t node); /* without a farewell; its operations are forgotten */
void bed_close(struct bed *b);		      /* with the checks */

/* Rules; the returned one may be read later. */
struct bed_rule *bed_drop(struct bed *b, uint32_t src, uint32_t what, uint64_t first, uint64_t n);
struct bed_rule *bed_late(struct bed *b, uint32_t src, uint32_t what, uint64_t first, uint64_t n,
			  uint64_t delay);
uint64_t bed_seen(const struct bed *b, uint32_t node, enum bed_what one);
/* Grants of an rkeyed node: made, and still open.  bed_close demands that none is. */
uint64_t bed_grants(const struct bed *b, uint32_t node);
uint64_t bed_grants_open(const struct bed *b, uint32_t node);
/* Injects a REL packet with these frames to a node, as if its peer had sent it. */
void bed_forge(struct bed *b, uint32_t from, uint32_t to, uint64_t cid, uint32_t pn,
	       const void *frames, size_t len);

/* Buffers with guards, filled with the pattern of a seed; checked and freed at the end. */
uint8_t *bed_buf(struct bed *b, size_t len, uint32_t seed);
bool bed_same(const uint8_t *p, size_t len, uint32_t seed);

/* Posting: fails the test when the endpoint refuses. */
struct bed_op *bed_op(struct bed *b, uint32_t node, int expect);
struct bed_op *bed_post(struct bed *b, uint32_t node, uint32_t to, struct sdr_rel_wr wr,
			const void *buf, size_t len);
/* To a peer that the caller has got. */
struct bed_op *bed_post_to(struct bed *b, uint32_t node, struct sdr_peer *to, struct sdr_rel_wr wr,
			   const void *buf, size_t len);
struct bed_op *bed_send(struct bed *b, uint32_t node, uint32_t to, const void *buf, size_t len,
			uint16_t flags);
struct bed_op *bed_tsend(struct bed *b, uint32_t node, uint32_t to, uint64_t tag, const void *buf,
			 size_t len);
struct bed_op *bed_rr(struct bed *b, uint32_t node, struct sdr_rel_rr rr, void *buf, size_t len);
struct bed_op *bed_recv(struct bed *b, uint32_t node, void *buf, size_t len);
struct bed_op *bed_trecv(struct bed *b, uint32_t node, uint64_t tag, uint64_t ignore, void *buf,
			 size_t len);
struct bed_op *bed_rma(struct bed *b, uint32_t node, uint32_t to, uint8_t kind, void *buf,
		       size_t len, uint64_t addr, uint64_t key, uint16_t flags);
void bed_region_add(struct bed *b, uint32_t node, uint64_t key, uint8_t *p, uint64_t len,
		    uint32_t access);
/* names it: no stranger from now on */
struct sdr_peer *bed_peer(struct bed *b, uint32_t node, uint32_t to);
struct sdr_peer *bed_peer_at(struct bed *b, uint32_t node, uint32_t number); /* by address */
struct sdr_conn *bed_conn(struct bed *b, uint32_t node, uint32_t to);	     /* NULL none */

/* Time. */
uint64_t bed_now(const struct bed *b);
void bed_rounds(struct bed *b); /* all that is due now */
void bed_run(struct bed *b, uint64_t ns);
/* Until it ended; fails the test when it takes longer. */
void bed_wait(struct bed *b, struct bed_op *op, uint64_t limit);
void bed_wait_all(struct bed *b, uint64_t limit);
/* One small message each way: both sides open and validated, RTT known. */
void bed_warm(struct bed *b, uint32_t x, uint32_t y);
struct sdr_rel_stats bed_stats(struct bed *b, uint32_t node);

static inline bool bed_ok(const struct bed_op *op)
{
	return op->n > 0 && !op->e.err;
}
#define bed_assert_ok(op)                                       \
	do {                                                    \
		assert_int_equal((op)->n, 1);                   \
		assert_int_equal((op)->e.prov_err, SDR_REL_OK); \
		assert_int_equal((op)->e.err, 0);               \
	} while (0)
#define bed_assert_err(op, why)                                    \
	do {                                                       \
		assert_int_equal((op)->n, 1);                      \
		assert_int_equal((op)->e.prov_err, (why));         \
		assert_int_equal((op)->e.err, sdr_rel_errno(why)); \
		assert_true(strlen(sdr_rel_strerror(why)) > 10);   \
	} while (0)
/* Two nodes that know each other. */
struct bed *bed_pair(void);
void bed_shut(struct bed *b, uint32_t node); /* begins to close */
/* Receives at node 1 for n messages of up to 100 bytes. */
void bed_recvs(struct bed *b, struct bed_op **r, uint8_t **p, uint32_t n);
/* Nothing was sent twice. */
void bed_assert_no_repair(struct bed *b);

#endif /* BED_H */
