/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * PART: a piece of a PACKET that is longer than the path carries.  Only what was made when the path
 * carried more travels so.
 *
 *     0               8       12      14     15     16
 *    +---------------+-------+-------+------+------+-----------+
 *    | connection id | pn    | total | part | of   | bytes ... |
 *    +---------------+-------+-------+------+------+-----------+
 *
 * Behind the class header.  Connection id and pn are those of the packet; total counts the bytes of
 * its frames, of which this is part `part` of `of`.  All parts but the last have the same number of
 * bytes: total / of, rounded up.
 */
#ifndef SDR_PART_H
#define SDR_PART_H

#include <stddef.h>
#include <stdint.h>
#include "sdr_hello.h"

#define SDR_PART_HDR (SDR_CLASS_LEN + 16u)
#define SDR_PARTS_OF 8u /* parts of a packet, at most */
/* bytes of the frames of a packet that comes in parts, at most */
#define SDR_PART_TOTAL_MAX (SDR_CTL_MAX - SDR_PACKET_HDR)

struct sdr_part {
	uint64_t cid;
	uint32_t pn;
	uint16_t total;
	uint8_t part, of; /* part < of; 2..SDR_PARTS_OF */
	uint16_t at, len; /* bytes: where in the frames, and how many */
	const uint8_t *bytes;
};

/* Bytes of every part but the last. */
static inline uint32_t sdr_part_size(uint32_t total, uint32_t of)
{
	return (total + of - 1) / of;
}

/* total, part and of say what; writes class header, header and bytes: from all the frames. */
size_t sdr_part_encode(uint8_t *p, const struct sdr_part *h, const uint8_t *frames);
/* p behind the class header; -EBADMSG. */
int sdr_part_decode(const uint8_t *p, size_t len, struct sdr_part *h);

#endif /* SDR_PART_H */
