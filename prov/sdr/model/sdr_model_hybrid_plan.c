/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How the hybrid scheme lays a transfer out: (k, m) and reach are given or chosen by sdr_choose,
 * and sdr_choice_layout, which rel/ uses too, says where segments end and where parity begins.  A
 * segment has the fewest codewords that k allows, of even size, which take turns packet by packet
 * (fec/sdr_code.c), and its parity follows its data.
 *
 * A message that fits a record is a packet of its own, without segments: where losses are to be
 * expected it is sent twice.  Packets are counted by their payload: what headers cost is to be
 * taken from the bandwidth.
 *
 * Numbers of packets are double, as messages may have 2^63 bytes.  Pure; no allocation.
 */
#include <math.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_choice_layout.h"
#include "sdr_model_hybrid.h"

#define HYBRID_DELAY 1e-3 /* s: SDR_ACK_DELAY_MAX_NS, and the least variance */
/* bytes of a packet that a record with a message in it needs around it */
#define HYBRID_RECORD 80.0
#define HYBRID_TINY   1e-30 /* probabilities below do not matter in any sum here */

void sdr_model_chain(double p, double again, uint32_t n, uint32_t k, double *tail, double *lost)
{
	double a[SDR_MODEL_SYMS_MAX + 2] = { 0 }, b[SDR_MODEL_SYMS_MAX + 2] = { 0 };
	double c = fmax(again, p), e = p < 1 ? p * (1 - c) / (1 - p) : 1, sum;
	uint32_t top = 1, at, j;

	SDR_ASSERT(n && n <= SDR_MODEL_SYMS_MAX && p >= 0 && p <= 1);
	a[0] = 1 - p;
	b[1] = p;
	for (at = 1;; at++) {
		if (tail && at >= k) {
			for (sum = 0, j = top; j > at - k; j--)
				sum += a[j] + b[j];
			tail[at - k] = fmin(sum, 1);
		}
		if (at == n)
			break;
		b[top + 1] = e * a[top] + c * b[top];
		for (j = top; j; j--) {
			a[j] = (1 - e) * a[j] + (1 - c) * b[j];
			b[j] = e * a[j - 1] + c * b[j - 1];
		}
		a[0] *= 1 - e;
		/* what is not counted here stays so: b is 0 above top */
		if (b[top + 1] > HYBRID_TINY)
			top++;
		else
			b[top + 1] = 0;
	}
	for (j = 0; lost && j <= n; j++)
		lost[j] = j <= top ? a[j] + b[j] : 0;
}

static void plan_choose(struct sdr_model_hybrid_plan *h, const struct sdr_model_point *p,
			struct sdr_choice_table *t)
{
	struct sdr_choice_in in = {
		.objective = (uint8_t)p->objective,
		.max_overhead = p->max_overhead,
		.npkts = (p->msg_bytes - 1) / p->mtu_bytes + 1,
		.seg_pkts = p->mtu_bytes < SDR_CHOICE_SEG ? SDR_CHOICE_SEG / p->mtu_bytes : 1,
		.rtt_ns = p->rtt_s < 1e9 ? (uint64_t)(p->rtt_s * 1e9) : 1000000000000000000ull,
		.pkts_ns = 1e-9 / h->t_s,
		.loss = &h->loss,
	};

	if (p->k && p->m) {
		h->choice = (struct sdr_choice){
			.why = SDR_CHOICE_PARITY,
			.k = (uint16_t)p->k,
			.m = (uint16_t)p->m,
			.cover = in.npkts,
		};
		if (p->cover_bytes > 0 && p->cover_bytes < (double)p->msg_bytes)
			h->choice.cover = (uint64_t)ceil(p->cover_bytes / p->mtu_bytes);
		return;
	}
	sdr_choose(t, &in, &h->choice);
}

static void plan_segs(const struct sdr_model_hybrid_plan *h, struct sdr_model_hybrid_segs *s,
		      double segs, double pkts, double burst)
{
	double k;

	memset(s, 0, sizeof(*s));
	if (!(segs > 0))
		return;
	s->segs = segs;
	s->pkts = pkts;
	s->codewords = ceil(pkts / h->choice.k);
	k = ceil(pkts / s->codewords);
	s->big = pkts - s->codewords * (k - 1);
	s->k = (uint32_t)k;
	s->m = (uint32_t)ceil(k * h->choice.m / h->choice.k);
	s->again = pow(1 - 1 / burst, s->codewords);
}

/* When what is sent; the head's repairs delay what is behind it by their mean. */
static void plan_times(struct sdr_model_hybrid_plan *h, double rtt_s)
{
	double again = h->head * h->loss.upper / (1 - h->loss.upper);

	h->first_s = h->pkts * h->t_s + rtt_s;
	if (h->head > 0) {
		h->units = ceil(h->head / h->loss.burst);
		h->unit_s = h->head * h->t_s / h->units;
	}
	if (!h->choice.m)
		return;
	h->full.every_s = (h->full.pkts + h->full.codewords * h->full.m) * h->t_s;
	h->full.end_s = (h->head + again) * h->t_s + h->full.segs * h->full.every_s;
	h->last.end_s = (h->pkts + again + h->parity) * h->t_s;
	h->first_s = h->last.end_s - h->last.codewords * h->last.m * h->t_s + rtt_s;
}

static void plan_lone(struct sdr_model_hybrid_plan *h, const struct sdr_model_point *p)
{
	double most = sdr_choice_quantile((uint8_t)p->objective) / SDR_CHOICE_REPEAT;

	h->first_s = h->pkts * h->t_s + p->rtt_s;
	h->rto_s = p->rto_rtts > 0 ? p->rto_rtts * p->rtt_s
				   : p->rtt_s + fmax(p->rtt_s / 8, HYBRID_DELAY) + HYBRID_DELAY;
	h->choice.fail = p->p_packet;
	if (p->k || (p->max_overhead > 0 && sdr_choice_any(&h->loss, 1) > most)) {
		h->choice.k = 1;
		h->choice.m = 1;
		h->sends = 2;
		h->parity = 1;
	}
}

/*
 * What has parity, and in which segments: laid out as rel/ does, the last packet counted as full.
 */
static void plan_cover(struct sdr_model_hybrid_plan *h, const struct sdr_model_point *p)
{
	uint64_t mtu = p->mtu_bytes, pkts = (p->msg_bytes - 1) / mtu + 1,
		 max = SDR_CHOICE_SEG / mtu;
	struct sdr_choice_layout layout;
	double seg, cover;

	sdr_choice_layout(&layout, pkts * mtu,
			  (h->choice.cover < pkts ? h->choice.cover : pkts) * mtu,
			  sdr_choice_seg(max * mtu, mtu, h->choice.k, h->choice.m), mtu);
	seg = (double)(layout.seg / mtu);
	h->head = (double)(layout.from / mtu);
	cover = h->pkts - h->head;
	plan_segs(h, &h->full, cover > seg ? ceil(cover / seg) - 1 : 0, seg, p->burst_packets);
	plan_segs(h, &h->last, 1, cover - h->full.segs * h->full.pkts, p->burst_packets);
	h->parity = h->full.segs * h->full.codewords * h->full.m + h->last.codewords * h->last.m;
}

void sdr_model_hybrid_plan(struct sdr_model_hybrid_plan *h, const struct sdr_model_point *p,
			   struct sdr_choice_table *t)
{
	memset(h, 0, sizeof(*h));
	h->t_s = 8.0 * p->mtu_bytes / p->bandwidth_bps;
	h->pkts = (double)((p->msg_bytes - 1) / p->mtu_bytes + 1);
	sdr_choice_loss_of(&h->loss, p->p_packet, p->burst_packets);
	h->sends = 1;
	h->head = h->pkts;
	h->lone = h->pkts < 2 && (double)p->msg_bytes + HYBRID_RECORD <= (double)p->mtu_bytes;
	if (h->lone) {
		plan_lone(h, p);
		return;
	}
	plan_choose(h, p, t);
	if (h->choice.m)
		plan_cover(h, p);
	plan_times(h, p->rtt_s);
	SDR_ASSERT(h->pkts >= 1 && h->sends >= 1);
}
