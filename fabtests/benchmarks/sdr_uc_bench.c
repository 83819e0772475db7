/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_uc_bench: what the soft engine costs beside the bare socket.
 *
 * Goodput: one sending and one receiving thread over loopback, flow-controlled in process by bytes
 * received, so that no socket buffer overflows; the same loop with nothing but UDP_SEGMENT,
 * UDP_GRO, sendmsg and recvmmsg (payload gathered from the same memory, left in the receive
 * buffers).  Latency: 8-byte ping-pong of control datagrams, both sides polling, beside
 * sendto/recv.  Rounds alternate; medians and their ratio are printed.
 *
 * Exit status 1 when --min RATIO is given and the goodput ratio of a size is below it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "uc/soft/sdr_soft.h"
#include "uc/sdr_uc_open.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define BENCH_ROUNDS_MAX 99
#define BENCH_BUFS	 16	/* receive buffers of the bare loop, as in the engine */
#define BENCH_TRAIN	 65000u /* bytes per train, at most */
#define BENCH_EVS	 512
#define BENCH_POST	 65536u /* bytes per call of post */
#define BENCH_HDR	 32u
#define BENCH_IDLE	 1000 /* empty polls behind the end */
#define BENCH_TRAILER	 4u

static double bench_seconds = 0.5;
static size_t bench_set = 16u << 20; /* bytes of the working set on either side */
static const char *bench_addr = "127.0.0.1";

static struct {
	atomic_uint_fast64_t got; /* payload bytes received */
	atomic_bool stop;
	uint64_t window;
	uint32_t mtu;
	uint8_t *src, *dst;
	int tx, rx; /* bare */
	struct sockaddr_in to;
	struct sdr_uc *a, *b; /* engine */
	struct sdr_uc_qp *qa, *qb;
	double cpu_tx, cpu_rx;
} bench;

static void die(const char *what, int err)
{
	fprintf(stderr, "sdr_uc_bench: %s: %s\n", what, strerror(err < 0 ? -err : err));
	exit(2);
}

static double seconds(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

/* Runs the receiver in a thread and the sender here; payload bits per second. */
static double goodput(void (*send_loop)(void), void *(*recv_loop)(void *))
{
	double t0, t1, c0;
	pthread_t th;

	atomic_store(&bench.got, 0);
	atomic_store(&bench.stop, false);
	if (pthread_create(&th, NULL, recv_loop, NULL))
		die("thread", EAGAIN);
	pin(0);
	t0 = seconds(CLOCK_MONOTONIC);
	c0 = seconds(CLOCK_THREAD_CPUTIME_ID);
	send_loop();
	t1 = seconds(CLOCK_MONOTONIC);
	bench.cpu_tx = seconds(CLOCK_THREAD_CPUTIME_ID) - c0;
	atomic_store(&bench.stop, true);
	pthread_join(th, NULL);
	return (double)atomic_load(&bench.got) * 8 / (t1 - t0);
}

/* ---- bare UDP -------------------------------------------------------------------------------- */

static int bare_socket(struct sockaddr_in *sa, bool gro)
{
	socklen_t len = sizeof(*sa);
	int fd, v = 8 << 20, one = 1;

	memset(sa, 0, sizeof(*sa));
	sa->sin_family = AF_INET;
	inet_pton(AF_INET, bench_addr, &sa->sin_addr);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)sa, sizeof(*sa)) ||
	    getsockname(fd, (struct sockaddr *)sa, &len))
		die("socket", errno);
	if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &v, sizeof(v)))
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &v, sizeof(v));
	if (gro)
		setsockopt(fd, IPPROTO_UDP, UDP_GRO, &one, sizeof(one));
	return fd;
}

static void bare_send(void)
{
	static uint8_t hdr[BENCH_HDR + BENCH_TRAILER];
	uint32_t seg = bench.mtu + BENCH_HDR + BENCH_TRAILER, n = BENCH_TRAIN / seg, i;
	double end = seconds(CLOCK_MONOTONIC) + bench_seconds;
	uint64_t sent = 0;
	size_t at = 0;

	n = n > 64 ? 64 : n;
	while (seconds(CLOCK_MONOTONIC) < end) {
		struct iovec iov[64 * 2];
		union {
			char buf[CMSG_SPACE(sizeof(uint16_t))];
			struct cmsghdr align;
		} c;
		struct msghdr m = { .msg_name = &bench.to,
				    .msg_namelen = sizeof(bench.to),
				    .msg_iov = iov,
				    .msg_control = c.buf,
				    .msg_controllen = sizeof(c.buf) };
		struct cmsghdr *cm = CMSG_FIRSTHDR(&m);
		uint16_t seg16 = (uint16_t)seg;

		if (sent - atomic_load_explicit(&bench.got, memory_order_relaxed) > bench.window) {
			sched_yield(); /* the kernel's own thread may have to deliver on this core
					*/
			continue;
		}
		cm->cmsg_level = IPPROTO_UDP;
		cm->cmsg_type = UDP_SEGMENT;
		cm->cmsg_len = CMSG_LEN(sizeof(seg16));
		memcpy(CMSG_DATA(cm), &seg16, sizeof(seg16));
		for (i = 0; i < n; i++) {
			iov[2 * i] = (struct iovec){ hdr, sizeof(hdr) };
			iov[2 * i + 1] = (struct iovec){ bench.src + at, bench.mtu };
			at += bench.mtu;
			if (at + bench.mtu > bench_set)
				at = 0;
		}
		m.msg_iovlen = 2 * n;
		if (sendmsg(bench.tx, &m, 0) < 0) {
			if (errno != EAGAIN)
				die("sendmsg", errno);
			continue;
		}
		sent += (uint64_t)n * bench.mtu;
	}
}

static void *bare_recv(void *arg)
{
	static uint8_t bufs[BENCH_BUFS][65536];
	uint32_t seg = bench.mtu + BENCH_HDR + BENCH_TRAILER;
	struct mmsghdr h[BENCH_BUFS];
	struct iovec iov[BENCH_BUFS];
	char cmsg[BENCH_BUFS][CMSG_SPACE(sizeof(int))];
	double c0 = seconds(CLOCK_THREAD_CPUTIME_ID);
	int i, n, idle = 0;

	(void)arg;
	pin(1);
	memset(h, 0, sizeof(h));
	for (;;) {
		uint64_t bytes = 0;

		for (i = 0; i < BENCH_BUFS; i++) {
			iov[i] = (struct iovec){ bufs[i], sizeof(bufs[i]) };
			h[i].msg_hdr.msg_iov = &iov[i];
			h[i].msg_hdr.msg_iovlen = 1;
			h[i].msg_hdr.msg_control = cmsg[i];
			h[i].msg_hdr.msg_controllen = sizeof(cmsg[i]);
		}
		n = recvmmsg(bench.rx, h, BENCH_BUFS, 0, NULL);
		if (n <= 0) {
			if (atomic_load(&bench.stop) && ++idle > BENCH_IDLE)
				break;
			sched_yield();
			continue;
		}
		for (i = 0; i < n; i++)
			bytes += h[i].msg_len / seg * bench.mtu;
		atomic_fetch_add_explicit(&bench.got, bytes, memory_order_relaxed);
	}
	bench.cpu_rx = seconds(CLOCK_THREAD_CPUTIME_ID) - c0;
	return NULL;
}

static double bare_goodput(void)
{
	struct sockaddr_in sa;
	double bps;

	bench.rx = bare_socket(&bench.to, true);
	bench.tx = bare_socket(&sa, false);
	bps = goodput(bare_send, bare_recv);
	close(bench.rx);
	close(bench.tx);
	return bps;
}

/* ---- the engine ------------------------------------------------------------------------------ */

static void engine_open(uint32_t mtu)
{
	struct sdr_uc_open_attr oa = { .mtu = mtu };
	struct sdr_uc_qp_attr qa = {
		.channels = 1, .generations = 4, .split = SDR_IMM_SPLIT_DEFAULT, .mtu = mtu
	};
	char name[128], err[SDR_UC_ERR_LEN] = "";
	struct sdr_wire_qp_info ia, ib;
	int ret;

	qa.max_msg = bench_set / mtu * mtu;
	snprintf(name, sizeof(name), "soft:%s", bench_addr);
	oa.err = err;
	oa.err_len = sizeof(err);
	if (sdr_uc_open(name, &oa, &bench.a) || sdr_uc_open(name, &oa, &bench.b)) {
		fprintf(stderr, "sdr_uc_bench: %s\n", err);
		exit(2);
	}
	qa.rand[1] = 1;
	ret = bench.a->ops->qp_create(bench.a, &qa, &bench.qa);
	qa.rand[1] = 2;
	ret = ret ? ret : bench.b->ops->qp_create(bench.b, &qa, &bench.qb);
	if (ret)
		die("qp", ret);
	bench.a->ops->qp_info(bench.qa, &ia);
	bench.b->ops->qp_info(bench.qb, &ib);
	ret = bench.a->ops->qp_connect(bench.qa, &ib, NULL);
	ret = ret ? ret : bench.b->ops->qp_connect(bench.qb, &ia, NULL);
	ret = ret ? ret : bench.b->ops->slot_bind(bench.qb, 0, 0, bench.dst, qa.max_msg, NULL);
	if (ret)
		die("connect", ret);
}

static void engine_close(void)
{
	bench.a->ops->qp_destroy(bench.qa);
	bench.b->ops->qp_destroy(bench.qb);
	bench.a->ops->close(bench.a);
	bench.b->ops->close(bench.b);
}

static void engine_send(void)
{
	uint32_t per = BENCH_POST / bench.mtu, npkts = (uint32_t)(bench_set / bench.mtu), at = 0;
	double end = seconds(CLOCK_MONOTONIC) + bench_seconds;
	uint64_t sent = 0;

	while (seconds(CLOCK_MONOTONIC) < end) {
		struct sdr_uc_tx t = { .kind = SDR_UC_TX_WRITE };
		uint32_t n = npkts - at < per ? npkts - at : per;

		if (sent - atomic_load_explicit(&bench.got, memory_order_relaxed) > bench.window) {
			sched_yield(); /* the kernel's own thread may have to deliver on this core
					*/
			continue;
		}
		t.len = n * bench.mtu;
		t.buf = bench.src + (size_t)at * bench.mtu;
		t.w.qp = bench.qa;
		t.w.first = at;
		if (bench.a->ops->post(bench.a, &t, 1) != 1)
			continue;
		sent += (uint64_t)n * bench.mtu;
		at = at + n == npkts ? 0 : at + n;
	}
}

static void *engine_recv(void *arg)
{
	static struct sdr_uc_ev ev[BENCH_EVS];
	double c0 = seconds(CLOCK_THREAD_CPUTIME_ID);
	int i, n, idle = 0;

	(void)arg;
	pin(1);
	for (;;) {
		uint64_t bytes = 0;

		n = bench.b->ops->poll(bench.b, ev, BENCH_EVS);
		if (!n) {
			if (atomic_load(&bench.stop) && ++idle > BENCH_IDLE)
				break;
			sched_yield();
			continue;
		}
		for (i = 0; i < n; i++)
			bytes += ev[i].len;
		atomic_fetch_add_explicit(&bench.got, bytes, memory_order_relaxed);
	}
	bench.cpu_rx = seconds(CLOCK_THREAD_CPUTIME_ID) - c0;
	return NULL;
}

static double engine_goodput(void)
{
	struct sdr_uc_stats a, b;
	double bps;

	engine_open(bench.mtu);
	bps = goodput(engine_send, engine_recv);
	bench.a->ops->stats(bench.a, &a);
	bench.b->ops->stats(bench.b, &b);
	if (a.pkts_tx != b.pkts_rx)
		fprintf(stderr, "sdr_uc_bench: %llu of %llu packets lost, %llu bad\n",
			(unsigned long long)(a.pkts_tx - b.pkts_rx), (unsigned long long)a.pkts_tx,
			(unsigned long long)b.pkts_bad);
	engine_close();
	return bps;
}

/* ---- latency --------------------------------------------------------------------------------- */

static void *bare_echo(void *arg)
{
	struct sockaddr_in from;
	uint8_t buf[64];

	(void)arg;
	pin(1);
	while (!atomic_load_explicit(&bench.stop, memory_order_relaxed)) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(bench.rx, buf, sizeof(buf), 0, (struct sockaddr *)&from, &len);

		if (n > 0)
			sendto(bench.rx, buf, (size_t)n, 0, (struct sockaddr *)&from, len);
	}
	return NULL;
}

static double bare_latency(void)
{
	double t0, end;
	struct sockaddr_in sa;
	uint8_t buf[64];
	uint64_t rounds = 0;
	pthread_t th;

	bench.rx = bare_socket(&bench.to, false);
	bench.tx = bare_socket(&sa, false);
	atomic_store(&bench.stop, false);
	pthread_create(&th, NULL, bare_echo, NULL);
	pin(0);
	t0 = seconds(CLOCK_MONOTONIC);
	end = t0 + bench_seconds;
	for (; seconds(CLOCK_MONOTONIC) < end; rounds++) {
		sendto(bench.tx, buf, 8, 0, (struct sockaddr *)&bench.to, sizeof(bench.to));
		while (recv(bench.tx, buf, sizeof(buf), 0) < 0)
			;
	}
	end = seconds(CLOCK_MONOTONIC);
	atomic_store(&bench.stop, true);
	pthread_join(th, NULL);
	close(bench.rx);
	close(bench.tx);
	return (end - t0) / (double)rounds / 2;
}

static void *engine_echo(void *arg)
{
	static struct sdr_uc_ev ev[BENCH_EVS];
	int i, n;

	(void)arg;
	pin(1);
	while (!atomic_load_explicit(&bench.stop, memory_order_relaxed)) {
		n = bench.b->ops->poll(bench.b, ev, BENCH_EVS);
		for (i = 0; i < n; i++) {
			struct sdr_uc_tx t = { .kind = SDR_UC_TX_CTL,
					       .len = ev[i].len,
					       .buf = ev[i].c.buf };

			t.to = ev[i].c.from;
			bench.b->ops->post(bench.b, &t, 1);
		}
	}
	return NULL;
}

static double engine_latency(void)
{
	static struct sdr_uc_ev ev[BENCH_EVS];
	struct sdr_uc_info info;
	uint64_t rounds = 0;
	double t0, end;
	pthread_t th;

	engine_open(SDR_MTU_DEFAULT);
	bench.b->ops->info(bench.b, &info);
	atomic_store(&bench.stop, false);
	pthread_create(&th, NULL, engine_echo, NULL);
	pin(0);
	t0 = seconds(CLOCK_MONOTONIC);
	end = t0 + bench_seconds;
	for (; seconds(CLOCK_MONOTONIC) < end; rounds++) {
		struct sdr_uc_tx t = { .kind = SDR_UC_TX_CTL, .len = 8, .buf = bench.src };

		t.to = &info.addr;
		bench.a->ops->post(bench.a, &t, 1);
		while (!bench.a->ops->poll(bench.a, ev, BENCH_EVS))
			;
	}
	end = seconds(CLOCK_MONOTONIC);
	atomic_store(&bench.stop, true);
	pthread_join(th, NULL);
	engine_close();
	return (end - t0) / (double)rounds / 2;
}

/* ---- main ------------------------------------------------------------------------------------ */

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, int n)
{
	qsort(v, (size_t)n, sizeof(*v), cmp);
	return v[n / 2];
}

/* Adds GB, sender's and receiver's CPU seconds of the last run. */
static void account(double cost[3])
{
	cost[0] += (double)atomic_load(&bench.got) / 1e9;
	cost[1] += bench.cpu_tx;
	cost[2] += bench.cpu_rx;
}

/* A line for each packet size.  True: one is below the ratio. */
static int bench_goodputs(const uint32_t *mtus, int nmtu, int rounds, const char *only, double min)
{
	double raw[BENCH_ROUNDS_MAX], eng[BENCH_ROUNDS_MAX], r, e;
	int i, k, bad = 0;

	for (k = 0; k < nmtu; k++) {
		double cost[2][3] = { { 0 } };

		bench.mtu = mtus[k];
		for (i = 0; i < rounds; i++) {
			raw[i] = strcmp(only, "engine") ? bare_goodput() : 1;
			account(cost[0]);
			eng[i] = strcmp(only, "bare") ? engine_goodput() : 1;
			account(cost[1]);
		}
		r = median(raw, rounds);
		e = median(eng, rounds);
		bad |= e / r < min;
		printf("%5u B    %8.2f Gb/s %6.2f Gb/s %6.2f   %.2f + %.2f, %.2f + %.2f\n", mtus[k],
		       r / 1e9, e / 1e9, e / r, cost[0][1] / cost[0][0], cost[0][2] / cost[0][0],
		       cost[1][1] / cost[1][0], cost[1][2] / cost[1][0]);
		fflush(stdout);
	}
	return bad;
}

int main(int argc, char **argv)
{
	static const struct option opts[] = { { "seconds", required_argument, NULL, 't' },
					      { "rounds", required_argument, NULL, 'r' },
					      { "mtu", required_argument, NULL, 'm' },
					      { "set", required_argument, NULL, 's' },
					      { "min", required_argument, NULL, 'l' },
					      { "only", required_argument, NULL, 'o' },
					      { NULL, 0, NULL, 0 } };
	uint32_t mtus[8] = { 1024, 4096, 8192 };
	double raw[BENCH_ROUNDS_MAX], eng[BENCH_ROUNDS_MAX], min = 0, r, e;
	int nmtu = 3, rounds = 5, c, i, bad = 0;
	const char *only = "";
	bool first = true;

	while ((c = getopt_long(argc, argv, "t:r:m:s:l:o:", opts, NULL)) != -1) {
		switch (c) {
		case 't':
			bench_seconds = atof(optarg);
			break;
		case 'r':
			rounds = atoi(optarg);
			break;
		case 'm':
			nmtu = first ? 0 : nmtu;
			first = false;
			if (nmtu < 8)
				mtus[nmtu++] = (uint32_t)atoi(optarg);
			break;
		case 's':
			bench_set = (size_t)atol(optarg);
			break;
		case 'l':
			min = atof(optarg);
			break;
		case 'o':
			only = optarg;
			break;
		default:
			fprintf(stderr,
				"usage: %s [-t SECONDS] [-r ROUNDS] [-m MTU]... [-s "
				"WORKING_SET_BYTES] [-l MIN_RATIO]"
				" [-o engine|bare|latency]\n",
				argv[0]);
			return 2;
		}
	}
	if (rounds < 1 || rounds > BENCH_ROUNDS_MAX)
		rounds = 5;
	bench.src = aligned_alloc(4096, bench_set);
	bench.dst = aligned_alloc(4096, bench_set);
	if (!bench.src || !bench.dst)
		die("memory", ENOMEM);
	memset(bench.src, 0x5a, bench_set);
	memset(bench.dst, 0, bench_set);
	bench.window = 4u << 20;
	printf("%-10s %12s %12s %7s   %s\n", "test", "bare UDP", "soft engine", "ratio",
	       "CPU s/GB, tx + rx: bare, engine");
	if (strcmp(only, "latency"))
		bad = bench_goodputs(mtus, nmtu, rounds, only, min);
	if (*only && strcmp(only, "latency"))
		return bad;
	for (i = 0; i < rounds; i++) {
		raw[i] = bare_latency();
		eng[i] = engine_latency();
	}
	r = median(raw, rounds);
	e = median(eng, rounds);
	printf("8 B half RTT %6.2f us %9.2f us %8.2f\n", r * 1e6, e * 1e6, e / r);
	return bad;
}
