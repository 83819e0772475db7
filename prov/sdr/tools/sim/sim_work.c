/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Workloads: a message, a stream of messages, a ring allreduce.
 *
 * Receives are posted before what they receive is sent, as a careful application does; the time of
 * a transfer is the sender's, from the post to the completion, which the last acknowledgement
 * brings.  A workload is over when both sides of all its transfers are.
 *
 * The allreduce is a ring of 2 N - 2 rounds.  In each, every node sends a piece of ceil(len / N)
 * bytes to the next node; it begins round r + 1 when its own send of round r is complete and so is
 * its receive of round r.  What a node computes on a piece takes no time.
 *
 * With verification each message has bytes of its own, drawn from its number, and each is looked at
 * as soon as the receive is complete.  Work that completes nothing for SIM_LIMIT_NS (and many times
 * what the line would need) fails.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_rand.h"
#include "sim_work.h"

#define SIM_LIMIT_NS 120000000000ull /* virtual time after which a transfer counts as stuck */
#define SIM_LIMIT_X  64u	     /* and that many times its bytes on the line */

/* ---- bytes ----------------------------------------------------------------------------------- */

static uint64_t sim_word(uint64_t number, uint64_t i)
{
	return sdr_mix64((number << 40) + i * SDR_RAND_STEP);
}

static void sim_fill(struct sim_bed *b, uint32_t node, uint32_t slot, uint64_t len, uint64_t number)
{
	char *p = b->node[node].tx + slot * b->a.mem_len;
	uint64_t w;

	if (!b->a.verify)
		return;
	for (uint64_t i = 0; i < len; i += sizeof(w)) {
		w = sim_word(number, i);
		memcpy(p + i, &w, len - i < sizeof(w) ? len - i : sizeof(w));
	}
}

static void sim_check(struct sim_bed *b, uint32_t node, uint32_t slot, uint64_t len,
		      uint64_t number)
{
	char *p = b->node[node].rx + slot * b->a.mem_len;
	uint64_t w;

	if (!b->a.verify || b->eps.failed)
		return;
	for (uint64_t i = 0; i < len; i += sizeof(w)) {
		w = sim_word(number, i);
		if (memcmp(p + i, &w, len - i < sizeof(w) ? len - i : sizeof(w)) != 0) {
			sim_eps_fail(&b->eps,
				     "wrong bytes at offset %" PRIu64 " of message %" PRIu64
				     " at node %u",
				     i, number, node);
			return;
		}
	}
}

/* ---- waiting --------------------------------------------------------------------------------- */

struct sim_limit {
	uint64_t ns, until;
};

static void sim_limit_renew(struct sim_bed *b, struct sim_limit *p, uint64_t len)
{
	uint64_t rate = b->a.forward.rate_bps;

	p->ns = SIM_LIMIT_NS;
	if (rate)
		p->ns += (uint64_t)((double)len * 8 * SIM_LIMIT_X / (double)rate * SIM_NS);
	p->until = sim_bed_now(b) + p->ns;
}

static void sim_wait(struct sim_bed *b, const struct sim_limit *p)
{
	if (sim_bed_now(b) >= p->until)
		sim_eps_fail(&b->eps, "nothing was completed in %" PRIu64 " s of virtual time",
			     p->ns / 1000000000u);
	if (!b->eps.failed)
		sim_bed_move(b, p->until);
}

/* ---- messages -------------------------------------------------------------------------------- */

bool sim_work_message(struct sim_bed *b, uint64_t len, uint64_t *ns)
{
	return sim_work_stream(b, len, 1, 1, ns, NULL);
}

struct sim_stream {
	struct sim_op out[SIM_WINDOW_MAX], in[SIM_WINDOW_MAX];
	uint32_t posted, sent, recv_posted, received; /* messages, from the first on */
};

bool sim_work_stream(struct sim_bed *b, uint64_t len, uint32_t n, uint32_t window, uint64_t *ns,
		     double *each_s)
{
	struct sim_stream *s = malloc(sizeof(*s));
	struct sim_limit limit;
	uint64_t start = sim_bed_now(b), end = start;
	struct sim_op *op;

	if (!s) {
		sim_eps_fail(&b->eps, "no memory for a stream");
		return false;
	}
	s->posted = s->sent = s->recv_posted = s->received = 0;
	sim_limit_renew(b, &limit, len);
	while (!b->eps.failed) {
		uint32_t before = s->sent + s->received;

		for (; s->received < s->recv_posted && s->in[s->received % window].done;
		     s->received++)
			sim_check(b, 1, s->received % window, len, s->received);
		for (; s->sent < s->posted && s->out[s->sent % window].done; s->sent++) {
			op = &s->out[s->sent % window];
			if (each_s)
				each_s[s->sent] = (double)(op->done_ns - op->post_ns) / SIM_NS;
			end = op->done_ns > end ? op->done_ns : end;
		}
		if (s->sent == n && s->received == n)
			break;
		if (s->sent + s->received != before)
			sim_limit_renew(b, &limit, len);
		for (; s->recv_posted < n && s->recv_posted - s->received < window;
		     s->recv_posted++)
			sim_bed_recv(b, 1, s->recv_posted % window, len,
				     &s->in[s->recv_posted % window]);
		for (; s->posted < n && s->posted - s->sent < window; s->posted++) {
			sim_fill(b, 0, s->posted % window, len, s->posted);
			sim_bed_send(b, 0, s->posted % window, len, &s->out[s->posted % window]);
		}
		sim_bed_work(b);
		if (s->sent == s->posted || !s->out[s->sent % window].done)
			sim_wait(b, &limit);
	}
	*ns = end - start;
	free(s);
	return !b->eps.failed;
}

/* ---- allreduce ------------------------------------------------------------------------------- */

uint32_t sim_work_rounds(uint32_t nodes)
{
	return 2 * nodes - 2;
}

uint64_t sim_work_step(uint64_t len, uint32_t nodes)
{
	return len / nodes + (len % nodes != 0);
}

struct sim_member {
	uint32_t round;	   /* under way */
	uint32_t received; /* pieces */
	struct sim_op out;
	struct sim_op *in; /* of each round */
};

static void sim_member_begin(struct sim_bed *b, struct sim_member *m, uint32_t node, uint64_t piece)
{
	sim_fill(b, node, 0, piece, (uint64_t)m->round * b->a.nodes + node);
	sim_bed_send(b, node, 0, piece, &m->out);
}

/* Looks at what has come, then begins what can begin; true: something did. */
static bool sim_ring_step(struct sim_bed *b, struct sim_member *all, uint64_t piece, uint32_t *left,
			  uint64_t *end)
{
	uint32_t n = b->a.nodes, rounds = sim_work_rounds(n);
	bool moved = false;

	for (uint32_t i = 0; i < n; i++) {
		struct sim_member *m = &all[i];

		for (; m->received < rounds && m->in[m->received].done; m->received++)
			sim_check(b, i, 0, piece, (uint64_t)m->received * n + (i + n - 1) % n);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct sim_member *m = &all[i];

		if (m->round == rounds || !m->out.done || m->received <= m->round)
			continue;
		moved = true;
		*end = m->out.done_ns > *end ? m->out.done_ns : *end;
		*end = m->in[m->round].done_ns > *end ? m->in[m->round].done_ns : *end;
		if (++m->round < rounds)
			sim_member_begin(b, m, i, piece);
		else
			--*left;
	}
	return moved;
}

bool sim_work_allreduce(struct sim_bed *b, uint64_t len, uint64_t *ns)
{
	uint32_t n = b->a.nodes, rounds = sim_work_rounds(n), left = n;
	uint64_t piece = sim_work_step(len, n), start = sim_bed_now(b), end = start;
	struct sim_member *all = calloc(n, sizeof(*all));
	struct sim_op *in = calloc((size_t)n * rounds, sizeof(*in));
	struct sim_limit limit;

	if (!all || !in) {
		sim_eps_fail(&b->eps, "no memory for %u nodes", n);
		goto out;
	}
	for (uint32_t i = 0; i < n; i++) {
		all[i].in = in + (size_t)i * rounds;
		for (uint32_t r = 0; r < rounds; r++)
			sim_bed_recv(b, i, 0, piece, &all[i].in[r]);
	}
	for (uint32_t i = 0; i < n; i++)
		sim_member_begin(b, &all[i], i, piece);
	sim_limit_renew(b, &limit, piece);
	sim_bed_work(b);
	while (!b->eps.failed) {
		if (!sim_ring_step(b, all, piece, &left, &end)) {
			sim_wait(b, &limit);
			continue;
		}
		if (!left)
			break;
		sim_limit_renew(b, &limit, piece);
		sim_bed_work(b);
	}
	*ns = end - start;
out:
	free(in);
	free(all);
	return !b->eps.failed;
}

void sim_work_pause(struct sim_bed *b, double max_s)
{
	double u = (double)(sim_bed_rand(b) >> 11) * 0x1p-53;
	uint64_t end = sim_bed_now(b) + (uint64_t)(u * max_s * SIM_NS);

	while (!b->eps.failed && sim_bed_now(b) < end)
		sim_bed_move(b, end);
}
