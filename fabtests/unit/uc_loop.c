/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The loopback engine of the tests (see uc_loop.h).  Keeps each node's arrivals in a list of
 * packets that poll turns into events; a packet that was placed on arrival carries the flag
 * `placed`.  No threads, no clock.
 */
#include "base/sdr_rand.h"
#include "uc_loop.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOOP_QPS       64u /* a node */
#define LOOP_QPN_FIRST 0x100u

struct loop_reg {
	struct loop_node *node;
	const uint8_t *buf;
	size_t len;
	uint32_t unread; /* packets */
	bool dead;	 /* deregistered: goes with the last of them */
};

struct loop_grant {
	struct loop_grant *next;
	struct loop_qp *qp;
	uint64_t va;
	uint32_t rkey;
	uint8_t *buf;
	size_t len;
	void *mr;
	bool open;
};

struct loop_slot {
	uint8_t *buf;
	size_t len;
	uint8_t gen;
	bool bound;
};

struct loop_qp {
	struct sdr_uc_qp qp;
	struct sdr_uc_qp_attr attr;
	uint32_t qpn, rkey, peer_qpn, peer_rkey;
	uint8_t peer; /* node */
	bool connected;
	struct loop_slot *slots;
};

struct loop_arrival {
	struct loop_arrival *next;
	struct sdr_uc_ev ev; /* complete, unless pkt is to be placed by poll */
	struct loop_pkt *pkt;
	struct sdr_uc_addr from;
};

struct loop_node {
	struct sdr_uc uc;
	struct loop_net *net;
	uint8_t number;
	enum loop_mode mode;
	uint32_t reg_min;
	uint32_t qpn_next;
	struct loop_qp *qps[LOOP_QPS];
	struct loop_arrival *head, **tail, *held;
	uint32_t pending;
	struct sdr_uc_stats st;
};

static struct loop_node *loop_node_of(struct sdr_uc *uc)
{
	return (struct loop_node *)(void *)uc;
}

static struct loop_qp *loop_qp_of(struct sdr_uc_qp *qp)
{
	return (struct loop_qp *)(void *)qp;
}

void loop_addr(uint8_t node, struct sdr_uc_addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->len = 1;
	addr->b[0] = (uint8_t)(node + 1);
}

/* ---- arrival and placement ------------------------------------------------------------------- */

static struct loop_qp *loop_qp_find(struct loop_node *n, uint32_t qpn)
{
	uint32_t i;

	for (i = 0; i < LOOP_QPS; i++)
		if (n->qps[i] && qpn - n->qps[i]->qpn < (uint32_t)n->qps[i]->attr.channels *
								n->qps[i]->attr.generations)
			return n->qps[i];
	return NULL;
}

static void loop_arrive(struct loop_node *n, struct loop_pkt *p, const struct sdr_uc_ev *ev)
{
	struct loop_arrival *a = calloc(1, sizeof(*a));

	assert(a);
	a->pkt = p;
	if (ev)
		a->ev = *ev;
	*n->tail = a;
	n->tail = &a->next;
	n->pending++;
}

static bool loop_is_rkeyed(const struct loop_node *n)
{
	return n->mode == LOOP_RKEYED || n->mode == LOOP_RKEYED_ROOT;
}

/* Under a grant.  True when *ev, which is filled, is to be reported. */
static bool loop_place_rkeyed(struct loop_node *n, const struct loop_pkt *p,
			      const struct loop_qp *q)
{
	struct loop_grant *g;
	uint64_t at;

	if (!p->len)
		return true;
	for (g = n->net->grant; g && g->rkey != p->rkey; g = g->next)
		;
	at = g ? p->va - g->va : 0;
	if (!p->rkeyed || !g || g->qp != q || at > g->len || p->len > g->len - at) {
		n->st.pkts_bad++;
		n->net->key_bad++;
		return false;
	}
	if (!g->open) {
		n->net->key_ended++;
		return n->mode == LOOP_RKEYED_ROOT;
	}
	memcpy(g->buf + at, p->buf, p->len);
	n->st.pkts_rx++;
	n->st.bytes_rx += p->len;
	return true;
}

/* True when *ev is to be reported. */
static bool loop_place(struct loop_node *n, const struct loop_pkt *p, struct sdr_uc_ev *ev)
{
	struct loop_qp *q = loop_qp_find(n, p->qpn);
	uint64_t at, stride;
	struct loop_slot *s;
	bool hit;

	memset(ev, 0, sizeof(*ev));
	if (!q || (!loop_is_rkeyed(n) && (p->rkeyed || q->rkey != p->rkey)) ||
	    p->slot >= 1u << q->attr.split.id_bits || p->len > q->attr.mtu) {
		n->st.pkts_bad++;
		return false;
	}
	stride = q->attr.max_msg;
	at = (uint64_t)p->off * q->attr.mtu;
	if (!loop_is_rkeyed(n) && (at >= stride || p->len > stride - at)) {
		n->st.pkts_bad++;
		return false;
	}
	ev->kind = SDR_UC_EV_PLACED;
	ev->gen = (uint8_t)((p->qpn - q->qpn) / q->attr.channels);
	ev->channel = (uint8_t)((p->qpn - q->qpn) % q->attr.channels);
	ev->len = p->len;
	ev->p.cookie = q->attr.cookie;
	ev->p.imm = p->imm;
	if (loop_is_rkeyed(n))
		return loop_place_rkeyed(n, p, q);
	s = &q->slots[p->slot];
	hit = s->bound && (s->gen == ev->gen || n->mode == LOOP_HW_1KEY);
	if (!hit) {
		n->st.pkts_late++;
		return n->mode != LOOP_SOFT;
	}
	if (p->len) {
		if (at > s->len || p->len > s->len - at) {
			n->st.pkts_bad++;
			return false;
		}
		memcpy(s->buf + at, p->buf, p->len);
	}
	n->st.pkts_rx++;
	n->st.bytes_rx += p->len;
	return true;
}

/* The device reads what it is to send. */
static void loop_read(struct loop_pkt *p)
{
	struct loop_reg *r = p->reg;

	if (!r)
		return;
	assert(p->unread >= r->buf && (size_t)(p->unread - r->buf) + p->len <= r->len);
	memcpy(p->buf, p->unread, p->len);
	p->reg = NULL;
	if (!--r->unread && r->dead)
		free(r);
}

/* Takes p over. */
static void loop_receive(struct loop_net *net, struct loop_pkt *p)
{
	struct loop_node *n = p->dst < LOOP_NODES ? net->node[p->dst] : NULL;
	struct sdr_uc_ev ev;

	if (!n) {
		free(p);
		return;
	}
	if (p->kind == SDR_UC_TX_WRITE && n->mode != LOOP_SOFT) {
		if (loop_place(n, p, &ev))
			loop_arrive(n, NULL, &ev);
		free(p);
		return;
	}
	loop_arrive(n, p, NULL);
}

static struct loop_pkt *loop_take(struct loop_net *net, uint32_t i)
{
	struct loop_pkt *p;

	assert(i < net->npkts);
	p = net->pkts[i];
	loop_read(p);
	memmove(net->pkts + i, net->pkts + i + 1, (--net->npkts - i) * sizeof(*net->pkts));
	return p;
}

void loop_deliver(struct loop_net *net, uint32_t i)
{
	loop_receive(net, loop_take(net, i));
}

void loop_deliver_copy(struct loop_net *net, uint32_t i)
{
	struct loop_pkt *p = net->pkts[i], *c = malloc(sizeof(*p) + p->len);

	assert(c);
	loop_read(p);
	memcpy(c, p, sizeof(*p) + p->len);
	loop_receive(net, c);
}

void loop_drop(struct loop_net *net, uint32_t i)
{
	free(loop_take(net, i));
}

void loop_deliver_all(struct loop_net *net)
{
	while (net->npkts)
		loop_deliver(net, 0);
}

void loop_drop_all(struct loop_net *net)
{
	while (net->npkts)
		loop_drop(net, net->npkts - 1);
}

static void loop_send(struct loop_net *net, struct loop_pkt *p)
{
	if (net->automatic) {
		loop_read(p);
		loop_receive(net, p);
		return;
	}
	if (net->npkts == net->cap) {
		net->cap = net->cap ? 2 * net->cap : 64;
		net->pkts = realloc(net->pkts, net->cap * sizeof(*net->pkts));
		assert(net->pkts);
	}
	net->pkts[net->npkts++] = p;
}

void loop_forge_placed(struct loop_net *net, uint8_t node, void *cookie, uint8_t gen, uint32_t imm,
		       uint32_t len)
{
	struct sdr_uc_ev ev = { .kind = SDR_UC_EV_PLACED, .gen = gen, .len = len };

	ev.p.cookie = cookie;
	ev.p.imm = imm;
	loop_arrive(net->node[node], NULL, &ev);
}

void loop_forge_ctl(struct loop_net *net, uint8_t node, uint8_t from, const void *buf, uint32_t len)
{
	struct loop_pkt *p = calloc(1, sizeof(*p) + len);

	assert(p);
	p->kind = SDR_UC_TX_CTL;
	p->src = from;
	p->dst = node;
	p->len = len;
	if (len)
		memcpy(p->buf, buf, len);
	loop_arrive(net->node[node], p, NULL);
}

void loop_forge_error(struct loop_net *net, uint8_t node, int err)
{
	struct sdr_uc_ev ev = { .kind = SDR_UC_EV_ERROR };

	ev.err = err;
	loop_arrive(net->node[node], NULL, &ev);
}

void loop_forge_broken(struct loop_net *net, uint8_t node, void *cookie, int err)
{
	struct sdr_uc_ev ev = { .kind = SDR_UC_EV_QP };

	ev.q.cookie = cookie;
	ev.q.err = err;
	loop_arrive(net->node[node], NULL, &ev);
}

bool loop_steal(struct loop_net *net, uint8_t node, struct sdr_uc_ev *ev)
{
	struct loop_node *n = net->node[node];
	struct loop_arrival **a = &n->head;

	if (!*a)
		return false;
	while ((*a)->next)
		a = &(*a)->next;
	assert(!(*a)->pkt);
	*ev = (*a)->ev;
	free(*a);
	*a = NULL;
	n->tail = a;
	n->pending--;
	return true;
}

void *loop_grant_mr(const struct sdr_uc_grant *g)
{
	return ((const struct loop_grant *)g->impl)->mr;
}

uint32_t loop_pending(struct loop_net *net, uint8_t node)
{
	return net->node[node]->pending;
}

/* ---- the table of operations ----------------------------------------------------------------- */

static void loop_held_free(struct loop_node *n)
{
	struct loop_arrival *a;

	while ((a = n->held)) {
		n->held = a->next;
		free(a->pkt);
		free(a);
	}
}

static void loop_close(struct sdr_uc *uc)
{
	struct loop_node *n = loop_node_of(uc);
	struct loop_arrival *a;
	uint32_t i;

	for (i = 0; i < LOOP_QPS; i++)
		assert(!n->qps[i]);
	loop_held_free(n);
	while ((a = n->head)) {
		n->head = a->next;
		free(a->pkt);
		free(a);
	}
	n->net->node[n->number] = NULL;
	free(n);
}

static void loop_info(struct sdr_uc *uc, struct sdr_uc_info *out)
{
	struct loop_node *n = loop_node_of(uc);

	memset(out, 0, sizeof(*out));
	out->name = "loop";
	out->sources = 1;
	out->mtu = n->net->mtu;
	out->ctl_max = SDR_CTL_MIN;
	out->rkeyed = loop_is_rkeyed(n);
	out->reg_min = n->reg_min;
	out->late = n->mode == LOOP_RKEYED_ROOT ? "root" : out->rkeyed ? "mr" : "epoch";
	loop_addr(n->number, &out->addr);
}

static void loop_stats(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	*out = loop_node_of(uc)->st;
}

static uint64_t loop_now(struct sdr_uc *uc)
{
	return loop_node_of(uc)->net->now;
}

static int loop_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *attr,
			  struct sdr_uc_qp **out)
{
	struct loop_node *n = loop_node_of(uc);
	struct loop_qp *q;
	uint32_t i;

	for (i = 0; i < LOOP_QPS && n->qps[i]; i++)
		;
	if (i == LOOP_QPS)
		return -ENOMEM;
	q = calloc(1, sizeof(*q) + sizeof(*q->slots) * (1u << attr->split.id_bits));
	assert(q);
	q->slots = (struct loop_slot *)(void *)(q + 1);
	q->qp.uc = uc;
	q->attr = *attr;
	q->qpn = n->qpn_next;
	n->qpn_next = LOOP_QPN_FIRST +
		      ((n->qpn_next + SDR_CHANNELS_MAX * SDR_GENERATIONS_MAX) & 0x7fffffu);
	q->rkey = (uint32_t)attr->rand[0];
	n->qps[i] = q;
	*out = &q->qp;
	return 0;
}

static void loop_qp_destroy(struct sdr_uc_qp *qp)
{
	struct loop_node *n = loop_node_of(qp->uc);
	struct loop_qp *q = loop_qp_of(qp);
	struct loop_arrival *a;
	struct loop_grant *g, **at;
	uint32_t i;

	for (i = 0; i < 1u << q->attr.split.id_bits; i++)
		n->net->binds -= q->slots[i].bound;
	for (at = &n->net->grant; (g = *at);) {
		if (g->qp != q) {
			at = &g->next;
			continue;
		}
		assert(!g->open);
		*at = g->next;
		free(g);
	}
	for (i = 0; i < LOOP_QPS; i++)
		if (n->qps[i] == q)
			n->qps[i] = NULL;
	for (a = n->head; a; a = a->next) {
		if (a->ev.kind == SDR_UC_EV_PLACED && !a->pkt && a->ev.p.cookie == q->attr.cookie)
			a->ev.p.cookie = NULL;
		if (a->ev.kind == SDR_UC_EV_QP && !a->pkt && a->ev.q.cookie == q->attr.cookie)
			a->ev.q.cookie = NULL;
	}
	free(q);
}

static void loop_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out)
{
	struct loop_qp *q = loop_qp_of(qp);

	memset(out, 0, sizeof(*out));
	out->qpn = q->qpn;
	out->rkey = q->rkey;
	out->channels = q->attr.channels;
	out->generations = q->attr.generations;
	out->split = q->attr.split;
	out->mtu = q->attr.mtu;
	out->chunk = q->attr.mtu;
	out->max_msg = q->attr.max_msg;
	out->flags = loop_is_rkeyed(loop_node_of(qp->uc)) ? SDR_QP_F_RKEYED : 0;
	out->addr_len = 1;
	out->addr[0] = (uint8_t)(loop_node_of(qp->uc)->number + 1);
}

static int loop_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *peer,
			   const struct sdr_uc_addr *addr)
{
	struct loop_qp *q = loop_qp_of(qp);

	if (peer->channels != q->attr.channels || peer->generations != q->attr.generations ||
	    memcmp(&peer->split, &q->attr.split, sizeof(peer->split)) || peer->mtu != q->attr.mtu ||
	    peer->max_msg != q->attr.max_msg)
		return -EPROTO;
	if (!addr && !peer->addr_len)
		return -EINVAL;
	q->peer_qpn = peer->qpn;
	q->peer_rkey = peer->rkey;
	q->peer = (uint8_t)((addr ? addr->b[0] : peer->addr[0]) - 1);
	q->connected = true;
	return 0;
}

static void loop_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr)
{
	loop_qp_of(qp)->peer = (uint8_t)(addr->b[0] - 1);
}

static int loop_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
			  void *mr)
{
	struct loop_qp *q = loop_qp_of(qp);
	struct loop_slot *s = &q->slots[slot];

	(void)mr;
	assert(slot < 1u << q->attr.split.id_bits && len <= q->attr.max_msg);
	loop_node_of(qp->uc)->net->binds += !s->bound;
	s->buf = buf;
	s->len = len;
	s->gen = (uint8_t)(use % q->attr.generations); /* hardware's world: no epochs */
	s->bound = true;
	return 0;
}

static void loop_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot)
{
	struct loop_slot *s = &loop_qp_of(qp)->slots[slot];

	loop_node_of(qp->uc)->net->binds -= s->bound;
	s->bound = false;
	s->buf = NULL;
}

static int loop_grant(struct sdr_uc_qp *qp, void *buf, size_t len, const struct sdr_mem *mem,
		      void *mr, struct sdr_uc_grant *out)
{
	struct loop_node *n = loop_node_of(qp->uc);
	struct loop_reg *r = mr;
	struct loop_grant *g;

	assert(loop_is_rkeyed(n) && !mem && buf && len && !out->impl);
	assert(!r ||
	       ((uint8_t *)buf >= r->buf && (size_t)((uint8_t *)buf - r->buf) + len <= r->len));
	if (n->net->grant_err)
		return n->net->grant_err;
	g = calloc(1, sizeof(*g));
	assert(g);
	g->qp = loop_qp_of(qp);
	g->va = sdr_rand64(&n->net->rand) >> 1;
	g->rkey = (uint32_t)sdr_rand64(&n->net->rand);
	g->buf = buf;
	g->len = len;
	g->mr = mr;
	g->open = true;
	g->next = n->net->grant;
	n->net->grant = g;
	n->net->grants++;
	n->net->granted++;
	out->va = g->va;
	out->rkey = g->rkey;
	out->impl = g;
	return 0;
}

static void loop_grant_end(struct sdr_uc_qp *qp, struct sdr_uc_grant *out)
{
	struct loop_grant *g = out->impl;

	assert(g && g->open && g->qp == loop_qp_of(qp));
	g->open = false;
	loop_node_of(qp->uc)->net->grants--;
	out->impl = NULL;
}

static int loop_mr_reg(struct sdr_uc *uc, void *buf, size_t len, const struct sdr_mem *mem,
		       void **mr)
{
	struct loop_node *n = loop_node_of(uc);
	struct loop_reg *r;

	if (mem)
		return -EOPNOTSUPP;
	if (n->net->reg_err)
		return n->net->reg_err;
	r = calloc(1, sizeof(*r));
	assert(r);
	r->node = n;
	r->buf = buf;
	r->len = len;
	n->net->regs++;
	n->net->reged++;
	*mr = r;
	return 0;
}

static void loop_mr_dereg(struct sdr_uc *uc, void *mr)
{
	struct loop_reg *r = mr;

	assert(r->node == loop_node_of(uc) && !r->dead);
	r->node->net->regs--;
	r->dead = true;
	if (!r->unread)
		free(r);
}

static bool loop_mr_busy(struct sdr_uc *uc, void *mr)
{
	struct loop_reg *r = mr;

	assert(r->node == loop_node_of(uc) && !r->dead);
	return r->unread;
}

static void loop_post_ctl(struct loop_node *n, const struct sdr_uc_tx *t)
{
	struct loop_pkt *p = calloc(1, sizeof(*p) + t->len);

	assert(p && t->len <= SDR_CTL_MIN && t->to->len == 1);
	p->kind = SDR_UC_TX_CTL;
	p->src = n->number;
	p->dst = (uint8_t)(t->to->b[0] - 1);
	p->len = t->len;
	memcpy(p->buf, t->buf, t->len);
	n->st.ctl_tx++;
	loop_send(n->net, p);
}

/* One packet of the run, which is advanced; true when it was the last. */
static bool loop_post_packet(struct loop_node *n, struct sdr_uc_tx *t)
{
	struct loop_qp *q = loop_qp_of(t->w.qp);
	uint32_t len = t->len < q->attr.mtu ? t->len : q->attr.mtu;
	struct loop_pkt *p = calloc(1, sizeof(*p) + len);

	assert(p && q->connected && t->gen < q->attr.generations && t->channel < q->attr.channels);
	p->kind = SDR_UC_TX_WRITE;
	p->src = n->number;
	p->dst = q->peer;
	p->channel = t->channel;
	p->gen = t->gen;
	p->qpn = q->peer_qpn + (uint32_t)t->gen * q->attr.channels + t->channel;
	p->rkeyed = t->flags & SDR_UC_F_RKEYED;
	p->rkey = p->rkeyed ? t->w.rkey : q->peer_rkey;
	p->va = p->rkeyed ? t->w.va + (uint64_t)t->w.first * q->attr.mtu : 0;
	p->slot = t->w.slot;
	p->off = t->w.first;
	p->imm = sdr_imm_pack(&q->attr.split, t->w.slot, t->w.first,
			      sdr_imm_frag(&q->attr.split, t->w.user_imm, t->w.first));
	p->len = len;
	if (t->mr) {
		struct loop_reg *r = t->mr;

		assert(len && r->node == n && !r->dead);
		assert(t->buf >= r->buf && (size_t)(t->buf - r->buf) + t->len <= r->len);
		p->reg = r;
		p->unread = t->buf;
		r->unread++;
		if (!n->net->late_reads)
			loop_read(p);
	} else if (len) {
		memcpy(p->buf, t->buf, len);
	}
	n->st.pkts_tx++;
	n->st.bytes_tx += len;
	loop_send(n->net, p);
	t->buf += len;
	t->len -= len;
	t->w.first++;
	return !t->len;
}

static int loop_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int cnt)
{
	struct loop_node *n = loop_node_of(uc);
	struct loop_net *net = n->net;
	int i;

	net->posts++;
	for (i = 0; i < cnt; i++) {
		bool last;

		do {
			if (!net->budget)
				goto full;
			if (net->budget > 0)
				net->budget--;
			last = true;
			if (v[i].kind == SDR_UC_TX_CTL)
				loop_post_ctl(n, &v[i]);
			else
				last = loop_post_packet(n, &v[i]);
		} while (!last);
		net->descs++;
	}
	return i;
full:
	n->st.tx_again++;
	return i;
}

static int loop_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	struct loop_node *n = loop_node_of(uc);
	struct loop_arrival *a;
	int k = 0;

	assert(max >= (int)SDR_UC_POLL_MIN);
	loop_held_free(n);
	while (k < max && (a = n->head)) {
		n->head = a->next;
		if (!n->head)
			n->tail = &n->head;
		n->pending--;
		if (a->pkt && a->pkt->kind == SDR_UC_TX_CTL) {
			loop_addr(a->pkt->src, &a->from);
			memset(&ev[k], 0, sizeof(ev[k]));
			ev[k].kind = SDR_UC_EV_CTL;
			ev[k].since = 0;
			ev[k].len = a->pkt->len;
			ev[k].c.buf = a->pkt->buf;
			ev[k].c.from = &a->from;
			a->next = n->held;
			n->held = a;
			n->st.ctl_rx++;
			return k + 1;
		}
		if (a->pkt) {
			k += loop_place(n, a->pkt, &ev[k]);
			free(a->pkt);
		} else {
			ev[k++] = a->ev;
		}
		free(a);
	}
	return k;
}

static void loop_sockname(struct sdr_uc *uc, struct sdr_uc_addr *out)
{
	loop_addr(loop_node_of(uc)->number, out);
}

static int loop_fd(struct sdr_uc *uc)
{
	(void)uc;
	return -1;
}

static uint64_t loop_deadline(struct sdr_uc *uc)
{
	return loop_node_of(uc)->pending ? loop_node_of(uc)->net->now : UINT64_MAX;
}

static const char *loop_reason(struct sdr_uc *uc)
{
	(void)uc;
	return "";
}

static bool loop_arm(struct sdr_uc *uc)
{
	(void)uc;
	return false;
}

static const struct sdr_uc_ops loop_ops = {
	.close = loop_close,
	.info = loop_info,
	.stats = loop_stats,
	.sockname = loop_sockname,
	.now = loop_now,
	.qp_create = loop_qp_create,
	.qp_destroy = loop_qp_destroy,
	.qp_info = loop_qp_info,
	.qp_connect = loop_qp_connect,
	.qp_readdress = loop_qp_readdress,
	.slot_bind = loop_slot_bind,
	.slot_unbind = loop_slot_unbind,
	.grant = loop_grant,
	.grant_end = loop_grant_end,
	.mr_reg = loop_mr_reg,
	.mr_dereg = loop_mr_dereg,
	.mr_busy = loop_mr_busy,
	.post = loop_post,
	.poll = loop_poll,
	.fd = loop_fd,
	.arm = loop_arm,
	.reason = loop_reason,
	.deadline = loop_deadline,
};

/* ---- nets and nodes -------------------------------------------------------------------------- */

struct loop_net *loop_net_create(enum loop_mode mode, uint32_t mtu)
{
	struct loop_net *net = calloc(1, sizeof(*net));

	assert(net);
	net->automatic = true;
	net->mode = mode;
	net->mtu = mtu;
	net->budget = LOOP_UNLIMITED;
	net->now = 1000000000;
	return net;
}

void loop_net_destroy(struct loop_net *net)
{
	struct loop_grant *g;
	uint32_t i;

	for (i = 0; i < LOOP_NODES; i++)
		assert(!net->node[i]);
	loop_drop_all(net);
	assert(!net->grants && !net->regs);
	while ((g = net->grant)) {
		net->grant = g->next;
		free(g);
	}
	free(net->pkts);
	free(net);
}

int loop_open(struct loop_net *net, uint8_t node, struct sdr_uc **uc)
{
	struct loop_node *n;

	if (net->node[node])
		return -EBUSY;
	n = calloc(1, sizeof(*n));
	assert(n);
	n->uc.ops = &loop_ops;
	n->net = net;
	n->number = node;
	n->mode = net->mode;
	n->reg_min = net->reg_min;
	n->qpn_next = LOOP_QPN_FIRST;
	n->tail = &n->head;
	net->node[node] = n;
	*uc = &n->uc;
	return 0;
}
