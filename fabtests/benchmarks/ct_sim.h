/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the parts of sdr_ct_sim share: the plan, its cells, what came of them. */
#ifndef CT_SIM_H
#define CT_SIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "rel/bulk/sdr_scheme.h"
#include "rel/sdr_rel_cfg.h"
#include "tools/sim/sim_eps.h"

#define CT_LIST_MAX  32 /* elements of a list on the command line */
#define CT_CELLS_MAX 512u
#define CT_RUNS_MAX  1000000u
#define CT_NS	     1e9

/* What all cells have in common. */
struct ct_plan {
	double rate_bps; /* of the link, and of the sender (fixed) */
	double rtt_s;
	double pause_s; /* between two transfers: uniform in [0, pause_s) */
	double tick_s;	/* packets wait at most so long for the node that they have reached */
	uint32_t mtu;	/* payload bytes */
	uint64_t seed;
	bool reverse_loss;	/* acknowledgements are lost as well */
	uint32_t warm;		/* transfers before the measured ones; UINT32_MAX: by packets */
	struct sdr_rel_cfg cfg; /* scheme is the cell's */
};

/* One row of the table: a size, impairments, a scheme. */
struct ct_cell {
	uint64_t size; /* bytes */
	double loss;   /* share of packets, independent; 0 with bursts */
	double ge_loss, ge_burst;
	const struct sdr_scheme_ops *scheme;
	uint32_t runs;
	double mean_max; /* bar, s; 0: none */
	double tail_max; /* bar for p99.9, s; 0: none */
};

enum ct_state {
	CT_WAITS = 0,
	CT_RUNS,
	CT_DONE,
	CT_FAILED,
};

/* Written by the process that runs the cell, read by its parent: plain data in shared memory. */
struct ct_result {
	volatile enum ct_state state;
	volatile uint32_t done; /* transfers, warm-up included */
	uint32_t warm;
	double mean, p50, p99, p999, max, ideal;      /* s */
	uint64_t data_pkts;			      /* of the messages */
	uint64_t parity, repair, rtx, decoded;	      /* packets, packets, packets, chunks */
	uint64_t choice_sr, choice_parity;	      /* transfers */
	uint64_t code_k, code_m, cover_ppm, loss_ppm; /* as the sender last said */
	uint64_t packets;			      /* all that entered the links */
	double virtual_s, real_s, cpu_s;
	uint64_t rss_kib;      /* peak of the process */
	char why[SIM_WHY_MAX]; /* FAILED */
};

enum ct_format {
	CT_TABLE,
	CT_CSV,
	CT_JSON,
};

/* The options. */
struct ct_opts {
	struct ct_plan plan;
	enum ct_format format;
	uint32_t runs, jobs;
	bool bars, quick;
	uint64_t sizes[CT_LIST_MAX];
	double loss[CT_LIST_MAX], ge_loss[CT_LIST_MAX], ge_burst[CT_LIST_MAX];
	const struct sdr_scheme_ops *schemes[CT_LIST_MAX];
	int nsizes, nloss, nge, nschemes;
	struct ct_cell cells[CT_CELLS_MAX];
	uint32_t ncells;
};

/* 0; 1: --help was answered; -EINVAL: said why. */
int ct_opts_parse(struct ct_opts *o, int argc, char **argv);

/* Runs a cell in this process.  False: r->why says how it went wrong. */
bool ct_cell_run(const struct ct_plan *plan, const struct ct_cell *cell, struct ct_result *r);

void ct_out_begin(enum ct_format f, const struct ct_plan *plan);
void ct_out_row(enum ct_format f, const struct ct_cell *cell, const struct ct_result *r,
		bool first);
void ct_out_end(enum ct_format f);
/* "PASS", "OVER ..."; "" without a bar. */
const char *ct_verdict(const struct ct_cell *cell, const struct ct_result *r);
/* 134217728 -> "128M"; into buf. */
const char *ct_size_text(uint64_t size, char *buf, size_t len);

#endif /* CT_SIM_H */
