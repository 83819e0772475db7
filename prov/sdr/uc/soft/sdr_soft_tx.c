/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine's post: descriptors -> packets -> trains -> system calls.
 *
 * A batch of messages is built and handed to the kernel in one call; a message is a train of
 * packets for one destination (UDP_SEGMENT: all of the size of the first, the last may be shorter)
 * or a single packet.  Trains take whatever comes next, whichever descriptor it belongs to, so
 * order is kept and a control datagram behind data rides as the short end of the train.  Frames are
 * made in sdr_soft_frame.c.
 *
 * Packets that may be marked on the way (SDR_UC_F_ECT) and others are not in one train: a message
 * has one octet of traffic class.
 *
 * A packet that is longer than the path goes in pieces, all of them in one train, so that a train
 * begins with a packet.  Each message remembers the descriptor and packet it began with (and the
 * piece, where there are no trains): when the kernel does not take it (sdr_soft_flush.c), building
 * goes on from there, PSNs included.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "sdr_soft_frame.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_near.h"
#include "sdr_soft_spread.h"

/* ---- building -------------------------------------------------------------------------------- */

/* The last message, when a packet of this size may still join it. */
static inline struct sdr_soft_msg *sdr_soft_msg_open(struct sdr_soft *s, uint32_t wire,
						     uint8_t sock, bool ect,
						     const struct sdr_soft_near_tx *near)
{
	struct sdr_soft_tx *tx = &s->tx;
	struct sdr_soft_msg *m;

	if ((!s->gso && !near) || tx->single || !tx->nmsg)
		return NULL;
	m = &tx->msg[tx->nmsg - 1];
	if (m->closed || m->near != near || m->sock != sock || m->ect != ect || wire > m->seg ||
	    m->nseg >= SDR_SOFT_GSO_SEGS || m->bytes + wire > SDR_SOFT_GSO_BYTES)
		return NULL;
	return m;
}

static struct sdr_soft_msg *sdr_soft_msg_begin(struct sdr_soft *s, const struct sdr_soft_cur *c,
					       uint32_t wire, uint8_t sock, bool ect,
					       struct sockaddr_storage *name, socklen_t len)
{
	struct sdr_soft_tx *tx = &s->tx;
	struct sdr_soft_msg *m = &tx->msg[tx->nmsg];
	struct msghdr *h = &tx->hdr[tx->nmsg].msg_hdr;

	SDR_ASSERT(tx->nmsg < SDR_SOFT_TX_MSGS);
	memset(m, 0, sizeof(*m));
	m->seg = wire;
	m->desc = c->d;
	m->desc_pkt = c->pkt;
	m->sock = sock;
	m->ect = ect;
	h->msg_name = name;
	h->msg_namelen = len;
	h->msg_iov = &tx->iov[tx->niov];
	tx->nmsg++;
	if (tx->single) {
		tx->single--;
		m->closed = true;
	}
	return m;
}

/* False when the batch has to leave first. */
static inline bool sdr_soft_room(const struct sdr_soft_tx *tx, uint32_t len, bool corrupt)
{
	uint32_t need = SDR_DATA_HDR + SDR_SOFT_TRAILER_MAX;

	if (len <= SDR_SOFT_PACK_MAX || corrupt)
		need += len;
	return tx->arena_len + need <= SDR_SOFT_TX_ARENA && tx->niov + 3 <= SDR_SOFT_TX_IOVS &&
	       tx->nmsg < SDR_SOFT_TX_MSGS && tx->bytes < SDR_SOFT_TX_BATCH;
}

/* The first piece of the packet to send: others before it left when it was posted before. */
static uint32_t sdr_soft_rest_take(struct sdr_soft_tx *tx, const struct sdr_uc_tx *t, uint32_t off,
				   uint32_t size)
{
	const struct sdr_soft_rest *r = &tx->rest;
	bool same = r->qp == t->w.qp && r->slot == t->w.slot && r->epoch == t->w.epoch &&
		    r->off == off && r->size == size && r->gen == t->gen;

	tx->rest.qp = NULL;
	return same ? r->piece : 0;
}

/* The way that a WRITE takes. */
struct sdr_soft_out {
	struct sdr_soft_dest *to;
	const struct sdr_soft_cut *cut;
	struct sdr_soft_near_tx *near; /* NULL: by a socket */
	uint8_t sock;
	bool bare; /* without an ICRC */
};

static inline struct sdr_soft_out sdr_soft_out_of(const struct sdr_soft *s, struct sdr_soft_qp *q,
						  const struct sdr_uc_tx *t)
{
	struct sdr_soft_out o = { .cut = &q->cut,
				  .sock = (uint8_t)(t->channel % s->channels),
				  .bare = q->bare };
	struct sdr_soft_via *v;

	if (!t->via) {
		if (s->near && q->bare)
			o.near = sdr_soft_near_to(q, t->len);
		o.to = o.near ? &q->dest : sdr_soft_spread_dest(q, t);
		return o;
	}
	v = sdr_soft_via_find(q, t->via);
	o.to = &v->dest;
	o.cut = sdr_soft_via_cut(q, v);
	o.bare = q->neighbour && v->stays;
	if (v->source)
		o.sock = sdr_soft_source_sock(s, v->source);
	return o;
}

/*
 * Appends a packet that is longer than the path carries; d: its header, in one datagram.  All of it
 * goes into one train, whatever room the last one has; without trains the kernel may take some of
 * its pieces and not the others, which go first next time.
 */
static bool sdr_soft_build_cut(struct sdr_soft *s, const struct sdr_soft_cur *c, bool corrupt,
			       const struct sdr_soft_out *o, struct sdr_wire_data *d,
			       const uint8_t *payload, bool join)
{
	const struct sdr_uc_tx *t = &c->v[c->d];
	uint32_t whole = d->len, size = o->cut->piece, n = (whole + size - 1) / size, k, at, len,
		 wire;
	uint32_t need = n * (SDR_DATA_HDR + SDR_SOFT_TRAILER_MAX);
	struct sdr_soft_tx *tx = &s->tx;
	bool train, ect = sdr_soft_tx_ect(s, t);
	struct sdr_soft_msg *m;

	train = s->gso && !tx->single;
	need += size <= SDR_SOFT_PACK_MAX || corrupt ? whole : SDR_SOFT_PACK_MAX;
	if (tx->arena_len + need > SDR_SOFT_TX_ARENA || tx->niov + 3 * n > SDR_SOFT_TX_IOVS ||
	    tx->nmsg + (train ? 1 : n) > SDR_SOFT_TX_MSGS || tx->bytes >= SDR_SOFT_TX_BATCH)
		return false;
	if (join) {
		m = &tx->msg[tx->nmsg - 1];
		join = m->seg == SDR_DATA_OVERHEAD + size && m->nseg + n <= SDR_SOFT_GSO_SEGS &&
		       m->bytes + n * (SDR_DATA_OVERHEAD + size) <= SDR_SOFT_GSO_BYTES;
	}
	d->piece = (uint16_t)size;
	d->whole = (uint16_t)whole;
	k = sdr_soft_rest_take(tx, t, t->w.first + c->pkt, size);
	d->va += (uint64_t)k * size;
	for (at = k * size; at < whole; at += len, d->va += len, k++) {
		len = whole - at < size ? whole - at : size;
		wire = SDR_DATA_OVERHEAD + len + sdr_wire_pad(len);
		m = join ? sdr_soft_msg_open(s, wire, o->sock, ect, o->near) : NULL;
		if (!m) {
			m = sdr_soft_msg_begin(s, c, wire, o->sock, ect, &o->to->sa, o->to->len);
			m->near = o->near;
			m->first = k;
			m->size = size;
		}
		join = true;
		d->len = len;
		sdr_wire_data_encode(sdr_soft_arena(tx), d);
		sdr_soft_frame(tx, m, s->icrc_seed, SDR_DATA_HDR, payload + at, len, corrupt,
			       false);
		sdr_soft_msg_add(m, wire);
		m->npieces++;
		m->npkts += at + len == whole;
		m->payload += len;
	}
	tx->bytes += whole;
	return true;
}

/* Appends packets of the WRITE under the cursor until the batch is full; false then. */
static bool sdr_soft_build_write(struct sdr_soft *s, struct sdr_soft_cur *c)
{
	const struct sdr_uc_tx *t = &c->v[c->d];
	struct sdr_soft_qp *q = sdr_soft_tx_qp(t);
	uint32_t n = sdr_soft_tx_pkts(t), tp = (uint32_t)t->gen * q->channels + t->channel;
	bool corrupt = t->flags & SDR_UC_F_CORRUPT, ect = sdr_soft_tx_ect(s, t), join;
	struct sdr_soft_tx *tx = &s->tx;
	struct sdr_soft_head head;
	uint32_t seed = s->icrc_seed;
	struct sdr_soft_out o;
	struct msghdr *h;

	if (!sdr_soft_tx_valid(t)) {
		s->st.tx_lost += n - c->pkt;
		c->pkt = n;
		return true;
	}
	sdr_soft_head_set(&head, q, t);
	o = sdr_soft_out_of(s, q, t);
	h = tx->nmsg ? &tx->hdr[tx->nmsg - 1].msg_hdr : NULL;
	join = h && h->msg_namelen == o.to->len && !memcmp(h->msg_name, &o.to->sa, o.to->len);
	for (; c->pkt < n; c->pkt++) {
		uint64_t at = (uint64_t)c->pkt * q->mtu;
		uint32_t len = t->len - at < q->mtu ? (uint32_t)(t->len - at) : q->mtu;
		uint32_t wire = SDR_DATA_OVERHEAD + len + sdr_wire_pad(len);
		struct sdr_wire_data d;
		struct sdr_soft_msg *m;

		sdr_soft_data_set(&d, &head, q, t, c->pkt, len, q->psn[tp]);
		if (len > o.cut->whole) {
			if (!sdr_soft_build_cut(s, c, corrupt, &o, &d, t->buf + at, join))
				return false;
			q->psn[tp] = (q->psn[tp] + 1) & SDR_PSN_MASK;
			join = true;
			continue;
		}
		if (!sdr_soft_room(tx, len, corrupt))
			return false;
		m = join ? sdr_soft_msg_open(s, wire, o.sock, ect, o.near) : NULL;
		if (!m) {
			o.to = sdr_soft_spread_next(q, o.to);
			m = sdr_soft_msg_begin(s, c, wire, o.sock, ect, &o.to->sa, o.to->len);
			m->near = o.near;
		}
		join = true;
		sdr_wire_data_encode(sdr_soft_arena(tx), &d);
		if (q->nic)
			seed = sdr_soft_nic_seed(q, o.sock, wire, m->nseg);
		if (!o.bare && len > SDR_SOFT_PACK_MAX)
			sdr_soft_fetch_next(t, at, len);
		sdr_soft_frame(tx, m, seed, SDR_DATA_HDR, t->buf + at, len, corrupt,
			       o.bare && !corrupt);
		sdr_soft_msg_add(m, wire);
		q->psn[tp] = (q->psn[tp] + 1) & SDR_PSN_MASK;
		m->npkts++;
		m->payload += len;
		tx->bytes += len;
	}
	return true;
}

static bool sdr_soft_build_ctl(struct sdr_soft *s, struct sdr_soft_cur *c)
{
	const struct sdr_uc_tx *t = &c->v[c->d];
	bool corrupt = t->flags & SDR_UC_F_CORRUPT, probe = t->flags & SDR_UC_F_PROBE;
	bool ect = sdr_soft_tx_ect(s, t);
	uint32_t wire = SDR_CTL_OVERHEAD + t->len + sdr_wire_pad(t->len);
	struct sdr_soft_tx *tx = &s->tx;
	struct sdr_wire_ctl w = { .qkey = SDR_SOFT_QKEY, .src_qpn = s->ctl_qpn };
	struct sockaddr_storage sa;
	struct sdr_soft_near_tx *near = NULL;
	struct sdr_soft_msg *m = NULL;
	uint8_t sock = 0;
	int len;

	len = sdr_uc_addr_to_sockaddr(t->to, &sa);
	if (len < 0 || t->via >= s->sources || sa.ss_family != s->family ||
	    t->len > (probe ? s->probe_max : s->ctl_max)) {
		s->st.tx_lost++;
		c->pkt = 1;
		return true;
	}
	if (!sdr_soft_room(tx, t->len, corrupt))
		return false;
	if (t->via)
		sock = sdr_soft_source_sock(s, t->via);
	else
		near = sdr_soft_near_ctl(s, &sa, (socklen_t)len);
	/* A router on this host drops a train whole when its longest segment is too long. */
	if (tx->nmsg && !probe) {
		struct msghdr *h = &tx->hdr[tx->nmsg - 1].msg_hdr;

		if ((int)h->msg_namelen == len && !memcmp(h->msg_name, &sa, (size_t)len))
			m = sdr_soft_msg_open(s, wire, sock, ect, near);
	}
	if (!m) {
		struct sdr_soft_dest *dest = &tx->dest[tx->nmsg];

		memcpy(&dest->sa, &sa, (size_t)len);
		m = sdr_soft_msg_begin(s, c, wire, sock, ect, &dest->sa, (socklen_t)len);
		m->near = near;
	}
	w.psn = s->ctl_psn;
	s->ctl_psn = (s->ctl_psn + 1) & SDR_PSN_MASK;
	sdr_wire_ctl_encode(sdr_soft_arena(tx), &w, t->len);
	sdr_soft_frame(tx, m, s->icrc_seed, SDR_CTL_HDR, t->buf, t->len, corrupt, false);
	sdr_soft_msg_add(m, wire);
	m->closed |= probe;
	m->nctl++;
	tx->bytes += t->len;
	c->pkt = 1;
	return true;
}

int sdr_soft_post_own(struct sdr_soft *s, struct sdr_uc_tx *v, int n)
{
	struct sdr_soft_cur c = { .v = v };
	bool full = false, whole;

	SDR_ASSERT(sdr_soft_batch_is_empty(&s->tx)); /* then there is room for any packet */
	s->tx.single = 0;
	for (;;) {
		while (c.d < n) {
			if (v[c.d].kind == SDR_UC_TX_WRITE)
				whole = sdr_soft_build_write(s, &c);
			else
				whole = sdr_soft_build_ctl(s, &c);
			if (!whole)
				break;
			c.d++;
			c.pkt = 0;
		}
		if (!s->tx.nmsg)
			break;
		if (!sdr_soft_flush(s, &c, n, &full) && full)
			break;
	}
	if (c.d < n && c.pkt) {
		uint64_t done = (uint64_t)c.pkt * sdr_soft_tx_qp(&v[c.d])->mtu;

		v[c.d].buf += done;
		v[c.d].len -= (uint32_t)done;
		v[c.d].w.first += c.pkt;
	}
	return c.d;
}

int sdr_soft_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n)
{
	struct sdr_soft *s = sdr_soft_of(uc);

	return s->crew && s->crew->help ? sdr_soft_share_post(s, v, n) : sdr_soft_post_own(s, v, n);
}

int sdr_soft_tx_init(const struct sdr_soft *s, struct sdr_soft_tx *tx)
{
	tx->arena = malloc(SDR_SOFT_TX_ARENA);
	if (!tx->arena)
		return -ENOMEM;
	memset(tx->arena, 0, SDR_SOFT_TX_ARENA);
	tx->tos_level = s->family == AF_INET6 ? IPPROTO_IPV6 : IPPROTO_IP;
	tx->tos_type = s->family == AF_INET6 ? IPV6_TCLASS : IP_TOS;
	tx->tos_ect = s->tos | SDR_UC_ECT0;
	return 0;
}

void sdr_soft_tx_free(struct sdr_soft_tx *tx)
{
	free(tx->arena);
}
