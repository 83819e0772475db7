/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * See liar.h: lies about the size of packets: SHAPE frames that are next in turn, or nearly, with
 * QPs that fit together or do not; packets in parts, some of which are missing, repeated or of
 * another packet; and a path between the two whose size changes, with and without a word to the
 * victim.
 */
#include "liar_say.h"
#include "rel/conn/sdr_reshape.h"
#include "wire/sdr_part.h"

#define PATH_LEAST 300u /* bytes of an IP packet */
#define PATH_MOST  9300u

struct sdr_wire_qp_info liar_qp_draw(struct liar *l, const struct sdr_rel *rel, uint32_t mtu,
				     uint64_t max_msg)
{
	struct sdr_wire_qp_info i = {
		.channels = rel->cfg.channels,
		.generations = rel->cfg.generations,
		.split = rel->cfg.split,
		.mtu = mtu,
		.chunk = mtu,
		.max_msg = max_msg,
	};

	i.qpn = SDR_QPN_MIN + 64 * liar_below(l->d, 1000);
	i.rkey = liar_bits32(l);
	i.psn = liar_bits32(l) & SDR_PSN_MASK;
	i.rx_window = liar_wild(l) ? liar_bits32(l) : 0;
	i.flags = liar_one_in(l->d, 4) ? (uint8_t)liar_below(l->d, 4) : 0;
	return i;
}

static uint32_t mtu_draw(struct liar *l)
{
	return liar_one_in(l->d, 4) ? SDR_EP_MTU_MIN + 4 * liar_below(l->d, 1024)
				    : SDR_EP_MTU_MIN << liar_below(l->d, 6);
}

bool liar_say_shape(struct liar *l, const struct sdr_conn *c)
{
	const struct sdr_reshape *r = c->reshape;
	const struct sdr_conn_shape *s = r && r->next ? r->next : c->shape;
	struct sdr_frame_shape f = { .what = (uint8_t)liar_below(l->d, 4) };
	uint8_t info[SDR_QP_INFO_LEN];
	struct sdr_wire_qp_info i;
	uint64_t seg;

	f.n = (uint8_t)((r ? r->heard : 0) + (liar_one_in(l->d, 8) ? liar_below(l->d, 256) : 1));
	f.gen = (uint16_t)((r ? r->gen : 0) + (liar_one_in(l->d, 4) ? liar_below(l->d, 3) : 1));
	f.limit = mtu_draw(l);
	if (f.what == SDR_SHAPE_USE && !(r && r->next) && !liar_one_in(l->d, 4))
		f.gen--; /* the answer to an answer */
	if (f.what != SDR_SHAPE_LIMIT)
		f.mtu = f.what == SDR_SHAPE_OFFER || liar_wild(l) ? mtu_draw(l) : s->mtu;
	if (f.what == SDR_SHAPE_OFFER || f.what == SDR_SHAPE_USE) {
		seg = (uint64_t)f.mtu << c->rel->cfg.split.off_bits;
		if (seg > SDR_REL_SEG_MAX)
			seg = SDR_REL_SEG_MAX / f.mtu * f.mtu;
		f.seg_bytes = (uint32_t)(liar_wild(l) ? seg / 2 + 1 : seg);
		i = liar_qp_draw(l, c->rel, liar_wild(l) ? mtu_draw(l) : f.mtu, seg);
		sdr_wire_qp_info_encode(info, &i);
		f.info = info;
	}
	if (f.what == SDR_SHAPE_USE)
		f.msn = liar_msn_in(l, c);
	return liar_put(l, sdr_frame_shape_encode(l->frames + l->n, liar_room(l), &f));
}

void liar_parts(struct liar *l, const struct sdr_conn *c, uint32_t from, uint32_t pn,
		const uint8_t *packet, size_t len)
{
	struct sdr_part h = { .cid = c->id.cid, .pn = pn };
	uint8_t p[SDR_PART_HDR + SDR_PART_TOTAL_MAX];
	size_t n;

	if (len <= SDR_PACKET_HDR || len - SDR_PACKET_HDR > SDR_PART_TOTAL_MAX)
		return;
	h.total = (uint16_t)(len - SDR_PACKET_HDR);
	h.of = (uint8_t)(2 + liar_below(l->d, SDR_PARTS_OF - 1));
	if (sdr_part_size(h.total, h.of) * (h.of - 1) >= h.total)
		return;
	for (; h.part < h.of; h.part++) {
		struct sdr_part x = h;

		if (liar_one_in(l->d, 32))
			continue;
		if (liar_wild(l))
			x.pn += 1 + liar_below(l->d, 3);
		n = sdr_part_encode(p, &x, packet + SDR_PACKET_HDR);
		if (liar_wild(l)) /* total, part, of, or the bytes */
			p[SDR_CLASS_LEN + 12 + liar_below(l->d, 6)] ^= (uint8_t)liar_bits(l->d, 1);
		liar_inject(l, from, p, n);
	}
}

void liar_path(struct liar *l)
{
	uint32_t mtu = liar_one_in(l->d, 3) ? 0 : PATH_LEAST + liar_below(l->d, PATH_MOST);
	bool icmp = liar_one_in(l->d, 2);

	if (!liar_one_in(l->d, 4))
		sdr_sim_link_mtu(l->w, LIAR_VICTIM, LIAR_PEER, mtu, icmp);
	if (!liar_one_in(l->d, 4))
		sdr_sim_link_mtu(l->w, LIAR_PEER, LIAR_VICTIM, mtu, icmp);
}
