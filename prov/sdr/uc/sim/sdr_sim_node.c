/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The simulated engine: one node's end of the network, behind the table of sdr_uc.h.
 *
 * Sending is sdr_sim_tx.c.  Receiving: what arrives waits in the node's unread queue (bounded by
 * rx_window, as a socket buffer is) and is checked and placed by poll, under the rules of every
 * engine:  QPN, root key, slot, generation, agreement of address and immediate, bounds.  With
 * report_late the node behaves as hardware whose root key table has a NULL entry: the bytes go
 * nowhere and the completion is reported all the same.  An rkeyed node is more of a device: data
 * are placed under their grant when they arrive (sdr_sim_grant.c), and poll only reports.
 *
 * In a world with virtual payload the same checks are made and no byte is read or written.
 * Time does not move here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "sdr_sim_addr.h"

/* ---- receiving ------------------------------------------------------------------------------- */

void sdr_sim_node_arrive(struct sdr_sim_world *w, struct sdr_sim_packet *p)
{
	struct sdr_sim_node *nd = &w->nodes[p->dst];
	struct sdr_sim_eng *e = nd->eng;
	int source = sdr_sim_source_at(nd, p->to);

	if (p->kind == SDR_SIM_RAW) {
		sdr_sim_raw_arrive(w, p);
		return;
	}
	if (!e || nd->dead || source < 0) {
		sdr_sim_trace(w, SDR_SIM_T_NOROUTE, p);
		sdr_sim_packet_put(w, p);
		return;
	}
	if (e->attr.rx_window && e->unread + p->wire > e->attr.rx_window) {
		nd->rcvbuf_drops++;
		e->st.rx_full++;
		sdr_sim_trace(w, SDR_SIM_T_RCVBUF, p);
		sdr_sim_packet_put(w, p);
		return;
	}
	p->source = (uint8_t)source;
	if (p->kind == SDR_SIM_ICMP)
		sdr_sim_path_hear(w, p);
	if (p->kind == SDR_SIM_DATA && e->attr.rkeyed && !sdr_sim_grant_write(e, p)) {
		sdr_sim_packet_put(w, p);
		return;
	}
	e->unread += p->wire;
	sdr_sim_trace(w, SDR_SIM_T_ARRIVED, p);
	sdr_sim_fifo_push(&e->rx, p);
}

/* It lies where its immediate says: a packet in one datagram, or a piece of one. */
static bool sdr_sim_part_check(const struct sdr_uc_piece *p, uint32_t mtu)
{
	return p->size ? sdr_uc_piece_check(p, mtu) : !p->off && p->len <= mtu;
}

static uint8_t sdr_sim_ecn_seen(const struct sdr_sim_eng *e, const struct sdr_sim_packet *p)
{
	return e->attr.ecn ? p->ecn : SDR_UC_NOT_ECT;
}

/* The way whose other end it came from. */
static uint8_t sdr_sim_via_back(const struct sdr_sim_qp *qp, const struct sdr_sim_packet *p)
{
	uint8_t i;

	for (i = 1; qp->vias && i < SDR_PATHS_MAX; i++)
		if (qp->via[i].set && qp->via[i].number == p->from &&
		    qp->via[i].source == p->source)
			return i;
	return 0;
}

/* The placement rule.  True: ev is an event to report. */
static bool sdr_sim_place(struct sdr_sim_eng *e, const struct sdr_sim_packet *p,
			  struct sdr_uc_ev *ev)
{
	struct sdr_uc_piece part = { .len = p->len, .whole = p->len, .size = p->piece };
	struct sdr_sim_qp *qp = sdr_sim_qp_find(e, p->qpn);
	const struct sdr_uc_qp_attr *a;
	struct sdr_sim_slot *slot;
	uint64_t id, off;
	uint32_t lane;

	if (p->flags & (SDR_SIM_P_CORRUPT | SDR_SIM_P_RKEYED) || !qp || qp->broken)
		goto bad;
	a = &qp->attr;
	lane = p->qpn - qp->qpn;
	id = p->va / a->max_msg;
	off = p->va % a->max_msg;
	part.off = off - (uint64_t)sdr_imm_off(&a->split, p->imm) * qp->mtu;
	if (part.size)
		part.whole = p->whole;
	if (lane >= (uint32_t)a->channels * a->generations || off + p->len > a->max_msg ||
	    id != sdr_imm_id(&a->split, p->imm) || !sdr_sim_part_check(&part, qp->mtu))
		goto bad;
	ev->kind = SDR_UC_EV_PLACED;
	ev->gen = (uint8_t)(lane / a->channels);
	ev->channel = (uint8_t)(lane % a->channels);
	ev->len = part.whole;
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
		return e->attr.report_late && !part.size;
	}
	if (part.whole && off - part.off + part.whole > slot->len)
		goto bad;
	if (p->buf)
		memcpy(slot->buf + off, p->buf, p->len);
	sdr_sim_trace(e->w, SDR_SIM_T_PLACED, p);
	e->st.pieces_rx += part.size != 0;
	ev->ecn = sdr_sim_ecn_seen(e, p);
	ev->via = sdr_sim_via_back(qp, p);
	if (part.size) {
		qp->piece_ce |= (uint32_t)(ev->ecn == SDR_UC_CE) << ev->via;
		if (qp->piece_ce >> ev->via & 1)
			ev->ecn = SDR_UC_CE;
	}
	if (part.size && !sdr_sim_slot_whole(qp, slot, sdr_imm_off(&a->split, p->imm), &part))
		return false;
	if (part.size)
		qp->piece_ce &= ~(1u << ev->via);
	e->st.pkts_rx++;
	e->st.bytes_rx += part.whole;
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

/* A control datagram or a message about the path. */
static void sdr_sim_show(struct sdr_sim_eng *e, const struct sdr_sim_packet *p,
			 struct sdr_uc_ev *ev)
{
	const struct sdr_uc_addr *addr = (const struct sdr_uc_addr *)(const void *)p->buf;

	ev->source = p->source;
	if (p->kind == SDR_SIM_ICMP) {
		ev->kind = SDR_UC_EV_PATH;
		ev->path.to = addr;
		ev->path.bytes = sdr_get_le32(sdr_sim_packet_payload(p));
		return;
	}
	e->st.ctl_rx++;
	ev->kind = SDR_UC_EV_CTL;
	ev->ecn = sdr_sim_ecn_seen(e, p);
	ev->len = p->len;
	ev->c.from = addr;
	ev->c.buf = sdr_sim_packet_payload(p);
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
		ev[n].since = e->attr.stamps ? p->due : 0;
		if (p->kind == SDR_SIM_DATA) {
			if (e->attr.rkeyed) {
				ev[n].ecn = sdr_sim_ecn_seen(e, p);
				n += sdr_sim_grant_report(e, p, &ev[n]);
			} else {
				n += sdr_sim_place(e, p, &ev[n]);
			}
			sdr_sim_packet_put(e->w, p);
			continue;
		}
		if (p->flags & SDR_SIM_P_CORRUPT || p->len > e->attr.probe_max) {
			e->st.pkts_bad++;
			sdr_sim_trace(e->w, SDR_SIM_T_BAD, p);
			sdr_sim_packet_put(e->w, p);
			continue;
		}
		sdr_sim_trace(e->w, SDR_SIM_T_READ, p);
		sdr_sim_show(e, p, &ev[n++]);
		p->next = e->held;
		e->held = p;
	}
	return n;
}

/* ---- the rest of the table ------------------------------------------------------------------- */

/* Any memory will do; what is sent is copied when it is posted. */
static int sdr_sim_mr_reg(struct sdr_uc *uc, void *buf, size_t len, const struct sdr_mem *mem,
			  void **mr)
{
	struct sdr_sim_mr *m;

	(void)buf;
	(void)len;
	if (mem && !sdr_sim_far(sdr_sim_eng(uc)))
		return -EOPNOTSUPP;
	m = malloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->mem = mem;
	*mr = m;
	return 0;
}

static void sdr_sim_mr_dereg(struct sdr_uc *uc, void *mr)
{
	(void)uc;
	free(mr);
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
	out->probe_max = e->attr.no_probe ? 0 : e->attr.probe_max;
	out->data_over = SDR_SIM_DATA_OVER;
	out->ctl_over = SDR_SIM_CTL_OVER;
	out->sources = e->attr.sources;
	out->ecn = e->attr.ecn;
	out->cuts = e->attr.rkeyed == SDR_SIM_RKEYED_NONE;
	out->far = e->attr.far;
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
	.source = sdr_sim_source,
	.now = sdr_sim_now,
	.qp_create = sdr_sim_qp_create,
	.qp_destroy = sdr_sim_qp_destroy,
	.qp_info = sdr_sim_qp_info,
	.qp_connect = sdr_sim_qp_connect,
	.qp_via = sdr_sim_qp_via,
	.qp_readdress = sdr_sim_qp_readdress,
	.qp_path = sdr_sim_qp_path,
	.via_path = sdr_sim_via_path,
	.path_mtu = sdr_sim_path_mtu,
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
	int err;

	if (node >= w->attr.nodes)
		return -EINVAL;
	if (w->nodes[node].eng || w->nodes[node].raw)
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
	if (!e->attr.probe_max)
		e->attr.probe_max = SDR_PROBE_MAX;
	if (!e->attr.sources)
		e->attr.sources = 1;
	if (e->attr.mtu < SDR_MTU_MIN || e->attr.mtu > SDR_MTU_MAX ||
	    e->attr.ctl_max < SDR_CTL_MIN || e->attr.ctl_max > SDR_CTL_MAX ||
	    e->attr.probe_max < e->attr.ctl_max || e->attr.probe_max > SDR_PROBE_MAX ||
	    e->attr.rkeyed > SDR_SIM_RKEYED_ROOT || e->attr.sources > SDR_PATHS_MAX)
		err = -EINVAL;
	else
		err = sdr_sim_sources_set(w, node, e->attr.sources);
	if (err) {
		free(e);
		return err;
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
