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
 *   fetch       fetch-adds of 8 bytes, one at a time: a whole round trip (bench_atomic.c)
 *   fetch_rate  likewise, a window in flight
 *
 * Each stream runs twice: a short warm-up whose every byte is verified and which says how many
 * operations fill the given seconds, then the measured run, where each message still carries and
 * is checked for its number. The clock stops when the receiver has said that it has everything.
 * Times are wall clock; both processes spin on their CQ. Nothing is pinned.
 */
#include "bench_atomic.h"
#include "bench_side.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_SIZE	(8u << 20) /* bytes */
#define MAX_LAT_SAMPLES 400000u
#define WARM_LAT	500u /* round trips */
#define RMA_KEY		0x5d5d
#define VERIFY_WAIT	5.0 /* s, for writes that were completed and not yet there */

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
		write_post(i, FI_DELIVERY_COMPLETE, side_op_take());
	side_ops_wait(window);
}

static void test_write(void)
{
	size_t size = opt.write_size;
	uint32_t window = opt.window;
	uint64_t done = 0;
	double start, end;

	side_ops_reset(window);
	for (int run = 0; run < 2; run++) {
		uint64_t salt = (uint64_t)run * 1000003 + 17;

		if (side.client) {
			for (uint32_t i = 0; i < window; i++)
				pattern_fill(side.tx + i * size, size, salt + i);
			side_sync(0);
			start = end = bench_now();
			while (run && end - start < opt.seconds) {
				struct bench_op *op = side_op_take();

				write_post(op->index, 0, op);
				done++;
				end = bench_now();
			}
			side_ops_wait(window);
			write_round(window);
			end = bench_now();
			if (run)
				side_result("write_bw", size, window,
					    (double)(done + window) * (double)size / (end - start) /
						    1e6,
					    "MB/s");
			side_sync(0);
		} else {
			memset(side.rx, 0, size * window);
			side_sync(0);
			side_sync(0);
			start = bench_now();
			for (uint32_t i = 0; i < window; i++)
				while (!pattern_ok(side.rx + i * size, 0, size, salt + i)) {
					bench_progress(&side.b);
					if (bench_now() - start > VERIFY_WAIT)
						side_wrong("write_bw", i);
				}
		}
		side_sync_pipe();
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
		side_wrong(stream.tagged ? "tagged_bw" : "rate", stream.number[op->index]);
	stream.received++;
	side.free[side.nfree++] = op->index;
}

static void stream_recv(uint64_t count)
{
	uint32_t slots = 2 * stream.window;
	void *desc = bench_desc(&side.b, side.rx_mr);

	side_ops_reset(slots);
	stream.received = 0;
	for (uint64_t n = 0; n < count || stream.received < count;) {
		while (n < count && side.nfree) {
			struct bench_op *op = side_op_take();
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
		struct bench_op *op = side_op_take();
		uint8_t *p = side.tx + op->index * stream.size;

		memcpy(p, &n, 8);
		if (stream.tagged)
			BENCH_POST(&side.b, fi_tsend(side.b.ep, p, stream.size, desc, side.peer,
						     stream.tag, op));
		else
			BENCH_POST(&side.b,
				   fi_send(side.b.ep, p, stream.size, desc, side.peer, op));
	}
	side_ops_wait(stream.window);
}

/* seconds for count messages, from the first post to the receiver's answer (client) */
static double stream_run(uint64_t count, bool verify)
{
	double start;

	stream.verify = verify;
	if (!side.client) {
		side_sync(0);
		stream_recv(count);
		side_sync(0);
		return 0;
	}
	side_ops_reset(stream.window);
	for (uint32_t i = 0; i < stream.window; i++)
		pattern_fill(side.tx + i * stream.size, stream.size, stream.tag);
	side_sync(0);
	start = bench_now();
	stream_send(count);
	side_sync(0);
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
			side_sync(count);
		} else {
			count = side_sync(0);
		}
	}
	t = stream_run(count, false);
	if (side.client && tagged)
		side_result("tagged_bw", size, stream.window,
			    (double)count * (double)size / t / 1e6, "MB/s");
	else if (side.client)
		side_result("rate", size, stream.window, (double)count / t / 1e3, "kmsg/s");
	side_sync_pipe();
}

/* ---- latency --------------------------------------------------------------------------------- */

#define LAT_TAG	 7u
#define LAT_SIZE 8u

/* n round trips; samples (seconds) may be NULL */
static void pingpong(uint64_t n, double *samples)
{
	bool inject = side.b.info->tx_attr->inject_size >= LAT_SIZE, got = false, sent = true;
	struct bench_op r = { .done = side_op_flag, .arg = &got },
			s = { .done = side_op_flag, .arg = &sent };
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
					side_wrong("lat", i);
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
	n = side.client ? (side_sync(n), n) : side_sync(0);
	v = calloc(n, sizeof(*v));
	pingpong(n, v);
	if (side.client) {
		side_result_times("lat", LAT_SIZE, v, n, 1e6 / 2);
	}
	free(v);
	side_sync(0);
	side_sync_pipe();
}

/* ---- the run --------------------------------------------------------------------------------- */

static bool wanted(const char *test)
{
	size_t len = strlen(test);

	for (const char *p = opt.tests; (p = strstr(p, test)); p += len) {
		if ((p == opt.tests || p[-1] == ',') && (p[len] == ',' || p[len] == '\0'))
			return true;
	}
	return false;
}

static void side_open(void)
{
	bool atomics = wanted("fetch") || wanted("fetch_rate");
	struct bench_attr attr = {
		.prov = opt.prov,
		.node = opt.node,
		.caps = FI_MSG | FI_TAGGED | FI_RMA | (atomics ? FI_ATOMIC : 0),
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
	side.rx_mr = bench_mr(&side.b, side.rx, side.room,
			      FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE, RMA_KEY);
	side.tx_mr = bench_mr(&side.b, side.tx, side.room, FI_SEND | FI_READ | FI_WRITE, LOCAL_KEY);
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
	side_sync(0);
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
	if (wanted("fetch"))
		bench_fetch();
	if (wanted("fetch_rate"))
		bench_fetch_rate();
	if (client && opt.format == FORMAT_JSON)
		printf("]\n");
	fflush(stdout);
	side_sync_pipe();
	if (side.tx_mr)
		fi_close(&side.tx_mr->fid);
	fi_close(&side.rx_mr->fid);
	/* sync_value's own registration goes with the process */
	_exit(0);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: sdr_bench [--prov P] [--node ADDR] [--tests LIST]\n"
		"                 [--seconds S] [--window N] [--rate-window N] [--write-size BYTES]\n"
		"                 [--progress manual|auto] [--threading safe|domain]\n"
		"                 [--format table|csv|json] [--timeout S]\n"
		"LIST: of write_bw, lat, rate, tagged_bw (all of these by default), fetch,\n"
		"fetch_rate (the provider must have atomics)\n");
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
