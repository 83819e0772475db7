/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_THREAD_SAFE: several threads on the same endpoints, queues and vectors at once, beside the
 * progress thread; meant for ThreadSanitizer as much as for its own assertions.  Also the
 * statistics file.
 */
#include <pthread.h>
#include <unistd.h>

#include "test_fi_util.h"

#define THREADS 3
#define MSGS	300 /* a thread */

struct job {
	struct test_pair *p;
	int id;
	int done; /* receives completed, counted by the thread that reads the entry */
	int failed;
};

static void *sender(void *arg)
{
	struct job *j = arg;
	struct test_side *s = &j->p->s[0];
	struct fi_cq_tagged_entry e;
	uint64_t v;
	ssize_t ret;
	int i;

	for (i = 0; i < MSGS; i++) {
		v = (uint64_t)j->id << 32 | (uint64_t)i;
		while ((ret = fi_tinject(s->ep, &v, 8, s->peer, (uint64_t)j->id)) == -FI_EAGAIN)
			fi_cq_read(s->cq, &e, 0);
		j->failed |= ret != 0;
	}
	return NULL;
}

static void *receiver(void *arg)
{
	struct job *j = arg;
	struct test_side *s = &j->p->s[1];
	struct fi_cq_tagged_entry e;
	uint64_t end = test_now_s() + TEST_GUARD_S, v = 0;
	struct fid_cq *cq;
	ssize_t ret;
	int i;

	/* every receiver has its tag, but all read one queue: an entry may be another thread's */
	cq = s->cq;
	for (i = 0; i < MSGS; i++) {
		while ((ret = fi_trecv(s->ep, &v, 8, NULL, FI_ADDR_UNSPEC, (uint64_t)j->id, 0,
				       j)) == -FI_EAGAIN)
			;
		j->failed |= ret != 0;
		do {
			ret = fi_cq_read(cq, &e, 1);
			if (test_now_s() > end) {
				j->failed = 1;
				return NULL;
			}
			if (ret == 1)
				__atomic_fetch_add(&((struct job *)e.op_context)->done, 1,
						   __ATOMIC_ACQ_REL);
		} while (__atomic_load_n(&j->done, __ATOMIC_ACQUIRE) <= i);
		j->failed |= v != ((uint64_t)j->id << 32 | (uint64_t)i);
	}
	return NULL;
}

static void *inserter(void *arg)
{
	struct job *j = arg;
	struct sockaddr_in sin = { .sin_family = AF_INET };
	fi_addr_t a;
	int i;

	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (i = 0; i < MSGS; i++) {
		sin.sin_port = htons((uint16_t)(20000 + i));
		j->failed |= fi_av_insert(j->p->av, &sin, 1, &a, 0, NULL) != 1;
		if (i & 1)
			j->failed |= fi_av_remove(j->p->av, &a, 1, 0) != 0;
	}
	return NULL;
}

static void threads__together(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM, .progress = FI_PROGRESS_AUTO };
	struct job rx[THREADS], tx[THREADS], av;
	pthread_t t[2 * THREADS + 1];
	struct test_pair p;
	int i;

	(void)state;
	test_pair_open(&p, &o);
	for (i = 0; i < THREADS; i++) {
		rx[i] = tx[i] = (struct job){ .p = &p, .id = i + 1 };
		assert_int_equal(pthread_create(&t[2 * i], NULL, receiver, &rx[i]), 0);
		assert_int_equal(pthread_create(&t[2 * i + 1], NULL, sender, &tx[i]), 0);
	}
	av = (struct job){ .p = &p };
	assert_int_equal(pthread_create(&t[2 * THREADS], NULL, inserter, &av), 0);
	for (i = 0; i <= 2 * THREADS; i++)
		pthread_join(t[i], NULL);
	for (i = 0; i < THREADS; i++) {
		assert_int_equal(tx[i].failed, 0);
		assert_int_equal(rx[i].failed, 0);
	}
	assert_int_equal(av.failed, 0);
	test_pair_close(&p);
}

static void *opener(void *arg)
{
	struct job *j = arg;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_CONTEXT };
	int i;

	for (i = 0; i < 20 && !j->failed; i++) {
		j->failed |= fi_cq_open(j->p->domain, &attr, &cq, NULL) ||
			     fi_endpoint(j->p->domain, j->p->info, &ep, NULL) ||
			     fi_ep_bind(ep, &j->p->av->fid, 0) ||
			     fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV) || fi_enable(ep);
		if (!j->failed)
			j->failed |= fi_close(&ep->fid) || fi_close(&cq->fid);
	}
	return NULL;
}

static void threads__open_and_close(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct job jobs[THREADS];
	pthread_t t[THREADS];
	struct test_pair p;
	int i;

	(void)state;
	test_pair_open(&p, &o);
	for (i = 0; i < THREADS; i++) {
		jobs[i] = (struct job){ .p = &p };
		assert_int_equal(pthread_create(&t[i], NULL, opener, &jobs[i]), 0);
	}
	for (i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		assert_int_equal(jobs[i].failed, 0);
	}
	test_pair_close(&p);
}

/*
 * Manual progress, and an application that makes no call for three times FI_SDR_TIMEOUT: somebody
 * answers for it, or what others wait for would fail.
 */
static void threads__answer_for_who_is_away(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM, .progress = FI_PROGRESS_MANUAL };
	uint64_t end = test_now_s() + 4;
	struct fi_cq_tagged_entry e;
	struct test_pair p;
	char rx[8] = "";
	int n = 0;

	(void)state;
	setenv("FI_SDR_TIMEOUT", "1000", 1);
	test_pair_open(&p, &o);
	unsetenv("FI_SDR_TIMEOUT");
	assert_ok(fi_recv(p.s[1].ep, rx, sizeof(rx), NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, "away", 5, NULL, p.s[0].peer, NULL));
	while (test_now_s() < end) {
		ssize_t ret = fi_cq_read(p.s[0].cq, &e, 1);

		assert_true(ret == 1 || ret == -FI_EAGAIN);
		n += ret == 1;
	}
	assert_int_equal(n, 1);
	test_wait_ok(&p, 1, &e);
	assert_string_equal(rx, "away");
	test_pair_close(&p);
}

static void stats__file(void **state)
{
	struct test_opts o = { .type = FI_EP_RDM };
	struct fi_cq_tagged_entry e;
	char path[] = "/tmp/sdr-stats-XXXXXX", line[4096], rx[8];
	struct test_pair p;
	int fd = mkstemp(path), lines = 0, totals = 0;
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	setenv("FI_SDR_STATS", path, 1);
	test_pair_open(&p, &o);
	assert_ok(fi_recv(p.s[1].ep, rx, 8, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p.s[0].ep, "counted", 8, NULL, p.s[0].peer, NULL));
	test_wait_ok(&p, 1, &e);
	test_wait_ok(&p, 0, &e);
	test_pair_close(&p);
	unsetenv("FI_SDR_STATS");
	f = fopen(path, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_int_equal(line[0], '{');
		assert_string_equal(line + strlen(line) - 2, "}\n");
		assert_non_null(strstr(line, "\"pkts_tx\":"));
		assert_non_null(strstr(line, "\"pacing_bps\":"));
		lines++;
		totals += strstr(line, "\"peer\":\"total\"") != NULL;
	}
	fclose(f);
	unlink(path);
	assert_int_equal(lines, 4); /* a peer and a total for each endpoint */
	assert_int_equal(totals, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads__together),
		cmocka_unit_test(threads__open_and_close),
		cmocka_unit_test(threads__answer_for_who_is_away),
		cmocka_unit_test(stats__file),
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
