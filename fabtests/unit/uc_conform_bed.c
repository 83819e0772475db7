/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The bed of the conformance suite: opens a row's two ends, connects a QP each and keeps count of
 * what they report.  It sleeps as the contract tells a caller to: arm, then descriptor and
 * deadline.
 */
#include <poll.h>
#include <stdio.h>
#include <time.h>

#include "uc_conform_bed.h"

struct sdr_uc_qp_attr bed_qp_attr(struct bed *b, int side)
{
	return (struct sdr_uc_qp_attr){
		.channels = 2,
		.generations = 4,
		.split = SDR_IMM_SPLIT_DEFAULT,
		.mtu = BED_MTU,
		.max_msg = BED_MSG,
		.cookie = &b->seen[side],
		.rand = { 0x123456789abcdef0 + (uint64_t)side, 0xfeedface12345678 },
	};
}

/* On workers' threads. */
static bool bed_room(void *user, uint32_t worker)
{
	struct bed_crew *c = user;
	bool room;

	(void)worker;
	pthread_mutex_lock(&c->lock);
	room = c->n + (int)SDR_UC_POLL_MIN <= BED_CREW;
	pthread_mutex_unlock(&c->lock);
	return room;
}

static void bed_worked(void *user, uint32_t worker, const struct sdr_uc_ev *ev, int n)
{
	struct bed_crew *c = user;

	(void)worker;
	pthread_mutex_lock(&c->lock);
	memcpy(c->ev + c->n, ev, (size_t)n * sizeof(*ev));
	c->n += n;
	pthread_mutex_unlock(&c->lock);
}

int bed_open(struct bed *b, const struct uc_conform *row)
{
	int i, ret;

	memset(b, 0, sizeof(*b));
	b->row = row;
	b->dst = b->room + BED_GUARD;
	ret = row->open(row, &b->net);
	if (ret)
		return ret;
	memset(b->room, BED_FILL, sizeof(b->room));
	for (i = 0; i < (int)BED_MSG; i++)
		b->src[i] = (uint8_t)(i * 31 + i / 251);
	for (i = 0; i < 2; i++) {
		struct sdr_uc_qp_attr a = bed_qp_attr(b, i);

		bed_ops(b, i)->info(b->net.uc[i], &b->ui[i]);
		pthread_mutex_init(&b->crew[i].lock, NULL);
		if (b->ui[i].workers)
			bed_ops(b, i)->crew(
				b->net.uc[i],
				&(struct sdr_uc_crew){ bed_room, bed_worked, &b->crew[i] });
		bed_ops(b, i)->sockname(b->net.uc[i], &b->addr[i]);
		assert_true(b->ui[i].mtu >= BED_MTU);
		assert_true(b->ui[i].ctl_max >= SDR_CTL_MIN && b->ui[i].ctl_max <= SDR_CTL_MAX);
		assert_int_equal(bed_ops(b, i)->qp_create(b->net.uc[i], &a, &b->qp[i]), 0);
		assert_ptr_equal(b->qp[i]->uc, b->net.uc[i]);
		bed_ops(b, i)->qp_info(b->qp[i], &b->qpi[i]);
	}
	for (i = 0; i < 2; i++)
		assert_int_equal(
			bed_ops(b, i)->qp_connect(b->qp[i], &b->qpi[1 - i], &b->addr[1 - i]), 0);
	return 0;
}

struct bed *bed_of(void **state)
{
	static struct bed bed;
	int ret = bed_open(&bed, *state);

	if (ret == 77)
		skip();
	assert_int_equal(ret, 0);
	return &bed;
}

void bed_close(struct bed *b)
{
	int i;

	if (b->grant.impl)
		bed_ops(b, 1)->grant_end(b->qp[1], &b->grant);
	for (i = 0; i < 2; i++) {
		if (b->qp[i])
			bed_ops(b, i)->qp_destroy(b->qp[i]);
		b->qp[i] = NULL;
	}
	for (i = 0; i < 2; i++)
		bed_ops(b, i)->close(b->net.uc[i]);
	for (i = 0; i < 2; i++)
		pthread_mutex_destroy(&b->crew[i].lock);
	if (b->row->close)
		b->row->close(&b->net);
}

/* What workers have placed until now was reported, too, though no poll has counted it yet. */
void bed_forget(struct bed *b)
{
	int i;

	for (i = 0; i < 2; i++) {
		pthread_mutex_lock(&b->crew[i].lock);
		b->crew[i].n = 0;
		pthread_mutex_unlock(&b->crew[i].lock);
	}
	memset(b->seen, 0, sizeof(b->seen));
}

static void bed_placed(struct bed *b, struct bed_seen *s, const struct sdr_uc_ev *ev)
{
	const struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	uint32_t off = sdr_imm_off(&split, ev->p.imm);

	s->gen = ev->gen;
	s->channel = ev->channel;
	s->cookie = ev->p.cookie;
	s->bytes += ev->len;
	if (sdr_imm_id(&split, ev->p.imm) != BED_SLOT) {
		s->nother++;
		return;
	}
	assert_true(off < BED_PKTS);
	assert_true(ev->len <= BED_MTU);
	assert_int_equal(ev->p.imm,
			 sdr_imm_pack(&split, BED_SLOT, off, sdr_imm_frag(&split, BED_USER, off)));
	s->placed[off]++;
	s->nplaced++;
	(void)b;
}

/* What workers have placed goes before what the poll has returned. */
static int bed_collect(struct bed *b, int side)
{
	struct bed_crew *c = &b->crew[side];
	int i, n;

	if (!b->ui[side].workers)
		return 0;
	pthread_mutex_lock(&c->lock);
	for (i = 0; i < c->n; i++) {
		assert_int_equal(c->ev[i].kind, SDR_UC_EV_PLACED);
		bed_placed(b, &b->seen[side], &c->ev[i]);
	}
	n = c->n;
	c->n = 0;
	pthread_mutex_unlock(&c->lock);
	return n;
}

static int bed_poll(struct bed *b, int side)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	struct bed_seen *s = &b->seen[side];
	int n = bed_ops(b, side)->poll(b->net.uc[side], ev, SDR_UC_POLL_MIN), i, worked;

	assert_in_range(n, 0, SDR_UC_POLL_MIN);
	worked = bed_collect(b, side);
	for (i = 0; i < n; i++) {
		switch (ev[i].kind) {
		case SDR_UC_EV_PLACED:
			bed_placed(b, s, &ev[i]);
			break;
		case SDR_UC_EV_CTL:
			assert_true(ev[i].len <= sizeof(s->ctl));
			memcpy(s->ctl, ev[i].c.buf, ev[i].len);
			s->ctl_len = ev[i].len;
			s->from = *ev[i].c.from;
			s->nctl++;
			if (side && b->on_ctl)
				b->on_ctl(b);
			break;
		case SDR_UC_EV_QP:
			s->cookie = ev[i].q.cookie;
			assert_true(ev[i].q.err < 0);
			s->nqp++;
			break;
		default:
			assert_int_equal(ev[i].kind, SDR_UC_EV_ERROR);
			s->nerr++;
		}
	}
	return n + worked;
}

static void bed_sleep(struct bed *b, uint64_t now, uint64_t due)
{
	struct pollfd fd[2] = { { .events = POLLIN }, { .events = POLLIN } };
	struct timespec t = { .tv_sec = (time_t)((due - now) / 1000000000u),
			      .tv_nsec = (long)((due - now) % 1000000000u) };
	int i;

	for (i = 0; i < 2; i++)
		fd[i].fd = bed_ops(b, i)->fd(b->net.uc[i]);
	ppoll(fd, 2, &t, NULL);
}

bool bed_turn(struct bed *b, uint64_t until)
{
	uint64_t now, due = until;
	int i;

	assert_true(++b->rounds < BED_ROUNDS); /* an engine that never falls silent */
	if (bed_poll(b, 0) + bed_poll(b, 1))
		return true;
	now = bed_ops(b, 0)->now(b->net.uc[0]);
	if (now >= until)
		return false;
	for (i = 0; i < 2; i++) {
		uint64_t d = bed_ops(b, i)->deadline(b->net.uc[i]);

		if (bed_ops(b, i)->arm(b->net.uc[i]) || d <= now)
			return true;
		due = d < due ? d : due;
	}
	if (b->row->sleep)
		b->row->sleep(&b->net, due);
	else
		bed_sleep(b, now, due);
	return true;
}

void bed_wait(struct bed *b, const uint32_t *count, uint32_t n)
{
	uint64_t until = bed_ops(b, 0)->now(b->net.uc[0]) + UC_WAIT_NS;

	while (*count < n) {
		if (!bed_turn(b, until))
			fail_msg("%u of %u came; sender: \"%s\", receiver: \"%s\"", *count, n,
				 bed_ops(b, 0)->reason(b->net.uc[0]),
				 bed_ops(b, 1)->reason(b->net.uc[1]));
	}
}

void bed_wait_late(struct bed *b, uint32_t n)
{
	uint64_t until = bed_ops(b, 0)->now(b->net.uc[0]) + UC_WAIT_NS;
	struct sdr_uc_stats st;

	for (;;) {
		bed_ops(b, 1)->stats(b->net.uc[1], &st);
		if (st.pkts_late + b->seen[1].nplaced >= n)
			break;
		if (!bed_turn(b, until))
			fail_msg("%u of %u late ones came", (uint32_t)st.pkts_late, n);
	}
}

void bed_settle(struct bed *b)
{
	uint64_t ns = b->row->settle_ns ? b->row->settle_ns : 2000000u;
	uint64_t until = bed_ops(b, 0)->now(b->net.uc[0]) + ns;

	while (bed_turn(b, until))
		;
}

void bed_give(struct bed *b, uint32_t use, size_t len)
{
	if (b->ui[1].rkeyed)
		assert_int_equal(bed_ops(b, 1)->grant(b->qp[1], b->dst, len, NULL, NULL, &b->grant),
				 0);
	assert_int_equal(bed_ops(b, 1)->slot_bind(b->qp[1], BED_SLOT, use, b->dst, len, NULL), 0);
}

void bed_take_back(struct bed *b)
{
	bed_ops(b, 1)->slot_unbind(b->qp[1], BED_SLOT);
	if (b->grant.impl)
		bed_ops(b, 1)->grant_end(b->qp[1], &b->grant);
	assert_null(b->grant.impl);
}

struct sdr_uc_tx bed_write(struct bed *b, uint32_t first, uint32_t len)
{
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .len = len };

	t.buf = b->src + (size_t)first * BED_MTU;
	t.w.qp = b->qp[0];
	t.w.slot = BED_SLOT;
	t.w.first = first;
	t.w.user_imm = BED_USER;
	if (b->ui[1].rkeyed) {
		t.flags = SDR_UC_F_RKEYED;
		t.w.va = b->grant.va;
		t.w.rkey = b->grant.rkey;
	}
	return t;
}

struct sdr_uc_tx bed_ctl(struct bed *b, const void *buf, uint32_t len)
{
	struct sdr_uc_tx t = { .kind = SDR_UC_TX_CTL, .len = len, .buf = buf };

	t.to = &b->addr[1];
	return t;
}

/* A run that was taken in part has been advanced by whole packets and by nothing else. */
static void bed_check_part(const struct sdr_uc_tx *was, const struct sdr_uc_tx *is)
{
	uint32_t pkts;

	if (was->kind != SDR_UC_TX_WRITE) {
		assert_memory_equal(was, is, sizeof(*was));
		return;
	}
	pkts = is->w.first - was->w.first;
	assert_true((uint64_t)pkts * BED_MTU < was->len || !pkts);
	assert_int_equal(is->len, was->len - pkts * BED_MTU);
	assert_ptr_equal(is->buf, was->buf + (size_t)pkts * BED_MTU);
	assert_int_equal(is->w.slot, was->w.slot);
}

void bed_post(struct bed *b, struct sdr_uc_tx *v, int n)
{
	uint64_t until = bed_ops(b, 0)->now(b->net.uc[0]) + UC_WAIT_NS, now;
	struct sdr_uc_tx was[64];
	int done = 0, took;

	assert_in_range(n, 1, 64);
	while (done < n) {
		memcpy(was, v, (size_t)n * sizeof(*v));
		took = bed_ops(b, 0)->post(b->net.uc[0], v + done, n - done);
		assert_in_range(took, 0, n - done);
		done += took;
		if (done < n) {
			bed_check_part(&was[done], &v[done]);
			now = bed_ops(b, 0)->now(b->net.uc[0]);
			assert_true(now < until);
			bed_turn(b, now + BED_RETRY_NS); /* nothing says when there is room */
		}
	}
}

void bed_check(const struct bed *b, size_t at, size_t len)
{
	const uint8_t *p = b->dst;
	size_t i;

	assert_memory_equal(p + at, b->src + at, len);
	for (i = 0; i < sizeof(b->room); i++) {
		if (b->room + i >= p + at && b->room + i < p + at + len)
			continue;
		if (b->room[i] != BED_FILL)
			fail_msg("byte %zd was written", b->room + i - p);
	}
}

void bed_check_placed(const struct bed *b, uint32_t first, uint32_t n)
{
	const struct bed_seen *s = &b->seen[1];
	uint32_t i;

	for (i = 0; i < BED_PKTS; i++) {
		uint32_t want = i >= first && i < first + n;

		if (want ? !s->placed[i] : s->placed[i])
			fail_msg("packet %u was reported %u times", i, s->placed[i]);
		if (!(b->row->flags & UC_CONFORM_DUPS))
			assert_int_equal(s->placed[i], want);
	}
}
