/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Control datagrams of the verbs engine: a UD queue pair between devices, the socket for everybody
 * else.
 *
 * A peer is known by IP address and UDP port.  What is addressed to one whose UD queue pair is
 * known, because it is connected or because its datagrams said so, goes there: the port of the
 * sender travels as immediate, its IP address is in the header, so the receiver needs no table to
 * say whom a datagram is from.  First contact, peers without a device, and peers that were not
 * heard of for SDR_VERBS_FRESH_NS are met at the socket (of the soft engine inside this one):
 * another process may have taken a peer's place, and its queue pair has another number. Whether the
 * two ways keep the order between them does not matter: control datagrams may be lost and reordered
 * anyway.
 *
 * Datagrams to send are copied into registered slots, used in turn and given back in order by
 * completions. Nothing here is trusted: the layers above check what a datagram says.  A forged one
 * can at most lead our answers to another queue pair of the address that it names, until the
 * real peer is heard of, or for a second. Peers that are not connected are remembered
 * SDR_VERBS_HEARD to a bucket.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_verbs_impl.h"

#define SDR_VERBS_UD_SIGNAL 16u /* datagrams a completion */
#define SDR_VERBS_HEARD	    4u	/* unconnected peers that a bucket of the table remembers */

/* ---- peers ----------------------------------------------------------------------------------- */

static struct sdr_verbs_peer **sdr_verbs_bucket(struct sdr_verbs *v, const struct sdr_uc_addr *addr)
{
	uint32_t h = 0, i;

	for (i = 0; i < addr->len; i++)
		h = h * 31 + addr->b[i];
	return &v->peers[h % (sizeof(v->peers) / sizeof(v->peers[0]))];
}

static struct sdr_verbs_peer *sdr_verbs_peer_find(struct sdr_verbs *v,
						  const struct sdr_uc_addr *addr)
{
	struct sdr_verbs_peer *p = *sdr_verbs_bucket(v, addr);

	while (p && !sdr_uc_addr_equal(&p->addr, addr))
		p = p->next;
	return p;
}

static void sdr_verbs_peer_drop(struct sdr_verbs *v, struct sdr_verbs_peer *p)
{
	struct sdr_verbs_peer **q = sdr_verbs_bucket(v, &p->addr);

	while (*q != p)
		q = &(*q)->next;
	*q = p->next;
	if (p->ah)
		v->ibv->destroy_ah(p->ah);
	free(p);
}

static struct sdr_verbs_peer *sdr_verbs_peer_new(struct sdr_verbs *v,
						 const struct sdr_uc_addr *addr, uint32_t qpn)
{
	struct sdr_verbs_peer **q = sdr_verbs_bucket(v, addr), *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->addr = *addr;
	p->qpn = qpn;
	p->next = *q;
	*q = p;
	return p;
}

struct sdr_verbs_peer *sdr_verbs_peer_get(struct sdr_verbs *v, const struct sdr_uc_addr *addr,
					  uint32_t qpn)
{
	struct sdr_verbs_peer *p = sdr_verbs_peer_find(v, addr);

	if (!p)
		p = sdr_verbs_peer_new(v, addr, qpn);
	if (!p)
		return NULL; /* the socket does as well */
	p->qpn = qpn;	     /* the newest connection knows best */
	p->heard = sdr_verbs_now(&v->uc);
	p->refs++;
	return p;
}

void sdr_verbs_peer_put(struct sdr_verbs *v, struct sdr_verbs_peer *p)
{
	if (!--p->refs)
		sdr_verbs_peer_drop(v, p);
}

void sdr_verbs_peers_free(struct sdr_verbs *v)
{
	uint32_t i;

	for (i = 0; i < sizeof(v->peers) / sizeof(v->peers[0]); i++)
		while (v->peers[i])
			sdr_verbs_peer_drop(v, v->peers[i]);
}

/* A datagram came from this address, and says which queue pair its sender has. */
static void sdr_verbs_peer_heard(struct sdr_verbs *v, const struct sdr_uc_addr *addr, uint32_t qpn,
				 uint64_t now)
{
	struct sdr_verbs_peer *p = sdr_verbs_peer_find(v, addr), *old = NULL, *i;
	uint32_t n = 0;

	if (!p) {
		for (i = *sdr_verbs_bucket(v, addr); i; i = i->next) {
			if (i->refs)
				continue;
			n++;
			if (!old || i->heard < old->heard)
				old = i;
		}
		if (n >= SDR_VERBS_HEARD)
			sdr_verbs_peer_drop(v, old);
		p = sdr_verbs_peer_new(v, addr, qpn);
		if (!p)
			return;
	}
	if (!p->refs)
		p->qpn = qpn;
	/* 0: another peer is there now; the socket knows which */
	p->heard = p->qpn == qpn ? now : 0;
}

/* The peer, when its queue pair can be relied on; NULL: to its socket. */
static struct sdr_verbs_peer *sdr_verbs_peer_fresh(struct sdr_verbs *v,
						   const struct sdr_uc_addr *addr)
{
	struct sdr_verbs_peer *p = v->ud.qp ? sdr_verbs_peer_find(v, addr) : NULL;
	struct ibv_ah_attr ah;

	if (!p || sdr_verbs_now(&v->uc) - p->heard > SDR_VERBS_FRESH_NS)
		return NULL;
	if (!p->ah && !sdr_verbs_path(v, addr, &ah))
		p->ah = v->ibv->create_ah(v->pd->pd, &ah);
	return p->ah ? p : NULL;
}

/* ---- sending --------------------------------------------------------------------------------- */

static void sdr_verbs_ud_reap(struct sdr_verbs *v)
{
	struct ibv_wc wc[SDR_VERBS_UD_TX / SDR_VERBS_UD_SIGNAL];
	int n = ibv_poll_cq(v->ud.scq, sizeof(wc) / sizeof(wc[0]), wc), i;

	for (i = 0; i < n; i++) {
		if (wc[i].status != IBV_WC_SUCCESS)
			sdr_verbs_break(v, -EIO, "a control datagram could not be sent");
		v->ud.tx_head += SDR_VERBS_UD_SIGNAL;
	}
}

/* False: no slot is free. */
static bool sdr_verbs_ud_send(struct sdr_verbs *v, const struct sdr_verbs_peer *p,
			      const struct sdr_uc_tx *t)
{
	struct sdr_verbs_ud *u = &v->ud;
	uint32_t k = u->tx_tail % SDR_VERBS_UD_TX;
	uint8_t *buf = u->buf + (size_t)SDR_VERBS_UD_RX * u->rx_size + (size_t)k * v->ctl_max;
	struct ibv_sge sge = { .addr = (uintptr_t)buf, .length = t->len, .lkey = u->mr->mr->lkey };
	struct ibv_send_wr *bad, w = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.imm_data = htonl(sdr_get_be16(v->addr.b + 1)),
		.wr.ud = { .ah = p->ah, .remote_qpn = p->qpn, .remote_qkey = SDR_VERBS_QKEY },
	};

	if (u->tx_tail - u->tx_head >= SDR_VERBS_UD_TX) {
		sdr_verbs_ud_reap(v);
		if (u->tx_tail - u->tx_head >= SDR_VERBS_UD_TX)
			return false;
	}
	memcpy(buf, t->buf, t->len);
	if (t->len <= v->inl)
		w.send_flags |= IBV_SEND_INLINE;
	if (++u->tx_tail % SDR_VERBS_UD_SIGNAL == 0)
		w.send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(u->qp, &w, &bad))
		sdr_verbs_break(v, -EIO, "the device took no more control datagrams");
	v->st.sys_tx++;
	return true;
}

bool sdr_verbs_ctl_post(struct sdr_verbs *v, struct sdr_uc_tx *t)
{
	const struct sdr_verbs_peer *p = sdr_verbs_peer_fresh(v, t->to);

	if (t->len > v->ctl_max || (p && t->flags & SDR_UC_F_CORRUPT))
		return true; /* lost */
	if (!p)
		return v->soft->ops->post(v->soft, t, 1) == 1;
	if (!sdr_verbs_ud_send(v, p, t))
		return false;
	v->st.ctl_tx++;
	return true;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static int sdr_verbs_ud_recv(struct sdr_verbs *v, uint32_t slot)
{
	struct sdr_verbs_ud *u = &v->ud;
	struct ibv_sge sge = {
		.addr = (uintptr_t)u->buf + (size_t)slot * u->rx_size,
		.length = u->rx_size,
		.lkey = u->mr->mr->lkey,
	};
	struct ibv_recv_wr *bad, w = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 };

	return -ibv_post_recv(u->qp, &w, &bad);
}

/* The sender's address: IP from the header before the payload, port from the immediate. */
static bool sdr_verbs_ud_from(const struct sdr_verbs *v, const struct ibv_wc *wc,
			      const uint8_t *grh, struct sdr_uc_addr *a)
{
	if (!(wc->wc_flags & IBV_WC_GRH) || !(wc->wc_flags & IBV_WC_WITH_IMM) ||
	    wc->byte_len < SDR_VERBS_GRH)
		return false;
	memset(a, 0, sizeof(*a));
	a->len = v->addr.len;
	a->b[0] = v->addr.b[0];
	sdr_put_be16(a->b + 1, (uint16_t)ntohl(wc->imm_data));
	if (a->b[0] == 4) {
		if (grh[20] >> 4 != 4)
			return false;
		memcpy(a->b + 3, grh + 32, 4);
	} else {
		if (grh[0] >> 4 != 6)
			return false;
		memcpy(a->b + 3, grh + 8, 16);
		if (a->b[3] == 0xfe && (a->b[4] & 0xc0) == 0x80)
			memcpy(a->b + 19, v->addr.b + 19, 4); /* link-local: our scope */
	}
	return true;
}

bool sdr_verbs_ud_fetch(struct sdr_verbs *v)
{
	struct sdr_verbs_ud *u = &v->ud;
	int n;

	if (!u->qp)
		return false;
	if (u->pos == u->nwc) {
		n = ibv_poll_cq(u->rcq, sizeof(u->wc) / sizeof(u->wc[0]), u->wc);
		u->pos = 0;
		u->nwc = n > 0 ? (uint32_t)n : 0;
	}
	return u->pos < u->nwc;
}

static int sdr_verbs_ud_poll(struct sdr_verbs *v, struct sdr_uc_ev *ev, int max)
{
	struct sdr_verbs_ud *u = &v->ud;
	uint64_t now = 0;
	uint32_t i;
	int n = 0;

	if (!u->qp) {
		v->looks.ud = v->looks.n;
		return 0;
	}
	/* What the last poll reported has been read. */
	for (i = 0; i < u->rx_need; i++)
		if (sdr_verbs_ud_recv(v, u->refill[i]))
			sdr_verbs_break(v, -EIO,
					"the device took no more receives of control datagrams");
	u->rx_need = 0;
	while (n < max && n < (int)(sizeof(u->from) / sizeof(u->from[0])) &&
	       u->rx_need < SDR_VERBS_UD_RX) {
		const struct ibv_wc *wc;
		const uint8_t *buf;

		if (!sdr_verbs_ud_fetch(v)) {
			v->looks.ud = v->looks.n;
			break;
		}
		wc = &u->wc[u->pos++];
		buf = u->buf + (size_t)wc->wr_id * u->rx_size;
		if (!now)
			now = sdr_verbs_now(&v->uc);
		u->refill[u->rx_need++] = (uint32_t)wc->wr_id;
		if (wc->status != IBV_WC_SUCCESS) {
			sdr_verbs_break(v, -EIO, "a receive of control datagrams failed");
			break;
		}
		if (!sdr_verbs_ud_from(v, wc, buf, &u->from[n])) {
			v->st.pkts_bad++;
			continue;
		}
		sdr_verbs_peer_heard(v, &u->from[n], wc->src_qp, now);
		v->st.ctl_rx++;
		memset(&ev[n], 0, sizeof(ev[n]));
		ev[n].kind = SDR_UC_EV_CTL;
		ev[n].since = 0;
		ev[n].len = wc->byte_len - SDR_VERBS_GRH;
		ev[n].c.buf = buf + SDR_VERBS_GRH;
		ev[n].c.from = &u->from[n];
		ev[n].c.qpn = wc->src_qp;
		n++;
	}
	return n;
}

static int sdr_verbs_sock_poll(struct sdr_verbs *v, struct sdr_uc_ev *ev, int max)
{
	int n = v->soft->ops->poll(v->soft, ev, max), i, kept = 0;

	if (n < max)
		v->looks.sock = v->looks.n;
	for (i = 0; i < n; i++) {
		if (ev[i].kind == SDR_UC_EV_PATH)
			continue; /* of the socket's way, not of the device's */
		if (v->ud.qp && ev[i].kind == SDR_UC_EV_CTL && ev[i].c.qpn != SDR_QPN_CTL)
			sdr_verbs_peer_heard(v, ev[i].c.from, ev[i].c.qpn, sdr_verbs_now(&v->uc));
		if (i != kept)
			ev[kept] = ev[i];
		kept++;
	}
	return kept;
}

/* One place has to wait when the other gives something, and then is the first to be read. */
int sdr_verbs_ctl_poll(struct sdr_verbs *v, struct sdr_uc_ev *ev, int max, bool socket)
{
	struct sdr_verbs_looks *k = &v->looks;
	bool sock = socket && k->sock_next;
	int n = sock ? sdr_verbs_sock_poll(v, ev, max) : 0;

	if (!n)
		n = sdr_verbs_ud_poll(v, ev, max);
	if (!n && !sock && (socket || !v->ud.qp)) {
		n = sdr_verbs_sock_poll(v, ev, max);
		sock = true;
	}
	k->sock_next = socket && !sock;
	return n;
}

uint32_t sdr_verbs_ctl_seen(const struct sdr_verbs *v, bool socket)
{
	const struct sdr_verbs_looks *k = &v->looks;

	return socket && (int32_t)(k->sock - k->ud) < 0 ? k->sock : k->ud;
}

/* ---- opening --------------------------------------------------------------------------------- */

static int sdr_verbs_ud_connect(struct sdr_verbs *v)
{
	struct ibv_qp_attr a = { .qp_state = IBV_QPS_INIT,
				 .port_num = v->port,
				 .qkey = SDR_VERBS_QKEY };
	int ret = v->ibv->modify_qp(v->ud.qp, &a,
				    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);

	if (!ret) {
		a.qp_state = IBV_QPS_RTR;
		ret = v->ibv->modify_qp(v->ud.qp, &a, IBV_QP_STATE);
	}
	if (!ret) {
		a.qp_state = IBV_QPS_RTS;
		ret = v->ibv->modify_qp(v->ud.qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN);
	}
	return -ret;
}

int sdr_verbs_ud_open(struct sdr_verbs *v)
{
	struct sdr_verbs_ud *u = &v->ud;
	struct ibv_qp_init_attr a = {
		.qp_context = v,
		.qp_type = IBV_QPT_UD,
		.cap = {
			.max_send_wr = SDR_VERBS_UD_TX,
			.max_recv_wr = SDR_VERBS_UD_RX,
			.max_send_sge = 1,
			.max_recv_sge = 1,
			.max_inline_data = v->inl,
		},
	};
	const char *what = "cannot make the control queue pair";
	size_t bytes;
	uint32_t i;
	int ret = -ENOMEM;

	u->rx_size = (SDR_VERBS_GRH + v->ctl_max + 63u) & ~63u;
	bytes = (size_t)SDR_VERBS_UD_RX * u->rx_size + (size_t)SDR_VERBS_UD_TX * v->ctl_max;
	bytes = (bytes + 4095) & ~4095ul;
	u->buf = aligned_alloc(4096, bytes);
	if (!u->buf)
		goto err;
	memset(u->buf, 0, bytes);
	errno = 0;
	u->mr = sdr_verbs_mr_get(v->pd, &(struct sdr_verbs_range){ .buf = u->buf, .len = bytes },
				 IBV_ACCESS_LOCAL_WRITE);
	if (!u->mr) {
		what = "cannot register the control ring";
		goto err_errno;
	}
	u->rcq = v->ibv->create_cq(v->pd->ctx, SDR_VERBS_UD_RX, v, v->chan, 0);
	u->scq = v->ibv->create_cq(v->pd->ctx, SDR_VERBS_UD_TX, v, NULL, 0);
	if (!u->rcq || !u->scq)
		goto err_errno;
	a.send_cq = u->scq;
	a.recv_cq = u->rcq;
	u->qp = v->ibv->create_qp(v->pd->pd, &a);
	if (!u->qp)
		goto err_errno;
	ret = sdr_verbs_ud_connect(v);
	for (i = 0; i < SDR_VERBS_UD_RX && !ret; i++)
		ret = sdr_verbs_ud_recv(v, i);
	if (!ret)
		return 0;
	goto err;
err_errno:
	ret = -(errno ? errno : ENOMEM);
err:
	sdr_verbs_why(v->pd, ret, what, v->reason, sizeof(v->reason));
	return ret;
}

void sdr_verbs_ud_close(struct sdr_verbs *v)
{
	struct sdr_verbs_ud *u = &v->ud;

	if (u->qp)
		v->ibv->destroy_qp(u->qp);
	if (u->rcq)
		v->ibv->destroy_cq(u->rcq);
	if (u->scq)
		v->ibv->destroy_cq(u->scq);
	if (u->mr)
		sdr_verbs_mr_put(v->pd, u->mr);
	free(u->buf);
}
