/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The invariant CRC of RoCEv2 (annex A17.3; crc32 of Ethernet, least significant byte first).
 */
#ifndef SDR_ICRC_H
#define SDR_ICRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The register after the masked pseudo-header.  `roce` seeds cover the IP and UDP headers as a NIC
 * does; the `masked` seed counts both as all ones, so that address translation and a moving peer do
 * not break a soft-to-soft connection.  Which one is used is a property of the engine's peer.
 *
 * Ports and ip_id are in host order, addresses as they stand in the header.  udp_payload_len counts
 * from BTH to ICRC inclusive.  A state is always a finished CRC of what it has seen, so the three
 * kinds of call chain in any cut.
 */
uint32_t sdr_icrc_seed_masked(void);
uint32_t sdr_icrc_seed_v4(const uint8_t src[4], const uint8_t dst[4], uint16_t sport,
			  uint16_t dport, uint16_t ip_id, bool df, size_t udp_payload_len);
uint32_t sdr_icrc_seed_v6(const uint8_t src[16], const uint8_t dst[16], uint16_t sport,
			  uint16_t dport, size_t udp_payload_len);
/*
 * Continues over headers (BTH first and whole: its byte 4 is masked by this call, hdr is not
 * written; cheapest up to 64 bytes) and then over further bytes, pad included.
 */
uint32_t sdr_icrc_headers(uint32_t seed, const uint8_t *hdr, size_t len);
uint32_t sdr_icrc_update(uint32_t state, const void *buf, size_t len);
/* Final value, to be stored with sdr_put_le32. */
uint32_t sdr_icrc_final(uint32_t state);
/*
 * Whole packet from BTH to ICRC: true when the trailer is right; false when there is no room for
 * the two.
 */
bool sdr_icrc_check(uint32_t seed, const uint8_t *pkt, size_t len);
/*
 * The same for a packet from a device over IPv4, whose identification a socket does not tell: true
 * when there is one with which the trailer is right, which is then *id.  seed: sdr_icrc_seed_v4
 * with ip_id 0.  back: what sdr_icrc_v4_back says for this length (some 1 us; the caller keeps it;
 * at least 16 bytes).  Of damaged packets one in 65536 passes.
 */
uint32_t sdr_icrc_v4_back(size_t udp_payload_len);
bool sdr_icrc_check_v4_any_id(uint32_t seed, uint32_t back, const uint8_t *pkt, size_t len,
			      uint16_t *id);

#endif /* SDR_ICRC_H */
