/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_model advise: which scheme for a link, with which parameters, what it costs, and why.
 *
 * The comparison is sdr_model_advise's.  Here the link is put together (options, then a file of
 * measurements, then defaults, which are called guesses), and the answer is written as text and
 * into the environment variables of the provider that ask for it.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "model_tool.h"

#define SAME	   1.005 /* costs that differ by less are called the same */
#define LOSS_GUESS "1e-4"
#define ENV_MAX	   320u

struct advice {
	struct model_row link;
	struct sdr_model_candidate cand[SDR_MODEL_CANDIDATES];
	uint32_t n;
	char notes[MODEL_NOTES];
};

static const char *const objectives[] = { "mean", "p99", "p999" };

static void advise_link(struct advice *a, const struct model_opt *opt)
{
	static const enum model_field asked[] = { MODEL_BANDWIDTH, MODEL_RTT, MODEL_P, MODEL_SIZE };
	static const struct model_rows none = { 0 };
	struct model_row *l = &a->link;
	char text[TOOL_NUMBER];

	model_row_init(l, false);
	for (int f = MODEL_SCHEME; f < MODEL_FIELDS; f++) {
		if (opt->text[f] && model_row_set(l, (enum model_field)f, opt->text[f]))
			model_rows_bad(&none, opt, l);
	}
	model_link_file(l, opt, a->notes);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		if (l->given >> asked[i] & 1)
			continue;
		if (asked[i] == MODEL_P)
			(void)model_row_set(l, MODEL_P, LOSS_GUESS);
		tool_number(asked[i] == MODEL_BANDWIDTH ? l->point.bandwidth_bps
			    : asked[i] == MODEL_RTT	? l->point.rtt_s
			    : asked[i] == MODEL_P	? l->point.p_packet
							: (double)l->point.msg_bytes,
			    text);
		model_note(a->notes, "%s: %s is a guess; %s says what it is",
			   model_column(asked[i]), text, model_flag(asked[i]));
	}
	if (model_row_check(l))
		model_rows_bad(&none, opt, l);
	l->ret = sdr_model_advise(&l->point, a->cand, &a->n, &l->err);
	if (l->ret)
		model_rows_bad(&none, opt, l);
	if (!a->n)
		tool_die("there is nothing to choose from on this link");
}

/* What makes the provider do as the candidate does. */
static void advise_env(const struct advice *a, const struct model_opt *opt,
		       const struct sdr_model_candidate *c, char out[ENV_MAX])
{
	const struct sdr_model_point *p = &c->point;
	struct sdr_model_point at_one = *p;
	char number[TOOL_NUMBER];
	size_t n = 0;

	at_one.rtt_s = 1;
	out[0] = 0;
#define ENV_ADD(...) n += (size_t)snprintf(out + n, n < ENV_MAX ? ENV_MAX - n : 0, __VA_ARGS__)
	switch (p->scheme) {
	case SDR_MODEL_SR_RTO:
		tool_number(sdr_model_rto(&at_one), number); /* RTTs */
		ENV_ADD("FI_SDR_RELIABILITY=sr_rto FI_SDR_RTO_RTTS=%s", number);
		break;
	case SDR_MODEL_SR_NACK:
		ENV_ADD("FI_SDR_RELIABILITY=sr");
		break;
	case SDR_MODEL_EC_MDS:
	case SDR_MODEL_EC_XOR:
		ENV_ADD("FI_SDR_RELIABILITY=ec FI_SDR_EC_CODE=%s FI_SDR_EC_K=%u FI_SDR_EC_M=%u FI_SDR_EC_DECODE=%s",
			p->scheme == SDR_MODEL_EC_XOR ? "xor" : "mds", p->k, p->m,
			p->flags & SDR_MODEL_F_ROWS ? "row" : "chunk");
		break;
	case SDR_MODEL_HYBRID:
		tool_number(p->max_overhead, number);
		ENV_ADD("FI_SDR_RELIABILITY=hybrid FI_SDR_OBJECTIVE=%s FI_SDR_MAX_OVERHEAD=%s",
			objectives[p->objective], number);
		break;
	default:
		return; /* nothing can be set to lose nothing */
	}
	if (opt->text[MODEL_CHUNK])
		ENV_ADD(" FI_SDR_CHUNK_SIZE=%u", a->link.point.chunk_bytes);
	if (opt->text[MODEL_MTU])
		ENV_ADD(" FI_SDR_MTU=%u", a->link.point.mtu_bytes);
#undef ENV_ADD
}

static uint32_t advise_k(const struct sdr_model_candidate *c)
{
	return c->point.scheme == SDR_MODEL_HYBRID ? c->derived.k : c->point.k;
}

static uint32_t advise_m(const struct sdr_model_candidate *c)
{
	return c->point.scheme == SDR_MODEL_HYBRID ? c->derived.m : c->point.m;
}

static bool advise_coded(const struct sdr_model_candidate *c)
{
	return c->point.scheme == SDR_MODEL_EC_MDS || c->point.scheme == SDR_MODEL_EC_XOR ||
	       (c->point.scheme == SDR_MODEL_HYBRID && c->derived.k);
}

/* ---- for people ---- */

static void advise_words(const struct advice *a, const struct model_opt *opt)
{
	const struct sdr_model_candidate *best = &a->cand[0], *next;
	enum sdr_objective objective = a->link.point.objective;
	char cost[TOOL_NUMBER], ideal[TOOL_NUMBER], env[ENV_MAX];

	tool_human_s(best->cost_s, cost);
	tool_human_s(best->derived.ideal_s, ideal);
	printf("\nUse %s", sdr_model_scheme_name(best->point.scheme));
	if (advise_coded(best))
		printf(" with k = %u, m = %u", advise_k(best), advise_m(best));
	printf(": %s %s, %.*f times the %s of a link that loses nothing; %.*f %% more bytes than the data.\n",
	       objectives[objective], cost, best->cost_s < 10 * best->derived.ideal_s ? 3 : 0,
	       best->cost_s / best->derived.ideal_s, ideal, best->overhead < 0.1,
	       best->overhead * 100);
	if (*best->why)
		printf("%s.\n", best->why);
	for (uint32_t i = 1; i < a->n; i++) {
		next = &a->cand[i];
		printf("%s: ", sdr_model_scheme_name(next->point.scheme));
		if (next->cost_s < SAME * best->cost_s)
			printf("the same %s. ", objectives[objective]);
		else
			printf("%.*f times its %s. ", next->cost_s < 10 * best->cost_s ? 2 : 0,
			       next->cost_s / best->cost_s, objectives[objective]);
		printf("%s%s\n", next->why, *next->why ? "." : "");
	}
	advise_env(a, opt, best, env);
	if (*env)
		printf("\n%s\n", env);
}

static void advise_table(const struct advice *a, const struct model_opt *opt)
{
	const struct sdr_model_point *p = &a->link.point;
	const struct sdr_model_candidate *c;
	char bps[TOOL_NUMBER], rtt[TOOL_NUMBER], size[TOOL_NUMBER], code[TOOL_NUMBER],
		t[4][TOOL_NUMBER];
	const char *note = a->notes, *end;

	tool_human_bps(p->bandwidth_bps, bps);
	tool_human_s(p->rtt_s, rtt);
	tool_human_bytes(p->msg_bytes, size);
	printf("# %s, RTT %s, loss %.3g in bursts of %.3g, %s messages, packets of %u bytes, chunks of %u\n",
	       bps, rtt, p->p_packet, p->burst_packets, size, p->mtu_bytes, p->chunk_bytes);
	for (; *note; note = *end ? end + 1 : end) {
		end = note + strcspn(note, "\n");
		printf("# %.*s\n", (int)(end - note), note);
	}
	printf("%-9s %9s %12s %12s %12s %12s %10s\n", "scheme", "(k, m)", "mean", "p50", "p99",
	       "p99.9", "overhead");
	for (uint32_t i = 0; i < a->n; i++) {
		c = &a->cand[i];
		snprintf(code, sizeof(code), "-");
		if (advise_coded(c))
			snprintf(code, sizeof(code), "(%u, %u)", advise_k(c), advise_m(c));
		tool_human_s(c->times.mean_s, t[0]);
		tool_human_s(c->times.p50_s, t[1]);
		tool_human_s(c->times.p99_s, t[2]);
		tool_human_s(c->times.p999_s, t[3]);
		printf("%-9s %9s %12s %12s %12s %12s %8.2f %%\n",
		       sdr_model_scheme_name(c->point.scheme), code, t[0], t[1], t[2], t[3],
		       c->overhead * 100);
	}
	advise_words(a, opt);
}

/* ---- for programs ---- */

static const char *advise_unit(const struct sdr_model_candidate *c)
{
	return c->point.flags & SDR_MODEL_F_PACKETS || c->point.scheme == SDR_MODEL_HYBRID
		       ? "packet"
		       : "chunk";
}

static const char *advise_decode(const struct sdr_model_candidate *c)
{
	return c->point.flags & SDR_MODEL_F_ROWS ? "row" : "chunk";
}

struct advise_number {
	const char *name;
	double v;
};

static size_t advise_numbers(const struct sdr_model_candidate *c, struct advise_number out[8])
{
	const struct advise_number list[] = {
		{ "mean_s", c->times.mean_s },	   { "p50_s", c->times.p50_s },
		{ "p99_s", c->times.p99_s },	   { "p999_s", c->times.p999_s },
		{ "ideal_s", c->derived.ideal_s }, { "overhead", c->overhead },
		{ "cost_s", c->cost_s },
	};

	memcpy(out, list, sizeof(list));
	return sizeof(list) / sizeof(list[0]);
}

static void advise_csv(const struct advice *a, const struct model_opt *opt)
{
	struct advise_number num[8];
	char env[ENV_MAX], text[TOOL_NUMBER];
	size_t k, n = advise_numbers(&a->cand[0], num);

	printf("rank,scheme,k,m,unit,decode");
	for (k = 0; k < n; k++)
		printf(",%s", num[k].name);
	printf(",environment,why\n");
	for (uint32_t i = 0; i < a->n; i++) {
		const struct sdr_model_candidate *c = &a->cand[i];

		printf("%u,%s,", i + 1, sdr_model_scheme_name(c->point.scheme));
		if (advise_coded(c))
			printf("%u,%u,%s,%s", advise_k(c), advise_m(c), advise_unit(c),
			       advise_decode(c));
		else
			printf(",,%s,", advise_unit(c));
		advise_numbers(c, num);
		for (k = 0; k < n; k++) {
			if (isfinite(num[k].v))
				tool_number(num[k].v, text);
			else
				*text = 0;
			printf(",%s", text);
		}
		advise_env(a, opt, c, env);
		putchar(',');
		tool_csv_text(stdout, env);
		putchar(',');
		tool_csv_text(stdout, c->why);
		putchar('\n');
	}
}

static void advise_json_link(const struct advice *a)
{
	static const enum model_field shown[] = { MODEL_BANDWIDTH, MODEL_RTT, MODEL_P, MODEL_BURST,
						  MODEL_OVERHEAD };
	const struct sdr_model_point *p = &a->link.point;
	const double v[] = { p->bandwidth_bps, p->rtt_s, p->p_packet, p->burst_packets,
			     p->max_overhead };
	const char *note = a->notes, *end;
	char text[TOOL_NUMBER], line[MODEL_NOTES];

	printf("{\"link\":{");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		tool_number(v[i], text);
		printf("\"%s\":%s,", model_column(shown[i]), text);
	}
	printf("\"msg_bytes\":%" PRIu64
	       ",\"mtu_bytes\":%u,\"chunk_bytes\":%u,\"objective\":\"%s\"},\n\"notes\":[",
	       p->msg_bytes, p->mtu_bytes, p->chunk_bytes, objectives[p->objective]);
	for (; *note; note = *end ? end + 1 : end) {
		end = note + strcspn(note, "\n");
		memcpy(line, note, (size_t)(end - note));
		line[end - note] = 0;
		if (note != a->notes)
			putchar(',');
		tool_json_text(stdout, line);
	}
	printf("],\n\"candidates\":[");
}

static void advise_json(const struct advice *a, const struct model_opt *opt)
{
	struct advise_number num[8];
	char env[ENV_MAX], text[TOOL_NUMBER];
	size_t k, n;

	advise_json_link(a);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct sdr_model_candidate *c = &a->cand[i];

		printf("%s\n{\"rank\":%u,\"scheme\":\"%s\",\"unit\":\"%s\"", i ? "," : "", i + 1,
		       sdr_model_scheme_name(c->point.scheme), advise_unit(c));
		if (advise_coded(c))
			printf(",\"k\":%u,\"m\":%u,\"decode\":\"%s\"", advise_k(c), advise_m(c),
			       advise_decode(c));
		n = advise_numbers(c, num);
		for (k = 0; k < n; k++) {
			if (!isfinite(num[k].v))
				continue;
			tool_number(num[k].v, text);
			printf(",\"%s\":%s", num[k].name, text);
		}
		advise_env(a, opt, c, env);
		printf(",\"environment\":");
		tool_json_text(stdout, env);
		printf(",\"why\":");
		tool_json_text(stdout, c->why);
		putchar('}');
	}
	printf("\n]}\n");
}

void model_advise(const struct model_opt *opt)
{
	static struct advice a;

	advise_link(&a, opt);
	if (opt->format == TOOL_CSV)
		advise_csv(&a, opt);
	else if (opt->format == TOOL_JSON)
		advise_json(&a, opt);
	else
		advise_table(&a, opt);
	free(a.link.id);
}
