/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What peers and endpoints cost that are idle.
 *
 *   reads     nanoseconds of an fi_cq_read that finds nothing, beside 0 to 60,000 idle connections
 *   latency   8 bytes there and back with one honest peer, beside 1 and beside 1000 idle
 *             connections
 *   wakes     how often this process is woken in ten seconds by 200 idle endpoints of one domain
 *
 * The idle connections are those of sdr_stranger, a program beside this one: opened, validated, and
 * silent.  Reads and latency are measured with manual progress, wakes with automatic.  --check has
 * an exit status for the project's limits.  Others use the machine, too: figures are the tenth
 * percentile of many short batches, and what is compared takes turns.
 */
#include "bench_ep.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define READS	       2001u /* batches of reads, at most */
#define READS_SECONDS  4.0   /* ... and what they may take */
#define TRIPS	       101u  /* batches of round trips */
#define BATCH_SECONDS  2e-4  /* a batch of reads, about: less than a turn of the scheduler */
#define BATCH_TRIPS    50u   /* round trips per batch */
#define SETTLE_SECONDS 0.3   /* after the last connection, before anything is measured */
#define WAKE_SETTLE    2u    /* s */
/* limit: a read beside any number of connections, to one beside none */
#define READ_SPREAD 0.20
#define TRIP_RATIO  1.15 /* limit: round trip beside 1000 to beside 1 */
#define WAKES_MAX   3u	 /* limit: this program's own, no other's */
#define TIMEOUT	    300u /* s, whole run */
#define TAG	    0x1d1eull

static struct {
	uint32_t count[8]; /* idle connections, ascending, the first is 0 */
	uint32_t ncounts;
	uint32_t endpoints, seconds;
	bool check, reads, latency, wakes;
} opt = {
	.count = { 0, 1000, 10000, 60000 },
	.ncounts = 4,
	.endpoints = 200,
	.seconds = 10,
};

static char stranger[4096]; /* path */
static uint32_t failures;

static void check_bar(const char *what, double value, double least, double most)
{
	bool ok = value >= least && value <= most;

	if (!opt.check)
		return;
	printf("%s %s: %.3f, allowed are %.2f to %.2f\n", ok ? "ok -" : "not ok -", what, value,
	       least, most);
	failures += !ok;
}

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * Of a machine that others use too: what it does when it is left alone, but not the luckiest batch.
 */
static double low(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), cmp);
	return v[n / 10];
}

static void open_ep(struct bench_ep *b, enum fi_progress progress)
{
	struct bench_attr attr = {
		.prov = "sdr",
		.node = "127.0.0.1",
		.caps = FI_TAGGED | FI_MSG,
		.threading = FI_THREAD_DOMAIN,
		.progress = progress,
		.peers = 16,
		.cq_size = 64,
	};

	bench_open(b, &attr);
}

static void drive(struct bench_ep *b, double s)
{
	double until = bench_now() + s;

	while (bench_now() < until)
		bench_progress(b);
}

/*
 * Both sides of a round trip spin: they must not share a processor.  The nth of those that we may
 * use; -1: any.
 */
static void pin(int nth)
{
	static cpu_set_t all;
	cpu_set_t one;

	if (!CPU_COUNT(&all))
		sched_getaffinity(0, sizeof(all), &all);
	if (nth < 0) {
		sched_setaffinity(0, sizeof(all), &all);
		return;
	}
	nth %= CPU_COUNT(&all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &all) && !nth--)
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* ---- strangers ------------------------------------------------------------------------------- */

/*
 * n more connections to b, from addresses that were not used before.  Driven until all are there.
 */
static void crowd_add(struct bench_ep *b, uint32_t n)
{
	static uint32_t first;
	const struct sockaddr_in *me = (const void *)b->name.bytes;
	char count[16], from[16], port[16];
	double until = bench_now() + TIMEOUT;
	int status = 0;
	pid_t pid;

	if (!n)
		return;
	snprintf(count, sizeof(count), "%u", n);
	snprintf(from, sizeof(from), "%u", first);
	snprintf(port, sizeof(port), "%u", ntohs(me->sin_port));
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		bench_die("fork", -errno);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(-1);
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execl(stranger, "sdr_stranger", "-T", "200", "-n", count, "-a", from, "idle",
		      "127.0.0.1", port, (char *)NULL);
		perror(stranger);
		_exit(127);
	}
	first += n + n / 8 + 200; /* it passes over ports that are taken */
	while (waitpid(pid, &status, WNOHANG) != pid) {
		for (int i = 0; i < 16; i++)
			bench_progress(b);
		if (bench_now() > until) {
			kill(pid, SIGKILL);
			bench_die("the strangers are late", -ETIMEDOUT);
		}
	}
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "sdr_stranger could not open %u connections\n", n);
		bench_die("sdr_stranger", -FI_EOTHER);
	}
	drive(b, SETTLE_SECONDS);
}

/* ---- reads ----------------------------------------------------------------------------------- */

static double read_batch(struct bench_ep *b, uint32_t n)
{
	double t = bench_now();

	for (uint32_t k = 0; k < n; k++)
		bench_progress(b);
	return (bench_now() - t) / n * 1e9;
}

static void reads(void)
{
	static double v[READS], w[READS];
	struct bench_ep b, alone;
	double ns, ref, until;
	char what[64];
	uint32_t n, k;

	open_ep(&b, FI_PROGRESS_MANUAL);
	open_ep(&alone, FI_PROGRESS_MANUAL);
	printf("%12s %14s %14s %8s\n", "connections", "idle read ns", "beside none", "ratio");
	for (uint32_t i = 0; i < opt.ncounts; i++) {
		crowd_add(&b, opt.count[i] - (i ? opt.count[i - 1] : 0));
		n = (uint32_t)(BATCH_SECONDS * 1e9 / read_batch(&b, 10)) + 1;
		until = bench_now() + READS_SECONDS;
		for (k = 0; k < READS && (k < 10 || bench_now() < until); k++) {
			v[k] = read_batch(&b, n);
			w[k] = read_batch(&alone, n);
		}
		ns = low(v, k);
		ref = low(w, k);
		printf("%12u %14.1f %14.1f %8.3f\n", opt.count[i], ns, ref, ns / ref);
		fflush(stdout);
		snprintf(what, sizeof(what), "idle read beside %u connections", opt.count[i]);
		check_bar(what, ns / ref, 1 - READ_SPREAD, 1 + READ_SPREAD);
	}
	bench_close(&alone);
	bench_close(&b);
}

/* ---- latency --------------------------------------------------------------------------------- */

struct turn {
	struct bench_op op;
	bool done;
};

static void turned(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	((struct turn *)op)->done = true;
}

static void hear(struct bench_ep *b, uint64_t *word)
{
	struct turn r = { .op.done = turned };

	BENCH_POST(b, fi_trecv(b->ep, word, sizeof(*word), NULL, FI_ADDR_UNSPEC, TAG, 0, &r.op));
	while (!r.done)
		bench_progress(b);
}

static void tell(struct bench_ep *b, fi_addr_t to, uint64_t word)
{
	BENCH_POST(b, fi_tinject(b->ep, &word, sizeof(word), to, TAG));
}

#define BESIDE 2 /* endpoints whose round trips are compared */

/* The honest peer of both: sends what it receives to its sender, as often as it is set to. */
static void answer(int rd, int wr)
{
	struct bench_name name;
	fi_addr_t to[BESIDE];
	struct bench_ep b;
	uint64_t word;
	uint32_t n;

	open_ep(&b, FI_PROGRESS_MANUAL);
	bench_write_all(wr, &b.name, sizeof(b.name));
	for (int i = 0; i < BESIDE; i++) {
		bench_read_all(rd, &name, sizeof(name));
		to[i] = bench_peer(&b, &name);
	}
	for (;;) {
		bench_read_all(rd, &n, sizeof(n));
		if (!n)
			break;
		while (n--) {
			hear(&b, &word);
			tell(&b, to[word % BESIDE], word);
		}
		/* The last answer may have to be sent again. */
		drive(&b, 0.05);
	}
	_exit(0);
}

static double trip_batch(struct bench_ep *b, fi_addr_t to, uint64_t word)
{
	uint64_t back;
	double t = bench_now();

	for (uint32_t k = 0; k < BATCH_TRIPS; k++) {
		tell(b, to, word);
		hear(b, &back);
	}
	return (bench_now() - t) / BATCH_TRIPS * 1e6;
}

static void latency(void)
{
	static const uint32_t beside[BESIDE] = { 1, 1000 };
	static double v[BESIDE][TRIPS];
	uint32_t n = (TRIPS + 1) * BATCH_TRIPS * BESIDE, end = 0, i, k;
	struct bench_ep b[BESIDE];
	fi_addr_t to[BESIDE];
	struct bench_name name;
	int to_peer[2], from_peer[2];
	double us[BESIDE];
	pid_t pid;

	if (pipe(to_peer) || pipe(from_peer))
		bench_die("pipe", -errno);
	fflush(stdout);
	pin(0);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(1);
		answer(to_peer[0], from_peer[1]);
	}
	bench_read_all(from_peer[0], &name, sizeof(name));
	for (i = 0; i < BESIDE; i++) {
		open_ep(&b[i], FI_PROGRESS_MANUAL);
		bench_write_all(to_peer[1], &b[i].name, sizeof(b[i].name));
		to[i] = bench_peer(&b[i], &name);
		crowd_add(&b[i], beside[i]);
	}
	bench_write_all(to_peer[1], &n, sizeof(n));
	for (i = 0; i < BESIDE; i++) /* the first one warms up */
		trip_batch(&b[i], to[i], i);
	for (k = 0; k < TRIPS; k++)
		for (i = 0; i < BESIDE; i++)
			v[i][k] = trip_batch(&b[i], to[i], i);
	printf("%12s %14s %8s\n", "connections", "8 B trip us", "ratio");
	for (i = 0; i < BESIDE; i++) {
		us[i] = low(v[i], TRIPS);
		printf("%12u %14.2f %8.3f\n", beside[i], us[i], us[i] / us[0]);
	}
	fflush(stdout);
	check_bar("round trip beside 1000 connections, to beside 1", us[1] / us[0], 0, TRIP_RATIO);
	for (i = 0; i < BESIDE; i++)
		drive(&b[i], 0.1);
	bench_write_all(to_peer[1], &end, sizeof(end));
	waitpid(pid, NULL, 0);
	for (i = 0; i < BESIDE; i++)
		bench_close(&b[i]);
	pin(-1);
}

/* ---- wakes ----------------------------------------------------------------------------------- */

/* Times that any thread of this process slept and was woken, until now. */
static uint64_t switches(void)
{
	DIR *d = opendir("/proc/self/task");
	uint64_t sum = 0, n;
	struct dirent *e;
	char path[300], line[128];

	while (d && (e = readdir(d))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", e->d_name);
		f = *e->d_name == '.' ? NULL : fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &n) == 1)
				sum += n;
		if (f)
			fclose(f);
	}
	if (d)
		closedir(d);
	return sum;
}

static void wakes(void)
{
	struct fid_ep **ep = calloc(opt.endpoints, sizeof(*ep));
	struct bench_ep b;
	uint64_t before, n;
	uint32_t i;

	if (!ep)
		bench_die("memory", -FI_ENOMEM);
	open_ep(&b, FI_PROGRESS_AUTO);
	for (i = 1; i < opt.endpoints; i++) {
		BENCH_CHECK(fi_endpoint(b.domain, b.info, &ep[i], NULL));
		BENCH_CHECK(fi_ep_bind(ep[i], &b.cq->fid, FI_TRANSMIT | FI_RECV));
		BENCH_CHECK(fi_ep_bind(ep[i], &b.av->fid, 0));
		BENCH_CHECK(fi_enable(ep[i]));
	}
	sleep(WAKE_SETTLE);
	before = switches();
	sleep(opt.seconds);
	n = switches() - before;
	printf("%u idle endpoints: %" PRIu64 " wake-ups of the process in %u s\n", opt.endpoints, n,
	       opt.seconds);
	check_bar("wake-ups", (double)n, 0, WAKES_MAX);
	for (i = 1; i < opt.endpoints; i++)
		fi_close(&ep[i]->fid);
	free(ep);
	bench_close(&b);
}

/* ---- command line ---------------------------------------------------------------------------- */

static void usage(FILE *f)
{
	fprintf(f,
		"usage: sdr_idle [options] [reads] [latency] [wakes]   default: all three\n"
		"  -n N          maximum idle connections, for reads (default %u)\n"
		"  -e N          endpoints (default %u)\n"
		"  -t S          seconds in which wake-ups are counted (default %u)\n"
		"  --check       status 1 when a limit of the project is not kept: a read within %.0f %%, a round\n"
		"                trip within a factor of %.2f, no wake-ups but %u of this program's own\n",
		opt.count[3], opt.endpoints, opt.seconds, READ_SPREAD * 100, TRIP_RATIO, WAKES_MAX);
}

static uint32_t number(const char *s, uint32_t max)
{
	char *end;
	unsigned long v = strtoul(s, &end, 10);

	if (end == s || *end || !v || v > max) {
		fprintf(stderr, "sdr_idle: \"%s\" is not a number from 1 to %u\n", s, max);
		exit(2);
	}
	return (uint32_t)v;
}

int main(int argc, char **argv)
{
	static const struct option longs[] = { { "check", 0, NULL, 'c' },
					       { "help", 0, NULL, 'h' },
					       { 0 } };
	uint32_t most;
	char *slash;
	ssize_t len;
	int c;

	while ((c = getopt_long(argc, argv, "n:e:t:h", longs, NULL)) != -1) {
		switch (c) {
		case 'n':
			most = number(optarg, 1000000);
			while (opt.ncounts > 1 && opt.count[opt.ncounts - 1] >= most)
				opt.ncounts--;
			opt.count[opt.ncounts++] = most;
			break;
		case 'e':
			opt.endpoints = number(optarg, 10000);
			break;
		case 't':
			opt.seconds = number(optarg, 3600);
			break;
		case 'c':
			opt.check = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	}
	for (; optind < argc; optind++) {
		opt.reads |= !strcmp(argv[optind], "reads");
		opt.latency |= !strcmp(argv[optind], "latency");
		opt.wakes |= !strcmp(argv[optind], "wakes");
	}
	if (!opt.reads && !opt.latency && !opt.wakes)
		opt.reads = opt.latency = opt.wakes = true;
	len = readlink("/proc/self/exe", stranger, sizeof(stranger) - sizeof("sdr_stranger"));
	if (len < 0)
		bench_die("/proc/self/exe", -errno);
	stranger[len] = 0;
	slash = strrchr(stranger, '/');
	strcpy(slash + 1, "sdr_stranger");
	alarm(TIMEOUT);
	if (opt.reads)
		reads();
	if (opt.latency)
		latency();
	if (opt.wakes)
		wakes();
	return failures ? 1 : 0;
}
