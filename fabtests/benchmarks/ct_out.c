/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What sdr_ct_sim prints: a table for people, CSV and JSON with the same names for programs.
 *
 * Times are in ms in the table and in seconds elsewhere.  Parity is what was sent unasked and on
 * demand, per data packet of the messages; so is what was sent again.
 */
#include <inttypes.h>
#include <string.h>

#include "ct_sim.h"

#define CT_MS 1e3

const char *ct_size_text(uint64_t size, char *buf, size_t len)
{
	static const char unit[] = "\0KMGT";
	int i = 0;

	while (size && size % 1024 == 0 && i < 4) {
		size /= 1024;
		i++;
	}
	snprintf(buf, len, "%" PRIu64 "%.1s", size, unit + i);
	return buf;
}

const char *ct_verdict(const struct ct_cell *cell, const struct ct_result *r)
{
	bool mean = cell->mean_max > 0 && r->mean > cell->mean_max;
	bool tail = cell->tail_max > 0 && r->p999 > cell->tail_max;

	if (cell->mean_max <= 0 && cell->tail_max <= 0)
		return "";
	if (r->state != CT_DONE)
		return "FAILED";
	return mean && tail ? "OVER mean, p99.9"
	       : mean	    ? "OVER mean"
	       : tail	    ? "OVER p99.9"
			    : "PASS";
}

static double ct_share(uint64_t n, uint64_t of)
{
	return of ? (double)n / (double)of : 0;
}

void ct_out_begin(enum ct_format f, const struct ct_plan *plan)
{
	const struct sdr_rel_cfg *c = &plan->cfg;

	switch (f) {
	case CT_TABLE:
		printf("# completion time in simulation: %g Gbit/s, RTT %g ms, mtu %u, chunk %u, (%u,%u) %s, %s "
		       "decoding, max_overhead %g, seed %" PRIu64 "%s; times in ms\n",
		       plan->rate_bps / CT_NS, plan->rtt_s * CT_MS, plan->mtu, c->chunk, c->ec_k,
		       c->ec_m, c->ec_code == 1 ? "xor" : "mds",
		       c->ec_chunk_decode ? "chunk" : "row", c->max_overhead, plan->seed,
		       plan->reverse_loss ? "" : "; nothing is lost on the way back");
		printf("%-8s %6s %7s %5s %6s %9s %9s %9s %9s %9s %9s %7s %7s %8s %8s %8s %9s %8s %7s %6s  %s\n",
		       "scheme", "size", "loss", "burst", "runs", "mean", "p50", "p99", "p99.9",
		       "max", "ideal", "mean/id", "p999/id", "parity%", "repair%", "rtx%",
		       "decoded", "virt s", "real s", "Mpkt/s", "bar");
		break;
	case CT_CSV:
		printf("scheme,size,loss,burst,runs,warm,mean_s,p50_s,p99_s,p999_s,max_s,ideal_s,mean_over_ideal,"
		       "p999_over_ideal,parity_share,repair_share,rtx_share,chunks_decoded,choice_sr,choice_parity,"
		       "k,m,"
		       "cover,packets,virtual_s,real_s,cpu_s,packets_per_cpu_s,rss_kib,bar,error\n");
		break;
	case CT_JSON:
		printf("{\"rate_bps\":%.0f,\"rtt_s\":%g,\"mtu\":%u,\"chunk\":%u,\"k\":%u,\"m\":%u,\"code\":\"%s\","
		       "\"decode\":\"%s\",\"max_overhead\":%g,\"reverse_loss\":%s,\"seed\":%" PRIu64
		       ",\"cells\":[",
		       plan->rate_bps, plan->rtt_s, plan->mtu, c->chunk, c->ec_k, c->ec_m,
		       c->ec_code == 1 ? "xor" : "mds", c->ec_chunk_decode ? "chunk" : "row",
		       c->max_overhead, plan->reverse_loss ? "true" : "false", plan->seed);
		break;
	}
	fflush(stdout);
}

static void ct_row_table(const struct ct_cell *cell, const struct ct_result *r, double loss,
			 double burst)
{
	char size[32];

	printf("%-8s %6s %7.1g %5g ", cell->scheme->name,
	       ct_size_text(cell->size, size, sizeof(size)), loss, burst);
	if (r->state != CT_DONE) {
		printf("failed: %s\n", r->why);
		return;
	}
	printf("%6u %9.3f %9.3f %9.3f %9.3f %9.3f %9.3f %7.3f %7.3f %8.3f %8.3f %8.3f %9" PRIu64
	       " %8.1f %7.1f %6.2f  %s\n",
	       cell->runs, r->mean * CT_MS, r->p50 * CT_MS, r->p99 * CT_MS, r->p999 * CT_MS,
	       r->max * CT_MS, r->ideal * CT_MS, r->mean / r->ideal, r->p999 / r->ideal,
	       100 * ct_share(r->parity, r->data_pkts), 100 * ct_share(r->repair, r->data_pkts),
	       100 * ct_share(r->rtx, r->data_pkts), r->decoded, r->virtual_s, r->real_s,
	       (double)r->packets / r->cpu_s / 1e6, ct_verdict(cell, r));
}

static void ct_row_csv(const struct ct_cell *cell, const struct ct_result *r, double loss,
		       double burst)
{
	printf("%s,%" PRIu64 ",%g,%g,%u,%u,", cell->scheme->name, cell->size, loss, burst,
	       cell->runs, r->warm);
	if (r->state != CT_DONE) {
		printf(",,,,,,,,,,,,,,,,,,,,,,,%s,%s\n", ct_verdict(cell, r), r->why);
		return;
	}
	printf("%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.6f,%.6f,%.6f,%.6f,%.6f,%" PRIu64 ",%" PRIu64
	       ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.6f,%" PRIu64 ",%.3f,%.3f,%.3f,%.0f,%" PRIu64
	       ",%s,\n",
	       r->mean, r->p50, r->p99, r->p999, r->max, r->ideal, r->mean / r->ideal,
	       r->p999 / r->ideal, ct_share(r->parity, r->data_pkts),
	       ct_share(r->repair, r->data_pkts), ct_share(r->rtx, r->data_pkts), r->decoded,
	       r->choice_sr, r->choice_parity, r->code_k, r->code_m, (double)r->cover_ppm / 1e6,
	       r->packets, r->virtual_s, r->real_s, r->cpu_s, (double)r->packets / r->cpu_s,
	       r->rss_kib, ct_verdict(cell, r));
}

static void ct_row_json(const struct ct_cell *cell, const struct ct_result *r, double loss,
			double burst)
{
	printf("\n{\"scheme\":\"%s\",\"size\":%" PRIu64
	       ",\"loss\":%g,\"burst\":%g,\"runs\":%u,\"warm\":%u,",
	       cell->scheme->name, cell->size, loss, burst, cell->runs, r->warm);
	if (cell->mean_max > 0 || cell->tail_max > 0)
		printf("\"bar\":\"%s\",", ct_verdict(cell, r));
	if (r->state != CT_DONE) {
		/* our own names: nothing in them needs quoting */
		printf("\"error\":\"%s\"}", r->why);
		return;
	}
	printf("\"mean_s\":%.9f,\"p50_s\":%.9f,\"p99_s\":%.9f,\"p999_s\":%.9f,\"max_s\":%.9f,\"ideal_s\":%.9f,"
	       "\"mean_over_ideal\":%.6f,\"p999_over_ideal\":%.6f,\"parity_share\":%.6f,\"repair_share\":%.6f,"
	       "\"rtx_share\":%.6f,\"chunks_decoded\":%" PRIu64 ",\"choice_sr\":%" PRIu64
	       ",\"choice_parity\":%" PRIu64 ",\"k\":%" PRIu64 ",\"m\":%" PRIu64 ",\"cover\":%.6f,",
	       r->mean, r->p50, r->p99, r->p999, r->max, r->ideal, r->mean / r->ideal,
	       r->p999 / r->ideal, ct_share(r->parity, r->data_pkts),
	       ct_share(r->repair, r->data_pkts), ct_share(r->rtx, r->data_pkts), r->decoded,
	       r->choice_sr, r->choice_parity, r->code_k, r->code_m, (double)r->cover_ppm / 1e6);
	printf("\"packets\":%" PRIu64
	       ",\"virtual_s\":%.3f,\"real_s\":%.3f,\"cpu_s\":%.3f,\"packets_per_cpu_s\":%.0f,\"rss_kib\":%" PRIu64
	       "}",
	       r->packets, r->virtual_s, r->real_s, r->cpu_s, (double)r->packets / r->cpu_s,
	       r->rss_kib);
}

void ct_out_row(enum ct_format f, const struct ct_cell *cell, const struct ct_result *r, bool first)
{
	double loss = cell->ge_loss > 0 ? cell->ge_loss : cell->loss;
	double burst = cell->ge_loss > 0 ? cell->ge_burst : 1;

	switch (f) {
	case CT_TABLE:
		ct_row_table(cell, r, loss, burst);
		break;
	case CT_CSV:
		ct_row_csv(cell, r, loss, burst);
		break;
	case CT_JSON:
		if (!first)
			putchar(',');
		ct_row_json(cell, r, loss, burst);
		break;
	}
	fflush(stdout);
}

void ct_out_end(enum ct_format f)
{
	if (f == CT_JSON)
		printf("\n]}\n");
	fflush(stdout);
}
