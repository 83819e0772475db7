/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What the tests of prov/sdr/wire share: cmocka's headers, a generator of repeatable random
 * numbers, a CRC computed bit by bit, and a guarded buffer.
 *
 * The guarded buffer ends where an unmapped page begins: a decoder that reads one byte more than it
 * was given dies in every build, with or without AddressSanitizer.
 */
#ifndef TEST_WIRE_H
#define TEST_WIRE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/sdr_rand.h"
#include "wire/sdr_wire.h"

#define TEST_GUARD_MAX 16384u /* bytes of the largest guarded input */

static inline void test_fill(uint64_t *s, uint8_t *p, size_t n)
{
	while (n--)
		*p++ = (uint8_t)sdr_rand64(s);
}

/* A copy of n bytes whose end is the end of readable memory.  Valid until the next call. */
static inline const uint8_t *test_guard(const void *buf, size_t n)
{
	static uint8_t *end;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (TEST_GUARD_MAX + page - 1) / page * page;

	assert_true(n <= room);
	if (!end) {
		uint8_t *m = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		assert_true(m != MAP_FAILED);
		end = m + room;
		assert_int_equal(mprotect(end, page, PROT_NONE), 0);
	}
	memcpy(end - n, buf, n);
	return end - n;
}

/*
 * Ethernet's CRC from its definition: no table, no library, finished values as sdr_icrc_* uses
 * them.
 */
static inline uint32_t test_crc(uint32_t crc, const uint8_t *p, size_t n)
{
	int k;

	crc = ~crc;
	while (n--) {
		crc ^= *p++;
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

#endif /* TEST_WIRE_H */
