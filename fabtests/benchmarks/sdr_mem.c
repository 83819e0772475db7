/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * Memory of one RDM endpoint (the hub, this process) as its peers become many. The peers are small
 * endpoints in forked processes; each sends the hub one message and gets one back, then stays
 * open and idle. Printed: heap in use and resident memory of the hub before the endpoint, with
 * the endpoint, with one peer and with all, the growth per idle connection, and both limits of
 * the project. Not counted: the kernel's socket buffers. Both figures are taken after an idle
 * time, so that what a provider gives back by then does not count.
 */
#include "bench_ep.h"

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 64u
#define MAX_PEERS     10000u
/* bytes of a peer process: the run ends before the machine does */
#define PEER_RSS_MAX (1024.0 * 1024 * 1024)
#define HUB_RECVS    64u		   /* receives that the hub keeps posted */
#define LIMIT_CONN   (64.0 * 1024)	   /* bytes an idle connection */
#define LIMIT_TOTAL  (256.0 * 1024 * 1024) /* bytes per endpoint with all its peers */

static struct {
	const char *prov;
	const char *node;
	uint32_t peers;
	uint32_t processes;
	double idle;	  /* s before each measurement */
	uint32_t timeout; /* s, whole run */
} opt = {
	.prov = "sdr",
	.node = "127.0.0.1",
	.peers = 1000,
	.processes = 10,
	.idle = 1,
	.timeout = 300,
};

struct usage {
	double heap; /* bytes in use, mapped chunks included */
	double rss;  /* bytes */
};

/* peer process -> hub */
struct greeting {
	uint32_t index;
	uint32_t kind; /* GREET_* */
	struct bench_name name;
	struct usage growth; /* GREET_IDLE: of the process, all its endpoints */
};

enum { GREET_NAME, GREET_IDLE };

static struct usage usage_now(void)
{
	struct mallinfo2 m = mallinfo2();
	struct usage u = { .heap = (double)m.uordblks + (double)m.hblkhd };
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0, total = 0;

	if (f) {
		if (fscanf(f, "%ld %ld", &total, &pages) == 2)
			u.rss = (double)pages * (double)sysconf(_SC_PAGESIZE);
		fclose(f);
	}
	return u;
}

static struct usage usage_since(struct usage then)
{
	struct usage u = usage_now();

	u.heap -= then.heap;
	u.rss -= then.rss;
	return u;
}

static struct bench_attr attr_of(size_t peers, size_t cq)
{
	return (struct bench_attr){
		.prov = opt.prov,
		.node = opt.node,
		.caps = FI_MSG | FI_TAGGED | FI_RMA,
		.peers = peers,
		.cq_size = cq,
	};
}

static void op_flag(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	*(bool *)op->arg = true;
}

/* ---- a process of peers ------------------------------------------------------------------ */

struct peer {
	struct bench_ep b;
	uint64_t tx, rx;
	struct fid_mr *mr;
};

static void progress_all(struct peer *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		bench_progress(&p[i].b);
}

/* opens endpoint number `index` of all, says its name, sends and waits for the answer */
static void peer_start(struct peer *p, uint32_t index, const struct bench_name *hub, int out)
{
	struct bench_attr attr = attr_of(1, 16);
	struct greeting g = { .index = index, .kind = GREET_NAME };
	struct bench_op s = { .done = op_flag }, r = { .done = op_flag };
	bool sent = false, got = false;
	fi_addr_t addr;

	s.arg = &sent;
	r.arg = &got;
	bench_open(&p->b, &attr);
	p->mr = bench_mr(&p->b, &p->tx, 2 * sizeof(p->tx), FI_SEND | FI_RECV, 1);
	addr = bench_peer(&p->b, hub);
	g.name = p->b.name;
	bench_write_all(out, &g, sizeof(g));
	p->tx = index;
	BENCH_POST(&p->b, fi_recv(p->b.ep, &p->rx, 8, bench_desc(&p->b, p->mr), addr, &r));
	BENCH_POST(&p->b, fi_send(p->b.ep, &p->tx, 8, bench_desc(&p->b, p->mr), addr, &s));
	while (!sent || !got)
		bench_progress(&p->b);
	if (p->rx != index + UINT64_C(0x100000000)) {
		fprintf(stderr, "peer %u: wrong answer\n", index);
		_exit(1);
	}
}

/* peers first, first + step, ...: as many as the hub wants, one number at a time */
static void peers_run(uint32_t first, uint32_t step, int in, int out)
{
	uint32_t room = opt.peers / step + 1, n = 0, wanted;
	struct peer *p = calloc(room, sizeof(*p));
	struct bench_name hub;
	struct greeting g = { .index = first, .kind = GREET_IDLE };
	struct usage start;
	struct pollfd poll_in = { .fd = in, .events = POLLIN };

	alarm(opt.timeout);
	bench_read_all(in, &hub, sizeof(hub));
	start = usage_now();
	for (;;) {
		/* idle ones make progress now and then, as an application with one thread would */
		while (poll(&poll_in, 1, 5) == 0)
			progress_all(p, n);
		if (read(in, &wanted, sizeof(wanted)) != (ssize_t)sizeof(wanted))
			_exit(0);
		for (; n < wanted && n < room; n++) {
			peer_start(&p[n], first + n * step, &hub, out);
			progress_all(p, n);
			if (usage_now().rss > PEER_RSS_MAX) {
				fprintf(stderr, "a process of %u peers uses more than %.0f bytes\n",
					n + 1, PEER_RSS_MAX);
				_exit(1);
			}
		}
		g.growth = usage_since(start);
		bench_write_all(out, &g, sizeof(g));
	}
}

/* ---- the hub ------------------------------------------------------------------------------- */

static struct hub {
	struct bench_ep b;
	int in[MAX_PROCESSES], out[MAX_PROCESSES];
	fi_addr_t *addr; /* by peer; FI_ADDR_UNSPEC until its name is known */
	uint64_t rx[HUB_RECVS], tx[HUB_RECVS];
	struct fid_mr *rx_mr, *tx_mr;
	struct bench_op recv[HUB_RECVS], send[HUB_RECVS];
	uint32_t idle; /* processes that are through with their last order */
	uint32_t answered;
	struct usage peers_growth;
} hub;

static void hub_post(uint32_t i)
{
	BENCH_POST(&hub.b, fi_recv(hub.b.ep, &hub.rx[i], 8, bench_desc(&hub.b, hub.rx_mr),
				   FI_ADDR_UNSPEC, &hub.recv[i]));
}

static void hub_greetings(int timeout)
{
	struct pollfd p[MAX_PROCESSES];
	struct greeting g;

	for (uint32_t i = 0; i < opt.processes; i++)
		p[i] = (struct pollfd){ .fd = hub.in[i], .events = POLLIN };
	if (poll(p, opt.processes, timeout) <= 0)
		return;
	for (uint32_t i = 0; i < opt.processes; i++) {
		if (!p[i].revents)
			continue;
		bench_read_all(hub.in[i], &g, sizeof(g));
		if (g.kind == GREET_IDLE) {
			hub.idle++;
			hub.peers_growth.heap += g.growth.heap;
			hub.peers_growth.rss += g.growth.rss;
		} else if (g.index < opt.peers) {
			hub.addr[g.index] = bench_peer(&hub.b, &g.name);
		}
	}
}

static void hub_sent(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	(void)e;
	hub.answered++;
	hub_post(op->index);
}

static void hub_received(struct bench_op *op, const struct fi_cq_tagged_entry *e)
{
	uint32_t i = op->index;
	uint64_t peer = hub.rx[i];

	if (e->len != 8 || peer >= opt.peers) {
		fprintf(stderr, "hub: a message that was not sent\n");
		_exit(1);
	}
	while (hub.addr[peer] == FI_ADDR_UNSPEC)
		hub_greetings(100);
	hub.tx[i] = peer + UINT64_C(0x100000000);
	BENCH_POST(&hub.b, fi_send(hub.b.ep, &hub.tx[i], 8, bench_desc(&hub.b, hub.tx_mr),
				   hub.addr[peer], &hub.send[i]));
}

/* peers 0..n-1 are connected and idle when it returns */
static void hub_grow(uint32_t n)
{
	double end;

	hub.idle = 0;
	memset(&hub.peers_growth, 0, sizeof(hub.peers_growth));
	for (uint32_t i = 0; i < opt.processes; i++) {
		uint32_t wanted = n / opt.processes + (i < n % opt.processes);

		bench_write_all(hub.out[i], &wanted, sizeof(wanted));
	}
	while (hub.idle < opt.processes || hub.answered < n) {
		hub_greetings(0);
		bench_progress(&hub.b);
	}
	for (end = bench_now() + opt.idle; bench_now() < end; usleep(1000))
		bench_progress(&hub.b);
}

static void line(const char *what, struct usage u)
{
	printf("%-34s %12.0f %12.0f\n", what, u.heap, u.rss);
	fflush(stdout);
}

static int verdict(const char *what, double bytes, double limit)
{
	bool ok = bytes <= limit;

	printf("%-4s %s: %.0f bytes, limit %.0f\n", ok ? "PASS" : "FAIL", what, bytes, limit);
	return ok;
}

static double larger(struct usage u)
{
	return u.heap > u.rss ? u.heap : u.rss;
}

static int hub_run(void)
{
	struct usage base, one, all, conn;
	struct bench_attr attr = attr_of(opt.peers, 4096);
	uint32_t checkpoints[] = { 10, 100 };
	int passed = 0;

	alarm(opt.timeout);
	hub.addr = malloc(opt.peers * sizeof(*hub.addr));
	for (uint32_t i = 0; i < opt.peers; i++)
		hub.addr[i] = FI_ADDR_UNSPEC;
	/* the library's own start is not the endpoint's */
	fi_freeinfo(fi_allocinfo());
	base = usage_now();
	bench_open(&hub.b, &attr);
	hub.rx_mr = bench_mr(&hub.b, hub.rx, sizeof(hub.rx), FI_RECV, 1);
	hub.tx_mr = bench_mr(&hub.b, hub.tx, sizeof(hub.tx), FI_SEND, 2);
	for (uint32_t i = 0; i < HUB_RECVS; i++) {
		hub.recv[i].index = hub.send[i].index = i;
		hub.recv[i].done = hub_received;
		hub.send[i].done = hub_sent;
		hub_post(i);
	}
	printf("provider %s, growth of one endpoint's process\n%-34s %12s %12s\n", opt.prov, "",
	       "heap bytes", "rss bytes");
	line("endpoint, no peer", usage_since(base));
	for (uint32_t i = 0; i < opt.processes; i++)
		bench_write_all(hub.out[i], &hub.b.name, sizeof(hub.b.name));
	hub_grow(1);
	one = usage_since(base);
	line("1 peer", one);
	for (int i = 0; i < 2; i++)
		if (checkpoints[i] < opt.peers) {
			char what[32];

			hub_grow(checkpoints[i]);
			snprintf(what, sizeof(what), "%u peers", checkpoints[i]);
			line(what, usage_since(base));
		}
	hub_grow(opt.peers);
	all = usage_since(base);
	{
		char what[32];

		snprintf(what, sizeof(what), "%u peers", opt.peers);
		line(what, all);
	}
	conn.heap = (all.heap - one.heap) / (opt.peers - 1);
	conn.rss = (all.rss - one.rss) / (opt.peers - 1);
	line("an idle connection", conn);
	line("(a peer: endpoint and connection)",
	     (struct usage){ .heap = hub.peers_growth.heap / opt.peers,
			     .rss = hub.peers_growth.rss / opt.peers });
	passed += verdict("an idle connection", larger(conn), LIMIT_CONN);
	passed += verdict("an endpoint with all its peers", larger(all), LIMIT_TOTAL);
	printf("%d passed, %d failed\n", passed, 2 - passed);
	fflush(stdout);
	return passed == 2 ? 0 : 1;
}

static int usage_text(void)
{
	fprintf(stderr, "usage: sdr_mem [--prov P] [--node ADDR] [--peers N] [--processes N]\n"
			"               [--idle S] [--timeout S]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct rlimit files;
	pid_t pids[MAX_PROCESSES];
	int rc;

	for (int i = 1; i < argc; i += 2) {
		const char *v = i + 1 < argc ? argv[i + 1] : NULL;

		if (!v)
			return usage_text();
		if (!strcmp(argv[i], "--prov"))
			opt.prov = v;
		else if (!strcmp(argv[i], "--node"))
			opt.node = *v ? v : NULL;
		else if (!strcmp(argv[i], "--peers"))
			opt.peers = (uint32_t)atoi(v);
		else if (!strcmp(argv[i], "--processes"))
			opt.processes = (uint32_t)atoi(v);
		else if (!strcmp(argv[i], "--idle"))
			opt.idle = atof(v);
		else if (!strcmp(argv[i], "--timeout"))
			opt.timeout = (uint32_t)atoi(v);
		else
			return usage_text();
	}
	if (opt.peers < 2 || opt.peers > MAX_PEERS || opt.processes < 1 ||
	    opt.processes > MAX_PROCESSES)
		return usage_text();
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	for (uint32_t i = 0; i < opt.processes; i++) {
		int down[2], up[2];

		if (pipe(down) || pipe(up)) {
			perror("pipe");
			return 1;
		}
		pids[i] = fork();
		if (pids[i] < 0) {
			perror("fork");
			return 1;
		}
		if (pids[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (uint32_t j = 0; j < i; j++) {
				close(hub.in[j]);
				close(hub.out[j]);
			}
			close(down[1]);
			close(up[0]);
			peers_run(i, opt.processes, down[0], up[1]);
		}
		close(down[0]);
		close(up[1]);
		hub.in[i] = up[0];
		hub.out[i] = down[1];
	}
	signal(SIGPIPE, SIG_IGN);
	rc = hub_run();
	for (uint32_t i = 0; i < opt.processes; i++)
		kill(pids[i], SIGKILL);
	for (uint32_t i = 0; i < opt.processes; i++)
		waitpid(pids[i], NULL, 0);
	_exit(rc);
}
