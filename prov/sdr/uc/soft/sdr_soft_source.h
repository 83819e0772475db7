/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The engine's sockets: channels, and the sources of paths (sdr_soft_source.c).
 */
#ifndef SDR_SOFT_SOURCE_H
#define SDR_SOFT_SOURCE_H

#include <stdint.h>
#include "sdr_soft.h"

struct sdr_soft;

#define SDR_SOFT_SOCKS	  (SDR_CHANNELS_MAX + SDR_PATHS_MAX - 1)
#define SDR_SOFT_NAME_LEN 80u /* bytes of an address and port as text */

/* Text of a failure to open, for who asked for it. */
void sdr_soft_say(const struct sdr_soft_attr *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Opens them, s->mtu being known.  0 or a negative errno with text; a further source that cannot be
 * had is left out, with text.
 */
int sdr_soft_source_open(struct sdr_soft *s, const struct sdr_soft_attr *a);
void sdr_soft_source_close(struct sdr_soft *s);
/* Which sockets have something, a bit each: at least those that do. */
uint32_t sdr_soft_source_ready(const struct sdr_soft *s);
/* Its address and port; len 0: there is no such source. */
void sdr_soft_source_name(const struct sdr_soft *s, uint32_t source, struct sdr_uc_addr *out);

#endif /* SDR_SOFT_SOURCE_H */
