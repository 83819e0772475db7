/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Results: the JSON object at the end of a run, and the rows of a time series.
 *
 * Names are those of sdr_wan(1).  Numbers of a direction cover all its paths.  Sums over phases are
 * made here: counters add up, histograms too.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/common/tool.h"
#include "wan.h"

#define WAN_S 1e-9

static void wan_count_add(struct wan_count *to, const struct wan_count *c)
{
	to->in += c->in;
	to->in_bytes += c->in_bytes;
	to->out += c->out;
	to->out_bytes += c->out_bytes;
	to->queue_drops += c->queue_drops;
	to->late_drops += c->late_drops;
	to->aqm_drops += c->aqm_drops;
	to->marks += c->marks;
	to->lost += c->lost;
	to->down += c->down;
	to->copies += c->copies;
	to->ce_in += c->ce_in;
	to->busy_ps += c->busy_ps;
	if (c->first_ns < to->first_ns)
		to->first_ns = c->first_ns;
	if (c->last_ns > to->last_ns)
		to->last_ns = c->last_ns;
	if (c->peak_bytes > to->peak_bytes)
		to->peak_bytes = c->peak_bytes;
}

static void wan_pair_add(struct wan_pair *to, const struct wan_pair *p)
{
	to->in += p->in;
	to->in_bytes += p->in_bytes;
	to->out += p->out;
	to->out_bytes += p->out_bytes;
	to->drops += p->drops;
	to->lost += p->lost;
	to->marks += p->marks;
}

static void wan_out_hist(FILE *f, const char *name, const struct wan_hist *h)
{
	fprintf(f,
		"\"%s\":{\"mean_s\":%.9f,\"p50_s\":%.9f,\"p95_s\":%.9f,\"p99_s\":%.9f,"
		"\"max_s\":%.9f}",
		name, h->n ? (double)h->sum / (double)h->n * WAN_S : 0,
		(double)wan_hist_at(h, 0.5) * WAN_S, (double)wan_hist_at(h, 0.95) * WAN_S,
		(double)wan_hist_at(h, 0.99) * WAN_S, (double)h->max * WAN_S);
}

static void wan_out_group(FILE *f, const struct wan_net *net, uint16_t g,
			  const struct wan_group *grp)
{
	const struct wan_count *c = &grp->c;
	char name[WAN_NAME_MAX];
	double span = c->last_ns > c->first_ns ? (double)(c->last_ns - c->first_ns) * WAN_S : 0;

	wan_net_group_name(net, g, name);
	fprintf(f,
		"{\"direction\":\"%s\",\"in_packets\":%llu,\"in_bytes\":%llu,\"packets\":%llu,"
		"\"bytes\":%llu,\"queue_drops\":%llu,\"queue_drops_later\":%llu,\"aqm_drops\":%llu,"
		"\"marks\":%llu,\"lost\":%llu,\"link_down_drops\":%llu,\"duplicates\":%llu,"
		"\"ce_before\":%llu,\"drop_share\":%.6g,",
		name, (unsigned long long)c->in, (unsigned long long)c->in_bytes,
		(unsigned long long)c->out, (unsigned long long)c->out_bytes,
		(unsigned long long)c->queue_drops, (unsigned long long)c->late_drops,
		(unsigned long long)c->aqm_drops, (unsigned long long)c->marks,
		(unsigned long long)c->lost, (unsigned long long)c->down,
		(unsigned long long)c->copies, (unsigned long long)c->ce_in,
		c->in ? (double)(c->queue_drops + c->aqm_drops) / (double)c->in : 0);
	fprintf(f,
		"\"first_s\":%.6f,\"last_s\":%.6f,\"bits_per_s\":%.0f,\"busy_s\":%.6f,"
		"\"queue_peak_bytes\":%llu,",
		c->in ? (double)c->first_ns * WAN_S : 0, (double)c->last_ns * WAN_S,
		span > 0 ? (double)c->out_bytes * 8 / span : 0, (double)c->busy_ps * 1e-12,
		(unsigned long long)c->peak_bytes);
	wan_out_hist(f, "queue_delay", &grp->sojourn);
	fputc(',', f);
	wan_out_hist(f, "wait", &grp->wait);
	fputc('}', f);
}

static void wan_out_pair(FILE *f, const struct wan_pair *p)
{
	fprintf(f,
		"\"in_packets\":%llu,\"in_bytes\":%llu,\"packets\":%llu,\"bytes\":%llu,"
		"\"drops\":%llu,\"lost\":%llu,\"marks\":%llu}",
		(unsigned long long)p->in, (unsigned long long)p->in_bytes,
		(unsigned long long)p->out, (unsigned long long)p->out_bytes,
		(unsigned long long)p->drops, (unsigned long long)p->lost,
		(unsigned long long)p->marks);
}

static void wan_out_pairs(FILE *f, const struct wan_net *net, const struct wan_pair *pair)
{
	char src[WAN_NAME_MAX], dst[WAN_NAME_MAX];
	bool any = false;

	for (uint32_t i = 0; i < (uint32_t)net->hosts * net->hosts; i++) {
		const struct wan_pair *p = &pair[i];

		if (!p->in && !p->out)
			continue;
		wan_net_host_name(net, (uint16_t)(i / net->hosts), src);
		wan_net_host_name(net, (uint16_t)(i % net->hosts), dst);
		fprintf(f, "%s{\"from\":\"%s\",\"to\":\"%s\",", any ? "," : "", src, dst);
		wan_out_pair(f, p);
		any = true;
	}
}

static void wan_path_name(const struct wan_net *net, uint32_t line, char out[2 * WAN_NAME_MAX])
{
	char name[WAN_NAME_MAX];

	wan_net_group_name(net, (uint16_t)(line / net->paths), name);
	snprintf(out, 2 * WAN_NAME_MAX, "%s/%u", name, line % net->paths + 1);
}

/* Where there are several. */
static void wan_out_paths(FILE *f, const struct wan_net *net, const struct wan_pair *path)
{
	char name[2 * WAN_NAME_MAX];

	fprintf(f, ",\n \"paths\":[");
	for (uint32_t i = 0; i < (uint32_t)net->groups * net->paths; i++) {
		const struct wan_pair *p = &path[i];

		wan_path_name(net, i, name);
		fprintf(f, "%s{\"path\":\"%s\",", i ? ",\n  " : "", name);
		wan_out_pair(f, p);
	}
	fprintf(f, "]");
}

static void wan_out_phase(FILE *f, const struct wan_net *net, const struct wan_group *group,
			  const struct wan_pair *pair, const struct wan_pair *path)
{
	fprintf(f, "\"directions\":[");
	for (uint16_t g = 0; g < net->groups; g++) {
		if (g)
			fprintf(f, ",\n  ");
		wan_out_group(f, net, g, &group[g]);
	}
	fprintf(f, "],\n \"pairs\":[");
	wan_out_pairs(f, net, pair);
	fprintf(f, "]");
	if (net->paths > 1)
		wan_out_paths(f, net, path);
}

static void wan_out_sum(FILE *f, const struct wan_net *net)
{
	size_t pairs = (size_t)net->hosts * net->hosts;
	struct wan_group *group = tool_alloc(NULL, net->groups, sizeof(*group));
	struct wan_pair *pair = tool_alloc(NULL, pairs, sizeof(*pair));
	uint32_t paths = (uint32_t)net->groups * net->paths;
	struct wan_pair *path = tool_alloc(NULL, paths, sizeof(*path));

	memset(path, 0, paths * sizeof(*path));
	memset(group, 0, net->groups * sizeof(*group));
	memset(pair, 0, pairs * sizeof(*pair));
	for (uint16_t g = 0; g < net->groups; g++)
		group[g].c.first_ns = UINT64_MAX;
	for (const struct wan_phase *ph = net->first; ph; ph = ph->next) {
		for (uint16_t g = 0; g < net->groups; g++) {
			wan_count_add(&group[g].c, &ph->group[g].c);
			wan_hist_merge(&group[g].sojourn, &ph->group[g].sojourn);
			wan_hist_merge(&group[g].wait, &ph->group[g].wait);
		}
		for (size_t i = 0; i < pairs; i++)
			wan_pair_add(&pair[i], &ph->pair[i]);
		for (uint32_t i = 0; i < paths; i++)
			wan_pair_add(&path[i], &ph->path[i]);
	}
	wan_out_phase(f, net, group, pair, path);
	free(group);
	free(pair);
	free(path);
}

static void wan_out_links(FILE *f, struct wan_net *net)
{
	char name[WAN_NAME_MAX];

	fprintf(f, " \"links\":[");
	for (uint16_t g = 0; g < net->groups; g++) {
		for (uint16_t k = 0; k < net->paths; k++) {
			const struct wan_link *c = &wan_net_line(net, g, k)->cfg;

			wan_net_group_name(net, g, name);
			fprintf(f,
				"%s{\"direction\":\"%s\",\"path\":%u,\"rate_bps\":%llu,"
				"\"delay_s\":%.9f,\"queue_bytes\":%llu,\"aqm\":\"%s\",\"loss\":%g,"
				"\"ge_loss\":%g,\"ge_burst\":%g,\"overhead\":%u}",
				g || k ? ",\n  " : "", name, k, (unsigned long long)c->rate_bps,
				(double)c->delay_ns * WAN_S, (unsigned long long)c->queue_bytes,
				wan_aqm_name(c->aqm), c->loss, c->ge_loss, c->ge_burst,
				c->overhead);
		}
	}
	fprintf(f, "],\n");
}

void wan_out_json(FILE *f, const struct wan_plan *plan, struct wan_net *net,
		  const struct wan_machine *m, uint64_t now)
{
	net->now->end_ns = now;
	fprintf(f, "{\"seconds\":%.6f,\"hosts\":[%u,%u],\"mtu\":%u,\"seed\":%llu,\n",
		(double)now * WAN_S, net->names.n[0], net->names.n[1], plan->mtu,
		(unsigned long long)plan->seed);
	wan_out_links(f, net);
	fprintf(f,
		" \"machine\":{\"real_time\":%s,\"reads\":%llu,\"writes\":%llu,\"refused\":%llu,"
		"\"lost_before\":%llu,\"lost_behind\":%llu,\"strange\":%llu,",
		m->real_time ? "true" : "false", (unsigned long long)m->reads,
		(unsigned long long)m->packets, (unsigned long long)m->refused,
		(unsigned long long)m->before, (unsigned long long)m->behind,
		(unsigned long long)net->strange);
	wan_out_hist(f, "late", &m->late);
	fprintf(f, "},\n ");
	wan_out_sum(f, net);
	fprintf(f, ",\n \"phases\":[");
	for (const struct wan_phase *ph = net->first; ph; ph = ph->next) {
		fprintf(f, "%s{\"name\":", ph == net->first ? "" : ",\n ");
		tool_json_text(f, ph->name);
		fprintf(f, ",\"begin_s\":%.6f,\"end_s\":%.6f,\n ", (double)ph->begin_ns * WAN_S,
			(double)ph->end_ns * WAN_S);
		wan_out_phase(f, net, ph->group, ph->pair, ph->path);
		fprintf(f, "}");
	}
	fprintf(f, "]}\n");
}

/* ---- the time series ------------------------------------------------------------------------ */

struct wan_series {
	FILE *f;
	uint64_t every_ns, next_ns;
	const struct wan_phase *phase;
	struct wan_count *group; /* as of the last row */
	struct wan_pair *pair, *path;
};

static size_t wan_series_paths(const struct wan_net *net)
{
	return (size_t)net->groups * net->paths;
}

struct wan_series *wan_series_make(FILE *f, const struct wan_net *net, uint64_t every_ns)
{
	struct wan_series *s = tool_alloc(NULL, 1, sizeof(*s));
	size_t pairs = (size_t)net->hosts * net->hosts;

	*s = (struct wan_series){ .f = f, .every_ns = every_ns, .next_ns = every_ns };
	s->group = tool_alloc(NULL, net->groups, sizeof(*s->group));
	s->pair = tool_alloc(NULL, pairs, sizeof(*s->pair));
	s->path = tool_alloc(NULL, wan_series_paths(net), sizeof(*s->path));
	memset(s->path, 0, wan_series_paths(net) * sizeof(*s->path));
	memset(s->group, 0, net->groups * sizeof(*s->group));
	memset(s->pair, 0, pairs * sizeof(*s->pair));
	fprintf(f, "t_s,phase,what,bytes,bits_per_s,drops,lost,marks,wait_s\n");
	return s;
}

static void wan_series_row(const struct wan_series *s, const struct wan_net *net, uint64_t now,
			   const char *what)
{
	fprintf(s->f, "%.3f,", (double)now * WAN_S);
	tool_csv_text(s->f, net->now->name);
	fprintf(s->f, ",%s,", what);
}

static void wan_series_group(struct wan_series *s, const struct wan_net *net, uint64_t now,
			     uint16_t g)
{
	const struct wan_count *c = &net->now->group[g].c, *o = &s->group[g];
	uint64_t wait = 0, w;
	char name[WAN_NAME_MAX];

	for (uint16_t k = 0; k < net->paths; k++) {
		w = wan_line_wait(&net->line[(uint32_t)g * net->paths + k], now);
		wait = w > wait ? w : wait;
	}
	wan_net_group_name(net, g, name);
	wan_series_row(s, net, now, name);
	fprintf(s->f, "%llu,%.0f,%llu,%llu,%llu,%.6f\n",
		(unsigned long long)(c->out_bytes - o->out_bytes),
		(double)(c->out_bytes - o->out_bytes) * 8e9 / (double)s->every_ns,
		(unsigned long long)(c->queue_drops + c->aqm_drops - o->queue_drops - o->aqm_drops),
		(unsigned long long)(c->lost - o->lost), (unsigned long long)(c->marks - o->marks),
		(double)wait * WAN_S);
	s->group[g] = *c;
}

/* Without the last column. */
static void wan_series_counts(struct wan_series *s, const struct wan_net *net, uint64_t now,
			      const char *name, const struct wan_pair *p, struct wan_pair *o)
{
	wan_series_row(s, net, now, name);
	fprintf(s->f, "%llu,%.0f,%llu,%llu,%llu,",
		(unsigned long long)(p->out_bytes - o->out_bytes),
		(double)(p->out_bytes - o->out_bytes) * 8e9 / (double)s->every_ns,
		(unsigned long long)(p->drops - o->drops), (unsigned long long)(p->lost - o->lost),
		(unsigned long long)(p->marks - o->marks));
	*o = *p;
}

static void wan_series_pair(struct wan_series *s, const struct wan_net *net, uint64_t now,
			    uint32_t i)
{
	const struct wan_pair *p = &net->now->pair[i];
	char src[WAN_NAME_MAX], dst[WAN_NAME_MAX], name[2 * WAN_NAME_MAX + 2];

	if (!p->in)
		return;
	wan_net_host_name(net, (uint16_t)(i / net->hosts), src);
	wan_net_host_name(net, (uint16_t)(i % net->hosts), dst);
	snprintf(name, sizeof(name), "%s>%s", src, dst);
	wan_series_counts(s, net, now, name, p, &s->pair[i]);
	fputc('\n', s->f);
}

static void wan_series_path(struct wan_series *s, const struct wan_net *net, uint64_t now,
			    uint32_t i)
{
	char name[2 * WAN_NAME_MAX];

	wan_path_name(net, i, name);
	wan_series_counts(s, net, now, name, &net->now->path[i], &s->path[i]);
	fprintf(s->f, "%.6f\n", (double)wan_line_wait(&net->line[i], now) * WAN_S);
}

void wan_series_look(struct wan_series *s, const struct wan_net *net, uint64_t now)
{
	if (now < s->next_ns)
		return;
	if (s->phase != net->now) { /* counters began at zero */
		s->phase = net->now;
		memset(s->group, 0, net->groups * sizeof(*s->group));
		memset(s->pair, 0, (size_t)net->hosts * net->hosts * sizeof(*s->pair));
		memset(s->path, 0, wan_series_paths(net) * sizeof(*s->path));
	}
	s->next_ns += s->every_ns;
	for (uint16_t g = 0; g < net->groups; g++)
		wan_series_group(s, net, now, g);
	for (uint32_t i = 0; net->paths > 1 && i < wan_series_paths(net); i++)
		wan_series_path(s, net, now, i);
	for (uint32_t i = 0; i < (uint32_t)net->hosts * net->hosts; i++)
		wan_series_pair(s, net, now, i);
}

void wan_series_free(struct wan_series *s)
{
	free(s->group);
	free(s->pair);
	free(s->path);
	free(s);
}
