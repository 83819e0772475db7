/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The simulated engine: one node's end of the network, behind the table of sdr_uc.h.
 *
 * Sending: a run is cut into packets, each of which takes the link to the node that has the peer's
 * address now.  Receiving: what arrives waits in the node's unread queue (bounded by rx_window, as
 * a socket buffer is) and is checked and placed by poll, under the rules of every engine: QPN, root
 * key, slot, generation, agreement of address and immediate, bounds.  With report_late the node
 * behaves as hardware whose root key table has a NULL entry: the bytes go nowhere and the
 * completion is reported all the same.  An rkeyed node is more of a device: data are placed under
 * their grant when they arrive (sdr_sim_grant.c), and poll only reports.
 *
 * In a world with virtual payload the same checks are made and no byte is read or written.
 * Time does not move here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_sim_impl.h"

/* ---- sending --------------------------------------------------------------------------------- */

/*
 * The link to an address.  NULL with *err 0: no node is there, the packet is lost; -EAGAIN: the
 * queue is full.
 */
static struct sdr_sim_lnk *sdr_sim_link_to(struct sdr_sim_eng *e, uint32_t number, uint32_t wire,
					   int *node, int *err)
{
	struct sdr_sim_world *w = e->w;
	struct sdr_sim_lnk *l;
	uint64_t until;

	*err = 0;
	*node = w->nodes[e->node].dead ? -1 : sdr_sim_node_by_addr(w, number);
	if (*node < 0)
		return NULL;
	l = sdr_sim_lnk_get(w, e->node, (uint32_t)*node);
	until = l ? sdr_sim_lnk_blocked(w, l, wire) : 0;
	if (until) {
		if (until < e->blocked_until || e->blocked_until <= w->now)
			e->blocked_until = until;
		*err = -EAGAIN;
		return NULL;
	}
	return l;
}

static void sdr_sim_launch(struct sdr_sim_eng *e, struct sdr_sim_lnk *l, struct sdr_sim_packet *p,
			   int node)
{
	p->from = e->w->nodes[e->node].addr;
	p->src = (uint16_t)e->node;
	if (l) {
		p->dst = (uint16_t)node;
		sdr_sim_lnk_send(e->w, l, p);
		return;
	}
	p->seq = e->w->seq++;
	sdr_sim_trace(e->w, SDR_SIM_T_NOROUTE, p);
	sdr_sim_packet_put(e->w, p);
}

static int sdr_sim_send_run(struct sdr_sim_eng *e, struct sdr_uc_tx *tx)
{
	struct sdr_sim_qp *qp = sdr_sim_qp(tx->w.qp);
	const struct sdr_uc_qp_attr *a = &qp->attr;
	struct sdr_sim_packet *p;
	struct sdr_sim_lnk *l;
	uint32_t len, wire, lane;
	int node, err;

	if (!qp->connected || qp->broken || tx->gen >= a->generations ||
	    tx->channel >= a->channels || tx->w.slot >> a->split.id_bits)
		return 0; /* lost */
	lane = (uint32_t)tx->gen * a->channels + tx->channel;
	do {
		len = tx->len < qp->mtu ? tx->len : qp->mtu;
		if (tx->w.first >> a->split.off_bits)
			return 0;
		wire = SDR_SIM_IP_UDP + SDR_DATA_OVERHEAD + len + sdr_wire_pad(len);
		l = sdr_sim_link_to(e, qp->peer_number, wire, &node, &err);
		if (err)
			return err;
		p = sdr_sim_packet_get(e->w, e->w->attr.virtual_payload ? 0 : len);
		if (!p)
			return -EAGAIN;
		if (p->buf)
			memcpy(p->buf, tx->buf, len);
		p->kind = SDR_SIM_DATA;
		p->flags = tx->flags & SDR_UC_F_CORRUPT ? SDR_SIM_P_CORRUPT : 0;
		p->len = len;
		p->wire = wire;
		p->to = qp->peer_number;
		p->qpn = qp->peer_qpn + lane;
		p->psn = qp->psn[lane]++ & SDR_PSN_MASK;
		p->rkey = sdr_rkey_of_epoch(qp->peer_rkey, tx->w.epoch);
		p->va = tx->w.slot * a->max_msg + (uint64_t)tx->w.first * qp->mtu;
		if (tx->flags & SDR_UC_F_RKEYED) {
			p->flags |= SDR_SIM_P_RKEYED;
			p->rkey = tx->w.rkey;
			p->va = tx->w.va + (uint64_t)tx->w.first * qp->mtu;
		}
		p->imm = sdr_imm_pack(&a->split, tx->w.slot, tx->w.first,
				      sdr_imm_frag(&a->split, tx->w.user_imm, tx->w.first));
		e->st.pkts_tx++;
		e->st.bytes_tx += len;
		sdr_sim_launch(e, l, p, node);
		if (len)
			tx->buf += len;
		tx->len -= len;
		tx->w.first++;
	} while (tx->len);
	return 0;
}

static int sdr_sim_send_ctl(struct sdr_sim_eng *e, struct sdr_uc_tx *tx)
{
	uint32_t wire = SDR_SIM_IP_UDP + SDR_CTL_OVERHEAD + tx->len + sdr_wire_pad(tx->len);
	struct sdr_sim_packet *p;
	struct sdr_uc_addr from;
	struct sdr_sim_lnk *l;
	int node, err;

	if (tx->len > e->attr.ctl_max)
		return 0; /* lost */
	l = sdr_sim_link_to(e, sdr_sim_addr_number(tx->to), wire, &node, &err);
	if (err)
		return err;
	p = sdr_sim_packet_get(e->w, sizeof(from) + tx->len);
	if (!p)
		return -EAGAIN;
	sdr_sim_node_addr(e->w, e->node, &from);
	memcpy(p->buf, &from, sizeof(from));
	memcpy(p->buf + sizeof(from), tx->buf, tx->len);
	p->kind = SDR_SIM_CTL;
	p->flags = tx->flags & SDR_UC_F_CORRUPT ? SDR_SIM_P_CORRUPT : 0;
	p->len = tx->len;
	p->wire = wire;
	p->to = sdr_sim_addr_number(tx->to);
	e->st.ctl_tx++;
	sdr_sim_launch(e, l, p, node);
	return 0;
}

static int sdr_sim_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n)
{
	struct sdr_sim_eng *e = sdr_sim_eng(uc);
	int i, err = 0;

	if (sdr_sim_node_stalled(e->w, e->node))
		return 0;
	for (i = 0; i < n; i++) {
		err = v[i].kind == SDR_UC_TX_WRITE ? sdr_sim_send_run(e, &v[i])
						   : sdr_sim_send_ctl(e, &v[i]);
		if (err)
			break;
	}
	if (err)
		e->st.tx_again++;
	e->st.sys_tx++;
	return i;
}

/* ---- receiving ------------------------------------------------------------------------------- */

void sdr_sim_node_arrive(struct sdr_sim_world *w, struct sdr_sim_packet *p)
{
	struct sdr_sim_node *nd = &w->nodes[p->dst];
	struct sdr_sim_eng *e = nd->eng;

	if (!e || nd->dead || nd->addr != p->to) {
		sdr_sim_trace(w, SDR_SIM_T_NOROUTE, p);
		sdr_sim_packet_put(w, p);
		return;
	}
	if (e->attr.rx_window && e->unread + p->wire > e->attr.rx_window) {
		nd->rcvbuf_drops++;
		sdr_sim_trace(w, SDR_SIM_T_RCVBUF, p);
		sdr_sim_packet_put(w, p);
		return;
	}
	if (p->kind == SDR_SIM_DATA && e->attr.rkeyed && !sdr_sim_grant_write(e, p)) {
		sdr_sim_packet_put(w, p);
		return;
	}
	e->unread += p->wire;
	sdr_sim_trace(w, SDR_SIM_T_ARRIVED, p);
	sdr_sim_fifo_push(&e->rx, p);
}

/* The placement rule.  True: ev is an event to report. */
static bool sdr_sim_place(struct sdr_sim_eng *e, const struct sdr_sim_packet *p,
			  struct sdr_uc_ev *ev)
{
	struct sdr_sim_qp *qp = sdr_sim_qp_find(e, p->qpn);
	const struct sdr_sim_slot *slot;
	const struct sdr_uc_qp_attr *a;
	uint64_t id, off;
	uint32_t lane;

	if (p->flags & (SDR_SIM_P_CORRUPT | SDR_SIM_P_RKEYED) || !qp || qp->broken)
		goto bad;
	a = &qp->attr;
	lane = p->qpn - qp->qpn;
	id = p->va / a->max_msg;
	off = p->va % a->max_msg;
	if (lane >= (uint32_t)a->channels * a->generations || p->len > qp->mtu ||
	    off + p->len > a->max_msg || id != sdr_imm_id(&a->split, p->imm) ||
	    off != (uint64_t)sdr_imm_off(&a->split, p->imm) * qp->mtu)
		goto bad;
	ev->kind = SDR_UC_EV_PLACED;
	ev->gen = (uint8_t)(lane / a->channels);
	ev->channel = (uint8_t)(lane % a->channels);
	ev->len = p->len;
	ev->p.cookie = a->cookie;
	ev->p.imm = p->imm;
	slot = &qp->slots[id];
	if (!sdr_rkey_near(qp->rkey, p->rkey,
			   slot->bound ? sdr_rkey_epoch(qp->rkey, slot->rkey) : 0))
		goto bad;
	/* Hardware (report_late) has one key: it cannot tell epochs. */
	if (!slot->bound || slot->gen != ev->gen ||
	    (slot->rkey != p->rkey && !e->attr.report_late)) {
		e->st.pkts_late++;
		sdr_sim_trace(e->w, SDR_SIM_T_LATE, p);
		return e->attr.report_late;
	}
	if (p->len && off + p->len > slot->len)
		goto bad;
	if (p->buf)
		memcpy(slot->buf + off, p->buf, p->len);
	e->st.pkts_rx++;
	e->st.bytes_rx += p->len;
	sdr_sim_trace(e->w, SDR_SIM_T_PLACED, p);
	return true;
bad:
	e->st.pkts_bad++;
	sdr_sim_trace(e->w, SDR_SIM_T_BAD, p);
	return false;
}

static void sdr_sim_held_free(struct sdr_sim_eng *e)
{
	struct sdr_sim_packet *p;

	while ((p = e->held)) {
		e->held = p->next;
		sdr_sim_packet_put(e->w, p);
	}
}

static int sdr_sim_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	struct sdr_sim_eng *e = sdr_sim_eng(uc);
	struct sdr_sim_packet *p;
	int n = 0;

	sdr_sim_held_free(e);
	if ((!e->rx.head && !e->broken) || sdr_sim_node_stalled(e->w, e->node))
		return 0;
	e->st.sys_rx++;
	n = sdr_sim_qp_report(e, ev, max);
	while (n < max && (p = e->rx.head)) {
		if (p->kind == SDR_SIM_DATA && e->held)
			break; /* the datagram before it may bind its slot */
		e->rx.head = p->next;
		e->unread -= p->wire;
		memset(&ev[n], 0, sizeof(ev[n]));
		if (p->kind == SDR_SIM_DATA) {
			n += e->attr.rkeyed ? sdr_sim_grant_report(e, p, &ev[n])
					    : sdr_sim_place(e, p, &ev[n]);
			sdr_sim_packet_put(e->w, p);
			continue;
		}
		if (p->flags & SDR_SIM_P_CORRUPT) {
			e->st.pkts_bad++;
			sdr_sim_trace(e->w, SDR_SIM_T_BAD, p);
			sdr_sim_packet_put(e->w, p);
			continue;
		}
		e->st.ctl_rx++;
		sdr_sim_trace(e->w, SDR_SIM_T_READ, p);
		ev[n].kind = SDR_UC_EV_CTL;
		ev[n].len = p->len;
		ev[n].c.from = (const struct sdr_uc_addr *)(const void *)p->buf;
		ev[n].c.buf = p->buf + sizeof(struct sdr_uc_addr);
		n++;
		p->next = e->held;
		e->held = p;
	}
	return n;
}

/* ---- the rest of the table ------------------------------------------------------------------- */

static int sdr_sim_mr_reg(struct sdr_uc *uc, void *buf, size_t len, void **mr)
{
	(void)uc;
	(void)len;
	*mr = buf; /* any memory will do */
	return 0;
}

static void sdr_sim_mr_dereg(struct sdr_uc *uc, void *mr)
{
	(void)uc;
	(void)mr;
}

static uint64_t sdr_sim_now(struct sdr_uc *uc)
{
	return sdr_sim_eng(uc)->w->now;
}

static int sdr_sim_fd(struct sdr_uc *uc)
{
	(void)uc;
	return -1;
}

static uint64_t sdr_sim_deadline(struct sdr_uc *uc)
{
	const struct sdr_sim_eng *e = sdr_sim_eng(uc);
	const struct sdr_sim_world *w = e->w;

	if (sdr_sim_node_stalled(w, e->node))
		return w->nodes[e->node].stall_until;
	if (e->rx.head || e->broken)
		return w->now;
	return e->blocked_until > w->now ? e->blocked_until : UINT64_MAX;
}

static void sdr_sim_info(struct sdr_uc *uc, struct sdr_uc_info *out)
{
	const struct sdr_sim_eng *e = sdr_sim_eng(uc);

	memset(out, 0, sizeof(*out));
	out->name = "sim";
	out->mtu = e->attr.mtu;
	out->ctl_max = e->attr.ctl_max;
	out->rx_window = e->attr.rx_window;
	out->rkeyed = e->attr.rkeyed != SDR_SIM_RKEYED_NONE;
	out->no_bytes = e->w->attr.virtual_payload;
	out->late = e->attr.rkeyed == SDR_SIM_RKEYED_MR	    ? "mr"
		    : e->attr.rkeyed == SDR_SIM_RKEYED_ROOT ? "root"
							    : "epoch";
	sdr_sim_node_addr(e->w, e->node, &out->addr);
}

static void sdr_sim_stats(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	*out = sdr_sim_eng(uc)->st;
}

static void sdr_sim_sockname(struct sdr_uc *uc, struct sdr_uc_addr *out)
{
	const struct sdr_sim_eng *e = sdr_sim_eng(uc);

	sdr_sim_node_addr(e->w, e->node, out);
}

static void sdr_sim_close(struct sdr_uc *uc)
{
	struct sdr_sim_eng *e = sdr_sim_eng(uc);
	struct sdr_sim_packet *p;

	sdr_sim_held_free(e);
	while ((p = e->rx.head)) {
		e->rx.head = p->next;
		sdr_sim_packet_put(e->w, p);
	}
	for (uint32_t i = 0; e->qps && i <= e->qps_mask; i++)
		if (e->qps[i])
			sdr_sim_qp_free(e->qps[i]);
	free(e->qps);
	sdr_sim_grants_free(e);
	e->w->nodes[e->node].eng = NULL;
	free(e);
}

static const char *sdr_sim_reason(struct sdr_uc *uc)
{
	(void)uc;
	return "";
}

static bool sdr_sim_arm(struct sdr_uc *uc)
{
	(void)uc;
	return false;
}

static const struct sdr_uc_ops sdr_sim_ops = {
	.close = sdr_sim_close,
	.info = sdr_sim_info,
	.stats = sdr_sim_stats,
	.sockname = sdr_sim_sockname,
	.now = sdr_sim_now,
	.qp_create = sdr_sim_qp_create,
	.qp_destroy = sdr_sim_qp_destroy,
	.qp_info = sdr_sim_qp_info,
	.qp_connect = sdr_sim_qp_connect,
	.qp_readdress = sdr_sim_qp_readdress,
	.slot_bind = sdr_sim_slot_bind,
	.slot_unbind = sdr_sim_slot_unbind,
	.grant = sdr_sim_grant,
	.grant_end = sdr_sim_grant_end,
	.mr_reg = sdr_sim_mr_reg,
	.mr_dereg = sdr_sim_mr_dereg,
	.post = sdr_sim_post,
	.poll = sdr_sim_poll,
	.fd = sdr_sim_fd,
	.arm = sdr_sim_arm,
	.reason = sdr_sim_reason,
	.deadline = sdr_sim_deadline,
};

int sdr_sim_node_open(struct sdr_sim_world *w, uint32_t node, const struct sdr_sim_node_attr *attr,
		      struct sdr_uc **uc)
{
	struct sdr_sim_eng *e;
	uint32_t room;

	if (node >= w->attr.nodes)
		return -EINVAL;
	if (w->nodes[node].eng)
		return -EBUSY;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	if (attr)
		e->attr = *attr;
	if (!e->attr.mtu)
		e->attr.mtu = SDR_MTU_DEFAULT;
	room = e->attr.mtu + SDR_DATA_OVERHEAD - SDR_CTL_OVERHEAD;
	if (!e->attr.ctl_max)
		e->attr.ctl_max = room < SDR_CTL_MIN   ? SDR_CTL_MIN
				  : room > SDR_CTL_MAX ? SDR_CTL_MAX
						       : room;
	if (e->attr.mtu < SDR_MTU_MIN || e->attr.mtu > SDR_MTU_MAX ||
	    e->attr.ctl_max < SDR_CTL_MIN || e->attr.ctl_max > SDR_CTL_MAX ||
	    e->attr.rkeyed > SDR_SIM_RKEYED_ROOT) {
		free(e);
		return -EINVAL;
	}
	e->base.ops = &sdr_sim_ops;
	e->w = w;
	e->node = node;
	sdr_sim_grants_init(e);
	w->nodes[node].eng = e;
	*uc = &e->base;
	return 0;
}

/* ---- what tests do to nodes ------------------------------------------------------------------ */

void sdr_sim_node_kill(struct sdr_sim_world *w, uint32_t node, bool dead)
{
	w->nodes[node].dead = dead;
}

static void sdr_sim_wake(void *user)
{
	(void)user; /* an event, so that the world's time passes through the end of the stall */
}

void sdr_sim_node_stall(struct sdr_sim_world *w, uint32_t node, uint64_t until)
{
	w->nodes[node].stall_until = until;
	(void)sdr_sim_world_at(w, until, sdr_sim_wake, NULL);
}

bool sdr_sim_node_stalled(const struct sdr_sim_world *w, uint32_t node)
{
	return w->now < w->nodes[node].stall_until;
}

bool sdr_sim_node_pending(const struct sdr_sim_world *w, uint32_t node)
{
	const struct sdr_sim_eng *e = w->nodes[node].eng;

	return e && (e->rx.head || e->broken) && !sdr_sim_node_stalled(w, node);
}

uint64_t sdr_sim_node_rcvbuf_drops(const struct sdr_sim_world *w, uint32_t node)
{
	return w->nodes[node].rcvbuf_drops;
}

const char *sdr_sim_what_name(enum sdr_sim_what what)
{
	static const char *const names[] = {
		[SDR_SIM_T_SENT] = "sent",	   [SDR_SIM_T_FILTERED] = "filtered",
		[SDR_SIM_T_QUEUE] = "queue",	   [SDR_SIM_T_LOST] = "lost",
		[SDR_SIM_T_BLACKOUT] = "blackout", [SDR_SIM_T_OVERSIZE] = "oversize",
		[SDR_SIM_T_NOROUTE] = "noroute",   [SDR_SIM_T_RCVBUF] = "rcvbuf",
		[SDR_SIM_T_ARRIVED] = "arrived",   [SDR_SIM_T_PLACED] = "placed",
		[SDR_SIM_T_LATE] = "late",	   [SDR_SIM_T_BAD] = "bad",
		[SDR_SIM_T_READ] = "read",
	};

	return what >= SDR_SIM_T_SENT && what <= SDR_SIM_T_READ ? names[what] : "?";
}
