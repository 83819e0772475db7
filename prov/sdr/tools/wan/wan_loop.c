/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The emulator's process: moves packets between the hosts' devices and the emulated network.
 *
 * One round: hand over what is due, read what has come (as many packets as there are, within a
 * bound, so that what is due is not kept waiting), sleep until the next packet is due or one comes.
 * A packet has come when it was read; from then on its times are computed (wan_line.h), so that a
 * process that wakes late hands over late and shifts nothing else.  How late it was is part of the
 * result.  As root the process gets real-time priority, since others would be measured late.
 *
 * Changes come from the schedule and, as lines, from the control pipe.  One thread.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "tools/common/tool.h"
#include "wan.h"

#define WAN_BATCH 32u /* reads of a device before what is due is looked at again */

struct wan_loop {
	const struct wan_plan *plan;
	const struct wan_host *host;
	struct wan_net net;
	struct wan_machine m;
	struct pollfd fd[2 * WAN_HOSTS_MAX * WAN_PATHS_MAX + 1];
	struct wan_buf *big;
	struct wan_series *series;
	FILE *series_file;
	uint64_t base;
	uint32_t next_change;
	char said[4096];
	size_t nsaid;
	bool end;
};

static uint64_t wan_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * WAN_NS + (uint64_t)ts.tv_nsec;
}

static uint64_t wan_now(const struct wan_loop *w)
{
	return wan_clock() - w->base;
}

/* ---- packets ------------------------------------------------------------------------------- */

static void wan_deliver(struct wan_loop *w, struct wan_pkt *p)
{
	struct virtio_net_hdr vh;
	struct iovec iov[3] = { { &vh, sizeof(vh) },
				{ p->hdr, p->nhdr },
				{ p->buf->data + p->data, p->ndata } };

	wan_pkt_vnet(p, &vh);
	if (writev(w->host[p->dst].tun[p->dst_if], iov, p->ndata ? 3 : 2) < 0)
		w->m.refused++;
	else
		w->m.packets++;
	wan_pkt_put(&w->net.pool, p);
}

/* What is due at one time, and only that, is joined where it belongs together. */
static void wan_due(struct wan_loop *w)
{
	uint64_t now = wan_now(w), due;
	struct wan_pkt *p, *held = NULL;

	for (unsigned int i = 0; (p = wan_net_take(&w->net, now, &due)) != NULL; i++) {
		wan_hist_add(&w->m.late, now - due);
		if (held && held->dst == p->dst && w->host[p->dst].joins > !p->tcp &&
		    wan_pkt_join(held, p)) {
			wan_pkt_put(&w->net.pool, p);
			continue;
		}
		if (held)
			wan_deliver(w, held);
		held = p;
		if (i % 8 == 7)
			now = wan_now(w);
	}
	if (held)
		wan_deliver(w, held);
}

/* Buffers of super-packets are theirs; a small packet is copied, so that it does not hold one. */
static struct wan_buf *wan_keep(struct wan_loop *w, uint32_t len)
{
	struct wan_buf *b = w->big;

	if (len > 16384) {
		w->big = NULL;
		return b;
	}
	b = wan_buf_get(&w->net.pool, len);
	if (b)
		memcpy(b->data, w->big->data, len);
	return b;
}

static bool wan_read(struct wan_loop *w, uint16_t host, unsigned int interface)
{
	struct virtio_net_hdr vh;
	struct iovec iov[2] = { { &vh, sizeof(vh) } };
	struct wan_pkt *p, *next;
	struct wan_buf *b;
	uint64_t now;
	ssize_t n;

	if (!w->big)
		w->big = wan_buf_get(&w->net.pool, WAN_READ_MAX);
	if (!w->big)
		return false;
	iov[1].iov_base = w->big->data;
	iov[1].iov_len = WAN_READ_MAX;
	n = readv(w->host[host].tun[interface], iov, 2);
	if (n <= (ssize_t)sizeof(vh))
		return false;
	now = wan_now(w);
	w->m.reads++;
	b = wan_keep(w, (uint32_t)(n - (ssize_t)sizeof(vh)));
	if (!b)
		return true;
	p = wan_pkt_cut(&w->net.pool, &w->net.names, &vh, b, (uint32_t)(n - (ssize_t)sizeof(vh)));
	wan_buf_put(&w->net.pool, b);
	if (!p)
		w->net.strange++;
	for (; p; p = next) {
		next = p->next;
		p->src_if = (uint8_t)interface;
		wan_net_put(&w->net, now, host, p);
	}
	return true;
}

/* ---- changes and phases -------------------------------------------------------------------- */

static void wan_scheduled(struct wan_loop *w)
{
	const struct wan_plan *plan = w->plan;
	char why[WAN_WHY];

	for (; w->next_change < plan->nchanges; w->next_change++) {
		const struct wan_change *c = &plan->change[w->next_change];

		if (c->at_ns > wan_now(w))
			return;
		/* at its time, not at that of this process */
		if (wan_change_apply(&w->net, plan, c->at_ns, c, 1, why))
			tool_warn("--at: %s: %s", c->text, why);
	}
}

static void wan_said(struct wan_loop *w, char *line)
{
	struct wan_change c = { .group = -1, .path = -1 };
	char why[WAN_WHY];

	if (strcmp(line, "end") == 0)
		w->end = true;
	else if (strncmp(line, "phase ", 6) == 0)
		wan_net_phase(&w->net, wan_now(w), line + 6);
	else if (strncmp(line, "set ", 4) == 0 &&
		 (wan_change_read(&c, w->plan, line + 4, why) ||
		  wan_change_apply(&w->net, w->plan, wan_now(w), &c, 1, why)))
		tool_warn("set: %s", why);
}

static void wan_listen(struct wan_loop *w, int control)
{
	char *line = w->said, *nl;
	ssize_t n = read(control, w->said + w->nsaid, sizeof(w->said) - w->nsaid);

	if (n <= 0) {
		w->end = true;
		return;
	}
	w->nsaid += (size_t)n;
	while ((nl = memchr(line, '\n', w->nsaid - (size_t)(line - w->said))) != NULL) {
		*nl = 0;
		wan_said(w, line);
		line = nl + 1;
	}
	w->nsaid -= (size_t)(line - w->said);
	memmove(w->said, line, w->nsaid);
	if (w->nsaid == sizeof(w->said))
		w->nsaid = 0;
}

static void wan_looked(void *user, uint64_t now)
{
	struct wan_loop *w = user;

	if (w->series)
		wan_series_look(w->series, &w->net, now);
}

/* ---- the process --------------------------------------------------------------------------- */

static void wan_first(struct wan_loop *w)
{
	struct sched_param rt = { .sched_priority = 1 };

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_TIMERSLACK, 1);
	if (w->plan->ordinary)
		return;
	w->m.real_time = sched_setscheduler(0, SCHED_FIFO, &rt) == 0;
	if (!w->m.real_time)
		(void)setpriority(PRIO_PROCESS, 0, -20);
}

static uint64_t wan_until(const struct wan_loop *w)
{
	uint64_t next = wan_net_next(&w->net), at;

	if (w->next_change < w->plan->nchanges) {
		at = w->plan->change[w->next_change].at_ns;
		next = at < next ? at : next;
	}
	if (w->series && w->net.look_ns + w->plan->every_ns < next)
		next = w->net.look_ns + w->plan->every_ns;
	return next;
}

static void wan_wait(struct wan_loop *w, uint32_t n)
{
	uint64_t next = wan_until(w), now = wan_now(w);
	struct timespec ts = { 0 };

	if (next != UINT64_MAX && next > now) {
		ts.tv_sec = (time_t)((next - now) / WAN_NS);
		ts.tv_nsec = (long)((next - now) % WAN_NS);
	}
	if (ppoll(w->fd, n, next == UINT64_MAX ? NULL : &ts, NULL) <= 0) {
		for (uint32_t i = 0; i < n; i++)
			w->fd[i].revents = 0;
	}
}

static void wan_rounds(struct wan_loop *w, uint16_t hosts, int control)
{
	uint32_t ifs = wan_ifs(&w->plan->names), n = hosts * ifs;

	for (uint32_t i = 0; i < n; i++)
		w->fd[i] = (struct pollfd){ .fd = w->host[i / ifs].tun[i % ifs], .events = POLLIN };
	w->fd[n] = (struct pollfd){ .fd = control, .events = POLLIN };
	while (!w->end) {
		wan_scheduled(w);
		wan_due(w);
		wan_wait(w, n + 1u);
		for (uint32_t i = 0; i < n; i++) {
			for (unsigned int k = 0; w->fd[i].revents && k < WAN_BATCH; k++) {
				if (!wan_read(w, (uint16_t)(i / ifs), i % ifs))
					break;
			}
		}
		if (w->fd[n].revents)
			wan_listen(w, control);
		if (w->series)
			wan_net_run(&w->net, wan_now(w));
	}
}

static int wan_result(struct wan_loop *w, uint16_t hosts)
{
	const struct wan_plan *plan = w->plan;
	uint64_t before, behind, now = wan_now(w);
	FILE *f = stdout;

	w->net.now->end_ns = now;
	for (uint16_t i = 0; i < hosts; i++) {
		wan_host_drops(&w->host[i], &before, &behind);
		w->m.before += before;
		w->m.behind += behind;
	}
	if (plan->judge) {
		plan->judge(plan->judge_user, &w->net, &w->m);
		return TOOL_OK;
	}
	if (plan->json && strcmp(plan->json, "-") != 0)
		f = fopen(plan->json, "w");
	if (!f)
		tool_die("--json: %.200s: %s", plan->json, strerror(errno));
	wan_out_json(f, plan, &w->net, &w->m, now);
	if (fflush(f) || ferror(f) || (f != stdout && fclose(f)))
		tool_die("the result could not be written: %s", strerror(errno));
	if (w->m.before && !plan->quiet)
		tool_warn(
			"%llu packets were lost before the emulator could read them: the rate is too "
			"high for this machine, or it was busy",
			(unsigned long long)w->m.before);
	return TOOL_OK;
}

int wan_loop(const struct wan_plan *plan, const struct wan_host *host, int control)
{
	static struct wan_loop loop;
	struct wan_loop *w = &loop;
	uint16_t hosts = (uint16_t)(plan->names.n[0] + plan->names.n[1]);
	char why[WAN_WHY];

	w->plan = plan;
	w->host = host;
	if (wan_net_init(&w->net, plan->shape, &plan->names, plan->paths, plan->seed))
		tool_die("no memory for the network; fewer hosts");
	if (wan_change_apply(&w->net, plan, 0, plan->change, plan->nstart, why))
		tool_bad("%s", why);
	w->next_change = plan->nstart;
	if (plan->series) {
		w->series_file = fopen(plan->series, "w");
		if (!w->series_file)
			tool_bad("--series: %.200s: %s", plan->series, strerror(errno));
		w->series = wan_series_make(w->series_file, &w->net, plan->every_ns);
	}
	w->net.user = w;
	w->net.looked = wan_looked;
	wan_first(w);
	w->base = wan_clock();
	wan_rounds(w, hosts, control);
	wan_net_run(&w->net, wan_now(w));
	if (w->series) {
		wan_series_free(w->series);
		fclose(w->series_file);
	}
	return wan_result(w, hosts);
}
