/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Work split over processes: see sim_jobs.c. */
#ifndef SDR_TOOLS_SIM_JOBS_H
#define SDR_TOOLS_SIM_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SIM_JOBS_MAX 256u

struct sim_jobs {
	uint32_t jobs; /* processes at a time, 1..SIM_JOBS_MAX */
	uint32_t n;    /* units of work */
	void *ctx;
	void (*run)(void *ctx, uint32_t i); /* unit i, in a process of its own */
	/*
	 * In the parent, after the process of unit i has ended; signal: 0, or what killed it.
	 * False: start no more.
	 */
	bool (*end)(void *ctx, uint32_t i, int signal);
	void (*tick)(void *ctx); /* about once a second; may be NULL */
};

/* 0 or a negative errno value; the units that were started have ended. */
int sim_jobs_run(const struct sim_jobs *j);
/* Zeroed memory that processes share, NULL: none left. */
void *sim_jobs_share(size_t len);
void sim_jobs_unshare(void *p, size_t len);

#endif /* SDR_TOOLS_SIM_JOBS_H */
