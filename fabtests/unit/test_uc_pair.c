/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How much a new engine is: one over a socket pair of this process, with its row of the registry
 * and its rows of the conformance suite, under fault injection too.
 *
 * Of two that are opened one after the other each holds one end.  A packet is one datagram: struct
 * pair_pkt in front of its payload, nothing is copied in between.  The epoch and generation of a
 * slot are compared as the one number they were made from.  Logic: pair_send, pair_place,
 * pair_poll; the rest is bookkeeping that every engine has.  One thread, as with any engine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "uc/sdr_uc_open.h"
#include "uc/sdr_uc_qp.h"
#include "uc_conform.h"

#define PAIR_MTU    4096u
#define PAIR_QPS    8u
#define PAIR_SNDBUF 8192	      /* bytes: some packets, so that runs are taken in part */
#define PAIR_BUF    (PAIR_MTU + 256u) /* a datagram with its header */

struct pair_pkt {
	uint32_t kind; /* enum sdr_uc_tx_kind */
	uint32_t qpn, rkey, use, channel, imm, len;
};

struct pair_slot {
	uint8_t *buf;
	size_t len;
	uint32_t use;
	bool bound;
};

struct pair_qp {
	struct sdr_uc_qp qp;
	struct sdr_uc_qp_attr attr;
	uint32_t qpn, rkey, peer_qpn, peer_rkey;
	struct pair_slot slot[];
};

struct pair {
	struct sdr_uc uc;
	int fd;
	struct sdr_uc_addr addr, peer;
	struct pair_qp *qp[PAIR_QPS];
	uint32_t qpn_next;
	struct sdr_uc_stats st;
	uint8_t buf[PAIR_BUF]; /* of the control datagram that was reported last */
};

static struct pair *pair_of(struct sdr_uc *uc)
{
	return (struct pair *)(void *)uc;
}

static struct pair_qp *pair_qp_of(struct sdr_uc_qp *qp)
{
	return (struct pair_qp *)(void *)qp;
}

/* ---- what moves packets ---------------------------------------------------------------------- */

/* False: the socket is full. */
static bool pair_send(struct pair *p, const struct pair_pkt *k, const uint8_t *buf, bool corrupt)
{
	struct iovec iov[2] = { { (void *)(uintptr_t)k, sizeof(*k) },
				{ (void *)(uintptr_t)buf, k->len } };
	struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };

	if (corrupt)
		return true; /* no check sum would find it: it is lost */
	if (sendmsg(p->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOBUFS;
	return true;
}

static bool pair_send_run(struct pair *p, struct sdr_uc_tx *t)
{
	struct pair_qp *q = pair_qp_of(t->w.qp);
	const struct sdr_imm_split *s = &q->attr.split;
	struct pair_pkt k = { .kind = SDR_UC_TX_WRITE, .qpn = q->peer_qpn, .rkey = q->peer_rkey };

	k.use = t->w.epoch * q->attr.generations + t->gen;
	k.channel = t->channel;
	do {
		k.len = t->len < q->attr.mtu ? t->len : q->attr.mtu;
		k.imm = sdr_imm_pack(s, t->w.slot, t->w.first,
				     sdr_imm_frag(s, t->w.user_imm, t->w.first));
		if (!pair_send(p, &k, t->buf, t->flags & SDR_UC_F_CORRUPT))
			return false;
		p->st.pkts_tx++;
		p->st.bytes_tx += k.len;
		t->buf += k.len;
		t->len -= k.len;
		t->w.first++;
	} while (t->len);
	return true;
}

static int pair_post(struct sdr_uc *uc, struct sdr_uc_tx *v, int n)
{
	struct pair *p = pair_of(uc);
	int i;

	for (i = 0; i < n; i++) {
		struct pair_pkt k = { .kind = SDR_UC_TX_CTL, .len = v[i].len };

		if (v[i].kind == SDR_UC_TX_WRITE
			    ? !pair_send_run(p, &v[i])
			    : !pair_send(p, &k, v[i].buf, v[i].flags & SDR_UC_F_CORRUPT))
			break;
		p->st.ctl_tx += v[i].kind == SDR_UC_TX_CTL;
	}
	p->st.tx_again += i < n;
	return i;
}

/* The placement rule. */
static bool pair_place(struct pair *p, const struct pair_pkt *k, const uint8_t *buf,
		       struct sdr_uc_ev *ev)
{
	struct pair_qp *q = NULL;
	struct pair_slot *e;
	uint64_t at;
	uint32_t i;

	for (i = 0; i < PAIR_QPS && !q; i++)
		q = p->qp[i] && p->qp[i]->qpn == k->qpn ? p->qp[i] : NULL;
	if (!q || q->rkey != k->rkey || k->channel >= q->attr.channels || k->len > q->attr.mtu)
		goto bad;
	e = &q->slot[sdr_imm_id(&q->attr.split, k->imm)];
	at = (uint64_t)sdr_imm_off(&q->attr.split, k->imm) * q->attr.mtu;
	if (!e->bound || e->use != k->use) {
		p->st.pkts_late++;
		return false;
	}
	if (k->len && (at > e->len || k->len > e->len - at))
		goto bad;
	if (k->len)
		memcpy(e->buf + at, buf, k->len);
	p->st.pkts_rx++;
	p->st.bytes_rx += k->len;
	*ev = (struct sdr_uc_ev){ .kind = SDR_UC_EV_PLACED, .len = k->len };
	ev->gen = (uint8_t)(k->use % q->attr.generations);
	ev->channel = (uint8_t)k->channel;
	ev->p.cookie = q->attr.cookie;
	ev->p.imm = k->imm;
	return true;
bad:
	p->st.pkts_bad++;
	return false;
}

/* Ends behind a control datagram: what follows may go to a slot that it binds. */
static int pair_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max)
{
	struct pair *p = pair_of(uc);
	struct pair_pkt k;
	int n = 0;

	while (n < max) {
		struct iovec iov[2] = { { &k, sizeof(k) }, { p->buf, sizeof(p->buf) } };
		struct msghdr m = { .msg_iov = iov, .msg_iovlen = 2 };
		ssize_t got = recvmsg(p->fd, &m, MSG_DONTWAIT);

		if (got < (ssize_t)sizeof(k) || (size_t)got != sizeof(k) + k.len)
			break; /* nothing there, or the other end is closed */
		if (k.kind == SDR_UC_TX_WRITE) {
			n += pair_place(p, &k, p->buf, &ev[n]);
			continue;
		}
		p->st.ctl_rx++;
		ev[n] = (struct sdr_uc_ev){ .kind = SDR_UC_EV_CTL, .len = k.len };
		ev[n].c.buf = p->buf;
		ev[n].c.from = &p->peer;
		ev[n].c.qpn = SDR_QPN_CTL;
		return n + 1;
	}
	return n;
}

/* ---- QPs and slots --------------------------------------------------------------------------- */

static int pair_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *a, struct sdr_uc_qp **qp)
{
	struct pair *p = pair_of(uc);
	int ret = sdr_uc_qp_attr_check(a, PAIR_MTU);
	struct pair_qp *q;
	uint32_t i;

	for (i = 0; i < PAIR_QPS && p->qp[i]; i++)
		;
	if (ret || i == PAIR_QPS)
		return ret ? ret : -ENOSPC;
	q = calloc(1, sizeof(*q) + (sizeof(q->slot[0]) << a->split.id_bits));
	if (!q)
		return -ENOMEM;
	q->qp.uc = uc;
	q->attr = *a;
	q->qpn = p->qpn_next++;
	q->rkey = (uint32_t)a->rand[1];
	p->qp[i] = q;
	*qp = &q->qp;
	return 0;
}

static void pair_qp_destroy(struct sdr_uc_qp *qp)
{
	struct pair *p = pair_of(qp->uc);
	uint32_t i;

	for (i = 0; p->qp[i] != pair_qp_of(qp); i++)
		;
	p->qp[i] = NULL;
	free(qp);
}

static void pair_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out)
{
	const struct pair_qp *q = pair_qp_of(qp);

	memset(out, 0, sizeof(*out));
	out->qpn = q->qpn;
	out->rkey = q->rkey;
	out->channels = q->attr.channels;
	out->generations = q->attr.generations;
	out->split = q->attr.split;
	out->mtu = q->attr.mtu;
	out->max_msg = q->attr.max_msg;
	out->addr_len = pair_of(qp->uc)->addr.len;
	memcpy(out->addr, pair_of(qp->uc)->addr.b, out->addr_len);
}

static int pair_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *peer,
			   const struct sdr_uc_addr *addr)
{
	struct pair_qp *q = pair_qp_of(qp);
	struct sdr_uc_addr to;
	int ret = sdr_uc_qp_meet(qp, peer, addr, &to);

	if (ret)
		return ret;
	q->peer_qpn = peer->qpn;
	q->peer_rkey = peer->rkey;
	return 0;
}

static void pair_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr)
{
	(void)qp; /* there is one other end */
	(void)addr;
}

static int pair_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
			  void *mr)
{
	struct pair_qp *q = pair_qp_of(qp);

	(void)mr;
	if (slot >> q->attr.split.id_bits || len > q->attr.max_msg)
		return -EINVAL;
	q->slot[slot] = (struct pair_slot){ .buf = buf, .len = len, .use = use, .bound = true };
	return 0;
}

static void pair_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot)
{
	if (!(slot >> pair_qp_of(qp)->attr.split.id_bits))
		pair_qp_of(qp)->slot[slot].bound = false;
}

/* ---- the rest of the table ------------------------------------------------------------------- */

static void pair_close(struct sdr_uc *uc)
{
	close(pair_of(uc)->fd);
	free(uc);
}

static void pair_info(struct sdr_uc *uc, struct sdr_uc_info *out)
{
	memset(out, 0, sizeof(*out));
	out->name = "pair";
	out->mtu = PAIR_MTU;
	out->ctl_max = SDR_CTL_MAX;
	out->late = "epoch";
	out->addr = pair_of(uc)->addr;
}

static void pair_stats(struct sdr_uc *uc, struct sdr_uc_stats *out)
{
	*out = pair_of(uc)->st;
}

static void pair_sockname(struct sdr_uc *uc, struct sdr_uc_addr *out)
{
	*out = pair_of(uc)->addr;
}

static uint64_t pair_now(struct sdr_uc *uc)
{
	struct timespec t;

	(void)uc;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int pair_mr_reg(struct sdr_uc *uc, void *buf, size_t len, const struct sdr_mem *mem,
		       void **mr)
{
	(void)uc;
	(void)len;
	if (mem)
		return -EOPNOTSUPP;
	*mr = buf;
	return 0;
}

static void pair_mr_dereg(struct sdr_uc *uc, void *mr)
{
	(void)uc;
	(void)mr;
}

static int pair_fd(struct sdr_uc *uc)
{
	return pair_of(uc)->fd;
}

static bool pair_arm(struct sdr_uc *uc)
{
	(void)uc;
	return false;
}

static const char *pair_reason(struct sdr_uc *uc)
{
	(void)uc;
	return "";
}

static uint64_t pair_deadline(struct sdr_uc *uc)
{
	(void)uc;
	return UINT64_MAX;
}

static const struct sdr_uc_ops pair_ops = {
	.close = pair_close,
	.info = pair_info,
	.stats = pair_stats,
	.sockname = pair_sockname,
	.now = pair_now,
	.qp_create = pair_qp_create,
	.qp_destroy = pair_qp_destroy,
	.qp_info = pair_qp_info,
	.qp_connect = pair_qp_connect,
	.qp_readdress = pair_qp_readdress,
	.slot_bind = pair_slot_bind,
	.slot_unbind = pair_slot_unbind,
	.mr_reg = pair_mr_reg,
	.mr_dereg = pair_mr_dereg,
	.post = pair_post,
	.poll = pair_poll,
	.fd = pair_fd,
	.arm = pair_arm,
	.reason = pair_reason,
	.deadline = pair_deadline,
};

/* ---- its row --------------------------------------------------------------------------------- */

static int pair_open(const struct sdr_uc_open_attr *a, struct sdr_uc **uc)
{
	static int waits = -1; /* the end of the pair whose first half was opened last */
	struct pair *p = calloc(1, sizeof(*p));
	int fd[2], second = waits >= 0, small = PAIR_SNDBUF;

	(void)a;
	if (!p)
		return -ENOMEM;
	p->fd = waits;
	waits = -1;
	if (!second && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fd)) {
		free(p);
		return -errno;
	}
	if (!second) {
		p->fd = fd[0];
		waits = fd[1];
	}
	setsockopt(p->fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	p->uc.ops = &pair_ops;
	p->qpn_next = SDR_QPN_MIN;
	p->addr = (struct sdr_uc_addr){ .len = 1, .b = { (uint8_t)(1 + second) } };
	p->peer = (struct sdr_uc_addr){ .len = 1, .b = { (uint8_t)(2 - second) } };
	*uc = &p->uc;
	return 0;
}

static uint32_t pair_ctl_max(const struct sockaddr *from, const struct sdr_uc_dev *dev)
{
	(void)from;
	(void)dev;
	return SDR_CTL_MAX;
}

static const struct sdr_uc_engine pair_engine = {
	.name = "pair",
	.is = "a socket pair",
	.one = "a socket pair",
	.what = "socket pair",
	.look = "there is one",
	.names = "pair",
	.ctl_max = pair_ctl_max,
	.open = pair_open,
};

static int conform_open(const struct uc_conform *c, struct uc_net *net)
{
	struct sdr_uc_open_attr a = { .fault = c->arg, .seed = 3 };
	int ret = sdr_uc_open_engine(&pair_engine, &a, &net->uc[0]);

	return ret ? ret : sdr_uc_open_engine(&pair_engine, &a, &net->uc[1]);
}

static const struct uc_conform rows[] = {
	{ .name = "pair", .open = conform_open },
	{ .name = "pair, delayed", .open = conform_open, .arg = "delay=1ms", .settle_ns = 5000000 },
};

int main(int argc, char **argv)
{
	return uc_conform_run(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
