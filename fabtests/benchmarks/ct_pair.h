/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Two processes of sdr_ct, client and server, that transfer over loopback under one scheme and one
 * loss. The parent starts them, reads what the client measured, and waits for them.
 */
#ifndef SDR_CT_PAIR_H
#define SDR_CT_PAIR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CT_SIZES 16u /* of one run */

struct ct_run {
	const char *scheme, *loss; /* FI_SDR_RELIABILITY; drop= of both sides */
	double rate;		   /* FI_SDR_RATE, bits per second */
	double rtt_ms;
	uint32_t mtu;	    /* bytes */
	unsigned long seed; /* of the losses */
	uint32_t warm;	    /* packets before anything is timed */
	uint32_t nsizes;
	uint32_t mib[CT_SIZES], n[CT_SIZES]; /* size, transfers */
};

/* What the client says of a size. */
struct ct_cell {
	uint32_t mib, n;
	double median, p99, max, ideal;	     /* s; p99 by nearest rank */
	uint64_t data;			     /* packets that n transfers have */
	uint64_t parity, rtx, spurious, fec; /* packets, packets, packets, chunks decoded */
	/* transfers for which parity was chosen (hybrid, auto) */
	uint64_t with_parity;
	uint64_t k, m, cover_ppm, why; /* the last choice, see fi_sdr_stats */
	uint64_t loss_ppm;	       /* what the sender believes at the end */
};

/* Starts both; pid: client, server. Returns the descriptor that cells come from. */
int ct_run_start(const struct ct_run *r, pid_t pid[2]);
/* Reads one cell; false: there is none, the client has ended. */
bool ct_run_cell(int fd, struct ct_cell *c);
/*
 * Waits for both; one that fails takes the other with it. False: one failed, and standard error
 * says which.
 */
bool ct_run_end(int fd, const pid_t pid[2]);

#endif
