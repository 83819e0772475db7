/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The packets of a send as descriptors, and its registrations (sdr_send_run.c).
 */
#ifndef SDR_SEND_RUN_H
#define SDR_SEND_RUN_H

#include <stdbool.h>
#include <stdint.h>

struct sdr_mr;
struct sdr_snd_handle;

#define SDR_TRAIN_PKTS	64u    /* packets of one UDP GSO train, */
#define SDR_TRAIN_BYTES 65000u /* and its bytes with headers */
/* trains a descriptor carries where there is one channel */
#define SDR_RUN_TRAINS 4u

/*
 * Packets [first, first + n), all below h->total, into the batch; buf: bytes of packet first; mr:
 * covers them, or NULL. Returns packets taken.
 */
uint32_t sdr_send_run(struct sdr_snd_handle *h, const uint8_t *buf, uint32_t first, uint32_t n,
		      void *mr);
/*
 * The registration for packets of a message that lies at base as a whole; the first call makes it.
 */
void *sdr_send_reg(struct sdr_snd_handle *h, const void *base);
/* The caller's registration, where one pays. */
void *sdr_send_mr_of(const struct sdr_snd_handle *h, const struct sdr_mr *mr);
/* The engine has yet to read what it was given. */
bool sdr_send_reading(const struct sdr_snd_handle *h);

#endif /* SDR_SEND_RUN_H */
