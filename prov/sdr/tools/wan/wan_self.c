/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_wan --self-test: the emulator against its own arithmetic, on this machine.
 *
 * Each case is a network of two hosts, a sender in one and a receiver in the other, both processes
 * of this program (wan_self_load.c); what the receiver saw and what the emulator counted has to be
 * what the settings say.  Counts are exact, or hold within what chance allows (five standard
 * deviations); times hold within the bounds of a machine that has nothing else to do, and can be
 * left out with --no-times.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/common/tool.h"
#include "wan_self.h"

#define UDP_OVER 28u
#define TCP_OVER 52u /* with time stamps */

struct self_case {
	const char *name, *settings;
	struct self_load load;
	uint32_t mtu;
	bool no_gso;
	void (*judge)(const struct self_case *c);
};

/* What the case that runs has, in memory that its processes share. */
static struct self_seen *seen;
static struct wan_net *judged;
static const struct wan_machine *machine;
static bool times = true;
static unsigned int failed;

static void self_check(bool good, const char *what, double is, double want)
{
	printf("  %-4s %s: %.6g, wanted %.6g\n", good ? "ok" : "BAD", what, is, want);
	failed += !good;
}

static void self_equal(const char *what, uint64_t is, uint64_t want)
{
	self_check(is == want, what, (double)is, (double)want);
}

static void self_near(const char *what, double is, double want, double by)
{
	self_check(fabs(is - want) <= by, what, is, want);
}

static void self_time(const char *what, double is, double from, double to)
{
	if (times)
		self_check(is >= from && is <= to, what, is, (from + to) / 2);
}

/* Those for which the receiver's socket had no room came, too. */
static void self_received(uint64_t want)
{
	self_equal("packets received", seen->packets + seen->full, want);
	if (seen->full)
		printf("       %llu of them found no room in the socket: a busy machine\n",
		       (unsigned long long)seen->full);
}

static const struct wan_count *self_count(void)
{
	return &judged->first->group[0].c;
}

/* ---- judges -------------------------------------------------------------------------------- */

/* All of it came, as so many true packets of so many bytes. */
static void judge_bytes(const struct self_case *c)
{
	const struct wan_count *n = self_count();

	self_equal("packets that came to the queue", n->in, c->load.packets);
	self_equal("their bytes", n->in_bytes,
		   (uint64_t)c->load.packets * (c->load.bytes + UDP_OVER));
	self_equal("packets delivered", n->out, c->load.packets);
	self_received(c->load.packets);
	self_equal("bytes received", seen->bytes, seen->packets * c->load.bytes);
	self_equal("bytes that differ", seen->wrong, 0);
	self_equal("out of order", seen->reordered, 0);
	self_check(c->no_gso ? machine->reads >= c->load.packets
			     : machine->reads < c->load.packets / 4,
		   c->no_gso ? "reads, one a packet" : "reads, one for many packets",
		   (double)machine->reads, c->no_gso ? c->load.packets : c->load.packets / 4);
}

static void judge_tcp(const struct self_case *c)
{
	const struct wan_count *n = self_count();
	uint64_t payload = (uint64_t)c->load.packets * c->load.bytes;

	self_equal("bytes received", seen->bytes, payload);
	self_equal("bytes that differ", seen->wrong, 0);
	/* SYN has 8 more; a segment sent twice would show */
	self_near("bytes on the line without headers",
		  (double)n->in_bytes - (double)n->in * TCP_OVER, (double)payload,
		  0.002 * (double)payload);
	self_check(n->in >= payload / (c->mtu - TCP_OVER), "packets on the line", (double)n->in,
		   (double)payload / (c->mtu - TCP_OVER));
}

static void judge_delay(const struct self_case *c)
{
	const struct wan_link *l = &judged->line[0].cfg;
	double d = (double)l->delay_ns * 1e-9;

	self_received(c->load.packets);
	self_check((double)wan_hist_at(&seen->way, 0) * 1e-9 >= 0.984 * d, "fastest, s",
		   (double)wan_hist_at(&seen->way, 0) * 1e-9, d);
	self_time("median, s", (double)wan_hist_at(&seen->way, 0.5) * 1e-9, 0.984 * d, d + 1e-3);
}

static void judge_rate(const struct self_case *c)
{
	const struct wan_link *l = &judged->line[0].cfg;
	double want =
		(double)c->load.packets * (c->load.bytes + UDP_OVER) * 8 / (double)l->rate_bps;
	const struct wan_count *n = self_count();

	self_received(c->load.packets);
	self_near("time that the line was sending, s", (double)n->busy_ps * 1e-12, want, 1e-6);
	self_time("time from first to last packet, s",
		  (double)(seen->last_ns - seen->first_ns) * 1e-9, 0.98 * want, 1.02 * want + 2e-3);
}

static void judge_queue(const struct self_case *c)
{
	const struct wan_link *l = &judged->line[0].cfg;
	const struct wan_count *n = self_count();
	double full = (double)l->queue_bytes * 8 / (double)l->rate_bps;

	self_check(n->peak_bytes <= l->queue_bytes &&
			   n->peak_bytes + 2 * (c->load.bytes + UDP_OVER) > l->queue_bytes,
		   "longest queue, bytes", (double)n->peak_bytes, (double)l->queue_bytes);
	self_near("longest wait, s", (double)judged->first->group[0].sojourn.max * 1e-9, full,
		  0.05 * full);
	self_equal("delivered and dropped", n->out + n->queue_drops, c->load.packets);
	self_received(n->out);
	self_time("slowest, s", (double)seen->way.max * 1e-9, 0.95 * full, 1.05 * full + 5e-3);
}

static void judge_loss(const struct self_case *c)
{
	const struct wan_count *n = self_count();
	double p = judged->line[0].cfg.loss, N = c->load.packets;

	self_near("lost", (double)n->lost, N * p, 5 * sqrt(N * p));
	self_received(c->load.packets - n->lost);
}

static void judge_bursts(const struct self_case *c)
{
	const struct wan_link *l = &judged->line[0].cfg;
	const struct wan_count *n = self_count();
	double N = c->load.packets, B = l->ge_burst, want = N * l->ge_loss;

	/* the number of losses of a chain varies by about 2 B - 1 times as much */
	self_near("lost", (double)n->lost, want, 5 * sqrt(want * (2 * B - 1)));
	self_received(c->load.packets - n->lost);
	if (!seen->full)
		self_near("mean length of a burst", (double)seen->gap_packets / (double)seen->gaps,
			  B, 5 * B / sqrt(want / B));
}

static void judge_marks(const struct self_case *c)
{
	const struct wan_count *n = self_count();
	bool ect = c->load.ecn;

	self_received(c->load.packets);
	if (!seen->full)
		self_equal("marks received", seen->marked, n->marks);
	/* 20 of 1428 bytes at 100 Mbit/s are 2.3 ms; all but those that came first wait longer */
	if (ect)
		self_check(n->marks > c->load.packets / 2 && n->marks < c->load.packets, "marked",
			   (double)n->marks, c->load.packets * 0.9);
	else
		self_equal("marked", n->marks, 0);
}

static void judge_reorder(const struct self_case *c)
{
	double N = c->load.packets, p = judged->line[0].cfg.reorder;

	self_received(c->load.packets);
	self_near("overtaken", (double)seen->reordered, N * p, 6 * sqrt(N * p));
}

/* ---- cases --------------------------------------------------------------------------------- */

/* 20000 datagrams in super-packets of 40, with and without offloads, and so on. */
static const struct self_case cases[] = {
	{ "bytes of UDP, with offloads",
	  "rate=1gbit",
	  { 8000, 1400, 40, 8e3, 0 },
	  9000,
	  false,
	  judge_bytes },
	{ "bytes of UDP, without",
	  "rate=1gbit",
	  { 8000, 1400, 40, 8e3, 0 },
	  9000,
	  true,
	  judge_bytes },
	{ "bytes of UDP, large packets",
	  "rate=1gbit",
	  { 2000, 8900, 1, 4e3, 0 },
	  9000,
	  true,
	  judge_bytes },
	{ "bytes of TCP, MTU 9000", "rate=1gbit", { 400, 65536, 0, 0, 0 }, 9000, false, judge_tcp },
	{ "bytes of TCP, MTU 1500", "rate=1gbit", { 200, 65536, 0, 0, 0 }, 1500, false, judge_tcp },
	{ "bytes of TCP, without offloads",
	  "rate=1gbit",
	  { 200, 65536, 0, 0, 0 },
	  1500,
	  true,
	  judge_tcp },
	{ "delay", "rtt=25ms", { 200, 1000, 1, 500, 0 }, 9000, false, judge_delay },
	{ "rate", "rate=100mbit", { 6000, 1400, 20, 2e4, 0 }, 9000, false, judge_rate },
	{ "queue",
	  "rate=100mbit,queue=128k",
	  { 6000, 1400, 20, 2e4, 0 },
	  9000,
	  false,
	  judge_queue },
	{ "loss", "loss=5%", { 20000, 100, 20, 2e4, 0 }, 9000, false, judge_loss },
	{ "bursts",
	  "rate=1gbit,loss=ge:0.05:8",
	  { 20000, 8900, 1, 2e4, 0 },
	  9000,
	  false,
	  judge_bursts },
	{ "marks",
	  "rate=100mbit,aqm=step:2ms",
	  { 4000, 1400, 20, 2e4, WAN_ECT_0 },
	  9000,
	  false,
	  judge_marks },
	{ "no marks without ECN",
	  "rate=100mbit,aqm=step:2ms",
	  { 4000, 1400, 20, 2e4, 0 },
	  9000,
	  false,
	  judge_marks },
	{ "reordering",
	  "reorder=0.05:20ms",
	  { 10000, 100, 1, 2e4, 0 },
	  9000,
	  false,
	  judge_reorder },
};

static void self_judge(void *user, struct wan_net *net, const struct wan_machine *m)
{
	const struct self_case *c = user;

	judged = net;
	machine = m;
	self_equal("lost before the emulator read them", m->before, 0);
	c->judge(c);
	if (seen->why[0])
		self_check(false, seen->why, 0, 0);
}

/* In a process of its own, the first of a process namespace. */
static int self_run(const struct self_case *c)
{
	static struct wan_plan plan;
	static struct wan_host host[2];
	struct wan_change change = { .group = -1, .path = -1, .text = c->settings };
	pid_t receiver, sender;
	int control[2];

	plan.names = (struct wan_names){ .n = { 1, 1 } };
	plan.paths = 1;
	plan.mtu = c->mtu;
	plan.seed = 1;
	plan.every_ns = WAN_NS;
	plan.no_offload = c->no_gso;
	plan.change[0] = change;
	plan.nchanges = plan.nstart = 1;
	plan.judge = self_judge;
	plan.judge_user = (void *)(uintptr_t)c;
	wan_hosts_make(&plan, host);
	if (pipe(control))
		tool_die("pipe: %s", strerror(errno));
	receiver = wan_self_receive(&c->load, host[1].ns, seen);
	sender = wan_self_send(&c->load, host[0].ns, seen);
	if (receiver < 0 || sender < 0)
		tool_die("fork: %s", strerror(errno));
	close(control[1]); /* when the sender ends, so does the emulator */
	wan_loop(&plan, host, control[0]);
	return failed ? TOOL_FAILED : TOOL_OK;
}

/* In a process of its own, too, since nobody can go back out of a user namespace. */
static int self_one(const struct self_case *c)
{
	int status;
	pid_t pid;

	wan_hosts_enter();
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		tool_die("fork: %s", strerror(errno));
	if (!pid) {
		printf("%s (%s)\n", c->name, c->settings);
		status = self_run(c);
		fflush(stdout);
		_exit(status);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : TOOL_FAILED;
}

int wan_self_test(int argc, char **argv)
{
	unsigned int bad = 0, n = sizeof(cases) / sizeof(cases[0]);
	int status;
	pid_t pid;

	if (argc == 3 && strcmp(argv[2], "--no-times") == 0)
		times = false;
	else if (argc != 2)
		tool_bad("--self-test takes nothing, or --no-times");
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (seen == MAP_FAILED)
		tool_die("no memory");
	for (unsigned int i = 0; i < n; i++) {
		memset(seen, 0, sizeof(*seen));
		fflush(NULL);
		pid = fork();
		if (pid < 0)
			tool_die("fork: %s", strerror(errno));
		if (!pid)
			_exit(self_one(&cases[i]));
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(status) && WEXITSTATUS(status) == WAN_SKIP)
			return WAN_SKIP;
		bad += !WIFEXITED(status) || WEXITSTATUS(status);
	}
	printf("%u passed, %u failed\n", n - bad, bad);
	tool_written();
	return bad ? TOOL_FAILED : TOOL_OK;
}
