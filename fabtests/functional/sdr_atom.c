/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_atom: a storm of atomics between processes, verified.
 *
 *   sdr_atom [-n RANKS] [-I ITERATIONS] [-a ADDRESS] [-p PROVIDER]
 *
 * Forks ranks, each with an endpoint and memory that all change at the same time:
 *
 *   tickets   fetch-add of 1 at every rank, whose own processor draws from the same word: each
 *             ticket once, and as many as were drawn
 *   lock      compare-and-swap at rank 0 around a counter that all processes share and change
 *             without atomics: it loses nothing
 *   sums      vectors of doubles, longer than a record, and complex numbers, added at every rank in
 *             whatever order: exact
 *
 * Prints a line for each rank and exits with 1 if anything is wrong, 2 with bad arguments.
 */
#include <complex.h>
#include <getopt.h>
#include <signal.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#define RANKS_MAX 16u
#define ITERS_MAX 10000u
#define DOUBLES	  400u /* of a sum: several records */
#define GUARD_S	  100  /* nothing here takes so long */
#define KEY	  0x5d5u

struct memory { /* of each rank, for the others */
	uint64_t tickets;
	uint64_t lock; /* rank 0's: 0 or its holder + 1 */
	double sum[DOUBLES];
	double complex z[2];
};

struct shared { /* by all processes */
	struct sockaddr_storage name[RANKS_MAX];
	size_t namelen[RANKS_MAX];
	uint32_t arrived[8]; /* at each barrier */
	uint64_t inside;     /* what the lock guards: changed without atomics */
	uint64_t holder;
	uint32_t failed;
	/* tickets of each rank that were drawn */
	uint8_t drawn[RANKS_MAX][(RANKS_MAX + 1) * ITERS_MAX];
};

static struct storm {
	uint32_t ranks, iters, rank;
	const char *node, *prov;
	struct shared *all;
	struct memory *mine;
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	fi_addr_t to[RANKS_MAX];
	uint32_t open; /* operations not completed */
} S;

static void complain(const char *what, int err)
{
	fprintf(stderr, "rank %u: %s: %s\n", S.rank, what, err ? fi_strerror(-err) : "wrong");
	__atomic_store_n(&S.all->failed, 1, __ATOMIC_SEQ_CST);
}
#define DIE(what, err)               \
	do {                         \
		complain(what, err); \
		_exit(1);            \
	} while (0)
#define MUST(call)                      \
	do {                            \
		int r_ = (int)(call);   \
		if (r_)                 \
			DIE(#call, r_); \
	} while (0)
#define CHECK(cond)                    \
	do {                           \
		if (!(cond))           \
			DIE(#cond, 0); \
	} while (0)

static uint64_t now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec;
}

/* Takes what has completed. */
static void drive(void)
{
	static char text[1024];
	struct fi_cq_err_entry err = { .err_data = text, .err_data_size = sizeof(text) };
	struct fi_cq_entry e[16];
	ssize_t n = fi_cq_read(S.cq, e, 16);

	if (n == -FI_EAVAIL) {
		fi_cq_readerr(S.cq, &err, 0);
		fprintf(stderr, "rank %u: error completion: %s\n", S.rank,
			fi_cq_strerror(S.cq, err.prov_errno, err.err_data, NULL, 0));
		DIE("completion", -err.err);
	}
	if (n > 0)
		S.open -= (uint32_t)n;
	if (__atomic_load_n(&S.all->failed, __ATOMIC_RELAXED))
		_exit(1); /* who failed has said so */
}

static void wait_open(uint32_t most)
{
	uint64_t end = now_s() + GUARD_S;

	while (S.open > most) {
		drive();
		CHECK(now_s() < end);
	}
}

#define POST(call)                                  \
	do {                                        \
		ssize_t p_;                         \
		while ((p_ = (call)) == -FI_EAGAIN) \
			drive();                    \
		MUST(p_);                           \
		S.open++;                           \
	} while (0)

static void barrier(uint32_t i)
{
	uint64_t end = now_s() + GUARD_S;

	__atomic_fetch_add(&S.all->arrived[i], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&S.all->arrived[i], __ATOMIC_SEQ_CST) < S.ranks) {
		drive();
		CHECK(now_s() < end);
	}
}

static uint64_t offset_of(size_t off)
{
	return off; /* regions are addressed by offsets: no FI_MR_VIRT_ADDR */
}

static void open_all(void)
{
	struct fi_info *h = fi_allocinfo();
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	uint32_t i;

	CHECK(h);
	h->fabric_attr->prov_name = strdup(S.prov);
	h->ep_attr->type = FI_EP_RDM;
	h->caps = FI_ATOMIC;
	MUST(fi_getinfo(FI_VERSION(1, 17), S.node, NULL, FI_SOURCE, h, &S.info));
	fi_freeinfo(h);
	MUST(fi_fabric(S.info->fabric_attr, &S.fabric, NULL));
	MUST(fi_domain(S.fabric, S.info, &S.domain, NULL));
	MUST(fi_av_open(S.domain, &av, &S.av, NULL));
	MUST(fi_cq_open(S.domain, &cq, &S.cq, NULL));
	MUST(fi_endpoint(S.domain, S.info, &S.ep, NULL));
	MUST(fi_ep_bind(S.ep, &S.av->fid, 0));
	MUST(fi_ep_bind(S.ep, &S.cq->fid, FI_TRANSMIT | FI_RECV));
	MUST(fi_enable(S.ep));
	S.mine = aligned_alloc(64, (sizeof(*S.mine) + 63) & ~63ul);
	CHECK(S.mine);
	memset(S.mine, 0, sizeof(*S.mine));
	MUST(fi_mr_reg(S.domain, S.mine, sizeof(*S.mine), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, KEY,
		       0, &S.mr, NULL));
	S.all->namelen[S.rank] = sizeof(S.all->name[0]);
	MUST(fi_getname(&S.ep->fid, &S.all->name[S.rank], &S.all->namelen[S.rank]));
	barrier(0);
	for (i = 0; i < S.ranks; i++)
		CHECK(fi_av_insert(S.av, &S.all->name[i], 1, &S.to[i], 0, NULL) == 1);
}

static void close_all(void)
{
	MUST(fi_close(&S.ep->fid));
	MUST(fi_close(&S.mr->fid));
	MUST(fi_close(&S.cq->fid));
	MUST(fi_close(&S.av->fid));
	MUST(fi_close(&S.domain->fid));
	MUST(fi_close(&S.fabric->fid));
	fi_freeinfo(S.info);
	free(S.mine);
}

/* ---- the storm ------------------------------------------------------------------------------- */

static void drawn(uint32_t of, uint64_t ticket)
{
	CHECK(ticket < (S.ranks + 1u) * S.iters);
	CHECK(!__atomic_exchange_n(&S.all->drawn[of][ticket], 1, __ATOMIC_SEQ_CST));
}

static void tickets(void)
{
	uint64_t *old = calloc((size_t)S.ranks * S.iters, sizeof(*old)), one = 1;
	uint32_t i, r;

	CHECK(old);
	for (i = 0; i < S.iters; i++) {
		for (r = 0; r < S.ranks; r++)
			POST(fi_fetch_atomic(S.ep, &one, 1, NULL, &old[r * S.iters + i], NULL,
					     S.to[r], offset_of(offsetof(struct memory, tickets)),
					     KEY, FI_UINT64, FI_SUM, NULL));
		drawn(S.rank, __atomic_fetch_add(&S.mine->tickets, 1, __ATOMIC_SEQ_CST));
		wait_open(64);
	}
	wait_open(0);
	for (r = 0; r < S.ranks; r++)
		for (i = 0; i < S.iters; i++)
			drawn(r, old[r * S.iters + i]);
	free(old);
}

static void locks(void)
{
	uint64_t at = offset_of(offsetof(struct memory, lock)), free_ = 0, me = S.rank + 1, was;
	uint64_t end = now_s() + GUARD_S;
	uint32_t i;

	for (i = 0; i < S.iters / 10 + 1; i++) {
		do {
			POST(fi_compare_atomic(S.ep, &me, 1, NULL, &free_, NULL, &was, NULL,
					       S.to[0], at, KEY, FI_UINT64, FI_CSWAP, NULL));
			wait_open(0);
			CHECK(was <= S.ranks && was != me && now_s() < end);
		} while (was);
		CHECK(!__atomic_exchange_n(&S.all->holder, me, __ATOMIC_SEQ_CST));
		S.all->inside++;
		CHECK(__atomic_exchange_n(&S.all->holder, 0, __ATOMIC_SEQ_CST) == me);
		POST(fi_atomic(S.ep, &free_, 1, NULL, S.to[0], at, KEY, FI_UINT64, FI_ATOMIC_WRITE,
			       NULL));
		wait_open(0);
	}
}

static void sums(void)
{
	double complex z[2] = { S.rank + 1 - 0.5 * I, I };
	double v[DOUBLES];
	uint32_t i, r;

	for (i = 0; i < DOUBLES; i++)
		v[i] = 0.25 * (S.rank + 1) * (i % 8);
	for (i = 0; i < S.iters; i++) {
		for (r = 0; r < S.ranks; r++) {
			if (i % 8 == 0)
				POST(fi_atomic(S.ep, v, DOUBLES, NULL, S.to[r],
					       offset_of(offsetof(struct memory, sum)), KEY,
					       FI_DOUBLE, FI_SUM, NULL));
			POST(fi_atomic(S.ep, z, 2, NULL, S.to[r],
				       offset_of(offsetof(struct memory, z)), KEY,
				       FI_DOUBLE_COMPLEX, FI_SUM, NULL));
		}
		wait_open(64);
	}
	wait_open(0);
}

/*
 * Who wrote told another process, and that told us: ThreadSanitizer, which sees one process, knows
 * no order between the two.
 */
__attribute__((noinline, no_sanitize("thread"))) static void verify(void)
{
	double all = S.ranks * (S.ranks + 1) / 2.0, times = (S.iters + 7) / 8;
	double complex z = S.iters * (all - 0.5 * I * S.ranks);
	uint32_t i, n = (S.ranks + 1) * S.iters;

	CHECK(S.mine->tickets == n);
	for (i = 0; i < n; i++)
		CHECK(S.all->drawn[S.rank][i]);
	CHECK(S.all->inside == S.ranks * (S.iters / 10 + 1) && !S.mine->lock);
	for (i = 0; i < DOUBLES; i++)
		CHECK(S.mine->sum[i] == 0.25 * all * (i % 8) * times);
	CHECK(S.mine->z[0] == z && S.mine->z[1] == S.iters * S.ranks * I);
}

static int rank_main(void)
{
	open_all();
	barrier(1);
	tickets();
	barrier(2);
	locks();
	barrier(3);
	sums();
	barrier(4);
	verify();
	barrier(5);
	close_all();
	printf("rank %u: %u tickets of each of %u, sums and locks are right\n", S.rank, S.iters,
	       S.ranks);
	return 0;
}

int main(int argc, char **argv)
{
	uint32_t i, failed = 0;
	int opt, status;

	S.ranks = 2;
	S.iters = 100;
	S.node = "127.0.0.1";
	S.prov = "sdr";
	while ((opt = getopt(argc, argv, "n:I:a:p:")) != -1) {
		switch (opt) {
		case 'n':
			S.ranks = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'I':
			S.iters = (uint32_t)strtoul(optarg, NULL, 0);
			break;
		case 'a':
			S.node = optarg;
			break;
		case 'p':
			S.prov = optarg;
			break;
		default:
			return 2;
		}
	}
	if (!S.ranks || S.ranks > RANKS_MAX || !S.iters || S.iters > ITERS_MAX || optind < argc)
		return 2;
	S.all = mmap(NULL, sizeof(*S.all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	if (S.all == MAP_FAILED)
		return 1;
	for (i = 0; i < S.ranks; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			S.rank = i;
			return rank_main();
		}
	}
	for (i = 0; i < S.ranks; i++)
		failed |= wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status);
	return failed ? 1 : 0;
}
