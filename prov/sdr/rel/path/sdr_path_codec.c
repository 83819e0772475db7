/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is known of paths as bytes.  Layout, little-endian:
 *
 *      "sdrpaths"(8)  version(4)  entries(4)  checksum(8)  0(8)
 *      entry: key length(1) key(43)  mtu(4)  rate(8)  rtt ns(8)  found, s since 1970(8)
 *             packets(4)  lost(4)  bursts(4)  0(12)
 *
 * The checksum is SipHash of all but itself under a key that is no secret: it finds damage, not
 * intent.  Who may write the file is for the file system to say, so nothing is believed beyond its
 * bounds: an entry with a value that no path has is left out, one from the future counts as new,
 * and all of it is only where a controller begins.  No state, no I/O, no clock.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_endian.h"
#include "base/sdr_rand.h"
#include "sdr_path_codec.h"

static const uint8_t codec_magic[8] = { 's', 'd', 'r', 'p', 'a', 't', 'h', 's' };

#define CODEC_HASH_KEY 0x7061746873ull
#define CODEC_S_NS     1000000000ull
/* what paths have */
#define CODEC_RATE_MIN 1000ull	    /* bytes per second */
#define CODEC_RATE_MAX (1ull << 42) /* 35 Tbit/s */
#define CODEC_RTT_MIN  1000ull	    /* ns */
#define CODEC_RTT_MAX  100000000000ull
#define CODEC_MTU_MIN  576u

/* Of the head without the checksum, and of what follows. */
static uint64_t codec_sum(const uint8_t *buf, size_t len)
{
	uint8_t head[SDR_PATH_CODEC_HEAD + 8];

	memcpy(head, buf, SDR_PATH_CODEC_HEAD);
	memset(head + 16, 0, 8);
	sdr_put_le64(
		head + SDR_PATH_CODEC_HEAD,
		sdr_hash64(buf + SDR_PATH_CODEC_HEAD, len - SDR_PATH_CODEC_HEAD, CODEC_HASH_KEY));
	return sdr_hash64(head, sizeof(head), CODEC_HASH_KEY);
}

struct codec_out {
	uint8_t *p;
	uint32_t n, room;
	uint64_t wall_s;
};

static uint32_t codec_count(double x)
{
	return x < UINT32_MAX ? (uint32_t)(x + 0.5) : UINT32_MAX;
}

static void codec_put(void *user, const struct sdr_path_key *key, const struct sdr_path_facts *f,
		      uint64_t age_ns)
{
	uint64_t age_s = age_ns / CODEC_S_NS;
	struct codec_out *o = user;
	uint8_t *p = o->p + (size_t)o->n * SDR_PATH_CODEC_ENTRY;

	if (o->n == o->room)
		return;
	memset(p, 0, SDR_PATH_CODEC_ENTRY);
	p[0] = key->len;
	memcpy(p + 1, key->b, key->len);
	sdr_put_le32(p + 44, f->mtu);
	sdr_put_le64(p + 48, f->rate_Bps);
	sdr_put_le64(p + 56, f->rtt_ns);
	sdr_put_le64(p + 64, o->wall_s > age_s ? o->wall_s - age_s : 0);
	sdr_put_le32(p + 72, codec_count(f->pkts));
	sdr_put_le32(p + 76, codec_count(f->lost));
	sdr_put_le32(p + 80, codec_count(f->bursts));
	o->n++;
}

void sdr_path_seal(uint8_t *buf, size_t len)
{
	memset(buf, 0, SDR_PATH_CODEC_HEAD);
	memcpy(buf, codec_magic, sizeof(codec_magic));
	sdr_put_le32(buf + 8, SDR_PATH_CODEC_VERSION);
	sdr_put_le32(buf + 12, (uint32_t)((len - SDR_PATH_CODEC_HEAD) / SDR_PATH_CODEC_ENTRY));
	sdr_put_le64(buf + 16, codec_sum(buf, len));
}

size_t sdr_path_encode(struct sdr_path_mem *m, uint64_t now, uint64_t wall_s, uint8_t *buf,
		       size_t len)
{
	struct codec_out o = { .p = buf + SDR_PATH_CODEC_HEAD, .wall_s = wall_s };

	if (len < SDR_PATH_CODEC_HEAD)
		return 0;
	len = len < SDR_PATH_CODEC_MAX ? len : SDR_PATH_CODEC_MAX;
	o.room = (uint32_t)((len - SDR_PATH_CODEC_HEAD) / SDR_PATH_CODEC_ENTRY);
	sdr_path_mem_walk(m, now, &o, codec_put);
	len = SDR_PATH_CODEC_HEAD + (size_t)o.n * SDR_PATH_CODEC_ENTRY;
	sdr_path_seal(buf, len);
	return len;
}

/* Can a path be like that? */
static bool codec_sane(const struct sdr_path_key *key, const struct sdr_path_facts *f)
{
	if (!key->len || key->len > SDR_PATH_KEY_MAX)
		return false;
	if (f->rate_Bps && (f->rate_Bps < CODEC_RATE_MIN || f->rate_Bps > CODEC_RATE_MAX))
		return false;
	if (f->rtt_ns && (f->rtt_ns < CODEC_RTT_MIN || f->rtt_ns > CODEC_RTT_MAX))
		return false;
	/* a rate is believed by its round trip */
	if (f->rate_Bps && !f->rtt_ns)
		return false;
	if (f->mtu && (f->mtu < CODEC_MTU_MIN || f->mtu > UINT16_MAX))
		return false;
	return f->lost <= f->pkts && f->bursts <= f->lost;
}

static bool codec_take(struct sdr_path_mem *m, uint64_t now, uint64_t wall_s, const uint8_t *p)
{
	struct sdr_path_key key = { .len = p[0] };
	struct sdr_path_facts f = {
		.mtu = sdr_get_le32(p + 44),
		.rate_Bps = sdr_get_le64(p + 48),
		.rtt_ns = sdr_get_le64(p + 56),
		.pkts = sdr_get_le32(p + 72),
		.lost = sdr_get_le32(p + 76),
		.bursts = sdr_get_le32(p + 80),
	};
	uint64_t found_s = sdr_get_le64(p + 64), age_s = wall_s > found_s ? wall_s - found_s : 0;

	if (!codec_sane(&key, &f) || age_s > SDR_PATH_LIFE_NS / CODEC_S_NS)
		return false;
	memcpy(key.b, p + 1, key.len);
	return m && sdr_path_mem_put(m, now, &key, &f, age_s * CODEC_S_NS);
}

int sdr_path_decode(struct sdr_path_mem *m, uint64_t now, uint64_t wall_s, const uint8_t *buf,
		    size_t len)
{
	uint32_t n, i;
	int taken = 0;

	if (len < sizeof(codec_magic) || memcmp(buf, codec_magic, sizeof(codec_magic)))
		return -EPROTO;
	if (len < SDR_PATH_CODEC_HEAD)
		return -EBADMSG;
	if (sdr_get_le32(buf + 8) != SDR_PATH_CODEC_VERSION)
		return -EPROTONOSUPPORT;
	n = sdr_get_le32(buf + 12);
	if (n > SDR_PATH_MEM_MAX || len != SDR_PATH_CODEC_HEAD + (size_t)n * SDR_PATH_CODEC_ENTRY ||
	    sdr_get_le64(buf + 16) != codec_sum(buf, len))
		return -EBADMSG;
	for (i = 0; i < n; i++)
		taken += codec_take(m, now, wall_s,
				    buf + SDR_PATH_CODEC_HEAD + (size_t)i * SDR_PATH_CODEC_ENTRY);
	return taken;
}
