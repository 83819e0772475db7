/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * Speed of an RDM endpoint over loopback: the program forks itself into a client and a server
 * (before any call of libfabric), which tell each other their addresses through pipes, so any
 * provider will do. Measured by the client:
 *
 *   write_bw    RMA writes, a window in flight; the last window with FI_DELIVERY_COMPLETE, inside
 *               the time
 *   lat         tagged ping-pong: half a round trip, median and 99th percentile
 *   rate        untagged sends, a window in flight
 *   tagged_bw   tagged sends, a window in flight
 *
 * Each stream runs twice: a short warm-up whose every byte is verified and which says how many
 * operations fill the given seconds, then the measured run, where each message still carries and
 * is checked for its number. The clock stops when the receiver has said that it has everything.
 * Times are wall clock; both processes spin on their CQ. Nothing is pinned.
 */
#include "bench_ep.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WINDOW	256u
#define MAX_SIZE	(8u << 20) /* bytes */
#define MAX_COUNT	(UINT64_C(1) << 32)
#define MAX_LAT_SAMPLES 400000u
#define WARM_LAT	500u /* round trips */
#define RMA_KEY		0x5d5d
#define LOCAL_KEY	0x5d5e /* for providers that want registered local buffers */
#define SYNC_TAG	UINT64_C(0x100000000)
#define VERIFY_WAIT	5.0 /* s, for writes that were completed and not yet there */

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

static struct {
	const char *prov;
	const char *node;
	const char *tests;
	enum format format;
	enum fi_threading threading;
	enum fi_progress progress;
	double seconds;	 /* a test */
	uint32_t window; /* operations in flight; of rate: rate_window */
	uint32_t rate_window;
	size_t write_size; /* bytes */
	uint32_t timeout;  /* s, for the whole run */
} opt = {
	.prov = "sdr",
	.node = "127.0.0.1",
	.tests = "write_bw,lat,rate,tagged_bw",
	.threading = FI_THREAD_DOMAIN,
	.seconds = 2,
	.window = 32,
	.rate_window = 64,
	.write_size = 1 << 20,
	.timeout = 120,
};

static struct side {
	struct bench_ep b;
	bool client;
	int in, out; /* pipes */
	fi_addr_t peer;
	uint8_t *tx, *rx; /* slots of the size of the test */
	size_t room;	  /* bytes of tx and of rx */
	struct fid_mr *tx_mr, *rx_mr;
	uint64_t remote, rkey; /* of the peer's rx */
	uint64_t syncs;	       /* done so far */
	struct bench_op op[2 * MAX_WINDOW];
	uint32_t free[2 * MAX_WINDOW], nfree;
} side;

struct hello {
	struct bench_name name;
	uint64_t addr, key;
};

static uint64_t pattern(uint64_t salt, uint64_t i)
{
	uint64_t x = (salt + i) * UINT64_C(0x9e3779b97f4a7c15);

	return x ^ (x >> 29);
}

static void pattern_fill(uint8_t *p, size_t len, uint64_t salt)
{
	for (size_t i = 0; i < len; i += 8) {
		uint64_t w = pattern(salt, i);

		memcpy(p + i, &w, len - i < 8 ? len - i : 8);
	}
}

static bool pattern_ok(const uint8_t *p, size_t from, size_t len, uint64_t salt)
{
	for (size_t i = from; i < len; i += 8) {
		uint64_t w = pattern(salt, i);

		if (memcmp(p + i, &w, len - i < 8 ? len - i : 8))
			return false;
	}
	return true;
}

static void wrong(const char *what, uint64_t n)
{
	fprintf(stderr, "%s: wrong data (message %llu)\n", what, (unsigned long long)n);
	_exit(1);
}

/* ---- completions ------------------------------------------------------------------------ */

static void op_release(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	side.free[side.nfree++] = op->index;
}

static void op_flag(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	*(bool *)op->arg = true;
}

static void ops_reset(uint32_t n)
{
	side.nfree = 0;
	for (uint32_t i = n; i-- > 0;) {
		side.op[i].index = i;
		side.op[i].done = op_release;
		side.free[side.nfree++] = i;
	}
}

static struct bench_op *op_take(void)
{
	while (side.nfree == 0)
		bench_progress(&side.b);
	return &side.op[side.free[--side.nfree]];
}

static void ops_wait(uint32_t n)
{
	while (side.nfree < n)
		bench_progress(&side.b);
}

/* ---- the two processes in step ------------------------------------------------------------ */

/* each sends the other a number, by message; returns the other's */
static uint64_t sync_value(uint64_t mine)
{
	static struct {
		uint64_t tx, rx;
	} * v;
	static struct fid_mr *mr;
	struct bench_op s = { .done = op_flag }, r = { .done = op_flag };
	bool sent = false, got = false;
	uint64_t tag = SYNC_TAG + side.syncs++;

	if (!v) {
		v = calloc(1, 4096);
		mr = bench_mr(&side.b, v, sizeof(*v), FI_SEND | FI_RECV, LOCAL_KEY + 1);
	}
	s.arg = &sent;
	r.arg = &got;
	v->tx = mine;
	BENCH_POST(&side.b,
		   fi_trecv(side.b.ep, &v->rx, 8, bench_desc(&side.b, mr), side.peer, tag, 0, &r));
	BENCH_POST(&side.b,
		   fi_tsend(side.b.ep, &v->tx, 8, bench_desc(&side.b, mr), side.peer, tag, &s));
	while (!sent || !got)
		bench_progress(&side.b);
	return v->rx;
}

/* by pipe: the other side needs no more progress from this one, which makes some all the same */
static void sync_pipe(void)
{
	struct pollfd p = { .fd = side.in, .events = POLLIN };
	char c = 'x';

	bench_write_all(side.out, &c, 1);
	while (poll(&p, 1, 0) == 0)
		bench_progress(&side.b);
	bench_read_all(side.in, &c, 1);
}

/* ---- results -------------------------------------------------------------------------------- */

static void result(const char *test, size_t size, uint32_t window, double value, const char *unit)
{
	static int rows;

	switch (opt.format) {
	case FORMAT_CSV:
		if (!rows++)
			printf("prov,test,size_bytes,window,value,unit\n");
		printf("%s,%s,%zu,%u,%.4f,%s\n", opt.prov, test, size, window, value, unit);
		break;
	case FORMAT_JSON:
		printf("%s{\"prov\":\"%s\",\"test\":\"%s\",\"size_bytes\":%zu,\"window\":%u,"
		       "\"value\":%.4f,\"unit\":\"%s\"}",
		       rows++ ? ",\n " : "[", opt.prov, test, size, window, value, unit);
		break;
	default:
		if (!rows++)
			printf("%-14s %-10s %9s %6s %14s\n", "provider", "test", "bytes", "window",
			       "value");
		printf("%-14s %-10s %9zu %6u %14.2f %s\n", opt.prov, test, size, window, value,
		       unit);
	}
	fflush(stdout);
}

/* ---- RMA writes ----------------------------------------------------------------------------- */

static void write_post(uint32_t slot, uint64_t flags, struct bench_op *op)
{
	size_t size = opt.write_size;
	void *desc = bench_desc(&side.b, side.tx_mr);
	struct iovec iov = { .iov_base = side.tx + slot * size, .iov_len = size };
	struct fi_rma_iov rma = { .addr = side.remote + slot * size,
				  .len = size,
				  .key = side.rkey };
	struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = side.peer,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.context = op,
	};

	BENCH_POST(&side.b, fi_writemsg(side.b.ep, &msg, flags | FI_COMPLETION));
}

/* one write to each slot, with all completions delivered; seconds */
static void write_round(uint32_t window)
{
	for (uint32_t i = 0; i < window; i++)
		write_post(i, FI_DELIVERY_COMPLETE, op_take());
	ops_wait(window);
}

static void test_write(void)
{
	size_t size = opt.write_size;
	uint32_t window = opt.window;
	uint64_t done = 0;
	double start, end;

	ops_reset(window);
	for (int run = 0; run < 2; run++) {
		uint64_t salt = (uint64_t)run * 1000003 + 17;

		if (side.client) {
			for (uint32_t i = 0; i < window; i++)
				pattern_fill(side.tx + i * size, size, salt + i);
			sync_value(0);
			start = end = bench_now();
			while (run && end - start < opt.seconds) {
				struct bench_op *op = op_take();

				write_post(op->index, 0, op);
				done++;
				end = bench_now();
			}
			ops_wait(window);
			write_round(window);
			end = bench_now();
			if (run)
				result("write_bw", size, window,
				       (double)(done + window) * (double)size / (end - start) / 1e6,
				       "MB/s");
			sync_value(0);
		} else {
			memset(side.rx, 0, size * window);
			sync_value(0);
			sync_value(0);
			start = bench_now();
			for (uint32_t i = 0; i < window; i++)
				while (!pattern_ok(side.rx + i * size, 0, size, salt + i)) {
					bench_progress(&side.b);
					if (bench_now() - start > VERIFY_WAIT)
						wrong("write_bw", i);
				}
		}
		sync_pipe();
	}
}

/* ---- streams of messages --------------------------------------------------------------------- */

struct stream {
	bool tagged;
	uint32_t window; /* sends in flight; twice as many receives */
	size_t size;	 /* bytes, 8 or more: the first 8 carry the number */
	uint64_t tag;
	bool verify;			 /* every byte */
	uint64_t number[2 * MAX_WINDOW]; /* of the receive that is posted in a slot */
	uint64_t received;
};

static struct stream stream;

static void stream_received(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	const uint8_t *p = side.rx + op->index * stream.size;
	uint64_t number;

	memcpy(&number, p, 8);
	if (number != stream.number[op->index] || e->len != stream.size ||
	    (stream.verify && !pattern_ok(p, 8, stream.size, stream.tag)))
		wrong(stream.tagged ? "tagged_bw" : "rate", stream.number[op->index]);
	stream.received++;
	side.free[side.nfree++] = op->index;
}

static void stream_recv(uint64_t count)
{
	uint32_t slots = 2 * stream.window;
	void *desc = bench_desc(&side.b, side.rx_mr);

	ops_reset(slots);
	stream.received = 0;
	for (uint64_t n = 0; n < count || stream.received < count;) {
		while (n < count && side.nfree) {
			struct bench_op *op = op_take();
			uint8_t *p = side.rx + op->index * stream.size;

			op->done = stream_received;
			stream.number[op->index] = n++;
			memset(p, 0xee, 8);
			if (stream.tagged)
				BENCH_POST(&side.b, fi_trecv(side.b.ep, p, stream.size, desc,
							     side.peer, stream.tag, 0, op));
			else
				BENCH_POST(&side.b,
					   fi_recv(side.b.ep, p, stream.size, desc, side.peer, op));
		}
		bench_progress(&side.b);
	}
}

static void stream_send(uint64_t count)
{
	void *desc = bench_desc(&side.b, side.tx_mr);

	for (uint64_t n = 0; n < count; n++) {
		struct bench_op *op = op_take();
		uint8_t *p = side.tx + op->index * stream.size;

		memcpy(p, &n, 8);
		if (stream.tagged)
			BENCH_POST(&side.b, fi_tsend(side.b.ep, p, stream.size, desc, side.peer,
						     stream.tag, op));
		else
			BENCH_POST(&side.b,
				   fi_send(side.b.ep, p, stream.size, desc, side.peer, op));
	}
	ops_wait(stream.window);
}

/* seconds for count messages, from the first post to the receiver's answer (client) */
static double stream_run(uint64_t count, bool verify)
{
	double start;

	stream.verify = verify;
	if (!side.client) {
		sync_value(0);
		stream_recv(count);
		sync_value(0);
		return 0;
	}
	ops_reset(stream.window);
	for (uint32_t i = 0; i < stream.window; i++)
		pattern_fill(side.tx + i * stream.size, stream.size, stream.tag);
	sync_value(0);
	start = bench_now();
	stream_send(count);
	sync_value(0);
	return bench_now() - start;
}

static void test_stream(bool tagged, size_t size, uint64_t tag)
{
	uint64_t count;
	double t;

	memset(&stream, 0, sizeof(stream));
	stream.window = tagged ? opt.window : opt.rate_window;
	count = 4 * (uint64_t)stream.window;
	stream.tagged = tagged;
	stream.size = size;
	stream.tag = tag;
	stream_run(count, true);
	/* a longer look at the speed, to fill the time given */
	for (int i = 0; i < 2; i++) {
		t = stream_run(count, true);
		if (side.client) {
			double want = (i ? opt.seconds : opt.seconds / 20) / t * (double)count;

			count = want > MAX_COUNT ? MAX_COUNT : want < 64 ? 64 : (uint64_t)want;
			sync_value(count);
		} else {
			count = sync_value(0);
		}
	}
	t = stream_run(count, false);
	if (side.client && tagged)
		result("tagged_bw", size, stream.window, (double)count * (double)size / t / 1e6,
		       "MB/s");
	else if (side.client)
		result("rate", size, stream.window, (double)count / t / 1e3, "kmsg/s");
	sync_pipe();
}

/* ---- latency --------------------------------------------------------------------------------- */

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#define LAT_TAG	 7u
#define LAT_SIZE 8u

/* n round trips; samples (seconds) may be NULL */
static void pingpong(uint64_t n, double *samples)
{
	bool inject = side.b.info->tx_attr->inject_size >= LAT_SIZE, got = false, sent = true;
	struct bench_op r = { .done = op_flag, .arg = &got }, s = { .done = op_flag, .arg = &sent };
	void *rx_desc = bench_desc(&side.b, side.rx_mr), *tx_desc = bench_desc(&side.b, side.tx_mr);
	uint64_t *tx = (uint64_t *)(void *)side.tx, *rx = (uint64_t *)(void *)side.rx;
	double last = bench_now();

	for (uint64_t i = 0; i < n; i++) {
		got = false;
		*rx = ~UINT64_C(0);
		BENCH_POST(&side.b,
			   fi_trecv(side.b.ep, rx, LAT_SIZE, rx_desc, side.peer, LAT_TAG, 0, &r));
		for (int turn = 0; turn < 2; turn++) {
			if ((turn == 0) != side.client) {
				while (!got)
					bench_progress(&side.b);
				if (*rx != i)
					wrong("lat", i);
				continue;
			}
			while (!sent)
				bench_progress(&side.b);
			*tx = i;
			if (inject) {
				BENCH_POST(&side.b,
					   fi_tinject(side.b.ep, tx, LAT_SIZE, side.peer, LAT_TAG));
			} else {
				sent = false;
				BENCH_POST(&side.b, fi_tsend(side.b.ep, tx, LAT_SIZE, tx_desc,
							     side.peer, LAT_TAG, &s));
			}
		}
		if (samples) {
			double now = bench_now();

			samples[i] = now - last;
			last = now;
		}
	}
	while (!sent)
		bench_progress(&side.b);
}

static void test_lat(void)
{
	uint64_t n;
	double *v, start;

	pingpong(WARM_LAT, NULL);
	start = bench_now();
	pingpong(WARM_LAT, NULL);
	n = (uint64_t)(opt.seconds / (bench_now() - start) * WARM_LAT);
	n = n > MAX_LAT_SAMPLES ? MAX_LAT_SAMPLES : n < 100 ? 100 : n;
	n = side.client ? (sync_value(n), n) : sync_value(0);
	v = calloc(n, sizeof(*v));
	pingpong(n, v);
	if (side.client) {
		qsort(v, n, sizeof(*v), compare_double);
		result("lat", LAT_SIZE, 1, v[n / 2] / 2 * 1e6, "us");
		result("lat_p99", LAT_SIZE, 1, v[n - n / 100 - 1] / 2 * 1e6, "us");
	}
	free(v);
	sync_value(0);
	sync_pipe();
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool wanted(const char *test)
{
	const char *p = strstr(opt.tests, test);
	size_t len = strlen(test);

	return p && (p == opt.tests || p[-1] == ',') && (p[len] == ',' || p[len] == '\0');
}

static void side_open(void)
{
	struct bench_attr attr = {
		.prov = opt.prov,
		.node = opt.node,
		.caps = FI_MSG | FI_TAGGED | FI_RMA,
		.threading = opt.threading,
		.progress = opt.progress,
		.peers = 2,
		.cq_size = 4 * MAX_WINDOW,
	};
	struct hello mine = { .key = 0 }, theirs;
	size_t slot = opt.write_size > (1u << 20) ? opt.write_size : 1u << 20;

	bench_open(&side.b, &attr);
	side.room = slot * 2 * opt.window; /* more than 2 * MAX_WINDOW * 8 */
	side.tx = mmap(NULL, side.room, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	side.rx = mmap(NULL, side.room, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (side.tx == MAP_FAILED || side.rx == MAP_FAILED)
		bench_die("mmap", -FI_ENOMEM);
	side.rx_mr = bench_mr(&side.b, side.rx, side.room, FI_RECV | FI_REMOTE_WRITE, RMA_KEY);
	side.tx_mr = bench_mr(&side.b, side.tx, side.room, FI_SEND | FI_WRITE, LOCAL_KEY);
	mine.name = side.b.name;
	mine.key = fi_mr_key(side.rx_mr);
	if (side.b.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		mine.addr = (uint64_t)(uintptr_t)side.rx;
	bench_write_all(side.out, &mine, sizeof(mine));
	bench_read_all(side.in, &theirs, sizeof(theirs));
	side.peer = bench_peer(&side.b, &theirs.name);
	side.remote = theirs.addr;
	side.rkey = theirs.key;
}

static int run(bool client, int in, int out)
{
	side.client = client;
	side.in = in;
	side.out = out;
	alarm(opt.timeout);
	side_open();
	sync_value(0);
	if (wanted("write_bw"))
		test_write();
	if (wanted("lat"))
		test_lat();
	if (wanted("rate"))
		test_stream(false, 8, 11);
	if (wanted("tagged_bw")) {
		test_stream(true, 65536, 12);
		test_stream(true, 1 << 20, 13);
	}
	if (client && opt.format == FORMAT_JSON)
		printf("]\n");
	fflush(stdout);
	sync_pipe();
	if (side.tx_mr)
		fi_close(&side.tx_mr->fid);
	fi_close(&side.rx_mr->fid);
	/* sync_value's own registration goes with the process */
	_exit(0);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: sdr_bench [--prov P] [--node ADDR] [--tests write_bw,lat,rate,tagged_bw]\n"
		"                 [--seconds S] [--window N] [--rate-window N] [--write-size BYTES]\n"
		"                 [--progress manual|auto] [--threading safe|domain]\n"
		"                 [--format table|csv|json] [--timeout S]\n");
	return 2;
}

static bool option(const char *name, const char *v)
{
	if (!strcmp(name, "--prov"))
		opt.prov = v;
	else if (!strcmp(name, "--node"))
		opt.node = *v ? v : NULL;
	else if (!strcmp(name, "--tests"))
		opt.tests = v;
	else if (!strcmp(name, "--seconds"))
		opt.seconds = atof(v);
	else if (!strcmp(name, "--window"))
		opt.window = (uint32_t)atoi(v);
	else if (!strcmp(name, "--rate-window"))
		opt.rate_window = (uint32_t)atoi(v);
	else if (!strcmp(name, "--write-size"))
		opt.write_size = strtoul(v, NULL, 0);
	else if (!strcmp(name, "--timeout"))
		opt.timeout = (uint32_t)atoi(v);
	else if (!strcmp(name, "--progress"))
		opt.progress = !strcmp(v, "auto") ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
	else if (!strcmp(name, "--threading"))
		opt.threading = !strcmp(v, "safe") ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
	else if (!strcmp(name, "--format"))
		opt.format = !strcmp(v, "csv")	  ? FORMAT_CSV
			     : !strcmp(v, "json") ? FORMAT_JSON
						  : FORMAT_TABLE;
	else
		return false;
	return true;
}

int main(int argc, char **argv)
{
	int up[2], down[2], status = 0;
	pid_t child;

	for (int i = 1; i < argc; i += 2)
		if (i + 1 >= argc || !option(argv[i], argv[i + 1]))
			return usage();
	if (opt.window < 1 || opt.window > MAX_WINDOW || opt.rate_window < 1 ||
	    opt.rate_window > MAX_WINDOW || opt.write_size < 8 || opt.write_size > MAX_SIZE ||
	    opt.seconds <= 0)
		return usage();
	signal(SIGPIPE, SIG_IGN);
	if (pipe(up) || pipe(down)) {
		perror("pipe");
		return 1;
	}
	child = fork();
	if (child < 0) {
		perror("fork");
		return 1;
	}
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(up[1]);
		close(down[0]);
		return run(false, up[0], down[1]);
	}
	close(up[0]);
	close(down[1]);
	/* the client is a child too: a crash in the provider is reported, not inherited */
	{
		pid_t client = fork();
		int failed = 0;

		if (client == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			return run(true, down[0], up[1]);
		}
		close(up[1]);
		close(down[0]);
		for (int i = 0; i < 2; i++) {
			pid_t who = waitpid(-1, &status, 0);

			if (who <= 0)
				break;
			if (!WIFEXITED(status) || WEXITSTATUS(status)) {
				fprintf(stderr, "sdr_bench: the %s %s %d\n",
					who == child ? "server" : "client",
					WIFEXITED(status) ? "exited with" : "was ended by signal",
					WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
				kill(who == child ? client : child, SIGKILL);
				failed = 1;
			}
		}
		return failed;
	}
}
