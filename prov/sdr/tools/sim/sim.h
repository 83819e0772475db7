/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the objects of sdr_sim share.  The command line (sim_opt.c) and a batch become cells, each
 * of which is checked (sim_cell.c); their runs are cut into shards, which processes work off
 * (sim_shard.c, sim_jobs.c); rows are printed in the order of the cells (sim_out.c).
 */
#ifndef SDR_TOOLS_SIM_H
#define SDR_TOOLS_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "rel/bulk/sdr_scheme.h"
#include "rel/path/sdr_cc_ops.h"
#include "rel/sdr_rel_cfg.h"
#include "tools/common/model_row.h"
#include "sim_eps.h"
#include "sim_lane.h"
#include "sim_trace.h"

enum sim_mode { SIM_MESSAGE, SIM_STREAM, SIM_ALLREDUCE, SIM_MODES };

#define SIM_SHARDS	 8u  /* maximum parts of a cell's runs, whatever --jobs is */
#define SIM_SHARD_RUNS	 16u /* minimum runs of each, where there are so many */
#define SIM_CELLS_MAX	 100000u
#define SIM_RUNS_MAX	 1000000u
#define SIM_SAMPLES_MAX	 100000000u /* of all cells */
#define SIM_NODES_MAX	 1024u
#define SIM_MESSAGES_MAX 65536u /* of a stream */
#define SIM_WARM_AUTO	 UINT32_MAX
#define SIM_PREFIX	 "allreduce_"

/* How a name of a scheme is run. */
struct sim_scheme {
	const char *name;
	enum sdr_model_scheme model; /* by whose rules its parameters are checked */
	const struct sdr_scheme_ops *rel;
	uint8_t code;  /* enum sdr_code_kind */
	bool lossless; /* nothing is lost */
	bool learns;   /* what it does depends on what it has seen before */
	bool chunks;   /* parity repairs chunks, not packet rows, unless told otherwise */
};

/* What all cells have in common. */
struct sim_plan {
	uint32_t runs, jobs;
	uint32_t warm; /* transfers before the measured ones of a shard; SIM_WARM_AUTO */
	uint64_t seed;
	uint32_t messages, window; /* of a stream */
	double pause_s, tick_s;
	double reverse_p; /* loss on the way back; < 0: as on the way there */
	double jitter_s, reorder_p, reorder_s;
	uint64_t queue_bytes; /* of the bottleneck, 0: no limit */
	double cross_bps;     /* cross traffic, wire bits per second */
	uint32_t cross_bytes; /* of one of its packets */
	uint32_t path_mtu;    /* bytes of the largest IP packet, 0: no limit */
	bool path_icmp;	      /* senders of longer ones are told */
	uint32_t paths;	      /* of a connection, 1..SDR_PATHS_MAX */
	struct sim_lane lane[SDR_PATHS_MAX];
	bool lanes; /* any of them is given */
	const struct sdr_cc_ops *cc;
	bool headers; /* the bandwidth has to carry them too */
	bool verify;
	enum tool_format format;
	bool progress;
	const char *trace_file;
	uint64_t trace_max;
	struct sim_trace trace; /* f NULL: none */
};

/* One row of the result. */
struct sim_cell {
	enum sim_mode mode;
	struct sim_scheme scheme;
	/* the question, by the rules of sdr_model; point and nodes of it count */
	struct model_row row;
};

struct sim_cells {
	struct sim_cell *cell;
	uint32_t n, room;
	const char *file; /* of a batch, NULL: the command line */
};

/* Plain data in shared memory: written by the process of the shard. */
struct sim_shard {
	volatile uint32_t done; /* runs, warm-up included */
	volatile bool ended;	/* by itself, well or not */
	bool failed;
	uint32_t first, runs; /* of the cell's */
	uint32_t warm;
	uint64_t data_pkts, packets, parity, rtx;
	double bytes, busy_s; /* of messages; virtual time in which they were under way */
	double cpu_s;
	uint64_t rss_kib; /* peak of the process */
	char why[SIM_WHY_MAX];
};

/* What came of a cell. */
struct sim_result {
	bool failed;
	const char *why;
	struct sdr_model_times times;
	double min_s, max_s, ideal_s;
	uint32_t runs;
	uint64_t packets, parity, rtx, rss_kib;
	double overhead, goodput_bps, mpkt_per_s;
};

/* ---- sim_opt.c ---- */
/* Exits with TOOL_USAGE and the reason unless all of it makes sense. */
void sim_options(struct sim_plan *plan, struct sim_cells *cells, int argc, char **argv);

/* ---- sim_cell.c ---- */
/*
 * All of a batch, or else (NULL) all combinations of what the options list; text[f]: as an option
 * said it, NULL: not given.  Exits with the reason unless each makes sense.
 */
void sim_cells_read(const struct sim_plan *plan, struct sim_cells *cells, enum sim_mode mode,
		    const char *const text[MODEL_FIELDS], const char *batch);
void sim_cells_free(struct sim_cells *cells);
/* Whether parity is decoded by chunks (or by packet rows). */
bool sim_cell_chunk_decode(const struct sim_cell *c);
/* Times of one run of it, and all shards of its runs. */
uint32_t sim_cell_samples(const struct sim_plan *plan, const struct sim_cell *c);
uint32_t sim_cell_shards(const struct sim_plan *plan);
/* Of a run: data packets, and bytes of the messages, or of the buffer of an allreduce. */
uint64_t sim_cell_packets(const struct sim_cell *c, const struct sim_plan *plan);
double sim_cell_bytes(const struct sim_cell *c, const struct sim_plan *plan);
void sim_shard_init(const struct sim_plan *plan, struct sim_shard *s, uint32_t shard);
/* Without loss: data / bandwidth + RTT, of every round; of all paths, and the nearest. */
double sim_cell_ideal(const struct sim_plan *plan, const struct sim_cell *c);
/* Puts the shards together; sorts t_s, the times of all runs. */
void sim_cell_result(const struct sim_plan *plan, const struct sim_cell *c,
		     const struct sim_shard *s, double *t_s, struct sim_result *r);

/* ---- sim_shard.c ---- */
/* Runs the shard in this process: t_s has room for the times of its runs. */
void sim_shard_run(const struct sim_plan *plan, const struct sim_cell *c, uint32_t cell,
		   uint32_t shard, struct sim_shard *s, double *t_s);

/* ---- sim_out.c ---- */
void sim_out_begin(const struct sim_plan *plan, const struct sim_cells *cells);
void sim_out_row(const struct sim_plan *plan, const struct sim_cells *cells, uint32_t i,
		 const struct sim_result *r, bool first_row);
void sim_out_end(const struct sim_plan *plan);

#endif /* SDR_TOOLS_SIM_H */
