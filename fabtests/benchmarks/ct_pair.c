/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * One pair of processes of sdr_ct: see ct_pair.h. Settings are the environment's, so each pair is
 * new, and the parent never calls libfabric. Warm-up first, until the estimators know the path;
 * then every size, once untimed, then one timed transfer at a time:
 *
 *	server   posts its receive, says so (pipe)
 *	client   sends; clock from the post to the completion, which says that the peer has
 *	         acknowledged everything
 *	server   checks every byte when the client is done
 *
 * Who waits, fills or checks makes progress meanwhile: the delay is in the sending process, and
 * what it holds back is let go by its rounds. The pipes carry a byte a step and are no part of what
 * is timed. SIGALRM ends a side that takes more than five times the ideal.
 */
#include "ct_pair.h"
#include "bench_ep.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/fi_ext_sdr.h>

#define SLICE	  (256u << 10) /* bytes filled or checked between two rounds of progress */
#define WARM_MIB  16u	       /* a transfer of the warm-up */
#define START_SEC 60u	       /* allowed for a run, besides five times the ideal */
#define TAG	  UINT64_C(0x5d)

static struct side {
	struct bench_ep b;
	bool client;
	int in, out; /* pipes between the two */
	fi_addr_t peer;
	struct fi_sdr_ep_ops_1 *ops;
	uint8_t *buf;
	uint64_t seq; /* of the transfer: salt of its pattern */
} side;

/* ---- one transfer ---------------------------------------------------------------------------- */

static uint64_t pattern(uint64_t salt, uint64_t i)
{
	uint64_t x = (salt * UINT64_C(0xd1342543de82ef95) + i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	return x ^ (x >> 29);
}

/* len is a multiple of 8 */
static void buffer_fill(size_t len)
{
	uint64_t *p = (uint64_t *)(void *)side.buf;

	for (size_t i = 0; i < len / 8; i++) {
		p[i] = pattern(side.seq, i);
		if (i % (SLICE / 8) == 0)
			bench_progress(&side.b);
	}
}

static void buffer_check(size_t len)
{
	const uint64_t *p = (const uint64_t *)(const void *)side.buf;

	for (size_t i = 0; i < len / 8; i++) {
		if (p[i] != pattern(side.seq, i)) {
			fprintf(stderr, "sdr_ct: wrong data at byte %zu of %zu (transfer %llu)\n",
				i * 8, len, (unsigned long long)side.seq);
			_exit(1);
		}
		if (i % (SLICE / 8) == 0)
			bench_progress(&side.b);
	}
}

static void tell(void)
{
	bench_write_all(side.out, "x", 1);
}

/* makes progress meanwhile: what faults delay is sent by who polls */
static void hear(void)
{
	struct pollfd p = { .fd = side.in, .events = POLLIN };
	char c;

	while (poll(&p, 1, 0) == 0)
		bench_progress(&side.b);
	bench_read_all(side.in, &c, 1);
}

struct flag {
	struct bench_op op;
	bool set;
	size_t len;
};

static void flag_set(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	struct flag *f = op->arg;

	f->set = true;
	f->len = e->len;
}

/* seconds from the post to the completion (client) */
static double transfer(size_t len)
{
	struct flag f = { .op = { .done = flag_set, .arg = &f } };
	double start = 0, end = 0;

	side.seq++;
	if (side.client) {
		buffer_fill(len);
		hear();
		start = bench_now();
		BENCH_POST(&side.b,
			   fi_tsend(side.b.ep, side.buf, len, NULL, side.peer, TAG, &f.op));
	} else {
		BENCH_POST(&side.b,
			   fi_trecv(side.b.ep, side.buf, len, NULL, side.peer, TAG, 0, &f.op));
		tell();
	}
	while (!f.set)
		bench_progress(&side.b);
	if (side.client) {
		end = bench_now();
		tell();
		hear();
		return end - start;
	}
	hear();
	if (f.len != len) {
		fprintf(stderr, "sdr_ct: %zu bytes came instead of %zu\n", f.len, len);
		_exit(1);
	}
	buffer_check(len);
	tell();
	return 0;
}

/* ---- the two processes ----------------------------------------------------------------------- */

static double ideal(const struct ct_run *r, uint32_t mib)
{
	return (double)mib * 1048576 * 8 / r->rate + r->rtt_ms / 1e3;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void stats_get(struct fi_sdr_stats *s)
{
	memset(s, 0, sizeof(*s));
	s->size = sizeof(*s);
	if (side.client)
		BENCH_CHECK(side.ops->stats(side.b.ep, FI_ADDR_UNSPEC, s));
}

static uint64_t rtx(const struct fi_sdr_stats *s)
{
	return s->rtx_rack + s->rtx_nack + s->rtx_tlp + s->rtx_rto + s->repair_tx;
}

static void cell_run(const struct ct_run *r, uint32_t i, int report)
{
	struct ct_cell c = { .mib = r->mib[i], .n = r->n[i] };
	size_t len = (size_t)c.mib << 20;
	struct fi_sdr_stats a, b;
	double *t = calloc(c.n, sizeof(*t));

	if (!t)
		bench_die("calloc", -FI_ENOMEM);
	transfer(len);
	stats_get(&a);
	for (uint32_t n = 0; n < c.n; n++)
		t[n] = transfer(len);
	stats_get(&b);
	if (side.client) {
		qsort(t, c.n, sizeof(*t), compare_double);
		c.median = (t[(c.n - 1) / 2] + t[c.n / 2]) / 2;
		c.p99 = t[(99 * (uint64_t)c.n + 99) / 100 - 1];
		c.max = t[c.n - 1];
		c.ideal = ideal(r, c.mib);
		c.data = c.n * (uint64_t)((len + r->mtu - 1) / r->mtu);
		c.parity = b.parity_tx - a.parity_tx;
		c.rtx = rtx(&b) - rtx(&a);
		c.spurious = b.rtx_spurious - a.rtx_spurious;
		c.fec = b.chunks_fec - a.chunks_fec;
		c.with_parity = b.choice_parity - a.choice_parity;
		c.k = b.code_k;
		c.m = b.code_m;
		c.cover_ppm = b.code_cover_ppm;
		c.why = b.code_why;
		c.loss_ppm = b.loss_ppm;
		bench_write_all(report, &c, sizeof(c));
	}
	free(t);
}

static void set(const char *name, const char *value)
{
	if (setenv(name, value, 1))
		bench_die("setenv", -FI_ENOMEM);
}

static void run_env(const struct ct_run *r, bool client)
{
	char text[160];

	snprintf(text, sizeof(text), "delay=%.3fms,drop=%s,seed=%lu", r->rtt_ms / 2, r->loss,
		 2 * r->seed + (client ? 0 : 1));
	set("FI_SDR_FAULT", text);
	snprintf(text, sizeof(text), "%.0f", r->rate);
	set("FI_SDR_RATE", text);
	set("FI_SDR_CC", "fixed");
	snprintf(text, sizeof(text), "%u", r->mtu);
	set("FI_SDR_MTU", text);
	set("FI_SDR_RELIABILITY", r->scheme);
}

static void side_run(const struct ct_run *r, bool client, int in, int out, int report)
{
	struct bench_attr attr = {
		.prov = "sdr",
		.node = "127.0.0.1",
		.caps = FI_MSG | FI_TAGGED,
		.threading = FI_THREAD_DOMAIN,
		.progress = FI_PROGRESS_MANUAL,
		.peers = 2,
		.cq_size = 64,
	};
	uint64_t done = 0, warm_pkts = ((WARM_MIB << 20) + r->mtu - 1) / r->mtu;
	double sec = START_SEC + 5.0 * (double)r->warm / (double)warm_pkts * ideal(r, WARM_MIB);
	uint32_t top = WARM_MIB;
	struct bench_name name;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (uint32_t i = 0; i < r->nsizes; i++) {
		sec += 5 * (double)(r->n[i] + 1) * ideal(r, r->mib[i]);
		top = r->mib[i] > top ? r->mib[i] : top;
	}
	alarm((unsigned int)sec);
	side.client = client;
	side.in = in;
	side.out = out;
	run_env(r, client);
	side.buf = mmap(NULL, (size_t)top << 20, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (side.buf == MAP_FAILED)
		bench_die("mmap", -FI_ENOMEM);
	bench_open(&side.b, &attr);
	if (side.b.local_mr)
		bench_die("the provider wants local registration", -FI_EINVAL);
	BENCH_CHECK(fi_open_ops(&side.b.ep->fid, FI_SDR_EP_OPS_1, 0, (void **)&side.ops, NULL));
	bench_write_all(out, &side.b.name, sizeof(side.b.name));
	bench_read_all(in, &name, sizeof(name));
	side.peer = bench_peer(&side.b, &name);
	for (done = 0; done < r->warm; done += warm_pkts)
		transfer((size_t)WARM_MIB << 20);
	for (uint32_t i = 0; i < r->nsizes; i++)
		cell_run(r, i, report);
	/* neither leaves while the other waits */
	tell();
	hear();
	bench_close(&side.b);
	_exit(0);
}

int ct_run_start(const struct ct_run *r, pid_t pid[2])
{
	int up[2], down[2], report[2];

	fflush(stdout);
	if (pipe(up) || pipe(down) || pipe(report))
		bench_die("pipe", -FI_EMFILE);
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			bench_die("fork", -FI_EAGAIN);
		if (pid[i] == 0) {
			close(report[0]);
			close(i == 0 ? down[1] : down[0]);
			close(i == 0 ? up[0] : up[1]);
			if (i == 0)
				side_run(r, true, down[0], up[1], report[1]);
			close(report[1]);
			side_run(r, false, up[0], down[1], -1);
		}
	}
	close(up[0]);
	close(up[1]);
	close(down[0]);
	close(down[1]);
	close(report[1]);
	return report[0];
}

bool ct_run_cell(int fd, struct ct_cell *c)
{
	size_t got = 0;
	ssize_t n;

	while (got < sizeof(*c) && (n = read(fd, (uint8_t *)c + got, sizeof(*c) - got)) > 0)
		got += (size_t)n;
	return got == sizeof(*c);
}

bool ct_run_end(int fd, const pid_t pid[2])
{
	bool good = true;
	int status;

	close(fd);
	for (int i = 0; i < 2; i++) {
		pid_t who = waitpid(-1, &status, 0);

		if (who <= 0)
			return false;
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		if (good)
			fprintf(stderr, "sdr_ct: the %s %s %d%s\n",
				who == pid[0] ? "client" : "server",
				WIFEXITED(status) ? "exited with" : "was ended by signal",
				WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status),
				WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM
					? " (out of time)"
					: "");
		if (good && i == 0)
			kill(pid[who == pid[0]], SIGKILL);
		good = false;
	}
	return good;
}
