/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How a link of a datagram endpoint comes about, and goes.
 *
 *   OPEN (its queue pair)		->	a queue pair of the smaller packet size of both
 *					<-	ACCEPT (that)
 *   taken, if its packets are those of ours; else ours is made anew, and asks again
 *
 * OPEN is repeated (20 ms, doubling to 1 s) until it is answered; what is to be written fails after
 * FI_SDR_TIMEOUT, of which the time does not count in which nobody drove the endpoint: it did not
 * listen then.  Who answers is believed when he names our queue pair and root key, which only
 * OPEN says.  What names a link that is not there is answered with GONE, and the sender asks anew:
 * so a target may forget links, and does when there are too many, the one that was silent longest
 * first.  A link from a peer counts as unproved until a write comes that names its queue pair:
 * SDR_LINKS_UNPROVED of those are kept, so whoever sends OPEN under many addresses drives out his
 * own alone.  No answer is longer than its question.
 *
 * Under the endpoint's lock; timers: the repetition.
 */
#include <errno.h>

#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "rel/sdr_rel_err.h"
#include "wire/sdr_status.h"

#include "sdr_link.h"
#include "sdr_ep.h"

#define SDR_LINK_ASK_NS	    20000000ull	  /* first pause behind an OPEN */
#define SDR_LINK_ASK_MAX_NS 1000000000ull /* longest */
/* who comes later than that to what was due was away; so much of it counts */
#define SDR_LINK_AWAY_NS 100000000ull

/* ---- the side that writes -------------------------------------------------------------------- */

static void sdr_link_send(struct sdr_ep *ep, const struct sdr_uc_addr *to, uint8_t type,
			  const struct sdr_dgram_to *who, const uint8_t *info, uint8_t status)
{
	uint8_t *p = sdr_context_ctl_alloc(ep->ctx);
	size_t n;

	if (!p) /* lost, as in the network */
		return;
	if (info)
		n = sdr_dgram_info_encode(p, type, who, info);
	else if (type == SDR_DGRAM_REFUSE)
		n = sdr_dgram_refuse_encode(p, who, status);
	else
		n = sdr_dgram_gone_encode(p, who);
	sdr_context_ctl_push(ep->ctx, to, n);
}

static void sdr_link_ask(struct sdr_link *l, uint64_t now)
{
	uint8_t info[SDR_QP_INFO_LEN];

	if (!l->qp && sdr_link_qp_make(l, l->mtu, info))
		l->err = SDR_REL_ERR_NOMEM;
	else if (!sdr_qp_info_get(l->qp, info))
		sdr_link_send(l->ep, &l->addr, SDR_DGRAM_OPEN, &l->me, info, 0);
	l->due = now + l->wait;
	l->wait = l->wait * 2 < SDR_LINK_ASK_MAX_NS ? l->wait * 2 : SDR_LINK_ASK_MAX_NS;
}

static void sdr_link_want(struct sdr_link *l)
{
	uint64_t now = l->ep->uc->ops->now(l->ep->uc);

	l->since = now;
	l->wait = SDR_LINK_ASK_NS;
	sdr_link_ask(l, now);
}

struct sdr_link *sdr_link_to(struct sdr_ep *ep, const struct sdr_uc_addr *addr)
{
	struct sdr_link_name name = sdr_link_name_of(addr, NULL);
	struct sdr_link *l;
	uint64_t hash;

	l = sdr_link_named(ep->links, false, &name, &hash);
	if (!l) {
		l = sdr_link_new(ep, false, &name, hash);
		if (l)
			sdr_link_want(l);
	}
	return l;
}

void sdr_link_again(struct sdr_link *l)
{
	SDR_ASSERT(!l->in);
	l->open = false;
	sdr_list_del(&l->all);
	sdr_list_add_head(&l->all, &l->ep->links->out);
	l->msn = 0;
	sdr_link_qp_drop(l);
	sdr_link_want(l);
	sdr_link_kick(l);
}

static void sdr_link_accepted(struct sdr_link *l, const uint8_t *info)
{
	struct sdr_wire_qp_info i;
	int ret;

	if (l->open || sdr_wire_qp_info_decode(info, SDR_QP_INFO_LEN, &i))
		return;
	if (i.mtu < l->mtu) {
		l->mtu = i.mtu;
		sdr_link_qp_drop(l);
		sdr_link_ask(l, l->ep->uc->ops->now(l->ep->uc));
		return;
	}
	ret = sdr_qp_connect_addr(l->qp, info, &l->addr);
	if (ret) {
		l->err = ret == -ENOMEM ? SDR_REL_ERR_NOMEM : SDR_REL_ERR_REFUSED;
	} else {
		l->peer = (struct sdr_dgram_to){ i.qpn, i.rkey };
		l->open = true;
		sdr_list_del(&l->all);
		sdr_list_add_tail(&l->all, &l->ep->links->out);
	}
	sdr_link_kick(l);
}

/* ---- the side that is written to ------------------------------------------------------------- */

/* Room for one more. */
static bool sdr_links_room(struct sdr_links *s)
{
	struct sdr_link *l;
	struct sdr_list *e;

	if (s->nunproved < SDR_LINKS_UNPROVED && s->nin < SDR_LINKS_MAX)
		return true;
	sdr_list_each(e, &s->in) {
		l = sdr_container(e, struct sdr_link, all);
		if (s->nunproved < SDR_LINKS_UNPROVED || !l->proved) {
			sdr_link_drop(l);
			return true;
		}
	}
	return false;
}

static void sdr_link_opened(struct sdr_ep *ep, const struct sdr_uc_addr *from,
			    const struct sdr_dgram_to *peer, const uint8_t *info)
{
	struct sdr_link_name name = sdr_link_name_of(from, peer);
	uint8_t mine[SDR_QP_INFO_LEN];
	struct sdr_context_info ctx = { .size = sizeof(ctx) };
	struct sdr_wire_qp_info i;
	struct sdr_link *l;
	uint64_t hash;

	if (sdr_wire_qp_info_decode(info, SDR_QP_INFO_LEN, &i) || i.qpn != peer->qpn ||
	    i.rkey != peer->rkey || sdr_context_query(ep->ctx, &ctx))
		return;
	l = sdr_link_named(ep->links, true, &name, &hash);
	if (!l) {
		if (!sdr_links_room(ep->links) || !(l = sdr_link_new(ep, true, &name, hash)))
			return;
		if (sdr_link_qp_make(l, i.mtu < ctx.mtu ? i.mtu : ctx.mtu, mine)) {
			sdr_link_drop(l);
			return;
		}
		/* one with longer packets is told of ours, and asks with another queue pair */
		l->open = i.mtu == l->mtu && !sdr_qp_connect_addr(l->qp, info, from);
		if (!l->open && i.mtu == l->mtu) {
			sdr_link_drop(l);
			sdr_link_send(ep, from, SDR_DGRAM_REFUSE, peer, NULL,
				      SDR_WIRE_STATUS_PROTO);
			return;
		}
	}
	if (!sdr_qp_info_get(l->qp, mine))
		sdr_link_send(ep, from, SDR_DGRAM_ACCEPT, peer, mine, 0);
}

/* ---- datagrams ------------------------------------------------------------------------------- */

struct sdr_link *sdr_link_of(struct sdr_ep *ep, const struct sdr_uc_addr *from, bool in,
			     const struct sdr_dgram_to *to)
{
	const struct sdr_links *s = ep->links;
	uint64_t hash = sdr_mix64(to->qpn ^ s->key);
	struct sdr_hnode *n;

	for (n = sdr_htab_first(&s->qpns, hash); n; n = n->next) {
		struct sdr_link *l = sdr_container(n, struct sdr_link, by_qpn);

		/* an answer may come from another address of the peer's: it names our key */
		if (n->hash == hash && l->in == in && l->me.qpn == to->qpn &&
		    l->me.rkey == to->rkey && (!in || sdr_uc_addr_equal(&l->addr, from)))
			return l;
	}
	if (in)
		sdr_link_send(ep, from, SDR_DGRAM_GONE, to, NULL, 0);
	return NULL;
}

void sdr_link_refuse(struct sdr_ep *ep, const struct sdr_uc_addr *from, const uint8_t *p,
		     size_t len)
{
	struct sdr_dgram_to to;

	if (!sdr_dgram_to_decode(p, len, &to) && sdr_dgram_info_decode(p, len))
		sdr_link_send(ep, from, SDR_DGRAM_REFUSE, &to, NULL, SDR_WIRE_STATUS_UNSUPPORTED);
}

/* By the peer's queue pair, as what we sent named it. */
static void sdr_link_is_gone(struct sdr_ep *ep, const struct sdr_uc_addr *from,
			     const struct sdr_dgram_to *peer)
{
	struct sdr_link_name name = sdr_link_name_of(from, NULL);
	struct sdr_link *l;
	uint64_t hash;

	l = sdr_link_named(ep->links, false, &name, &hash);
	if (l && l->open && l->peer.qpn == peer->qpn && l->peer.rkey == peer->rkey)
		sdr_link_again(l);
}

void sdr_link_input(struct sdr_ep *ep, const struct sdr_uc_addr *from, uint8_t type,
		    const uint8_t *p, size_t len)
{
	const uint8_t *info = sdr_dgram_info_decode(p, len);
	struct sdr_dgram_to to;
	struct sdr_link *l;
	uint8_t status;

	if (sdr_dgram_to_decode(p, len, &to))
		return;
	switch (type) {
	case SDR_DGRAM_OPEN:
		if (info && (ep->caps & FI_REMOTE_WRITE))
			sdr_link_opened(ep, from, &to, info);
		else
			sdr_link_refuse(ep, from, p, len);
		break;
	case SDR_DGRAM_GONE:
		if (len == SDR_DGRAM_TO_LEN)
			sdr_link_is_gone(ep, from, &to);
		break;
	case SDR_DGRAM_ACCEPT:
		l = sdr_link_of(ep, from, false, &to);
		if (l && info)
			sdr_link_accepted(l, info);
		break;
	case SDR_DGRAM_REFUSE:
		l = sdr_link_of(ep, from, false, &to);
		if (!l || l->open || sdr_dgram_refuse_decode(p, len, &status))
			break;
		l->err = status == SDR_WIRE_STATUS_UNSUPPORTED ? SDR_REL_ERR_UNSUPPORTED
							       : SDR_REL_ERR_REFUSED;
		sdr_link_kick(l);
		break;
	default:
		break;
	}
}

/* ---- time ------------------------------------------------------------------------------------ */

void sdr_links_run(struct sdr_ep *ep)
{
	struct sdr_links *s = ep->links;
	uint64_t now = 0, give_up = ep->env.rel.timeout_ms * 1000000ull;
	struct sdr_list *e;

	sdr_list_each(e, &s->out) {
		struct sdr_link *l = sdr_container(e, struct sdr_link, all);

		if (l->open)
			break;
		if (!now)
			now = ep->uc->ops->now(ep->uc);
		if (l->err || l->due > now)
			continue;
		if (now - l->due > SDR_LINK_AWAY_NS)
			l->since += now - l->due - SDR_LINK_AWAY_NS;
		SDR_ASSERT(l->since <= now);
		if (now - l->since < give_up) {
			sdr_link_ask(l, now);
		} else {
			l->err = SDR_REL_ERR_NO_ANSWER;
			sdr_link_kick(l);
		}
	}
}

uint64_t sdr_links_due(const struct sdr_ep *ep)
{
	const struct sdr_links *s = ep->links;
	uint64_t due = UINT64_MAX;
	const struct sdr_list *e;

	for (e = s->out.next; e != &s->out; e = e->next) {
		const struct sdr_link *l = sdr_container(e, struct sdr_link, all);

		if (l->open)
			break;
		if (!l->err && l->due < due)
			due = l->due;
	}
	return due;
}
