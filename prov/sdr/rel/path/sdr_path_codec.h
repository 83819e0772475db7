/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What is known of paths as bytes, for a file: see sdr_path_codec.c. */
#ifndef SDR_PATH_CODEC_H
#define SDR_PATH_CODEC_H

#include <stddef.h>
#include "sdr_path_mem.h"

#define SDR_PATH_CODEC_VERSION 1u
#define SDR_PATH_CODEC_HEAD    32u
#define SDR_PATH_CODEC_ENTRY   96u
/* bytes: no more than that is written, and what is longer is not read */
#define SDR_PATH_CODEC_MAX (SDR_PATH_CODEC_HEAD + SDR_PATH_MEM_MAX * SDR_PATH_CODEC_ENTRY)

/* Bytes written, at most len; what was touched longest ago is left out.  wall_s: s since 1970. */
size_t sdr_path_encode(struct sdr_path_mem *m, uint64_t now, uint64_t wall_s, uint8_t *buf,
		       size_t len);
/*
 * Puts what is newer into m, unless that is NULL; returns how much it was.  Nothing is taken and
 * -EPROTO: these are other bytes; -EPROTONOSUPPORT: of a later version; -EBADMSG: damaged.
 */
int sdr_path_decode(struct sdr_path_mem *m, uint64_t now, uint64_t wall_s, const uint8_t *buf,
		    size_t len);

/* Puts the head on entries that lie behind its place, whatever they are; len: of all. */
void sdr_path_seal(uint8_t *buf, size_t len);

#endif /* SDR_PATH_CODEC_H */
