/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Fetch-adds of 8 bytes, verified; both processes call it.  The peer's rx begins with the word.
 */
#ifndef SDR_BENCH_ATOMIC_H
#define SDR_BENCH_ATOMIC_H

/* One at a time: results "fetch" and "fetch_p99", whole round trips in us. */
void bench_fetch(void);
/* A window (opt.rate_window) in flight: result "fetch_rate", thousands a second. */
void bench_fetch_rate(void);

#endif
