/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The invariant CRC of RoCEv2: Ethernet's CRC-32 (reflected, register preset to ones, complemented
 * at the end) over a pseudo-header in which everything that routers may change is all ones, then
 * over the packet from BTH to the end of the pad.
 *
 * States are finished CRCs: ISA-L complements on the way in and on the way out, so the value of one
 * call is the start of the next and the last one is the result.  Nothing is kept between calls; any
 * thread.
 *
 * What a socket does not tell about a received packet is the IPv4 identification, which a device
 * counts in. CRCs are linear: the difference between the trailer and what it would be for
 * identification 0, taken back over the bytes that follow that field, must be a number of 16 bits,
 * and is the identification.  So 16 of the 32 bits still find damage (all single bits; one random
 * packet in 65536 is taken for sound).
 *
 * What it does not do: protect against an attacker; this is a check against accidents.
 */
#include "base/sdr_assert.h"
#include "sdr_wire.h"

#include <string.h>
#include <isa-l/crc.h>

#define SDR_IPV4_LEN	20u
#define SDR_IPV6_LEN	40u
#define SDR_UDP_LEN	8u
#define SDR_LRH_LEN	8u /* InfiniBand's own link header, all ones in RoCE */
#define SDR_BTH_FECN	4u /* offset of the byte with FECN, BECN and reserved bits */
#define SDR_IPPROTO_UDP 17u
#define SDR_IPV4_ID	4u /* offset of the identification */

/*
 * CRC of 36 bytes of ones: link header, an IPv4 header, a UDP header.  The same for both IP
 * families, so that it survives translation from one to the other.
 */
#define SDR_ICRC_SEED_MASKED 0x19990159u

/*
 * Polynomials modulo the CRC's, most significant bit first: x^0 and x^-8 (eight steps of the
 * register backwards).
 */
#define SDR_CRC_ONE    0x80000000u
#define SDR_CRC_POLY   0xedb88320u
#define SDR_CRC_X_BACK 0x6567cb95u

/* Longest run of headers that is masked in one copy; longer ones cost a second call. */
#define SDR_ICRC_HDR_COPY 64u

uint32_t sdr_icrc_seed_masked(void)
{
	return SDR_ICRC_SEED_MASKED;
}

static void sdr_icrc_udp_fill(uint8_t *p, uint16_t sport, uint16_t dport, size_t udp_len)
{
	sdr_put_be16(p, sport);
	sdr_put_be16(p + 2, dport);
	sdr_put_be16(p + 4, (uint16_t)udp_len);
	sdr_put_be16(p + 6, 0xffff);
}

uint32_t sdr_icrc_seed_v4(const uint8_t src[4], const uint8_t dst[4], uint16_t sport,
			  uint16_t dport, uint16_t ip_id, bool df, size_t udp_payload_len)
{
	uint8_t h[SDR_LRH_LEN + SDR_IPV4_LEN + SDR_UDP_LEN];
	uint8_t *ip = h + SDR_LRH_LEN;
	size_t udp_len = SDR_UDP_LEN + udp_payload_len;

	memset(h, 0xff, SDR_LRH_LEN);
	ip[0] = 0x45;
	ip[1] = 0xff; /* type of service */
	sdr_put_be16(ip + 2, (uint16_t)(SDR_IPV4_LEN + udp_len));
	sdr_put_be16(ip + 4, ip_id);
	sdr_put_be16(ip + 6, df ? 0x4000 : 0);
	ip[8] = 0xff; /* time to live */
	ip[9] = SDR_IPPROTO_UDP;
	sdr_put_be16(ip + 10, 0xffff); /* header checksum */
	memcpy(ip + 12, src, 4);
	memcpy(ip + 16, dst, 4);
	sdr_icrc_udp_fill(ip + SDR_IPV4_LEN, sport, dport, udp_len);
	return crc32_gzip_refl(0, h, sizeof(h));
}

uint32_t sdr_icrc_seed_v6(const uint8_t src[16], const uint8_t dst[16], uint16_t sport,
			  uint16_t dport, size_t udp_payload_len)
{
	uint8_t h[SDR_LRH_LEN + SDR_IPV6_LEN + SDR_UDP_LEN];
	uint8_t *ip = h + SDR_LRH_LEN;
	size_t udp_len = SDR_UDP_LEN + udp_payload_len;

	memset(h, 0xff, SDR_LRH_LEN);
	sdr_put_be32(ip, 0x6fffffff); /* traffic class, flow label */
	sdr_put_be16(ip + 4, (uint16_t)udp_len);
	ip[6] = SDR_IPPROTO_UDP;
	ip[7] = 0xff; /* hop limit */
	memcpy(ip + 8, src, 16);
	memcpy(ip + 24, dst, 16);
	sdr_icrc_udp_fill(ip + SDR_IPV6_LEN, sport, dport, udp_len);
	return crc32_gzip_refl(0, h, sizeof(h));
}

uint32_t sdr_icrc_headers(uint32_t seed, const uint8_t *hdr, size_t len)
{
	uint8_t h[SDR_ICRC_HDR_COPY];
	size_t n = len < sizeof(h) ? len : sizeof(h);

	SDR_ASSERT(len > SDR_BTH_FECN);
	/* A masked copy and one call: cheaper than three calls of a few bytes. */
	memcpy(h, hdr, n);
	h[SDR_BTH_FECN] = 0xff;
	seed = crc32_gzip_refl(seed, h, n);
	return len > n ? crc32_gzip_refl(seed, hdr + n, len - n) : seed;
}

uint32_t sdr_icrc_update(uint32_t state, const void *buf, size_t len)
{
	return len ? crc32_gzip_refl(state, buf, len) : state;
}

uint32_t sdr_icrc_final(uint32_t state)
{
	return state;
}

bool sdr_icrc_check(uint32_t seed, const uint8_t *pkt, size_t len)
{
	if (len < SDR_BTH_LEN + SDR_ICRC_LEN)
		return false;
	len -= SDR_ICRC_LEN;
	return sdr_icrc_final(sdr_icrc_headers(seed, pkt, len)) == sdr_get_le32(pkt + len);
}

/* ---- unknown IPv4 identification ------------------------------------------------------------- */

/* a * b modulo the CRC's polynomial. */
static uint32_t sdr_crc_mul(uint32_t a, uint32_t b)
{
	uint32_t r = 0;
	int i;

	for (i = 0; i < 32; i++) {
		r ^= b & (0u - (a >> 31));
		a <<= 1;
		b = b >> 1 ^ (SDR_CRC_POLY & (0u - (b & 1)));
	}
	return r;
}

uint32_t sdr_icrc_v4_back(size_t len)
{
	/*
	 * From the identification's first byte, where it goes into the register, to the end of the
	 * pad.
	 */
	size_t n = SDR_IPV4_LEN - SDR_IPV4_ID + SDR_UDP_LEN + len - SDR_ICRC_LEN;
	uint32_t r = SDR_CRC_ONE, sq = SDR_CRC_X_BACK;

	for (; n; n >>= 1) {
		if (n & 1)
			r = sdr_crc_mul(r, sq);
		sq = sdr_crc_mul(sq, sq);
	}
	return r;
}

bool sdr_icrc_check_v4_any_id(uint32_t seed, uint32_t back, const uint8_t *pkt, size_t len,
			      uint16_t *id)
{
	uint32_t v;

	if (len < SDR_BTH_LEN + SDR_ICRC_LEN)
		return false;
	len -= SDR_ICRC_LEN;
	v = sdr_icrc_final(sdr_icrc_headers(seed, pkt, len)) ^ sdr_get_le32(pkt + len);
	v = sdr_crc_mul(v, back);
	/* As in the header: first byte lowest. */
	*id = (uint16_t)(v << 8 | (v >> 8 & 0xff));
	return v >> 16 == 0;
}
