/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * Completion time over real sockets: how close to the ideal a transfer over a long, lossy path
 * comes, by scheme, loss and size. Two processes on loopback (ct_pair.c); faults in both
 * (FI_SDR_FAULT) make the path: half of the RTT, and the loss, in each direction. The rate is fixed
 * (FI_SDR_CC=fixed), and one that this machine sustains: unless it is given, it is searched for
 * first, as the highest of a list at which 64 MiB without loss need no repair and end within 1.03
 * of the ideal every time, and 80 % of that is used, since parity costs time of the processors too.
 *
 * ideal = data bytes * 8 / FI_SDR_RATE + RTT. The rate counts headers, the ideal does not: about
 * 1.016 is the best there is for a long transfer of packets of 4096 bytes. The bars are for auto:
 * median <= 1.10, p99 <= 1.25 times the ideal; p99 is by nearest rank, the largest when there are
 * 100 or less. Both processes spin: two processors are needed, and nothing else should run.
 *
 * Exit status: 0 everything ran and auto is within its bars, 1 it is not or a run failed, 2 usage.
 */
#include "ct_pair.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LIST CT_SIZES /* entries of an option */
#define MAX_SIZE 1024u	  /* MiB */
#define MAX_N	 100000u  /* transfers of a cell */
#define SHARE	 0.8	  /* of the rate that is sustained */
#define FIND_BAR 1.03	  /* times ideal */
#define BAR_MED	 1.10
#define BAR_P99	 1.25

enum format { FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON };

static struct {
	const char *schemes, *losses, *sizes, *rates; /* lists with commas */
	double rate_mbit;			      /* 0: find it */
	double rtt_ms;
	uint32_t transfers; /* of a cell; 0: by size */
	uint32_t warm;	    /* packets */
	uint32_t mtu;	    /* bytes */
	unsigned long seed;
	enum format format;
	bool quick;
} opt = {
	.schemes = "auto,sr_nack,ec_sr",
	.losses = "0,1e-4,1e-3,1e-2",
	.sizes = "1,16,64",
	.rates = "250,500,1000,1500,2000,3000,4000",
	.rtt_ms = 25,
	.warm = 100000,
	.mtu = 4096,
	.seed = 1,
};

/* ---- the rate -------------------------------------------------------------------------------- */

/* The items live as long as the program. */
static uint32_t list_split(const char *list, char **item)
{
	char *text = strdup(list);
	uint32_t n = 0;

	if (!text) {
		perror("sdr_ct: strdup");
		exit(1);
	}
	for (char *s = strtok(text, ","); s; s = strtok(NULL, ",")) {
		if (n == MAX_LIST) {
			fprintf(stderr, "sdr_ct: more than %u entries in a list\n", MAX_LIST);
			exit(2);
		}
		item[n++] = s;
	}
	return n;
}

static void path_set(struct ct_run *r, double rate)
{
	r->rate = rate;
	r->rtt_ms = opt.rtt_ms;
	r->mtu = opt.mtu;
	r->seed = opt.seed;
}

/* where messages go that are no results */
static FILE *note(void)
{
	return opt.format == FORMAT_TABLE ? stdout : stderr;
}

static bool sustained(double rate)
{
	struct ct_run r = { .scheme = "sr", .loss = "0", .nsizes = 1, .mib = { 64 } };
	struct ct_cell c;
	pid_t pid[2];
	bool good;
	int fd;

	path_set(&r, rate);
	r.n[0] = opt.quick ? 3 : 8;
	fd = ct_run_start(&r, pid);
	good = ct_run_cell(fd, &c);
	if (!ct_run_end(fd, pid) || !good)
		exit(1);
	good = c.rtx == 0 && c.max <= FIND_BAR * c.ideal;
	fprintf(note(),
		"# %6.0f Mbit/s: slowest of %u x 64 MiB %.3f x ideal, %llu packets sent again%s\n",
		rate / 1e6, c.n, c.max / c.ideal, (unsigned long long)c.rtx, good ? "" : ": no");
	return good;
}

/* bits per second; ends the program where not even the first will do */
static double rate_find(void)
{
	char *item[MAX_LIST];
	uint32_t n = list_split(opt.rates, item);
	double best = 0;

	for (uint32_t i = 0; i < n; i++) {
		double rate = atof(item[i]) * 1e6;

		/* a second chance: the machine may have been busy for a moment */
		if (!sustained(rate) && !sustained(rate))
			break;
		best = rate;
	}
	if (best <= 0) {
		fprintf(stderr,
			"sdr_ct: this machine sustains no rate of %s Mbit/s; stop what else runs, or give lower "
			"--rates\n",
			opt.rates);
		exit(1);
	}
	return best;
}

/* ---- results --------------------------------------------------------------------------------- */

static unsigned int rows, over, within;

/* CSV and JSON: all of it */
static void row_all(const struct ct_run *r, const struct ct_cell *c, const char *bar)
{
	const struct {
		const char *name;
		int digits; /* behind the point */
		double v;
	} col[] = {
		{ "size_mib", 0, c->mib },
		{ "transfers", 0, c->n },
		{ "rate_mbit", 0, r->rate / 1e6 },
		{ "rtt_ms", 3, r->rtt_ms },
		{ "median_ms", 3, c->median * 1e3 },
		{ "p99_ms", 3, c->p99 * 1e3 },
		{ "max_ms", 3, c->max * 1e3 },
		{ "ideal_ms", 3, c->ideal * 1e3 },
		{ "median_ratio", 4, c->median / c->ideal },
		{ "p99_ratio", 4, c->p99 / c->ideal },
		{ "parity_overhead", 5, (double)c->parity / (double)c->data },
		{ "retransmitted", 0, (double)c->rtx },
		{ "spurious", 0, (double)c->spurious },
		{ "chunks_decoded", 0, (double)c->fec },
		{ "with_parity", 0, (double)c->with_parity },
		{ "code_k", 0, (double)c->k },
		{ "code_m", 0, (double)c->m },
		{ "code_cover_ppm", 0, (double)c->cover_ppm },
		{ "code_why", 0, (double)c->why },
		{ "loss_ppm", 0, (double)c->loss_ppm },
	};
	bool json = opt.format == FORMAT_JSON;

	if (json) {
		printf("%s{\"scheme\":\"%s\",\"loss\":%s", rows ? ",\n " : "[", r->scheme, r->loss);
	} else {
		printf(rows ? "" : "scheme,loss");
		for (size_t i = 0; !rows && i < sizeof(col) / sizeof(col[0]); i++)
			printf(",%s", col[i].name);
		printf("%s%s,%s", rows ? "" : ",bar\n", r->scheme, r->loss);
	}
	for (size_t i = 0; i < sizeof(col) / sizeof(col[0]); i++) {
		printf(json ? ",\"%s\":" : ",", col[i].name);
		printf("%.*f", col[i].digits, col[i].v);
	}
	printf(json ? ",\"bar\":\"%s\"}" : ",%s\n", bar);
}

static void row(const struct ct_run *r, const struct ct_cell *c)
{
	double med = c->median / c->ideal, p99 = c->p99 / c->ideal;
	const char *bar = "";
	char choice[64];

	if (!strcmp(r->scheme, "auto")) {
		bool ok = med <= BAR_MED && p99 <= BAR_P99;

		bar = ok ? "PASS" : "over";
		within += ok;
		over += !ok;
	}
	if (opt.format != FORMAT_TABLE) {
		row_all(r, c, bar);
	} else {
		if (!rows)
			printf("%-8s %6s %4s %5s %9s %9s %9s %9s %7s %7s %8s %7s %7s %13s %8s\n",
			       "scheme", "loss", "MiB", "n", "median ms", "p99 ms", "max ms",
			       "ideal ms", "median", "p99", "parity %", "again", "decoded",
			       "parity (k,m)", "loss ppm");
		snprintf(choice, sizeof(choice), "%.0f (%.0f,%.0f)", (double)c->with_parity,
			 (double)c->k, (double)c->m);
		printf("%-8s %6s %4u %5u %9.2f %9.2f %9.2f %9.2f %7.3f %7.3f %8.3f %7.0f %7.0f %13s %8.0f  %s\n",
		       r->scheme, r->loss, c->mib, c->n, c->median * 1e3, c->p99 * 1e3,
		       c->max * 1e3, c->ideal * 1e3, med, p99,
		       (double)c->parity / (double)c->data * 100, (double)c->rtx, (double)c->fec,
		       choice, (double)c->loss_ppm, bar);
	}
	rows++;
	fflush(stdout);
}

static uint32_t transfers_of(uint32_t mib)
{
	if (opt.transfers)
		return opt.transfers;
	if (opt.quick)
		return mib <= 4 ? 30 : mib <= 32 ? 8 : 3;
	return mib <= 4 ? 300 : 100;
}

static bool run_all(double rate)
{
	char *scheme[MAX_LIST], *loss[MAX_LIST], *size[MAX_LIST];
	uint32_t schemes = list_split(opt.schemes, scheme), losses = list_split(opt.losses, loss);
	struct ct_run r = { .warm = opt.warm, .nsizes = list_split(opt.sizes, size) };
	bool good = true;

	path_set(&r, rate);
	for (uint32_t i = 0; i < r.nsizes; i++) {
		r.mib[i] = (uint32_t)strtoul(size[i], NULL, 10);
		if (r.mib[i] < 1 || r.mib[i] > MAX_SIZE) {
			fprintf(stderr, "sdr_ct: --sizes: %s is not 1..%u MiB\n", size[i],
				MAX_SIZE);
			exit(2);
		}
		r.n[i] = transfers_of(r.mib[i]);
	}
	for (uint32_t s = 0; s < schemes; s++) {
		for (uint32_t l = 0; l < losses; l++) {
			struct ct_cell c;
			pid_t pid[2];
			int fd;

			r.scheme = scheme[s];
			r.loss = loss[l];
			fd = ct_run_start(&r, pid);
			while (ct_run_cell(fd, &c))
				row(&r, &c);
			if (!ct_run_end(fd, pid)) {
				fprintf(stderr, "sdr_ct: %s with loss %s did not finish\n",
					r.scheme, r.loss);
				good = false;
			}
		}
	}
	return good;
}

/* ---- command line ---------------------------------------------------------------------------- */

static int usage(FILE *f)
{
	fprintf(f,
		"usage: sdr_ct [options]      completion time over loopback with a delay and losses\n"
		"  --quick              few transfers: about a minute\n"
		"  --schemes LIST       values of FI_SDR_RELIABILITY (default auto,sr_nack,ec_sr)\n"
		"  --losses LIST        packet loss in each direction (default 0,1e-4,1e-3,1e-2)\n"
		"  --sizes LIST         MiB (default 1,16,64)\n"
		"  --transfers N        of each scheme, loss and size (default 300 up to 4 MiB, else 100)\n"
		"  --warm N             packets transferred before (default 100000; --quick 20000)\n"
		"  --rate MBIT          FI_SDR_RATE, headers counted (default: 80 %% of what is sustained)\n"
		"  --rates LIST         Mbit/s to try, ascending\n"
		"  --find               say what is sustained, and end\n"
		"  --rtt MS             of the path (default 25)\n"
		"  --mtu BYTES          payload of a packet (default 4096)\n"
		"  --seed N             of the losses (default 1)\n"
		"  --format NAME        table, csv, json\n"
		"Other FI_SDR_ variables (FI_SDR_EC_K, FI_SDR_OBJECTIVE, ...) are taken from the environment.\n"
		"Times are at the sender, from the post to the completion, which means acknowledged by the peer;\n"
		"every byte is checked. ideal = data bytes * 8 / rate + RTT.\n");
	return f == stdout ? 0 : 2;
}

static bool option(const char *name, const char *v)
{
	if (!strcmp(name, "--schemes"))
		opt.schemes = v;
	else if (!strcmp(name, "--losses"))
		opt.losses = v;
	else if (!strcmp(name, "--sizes"))
		opt.sizes = v;
	else if (!strcmp(name, "--rates"))
		opt.rates = v;
	else if (!strcmp(name, "--rate"))
		return (opt.rate_mbit = atof(v)) > 0;
	else if (!strcmp(name, "--rtt"))
		return (opt.rtt_ms = atof(v)) >= 0.1 && opt.rtt_ms <= 2000;
	else if (!strcmp(name, "--transfers"))
		return (opt.transfers = (uint32_t)strtoul(v, NULL, 10)) >= 1 &&
		       opt.transfers <= MAX_N;
	else if (!strcmp(name, "--warm"))
		opt.warm = (uint32_t)strtoul(v, NULL, 10);
	else if (!strcmp(name, "--mtu"))
		return (opt.mtu = (uint32_t)strtoul(v, NULL, 10)) >= 256 && opt.mtu <= 8192;
	else if (!strcmp(name, "--seed"))
		opt.seed = strtoul(v, NULL, 10);
	else if (!strcmp(name, "--format") && !strcmp(v, "csv"))
		opt.format = FORMAT_CSV;
	else if (!strcmp(name, "--format") && !strcmp(v, "json"))
		opt.format = FORMAT_JSON;
	else if (strcmp(name, "--format") || strcmp(v, "table"))
		return false;
	return true;
}

int main(int argc, char **argv)
{
	bool find = false, warm = false, good;
	double rate;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h"))
			return usage(stdout);
		if (!strcmp(argv[i], "--quick"))
			opt.quick = true;
		else if (!strcmp(argv[i], "--find"))
			find = true;
		else if (i + 1 == argc || !option(argv[i], argv[i + 1]))
			return usage(stderr);
		else
			warm |= !strcmp(argv[i++], "--warm");
	}
	if (opt.quick && !warm)
		opt.warm = 20000;
	signal(SIGPIPE, SIG_IGN);
	rate = opt.rate_mbit * 1e6;
	if (rate <= 0 || find) {
		double most = rate_find();

		rate = SHARE * most;
		fprintf(note(), "# sustained without loss: %.0f Mbit/s; used: %.0f Mbit/s\n",
			most / 1e6, rate / 1e6);
		if (find)
			return 0;
	}
	good = run_all(rate);
	if (opt.format == FORMAT_JSON)
		printf("%s]\n", rows ? "" : "[");
	if (opt.format == FORMAT_TABLE)
		printf("rate %.0f Mbit/s, RTT %.1f ms, packets of %u bytes; ideal = data bytes * 8 / rate + RTT\n"
		       "auto: %u of %u within median <= %.2f and p99 <= %.2f\n",
		       rate / 1e6, opt.rtt_ms, opt.mtu, within, within + over, BAR_MED, BAR_P99);
	return good && !over ? 0 : 1;
}
