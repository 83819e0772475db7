/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The runs: bandwidth of one size, latency of one size, and all sizes in turn.
 *
 * Bandwidth: an active side keeps `in_flight` operations posted, each with a place of the buffer to
 * itself, with the endpoint's default completion: a write is complete when it can no longer fail.
 * The clock runs from the first post to the last completion, from a standing start; nothing is
 * warmed up.  The peak is the best stretch of at least PEAK_NS in which four times the operations
 * in flight completed; a run that is shorter has its average for a peak.
 *
 * Latency: one message there, one back; half of the round trip, of each.
 *
 * With --verify every message has bytes of its own.  Messages and reads are checked one by one as
 * they come; writes at the end, when each place must hold the last message that was written to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "sdr_perf_side.h"

#define PEAK_NS	    (PERF_SEC / 10)
#define PROGRESS_NS (PERF_SEC / 2)

/* Of the size that is run. */
static struct {
	uint64_t posted, completed; /* messages of this side */
	uint64_t received;
	uint64_t expected; /* number of the next receive to be posted */
	uint64_t bad;	   /* messages with wrong bytes */
	uint64_t last[PERF_SLOTS_MAX];
	bool closing;  /* receives that end now are not posted again */
	uint32_t open; /* receives posted */
} run;

static bool verify(const struct perf_side *s)
{
	return s->plan.flags & PERF_F_VERIFY;
}

static void size_done(uint64_t want, size_t len)
{
	if (len != want)
		perf_die("a message of %zu bytes came instead of one of %llu", len,
			 (unsigned long long)want);
}

/* ---- the target's side ----------------------------------------------------------------------- */

static void recv_post(struct perf_side *s, struct perf_op *op)
{
	uint8_t *p = s->rx + op->slot * s->size;
	void *desc = fi_mr_desc(s->rx_mr);

	op->n = run.expected++;
	run.open++;
	if (s->plan.op == PERF_TAGGED)
		PERF_POST(&s->ep,
			  fi_trecv(s->ep.ep, p, s->size, desc, s->ep.peer, PERF_TAG_DATA, 0, op));
	else
		PERF_POST(&s->ep, fi_recv(s->ep.ep, p, s->size, desc, s->ep.peer, op));
}

static void recv_done(struct perf_op *op, size_t len, int err)
{
	struct perf_side *s = op->side;

	run.open--;
	if (err == FI_ECANCELED)
		return;
	size_done(s->size, err ? len + 1 : len);
	if (verify(s) &&
	    !perf_mem_filled(&s->mem, s->rx + op->slot * s->size, s->size, op->n, !s->client))
		run.bad++;
	run.received++;
	if (!run.closing)
		recv_post(s, op);
}

static bool takes_messages(const struct perf_side *s)
{
	return s->target && (s->plan.op == PERF_SEND || s->plan.op == PERF_TAGGED);
}

static void target_begin(struct perf_side *s)
{
	uint32_t i;

	if (s->target && s->plan.op == PERF_READ && verify(s)) {
		for (i = 0; i < s->plan.in_flight; i++)
			perf_mem_fill(&s->mem, s->tx + i * s->size, s->size, i, s->client);
	}
	if (s->target && s->plan.op == PERF_WRITE && verify(s))
		perf_mem_wipe(&s->mem, s->rx, s->rx_room);
	for (i = 0; takes_messages(s) && i < 2 * s->plan.in_flight; i++) {
		s->rx_op[i].done = recv_done;
		recv_post(s, &s->rx_op[i]);
	}
}

/* The peer has said how much there was. */
static void target_end(struct perf_side *s, const struct perf_sync *done)
{
	uint32_t i;

	if (takes_messages(s)) {
		while (run.received < done->count)
			perf_side_idle(s);
		run.closing = true;
		for (i = 0; i < 2 * s->plan.in_flight; i++)
			fi_cancel(&s->ep.ep->fid, &s->rx_op[i]);
		while (run.open)
			perf_side_idle(s);
	}
	for (i = 0; s->target && s->plan.op == PERF_WRITE && verify(s) && i < s->plan.in_flight;
	     i++) {
		if (done->last[i] && !perf_mem_filled(&s->mem, s->rx + i * s->size, s->size,
						      done->last[i] - 1, !s->client))
			run.bad++;
	}
}

/* ---- the active side ------------------------------------------------------------------------- */

static void op_post(struct perf_side *s, struct perf_op *op)
{
	uint64_t at = op->slot * s->size;
	uint8_t *tx = s->tx ? s->tx + at : NULL;
	struct fid_ep *ep = s->ep.ep;

	op->n = run.posted++;
	op->begin_ns = perf_times_wanted() ? perf_now() : 0;
	if (verify(s) && s->plan.op == PERF_READ)
		perf_mem_wipe(&s->mem, s->rx + at, s->size);
	else if (verify(s))
		perf_mem_fill(&s->mem, tx, s->size, op->n, s->client);
	switch (s->plan.op) {
	case PERF_WRITE:
		run.last[op->slot] = op->n + 1;
		PERF_POST(&s->ep, fi_write(ep, tx, s->size, fi_mr_desc(s->tx_mr), s->ep.peer,
					   s->theirs.addr + at, s->theirs.key, op));
		break;
	case PERF_READ:
		PERF_POST(&s->ep, fi_read(ep, s->rx + at, s->size, fi_mr_desc(s->rx_mr), s->ep.peer,
					  s->theirs.addr + at, s->theirs.key, op));
		break;
	case PERF_TAGGED:
		PERF_POST(&s->ep, fi_tsend(ep, tx, s->size, fi_mr_desc(s->tx_mr), s->ep.peer,
					   PERF_TAG_DATA, op));
		break;
	default:
		PERF_POST(&s->ep, fi_send(ep, tx, s->size, fi_mr_desc(s->tx_mr), s->ep.peer, op));
	}
}

static void op_done(struct perf_op *op, size_t len, int err)
{
	struct perf_side *s = op->side;

	(void)len;
	(void)err;
	if (verify(s) && s->plan.op == PERF_READ &&
	    !perf_mem_filled(&s->mem, s->rx + op->slot * s->size, s->size, op->slot, !s->client))
		run.bad++;
	run.completed++;
	if (perf_times_wanted())
		perf_times_row(s->size, op->n, op->begin_ns, perf_now() - op->begin_ns);
	s->free[s->nfree++] = op->slot;
}

/* The best stretch so far. */
struct peak {
	uint64_t since, completed; /* its beginning */
	double best;		   /* messages per second */
};

static void peak_look(struct peak *k, const struct perf_side *s, uint64_t now)
{
	uint64_t n = run.completed - k->completed;
	double rate;

	if (now - k->since < PEAK_NS || n < 4 * (uint64_t)s->plan.in_flight)
		return;
	rate = (double)n * (double)PERF_SEC / (double)(now - k->since);
	if (rate > k->best)
		k->best = rate;
	k->since = now;
	k->completed = run.completed;
}

static void progress_show(const struct perf_side *s, const struct perf_opt *opt, uint64_t ns)
{
	double share = s->plan.iters ? (double)run.completed / (double)s->plan.iters
				     : (double)ns / (double)s->plan.duration_ns;

	if (s->client)
		perf_out_progress(opt, s->size, ns, run.completed * s->size, share < 1 ? share : 1);
}

/* All operations of a size; what there is to say of them in *done. */
static void active_run(struct perf_side *s, const struct perf_opt *opt, struct perf_sync *done)
{
	uint64_t start = perf_now(), now = start, shown = start,
		 goal = s->plan.iters ? s->plan.iters : UINT64_MAX;
	struct peak peak = { .since = start };
	uint32_t i;

	for (s->nfree = 0, i = s->plan.in_flight; i-- > 0; s->nfree++) {
		s->tx_op[i].done = op_done;
		s->free[s->nfree] = i;
	}
	for (;;) {
		if (s->plan.duration_ns && now - start >= s->plan.duration_ns)
			goal = run.posted;
		while (s->nfree && run.posted < goal)
			op_post(s, &s->tx_op[s->free[--s->nfree]]);
		if (run.completed == goal)
			break;
		perf_ep_progress(&s->ep, 100);
		now = perf_now();
		peak_look(&peak, s, now);
		if (now - shown >= PROGRESS_NS) {
			shown = now;
			progress_show(s, opt, now - start);
		}
	}
	done->ns = perf_now() - start;
	done->count = run.completed;
	done->peak = peak.best * (double)s->size;
	memcpy(done->last, run.last, sizeof(done->last));
}

/* ---- latency --------------------------------------------------------------------------------- */

/* The message to the peer; its buffer is free when this returns, or when the operation is over. */
static void ping_send(struct perf_side *s, uint64_t n)
{
	struct perf_op *op = &s->tx_op[0];

	while (op->busy)
		perf_ep_progress(&s->ep, 100);
	if (verify(s))
		perf_mem_fill(&s->mem, s->tx, s->size, n, s->client);
	if (s->size <= s->ep.info->tx_attr->inject_size) {
		PERF_POST(&s->ep, fi_inject(s->ep.ep, s->tx, s->size, s->ep.peer));
		return;
	}
	op->busy = true;
	PERF_POST(&s->ep, fi_send(s->ep.ep, s->tx, s->size, fi_mr_desc(s->tx_mr), s->ep.peer, op));
}

static void ping_sent(struct perf_op *op, size_t len, int err)
{
	(void)len;
	(void)err;
	op->busy = false;
}

static void ping_came(struct perf_op *op, size_t len, int err)
{
	op->busy = false;
	if (err == FI_ECANCELED)
		return;
	size_done(op->side->size, err ? len + 1 : len);
	run.received++;
}

static void ping_recv(struct perf_side *s)
{
	struct perf_op *op = &s->rx_op[0];

	op->busy = true;
	PERF_POST(&s->ep, fi_recv(s->ep.ep, s->rx, s->size, fi_mr_desc(s->rx_mr), s->ep.peer, op));
}

static void ping_check(struct perf_side *s, uint64_t n)
{
	if (verify(s) && !perf_mem_filled(&s->mem, s->rx, s->size, n, !s->client))
		run.bad++;
}

/* The client's side; ns of each round trip in sample[], which has room for PERF_SAMPLES. */
static void ping(struct perf_side *s, const struct perf_opt *opt, struct perf_sync *done,
		 uint64_t *sample)
{
	uint64_t start = perf_now(), last = start, now = start, shown = start, n;
	uint64_t goal = s->plan.iters ? s->plan.iters : PERF_SAMPLES;

	for (n = 0; n < goal && (s->plan.iters || now - start < s->plan.duration_ns); n++) {
		ping_recv(s);
		ping_send(s, n);
		while (s->rx_op[0].busy)
			perf_side_idle(s);
		ping_check(s, n);
		now = perf_now();
		sample[n] = now - last;
		if (perf_times_wanted())
			perf_times_row(s->size, n, last, sample[n]);
		last = now;
		run.completed = n + 1;
		if (now - shown >= PROGRESS_NS) {
			shown = now;
			progress_show(s, opt, now - start);
		}
	}
	while (s->tx_op[0].busy)
		perf_ep_progress(&s->ep, 100);
	done->ns = now - start;
	done->count = n;
}

static void pong(struct perf_side *s)
{
	uint64_t n;

	for (n = 0;; n++) {
		ping_recv(s);
		while (s->rx_op[0].busy && !s->got[PERF_DONE])
			perf_side_idle(s);
		if (s->rx_op[0].busy)
			break;
		ping_check(s, n);
		ping_send(s, n);
	}
	fi_cancel(&s->ep.ep->fid, &s->rx_op[0]);
	while (s->rx_op[0].busy || s->tx_op[0].busy)
		perf_side_idle(s);
}

static int sample_order(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void latency_fill(struct perf_result *r, uint64_t *v, uint64_t n)
{
	qsort(v, n, sizeof(*v), sample_order);
	r->lat_min = (double)v[0] / 2e3;
	r->lat_p50 = (double)(v[(n - 1) / 2] + v[n / 2]) / 4e3;
	r->lat_p99 = (double)v[n - 1 - n / 100] / 2e3;
	r->lat_max = (double)v[n - 1] / 2e3;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* Processor time of all threads, in the kernel as well. */
static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * PERF_SEC +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static uint64_t rtx_of(const struct fi_sdr_stats *x)
{
	return x->rtx_rack + x->rtx_nack + x->rtx_tlp + x->rtx_rto;
}

static void result_fill(struct perf_result *r, const struct perf_side *s,
			const struct perf_sync *mine, const struct perf_sync *done)
{
	const struct perf_sync *side[] = { mine, done };
	double rate;
	unsigned int i;

	r->size = s->size;
	r->iters = mine->count;
	r->ns = mine->ns;
	for (i = 0; i < 2; i++) {
		if (!side[i]->ns)
			continue;
		rate = (double)side[i]->count * (double)PERF_SEC / (double)side[i]->ns;
		r->bytes += side[i]->count * s->size;
		r->msgs += rate;
		r->rate += rate * (double)s->size;
		r->peak += side[i]->peak > rate * (double)s->size ? side[i]->peak
								  : rate * (double)s->size;
	}
}

static void size_run(struct perf_side *s, const struct perf_opt *opt, uint64_t *sample)
{
	static struct perf_sync mine, none;
	struct fi_sdr_stats before, after;
	const struct perf_sync *theirs;
	struct perf_result r = { .size = 0 };
	uint64_t bad, cpu;

	memset(&run, 0, sizeof(run));
	memset(&mine, 0, sizeof(mine));
	snprintf(perf_doing, sizeof(perf_doing), "running %s with %llu bytes",
		 perf_op_name[s->plan.op], (unsigned long long)s->size);
	target_begin(s);
	perf_side_say(s, PERF_READY, &none);
	perf_side_hear(s, PERF_READY);
	perf_ep_stats(&s->ep, &before);
	cpu = cpu_ns();
	if (s->plan.op == PERF_LAT) {
		s->rx_op[0].done = ping_came;
		s->tx_op[0].done = ping_sent;
		if (s->client)
			ping(s, opt, &mine, sample);
		else
			pong(s);
	} else if (s->active) {
		active_run(s, opt, &mine);
	}
	perf_side_say(s, PERF_DONE, &mine);
	theirs = perf_side_hear(s, PERF_DONE);
	r.cpu_ns = mine.cpu_ns = cpu_ns() - cpu;
	target_end(s, theirs);
	result_fill(&r, s, &mine, theirs);
	perf_ep_stats(&s->ep, &after);
	mine.bad = run.bad;
	r.pkts = mine.pkts = after.pkts_tx - before.pkts_tx;
	r.rtx = mine.rtx = rtx_of(&after) - rtx_of(&before);
	r.rec_rtx = mine.rec_rtx = after.rec_rtx - before.rec_rtx;
	r.srtt_ns = after.srtt_ns;
	perf_side_say(s, PERF_RESULT, &mine);
	theirs = perf_side_hear(s, PERF_RESULT);
	bad = run.bad + theirs->bad;
	if (bad) {
		/* not to leave the other side waiting: it has the same to say */
		perf_side_close(s);
		perf_die("%llu messages of %llu bytes arrived with wrong bytes",
			 (unsigned long long)bad, (unsigned long long)s->size);
	}
	if (!s->client)
		return;
	r.pkts += theirs->pkts;
	r.rtx += theirs->rtx;
	r.rec_rtx += theirs->rec_rtx;
	r.peer_cpu_ns = theirs->cpu_ns;
	if (sample)
		latency_fill(&r, sample, mine.count);
	perf_out_row(opt, &r);
}

void perf_run(struct perf_side *s, const struct perf_opt *opt)
{
	uint64_t *sample = calloc(PERF_SAMPLES, sizeof(*sample));

	if (!sample)
		perf_die("out of memory");
	if (s->client)
		perf_out_begin(opt, &s->mine, &s->theirs);
	else if (!opt->quiet)
		fprintf(stderr, "sdr_perf: serving %s, engine %s, domain %s\n",
			perf_op_name[s->plan.op], s->mine.engine, s->mine.domain);
	for (;;) {
		size_run(s, opt, sample);
		if (s->size > s->plan.size_max / 2)
			break;
		s->size *= 2;
	}
	if (s->client) {
		perf_times_close();
		perf_out_end(opt);
	}
	free(sample);
}
