/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Writes of a datagram endpoint into memory of its peers, unreliable: what is lost is lost.
 *
 * A short one is one datagram with its bytes (WRITE_ALL).  A longer one is announced (WRITE:
 * number, key, address, length), then its packets follow, and twice that all were sent (SENT).  It
 * leaves by one socket in this order, one write of a link behind the other, so the target has the
 * place bound when the packets come, unless the network turns them round.  A write is complete when
 * its last packet was handed to the network and its buffer is read no more; what became of it is
 * not known here.  It is not complete before that, however long its link takes to open, but for
 * FI_SDR_TIMEOUT, after which it fails; and it fails when its peer takes no writes, or when the
 * engine is broken.
 *
 * A peer that has forgotten the link says so (GONE): the write that was being sent begins anew when
 * it is open again.  Its rate is that of FI_SDR_RATE, or what the engine takes.
 */
#include <errno.h>
#include <string.h>

#include "base/sdr_assert.h"

#include "sdr_put.h"
#include "sdr_cntr.h"
#include "sdr_cq.h"
#include "sdr_ep.h"
#include "sdr_ep_done.h"
#include "sdr_link.h"
#include "sdr_prov.h"

#define SDR_PUT_SENTS 2u /* how often it is said that all was sent */

struct sdr_put {
	struct sdr_list link; /* sdr_link.ops */
	struct sdr_put_wr wr;
	uint8_t copy[]; /* inject_size */
};

/* prov_err: enum sdr_rel_err. */
static void sdr_put_end(struct sdr_link *l, struct sdr_put *p, int prov_err)
{
	struct sdr_ep *ep = l->ep;
	struct sdr_cqe e = { .ctx = p->wr.context,
			     .flags = FI_WRITE | FI_RMA,
			     .len = p->wr.len,
			     .src = FI_ADDR_NOTAVAIL };

	sdr_list_del(&p->link);
	if (ep->cntr[SDR_CNTR_WRITE])
		sdr_cntr_bump(ep->cntr[SDR_CNTR_WRITE], prov_err != SDR_REL_OK);
	if (prov_err) {
		e.len = 0;
		e.err = sdr_ep_done_errno(sdr_rel_errno(prov_err));
		e.prov_err = prov_err;
		sdr_ep_done_error(ep, ep->tx_cq, &e, &l->addr);
	} else if (p->wr.completes && ep->tx_cq) {
		sdr_cq_push(ep->tx_cq, &e);
	}
	ep->links->st_puts += !prov_err;
	sdr_slab_free(&ep->links->puts, p);
}

static struct sdr_put *sdr_put_first(const struct sdr_link *l)
{
	return sdr_list_empty(&l->ops) ? NULL : sdr_container(l->ops.next, struct sdr_put, link);
}

/* All that is posted to this peer, and the link: the next one asks anew. */
static void sdr_puts_fail(struct sdr_link *l, int prov_err)
{
	struct sdr_put *p;

	if (l->h) {
		(void)sdr_send_cancel(l->h); /* its buffer is the application's again */
		l->h = NULL;
	}
	while ((p = sdr_put_first(l)))
		sdr_put_end(l, p, prov_err);
	sdr_link_drop(l);
}

/* ---- sending --------------------------------------------------------------------------------- */

/* False: there is no room in the batch. */
static bool sdr_put_sents(struct sdr_link *l)
{
	struct sdr_context *ctx = l->ep->ctx;
	uint8_t *b;

	for (; l->owed; l->owed--) {
		b = sdr_context_ctl_alloc(ctx);
		if (!b)
			return false;
		sdr_context_ctl_push(ctx, &l->addr, sdr_dgram_sent_encode(b, &l->peer, l->msn - 1));
	}
	return true;
}

/* 0; -EAGAIN: later; or it fails. */
static int sdr_put_packets(struct sdr_link *l, const struct sdr_put_wr *wr, uint32_t msn,
			   size_t head)
{
	struct sdr_start_wr start = { .length = wr->len };
	struct sdr_continue_wr part = { .addr = wr->buf, .length = wr->len };
	int ret;

	sdr_qp_limit_set(l->qp, msn + 1);
	ret = sdr_send_stream_start_at(l->qp, msn, &start, &l->h);
	if (ret) {
		l->h = NULL;
		return ret;
	}
	sdr_context_ctl_push(l->ep->ctx, &l->addr, head);
	ret = sdr_send_stream_continue(l->h, &part);
	if (!ret)
		ret = sdr_send_stream_end(l->h);
	return ret == -EAGAIN ? -EIO : ret; /* nothing of it was sent before: there is no reason */
}

/* Begins it: 1 it has left, 0 its packets leave, -EAGAIN later, or it fails. */
static int sdr_put_begin(struct sdr_link *l, const struct sdr_put_wr *wr)
{
	struct sdr_context *ctx = l->ep->ctx;
	struct sdr_dgram_write w = { .msn = l->msn,
				     .flags = wr->has_data ? SDR_DGRAM_F_DATA : 0,
				     .key = wr->key,
				     .addr = wr->addr,
				     .len = wr->len,
				     .data = wr->data };
	uint8_t *b = sdr_context_ctl_alloc(ctx);
	struct sdr_uc_info uc;
	bool all;
	size_t n;
	int ret = 1;

	if (!b)
		return -EAGAIN;
	l->ep->uc->ops->info(l->ep->uc, &uc);
	all = wr->len <= uc.ctl_max - SDR_DGRAM_WRITE_LEN;
	n = sdr_dgram_write_encode(b, &l->peer, &w, all);
	if (!all) {
		ret = sdr_put_packets(l, wr, l->msn, n);
	} else {
		if (wr->len)
			memcpy(b + n, wr->buf, wr->len);
		sdr_context_ctl_push(ctx, &l->addr, n + wr->len);
	}
	if (ret != -EAGAIN)
		l->msn++;
	return ret;
}

/* As many as can be. */
static void sdr_link_pump(struct sdr_link *l)
{
	struct sdr_put *p;
	int ret = 0;

	while (sdr_put_sents(l) && (p = sdr_put_first(l))) {
		if (!l->h) {
			ret = sdr_put_begin(l, &p->wr);
			if (ret == 1) {
				sdr_put_end(l, p, SDR_REL_OK);
				continue;
			}
			if (ret)
				break;
		}
		if (!sdr_send_is_over(l->h)) {
			if (sdr_context_flush(l->ep->ctx) || !sdr_send_is_over(l->h))
				break;
		}
		(void)sdr_send_poll(l->h);
		l->h = NULL;
		l->owed = SDR_PUT_SENTS;
		sdr_put_end(l, p, SDR_REL_OK);
	}
	if (ret < 0 && ret != -EAGAIN)
		sdr_puts_fail(l, SDR_REL_ERR_ENGINE);
	else if (!l->owed && sdr_list_empty(&l->ops))
		sdr_list_del(&l->busy);
}

static void sdr_link_turn(struct sdr_link *l)
{
	if (l->err || l->broken || l->ep->broken)
		sdr_puts_fail(l, l->err ? l->err : SDR_REL_ERR_ENGINE);
	else if (l->open)
		sdr_link_pump(l);
}

static void sdr_puts_run(struct sdr_ep *ep)
{
	struct sdr_list todo, *e;

	sdr_links_run(ep);
	if (sdr_list_empty(&ep->links->busy))
		return;
	/* each once: it may go */
	sdr_list_init(&todo);
	sdr_list_move(&ep->links->busy, &todo);
	while ((e = sdr_list_pop(&todo))) {
		struct sdr_link *l = sdr_container(e, struct sdr_link, busy);

		if (l->in) { /* the engine has broken it: its peer asks anew */
			sdr_link_drop(l);
			continue;
		}
		sdr_link_kick(l);
		sdr_link_turn(l);
	}
	(void)sdr_context_flush(ep->ctx);
}

static uint64_t sdr_puts_due(const struct sdr_ep *ep)
{
	const struct sdr_list *e, *busy = &ep->links->busy;

	for (e = busy->next; e != busy; e = e->next) {
		const struct sdr_link *l = sdr_container(e, struct sdr_link, busy);

		if (l->in || l->err || l->broken || (l->open && l->h && sdr_send_is_over(l->h)))
			return 0;
	}
	return sdr_links_due(ep);
}

bool sdr_puts_busy(const struct sdr_ep *ep)
{
	return ep->links && (!sdr_list_empty(&ep->links->busy) || ep->links->puts.used);
}

/* ---- posting --------------------------------------------------------------------------------- */

int sdr_put_post(struct sdr_ep *ep, const struct sdr_uc_addr *to, const struct sdr_put_wr *wr)
{
	struct sdr_put *p = sdr_slab_alloc(&ep->links->puts);
	struct sdr_link *l;

	if (!p)
		return -FI_EAGAIN;
	l = sdr_link_to(ep, to);
	if (!l) {
		sdr_slab_free(&ep->links->puts, p);
		return -FI_ENOMEM;
	}
	p->wr = *wr;
	if (wr->inject) {
		SDR_ASSERT(wr->len <= ep->inject_size);
		if (wr->len)
			memcpy(p->copy, wr->buf, wr->len);
		p->wr.buf = p->copy;
	}
	sdr_list_init(&p->link);
	sdr_list_add_tail(&p->link, &l->ops);
	sdr_link_kick(l);
	sdr_link_turn(l);
	(void)sdr_context_flush(ep->ctx);
	return 0;
}

void sdr_puts_open(struct sdr_ep *ep)
{
	struct sdr_links *s = ep->links;

	sdr_slab_init(&s->puts, sizeof(struct sdr_put) + ep->inject_size, ep->tx_size);
	s->run = sdr_puts_run;
	s->due = sdr_puts_due;
}

void sdr_puts_close(struct sdr_ep *ep)
{
	struct sdr_list *out = &ep->links->out;

	while (!sdr_list_empty(out))
		sdr_puts_fail(sdr_container(out->next, struct sdr_link, all), SDR_REL_ERR_CANCELED);
	SDR_ASSERT(!ep->links->puts.used);
	sdr_slab_destroy(&ep->links->puts);
}
