/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Send workers: what becomes of a post that threads share.
 *
 * Two engines of this machine with workers on both sides, over sockets and over rings.  Everything
 * that is posted arrives, once, in the place where it belongs, behind the control datagram before
 * it; who sent it is counted; what the kernel refuses a worker its owner sends, and what it refuses
 * both is handed back.  The send calls ask a script first (test_soft_sends.h).
 */
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire/sdr_knock.h"
#include "test_soft_sends.h"
#include "test_soft_util.h"

#define MTU    4096u
#define RUN    40u /* packets of a descriptor: three trains */
#define PKTS   (2 * RUN)
#define LEN    (PKTS * MTU)
#define SMALL  1024u /* bytes of the longest packets that are copied, headers and all, */
#define FULL   61u   /* and how many a train has of them */
#define ROUNDS 60u
#define TRIES  20000u

#ifdef __SANITIZE_THREAD__
#define WORK 3
#else
#define WORK 1
#endif

static struct {
	pthread_t owner;
	int err;       /* that a worker's train gets, */
	uint32_t each; /* one in so many; 0: none */
	bool owners;   /* the owner's as well */
	int stand_us;  /* for which a worker stands before it hears that */
	uint32_t seen, refused;
	uint16_t port[2]; /* not 0: the engines' own; knocks from others of ours are lost */
} script;

static bool script_refuses(const struct msghdr *m)
{
	if (!m->msg_controllen || !script.each ||
	    (!script.owners && pthread_equal(script.owner, pthread_self())))
		return false;
	if (__atomic_add_fetch(&script.seen, 1, __ATOMIC_RELAXED) % script.each)
		return false;
	__atomic_add_fetch(&script.refused, 1, __ATOMIC_RELAXED);
	if (script.stand_us && !pthread_equal(script.owner, pthread_self()))
		usleep((useconds_t)script.stand_us);
	errno = script.err;
	return true;
}

/* The owner sends a knock from its own port, and from those of its workers. */
static bool script_swallows(int fd, const struct msghdr *m)
{
	struct sockaddr_in name;
	socklen_t len = sizeof(name);

	return pthread_equal(script.owner, pthread_self()) && script.port[0] &&
	       m->msg_iovlen == 1 && m->msg_iov->iov_len == SDR_CTL_OVERHEAD + SDR_KNOCK_LEN &&
	       !getsockname(fd, (struct sockaddr *)&name, &len) &&
	       name.sin_port != script.port[0] && name.sin_port != script.port[1];
}

const struct soft_sends soft_sends = { .refuses = script_refuses, .swallows = script_swallows };

/* ---- the world ------------------------------------------------------------------------------- */

static uint8_t src[LEN], dst[LEN];
static uint32_t placed;		  /* packets, by whoever */
static uint32_t distinct;	  /* those of them that had not come before */
static uint8_t have[LEN / SMALL]; /* by packet */

static bool crew_room(void *user, uint32_t worker)
{
	(void)user;
	(void)worker;
	return true;
}

static void crew_placed(void *user, uint32_t worker, const struct sdr_uc_ev *ev, int n)
{
	static const struct sdr_imm_split split = SDR_IMM_SPLIT_DEFAULT;
	int i;

	(void)user;
	(void)worker;
	for (i = 0; i < n; i++) {
		__atomic_fetch_add(&placed, 1, __ATOMIC_RELAXED);
		if (!__atomic_exchange_n(&have[sdr_imm_off(&split, ev[i].p.imm)], 1,
					 __ATOMIC_RELAXED))
			__atomic_fetch_add(&distinct, 1, __ATOMIC_RELEASE);
	}
}

static const struct sdr_uc_crew crew = { .room = crew_room, .placed = crew_placed };

static uint32_t arrived(void)
{
	return __atomic_load_n(&placed, __ATOMIC_ACQUIRE);
}

static bool complete(uint32_t pkts)
{
	return __atomic_load_n(&distinct, __ATOMIC_ACQUIRE) == pkts;
}

static void world_open_mtu(struct pair *p, const char *name, uint8_t workers, uint8_t channels,
			   uint32_t mtu)
{
	memset(&script, 0, sizeof(script));
	script.owner = pthread_self();
	fill(src, LEN, 7);
	pair_open(p, &(struct pair_opt){ .name = name,
					 .mtu = mtu,
					 .msg = LEN,
					 .channels = channels,
					 .off = SDR_SOFT_NO_SPARE,
					 .workers = workers,
					 .crew = &crew });
}

static void world_open(struct pair *p, const char *name, uint8_t workers, uint8_t channels)
{
	world_open_mtu(p, name, workers, channels, MTU);
}

static void look(struct pair *p)
{
	struct sdr_uc_ev ev[SDR_UC_POLL_MIN];
	int n, i;

	p->a->ops->now(p->a);
	p->b->ops->now(p->b);
	while (p->a->ops->poll(p->a, ev, SDR_UC_POLL_MIN) > 0)
		;
	while ((n = p->b->ops->poll(p->b, ev, SDR_UC_POLL_MIN)) > 0)
		for (i = 0; i < n; i++)
			if (ev[i].kind == SDR_UC_EV_PLACED)
				crew_placed(NULL, 0, &ev[i], 1);
}

static uint32_t pkts_of(const struct sdr_uc_tx *v, int n)
{
	uint32_t pkts = 0;
	int i;

	for (i = 0; i < n; i++)
		if (v[i].kind == SDR_UC_TX_WRITE)
			pkts += v[i].len / MTU;
	return pkts;
}

/* A message between two control datagrams; how many of its packets were handed back, in all. */
static uint32_t post(struct pair *p, uint32_t use, uint8_t channels)
{
	struct sdr_uc_tx v[4], *t = v;
	uint32_t back = 0, tries = 0;
	int left = 4, ret, i;

	v[0] = pair_ctl(&p->ib.addr, "one", 3);
	v[3] = pair_ctl(&p->ib.addr, "two", 3);
	for (i = 1; i < 3; i++) {
		v[i] = pair_write(p, 1, use % 4, src, (uint32_t)(i - 1) * RUN, RUN * MTU);
		v[i].flags = SDR_UC_F_SPREAD;
		v[i].w.epoch = use / 4;
		v[i].channel = (uint8_t)(i % channels);
	}
	for (;;) {
		ret = p->a->ops->post(p->a, t, left);
		assert_true(ret >= 0 && ret <= left);
		t += ret;
		left -= ret;
		if (!left)
			return back;
		if (t->kind == SDR_UC_TX_WRITE) {
			assert_ptr_equal(t->buf, src + (size_t)t->w.first * MTU);
			assert_true(t->len && t->len <= RUN * MTU);
		}
		back += pkts_of(t, left);
		assert_true(++tries < TRIES);
		look(p);
	}
}

static void expect(struct pair *p, uint32_t use)
{
	__atomic_store_n(&placed, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&distinct, 0, __ATOMIC_RELEASE);
	memset(have, 0, sizeof(have));
	memset(dst, 0, LEN);
	assert_int_equal(p->b->ops->slot_bind(p->qb, 1, use, dst, LEN, NULL), 0);
}

/* All of it has come, some of it twice perhaps; the buffer is the test's again. */
static void take_some(struct pair *p, uint32_t pkts, size_t len)
{
	uint32_t tries;

	for (tries = 0; !complete(pkts); tries++) {
		assert_true(tries < TRIES);
		poll(NULL, 0, tries > 100);
		look(p);
	}
	look(p);
	p->b->ops->slot_unbind(p->qb, 1);
	assert_memory_equal(dst, src, len);
}

static void take(struct pair *p)
{
	take_some(p, PKTS, LEN);
}

static struct sdr_soft_stats soft_stats(struct sdr_uc *uc)
{
	struct sdr_soft_stats st;

	sdr_soft_stats_get(uc, &st);
	return st;
}

static uint64_t sent_by_workers(struct sdr_uc *uc)
{
	struct sdr_soft_worker_stats w[SDR_WORKERS_MAX];
	uint32_t i, k = sdr_soft_worker_stats_get(uc, w, SDR_WORKERS_MAX);
	uint64_t n = 0;

	for (i = 0; i < k; i++)
		n += w[i].pkts_tx;
	return n;
}

/* Messages until workers have sent something; how many. */
static uint32_t warm(struct pair *p, uint8_t channels)
{
	uint32_t use;

	for (use = 0; !sent_by_workers(p->a); use++) {
		assert_true(use < TRIES);
		expect(p, use);
		post(p, use, channels);
		take(p);
		assert_int_equal(arrived(), PKTS);
	}
	return use;
}

/* ---- cases ----------------------------------------------------------------------------------- */

static void whole(const char *name, uint8_t workers, uint8_t channels)
{
	struct sdr_uc_stats st;
	uint32_t use, from;
	struct pair p;

	world_open(&p, name, workers, channels);
	from = warm(&p, channels);
	for (use = from; use < from + ROUNDS / WORK; use++) {
		expect(&p, use);
		assert_int_equal(post(&p, use, channels), 0);
		take(&p);
		assert_int_equal(arrived(), PKTS);
	}
	st = pair_stats(p.a);
	assert_int_equal(st.pkts_tx, (uint64_t)use * PKTS);
	assert_int_equal(st.bytes_tx, (uint64_t)use * LEN);
	assert_int_equal(st.ctl_tx, 2 * use);
	assert_int_equal(st.tx_lost + st.tx_again, 0);
	assert_true(soft_stats(p.a).tx_shared > 0);
	assert_int_equal(soft_stats(p.a).tx_back, 0);
	st = pair_stats(p.b);
	assert_int_equal(st.pkts_rx, (uint64_t)use * PKTS);
	assert_int_equal(st.pkts_bad + st.pkts_late, 0);
	pair_close(&p);
}

static void share__whole_messages(void **state)
{
	(void)state;
	whole("soft:127.0.0.1", 1, 1);
	whole("soft:127.0.0.1", 4, 1);
	whole("soft:[::1]", 2, 2);
}

static void share__in_memory(void **state)
{
	(void)state;
	whole("mem", 1, 1);
	whole("mem", 4, 2);
}

/* Shares that fill all the room that a batch has for packets; then one that is not shared. */
static void share__of_full_trains(void **state)
{
	struct sdr_uc_tx v[3];
	uint32_t use, first, n = 0;
	struct pair p;
	int i;

	(void)state;
	world_open_mtu(&p, NULL, 1, 1, SMALL);
	for (use = 0; n < ROUNDS / WORK; use++) {
		assert_true(use < TRIES);
		expect(&p, use);
		for (i = 0, first = 0; i < 3; i++, first += 2 * FULL) {
			v[i] = pair_write(&p, 1, use % 4, src, first,
					  (i < 2 ? 2 * FULL : 1) * SMALL);
			v[i].flags = i < 2 ? SDR_UC_F_SPREAD : 0;
			v[i].w.epoch = use / 4;
		}
		assert_int_equal(p.a->ops->post(p.a, v, 3), 3);
		take_some(&p, 4 * FULL + 1, (4 * FULL + 1) * SMALL);
		n += soft_stats(p.a).tx_shared > 0;
	}
	assert_int_equal(pair_stats(p.a).pkts_tx, (uint64_t)use * (4 * FULL + 1));
	pair_close(&p);
}

/* What the kernel does not take from a worker its owner sends, once; nothing is lost. */
static void share__refused_to_a_worker(void **state)
{
	static const int errs[] = { EAGAIN, ENOBUFS, EMSGSIZE, EINVAL, EIO, EPERM };
	uint32_t i, use, from;
	struct pair p;

	(void)state;
	for (i = 0; i < sizeof(errs) / sizeof(errs[0]); i++) {
		world_open(&p, NULL, 2, 1);
		from = warm(&p, 1);
		script.err = errs[i];
		for (use = from; use < TRIES && script.refused < 3; use++) {
			script.each = 1 + use % 2;
			expect(&p, use);
			assert_int_equal(post(&p, use, 1), 0);
			take(&p);
			assert_int_equal(arrived(), PKTS);
		}
		assert_true(soft_stats(p.a).tx_back >= 3);
		assert_int_equal(pair_stats(p.a).tx_lost, 0);
		assert_int_equal(pair_stats(p.a).pkts_tx, (uint64_t)use * PKTS);
		pair_close(&p);
	}
}

/* Nobody's train goes now and then: it is handed back, and only what was comes once more. */
static void full(int stand_us)
{
	uint32_t use, from, back, all = 0;
	struct pair p;

	world_open(&p, NULL, 2, 1);
	from = warm(&p, 1);
	script.err = EAGAIN;
	script.owners = true;
	script.stand_us = stand_us;
	for (use = from; use < from + ROUNDS / WORK; use++) {
		script.each = 2 + use % 5;
		expect(&p, use);
		back = post(&p, use, 1);
		take(&p);
		assert_in_range(arrived(), PKTS, PKTS + back);
		all += back;
	}
	assert_true(all > 0);
	assert_int_equal(pair_stats(p.a).tx_lost, 0);
	pair_close(&p);
}

static void share__full(void **state)
{
	(void)state;
	full(0);
}

/* The worker that is refused had no processor meanwhile: all behind its train has left. */
static void share__full_behind(void **state)
{
	(void)state;
	full(1000);
}

/* A firewall of this host: what is lost is counted, and nothing else. */
static void share__denied(void **state)
{
	struct sdr_uc_stats st;
	uint32_t use, from, n;
	struct pair p;

	(void)state;
	world_open(&p, NULL, 2, 1);
	from = warm(&p, 1);
	script.err = EPERM;
	script.owners = true;
	for (use = from; use < from + ROUNDS / WORK; use++) {
		script.each = 3;
		expect(&p, use);
		assert_int_equal(post(&p, use, 1), 0);
		for (n = 0; n < 10; n++)
			look(&p);
		p.b->ops->slot_unbind(p.qb, 1);
	}
	st = pair_stats(p.a);
	assert_true(st.tx_denied > 0);
	assert_int_equal(st.tx_denied, st.tx_lost);
	assert_int_equal(st.pkts_tx + st.tx_denied, (uint64_t)use * PKTS);
	pair_close(&p);
}

/* Nothing comes from the ports of our workers to the peer: the owner sends it all. */
static void ports__that_are_not_heard(void **state)
{
	struct pair p;
	uint32_t use;

	(void)state;
	world_open(&p, NULL, 2, 1);
	memcpy(&script.port[0], p.ia.addr.b + 1, 2);
	memcpy(&script.port[1], p.ib.addr.b + 1, 2);
	for (use = 0; use < ROUNDS / WORK; use++) {
		expect(&p, use);
		post(&p, use, 1);
		take(&p);
		assert_int_equal(arrived(), PKTS);
	}
	assert_int_equal(sent_by_workers(p.a), 0);
	script.port[0] = 0;
	(void)warm(&p, 1);
	pair_close(&p);
}

/* The buffer is the receiver's again while packets are on their way; and both ends go. */
static void share__nobody_waits(void **state)
{
	struct pair p;
	uint32_t use, i;

	(void)state;
	for (i = 0; i < 4; i++) {
		world_open(&p, i % 2 ? "mem" : NULL, 3, 1);
		for (use = warm(&p, 1) + 1; i && use < ROUNDS / WORK; use++) {
			expect(&p, use);
			post(&p, use, 1);
			p.b->ops->slot_unbind(p.qb, 1);
			memset(dst, 0xee, LEN);
			look(&p);
			assert_true(dst[0] == 0xee && !memcmp(dst, dst + 1, LEN - 1));
		}
		expect(&p, use);
		post(&p, use, 1);
		pair_close(&p);
	}
}

/* A child has no workers, and sends alone. */
static void fork__child_sends(void **state)
{
	uint32_t use, i;
	struct pair p;
	int status;
	pid_t pid;

	(void)state;
	world_open(&p, NULL, 2, 1);
	use = warm(&p, 1);
	for (i = 0; i < 3; i++, use += 2) {
		expect(&p, use);
		pid = fork();
		assert_true(pid >= 0);
		if (!pid) {
			alarm(20);
			post(&p, use, 1);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
		take(&p);
		expect(&p, use + 1);
		post(&p, use + 1, 1);
		take(&p);
	}
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(share__whole_messages),
		cmocka_unit_test(share__in_memory),
		cmocka_unit_test(share__of_full_trains),
		cmocka_unit_test(share__refused_to_a_worker),
		cmocka_unit_test(share__full),
		cmocka_unit_test(share__full_behind),
		cmocka_unit_test(share__denied),
		cmocka_unit_test(ports__that_are_not_heard),
		cmocka_unit_test(share__nobody_waits),
		cmocka_unit_test(fork__child_sends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
