/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Datagrams of the application between two QPs (sdr_app.c). */
#ifndef SDR_APP_H
#define SDR_APP_H

#include <stddef.h>
#include <stdint.h>

struct sdr_context;

/* buf,len: behind the class header. */
void sdr_app_input(struct sdr_context *ctx, const uint8_t *buf, size_t len);

#endif /* SDR_APP_H */
