/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Buffers and keeping in step: see sdr_perf_side.h.
 *
 * A buffer exists, and is registered, only where the operation needs it: on an RDMA device
 * registered memory is pinned.  Timer: a side that waits checks every ALIVE_EVERY whether the other
 * one is there, one question at a time; that the peer is gone shows as an error completion of the
 * question.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sdr_perf_side.h"

#define ALIVE_EVERY (5 * PERF_SEC)
#define IDLE_MS	    100
#define SYNC_SHORT  offsetof(struct perf_sync, last)

enum { KEY_TX = 1, KEY_RX, KEY_SYNC };

/* ---- steps ----------------------------------------------------------------------------------- */

static void sync_post(struct perf_side *s, struct perf_op *op)
{
	PERF_POST(&s->ep, fi_trecv(s->ep.ep, &s->sync[op->slot], sizeof(*s->sync),
				   fi_mr_desc(s->sync_mr), FI_ADDR_UNSPEC, PERF_TAG_SYNC, 0, op));
}

static void sync_came(struct perf_op *op, size_t len, int err)
{
	struct perf_side *s = op->side;
	const struct perf_sync *m = &s->sync[op->slot];

	if (err || len < SYNC_SHORT || m->step >= PERF_STEPS)
		perf_die("the peer's message makes no sense while %s", perf_doing);
	if (m->step != PERF_ALIVE) {
		memset(&s->said[m->step], 0, sizeof(*m));
		memcpy(&s->said[m->step], m, len);
		s->got[m->step] = true;
	}
	sync_post(s, op);
}

static void op_over(struct perf_op *op, size_t len, int err)
{
	(void)len;
	(void)err;
	op->busy = false;
}

void perf_side_say(struct perf_side *s, enum perf_step step, struct perf_sync *m)
{
	struct perf_sync *out = &s->sync[PERF_SYNC_RECVS];
	size_t len = step == PERF_DONE ? sizeof(*m) : SYNC_SHORT;

	memcpy(out, m, len);
	out->step = step;
	out->size = s->size;
	s->sync_tx.busy = true;
	PERF_POST(&s->ep, fi_tsend(s->ep.ep, out, len, fi_mr_desc(s->sync_mr), s->ep.peer,
				   PERF_TAG_SYNC, &s->sync_tx));
	while (s->sync_tx.busy)
		perf_ep_progress(&s->ep, IDLE_MS);
}

void perf_side_idle(struct perf_side *s)
{
	struct perf_sync *out = &s->sync[PERF_SYNC_RECVS + 1];
	uint64_t now;

	if (perf_ep_progress(&s->ep, IDLE_MS) || s->alive_tx.busy)
		return;
	now = perf_now();
	if (now - s->alive_tx.n < ALIVE_EVERY)
		return;
	s->alive_tx.n = now;
	s->alive_tx.busy = true;
	out->step = PERF_ALIVE;
	PERF_POST(&s->ep, fi_tsend(s->ep.ep, out, SYNC_SHORT, fi_mr_desc(s->sync_mr), s->ep.peer,
				   PERF_TAG_SYNC, &s->alive_tx));
}

const struct perf_sync *perf_side_hear(struct perf_side *s, enum perf_step step)
{
	while (!s->got[step])
		perf_side_idle(s);
	s->got[step] = false;
	if (s->said[step].size != s->size)
		perf_die("the peer is at another size while %s", perf_doing);
	return &s->said[step];
}

/* ---- buffers --------------------------------------------------------------------------------- */

/*
 * Who has which buffer, and how large; receives may come twice as many as the peer has sends in
 * flight.
 */
static void rooms_choose(struct perf_side *s)
{
	size_t room = (size_t)s->plan.size_max * s->plan.in_flight;
	bool both = s->plan.flags & PERF_F_BIDIR;

	s->active = s->client || both;
	s->target = !s->client || both;
	switch (s->plan.op) {
	case PERF_WRITE:
		s->tx_room = s->active ? room : 0;
		s->rx_room = s->target ? room : 0;
		break;
	case PERF_READ:
		s->tx_room = s->target ? room : 0;
		s->rx_room = s->active ? room : 0;
		break;
	case PERF_LAT:
		s->tx_room = s->rx_room = room;
		break;
	default:
		s->tx_room = s->active ? room : 0;
		s->rx_room = s->target ? 2 * room : 0;
	}
}

static struct fid_mr *room_mr(struct perf_side *s, uint8_t *p, size_t len, uint64_t access,
			      uint64_t key, char *why)
{
	struct iovec v = { p, len };
	struct fi_mr_attr attr = {
		.mr_iov = &v, .iov_count = 1, .access = access, .requested_key = key
	};

	perf_mem_attr(&s->mem, &attr);
	return perf_ep_mr(&s->ep, &attr, why);
}

static int rooms_open(struct perf_side *s, char *why)
{
	uint64_t tx = FI_SEND | FI_WRITE | (s->plan.op == PERF_READ ? FI_REMOTE_READ : 0);
	uint64_t rx = FI_RECV | FI_READ | (s->plan.op == PERF_WRITE ? FI_REMOTE_WRITE : 0);
	struct fid_mr *lent;
	uint8_t *base;

	if (s->tx_room) {
		s->tx = perf_mem_new(&s->mem, s->tx_room, why);
		s->tx_mr = s->tx ? room_mr(s, s->tx, s->tx_room, tx, KEY_TX, why) : NULL;
		if (!s->tx_mr)
			return -1;
	}
	if (s->rx_room) {
		s->rx = perf_mem_new(&s->mem, s->rx_room, why);
		s->rx_mr = s->rx ? room_mr(s, s->rx, s->rx_room, rx, KEY_RX, why) : NULL;
		if (!s->rx_mr)
			return -1;
	}
	lent = s->plan.op == PERF_READ ? s->tx_mr : s->rx_mr;
	base = s->plan.op == PERF_READ ? s->tx : s->rx;
	if (lent) {
		s->mine.key = fi_mr_key(lent);
		s->mine.addr =
			s->ep.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)base : 0;
	}
	return 0;
}

static void ops_init(struct perf_side *s)
{
	uint32_t i;

	for (i = 0; i < PERF_SLOTS_MAX; i++) {
		s->tx_op[i].side = s;
		s->tx_op[i].slot = i;
	}
	for (i = 0; i < 2 * PERF_SLOTS_MAX; i++) {
		s->rx_op[i].side = s;
		s->rx_op[i].slot = i;
	}
	s->sync_tx.done = s->alive_tx.done = op_over;
	s->alive_tx.n = perf_now();
}

int perf_side_open(struct perf_side *s, char *why)
{
	struct iovec v = { NULL, (PERF_SYNC_RECVS + 2) * sizeof(*s->sync) };
	struct fi_mr_attr sync = {
		.mr_iov = &v, .iov_count = 1, .access = FI_SEND | FI_RECV, .requested_key = KEY_SYNC
	};
	uint32_t i;

	rooms_choose(s);
	ops_init(s);
	if (s->plan.size_max > s->ep.info->ep_attr->max_msg_size)
		return perf_why(why, "messages of %llu bytes are above the provider's limit of %zu",
				(unsigned long long)s->plan.size_max,
				s->ep.info->ep_attr->max_msg_size);
	s->sync = calloc(PERF_SYNC_RECVS + 2, sizeof(*s->sync));
	if (!s->sync)
		return perf_why(why, "out of memory");
	v.iov_base = s->sync;
	s->sync_mr = perf_ep_mr(&s->ep, &sync, why);
	if (!s->sync_mr || rooms_open(s, why) || perf_ep_name(&s->ep, &s->mine.name, why))
		return -1;
	memcpy(s->mine.engine, s->ep.engine, sizeof(s->mine.engine));
	memcpy(s->mine.domain, s->ep.domain_name, sizeof(s->mine.domain));
	perf_mem_name(&s->mem, s->mine.memory, sizeof(s->mine.memory));
	s->size = s->plan.size_min;
	for (i = 0; i < PERF_SYNC_RECVS; i++) {
		s->sync_rx[i].side = s;
		s->sync_rx[i].slot = i;
		s->sync_rx[i].done = sync_came;
		sync_post(s, &s->sync_rx[i]);
	}
	return 0;
}

void perf_side_close(struct perf_side *s)
{
	struct fid_mr *mr[] = { s->tx_mr, s->rx_mr, s->sync_mr };
	unsigned int i;

	/* the endpoint goes first: no receive of it may outlive its memory */
	if (s->ep.ep)
		fi_close(&s->ep.ep->fid);
	s->ep.ep = NULL;
	for (i = 0; i < sizeof(mr) / sizeof(mr[0]); i++) {
		if (mr[i])
			fi_close(&mr[i]->fid);
	}
	perf_ep_close(&s->ep);
	perf_mem_free(&s->mem, s->tx, s->tx_room);
	perf_mem_free(&s->mem, s->rx, s->rx_room);
	free(s->sync);
}
