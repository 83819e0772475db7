/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The calls of a receive context that endpoints share (sdr_srx_post.c).
 */
#ifndef SDR_SRX_POST_H
#define SDR_SRX_POST_H

struct sdr_srx_shared;

/* Fills in its tables of calls (ops, msg, tagged). */
void sdr_srx_post_ops(struct sdr_srx_shared *x);

#endif /* SDR_SRX_POST_H */
