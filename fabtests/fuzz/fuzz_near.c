/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What engines of one host say to each other: knocks, and a ring in memory that the other process
 * may write at will.  A knock that is decoded encodes to the same bytes.  Whatever is in a ring and
 * its counters, trains that are handed out lie inside of it, one behind the other, no more of them
 * than it holds; and a sender whose receiver lies overwrites nothing that is not taken out.
 *
 * The first eight bytes of an input are the other side's counter, the rest is the ring's.
 */
#include <errno.h>
#include <unistd.h>
#include "fuzz.h"
#include "uc/soft/sdr_soft_ring.h"
#include "wire/sdr_knock.h"
#include "wire/sdr_wire.h"

#define FUZZ_NEAR_KNOCKS 8u
#define FUZZ_NEAR_RINGS	 8u
#define FUZZ_NEAR_HEAD	 sizeof(struct sdr_soft_ring_train)

/* The two ends of one, made once; each input begins with an empty ring. */
static struct sdr_soft_ring fuzz_tx, fuzz_rx;

static void fuzz_ring(void)
{
	if (fuzz_tx.head)
		return;
	SDR_FUZZ_CHECK(!sdr_soft_ring_make(&fuzz_tx, 1, 2));
	SDR_FUZZ_CHECK(!sdr_soft_ring_open(&fuzz_rx, getpid(), fuzz_tx.fd, 1, 2));
}

static void fuzz_knock(const uint8_t *p, size_t n)
{
	uint8_t back[SDR_KNOCK_MAX];
	struct sdr_wire_knock k;

	if (sdr_wire_knock_decode(p, n, &k))
		return;
	SDR_FUZZ_CHECK(k.kind >= SDR_KNOCK_ASK && k.kind <= SDR_KNOCK_BELL);
	SDR_FUZZ_CHECK(k.index < SDR_QP_INFO_PORTS_MAX);
	SDR_FUZZ_CHECK(k.pid <= INT32_MAX && k.fd <= INT32_MAX);
	SDR_FUZZ_CHECK(sdr_wire_knock_encode(back, &k) == n && !memcmp(back, p, n));
}

/* The sender has written all that. */
static void fuzz_receiver(uint64_t in, const uint8_t *p, size_t n)
{
	struct sdr_soft_ring_train t;
	uint64_t before, trains = 0;
	bool broken = false;
	uint8_t *at;

	fuzz_rx.in = fuzz_rx.out = fuzz_rx.head->out = 0;
	memcpy(fuzz_rx.data, p, n);
	fuzz_rx.head->in = in;
	for (before = 0; (at = sdr_soft_ring_next(&fuzz_rx, &t, &broken)); before = fuzz_rx.in) {
		SDR_FUZZ_CHECK(!broken && ++trains <= SDR_SOFT_RING_BYTES / FUZZ_NEAR_HEAD);
		SDR_FUZZ_CHECK(t.bytes && t.bytes < SDR_SOFT_RING_TRAIN && t.seg);
		SDR_FUZZ_CHECK(at == fuzz_rx.data + before + FUZZ_NEAR_HEAD);
		SDR_FUZZ_CHECK(fuzz_rx.in >= before + FUZZ_NEAR_HEAD + t.bytes);
		SDR_FUZZ_CHECK(fuzz_rx.in <= SDR_SOFT_RING_BYTES && fuzz_rx.in <= in);
	}
	SDR_FUZZ_CHECK(broken || fuzz_rx.in == in);
	sdr_soft_ring_free(&fuzz_rx);
	SDR_FUZZ_CHECK(fuzz_rx.head->out == fuzz_rx.in);
	memset(fuzz_rx.data, 0, n);
}

/* The receiver says that so much has been taken out. */
static void fuzz_sender(uint64_t out, const uint8_t *p, size_t n)
{
	const struct sdr_soft_ring_train t = { .bytes = (uint32_t)n, .seg = (uint32_t)n };
	const struct iovec v = { .iov_base = (void *)(uintptr_t)p, .iov_len = n };
	uint64_t put = 0;
	int ret;

	fuzz_tx.in = fuzz_tx.out = fuzz_tx.head->in = 0;
	fuzz_tx.head->gone = 0;
	fuzz_tx.head->out = out;
	while (!(ret = sdr_soft_ring_put(&fuzz_tx, &v, 1, &t))) {
		put++;
		SDR_FUZZ_CHECK(fuzz_tx.head->in == fuzz_tx.in);
		SDR_FUZZ_CHECK(fuzz_tx.in - fuzz_tx.out <= SDR_SOFT_RING_BYTES);
		SDR_FUZZ_CHECK(put <= 2 * SDR_SOFT_RING_BYTES / FUZZ_NEAR_HEAD);
	}
	SDR_FUZZ_CHECK(ret == -EAGAIN || ret == -EPIPE);
	/* it is full of what nobody took, or it is told that more was taken than is there */
	SDR_FUZZ_CHECK(ret == -EAGAIN || out > fuzz_tx.in ||
		       fuzz_tx.in - out > SDR_SOFT_RING_BYTES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t other;

	fuzz_knock(data, size);
	if (size <= sizeof(other))
		return 0;
	fuzz_ring();
	other = sdr_get_le64(data);
	data += sizeof(other);
	size -= sizeof(other);
	fuzz_receiver(other, data, size);
	fuzz_sender(other, data, size);
	return 0;
}

static size_t fuzz_seed_knock(uint32_t i, uint8_t *buf)
{
	const struct sdr_wire_knock k = {
		.kind = (uint8_t)(SDR_KNOCK_ASK + i % 4),
		.index = (uint8_t)i,
		.qpn = 0x123456,
		.from_qpn = SDR_QPN_MASK,
		.rkey = 0xcafebabe,
		.nonce = 0x0123456789abcdefull,
		.pid = 4711,
		.fd = 17,
	};

	return sdr_wire_knock_encode(buf, &k);
}

/* i + 1 trains of different lengths. */
static size_t fuzz_seed_ring(uint32_t i, uint8_t *buf)
{
	static const uint32_t lens[FUZZ_NEAR_RINGS] = { 1, 64, 63, 65, 200, 700, 1000, 28 };
	size_t n = sizeof(uint64_t);
	uint32_t k;

	for (k = 0; k <= i; k++) {
		struct sdr_soft_ring_train t = { .bytes = lens[k], .seg = lens[k] / (k + 1) + 1 };

		memcpy(buf + n, &t, sizeof(t));
		memset(buf + n + sizeof(t), (int)k, (lens[k] + 63) / 64 * 64);
		n += sizeof(t) + (lens[k] + 63) / 64 * 64;
	}
	sdr_put_le64(buf, n - sizeof(uint64_t));
	return n;
}

size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	if (i < FUZZ_NEAR_KNOCKS)
		return fuzz_seed_knock(i, buf);
	if (i < FUZZ_NEAR_KNOCKS + FUZZ_NEAR_RINGS)
		return fuzz_seed_ring(i - FUZZ_NEAR_KNOCKS, buf);
	return 0;
}
