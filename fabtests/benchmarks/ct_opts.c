/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The command line of sdr_ct_sim: defaults, names, numbers, lists.
 *
 * Every value is checked here for its range; what only the transport can check (a chunk that is no
 * multiple of the mtu, say) is refused by the endpoint when a cell opens.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fec/sdr_code.h"
#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "ct_sim.h"

#define CT_NAMES_MAX 256u /* bytes of all names of schemes */

static void ct_usage(FILE *f)
{
	char names[CT_NAMES_MAX];

	sdr_scheme_names(names, sizeof(names));
	fprintf(f,
		"usage: sdr_ct_sim [OPTION]...\n"
		"Completion times of transfers between two simulated nodes that run the real transport.\n\n"
		"  --rate BPS          link and sender, bits per second (400e9)\n"
		"  --rtt SECONDS       (25e-3)\n"
		"  --mtu BYTES         payload of a packet (4096)\n"
		"  --sizes LIST        bytes, with K, M, G (128M)\n"
		"  --loss LIST         shares of packets lost, independently (0,1e-5,1e-4,1e-3,1e-2)\n"
		"  --ge LIST           share:burst, losses in bursts of so many packets (none)\n"
		"  --reverse-loss yes|no   are acknowledgements lost too? (yes)\n"
		"  --schemes LIST      %s (sr,sr_nack,sr_rto)\n"
		"  --chunk BYTES       (65536)\n"
		"  --k N --m N         of ec and ec_sr (32, 8)\n"
		"  --code mds|xor      of ec and ec_sr (mds)\n"
		"  --decode row|chunk  (row)\n"
		"  --objective mean|p99|p999   of hybrid and auto (p999)\n"
		"  --max-overhead X    parity per data of hybrid and auto (0.25)\n"
		"  --rto-rtts X        of sr_rto (3)\n"
		"  --runs N            transfers measured a cell (1000)\n"
		"  --warm N            and before them (300000 packets, at most 30 transfers)\n"
		"  --pause SECONDS     longest pause between two (1e-3)\n"
		"  --tick SECONDS      packets wait so long to be handled together (5e-6)\n"
		"  --seed N            (1)\n"
		"  --jobs N            cells at a time (1)\n"
		"  --csv, --json       instead of the table\n"
		"  --bars              run what the project promises, and check it\n"
		"  --quick             with --bars: 50 runs, nothing above 1 GiB\n"
		"  --help\n",
		names);
}

static int ct_bad(const char *name, const char *arg, const char *want)
{
	fprintf(stderr, "sdr_ct_sim: --%s %s: not %s\n", name, arg, want);
	return -EINVAL;
}

static bool ct_number(const char *s, double lo, double hi, double *v)
{
	char *end;

	*v = strtod(s, &end);
	return end != s && !*end && *v >= lo && *v <= hi;
}

static bool ct_size(const char *s, uint64_t *v)
{
	static const char units[] = "kKmMgG";
	const char *u;
	char *end;
	double x = strtod(s, &end);

	u = *end ? strchr(units, *end) : NULL;
	if (end == s || (*end && (!u || end[1])))
		return false;
	x = ldexp(x, u ? (int)((u - units) / 2 + 1) * 10 : 0);
	*v = x >= 1 && x <= (double)SDR_REL_MSG_MAX ? (uint64_t)x : 0;
	return *v;
}

/* One element of a list into place *n.  False: it makes no sense. */
static bool ct_element(struct ct_opts *o, const char *name, const char *s)
{
	double v, b;
	char *end;

	if (strcmp(name, "sizes") == 0)
		return o->nsizes < CT_LIST_MAX && ct_size(s, &o->sizes[o->nsizes++]);
	if (strcmp(name, "loss") == 0)
		return o->nloss < CT_LIST_MAX && ct_number(s, 0, 0.9, &o->loss[o->nloss++]);
	if (strcmp(name, "ge") == 0) {
		v = strtod(s, &end);
		if (o->nge >= CT_LIST_MAX || *end != ':' || !(v > 0 && v <= 0.9) ||
		    !ct_number(end + 1, 1, 1e6, &b))
			return false;
		o->ge_loss[o->nge] = v;
		o->ge_burst[o->nge++] = b;
		return true;
	}
	if (o->nschemes >= CT_LIST_MAX || !sdr_scheme_find(s))
		return false;
	o->schemes[o->nschemes++] = sdr_scheme_find(s);
	return true;
}

static int ct_list(struct ct_opts *o, const char *name, char *arg)
{
	char *save, *s;

	for (s = strtok_r(arg, ", ", &save); s; s = strtok_r(NULL, ", ", &save))
		if (!ct_element(o, name, s))
			return ct_bad(name, s, "something it takes; see --help");
	return 0;
}

/* The name's place in a list that ends with NULL, or -1. */
static int ct_word(const char *s, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (strcmp(s, words[i]) == 0)
			return i;
	return -1;
}

/* Options that are numbers, and where they go. */
static const struct ct_num {
	const char *name, *want;
	double lo, hi;
	size_t off, width; /* in struct ct_opts; width 0: a double */
} ct_nums[] = {
#define CT_AT(m)   offsetof(struct ct_opts, m), sizeof(((struct ct_opts *)NULL)->m)
#define CT_REAL(m) offsetof(struct ct_opts, m), 0
	{ "rate", "1e6..1e13 bits per second", 1e6, 1e13, CT_REAL(plan.rate_bps) },
	{ "rtt", "0..10 seconds", 0, 10, CT_REAL(plan.rtt_s) },
	{ "mtu", "a multiple of 4 in 256..8192", SDR_EP_MTU_MIN, SDR_MTU_MAX, CT_AT(plan.mtu) },
	{ "chunk", "256 bytes..16 MiB", 256, SDR_REL_EC_CHUNK, CT_AT(plan.cfg.chunk) },
	{ "k", "1..255", 1, 255, CT_AT(plan.cfg.ec_k) },
	{ "m", "1..255", 1, 255, CT_AT(plan.cfg.ec_m) },
	{ "max-overhead", "0..16", 0, 16, CT_REAL(plan.cfg.max_overhead) },
	{ "rto-rtts", "1..100", 1, 100, CT_REAL(plan.cfg.rto_rtts) },
	{ "runs", "1..1000000", 1, CT_RUNS_MAX, CT_AT(runs) },
	{ "warm", "1..1000000", 1, CT_RUNS_MAX, CT_AT(plan.warm) },
	{ "pause", "0..10 seconds", 0, 10, CT_REAL(plan.pause_s) },
	{ "tick", "0..1e-3 seconds", 0, 1e-3, CT_REAL(plan.tick_s) },
	{ "seed", "0..2^53", 0, 0x1p53, CT_AT(plan.seed) },
	{ "jobs", "1..256", 1, 256, CT_AT(jobs) },
#undef CT_AT
#undef CT_REAL
};

static int ct_num_option(struct ct_opts *o, const char *name, const char *arg)
{
	const struct ct_num *n = ct_nums;
	double v;
	char *at;

	while (strcmp(n->name, name) != 0)
		n++;
	if (!ct_number(arg, n->lo, n->hi, &v))
		return ct_bad(name, arg, n->want);
	at = (char *)o + n->off;
	if (n->width == 0)
		*(double *)(void *)at = v;
	else if (n->width == sizeof(uint16_t))
		*(uint16_t *)(void *)at = (uint16_t)v;
	else if (n->width == sizeof(uint32_t))
		*(uint32_t *)(void *)at = (uint32_t)v;
	else
		*(uint64_t *)(void *)at = (uint64_t)v;
	return 0;
}

static int ct_option(struct ct_opts *o, const char *name, char *arg)
{
	static const struct {
		const char *name, *want, *words[4];
	} choice[] = {
		{ "reverse-loss", "yes or no", { "no", "yes" } },
		{ "code", "mds or xor", { "xor", "mds" } },
		{ "decode", "row or chunk", { "row", "chunk" } },
		{ "objective", "mean, p99 or p999", { "mean", "p99", "p999" } },
	};
	struct ct_plan *p = &o->plan;
	size_t i;
	int w;

	if (strcmp(name, "sizes") == 0 || strcmp(name, "loss") == 0 || strcmp(name, "ge") == 0 ||
	    strcmp(name, "schemes") == 0)
		return ct_list(o, name, arg);
	for (i = 0; i < sizeof(choice) / sizeof(choice[0]); i++)
		if (strcmp(choice[i].name, name) == 0)
			break;
	if (i == sizeof(choice) / sizeof(choice[0]))
		return ct_num_option(o, name, arg);
	w = ct_word(arg, choice[i].words);
	if (w < 0)
		return ct_bad(name, arg, choice[i].want);
	if (i == 0)
		p->reverse_loss = w;
	else if (i == 1)
		p->cfg.ec_code = w ? SDR_CODE_MDS : SDR_CODE_XOR;
	else if (i == 2)
		p->cfg.ec_chunk_decode = w;
	else
		p->cfg.objective = (uint8_t)w;
	return 0;
}

static const struct option ct_options[] = {
	{ "rate", 1, NULL, 0 },
	{ "rtt", 1, NULL, 0 },
	{ "mtu", 1, NULL, 0 },
	{ "sizes", 1, NULL, 0 },
	{ "loss", 1, NULL, 0 },
	{ "ge", 1, NULL, 0 },
	{ "schemes", 1, NULL, 0 },
	{ "reverse-loss", 1, NULL, 0 },
	{ "chunk", 1, NULL, 0 },
	{ "k", 1, NULL, 0 },
	{ "m", 1, NULL, 0 },
	{ "code", 1, NULL, 0 },
	{ "decode", 1, NULL, 0 },
	{ "objective", 1, NULL, 0 },
	{ "max-overhead", 1, NULL, 0 },
	{ "rto-rtts", 1, NULL, 0 },
	{ "runs", 1, NULL, 0 },
	{ "warm", 1, NULL, 0 },
	{ "pause", 1, NULL, 0 },
	{ "tick", 1, NULL, 0 },
	{ "seed", 1, NULL, 0 },
	{ "jobs", 1, NULL, 0 },
	{ "csv", 0, NULL, 'c' },
	{ "json", 0, NULL, 'j' },
	{ "bars", 0, NULL, 'b' },
	{ "quick", 0, NULL, 'q' },
	{ "help", 0, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void ct_defaults(struct ct_opts *o)
{
	struct sdr_rel_cfg *cfg = &o->plan.cfg;

	o->plan = (struct ct_plan){ .rate_bps = 400e9,
				    .rtt_s = 25e-3,
				    .pause_s = 1e-3,
				    .tick_s = 5e-6,
				    .mtu = 4096,
				    .seed = 1,
				    .reverse_loss = true,
				    .warm = UINT32_MAX };
	sdr_rel_cfg_init(cfg);
	cfg->cc = &sdr_cc_fixed;
	cfg->tx_depth = cfg->rx_depth = 64;
	cfg->inject_max = 512;
	/* counted only: 400 Gbit/s over 25 ms have 1.25 GB under way */
	cfg->ec_scratch = 16ull << 30;
	cfg->objective = SDR_OBJECTIVE_P999;
	o->jobs = 1;
}

int ct_opts_parse(struct ct_opts *o, int argc, char **argv)
{
	int c, i;

	ct_defaults(o);
	while ((c = getopt_long(argc, argv, "h", ct_options, &i)) != -1) {
		switch (c) {
		case 0:
			if (ct_option(o, ct_options[i].name, optarg))
				return -EINVAL;
			break;
		case 'c':
			o->format = CT_CSV;
			break;
		case 'j':
			o->format = CT_JSON;
			break;
		case 'b':
			o->bars = true;
			break;
		case 'q':
			o->quick = true;
			break;
		case 'h':
			ct_usage(stdout);
			return 1;
		default:
			ct_usage(stderr);
			return -EINVAL;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "sdr_ct_sim: %s: no such argument; see --help\n", argv[optind]);
		return -EINVAL;
	}
	if (o->plan.mtu % 4 || o->plan.cfg.ec_k + o->plan.cfg.ec_m > SDR_FEC_SYMS_MAX) {
		fprintf(stderr,
			"sdr_ct_sim: --mtu must be a multiple of 4, --k and --m together at most %u\n",
			SDR_FEC_SYMS_MAX);
		return -EINVAL;
	}
	return 0;
}
