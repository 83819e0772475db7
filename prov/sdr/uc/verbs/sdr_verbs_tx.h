/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Sending, and what is read from under registrations meanwhile (sdr_verbs_tx.c).
 */
#ifndef SDR_VERBS_TX_H
#define SDR_VERBS_TX_H

#include "sdr_verbs_qp.h"

/* bytes of a message from which registering beats copying */
#define SDR_VERBS_REG_MIN 65536u

/* What mr_reg hands out. */
struct sdr_verbs_reg {
	struct sdr_verbs_mr *mr;
	uint32_t batches;	    /* under way */
	bool dead;		    /* deregistered: goes with the last of them */
	struct sdr_verbs_reg *next; /* dead: v->dead_regs */
};

int sdr_verbs_tx_init(struct sdr_verbs *v);
void sdr_verbs_tx_free(struct sdr_verbs *v);
int sdr_verbs_post(struct sdr_uc *uc, struct sdr_uc_tx *d, int n);
/* Takes in send completions. */
void sdr_verbs_tx_reap(struct sdr_verbs *v);
int sdr_verbs_tp_add(struct sdr_verbs *v, struct sdr_verbs_tp *t);
void sdr_verbs_tp_del(struct sdr_verbs *v, struct sdr_verbs_tp *t);
/* Forgets what a transport QP that was reset or destroyed had under way. */
void sdr_verbs_tp_forget(struct sdr_verbs_tp *t);
int sdr_verbs_mr_reg(struct sdr_uc *uc, void *buf, size_t len, const struct sdr_mem *mem,
		     void **mr);
bool sdr_verbs_mr_busy(struct sdr_uc *uc, void *mr);
bool sdr_verbs_mr_reading(struct sdr_uc *uc, const void *buf, size_t len);
void sdr_verbs_mr_dereg(struct sdr_uc *uc, void *mr);

#endif /* SDR_VERBS_TX_H */
