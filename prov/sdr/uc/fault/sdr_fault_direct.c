/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets that leave at once, or not at all.  A run is cut at the packets that something happens to
 * and goes on without a copy.  When the inner engine takes fewer than it was given, the draws for
 * the rest are undone, so the same packets meet the same fate when they are posted again.
 */
#include "sdr_fault_direct.h"
#include "sdr_fault_impl.h"

/* v without its first pkts packets; pkts < sdr_fault_pkts(v). */
static void sdr_fault_advance(struct sdr_uc_tx *v, uint32_t pkts)
{
	uint64_t bytes;

	if (!pkts)
		return;
	bytes = (uint64_t)pkts * sdr_fault_qp_of(v->w.qp)->mtu;
	v->buf += bytes;
	v->len -= (uint32_t)bytes;
	v->w.first += pkts;
}

/* Writes a descriptor for packets [pkt, pkt + n) of v. */
static void sdr_fault_emit(struct sdr_fault *f, uint32_t i, const struct sdr_uc_tx *v, int d,
			   uint32_t pkt, uint32_t n, uint32_t resume, unsigned int fate)
{
	struct sdr_uc_tx *o = &f->out[i];

	*o = *v;
	f->out_d[i] = d;
	f->out_pkt[i] = resume;
	if (v->kind == SDR_UC_TX_WRITE) {
		uint64_t end = (uint64_t)(pkt + n) * sdr_fault_qp_of(v->w.qp)->mtu;

		sdr_fault_advance(o, pkt);
		if (end < v->len)
			o->len -= (uint32_t)(v->len - end);
		o->w.qp = sdr_fault_qp_of(v->w.qp)->inner;
	}
	if (fate & SDR_FAULT_CORRUPT)
		o->flags |= SDR_UC_F_CORRUPT;
}

/*
 * Cuts descriptors from v[*d] on, first packet *pkt, into out.  Returns how many were written; *d,
 * *pkt move behind the last packet whose fate is drawn.
 */
static uint32_t sdr_fault_cut(struct sdr_fault *f, const struct sdr_uc_tx *v, int n, int *d,
			      uint32_t *pkt)
{
	uint32_t nout = 0;

	for (; *d < n; ++*d, *pkt = 0) {
		const struct sdr_uc_tx *t = &v[*d];
		uint32_t total = sdr_fault_pkts(t), clean = *pkt;

		/* One packet may need three: what was clean before it, itself, its double. */
		while (*pkt < total && nout + 3 <= SDR_FAULT_OUT) {
			uint32_t p = (*pkt)++;
			unsigned int fate = sdr_fault_draw(f);

			if (!fate)
				continue;
			if (p > clean)
				sdr_fault_emit(f, nout++, t, *d, clean, p - clean, clean, 0);
			clean = p + 1;
			if (fate & SDR_FAULT_DROP)
				continue;
			sdr_fault_emit(f, nout++, t, *d, p, 1, p, fate);
			if (fate & SDR_FAULT_DUP)
				sdr_fault_emit(f, nout++, t, *d, p, 1, p + 1, fate);
		}
		if (*pkt > clean)
			sdr_fault_emit(f, nout++, t, *d, clean, *pkt - clean, clean, 0);
		if (*pkt < total || nout + 3 > SDR_FAULT_OUT)
			break;
	}
	return nout;
}

/* Packet number of (d, pkt) counted from the first packet of v[from]. */
static uint64_t sdr_fault_position(const struct sdr_uc_tx *v, int from, int d, uint32_t pkt)
{
	uint64_t n = pkt;

	for (; from < d; from++)
		n += sdr_fault_pkts(&v[from]);
	return n;
}

int sdr_fault_post_now(struct sdr_fault *f, struct sdr_uc_tx *v, int n)
{
	int d = 0;

	while (d < n) {
		struct sdr_fault_dice before = f->dice;
		uint32_t pkt = 0, nout;
		uint64_t redo;
		int start = d, taken;

		nout = sdr_fault_cut(f, v, n, &d, &pkt);
		taken = nout ? f->inner->ops->post(f->inner, f->out, (int)nout) : 0;
		if (taken < (int)nout) {
			const struct sdr_uc_tx *o = &f->out[taken];

			d = f->out_d[taken];
			pkt = f->out_pkt[taken];
			/*
			 * Taken in part: it starts further on now.  (A double does not, it is one
			 * packet.)
			 */
			if (o->kind == SDR_UC_TX_WRITE && o->w.first > v[d].w.first + pkt)
				pkt = o->w.first - v[d].w.first;
			redo = sdr_fault_position(v, start, d, pkt);
			f->dice = before;
			while (redo--)
				sdr_fault_draw(f);
		}
		if (d < n && pkt == sdr_fault_pkts(&v[d])) {
			d++;
			pkt = 0;
		}
		if (d < n)
			sdr_fault_advance(&v[d], pkt);
		if (taken < (int)nout)
			break;
	}
	return d;
}

void sdr_fault_post_black(struct sdr_fault *f, const struct sdr_uc_tx *v, int n)
{
	int d;

	for (d = 0; d < n; d++) {
		uint32_t p = sdr_fault_pkts(&v[d]);

		f->queue_drop += p;
		while (p--)
			sdr_fault_draw(f);
	}
}
