/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Reliable endpoints on a simulated network, one per node, and the clock that moves them.
 *
 * This is what every program that runs the real transport in virtual time starts from: sdr_sim and
 * sdr_ct_sim (sim_bed.h), the test beds (fabtests/bed), the lying peer and the fuzzers.  It opens
 * and closes endpoints, calls progress when a node has something to do, jumps to the next moment at
 * which something can happen, and stops at the first failure.  What is posted, what completions
 * mean and what else is checked is the caller's.
 *
 * One round of a node: progress until it returns 0, then its deadline.  A node gets a round when a
 * packet waits for it, something was posted (dirty), or its deadline has come; a stalled node and
 * one that is down get none.  A node that always finds more to do in one instant, whose deadline
 * stays in the past, or which wakes up again and again for nothing fails instead of hanging.
 *
 * The first failure is kept as a text (why) and reported to the caller's fail hook, which need not
 * return; from then on nothing moves.  One thread per struct sim_eps.
 */
#ifndef SDR_TOOLS_SIM_EPS_H
#define SDR_TOOLS_SIM_EPS_H

#include "rel/sdr_rel.h"
#include "uc/sim/sdr_sim.h"

#define SIM_WHY_MAX 512u /* bytes of a text that says what failed */

struct sim_eps;

#define SIM_LENT_MAX 64u /* that a node has lent at a time; of more it does the rest itself */

/* A job that a node has lent (sdr_rel_cbs.lend): nobody does it before its time. */
struct sim_lent {
	struct sdr_job *job;
	uint64_t at; /* ns */
};

struct sim_ep {
	struct sim_eps *eps;
	uint32_t idx;
	uint32_t boots;		  /* incarnations so far */
	struct sdr_rel *rel;	  /* NULL: down */
	uint64_t deadline;	  /* ns, as of its last round */
	bool dirty;		  /* something was posted: a round before time moves */
	uint64_t wakes_ms, wakes; /* the millisecond of the last wake-ups and their number */
	struct sim_lent lent[SIM_LENT_MAX];
	uint32_t nlent;
};

/* What a run may need; 0: no limit. */
struct sim_eps_limits {
	uint32_t rounds; /* progress calls of a node in one instant */
	uint32_t idle;	 /* and those that do nothing although the deadline has come */
	uint32_t wakes;	 /* rounds of a node per virtual ms that no packet and no post caused */
	uint64_t flying; /* wire bytes under way: more is a storm */
};

struct sim_eps_attr {
	struct sdr_sim_world_attr world;
	struct sim_eps_limits most;
	/* The endpoints' books are checked after every that many calls of progress; 0: never. */
	uint32_t books;
	void *user; /* for the hooks */
	/* In place of sdr_rel_progress; NULL: none. */
	int (*progress)(void *user, struct sim_ep *ep);
	/* What is lent (sim_ep_lend) is done all at once, after so long, ns; 0: nothing is lent. */
	uint64_t job_ns;
	/* At the first failure; NULL: none. */
	void (*fail)(void *user, const char *why);
};

struct sim_eps {
	struct sim_eps_attr a;
	struct sdr_sim_world *w;
	struct sim_ep *ep;
	uint64_t rounds; /* progress calls so far */
	bool failed;
	char why[SIM_WHY_MAX];
};

/* How an endpoint opens. */
struct sim_ep_attr {
	struct sdr_rel_attr rel;
	struct sdr_sim_node_attr node;
	uint64_t context[2]; /* random numbers of its SDK context */
};

/* 0 or -ENOMEM, -EINVAL; all nodes are down. */
int sim_eps_open(struct sim_eps *e, const struct sim_eps_attr *attr);
/* Closes what is up and frees all; also after a failed open.  The text in why stays. */
void sim_eps_close(struct sim_eps *e);
/* The first failure counts. */
void sim_eps_fail(struct sim_eps *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static inline uint64_t sim_eps_now(const struct sim_eps *e)
{
	return sdr_sim_world_now(e->w);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Fixed identities that differ by node and incarnation; for callers that draw none themselves. */
void sim_ep_identity(const struct sim_ep *ep, struct sim_ep_attr *attr);
/* A node that is down opens its endpoint.  0 or a negative errno. */
int sim_ep_boot(struct sim_ep *ep, const struct sim_ep_attr *attr);
void sim_ep_close(struct sim_ep *ep);
/* As when its process is killed: nothing that it still sends leaves the node. */
void sim_ep_crash(struct sim_ep *ep);
/* Held: to be put back, or kept until the endpoint closes. */
struct sdr_peer *sim_ep_peer(struct sim_ep *ep, uint32_t to);
/* Fails when what it counts is not what there is (rel/sdr_rel_books.h).  Costs what there is. */
void sim_ep_books(struct sim_ep *ep);
/* Grants of an rkeyed node that have not ended. */
uint64_t sim_ep_grants(const struct sim_ep *ep);
/* Sums over all endpoints that are up. */
void sim_eps_stats(struct sim_eps *e, struct sdr_rel_stats *out);

/*
 * A thread in virtual time: for the callbacks of an endpoint, whose user finds its node.  A job
 * that is taken back before its time was never begun.
 */
bool sim_ep_lend(struct sim_ep *ep, struct sdr_job *job);
void sim_ep_reclaim(struct sim_ep *ep, struct sdr_job *job);

/* ---- time ------------------------------------------------------------------------------------ */

/* All work that is due now. */
void sim_eps_work(struct sim_eps *e);
/* When a node has work by itself: the earliest deadline, now if something was posted. */
uint64_t sim_eps_due(const struct sim_eps *e);
/* On to the next moment at which there is work, but not beyond until. */
void sim_eps_jump(struct sim_eps *e, uint64_t until);
/* Works and jumps until ns have passed. */
void sim_eps_run(struct sim_eps *e, uint64_t ns);

/* ---- traces ---------------------------------------------------------------------------------- */

/* Adds a record of the world's trace to a hash; bytes: and those of a control datagram. */
void sim_hash_packet(uint64_t *hash, uint64_t now, enum sdr_sim_what what,
		     const struct sdr_sim_packet *p, bool bytes);

#endif /* SDR_TOOLS_SIM_EPS_H */
