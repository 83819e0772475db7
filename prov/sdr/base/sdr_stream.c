/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A copy past the caches.
 *
 * An ordinary copy reads each line of its destination before it writes it, and keeps it: of a
 * message that is larger than the caches all of that is for nothing, and pushes out what others
 * need.  Streaming stores collect whole lines and write those (Intel 64 and IA-32 Architectures
 * Optimization Reference Manual, "Non-temporal stores").  glibc does so by itself only in one call
 * for most of a cache or more, while a message comes in packets.
 *
 * Streaming stores are not ordered with others, not even with a release: a fence behind the last
 * one puts that right.  AVX2, where the processor has it; two stores make a line, while SSE2 needs
 * four and is slower than memcpy.  Elsewhere this is memcpy.
 */
#include <stdbool.h>
#include <string.h>
#include "sdr_stream.h"

#ifdef __x86_64__
#include <immintrin.h>

#define STREAM_LINE 64u /* bytes */

static bool stream_can(void)
{
	return __builtin_cpu_supports("avx2");
}

__attribute__((target("avx2"))) static void stream_lines(uint8_t *to, const uint8_t *from,
							 size_t len)
{
	for (; len; len -= STREAM_LINE, to += STREAM_LINE, from += STREAM_LINE) {
		__m256i a = _mm256_loadu_si256((const void *)from);
		__m256i b = _mm256_loadu_si256((const void *)(from + STREAM_LINE / 2));

		_mm256_stream_si256((void *)to, a);
		_mm256_stream_si256((void *)(to + STREAM_LINE / 2), b);
	}
	_mm_sfence();
}

void sdr_stream_copy(uint8_t *to, const uint8_t *from, size_t len)
{
	size_t head = -(uintptr_t)to % STREAM_LINE, lines;

	head = head < len && stream_can() ? head : len;
	lines = (len - head) / STREAM_LINE * STREAM_LINE;
	memcpy(to, from, head);
	if (lines)
		stream_lines(to + head, from + head, lines);
	memcpy(to + head + lines, from + head + lines, len - head - lines);
}
#else
void sdr_stream_copy(uint8_t *to, const uint8_t *from, size_t len)
{
	memcpy(to, from, len);
}
#endif
