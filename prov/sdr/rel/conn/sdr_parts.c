/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Packets in parts.  A record is made for the path as it is, and its bytes cannot be divided
 * afterwards; when the path shrinks before it is acknowledged, or it leaves by one that carries
 * less, its packets travel as several datagrams and are put together here.  A lost part loses the
 * packet, whose records then travel in another.
 *
 * Packets that are not whole are kept for all connections together, PARTS_SETS sets of PARTS_WAYS
 * (1 MiB when all were used): hashed with our key, so that nobody can aim at another's; in its set
 * a new packet takes the place of the oldest.  Parts of a connection that is not there, or is
 * not validated, are not kept.  No timers.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "sdr_parts.h"
#include "sdr_path_mtu.h"
#include "sdr_seal.h"
#include "wire/sdr_part.h"

#define PARTS_SETS   64u
#define PARTS_WAYS   4u
#define PACKET_FRONT (SDR_PACKET_HDR - SDR_CLASS_LEN) /* bytes in front of the frames */

struct part_slot {
	uint64_t cid;
	uint64_t at; /* ns: of its latest part */
	uint32_t pn;
	uint16_t total;
	uint8_t of, got;			  /* got: a bit for each part; of 0: not in use */
	uint8_t buf[SDR_CTL_MAX - SDR_CLASS_LEN]; /* a packet behind its class header */
};

struct sdr_parts {
	struct part_slot *slot[PARTS_SETS][PARTS_WAYS]; /* NULL until one is needed */
};

void sdr_parts_send(struct sdr_conn *c, const struct sdr_path *path, const uint8_t *packet,
		    size_t len)
{
	uint32_t room = sdr_seal_room(c->rel, sdr_path_mtu_ctl(c, path)) - SDR_PART_HDR;
	uint8_t frames[SDR_CTL_MAX];
	struct sdr_part h = { .cid = c->id.peer_cid, .pn = c->tx.pn };
	uint32_t total = (uint32_t)(len - SDR_PACKET_HDR);

	SDR_ASSERT(len > SDR_PACKET_HDR && total <= SDR_PART_TOTAL_MAX && total > room);
	/* The packet lies where the first part is going to be written. */
	memcpy(frames, packet + SDR_PACKET_HDR, total);
	h.total = (uint16_t)total;
	h.of = (uint8_t)((total + room - 1) / room);
	for (; h.part < h.of; h.part++) {
		uint8_t *p = sdr_seal_begin(c->rel);

		if (!p)
			return; /* as if lost */
		sdr_seal_send_by(c, path, sdr_part_encode(p, &h, frames));
		c->st.parts_tx++;
	}
}

static uint32_t part_set(const struct sdr_rel *rel, const struct sdr_part *h)
{
	uint64_t key[2] = { h->cid, h->pn };

	return (uint32_t)(sdr_hash64(key, sizeof(key), rel->hash_key) % PARTS_SETS);
}

/* Where this packet is put together; NULL: no memory. */
static struct part_slot *part_slot(struct sdr_rel *rel, const struct sdr_part *h)
{
	struct part_slot **set, **at = NULL;

	if (!rel->parts)
		rel->parts = calloc(1, sizeof(*rel->parts));
	if (!rel->parts)
		return NULL;
	set = rel->parts->slot[part_set(rel, h)];
	for (uint32_t i = 0; i < PARTS_WAYS; i++) {
		sdr_rel_step(rel);
		if (!set[i] || !set[i]->of) {
			at = &set[i];
			continue;
		}
		if (set[i]->cid == h->cid && set[i]->pn == h->pn && set[i]->total == h->total &&
		    set[i]->of == h->of)
			return set[i];
		if (!at || (*at && (*at)->of && set[i]->at < (*at)->at))
			at = &set[i];
	}
	if (!*at)
		*at = malloc(sizeof(**at));
	if (!*at)
		return NULL;
	(*at)->cid = h->cid;
	(*at)->pn = h->pn;
	(*at)->total = h->total;
	(*at)->of = h->of;
	(*at)->got = 0;
	return *at;
}

const uint8_t *sdr_parts_take(struct sdr_rel *rel, const uint8_t *p, size_t len, size_t *n)
{
	struct part_slot *s;
	struct sdr_part h;
	struct sdr_conn *c;

	if (sdr_part_decode(p, len, &h)) {
		rel->closed.pkts_bad++;
		return NULL;
	}
	c = sdr_conn_by_cid(rel, h.cid);
	if (!c || !c->hs.validated) {
		rel->closed.pkts_late++;
		return NULL;
	}
	c->st.parts_rx++;
	s = part_slot(rel, &h);
	if (!s)
		return NULL; /* as if lost */
	memcpy(s->buf + PACKET_FRONT + h.at, h.bytes, h.len);
	s->got |= (uint8_t)(1u << h.part);
	s->at = rel->now;
	if (s->got != (1u << h.of) - 1)
		return NULL;
	s->of = 0;
	/* cid and pn, as in a packet that came whole */
	memcpy(s->buf, p, PACKET_FRONT);
	*n = PACKET_FRONT + h.total;
	return s->buf;
}

void sdr_parts_close(struct sdr_rel *rel)
{
	if (!rel->parts)
		return;
	for (uint32_t i = 0; i < PARTS_SETS * PARTS_WAYS; i++)
		free(rel->parts->slot[i / PARTS_WAYS][i % PARTS_WAYS]);
	free(rel->parts);
	rel->parts = NULL;
}
