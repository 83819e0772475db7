/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The verbs engine's post: descriptors -> work requests -> one doorbell a batch.
 *
 * Each packet is one RDMA Write with immediate.  A run of packets becomes batches of up to
 * SDR_VERBS_BATCH requests; the last of a batch asks for a completion, which gives back the whole
 * batch: queue places, copies and the hold on the message's registration.  Payload of registered
 * memory is read by the device; a packet that the device takes inside the request is not even that;
 * other payload is copied once into registered packets of our own.  A transport QP without free
 * places, or no free copies, ends the call: "the network is full".
 *
 * Invariant: requests of a transport QP complete in order, so its batches are a ring.  A completion
 * names its transport QP by index and serial number, since some devices report those of a queue
 * pair that is gone.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_verbs_impl.h"

#define SDR_VERBS_TPS_FIRST 64u /* entries the table of transport QPs starts with */
#define SDR_VERBS_REAP	    32	/* completions taken at a time */

/* ---- transport QPs by index ------------------------------------------------------------------ */

int sdr_verbs_tp_add(struct sdr_verbs *v, struct sdr_verbs_tp *t)
{
	uint32_t i;

	for (i = 0; i < v->ntps && v->tps[i]; i++)
		;
	if (i == v->tps_cap) {
		uint32_t cap = v->tps_cap ? 2 * v->tps_cap : SDR_VERBS_TPS_FIRST;
		struct sdr_verbs_tp **n = realloc(v->tps, cap * sizeof(*n));

		if (!n)
			return -ENOMEM;
		v->tps = n;
		v->tps_cap = cap;
	}
	if (i == v->ntps)
		v->ntps++;
	v->tps[i] = t;
	t->index = i;
	t->serial = ++v->serial;
	return 0;
}

void sdr_verbs_tp_del(struct sdr_verbs *v, struct sdr_verbs_tp *t)
{
	if (t->index < v->ntps && v->tps[t->index] == t)
		v->tps[t->index] = NULL;
}

/* ---- completions ----------------------------------------------------------------------------- */

static void sdr_verbs_batch_end(struct sdr_verbs *v, struct sdr_verbs_tp *t)
{
	struct sdr_verbs_batch *b = &t->batch[t->head++ % v->tx_depth];
	uint32_t c, next;

	for (c = b->copies; c != SDR_VERBS_NONE; c = next) {
		next = v->copy_next[c];
		v->copy_next[c] = v->copy_free;
		v->copy_free = c;
	}
	t->tx_free += b->n;
	if (b->reg && !--b->reg->batches && b->reg->dead)
		sdr_verbs_mr_dereg(&v->uc, b->reg);
	v->nsignal--;
}

void sdr_verbs_tp_forget(struct sdr_verbs_tp *t)
{
	while (t->head != t->tail)
		sdr_verbs_batch_end(t->q->v, t);
	t->serial = ++t->q->v->serial;
}

void sdr_verbs_tx_reap(struct sdr_verbs *v)
{
	struct ibv_wc wc[SDR_VERBS_REAP];
	char words[96];
	int n, i;

	if (!v->nsignal)
		return;
	do {
		n = ibv_poll_cq(v->scq, SDR_VERBS_REAP, wc);
		for (i = 0; i < n; i++) {
			uint32_t index = (uint32_t)wc[i].wr_id;
			struct sdr_verbs_tp *t = index < v->ntps ? v->tps[index] : NULL;

			if (!t || t->serial != wc[i].wr_id >> 32 || t->head == t->tail)
				continue;
			if (wc[i].status != IBV_WC_SUCCESS) {
				snprintf(words, sizeof(words), "a write ended with \"%s\"",
					 v->ibv->wc_status_str(wc[i].status));
				sdr_verbs_qp_break(t->q, words);
			}
			sdr_verbs_batch_end(v, t);
		}
	} while (n == SDR_VERBS_REAP);
	if (n < 0)
		sdr_verbs_break(v, -EIO, "polling the send completion queue failed");
}

/* ---- posting --------------------------------------------------------------------------------- */

/*
 * Requests [0, n) in v->swr go out as one batch.  False: the device refused them, and the QP is
 * broken.
 */
static bool sdr_verbs_batch_post(struct sdr_verbs *v, struct sdr_verbs_tp *t, uint32_t n,
				 uint32_t copies, struct sdr_verbs_reg *reg)
{
	struct sdr_verbs_batch *b = &t->batch[t->tail % v->tx_depth];
	struct ibv_send_wr *bad = NULL;
	int ret;

	v->swr[n - 1].next = NULL;
	/* Solicited: who sleeps over there is woken once a batch, not by each packet. */
	v->swr[n - 1].send_flags |= IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
	v->swr[n - 1].wr_id = (uint64_t)t->serial << 32 | t->index;
	b->n = n;
	b->copies = copies;
	b->reg = reg;
	if (reg)
		reg->batches++;
	t->tail++;
	t->tx_free -= n;
	v->nsignal++;
	v->st.sys_tx++;
	ret = ibv_post_send(t->qp, v->swr, &bad);
	v->swr[n - 1].next = n < SDR_VERBS_BATCH ? &v->swr[n] : NULL;
	if (!ret)
		return true;
	sdr_verbs_qp_break(t->q, "the device took no more writes");
	return false;
}

static uint32_t sdr_verbs_copy(struct sdr_verbs *v, const uint8_t *buf, uint32_t len,
			       uint32_t *chain)
{
	uint32_t c = v->copy_free;

	if (c == SDR_VERBS_NONE)
		return c;
	v->copy_free = v->copy_next[c];
	v->copy_next[c] = *chain;
	*chain = c;
	memcpy(v->copy + (size_t)c * v->mtu, buf, len);
	return c;
}

/* Address and key of a message's first byte at the peer. */
static bool sdr_verbs_target(const struct sdr_verbs_qp *q, const struct sdr_uc_tx *t, uint64_t *va,
			     uint32_t *rkey)
{
	if (t->flags & SDR_UC_F_RKEYED) {
		*va = t->w.va;
		*rkey = t->w.rkey;
		return true;
	}
	*va = (uint64_t)t->w.slot * q->max_msg;
	*rkey = sdr_rkey_of_epoch(q->peer_rkey, t->w.epoch);
	return !q->peer_nic; /* a device takes nothing without a grant */
}

/* One packet as request k.  False: no copy is free. */
static bool sdr_verbs_packet(struct sdr_verbs *v, uint32_t k, const uint8_t *buf, uint32_t len,
			     const struct sdr_verbs_reg *reg, uint32_t *chain)
{
	struct ibv_send_wr *w = &v->swr[k];
	struct ibv_sge *s = &v->sge[k];
	uint32_t c;

	w->send_flags = 0;
	w->num_sge = len ? 1 : 0;
	s->length = len;
	s->addr = (uintptr_t)buf;
	/* Inline means that the CPU reads it. */
	if (len && len <= v->inl && !(reg && reg->mr->mem)) {
		w->send_flags = IBV_SEND_INLINE;
	} else if (len && reg) {
		s->lkey = reg->mr->mr->lkey;
	} else if (len) {
		c = sdr_verbs_copy(v, buf, len, chain);
		if (c == SDR_VERBS_NONE)
			return false;
		s->addr = (uintptr_t)v->copy + (size_t)c * v->mtu;
		s->lkey = v->copy_mr->mr->lkey;
	}
	return true;
}

/* Packets of the descriptor that were taken; fewer than it has: full. */
static uint32_t sdr_verbs_write(struct sdr_verbs *v, const struct sdr_uc_tx *d, uint32_t total)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(d->w.qp);
	struct sdr_verbs_tp *t = &q->tp[(uint32_t)d->gen * q->channels + d->channel];
	struct sdr_verbs_reg *reg = d->mr;
	uint32_t done = 0, rkey;
	uint64_t va;

	if (d->via) { /* there is one way */
		v->st.tx_lost += total;
		return total;
	}
	if (!q->connected || q->failed_at || !sdr_verbs_target(q, d, &va, &rkey) ||
	    d->flags & SDR_UC_F_CORRUPT)
		return total; /* lost */
	while (done < total) {
		uint32_t n = total - done, chain = SDR_VERBS_NONE, k;

		if (n > SDR_VERBS_BATCH)
			n = SDR_VERBS_BATCH;
		if (n > t->tx_free)
			n = t->tx_free;
		if (!n || v->nsignal >= SDR_VERBS_SCQ)
			break;
		for (k = 0; k < n; k++) {
			uint32_t off = d->w.first + done + k;
			uint64_t at = (uint64_t)(done + k) * q->mtu;
			uint32_t len = d->len - at < q->mtu ? (uint32_t)(d->len - at) : q->mtu;
			struct ibv_send_wr *w = &v->swr[k];

			if (!sdr_verbs_packet(v, k, d->buf + at, len, reg, &chain))
				break;
			w->imm_data =
				htonl(sdr_imm_pack(&q->split, d->w.slot, off,
						   sdr_imm_frag(&q->split, d->w.user_imm, off)));
			w->wr.rdma.remote_addr = va + (uint64_t)off * q->mtu;
			w->wr.rdma.rkey = rkey;
			v->st.bytes_tx += len;
		}
		if (!k || !sdr_verbs_batch_post(v, t, k, chain, reg))
			break;
		v->st.pkts_tx += k;
		done += k;
		if (k < n)
			break;
	}
	return done;
}

int sdr_verbs_post(struct sdr_uc *uc, struct sdr_uc_tx *d, int n)
{
	struct sdr_verbs *v = sdr_verbs_of(uc);
	int i;

	sdr_verbs_tx_reap(v);
	for (i = 0; i < n; i++) {
		uint32_t total, done;

		if (d[i].kind == SDR_UC_TX_CTL) {
			if (!sdr_verbs_ctl_post(v, &d[i]))
				break;
			continue;
		}
		total = d[i].len ? (d[i].len - 1) / sdr_verbs_qp_of(d[i].w.qp)->mtu + 1 : 1;
		done = sdr_verbs_write(v, &d[i], total);
		if (done < total) {
			uint32_t bytes = done * sdr_verbs_qp_of(d[i].w.qp)->mtu;

			d[i].buf += bytes;
			d[i].len -= bytes;
			d[i].w.first += done;
			break;
		}
	}
	v->st.tx_again += i < n;
	return i;
}

/* ---- memory ---------------------------------------------------------------------------------- */

int sdr_verbs_tx_init(struct sdr_verbs *v)
{
	size_t bytes = (size_t)SDR_VERBS_COPIES * v->mtu;
	struct sdr_verbs_range range = { .len = bytes };
	uint32_t i;
	int ret;

	v->copy_free = SDR_VERBS_NONE;
	v->copy = aligned_alloc(4096, (bytes + 4095) & ~4095ul);
	v->copy_next = calloc(SDR_VERBS_COPIES, sizeof(*v->copy_next));
	if (!v->copy || !v->copy_next)
		return -ENOMEM;
	for (i = 0; i < SDR_VERBS_COPIES; i++) {
		v->copy_next[i] = v->copy_free;
		v->copy_free = i;
	}
	for (i = 0; i < SDR_VERBS_BATCH; i++) {
		v->swr[i].opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
		v->swr[i].sg_list = &v->sge[i];
		v->swr[i].next = i + 1 < SDR_VERBS_BATCH ? &v->swr[i + 1] : NULL;
	}
	range.buf = v->copy;
	v->copy_mr = sdr_verbs_mr_get(v->pd, &range, IBV_ACCESS_LOCAL_WRITE);
	if (!v->copy_mr) {
		ret = -errno;
		sdr_verbs_why(v->pd, ret, "cannot register the send ring", v->reason,
			      sizeof(v->reason));
		return ret;
	}
	return 0;
}

void sdr_verbs_tx_free(struct sdr_verbs *v)
{
	if (v->copy_mr)
		sdr_verbs_mr_put(v->pd, v->copy_mr);
	free(v->copy_next);
	free(v->copy);
	free(v->tps);
}
