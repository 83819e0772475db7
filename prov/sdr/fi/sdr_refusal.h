/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Why fi_getinfo offers nothing (sdr_refusal.c). */
#ifndef SDR_REFUSAL_H
#define SDR_REFUSAL_H

#include <stdint.h>

#include <rdma/fabric.h>

/* A call of this thread begins: there is no reason yet. */
void sdr_refusal_clear(void);
/* A reason: into the log at level info, and kept if it is the first of the call. */
void sdr_refusal_hint(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The same, of bits that are not there, by their names. */
void sdr_refusal_bits(const char *what, uint64_t bits, enum fi_type type);
/* No kind of endpoint was the one in the hints: counts if there is no other reason. */
void sdr_refusal_type(enum fi_ep_type type);
/* No address fits what the hints say of domain, fabric and address: the same. */
void sdr_refusal_place(const struct fi_info *hints);
/* Nothing was offered to somebody who asked for sdr: why, at level warn. */
void sdr_refusal_warn(void);

#endif /* SDR_REFUSAL_H */
