/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The receive side's window of message numbers (sdr_msgtab.c).
 */
#ifndef SDR_MSGTAB_H
#define SDR_MSGTAB_H

#include <stdint.h>

struct sdr_qp;
struct sdr_rcv_handle;

enum sdr_msgtab_state {
	SDR_MSG_FREE,	/* may be posted */
	SDR_MSG_LIVE,	/* posted */
	SDR_MSG_DONE,	/* completed or skipped, or below the window */
	SDR_MSG_BEYOND, /* above the window: its slot may still be another message's */
};

enum sdr_msgtab_state sdr_msgtab_state(const struct sdr_qp *qp, uint32_t msn);
/* FREE -> LIVE; mr: the engine's registration of the buffer, or NULL.  0 or what it says. */
int sdr_msgtab_open(struct sdr_qp *qp, struct sdr_rcv_handle *h, void *mr);
/* Stays LIVE; afterwards no packet reaches the message's bits or bytes. */
void sdr_msgtab_seal(struct sdr_qp *qp, struct sdr_rcv_handle *h);
/* LIVE -> DONE; afterwards no packet reaches the message's bits or bytes. */
void sdr_msgtab_close(struct sdr_qp *qp, struct sdr_rcv_handle *h);
/*
 * FREE -> DONE for all of [lo, hi) that the window reaches; returns where it stopped, hi at the
 * most.
 */
uint32_t sdr_msgtab_skip(struct sdr_qp *qp, uint32_t lo, uint32_t hi);

#endif /* SDR_MSGTAB_H */
