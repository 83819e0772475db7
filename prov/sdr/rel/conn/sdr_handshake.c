/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Opening a connection: HELLO and HELLO_ACK carry everything each side needs to know (connection
 * id, QP info, first credit), so one exchange opens both directions, and when both sides start at
 * once each HELLO serves as the other's answer.
 *
 * Trust: a HELLO validates nothing.  Its sender gets one answer of the same size and a bounded
 * amount of state; with SDR_CONN_UNVALIDATED_MAX such states open, or when a HELLO would end an
 * open connection (the peer restarted), would change what a connection of ours has said of itself,
 * or would make the engine open a port, the sender must first return a cookie (sdr_hello_tx.c).  A
 * HELLO that is refused, or not the last, changes nothing of what is posted.  An address is
 * validated by the cookie, by a HELLO_ACK that echoes our connection id, or by a packet that
 * carries it; before that nothing but HELLOs goes there.
 *
 * Payload sizes may differ (another path MTU): the larger side follows the smaller one.
 */
#include <errno.h>
#include "sdr_alias.h"
#include "sdr_conn_ecn.h"
#include "sdr_conn_known.h"
#include "sdr_conn_mtu.h"
#include "sdr_conn_ops.h"
#include "sdr_handshake.h"
#include "sdr_hello_pair.h"
#include "sdr_hello_tx.h"
#include "sdr_multipath.h"
#include "sdr_peer_cid.h"
#include "sdr_pkt.h"
#include "sdr_stranger.h"
#include "sdr_versions.h"

/*
 * The peer's HELLO or answer becomes part of the connection: it is open.  All of it is checked
 * before anything changes. -EPROTO: the two do not fit together.
 */
static int conn_accept(struct sdr_conn *c, const struct sdr_uc_addr *from,
		       const struct sdr_hello *h)
{
	struct sdr_conn_shape shape = { .qp = NULL };
	struct sdr_rel *rel = c->rel;
	uint8_t info[SDR_QP_INFO_SIZE];
	int ret;

	SDR_ASSERT(c->state == SDR_CONN_HELLO && !c->hs.peer_known);
	if (h->ctl_max < SDR_CTL_MIN || h->qp.mtu > c->shape->mtu || h->qp.mtu < SDR_EP_MTU_MIN)
		return -EPROTO;
	if (h->qp.mtu < c->shape->mtu) {
		ret = sdr_shape_make(c, h->qp.mtu, &shape);
		if (ret)
			return ret;
	}
	ret = -EPROTO;
	if (h->seg_bytes != (shape.qp ? shape.seg_bytes : c->shape->seg_bytes))
		goto err;
	sdr_wire_qp_info_encode(info, &h->qp);
	ret = sdr_qp_connect_addr(shape.qp ? shape.qp : c->shape->qp, info, from);
	if (ret)
		goto err;
	if (shape.qp)
		sdr_shape_take(c, &shape);
	c->addr = *from;
	c->id.peer_cid = h->cid;
	c->id.peer_instance = h->instance;
	c->hs.peer_known = true;
	c->hs.features = h->features & rel->features;
	c->st.frames_skipped += h->ext_unknown;
	sdr_conn_peer_note(c);
	sdr_alias_said(c, from, h);
	sdr_multipath_said(c, from, h);
	c->codes.kinds = h->codes;
	c->codes.syms = h->code_syms;
	c->codes.chunk = h->code_chunk;
	/* An rkeyed side cannot say so in HELLO to those who know no berths. */
	if (sdr_qp_peer_rkeyed(c->shape->qp) && (c->hs.features & SDR_FEATURE_BERTH)) {
		c->codes.kinds = SDR_WIRE_CODE_KINDS;
		c->codes.syms = SDR_CODE_SYMS_MAX;
		c->codes.chunk = SDR_REL_EC_CHUNK;
	}
	c->credit.msn_limit = h->msn_limit;
	c->credit.mseq_limit = h->mseq_limit;
	sdr_qp_limit_set(c->shape->qp, h->msn_limit);
	if (h->ctl_max < c->ctl_agreed)
		c->ctl_agreed = h->ctl_max;
	sdr_conn_mtu_opened(c, h->probe_max);
	c->state = SDR_CONN_OPEN;
	sdr_conn_heard(c);
	c->main.rack.timer = NEVER;
	sdr_cc_init(&c->main.cc, &rel->cfg, c->shape->mtu, h->qp.rx_window, c->main.rtt.srtt, NULL,
		    rel->now);
	sdr_conn_ecn_begin(c, &c->main);
	c->rel->ops->opened(c);
	return 0;
err:
	if (shape.qp)
		sdr_qp_destroy(shape.qp);
	return ret == -EBADMSG ? -EPROTO : ret;
}

void sdr_conn_validate(struct sdr_conn *c)
{
	if (c->hs.validated)
		return;
	SDR_ASSERT(sdr_conn_live(c) && c->hs.peer_known &&
		   (!c->hs.passive || c->rel->nunvalidated));
	c->hs.validated = c->peer->validated = true;
	if (c->hs.passive)
		c->rel->nunvalidated--;
	sdr_conn_known_begin(c);
	sdr_hello_pair_begin(c);
	sdr_multipath_begin(c);
	sdr_alias_validated(c);
	c->rel->ops->opened(c);
	sdr_conn_kick(c);
}

/*
 * An unvalidated connection has sent and received nothing but HELLOs: another peer may take its
 * place.  Our own side of it stays as it is: a HELLO of ours that is on its way, or its answer, has
 * reported.
 */
static void conn_unaccept(struct sdr_conn *c)
{
	SDR_ASSERT(c->hs.peer_known && !c->hs.validated && !c->tx.live && !c->inflight);
	sdr_conn_peer_forget(c);
	sdr_hello_pair_forget(c);
	c->hs.peer_known = false;
	c->state = SDR_CONN_HELLO;
	c->addr = c->peer->addr;
	c->ctl_max = c->ctl_agreed = c->rel->ctl_max;
	sdr_conn_mtu_init(c);
}

/*
 * So many are not validated, or are here, that a new peer has to be validated first.
 */
static bool hello_crowded(const struct sdr_rel *rel)
{
	return rel->nunvalidated >= SDR_CONN_UNVALIDATED_MAX || sdr_conn_crowded(rel);
}

/*
 * Would it change something that is ours, or another's?  Then its sender must have shown that he is
 * there.
 */
static bool hello_needs_cookie(const struct sdr_rel *rel, const struct sdr_conn *c,
			       const struct sdr_hello *h)
{
	if (rel->info.nic_port && (h->qp.flags & SDR_QP_F_NIC))
		return true;
	return c ? c->hs.peer_known || h->qp.mtu < c->shape->mtu : hello_crowded(rel);
}

/*
 * The largest mtu that a HELLO from there may have.  What a HELLO of ours has announced does not
 * grow: one that is on its way would be taken for the truth when it is so no more.
 */
static uint32_t hello_mtu_max(const struct sdr_rel *rel, const struct sdr_conn *c)
{
	return c && !c->hs.validated && (!c->hs.peer_known || c->hs.tries) ? c->shape->mtu
									   : rel->mtu;
}

/*
 * The connection that this HELLO is for: what stood in its place makes room.  NULL: there is no
 * room.
 */
static struct sdr_conn *hello_place(struct sdr_rel *rel, const struct sdr_uc_addr *from,
				    struct sdr_conn *c, uint32_t mtu)
{
	struct sdr_peer *peer;

	if (c && c->hs.peer_known && !c->hs.validated &&
	    (c->shape->mtu == mtu || !sdr_shape_qp_make(c, mtu))) {
		/*
		 * The opener of this was never validated; what we hold is for the one
		 * who does.
		 */
		conn_unaccept(c);
		return c;
	}
	if (c && !c->hs.peer_known)
		return c;
	if (c)
		sdr_conn_fail(c, c->hs.validated ? SDR_REL_ERR_RESTARTED : SDR_REL_ERR_NOMEM);
	peer = sdr_peer_find(rel, from);
	if ((!peer || !peer->names) && !sdr_conn_admit(rel))
		return NULL;
	peer = sdr_peer_make(rel, from);
	if (!peer)
		return NULL;
	c = sdr_conn_open(peer, true, mtu);
	if (!c)
		sdr_peer_release(peer);
	return c;
}

/* What the answer to this HELLO says of it; bytes: of its control payload. */
static void hello_came(struct sdr_conn *c, const struct sdr_hello *h, uint32_t bytes)
{
	c->hs.ts = h->ts_us;
	c->hs.seen = bytes;
	c->hs.came = sdr_rel_since(c->rel);
	sdr_hello_pair_came(c, h->ts_us, bytes);
}

/* bytes: of its control payload; so below. */
static void hello_request(struct sdr_rel *rel, const struct sdr_uc_addr *from,
			  const struct sdr_hello *h, uint32_t bytes)
{
	struct sdr_conn *c = sdr_alias_known(rel, from, h);
	bool cookie_valid = sdr_cookie_ok(rel, from, h->cookie);
	int ret;

	if (c) {
		hello_came(c, h, bytes);
		sdr_hello_send(c, SDR_REL_HELLO_ACK);
		return;
	}
	if (rel->closing)
		return;
	if (sdr_alias_same(rel, from, h)) {
		sdr_hello_refuse(rel, from, h, SDR_HELLO_SAME, rel->mtu);
		return;
	}
	c = sdr_alias_conn(rel, from, h);
	if (!cookie_valid && hello_needs_cookie(rel, c, h)) {
		sdr_retry_send(rel, from, h->cid);
		return;
	}
	if (h->qp.mtu > hello_mtu_max(rel, c) || h->qp.mtu < SDR_EP_MTU_MIN) {
		sdr_hello_refuse(rel, from, h, SDR_HELLO_REFUSED_GEOMETRY, hello_mtu_max(rel, c));
		return;
	}
	c = hello_place(rel, from, c, h->qp.mtu);
	if (!c) {
		sdr_hello_refuse(rel, from, h, SDR_HELLO_REFUSED_LIMIT, rel->mtu);
		return;
	}
	ret = conn_accept(c, from, h);
	if (ret) {
		sdr_hello_refuse(rel, from, h,
				 ret == -EPROTO ? SDR_HELLO_REFUSED_GEOMETRY
						: SDR_HELLO_REFUSED_PATH,
				 c->shape->mtu);
		/*
		 * What is posted waits for the answer to a HELLO of ours, unless it is known that
		 * none will do.
		 */
		if (!c->rel->ops->wanted(c) || (cookie_valid && ret != -EPROTO))
			sdr_conn_fail(c, ret == -EPROTO ? SDR_REL_ERR_REFUSED : SDR_REL_ERR_PATH);
		else
			sdr_conn_wake(c);
		return;
	}
	if (cookie_valid)
		sdr_conn_validate(c);
	hello_came(c, h, bytes);
	sdr_hello_send(c, SDR_REL_HELLO_ACK);
	sdr_conn_kick(c);
}

/*
 * From a HELLO to when its answer came.  Stamps are of another clock, and may be of just before it
 * left: that is no time, and must not become one of an hour, which is taken for a lie.
 */
static uint32_t hello_rtt_us(const struct sdr_rel *rel, const struct sdr_hello *h)
{
	uint32_t read = (uint32_t)(rel->now / 1000) - h->ts_us;
	uint64_t late = sdr_rel_late(rel) / 1000;

	return read > late ? read - (uint32_t)late : 0;
}

static void hello_answer(struct sdr_rel *rel, const struct sdr_uc_addr *from,
			 const struct sdr_hello *h, uint32_t bytes)
{
	struct sdr_conn *c = sdr_conn_by_cid(rel, h->echo);
	uint32_t rtt_us = hello_rtt_us(rel, h);
	int ret;

	if (!c) {
		rel->closed.pkts_bad++;
		return;
	}
	if (sdr_alias_answered(c, h))
		return;
	if (h->status == SDR_HELLO_REFUSED_GEOMETRY && !c->hs.peer_known &&
	    h->qp.mtu < c->shape->mtu && h->qp.mtu >= SDR_EP_MTU_MIN) {
		/*
		 * Follow the smaller side and send HELLO again.  More answers to the one before may
		 * come: nothing new.
		 */
		c->hs.asked_us = (uint32_t)(rel->now / 1000) | 1;
		if (sdr_shape_qp_make(c, h->qp.mtu)) {
			sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
			return;
		}
		c->hs.next = rel->now;
		sdr_conn_wake(c);
		return;
	}
	if (h->status == SDR_HELLO_REFUSED_GEOMETRY && c->hs.asked_us &&
	    (int32_t)(h->ts_us - c->hs.asked_us) < 0)
		return;
	if (h->status) {
		if (!c->hs.peer_known)
			sdr_conn_fail(c, h->status == SDR_HELLO_REFUSED_LIMIT ? SDR_REL_ERR_NOMEM
					 : h->status == SDR_HELLO_REFUSED_PATH
						 ? SDR_REL_ERR_PATH
						 : SDR_REL_ERR_REFUSED);
		return;
	}
	if (c->hs.peer_known && c->id.peer_cid != h->cid) {
		if (c->hs.validated) {
			rel->closed.pkts_bad++;
			return;
		}
		conn_unaccept(c); /* the HELLO that came before this answer was another's */
	}
	if (c->hs.peer_known && !c->hs.validated && !sdr_uc_addr_equal(from, &c->addr)) {
		rel->closed.pkts_bad++; /* it says nothing of who is at c->addr */
		return;
	}
	if (!c->hs.validated && rtt_us < 60u * 1000000u) {
		sdr_rtt_sample(&c->main.rtt, rel->now, rtt_us ? rtt_us * 1000ull : 1000, 0, false);
		c->tx.ping_due = true; /* validates our address for the peer */
	}
	ret = c->hs.peer_known ? 0 : conn_accept(c, from, h);
	if (ret) {
		sdr_conn_fail(c, ret == -EPROTO ? SDR_REL_ERR_REFUSED : SDR_REL_ERR_PATH);
		return;
	}
	c->hs.answered = true;
	sdr_conn_heard(c);
	if (h->seen)
		sdr_conn_mtu_seen(c, h->seen);
	sdr_conn_validate(c);
	if (bytes > SDR_CTL_MIN)
		sdr_pkt_zero(c);
	sdr_hello_pair_answered(c, h);
	sdr_conn_kick(c);
}

void sdr_hello_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, uint8_t type,
		     const uint8_t *p, size_t len)
{
	struct sdr_hello h;
	struct sdr_version v;
	uint32_t bytes = (uint32_t)(len + SDR_CLASS_LEN + rel->tag_len);
	int ret = sdr_hello_decode(p, len, &h);

	if (ret == -EPROTONOSUPPORT && type == SDR_REL_HELLO) {
		sdr_versions_answer(rel, from, h.cid);
	} else if (ret == -EPROTONOSUPPORT) {
		v = (struct sdr_version){ h.echo, h.version_min, h.version_max };
		sdr_versions_said(rel, from, &v);
	} else if (ret) {
		rel->closed.pkts_bad++;
	} else if (type == SDR_REL_HELLO) {
		hello_request(rel, from, &h, bytes);
	} else {
		hello_answer(rel, from, &h, bytes);
	}
}

void sdr_retry_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		     size_t len)
{
	struct sdr_retry r;
	struct sdr_conn *c;

	/*
	 * Until it is validated, also when a HELLO has opened it: that may have been another's,
	 * here and over there.
	 */
	if (sdr_retry_decode(p, len, &r) || !(c = sdr_conn_by_cid(rel, r.cid)) || c->hs.validated ||
	    !sdr_uc_addr_equal(from, &c->addr)) {
		rel->closed.pkts_bad++;
		return;
	}
	if (c->hs.cookie == r.cookie)
		return; /* a repeat: the timer paces us */
	c->hs.cookie = r.cookie;
	c->hs.next = rel->now;
	sdr_conn_wake(c);
}

int sdr_reset_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
		    size_t len)
{
	struct sdr_retry r;
	struct sdr_conn *c;

	if (sdr_retry_decode(p, len, &r) || !(c = sdr_conn_by_peer(rel, r.cid, from)))
		return -EBADMSG;
	if (!c->hs.validated && c->rel->ops->wanted(c)) {
		/*
		 * Its sender is not there, or never was; what we hold waits for an answer to
		 * our own HELLO.
		 */
		conn_unaccept(c);
		sdr_conn_wake(c);
		return 0;
	}
	sdr_conn_fail(c, c->state == SDR_CONN_CLOSING ? SDR_REL_ERR_CLOSED : SDR_REL_ERR_RESTARTED);
	return 0;
}
