/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Codes for others (sdr/fec.h): geometry, code and scratch of one message as one object whose size
 * and insides are ours.  Adds nothing to sdr_code.c but checks of what the caller says, and the
 * choice of spare rows: those of each codeword that have not come, lowest first.  Decodes apart:
 * who writes to the caller's buffer meanwhile, a device or another thread, is not known here.  No
 * timers; one thread an object, but for encoding.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sdr/fec.h>

#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "sdr_code.h"

_Static_assert((int)SDR_CODEC_XOR == (int)SDR_CODE_XOR && (int)SDR_CODEC_MDS == (int)SDR_CODE_MDS,
	       "public kinds of codes are those of this layer");

struct sdr_codec {
	struct sdr_code g;
	struct sdr_fec *fec;
	struct sdr_code_scratch scratch;
};

static int codec_geometry(struct sdr_code *g, const struct sdr_codec_attr *a)
{
	struct sdr_code_attr c = { .kind = (uint8_t)(a->kind ? a->kind : SDR_CODE_MDS),
				   .flags = SDR_CODE_F_INTERLEAVE,
				   .k = (uint16_t)a->k,
				   .m = (uint16_t)a->m,
				   .mtu = a->mtu,
				   .chunk_pkts = a->chunk_pkts ? a->chunk_pkts : 1,
				   .len = a->len,
				   .first = a->first,
				   .parity_max = a->parity_max };
	int err;

	if (a->kind > SDR_CODE_MDS || a->k > SDR_FEC_SYMS_MAX || a->m > SDR_FEC_SYMS_MAX)
		return -EINVAL;
	if (a->parity_max)
		return sdr_code_init(g, &c);
	c.parity_max = UINT64_MAX;
	err = sdr_code_init(g, &c);
	if (err)
		return err;
	c.parity_max = (uint64_t)g->plan_pkts * c.mtu;
	return sdr_code_init(g, &c);
}

struct sdr_codec *sdr_codec_create(const struct sdr_codec_attr *attr)
{
	struct sdr_codec_attr a = { 0 };
	struct sdr_codec *c = NULL;
	int err = -EINVAL;

	if (!attr || attr->size < sizeof(attr->size))
		goto out;
	memcpy(&a, attr, attr->size < sizeof(a) ? attr->size : sizeof(a));
	err = -ENOMEM;
	c = calloc(1, sizeof(*c));
	if (!c)
		goto out;
	err = codec_geometry(&c->g, &a);
	if (err)
		goto out_codec;
	err = sdr_fec_create(c->g.k_cw, c->g.rows, &c->fec);
	if (err)
		goto out_codec;
	return c;

out_codec:
	free(c);
out:
	errno = -err;
	return NULL;
}

void sdr_codec_destroy(struct sdr_codec *c)
{
	if (!c)
		return;
	sdr_code_scratch_destroy(&c->scratch);
	sdr_fec_destroy(c->fec);
	free(c);
}

uint32_t sdr_codec_packets(const struct sdr_codec *c)
{
	return c->g.npkts;
}

uint32_t sdr_codec_parity_packets(const struct sdr_codec *c)
{
	return c->g.plan_pkts;
}

uint32_t sdr_codec_parity_most(const struct sdr_codec *c)
{
	return c->g.par_pkts;
}

uint64_t sdr_codec_parity_bytes(const struct sdr_codec *c)
{
	return sdr_code_parity_bytes(&c->g);
}

uint32_t sdr_codec_submessages(const struct sdr_codec *c)
{
	return c->g.nsub;
}

int sdr_codec_encode(const struct sdr_codec *c, const void *data, void *parity, uint32_t sub)
{
	if (!c || !data || !parity || sub >= c->g.nsub)
		return -EINVAL;
	sdr_code_encode(&c->g, c->fec, data, parity, sub);
	return 0;
}

int sdr_codec_make(const struct sdr_codec *c, const void *data, void *parity, uint32_t pkt)
{
	if (!c || !data || !parity || pkt >= c->g.par_pkts)
		return -EINVAL;
	sdr_code_make(&c->g, c->fec, data, parity, pkt);
	return 0;
}

int sdr_codec_lacking(struct sdr_codec *c, const uint64_t *data_bits, const uint64_t *parity_bits)
{
	if (!c || !data_bits || !parity_bits)
		return -EINVAL;
	return sdr_code_count(&c->g, &c->scratch, data_bits, parity_bits);
}

int sdr_codec_wanted(struct sdr_codec *c, const uint64_t *data_bits, const uint64_t *parity_bits,
		     uint32_t *pkt, uint32_t n)
{
	const struct sdr_code_scratch *w;
	uint32_t i, row, all = 0;
	int lacking;

	if (n && !pkt)
		return -EINVAL;
	lacking = sdr_codec_lacking(c, data_bits, parity_bits);
	if (lacking <= 0)
		return lacking;
	w = &c->scratch;
	for (i = 0; i < w->ntouched; i++) {
		uint32_t cw = w->touched[i], need;

		need = w->miss[cw] > w->have[cw] ? (uint32_t)w->miss[cw] - w->have[cw] : 0;
		for (row = c->g.plan; need && row < c->g.rows; row++) {
			uint32_t p = sdr_code_parity_pkt(&c->g, cw, row);

			if (sdr_bitmap_test(parity_bits, p))
				continue;
			if (all < n)
				pkt[all] = p;
			all++;
			need--;
		}
	}
	return (int)all;
}

int sdr_codec_decode(struct sdr_codec *c, void *data, const void *parity, const uint64_t *data_bits,
		     const uint64_t *parity_bits)
{
	int lacking;

	if (!data || !parity)
		return -EINVAL;
	lacking = sdr_codec_lacking(c, data_bits, parity_bits);
	if (lacking)
		return lacking < 0 ? lacking : -EAGAIN;
	return sdr_code_decode(&c->g, c->fec, &c->scratch, data, parity, data_bits, parity_bits,
			       true);
}
