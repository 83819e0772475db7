/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* A copy into memory that nobody reads soon: see sdr_stream.c. */
#ifndef SDR_STREAM_H
#define SDR_STREAM_H

#include <stddef.h>
#include <stdint.h>

/*
 * memcpy() past the caches.  Who sees, in another thread, what the caller stores with release order
 * afterwards sees the bytes.
 */
void sdr_stream_copy(uint8_t *to, const uint8_t *from, size_t len);

#endif /* SDR_STREAM_H */
