/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The first four bytes of every control datagram's payload: which version, and who it is for.
 */
#ifndef SDR_CLASS_H
#define SDR_CLASS_H

#include <stddef.h>
#include <stdint.h>

/*
 *   0        1         2       3
 *  +--------+---------+-------+-------+
 *  | 0x5d   | version | class | type  |
 *  +--------+---------+-------+-------+
 *
 * The same in all versions.
 */
#define SDR_CLASS_LEN	4u
#define SDR_CLASS_MAGIC 0x5d
enum sdr_class {
	SDR_CLASS_SDK = 1, /* types: enum sdr_sdk_type */
	SDR_CLASS_REL = 2, /* types: enum sdr_rel_type */
	/* type 0: the datagram's bytes follow; type 1: 8 bytes of CQ data, then the bytes */
	SDR_CLASS_DGRAM = 3,
};
#define SDR_CLASS_SEALED 0x80u /* bit of the class byte: the datagram ends with a tag (sdr_tag.h) */
void sdr_class_encode(uint8_t *p, enum sdr_class c, uint8_t type);
/*
 * Returns the class (> 0) and *type; -EBADMSG (short, magic, class), -EPROTONOSUPPORT (version) or
 * -ENOKEY (a class with a tag).
 */
int sdr_class_decode(const uint8_t *p, size_t len, uint8_t *type);

#endif /* SDR_CLASS_H */
