/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Writes of a datagram endpoint into memory of its peers (sdr_put.c).  All under the endpoint's
 * lock.
 */
#ifndef SDR_PUT_H
#define SDR_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdr_ep;
struct sdr_uc_addr;

struct sdr_put_wr {
	const void *buf;
	size_t len;
	uint64_t addr, key, data;
	void *context;
	bool has_data, inject, completes; /* completes: a CQ entry */
};

void sdr_puts_open(struct sdr_ep *ep);
/* What is posted ends, cancelled. */
void sdr_puts_close(struct sdr_ep *ep);
/* 0; -FI_EAGAIN: too many are posted; -FI_ENOMEM. */
int sdr_put_post(struct sdr_ep *ep, const struct sdr_uc_addr *to, const struct sdr_put_wr *wr);
/* Some are posted, and not over. */
bool sdr_puts_busy(const struct sdr_ep *ep);

#endif /* SDR_PUT_H */
