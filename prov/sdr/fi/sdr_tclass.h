/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Traffic classes of libfabric, see sdr_tclass.c. */
#ifndef SDR_TCLASS_H
#define SDR_TCLASS_H

#include <stdbool.h>
#include <stdint.h>
#include <rdma/fabric.h>

/* The code point of what an application asked for; false: that is not served. */
bool sdr_tclass_dscp(uint32_t tclass, uint8_t *dscp);
/*
 * What info asks for, of its endpoint before its domain; where it asks for nothing *dscp stays.
 * False: it is not served.
 */
bool sdr_tclass_of(const struct fi_info *info, uint8_t *dscp);
/* For an application that asked for nothing. */
uint32_t sdr_tclass_make(uint8_t dscp);

#endif /* SDR_TCLASS_H */
