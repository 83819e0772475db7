/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Collectives made of transfers: when is the last node done?
 *
 * All kinds are rounds, and in a round some nodes send to others.  A step from node a to node b
 * begins when both have finished their step before, and takes the time of a transfer over the link
 * from a to b and then compute_s at b.
 *
 *   rings   in every round every node sends buffer / N to the next: the recurrence of the paper's
 *           appendix C, T(i, r) = max(T(i - 1, r - 1), T(i, r - 1)) + step.  As there, the sender
 *           does not wait for its own transfer: its next round depends on what it receives.
 *   tree    binomial: in round s of the first half, nodes whose lowest bit is s send all they have
 *           to the node without that bit; the second half is the first backwards.  A node sends to
 *           its children one after the other, each when the one before is acknowledged.
 *
 * Steps are drawn by the mechanism (sdr_model_draw.c), each by itself: no table between, so atoms
 * and tails are exact.  Links are looked at once, in create; one draw and one mean a link that the
 * collective uses.  With each step replaced by its mean the end is a bound below the mean: it is a
 * maximum of sums, and the maximum of means is not above the mean of the maximum.
 *
 * Threads: nothing changes after create.  Memory: 11 KB a link that is used.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_model_draw.h"

#define COLL_NODES_MAX 1024u

static const char *const coll_names[SDR_MODEL_COLLECTIVES] = {
	[SDR_MODEL_RING_ALLREDUCE] = "ring",
	[SDR_MODEL_REDUCE_SCATTER] = "reduce_scatter",
	[SDR_MODEL_ALLGATHER] = "allgather",
	[SDR_MODEL_TREE_ALLREDUCE] = "tree",
};

struct coll_link {
	struct sdr_model_draw draw;
	double mean_s;	/* of a step, without compute_s */
	double ideal_s; /* data / bandwidth + RTT */
};

struct sdr_model_coll {
	enum sdr_model_collective kind;
	uint32_t nodes, rounds;
	double compute_s;
	double bound_s, ideal_s, step_s;
	uint32_t nlinks;
	/*
	 * 1: of all steps.  Else of a ring [i]: to node i from the one before; of a tree [2 i]:
	 * from node i to its parent, [2 i + 1]: from there to node i (the first two are not used).
	 */
	struct coll_link links[];
};

/* How long a step takes: at random, or one of its fixed values. */
enum coll_what {
	COLL_DRAW,
	COLL_MEAN,
	COLL_IDEAL,
};

static double coll_step(const struct sdr_model_coll *c, uint32_t link, enum coll_what what,
			struct sdr_model_random *rnd)
{
	const struct coll_link *l = &c->links[c->nlinks > 1 ? link : 0];

	if (what == COLL_DRAW)
		return sdr_model_draw(&l->draw, rnd);
	return what == COLL_MEAN ? l->mean_s : l->ideal_s;
}

/* The later of the two ends of a step: it begins then. */
static double coll_both(const double *done, uint32_t a, uint32_t b)
{
	return done[a] > done[b] ? done[a] : done[b];
}

static void coll_ring(const struct sdr_model_coll *c, enum coll_what what,
		      struct sdr_model_random *rnd, double *done)
{
	double last, begin;

	for (uint32_t r = 0; r < c->rounds; r++) {
		last = done[c->nodes - 1]; /* as it was before this round */
		for (uint32_t i = 0; i < c->nodes; i++) {
			begin = last > done[i] ? last : done[i];
			last = done[i];
			done[i] = begin + coll_step(c, i, what, rnd) + c->compute_s;
		}
	}
}

static void coll_tree(const struct sdr_model_coll *c, enum coll_what what,
		      struct sdr_model_random *rnd, double *done)
{
	uint32_t half = c->rounds / 2, r, i, bit, parent;
	double end;

	for (r = 0; r < c->rounds; r++) {
		bit = 1u << (r < half ? r : c->rounds - 1 - r);
		for (i = bit; i < c->nodes; i += 2 * bit) {
			parent = i - bit;
			end = coll_both(done, i, parent) +
			      coll_step(c, 2 * i + (r >= half), what, rnd);
			done[r < half ? i : parent] = end;
			done[r < half ? parent : i] = end + c->compute_s;
		}
	}
}

static double coll_run(const struct sdr_model_coll *c, enum coll_what what,
		       struct sdr_model_random *rnd)
{
	double done[COLL_NODES_MAX], end = 0;
	uint32_t i;

	memset(done, 0, c->nodes * sizeof(*done));
	if (c->kind == SDR_MODEL_TREE_ALLREDUCE)
		coll_tree(c, what, rnd, done);
	else
		coll_ring(c, what, rnd, done);
	for (i = 0; i < c->nodes; i++) {
		if (done[i] > end)
			end = done[i];
	}
	return end;
}

static int coll_link_init(struct coll_link *l, const struct sdr_model_point *p,
			  struct sdr_model_error *err)
{
	struct sdr_model_derived derived;
	struct sdr_model_law *law;
	int ret;

	ret = sdr_model_law_create(p, &law, err);
	if (ret)
		return ret;
	sdr_model_law_derived(law, &derived);
	l->mean_s = sdr_model_law_mean(law);
	l->ideal_s = derived.ideal_s;
	ret = sdr_model_draw_init(&l->draw, p, true);
	sdr_model_law_destroy(law);
	return ret;
}

/* The link from node `from` to node `to`; index: where in c->links. */
static int coll_link_add(struct sdr_model_coll *c, const struct sdr_model_coll_attr *attr,
			 uint64_t step_bytes, uint32_t index, uint32_t from, uint32_t to,
			 struct sdr_model_error *err)
{
	struct sdr_model_point p = attr->links[c->nlinks > 1 ? (size_t)from * attr->nodes + to : 0];
	struct sdr_model_error why;
	int ret;

	p.msg_bytes = step_bytes;
	ret = coll_link_init(&c->links[index], &p, &why);
	if (ret == -EINVAL && c->nlinks > 1)
		sdr_model_refuse(err, why.field, "link from %u to %u: %.150s", from, to, why.text);
	else if (ret == -EINVAL && err)
		*err = why;
	if (!ret && c->links[index].mean_s > c->step_s)
		c->step_s = c->links[index].mean_s;
	return ret;
}

static int coll_links(struct sdr_model_coll *c, const struct sdr_model_coll_attr *attr,
		      struct sdr_model_error *err)
{
	uint64_t share = (attr->buffer_bytes - 1) / attr->nodes + 1;
	bool tree = c->kind == SDR_MODEL_TREE_ALLREDUCE;
	uint64_t bytes = tree ? attr->buffer_bytes : share;
	uint32_t i, parent;
	int ret = 0;

	if (c->nlinks == 1)
		return coll_link_add(c, attr, bytes, 0, 0, 1, err);
	for (i = tree; i < c->nodes && !ret; i++) {
		parent = tree ? i & (i - 1) : (i + c->nodes - 1) % c->nodes;
		ret = coll_link_add(c, attr, bytes, tree ? 2 * i + 1 : i, parent, i, err);
		if (!ret && tree)
			ret = coll_link_add(c, attr, bytes, 2 * i, i, parent, err);
	}
	return ret;
}

static int coll_check(const struct sdr_model_coll_attr *a, struct sdr_model_error *err)
{
	if (!sdr_model_coll_name(a->kind))
		return sdr_model_refuse(err, "kind", "there is no collective %d", (int)a->kind);
	if (a->nodes < 2 || a->nodes > COLL_NODES_MAX)
		return sdr_model_refuse(err, "nodes", "%u nodes: 2 to %u", a->nodes,
					COLL_NODES_MAX);
	if (!a->buffer_bytes || a->buffer_bytes > SDR_MODEL_BYTES_MAX)
		return sdr_model_refuse(err, "buffer_bytes",
					"a buffer of %" PRIu64 " bytes: 1 to 2^63",
					a->buffer_bytes);
	if (!(a->compute_s >= 0 && a->compute_s <= SDR_MODEL_FAR))
		return sdr_model_refuse(err, "compute_s", "%g s of compute in a step: 0 to %g",
					a->compute_s, SDR_MODEL_FAR);
	if (!a->links)
		return sdr_model_refuse(err, "links", "there are no links");
	if (a->nlinks != 1 && a->nlinks != a->nodes * a->nodes)
		return sdr_model_refuse(err, "nlinks",
					"%u links: 1 (all alike), or of each node to each, %u",
					a->nlinks, a->nodes * a->nodes);
	return 0;
}

static uint32_t coll_rounds(enum sdr_model_collective kind, uint32_t nodes)
{
	uint32_t depth = 0;

	if (kind == SDR_MODEL_RING_ALLREDUCE)
		return 2 * nodes - 2;
	if (kind != SDR_MODEL_TREE_ALLREDUCE)
		return nodes - 1;
	while (1u << depth < nodes)
		depth++;
	return 2 * depth;
}

int sdr_model_coll_create(const struct sdr_model_coll_attr *attr, struct sdr_model_coll **coll,
			  struct sdr_model_error *err)
{
	struct sdr_model_coll *c;
	uint32_t nlinks;
	int ret;

	ret = coll_check(attr, err);
	if (ret)
		return ret;
	nlinks = attr->nlinks == 1			  ? 1
		 : attr->kind == SDR_MODEL_TREE_ALLREDUCE ? 2 * attr->nodes
							  : attr->nodes;
	c = calloc(1, sizeof(*c) + nlinks * sizeof(c->links[0]));
	if (!c)
		return -ENOMEM;
	c->kind = attr->kind;
	c->nodes = attr->nodes;
	c->rounds = coll_rounds(attr->kind, attr->nodes);
	c->compute_s = attr->compute_s;
	c->nlinks = nlinks;
	ret = coll_links(c, attr, err);
	if (ret) {
		free(c);
		return ret;
	}
	c->bound_s = coll_run(c, COLL_MEAN, NULL);
	c->ideal_s = coll_run(c, COLL_IDEAL, NULL);
	*coll = c;
	return 0;
}

void sdr_model_coll_destroy(struct sdr_model_coll *coll)
{
	free(coll);
}

void sdr_model_coll_sample(const struct sdr_model_coll *coll, uint64_t seed, uint64_t first,
			   size_t n, double *t_s)
{
	struct sdr_model_random rnd;

	for (size_t i = 0; i < n; i++) {
		sdr_model_random_init(&rnd, seed, SDR_MODEL_RANDOM_COLL, first + i);
		t_s[i] = coll_run(coll, COLL_DRAW, &rnd);
	}
}

double sdr_model_coll_bound(const struct sdr_model_coll *coll)
{
	return coll->bound_s;
}

double sdr_model_coll_ideal(const struct sdr_model_coll *coll)
{
	return coll->ideal_s;
}

double sdr_model_coll_step(const struct sdr_model_coll *coll)
{
	return coll->step_s;
}

uint32_t sdr_model_coll_rounds(const struct sdr_model_coll *coll)
{
	return coll->rounds;
}

const char *sdr_model_coll_name(enum sdr_model_collective kind)
{
	return (unsigned int)kind < SDR_MODEL_COLLECTIVES ? coll_names[kind] : NULL;
}
