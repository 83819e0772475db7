/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The emulated network: see wan_net.h.
 *
 * Lines have no events of their own.  What leaves a queue is worked out when it matters: before a
 * packet is put into it, before it is looked at, and when the packet at its head may have arrived.
 * Since a line computes with its own times (wan_line.h), this changes no result, and a caller needs
 * to wake up only for what is due at a host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_rand.h"
#include "wan_net.h"

/* ---- what is under way: a heap by time, then by order -------------------------------------- */

static bool wan_before(const struct wan_event *a, const struct wan_event *b)
{
	return a->due != b->due ? a->due < b->due : a->seq < b->seq;
}

static void wan_heap_push(struct wan_net *net, uint64_t due, struct wan_pkt *p)
{
	struct wan_event e = { due, net->seq++, p }, *heap;
	uint32_t i;

	if (net->n == net->cap) {
		heap = reallocarray(net->heap, net->cap ? 2 * net->cap : 1024, sizeof(*heap));
		if (!heap) { /* as if the machine had lost it */
			wan_pkt_put(&net->pool, p);
			net->strange++;
			return;
		}
		net->heap = heap;
		net->cap = net->cap ? 2 * net->cap : 1024;
	}
	heap = net->heap;
	for (i = net->n++; i && wan_before(&e, &heap[(i - 1) / 2]); i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

static struct wan_pkt *wan_heap_pop(struct wan_net *net)
{
	struct wan_event *heap = net->heap, e;
	struct wan_pkt *p = heap[0].pkt;
	uint32_t i = 0, k;

	e = heap[--net->n];
	while ((k = 2 * i + 1) < net->n) {
		if (k + 1 < net->n && wan_before(&heap[k + 1], &heap[k]))
			k++;
		if (!wan_before(&heap[k], &e))
			break;
		heap[i] = heap[k];
		i = k;
	}
	heap[i] = e;
	return p;
}

/* ---- life ---------------------------------------------------------------------------------- */

static void wan_phase_free(struct wan_phase *ph)
{
	free(ph->group);
	free(ph->pair);
	free(ph->path);
	free(ph);
}

static struct wan_phase *wan_phase_make(const struct wan_net *net, uint64_t now, const char *name)
{
	struct wan_phase *ph = calloc(1, sizeof(*ph));

	if (!ph)
		return NULL;
	ph->group = calloc(net->groups, sizeof(*ph->group));
	ph->pair = calloc((size_t)net->hosts * net->hosts, sizeof(*ph->pair));
	ph->path = calloc((size_t)net->groups * net->paths, sizeof(*ph->path));
	if (!ph->group || !ph->pair || !ph->path) {
		wan_phase_free(ph);
		return NULL;
	}
	snprintf(ph->name, sizeof(ph->name), "%s", name);
	ph->begin_ns = now;
	for (uint16_t g = 0; g < net->groups; g++)
		ph->group[g].c.first_ns = UINT64_MAX;
	return ph;
}

int wan_net_init(struct wan_net *net, enum wan_shape shape, const struct wan_names *names,
		 uint16_t paths, uint64_t seed)
{
	static const struct wan_link perfect;

	memset(net, 0, sizeof(*net));
	net->names = *names;
	net->hosts = (uint16_t)(names->n[0] + names->n[1]);
	net->shape = (uint8_t)shape;
	net->groups = shape == WAN_SWITCH ? net->hosts : 2;
	net->paths = paths;
	net->line = calloc((size_t)net->groups * paths, sizeof(*net->line));
	net->first = net->now = wan_phase_make(net, 0, "start");
	if (!net->line || !net->first) {
		wan_net_free(net);
		return -1;
	}
	for (uint32_t i = 0; i < (uint32_t)net->groups * paths; i++)
		wan_line_init(&net->line[i], &perfect, seed + i * SDR_RAND_STEP);
	return 0;
}

void wan_net_free(struct wan_net *net)
{
	for (uint32_t i = 0; net->line && i < (uint32_t)net->groups * net->paths; i++) {
		for (struct wan_pkt *p = net->line[i].head, *next; p; p = next) {
			next = p->next;
			wan_pkt_put(&net->pool, p);
		}
	}
	for (uint32_t i = 0; i < net->n; i++)
		wan_pkt_put(&net->pool, net->heap[i].pkt);
	for (struct wan_phase *ph = net->first, *next; ph; ph = next) {
		next = ph->next;
		wan_phase_free(ph);
	}
	free(net->line);
	free(net->heap);
	wan_pool_free(&net->pool);
	memset(net, 0, sizeof(*net));
}

int wan_net_phase(struct wan_net *net, uint64_t now, const char *name)
{
	struct wan_phase *ph = wan_phase_make(net, now, name);

	if (!ph)
		return -1;
	wan_net_run(net, now);
	net->now->end_ns = now;
	net->now->next = ph;
	net->now = ph;
	return 0;
}

/* ---- lines --------------------------------------------------------------------------------- */

struct wan_line *wan_net_line(struct wan_net *net, uint16_t group, uint16_t path)
{
	return &net->line[(uint32_t)group * net->paths + path];
}

static struct wan_group *wan_net_group(const struct wan_net *net, uint16_t line)
{
	return &net->now->group[line / net->paths];
}

static struct wan_pair *wan_net_pair(const struct wan_net *net, const struct wan_pkt *p)
{
	return &net->now->pair[(uint32_t)p->src * net->hosts + p->dst];
}

static struct wan_pair *wan_net_path(const struct wan_net *net, const struct wan_pkt *p)
{
	return &net->now->path[p->line];
}

/* A packet has been sent, and goes on. */
static void wan_net_sent(struct wan_net *net, struct wan_line *l, struct wan_pkt *p,
			 const struct wan_left *left)
{
	struct wan_group *g = wan_net_group(net, p->line);
	const struct wan_link *cfg = &l->cfg;
	struct wan_pkt *copy = NULL;
	uint64_t due;
	uint8_t ecn;

	wan_hist_add(&g->sojourn, left->sojourn_ns);
	g->c.busy_ps += left->end_ps - left->start_ps;
	if (left->fate == WAN_MARK) {
		g->c.marks++;
		wan_net_pair(net, p)->marks++;
		wan_net_path(net, p)->marks++;
	}
	if (wan_loss_hit(&l->loss, cfg, left->start_ps)) {
		g->c.lost++;
		wan_net_pair(net, p)->lost++;
		wan_net_path(net, p)->lost++;
		wan_pkt_put(&net->pool, p);
		return;
	}
	ecn = wan_pkt_ecn(p);
	if (ecn != WAN_NOT_ECT && cfg->ecn != WAN_ECN_PASS)
		wan_pkt_ecn_set(p, cfg->ecn == WAN_ECN_BLEACH ? WAN_NOT_ECT : WAN_CE);
	if (cfg->dup > 0 && sdr_rand_unit(&l->rng) < cfg->dup)
		copy = wan_pkt_copy(&net->pool, p);
	due = wan_line_due(l, left->end_ps);
	wan_heap_push(net, due, p);
	if (copy) {
		g->c.copies++;
		wan_heap_push(net, wan_line_due(l, left->end_ps), copy);
	}
}

/* All that leaves the queue of a line up to now. */
static void wan_net_line_run(struct wan_net *net, struct wan_line *l, uint64_t now)
{
	struct wan_left left;
	struct wan_pkt *p;

	while ((p = wan_line_leave(l, now, &left)) != NULL) {
		if (left.fate != WAN_DROP) {
			wan_net_sent(net, l, p, &left);
			continue;
		}
		wan_net_group(net, p->line)->c.aqm_drops++;
		wan_net_pair(net, p)->drops++;
		wan_net_path(net, p)->drops++;
		wan_pkt_put(&net->pool, p);
	}
}

static void wan_net_lines_run(struct wan_net *net, uint64_t now)
{
	for (uint32_t i = 0; i < (uint32_t)net->groups * net->paths; i++)
		wan_net_line_run(net, &net->line[i], now);
}

static void wan_net_look(struct wan_net *net, uint64_t now)
{
	wan_net_lines_run(net, now);
	for (uint16_t i = 0; i < net->groups * net->paths; i++) {
		struct wan_group *g = wan_net_group(net, i);

		if (g->c.first_ns <= now)
			wan_hist_add(&g->wait, wan_line_wait(&net->line[i], now));
	}
	if (net->looked)
		net->looked(net->user, now);
}

void wan_net_run(struct wan_net *net, uint64_t now)
{
	for (; net->look_ns <= now; net->look_ns += WAN_LOOK_NS)
		wan_net_look(net, net->look_ns);
	wan_net_lines_run(net, now);
}

void wan_net_set(struct wan_net *net, uint64_t now, uint16_t group, uint16_t path,
		 const struct wan_link *cfg)
{
	wan_net_run(net, now);
	wan_net_line(net, group, path)->cfg = *cfg;
}

/* ---- packets ------------------------------------------------------------------------------- */

static bool wan_net_side(const struct wan_net *net, uint16_t host)
{
	return host >= net->names.n[0];
}

/* False: it stays within a side. */
static bool wan_net_way(const struct wan_net *net, struct wan_pkt *p)
{
	uint16_t group = p->dst;

	if (net->shape == WAN_TWO_SIDES) {
		if (wan_net_side(net, p->src) == wan_net_side(net, p->dst))
			return false;
		group = wan_net_side(net, p->src);
	}
	p->line = (uint16_t)(group * net->paths +
			     (net->names.ifs ? p->src_if : p->hash) % net->paths);
	return true;
}

static void wan_net_drop(struct wan_net *net, struct wan_pkt *p, uint64_t *counter)
{
	(*counter)++;
	wan_net_pair(net, p)->drops++;
	wan_net_path(net, p)->drops++;
	wan_pkt_put(&net->pool, p);
}

void wan_net_put(struct wan_net *net, uint64_t now, uint16_t src, struct wan_pkt *p)
{
	struct wan_group *g;
	struct wan_pair *both[2];
	struct wan_line *l;
	uint64_t backlog;
	uint32_t wire;

	p->src = src;
	p->next = NULL;
	if (p->dst == WAN_NOBODY || p->dst == src) {
		net->strange++;
		wan_pkt_put(&net->pool, p);
		return;
	}
	if (!wan_net_way(net, p)) {
		p->line = UINT16_MAX;
		wan_heap_push(net, now, p);
		return;
	}
	while (net->look_ns <= now) {
		wan_net_look(net, net->look_ns);
		net->look_ns += WAN_LOOK_NS;
	}
	l = &net->line[p->line];
	wan_net_line_run(net, l, now);
	g = wan_net_group(net, p->line);
	both[0] = wan_net_pair(net, p);
	both[1] = wan_net_path(net, p);
	wire = p->len + l->cfg.overhead;
	g->c.in++;
	g->c.in_bytes += wire;
	for (int i = 0; i < 2; i++) {
		both[i]->in++;
		both[i]->in_bytes += wire;
	}
	if (now < g->c.first_ns)
		g->c.first_ns = now;
	if (wan_pkt_ecn(p) == WAN_CE)
		g->c.ce_in++;
	if (l->cfg.down) {
		wan_net_drop(net, p, &g->c.down);
		return;
	}
	if (!wan_line_put(l, now, p)) {
		if (now - g->c.first_ns >= WAN_NS)
			g->c.late_drops++;
		wan_net_drop(net, p, &g->c.queue_drops);
		return;
	}
	backlog = wan_line_backlog(l, now);
	if (backlog > g->c.peak_bytes)
		g->c.peak_bytes = backlog;
}

/* A packet at the head of a line may be due before what is known to be. */
static uint64_t wan_net_lines_next(const struct wan_net *net)
{
	uint64_t t, next = UINT64_MAX;

	for (uint32_t i = 0; i < (uint32_t)net->groups * net->paths; i++) {
		t = wan_line_next(&net->line[i]);
		if (t != UINT64_MAX && t + net->line[i].cfg.delay_ns < next)
			next = t + net->line[i].cfg.delay_ns;
	}
	return next;
}

uint64_t wan_net_next(const struct wan_net *net)
{
	uint64_t next = wan_net_lines_next(net);

	return net->n && net->heap[0].due < next ? net->heap[0].due : next;
}

struct wan_pkt *wan_net_take(struct wan_net *net, uint64_t now, uint64_t *due)
{
	struct wan_group *g;
	struct wan_pair *both[2];
	struct wan_pkt *p;
	uint32_t wire;

	if (wan_net_lines_next(net) <= now)
		wan_net_run(net, now);
	if (!net->n || net->heap[0].due > now)
		return NULL;
	*due = net->heap[0].due;
	p = wan_heap_pop(net);
	if (p->line == UINT16_MAX)
		return p;
	g = wan_net_group(net, p->line);
	both[0] = wan_net_pair(net, p);
	both[1] = wan_net_path(net, p);
	wire = p->len + net->line[p->line].cfg.overhead;
	g->c.out++;
	g->c.out_bytes += wire;
	g->c.last_ns = *due;
	for (int i = 0; i < 2; i++) {
		both[i]->out++;
		both[i]->out_bytes += wire;
	}
	return p;
}

/* ---- names --------------------------------------------------------------------------------- */

void wan_net_host_name(const struct wan_net *net, uint16_t host, char out[WAN_NAME_MAX])
{
	bool b = wan_net_side(net, host);

	snprintf(out, WAN_NAME_MAX, "%c%u", b ? 'b' : 'a', host - (b ? net->names.n[0] : 0u) + 1u);
}

void wan_net_group_name(const struct wan_net *net, uint16_t group, char out[WAN_NAME_MAX])
{
	if (net->shape == WAN_SWITCH)
		wan_net_host_name(net, group, out);
	else
		snprintf(out, WAN_NAME_MAX, "%s", group ? "ba" : "ab");
}

int wan_net_host_find(const struct wan_names *names, const char *name)
{
	unsigned int side, i = 1;
	char more;

	if (*name != 'a' && *name != 'b')
		return -1;
	side = *name == 'b';
	if (name[1] && sscanf(name + 1, "%3u%c", &i, &more) != 1)
		return -1;
	if (i < 1 || i > names->n[side])
		return -1;
	return (int)(i - 1 + (side ? names->n[0] : 0));
}
