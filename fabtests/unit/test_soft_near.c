/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers of one host through shared memory: that it is used, what is in it and in which order, what
 * becomes of it when the other side sleeps, stands still, closes, is killed, forks, or lies.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "wire/sdr_knock.h"
#include "uc/sdr_uc_addr.h"
#include "uc/soft/sdr_soft_near.h"
#include "test_soft_util.h"

#define MTU  4096u
#define PKTS 40u
#define LEN  (PKTS * MTU)
#define WAIT 5000u /* ms at most for what has to come */
#define SHM                                                                 \
	{                                                                   \
		.shm = 77, .off = SDR_SOFT_NO_DELAY, .mtu = MTU, .msg = LEN \
	}

static uint8_t src[LEN], dst[LEN];

static uint64_t ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* One message from a to b with a control datagram behind it; what came of it. */
static int round_trip(struct pair *p, uint32_t slot, uint32_t use)
{
	struct sdr_uc_tx v[2];
	int n, ctl = 0, i;

	fill(src, LEN, use * 77 + slot);
	memset(dst, 0, LEN);
	assert_int_equal(p->b->ops->slot_bind(p->qb, slot, use, dst, LEN, NULL), 0);
	v[0] = pair_write(p, slot, (uint8_t)(use % 4), src, 0, LEN);
	v[0].w.epoch = use / 4;
	v[1] = pair_ctl(&p->ib.addr, "end", 3);
	p->a->ops->now(p->a);
	p->b->ops->now(p->b);
	assert_int_equal(p->a->ops->post(p->a, v, 2), 2);
	n = pair_wait(p->b, p->ev, (int)PKTS + 1);
	for (i = 0; i < n; i++)
		if (p->ev[i].kind == SDR_UC_EV_CTL)
			ctl = i + 1;
	p->b->ops->slot_unbind(p->qb, slot);
	if (n == (int)PKTS + 1) {
		assert_memory_equal(dst, src, LEN);
		/* one queue: what was posted last comes last, if the ways were not changed */
		if (p->ev[0].since)
			assert_int_equal(ctl, n);
	}
	return n;
}

/* Until a's packets go through memory. */
static void meet(struct pair *p)
{
	uint64_t end = ms() + WAIT;
	uint32_t use = 0;

	while (!pair_stats(p->b).shm_rx && ms() < end)
		round_trip(p, 9, use++);
	assert_true(pair_stats(p->b).shm_rx > 0);
}

static void near__takes_everything(void **state)
{
	struct pair p;
	struct pair_opt opt = SHM;
	struct sdr_uc_stats before, a, b;
	uint32_t i;

	(void)state;
	pair_open(&p, &opt);
	meet(&p);
	before = pair_stats(p.a);
	/* some times around the ring */
	for (i = 0; i < 8 * SDR_SOFT_RING_BYTES / LEN; i++)
		assert_int_equal(round_trip(&p, i % 8, i / 8), PKTS + 1);
	a = pair_stats(p.a);
	b = pair_stats(p.b);
	assert_int_equal(a.sys_tx, before.sys_tx);
	assert_int_equal(a.shm_tx - before.shm_tx, i * (PKTS + 1));
	assert_int_equal(b.shm_rx, a.shm_tx);
	assert_int_equal(a.pkts_tx, b.pkts_rx);
	assert_int_equal(a.ctl_tx, b.ctl_rx);
	assert_int_equal(a.tx_lost + b.pkts_bad + b.pkts_late, 0);
	pair_close(&p);
}

/* An offer in front of packets is no reason for a poll to say that there is nothing. */
static void near__offer_in_front(void **state)
{
	struct pair_opt opt = SHM;
	struct sdr_uc_tx t;
	struct pair p;

	(void)state;
	pair_open(&p, &opt);
	assert_int_equal(p.b->ops->slot_bind(p.qb, 1, 0, dst, LEN, NULL), 0);
	t = pair_write(&p, 1, 0, src, 0, MTU);
	pair_post(&p, t);
	assert_int_equal(p.b->ops->poll(p.b, p.ev, PAIR_EVS), 1);
	assert_int_equal(p.ev[0].kind, SDR_UC_EV_PLACED);
	pair_close(&p);
}

static void near__only_if_wanted(void **state)
{
	struct pair p;
	struct pair_opt opt = SHM;
	uint32_t i;

	(void)state;
	opt.shm = 0;
	pair_open(&p, &opt);
	for (i = 0; i < 8; i++)
		assert_int_equal(round_trip(&p, 1, i), PKTS + 1);
	assert_int_equal(pair_stats(p.a).shm_tx, 0);
	pair_close(&p);
	/* and not for a little */
	opt = (struct pair_opt)SHM;
	opt.off = 0;
	pair_open(&p, &opt);
	round_trip(&p, 1, 0);
	usleep(1000);
	round_trip(&p, 1, 1);
	assert_int_equal(pair_stats(p.a).shm_tx, 0);
	for (i = 2; i < 200 && !pair_stats(p.b).shm_rx; i++)
		round_trip(&p, 1, i);
	assert_true(pair_stats(p.b).shm_rx > 0);
	pair_close(&p);
}

static void say(struct pair *p, uint32_t times)
{
	while (times--) {
		pair_post(p, pair_ctl(&p->ib.addr, "hello", 5));
		assert_int_equal(pair_wait(p->b, p->ev, 1), 1);
		assert_int_equal(p->ev[0].kind, SDR_UC_EV_CTL);
	}
}

/* Who sends nothing but control datagrams, as short messages are, has a ring after some hundred. */
static void near__control_only(void **state)
{
	struct pair_opt opt = SHM;
	struct pair p;
	uint32_t i;

	(void)state;
	opt.off = 0;
	pair_open(&p, &opt);
	for (i = 0; i < 4096 && !pair_stats(p.b).shm_rx; i++)
		say(&p, 1);
	assert_in_range(i, 200, 2000);
	assert_int_equal(pair_stats(p.b).ctl_rx, pair_stats(p.a).ctl_tx);
	pair_close(&p);
	/* not where nobody is known, or not any more, by whom a ring could be offered */
	pair_open(&p, &opt);
	say(&p, 100);
	p.a->ops->qp_destroy(p.qa);
	say(&p, 1000);
	assert_int_equal(pair_stats(p.a).shm_tx, 0);
	p.b->ops->qp_destroy(p.qb);
	p.a->ops->close(p.a);
	p.b->ops->close(p.b);
}

/* A number in a control datagram. */
static void number(struct pair *p, uint32_t n)
{
	pair_post(p, pair_ctl(&p->ib.addr, &n, sizeof(n)));
}

/* Numbers in their order; returns how many. */
static uint32_t numbers(struct pair *p, uint32_t from)
{
	int got = p->b->ops->poll(p->b, p->ev, SDR_UC_POLL_MIN);

	assert_true(got > 0);
	for (int i = 0; i < got; i++) {
		uint32_t n;

		assert_int_equal(p->ev[i].kind, SDR_UC_EV_CTL);
		memcpy(&n, p->ev[i].c.buf, sizeof(n));
		assert_int_equal(n, from + (uint32_t)i);
	}
	return (uint32_t)got;
}

/* What left by a socket before comes before what is in a new ring, however late both are read. */
static void near__follows_the_socket(void **state)
{
	struct pair_opt opt = SHM;
	uint32_t sent = 0, came = 0;
	struct pair p;

	(void)state;
	pair_open(&p, &opt);
	while (sent < 1000)
		number(&p, sent++);
	while (!pair_stats(p.a).shm_tx) {
		came += numbers(&p, came);
		number(&p, sent++);
	}
	assert_true(came < 900);
	for (uint32_t i = 0; i < 100; i++)
		number(&p, sent++);
	while (came < sent)
		came += numbers(&p, came);
	assert_int_equal(pair_stats(p.b).shm_rx, 101);
	pair_close(&p);
}

/* Datagrams that b sends itself. */
static void own(struct pair *p, int n)
{
	struct sdr_uc_tx t = pair_ctl(&p->ib.addr, "own", 3);

	while (n-- > 0)
		assert_int_equal(p->b->ops->post(p->b, &t, 1), 1);
}

/* Nor does it wait for ever where sockets are never empty. */
static void near__does_not_wait_for_ever(void **state)
{
	struct pair_opt opt = SHM;
	uint32_t polls = 0;
	struct pair p;

	(void)state;
	pair_open(&p, &opt);
	own(&p, 1000);
	do {
		number(&p, 0);
		assert_true(++polls < 1000);
		own(&p, p.b->ops->poll(p.b, p.ev, SDR_UC_POLL_MIN));
	} while (!pair_stats(p.b).shm_rx);
	pair_close(&p);
}

/* Messages that go before post stops; *t: the rest of the one that does not. */
static uint32_t post_till_full(struct pair *p, struct sdr_uc_tx *t)
{
	uint32_t n = 0;

	for (; n < 1000; n++) {
		*t = pair_write(p, 1, 0, src, 0, LEN);
		if (p->a->ops->post(p->a, t, 1) != 1)
			break;
	}
	assert_true(n > 3 && n < 1000);
	return n;
}

static void take_all(struct pair *p)
{
	while (pair_wait(p->b, p->ev, PAIR_EVS) > 0)
		;
}

/* A full ring stops post; when the peer takes out, what is left goes, and nothing is lost. */
static void near__full(void **state)
{
	struct pair_opt opt = SHM;
	struct sdr_uc_tx t;
	struct pair p;
	uint64_t placed;
	uint32_t n;

	(void)state;
	pair_open(&p, &opt);
	meet(&p);
	placed = pair_stats(p.b).pkts_rx;
	assert_int_equal(p.b->ops->slot_bind(p.qb, 1, 0, dst, LEN, NULL), 0);
	n = post_till_full(&p, &t);
	assert_int_equal(pair_stats(p.a).tx_lost, 0);
	take_all(&p);
	assert_int_equal(p.a->ops->post(p.a, &t, 1), 1);
	take_all(&p);
	assert_int_equal(pair_stats(p.b).pkts_rx - placed, (n + 1) * PKTS);
	/* who takes nothing out for long loses, and others do not wait for it */
	post_till_full(&p, &t);
	usleep(12000);
	assert_int_equal(p.a->ops->post(p.a, &t, 1), 1);
	assert_true(pair_stats(p.a).tx_lost > 0);
	take_all(&p);
	assert_int_equal(round_trip(&p, 2, 0), PKTS + 1);
	pair_close(&p);
}

/* The receiver has taken all there is, and may sleep on that descriptor. */
static struct pollfd falls_asleep(struct pair *p)
{
	struct pollfd fd = { .fd = p->b->ops->fd(p->b), .events = POLLIN };

	do {
		while (p->b->ops->poll(p->b, p->ev, PAIR_EVS) > 0)
			;
	} while (p->b->ops->arm(p->b));
	assert_int_equal(poll(&fd, 1, 0), 0);
	return fd;
}

static void is_woken(struct pair *p, struct pollfd *fd)
{
	pair_post(p, pair_ctl(&p->ib.addr, "up", 2));
	assert_int_equal(poll(fd, 1, WAIT), 1);
}

static void has_heard(struct pair *p)
{
	assert_int_equal(pair_wait(p->b, p->ev, 1), 1);
	assert_int_equal(p->ev[0].kind, SDR_UC_EV_CTL);
}

static void near__wakes_a_sleeper(void **state)
{
	struct pair_opt opt = SHM;
	struct pollfd fd;
	struct pair p;
	int i;

	(void)state;
	pair_open(&p, &opt);
	meet(&p);
	for (i = 0; i < 20; i++) {
		fd = falls_asleep(&p);
		is_woken(&p, &fd);
		has_heard(&p);
	}
	/* one that has something is not put to sleep */
	pair_post(&p, pair_ctl(&p.ib.addr, "up", 2));
	assert_true(p.b->ops->arm(p.b));
	pair_close(&p);
}

/* One thread sleeps, as arm has let it, and another one polls: rearm gives the notice back. */
static void near__wakes_a_sleeper_though_another_polled(void **state)
{
	struct pair_opt opt = SHM;
	struct pollfd fd;
	struct pair p;
	int i;

	(void)state;
	pair_open(&p, &opt);
	meet(&p);
	for (i = 0; i < 20; i++) {
		fd = falls_asleep(&p);
		assert_int_equal(p.b->ops->poll(p.b, p.ev, PAIR_EVS), 0);
		assert_false(p.b->ops->rearm(p.b));
		is_woken(&p, &fd);
		/* and says when there is something to wake it for */
		assert_true(p.b->ops->rearm(p.b));
		has_heard(&p);
	}
	pair_close(&p);
}

/* The address has another owner: what is sent there arrives, by the socket. */
static void arrives_anew(struct pair *p, const struct sdr_uc_addr *addr)
{
	char name[80] = "soft:", err[SDR_UC_ERR_LEN] = "";
	struct sdr_uc_open_attr oa = { .err = err, .err_len = sizeof(err) };
	uint64_t end = ms() + WAIT;
	struct sdr_uc *uc;
	int n = 0;

	sdr_uc_addr_format(addr, name + 5, sizeof(name) - 5);
	if (sdr_uc_open(name, &oa, &uc))
		fail_msg("open %s: %s", name, err);
	while (!n && ms() < end) {
		p->a->ops->now(p->a);
		pair_post(p, pair_ctl(addr, "hello", 5));
		n = pair_wait(uc, p->ev, 1);
	}
	assert_int_equal(n, 1);
	assert_int_equal(p->ev[0].len, 5);
	uc->ops->close(uc);
}

static void near__closes(void **state)
{
	struct pair_opt opt = SHM;
	struct sdr_uc_addr addr;
	struct pair p;

	(void)state;
	pair_open(&p, &opt);
	meet(&p);
	addr = p.ib.addr;
	p.b->ops->qp_destroy(p.qb);
	p.b->ops->close(p.b);
	arrives_anew(&p, &addr);
	p.a->ops->qp_destroy(p.qa);
	p.a->ops->close(p.a);
}

/* b in a process of its own, which takes what comes until it is killed. */
static pid_t child_receives(const struct pair *p, int tell)
{
	struct pair_opt opt = SHM;
	struct sdr_uc_qp_attr qa = { .channels = 1, .generations = 4, .mtu = MTU, .max_msg = LEN };
	struct sdr_uc_open_attr oa = { .off = opt.off, .shm = 4, .mtu = MTU };
	struct sdr_wire_qp_info info;
	static struct sdr_uc_ev ev[PAIR_EVS];
	struct sdr_uc_qp *qp;
	struct sdr_uc *uc;
	pid_t pid = fork();

	if (pid)
		return pid;
	qa.split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	qa.rand[0] = 0x765432;
	qa.rand[1] = 0x55555;
	if (sdr_uc_open("soft:127.0.0.1", &oa, &uc) || uc->ops->qp_create(uc, &qa, &qp) ||
	    uc->ops->qp_connect(qp, &p->wa, NULL))
		_exit(1);
	uc->ops->qp_info(qp, &info);
	if (write(tell, &info, sizeof(info)) != sizeof(info))
		_exit(1);
	for (;;) {
		struct sdr_uc_stats st;

		uc->ops->now(uc);
		while (uc->ops->poll(uc, ev, PAIR_EVS) > 0)
			;
		uc->ops->stats(uc, &st);
		if (write(tell, &st, sizeof(st)) != sizeof(st))
			_exit(1);
		usleep(200);
	}
}

static void near__is_killed(void **state)
{
	struct pair_opt opt = SHM;
	uint64_t end = ms() + WAIT;
	struct sdr_uc_stats st = { 0 };
	struct sdr_wire_qp_info info;
	struct sdr_uc_addr addr = { 0 };
	struct sdr_uc_tx t;
	struct pair p;
	int fds[2], ret;
	pid_t pid;

	(void)state;
	pair_open(&p, &opt);
	assert_int_equal(pipe(fds), 0);
	pid = child_receives(&p, fds[1]);
	assert_true(pid > 0);
	close(fds[1]);
	assert_int_equal(read(fds[0], &info, sizeof(info)), sizeof(info));
	addr.len = (uint8_t)info.addr_len;
	memcpy(addr.b, info.addr, info.addr_len);
	assert_int_equal(p.a->ops->qp_connect(p.qa, &info, NULL), 0);
	while (!st.shm_rx && ms() < end) {
		p.a->ops->now(p.a);
		t = pair_write(&p, 1, 0, src, 0, LEN);
		(void)p.a->ops->post(p.a, &t, 1);
		assert_int_equal(read(fds[0], &st, sizeof(st)), sizeof(st));
	}
	assert_true(st.shm_rx > 0);
	assert_int_equal(st.pkts_bad, 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &ret, 0), pid);
	close(fds[0]);
	arrives_anew(&p, &addr);
	pair_close(&p);
}

/* A peer of a, each in an engine of its own. */
struct other {
	struct sdr_uc_qp *qa, *qb;
	struct sdr_uc *b; /* NULL: closed */
};

static void other_open(struct other *o, struct sdr_uc *a, uint32_t i)
{
	struct sdr_uc_open_attr oa = {
		.off = SDR_SOFT_NO_DELAY, .shm = 1000 * (i + 2), .mtu = MTU, .rcvbuf = 65536
	};
	struct sdr_uc_qp_attr qa = { .channels = 1, .generations = 4, .mtu = MTU, .max_msg = LEN };
	struct sdr_wire_qp_info wa, wb;

	qa.split = (struct sdr_imm_split)SDR_IMM_SPLIT_DEFAULT;
	qa.rand[0] = 77 * i;
	qa.rand[1] = 99 * i;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", &oa, &o->b), 0);
	assert_int_equal(a->ops->qp_create(a, &qa, &o->qa), 0);
	assert_int_equal(o->b->ops->qp_create(o->b, &qa, &o->qb), 0);
	a->ops->qp_info(o->qa, &wa);
	o->b->ops->qp_info(o->qb, &wb);
	assert_int_equal(a->ops->qp_connect(o->qa, &wb, NULL), 0);
	assert_int_equal(o->b->ops->qp_connect(o->qb, &wa, NULL), 0);
}

static void other_close(struct other *o)
{
	o->b->ops->qp_destroy(o->qb);
	o->b->ops->close(o->b);
	o->b = NULL;
}

/* Something for each; how many have got something through memory by then. */
static uint32_t others_round(struct other *o, uint32_t n, struct sdr_uc *a, uint32_t rounds)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	uint32_t rings = 0;

	a->ops->now(a);
	for (; n; n--, o++) {
		struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE, .len = 8, .buf = src };

		if (!o->b)
			continue;
		t.w.qp = o->qa;
		assert_int_equal(a->ops->post(a, &t, 1), 1);
		assert_int_equal(o->b->ops->poll(o->b, ev, SDR_UC_POLL_MIN), 0);
		rings += pair_stats(o->b).shm_rx > 0;
		/* whatever the way, it came: no slot is bound */
		assert_int_equal(pair_stats(o->b).pkts_late, rounds);
	}
	return rings;
}

/* Rings are bounded: peers beyond go by the socket, until one that had a ring is gone. */
static void near__more_peers_than_rings(void **state)
{
	struct sdr_uc_open_attr oa = { .off = SDR_SOFT_NO_DELAY, .shm = 1, .mtu = MTU };
	struct other o[SDR_SOFT_NEARS + 2];
	const uint32_t n = SDR_SOFT_NEARS + 2;
	struct sdr_uc *a;
	uint32_t i;

	(void)state;
	assert_int_equal(sdr_uc_open("soft:127.0.0.1", &oa, &a), 0);
	for (i = 0; i < n; i++)
		other_open(&o[i], a, i);
	others_round(o, n, a, 1);
	others_round(o, n, a, 2);
	assert_int_equal(others_round(o, n, a, 3), SDR_SOFT_NEARS);
	other_close(&o[7]);
	assert_int_equal(others_round(o, n, a, 4), SDR_SOFT_NEARS - 1);
	usleep(1100000); /* it is looked for such once a second */
	others_round(o, n, a, 5);
	assert_int_equal(others_round(o, n, a, 6), SDR_SOFT_NEARS);
	for (i = 0; i < n; i++) {
		a->ops->qp_destroy(o[i].qa);
		if (o[i].b)
			other_close(&o[i]);
	}
	a->ops->close(a);
}

/* The rings are the parent's: what the child sends goes by the socket, and both arrive. */
static void near__child_sends(void **state)
{
	struct pair_opt opt = SHM;
	struct sdr_uc_stats before;
	struct pair p;
	int ret, i;
	pid_t pid;

	(void)state;
	pair_open(&p, &opt);
	meet(&p);
	before = pair_stats(p.b);
	pid = fork();
	if (!pid) {
		struct sdr_uc_tx t = pair_ctl(&p.ib.addr, "child", 5);

		ret = p.a->ops->post(p.a, &t, 1);
		p.a->ops->qp_destroy(p.qa);
		p.a->ops->close(p.a);
		p.b->ops->qp_destroy(p.qb);
		p.b->ops->close(p.b);
		_exit(ret != 1);
	}
	assert_int_equal(waitpid(pid, &ret, 0), pid);
	assert_int_equal(ret, 0);
	assert_int_equal(pair_wait(p.b, p.ev, 1), 1);
	assert_int_equal(p.ev[0].len, 5);
	assert_int_equal(pair_stats(p.b).shm_rx, before.shm_rx);
	for (i = 0; i < 4; i++)
		assert_int_equal(round_trip(&p, 3, (uint32_t)i), PKTS + 1);
	assert_true(pair_stats(p.b).shm_rx > before.shm_rx);
	pair_close(&p);
}

/* An offer of what is no ring, of one that is not the peer's, or from elsewhere. */
static void near__false_offers(void **state)
{
	static const struct sdr_wire_ctl ctl = { .qkey = SDR_KNOCK_QKEY, .src_qpn = SDR_QPN_CTL };
	struct sdr_wire_knock k = { .kind = SDR_KNOCK_RING, .nonce = 5, .pid = (uint32_t)getpid() };
	struct sockaddr_storage to;
	struct pair_opt opt = SHM;
	struct sdr_soft_ring r;
	uint8_t pkt[SDR_CTL_OVERHEAD + SDR_KNOCK_MAX];
	struct pair p;
	int fd, len, i;

	(void)state;
	opt.off = 0;
	pair_open(&p, &opt);
	len = sdr_uc_addr_to_sockaddr(&p.ib.addr, &to);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0);
	assert_int_equal(sdr_soft_ring_make(&r, 5, 1), 0);
	/* a bell, which anybody may ring; the right key, a wrong one, another kind of descriptor */
	for (i = 0; i < 4; i++) {
		size_t n;

		k.kind = i ? SDR_KNOCK_RING : SDR_KNOCK_BELL;
		k.qpn = p.wb.qpn;
		k.rkey = i == 2 ? p.wb.rkey ^ 1 : p.wb.rkey;
		k.fd = (uint32_t)(i == 3 ? 0 : r.fd);
		n = sdr_wire_knock_encode(pkt + SDR_CTL_HDR, &k);
		sdr_wire_ctl_encode(pkt, &ctl, (uint32_t)n);
		n += SDR_CTL_HDR;
		sdr_put_le32(pkt + n,
			     sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), pkt, n)));
		n += SDR_ICRC_LEN;
		assert_int_equal(sendto(fd, pkt, n, 0, (struct sockaddr *)&to, (socklen_t)len), n);
		pair_quiet(p.b);
		assert_int_equal(pair_stats(p.b).pkts_bad, i);
	}
	assert_int_equal(r.head->reads, 0);
	sdr_soft_ring_close(&r, true);
	close(fd);
	pair_close(&p);
}

/* ---- the ring itself ------------------------------------------------------------------------- */

static struct iovec train[2] = { { .iov_base = src, .iov_len = 100 },
				 { .iov_base = src + 100, .iov_len = 900 } };
static const struct sdr_soft_ring_train head = { .bytes = 1000, .seg = 500, .since = 3, .ecn = 2 };

static void ring_pair(struct sdr_soft_ring *tx, struct sdr_soft_ring *rx)
{
	assert_int_equal(sdr_soft_ring_make(tx, 9, 4000), 0);
	assert_false(sdr_soft_ring_lives(tx, true));
	assert_int_equal(sdr_soft_ring_open(rx, getpid(), tx->fd, 9, 4000), 0);
	assert_true(sdr_soft_ring_lives(tx, true));
	assert_true(sdr_soft_ring_lives(rx, false));
}

static void ring__opens_its_own(void **state)
{
	struct sdr_soft_ring tx, rx, more;
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_int_equal(sdr_soft_ring_make(&tx, 9, 4000), 0);
	assert_int_equal(sdr_soft_ring_open(&rx, getpid(), tx.fd, 8, 4000), -EBADMSG);
	assert_int_equal(sdr_soft_ring_open(&rx, getpid(), tx.fd, 9, 4001), -EBADMSG);
	assert_int_equal(sdr_soft_ring_open(&rx, getpid(), fd, 9, 4000), -EBADMSG);
	assert_true(sdr_soft_ring_open(&rx, getpid(), 1 << 20, 9, 4000) < 0);
	sdr_soft_ring_close(&tx, true);
	close(fd);
	ring_pair(&tx, &rx);
	assert_true(sdr_soft_ring_open(&more, getpid(), tx.fd, 9, 4000) < 0); /* one reads */
	assert_int_equal(ftruncate(tx.fd, 0), -1);			      /* sealed */
	sdr_soft_ring_close(&tx, true);
	assert_false(sdr_soft_ring_lives(&rx, false));
	sdr_soft_ring_close(&rx, false);
}

static void ring__goes_round(void **state)
{
	struct sdr_soft_ring_train t;
	struct sdr_soft_ring tx, rx;
	uint32_t in = 0, out = 0, i;
	bool broken;
	uint8_t *p;
	int ret;

	(void)state;
	fill(src, 1000, 4);
	ring_pair(&tx, &rx);
	for (i = 0; i < 20; i++) {
		while (!sdr_soft_ring_put(&tx, train, 2, &head))
			in++;
		assert_int_equal(sdr_soft_ring_put(&tx, train, 2, &head), -EAGAIN);
		while ((p = sdr_soft_ring_next(&rx, &t, &broken))) {
			assert_memory_equal(&t, &head, sizeof(t));
			assert_memory_equal(p, src, 1000);
			if (++out % 7 == 0)
				break;
		}
		assert_false(broken);
		sdr_soft_ring_free(&rx);
	}
	assert_true(in > 1000 && out == 20 * 7);
	sdr_soft_ring_close(&rx, false);
	do
		ret = sdr_soft_ring_put(&tx, train, 2, &head);
	while (!ret);
	assert_int_equal(ret, -EPIPE);
	sdr_soft_ring_close(&tx, true);
}

/* Whatever the sender writes, the receiver finds a train inside of it, or that it is broken. */
static void ring__sender_lies(void **state)
{
	struct sdr_soft_ring_train t;
	struct sdr_soft_ring tx, rx;
	uint32_t seed = 1, i, k, bad = 0;
	bool broken;
	uint8_t *p;

	(void)state;
	for (i = 0; i < 300; i++) {
		ring_pair(&tx, &rx);
		for (k = 0; k < 20; k++)
			assert_int_equal(sdr_soft_ring_put(&tx, train, 2, &head), 0);
		fill((uint8_t *)&seed, sizeof(seed), seed + i);
		if (i % 3 == 0)
			tx.head->in =
				i % 2 ? seed : tx.head->in + SDR_SOFT_RING_BYTES + seed % 4096;
		else
			fill(tx.data + seed % 8192, i % 3 == 1 ? 8 : 8192, seed);
		broken = false;
		for (k = 0; k < 10000 && (p = sdr_soft_ring_next(&rx, &t, &broken)); k++) {
			assert_true(t.bytes && t.bytes < SDR_SOFT_RING_TRAIN && t.seg);
			assert_true(p >= rx.data &&
				    p + t.bytes <= rx.data + 2 * SDR_SOFT_RING_BYTES);
		}
		bad += broken;
		sdr_soft_ring_close(&rx, false);
		sdr_soft_ring_close(&tx, true);
	}
	assert_true(bad > 100);
}

static void ring__receiver_lies(void **state)
{
	struct sdr_soft_ring tx, rx;

	(void)state;
	ring_pair(&tx, &rx);
	while (!sdr_soft_ring_put(&tx, train, 2, &head))
		;
	tx.head->out = tx.in + 64;
	assert_int_equal(sdr_soft_ring_put(&tx, train, 2, &head), -EPIPE);
	sdr_soft_ring_close(&rx, false);
	sdr_soft_ring_close(&tx, true);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near__takes_everything),
		cmocka_unit_test(near__offer_in_front),
		cmocka_unit_test(near__only_if_wanted),
		cmocka_unit_test(near__control_only),
		cmocka_unit_test(near__follows_the_socket),
		cmocka_unit_test(near__does_not_wait_for_ever),
		cmocka_unit_test(near__full),
		cmocka_unit_test(near__wakes_a_sleeper),
		cmocka_unit_test(near__wakes_a_sleeper_though_another_polled),
		cmocka_unit_test(near__closes),
		cmocka_unit_test(near__is_killed),
		cmocka_unit_test(near__child_sends),
		cmocka_unit_test(near__more_peers_than_rings),
		cmocka_unit_test(near__false_offers),
		cmocka_unit_test(ring__opens_its_own),
		cmocka_unit_test(ring__goes_round),
		cmocka_unit_test(ring__sender_lies),
		cmocka_unit_test(ring__receiver_lies),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
