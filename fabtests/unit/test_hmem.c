/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Drivers of devices, by themselves: what a memory hands out as its dma-buf is the file behind it,
 * at the right place.  The drivers are fakes (fabtests/hmem).
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "hmem/sdr_hmem.h"
#include "../hmem/fake_mem.h"

#define LEN   65536u
#define ASKED 10000u

/* The lowest descriptor that is free: none was left open below it. */
static int first_free(void)
{
	int fd = dup(0);

	close(fd);
	return fd;
}

static void dmabuf__is_the_file_behind_it(void **state)
{
	static const size_t at[] = { 0, 1, 4096, 5000 };
	unsigned char bytes[LEN], seen[ASKED];
	const struct sdr_mem *m;
	struct sdr_dmabuf d;
	int fds;

	(void)state;
	for (unsigned int i = 0; i < LEN; i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 13);
	for (unsigned int iface = SDR_HMEM_CUDA; iface < SDR_HMEM_IFACES; iface++) {
		unsigned char *p = fake_alloc((int)iface, 0, LEN);

		assert_true(sdr_hmem_usable(iface, NULL));
		assert_int_equal(sdr_hmem_find(p, &m), 0);
		assert_non_null(m);
		fake_write(p, bytes, LEN);
		assert_int_equal(sdr_mem_dmabuf(m, p, 1, &d), 0); /* a driver may keep one */
		close(d.fd);
		fds = first_free();
		for (unsigned int i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
			assert_int_equal(sdr_mem_dmabuf(m, p + at[i], ASKED, &d), 0);
			assert_true(fcntl(d.fd, F_GETFD) & FD_CLOEXEC);
			/* the fake's buffer begins at the file's position */
			assert_int_equal(
				pread(d.fd, seen, ASKED, lseek(d.fd, 0, SEEK_CUR) + (off_t)d.off),
				ASKED);
			assert_memory_equal(seen, bytes + at[i], ASKED);
			assert_int_equal(d.off % 4096, at[i] % 4096);
			assert_int_equal(close(d.fd), 0);
		}
		assert_int_equal(first_free(), fds);
		fake_free(p);
	}
}

/* Beyond the allocation, or none at all: an error, and no descriptor. */
static void dmabuf__none(void **state)
{
	const struct sdr_mem *m;
	struct sdr_dmabuf d;

	(void)state;
	for (unsigned int iface = SDR_HMEM_CUDA; iface < SDR_HMEM_IFACES; iface++) {
		unsigned char *p = fake_alloc((int)iface, 0, LEN);

		assert_int_equal(sdr_hmem_find(p, &m), 0);
		assert_true(sdr_mem_dmabuf(m, p, 1 << 20, &d) < 0);
		assert_int_equal(d.fd, -1);
		fake_dmabufs(false);
		assert_true(sdr_mem_dmabuf(m, p, ASKED, &d) < 0);
		assert_int_equal(d.fd, -1);
		fake_dmabufs(true);
		fake_free(p);
	}
}

/* What others wrote is flushed where a device asks for it, and only there. */
static void flush__where_it_is_needed(void **state)
{
	struct fake_stats a, b;
	const struct sdr_mem *m;

	(void)state;
	for (unsigned int iface = SDR_HMEM_CUDA; iface < SDR_HMEM_IFACES; iface++) {
		for (int dev = 0; dev < FAKE_DEVICES; dev++) {
			unsigned char *p = fake_alloc((int)iface, dev, LEN);

			assert_int_equal(sdr_hmem_find(p, &m), 0);
			fake_stats(&a);
			assert_int_equal(sdr_mem_flush(m), 0);
			fake_stats(&b);
			assert_int_equal(b.flushes - a.flushes, iface == SDR_HMEM_CUDA && dev == 1);
			fake_free(p);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dmabuf__is_the_file_behind_it),
		cmocka_unit_test(dmabuf__none),
		cmocka_unit_test(flush__where_it_is_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
