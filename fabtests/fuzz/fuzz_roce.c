/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * RoCE packets and their ICRC.  What is decoded lies inside the packet, fills it, and encodes to
 * the same header but for the bits that a receiver ignores; a packet that was given its ICRC passes
 * the check, with the masked byte changed too, and fails it with any other byte changed.
 */
#include "fuzz.h"
#include "wire/sdr_wire.h"

#define FUZZ_ROCE_SEEDS 24u

/*
 * Sets what decoders ignore to what encoders write: solicited, MigReq; partition membership; FECN;
 * AckReq.
 */
static void fuzz_bth_normalise(uint8_t *h)
{
	h[1] = (uint8_t)((h[1] & 0x3f) | 0x40);
	h[2] |= 0x80;
	h[4] = 0;
	h[8] = 0;
}

static void fuzz_decode(const uint8_t *p, size_t n)
{
	uint8_t was[SDR_DATA_HDR], back[SDR_DATA_HDR];
	const uint8_t *payload = NULL;
	struct sdr_wire_data d;
	struct sdr_wire_ctl c;
	size_t len = 0;

	if (sdr_wire_data_decode(p, n, &d, &payload) == 0) {
		SDR_FUZZ_CHECK(sdr_wire_opcode(p, n) == SDR_OP_UC_WRITE_ONLY_IMM);
		SDR_FUZZ_CHECK(payload == p + SDR_DATA_HDR && d.len <= SDR_MTU_MAX);
		SDR_FUZZ_CHECK(!d.piece || (d.len && d.len <= d.piece && d.piece < d.whole &&
					    d.whole <= SDR_MTU_MAX));
		SDR_FUZZ_CHECK(SDR_DATA_OVERHEAD + d.len + sdr_wire_pad(d.len) == n);
		memcpy(was, p, sizeof(was));
		fuzz_bth_normalise(was);
		sdr_wire_data_encode(back, &d);
		SDR_FUZZ_CHECK(memcmp(was, back, SDR_DATA_HDR) == 0);
	}
	if (sdr_wire_ctl_decode(p, n, &c, &payload, &len) == 0) {
		SDR_FUZZ_CHECK(sdr_wire_opcode(p, n) == SDR_OP_UD_SEND_ONLY);
		SDR_FUZZ_CHECK(payload == p + SDR_CTL_HDR && len <= SDR_PROBE_MAX);
		SDR_FUZZ_CHECK(SDR_CTL_OVERHEAD + len + sdr_wire_pad((uint32_t)len) == n);
		memcpy(was, p, SDR_CTL_HDR);
		fuzz_bth_normalise(was);
		was[16] = 0;
		sdr_wire_ctl_encode(back, &c, len);
		SDR_FUZZ_CHECK(memcmp(was, back, SDR_CTL_HDR) == 0);
	}
}

static void fuzz_icrc(const uint8_t *p, size_t n)
{
	static uint8_t q[SDR_FUZZ_MAX];
	uint32_t seed = sdr_icrc_seed_masked();
	bool ok = sdr_icrc_check(seed, p, n);
	size_t at;

	if (n < SDR_BTH_LEN + SDR_ICRC_LEN || n > sizeof(q)) {
		SDR_FUZZ_CHECK(!ok || n > sizeof(q));
		return;
	}
	memcpy(q, p, n);
	sdr_put_le32(q + n - SDR_ICRC_LEN,
		     sdr_icrc_final(sdr_icrc_headers(seed, q, n - SDR_ICRC_LEN)));
	SDR_FUZZ_CHECK(sdr_icrc_check(seed, q, n));
	q[4] ^= 0x55;
	SDR_FUZZ_CHECK(sdr_icrc_check(seed, q, n));
	at = (p[n - 1] | (size_t)p[n - 2] << 8) % n;
	q[at] ^= 0x10;
	SDR_FUZZ_CHECK(sdr_icrc_check(seed, q, n) == (at == 4));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_decode(data, size);
	fuzz_icrc(data, size);
	return 0;
}

size_t sdr_fuzz_seed(unsigned int i, uint8_t *buf)
{
	static const uint32_t lens[] = { 0, 1, 2, 3, 4, 5, 6, 7, 64, 255, 1024, 4096 };
	uint32_t len, n;

	if (i >= FUZZ_ROCE_SEEDS)
		return 0;
	len = lens[i / 2];
	if (i & 1) {
		struct sdr_wire_ctl c = { .qkey = 0x80010000u + i, .psn = i, .src_qpn = 0x123456 };

		sdr_wire_ctl_encode(buf, &c, len);
		n = SDR_CTL_HDR;
	} else {
		struct sdr_wire_data d = {
			.qpn = 0x654321,
			.psn = i,
			.va = (uint64_t)i << 30 | 4096,
			.rkey = 0xcafebabe,
			.len = len,
			.imm = i << 22 | 16,
			.piece = i % 4 || !len ? 0 : (uint16_t)(len & ~3u),
			.whole = (uint16_t)(2 * len),
		};

		sdr_wire_data_encode(buf, &d);
		n = SDR_DATA_HDR;
	}
	memset(buf + n, (int)i, len);
	n += len;
	memset(buf + n, 0, sdr_wire_pad(len));
	n += sdr_wire_pad(len);
	sdr_put_le32(buf + n, sdr_icrc_final(sdr_icrc_headers(sdr_icrc_seed_masked(), buf, n)));
	return n + SDR_ICRC_LEN;
}
