/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Bars for flows that share a network, in virtual time.
 *
 * Without arguments the quick cases run with a few seeds, as `make check` does; --all runs every
 * case.  A run is a process of its own (sim_jobs.c); the same seeds give the same figures.  The
 * bars are the default controller's: another one (--cc) is measured, and held to nothing; so is any
 * with the one seed that a build with AddressSanitizer, which is slow, takes of the quick cases.
 * Exit status: 0 all bars held, or none of it counts; 1 one did not, or a run failed; 2 wrong
 * usage.
 */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sdr_rand.h"
#include "share_bars.h"
#include "sim_asan.h"
#include "tools/sim/sim_jobs.h"

#ifdef SIM_ASAN
/* what a case touches one seed shows; its bars are for the same program without */
#define SEEDS_QUICK 1u
#define QUICK_HOLDS false
#else
#define SEEDS_QUICK 12u
#define QUICK_HOLDS true
#endif
#define SEEDS_ALL 50u
#define SEEDS_MAX 10000u
#define HELD	  "auto" /* the controller that is held to the bars */

static struct bars {
	const struct sdr_cc_ops *cc;
	const char *pattern;
	uint32_t seeds, jobs;
	uint64_t seed;
	bool all, report, csv, list, busy;
	/* the cases that run, and their results: seeds of each */
	uint32_t pick[1024], n;
	struct bar_run *run;
	uint32_t *left;
	uint32_t said, missed, failed;
} bars;

static void usage(int status)
{
	fprintf(status ? stderr : stdout,
		"usage: sdr_share_bars [--all] [--case GLOB] [--seeds N] [--seed N] [--jobs N]\n"
		"                      [--cc NAME] [--busy] [--report] [--csv] [--list]\n"
		"Bars for flows that share a network, in virtual time. Without --all: the quick ones.\n"
		"  --case GLOB  those of that name, quick or not\n"
		"  --seeds N    of each (12; with --all or --case 50); --seed N: the first (1)\n"
		"  --cc NAME    rate control (the default)\n"
		"  --busy       hosts stop for 100 us on average, each millisecond on average\n"
		"  --report     the exit status does not depend on the bars; so with another --cc than auto\n"
		"  --csv        case,metric,must,mean,worst,held\n"
		"  --list       names and what must hold\n");
	exit(status);
}

static uint64_t number(const char *s, uint64_t min, uint64_t max)
{
	char *end;
	unsigned long long v = strtoull(s, &end, 10);

	if (!*s || *end || v < min || v > max) {
		fprintf(stderr, "sdr_share_bars: \"%.32s\" is no number from %llu to %llu\n", s,
			(unsigned long long)min, (unsigned long long)max);
		exit(2);
	}
	return v;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void unit_run(void *ctx, uint32_t i)
{
	const struct bars *b = ctx;
	uint64_t seed = sdr_mix64(sdr_mix64(b->seed) + i % b->seeds);

	bar_run(&bar_cases[b->pick[i / b->seeds]], b->cc, b->busy, seed, &b->run[i]);
}

/* "<= 0.02", or nothing. */
static const char *must_text(const struct bar_must *m, char text[32])
{
	text[0] = 0;
	if (m->sense != BAR_SAY)
		snprintf(text, 32, "%s %g", m->sense == BAR_MOST ? "<=" : ">=", m->bound);
	return text;
}

static void say_must(struct bars *b, const struct bar_case *c, const struct bar_must *m,
		     const struct bar_run *r)
{
	struct bar_verdict v;
	char text[32];

	bar_judge(c, m, r, b->seeds, &v);
	b->missed += !v.held;
	if (b->csv)
		printf("%s,%s,%s,%.6g,%.6g,%s\n", c->name, bar_metric_name(m->metric),
		       must_text(m, text), v.mean, v.worst,
		       m->sense == BAR_SAY ? "-"
		       : v.held		   ? "yes"
					   : "no");
	else
		printf("%-24s %-12s %-10s %10.5g %10.5g  %s\n", c->name, bar_metric_name(m->metric),
		       must_text(m, text), v.mean, v.worst,
		       m->sense == BAR_SAY ? ""
		       : v.held		   ? "ok"
					   : "MISSED");
}

static void say_case(struct bars *b, uint32_t k)
{
	const struct bar_case *c = &bar_cases[b->pick[k]];
	const struct bar_run *r = &b->run[(size_t)k * b->seeds];

	for (uint32_t i = 0; i < b->seeds; i++) {
		if (r[i].res.failed || !r[i].res.ended) {
			printf(b->csv ? "%s,seed %u,,%s,,no\n" : "%-24s seed %u: %s\n", c->name, i,
			       r[i].res.failed ? r[i].res.why : "the process died");
			b->failed++;
			return;
		}
	}
	for (uint32_t i = 0; i < BAR_MUSTS && c->must[i].metric; i++)
		say_must(b, c, &c->must[i], r);
	fflush(stdout);
}

static bool unit_end(void *ctx, uint32_t i, int sig)
{
	struct bars *b = ctx;

	(void)sig;
	b->left[i / b->seeds]--;
	for (; b->said < b->n && !b->left[b->said]; b->said++)
		say_case(b, b->said);
	return true;
}

/* ---- the command line ------------------------------------------------------------------------ */

static void pick(struct bars *b)
{
	for (uint32_t i = 0; i < bar_cases_n; i++) {
		bool in = b->pattern ? fnmatch(b->pattern, bar_cases[i].name, 0) == 0
				     : b->all || bar_cases[i].quick;

		if (in)
			b->pick[b->n++] = i;
	}
	if (!b->n) {
		fprintf(stderr, "sdr_share_bars: no case is called that; see --list\n");
		exit(2);
	}
}

static void list(const struct bars *b)
{
	for (uint32_t k = 0; k < b->n; k++) {
		const struct bar_case *c = &bar_cases[b->pick[k]];
		char text[32];

		printf("%-24s%s", c->name, c->quick ? " quick" : "      ");
		for (uint32_t i = 0; i < BAR_MUSTS && c->must[i].metric; i++)
			printf("  %s %s", bar_metric_name(c->must[i].metric),
			       must_text(&c->must[i], text));
		printf("\n");
	}
}

static void options(struct bars *b, int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	b->jobs = cpus < 1 ? 1 : cpus > (long)SIM_JOBS_MAX ? SIM_JOBS_MAX : (uint32_t)cpus;
	b->seed = 1;
	for (int i = 1; i < argc; i++) {
		const char *arg = i + 1 < argc ? argv[i + 1] : NULL;
		bool takes = true;

		if (strcmp(argv[i], "--help") == 0)
			usage(0);
		if (strcmp(argv[i], "--all") == 0)
			b->all = true, takes = false;
		else if (strcmp(argv[i], "--report") == 0)
			b->report = true, takes = false;
		else if (strcmp(argv[i], "--busy") == 0)
			b->busy = true, takes = false;
		else if (strcmp(argv[i], "--csv") == 0)
			b->csv = true, takes = false;
		else if (strcmp(argv[i], "--list") == 0)
			b->list = true, takes = false;
		else if (!arg)
			usage(2);
		else if (strcmp(argv[i], "--case") == 0)
			b->pattern = arg;
		else if (strcmp(argv[i], "--seeds") == 0)
			b->seeds = (uint32_t)number(arg, 1, SEEDS_MAX);
		else if (strcmp(argv[i], "--seed") == 0)
			b->seed = number(arg, 0, UINT64_MAX);
		else if (strcmp(argv[i], "--jobs") == 0)
			b->jobs = (uint32_t)number(arg, 1, SIM_JOBS_MAX);
		else if (strcmp(argv[i], "--cc") == 0)
			b->cc = sdr_cc_find(arg);
		else
			usage(2);
		if (takes && strcmp(argv[i], "--cc") == 0 && !b->cc) {
			fprintf(stderr, "sdr_share_bars: there is no rate control \"%s\"\n", arg);
			exit(2);
		}
		i += takes;
	}
	if (strcmp((b->cc ? b->cc : sdr_cc_table[0])->name, HELD) != 0)
		b->report = true;
	if (b->seeds)
		return;
	b->seeds = b->all || b->pattern ? SEEDS_ALL : SEEDS_QUICK;
	if (!b->all && !b->pattern && !QUICK_HOLDS)
		b->report = true;
}

int main(int argc, char **argv)
{
	struct bars *b = &bars;
	struct sim_jobs jobs = { .ctx = b, .run = unit_run, .end = unit_end };
	int err;

	options(b, argc, argv);
	pick(b);
	if (b->list) {
		list(b);
		return 0;
	}
	b->run = sim_jobs_share((size_t)b->n * b->seeds * sizeof(*b->run));
	b->left = calloc(b->n, sizeof(*b->left));
	if (!b->run || !b->left) {
		fprintf(stderr, "sdr_share_bars: no memory for the results\n");
		return 1;
	}
	for (uint32_t k = 0; k < b->n; k++)
		b->left[k] = b->seeds;
	if (b->csv)
		printf("case,metric,must,mean,worst,held\n");
	else
		printf("%-24s %-12s %-10s %10s %10s  (%u seeds)\n", "case", "metric", "must",
		       "mean", "worst", b->seeds);
	jobs.jobs = b->jobs;
	jobs.n = b->n * b->seeds;
	err = sim_jobs_run(&jobs);
	if (err)
		fprintf(stderr, "sdr_share_bars: fork: %s\n", strerror(-err));
	if (!b->csv)
		printf("%u bars missed\n", b->missed);
	free(b->left);
	sim_jobs_unshare(b->run, (size_t)b->n * b->seeds * sizeof(*b->run));
	return err || b->failed || (b->missed && !b->report);
}
