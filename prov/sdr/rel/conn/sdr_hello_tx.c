/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is said to open a connection, and to those who are refused: HELLO and HELLO_ACK of a
 * connection, of which the first ones go in full size, too, to find out what the path carries; a
 * refusal, a cookie (RETRY) and RESET, for which there is no connection.
 *
 * A cookie is a keyed hash of its receiver's address and of the time: nothing is stored for it.  It
 * is good for one to two SDR_COOKIE_LIFE_NS.  A full engine loses what is said, as the network
 * might: the initiator's timer repeats.  No timers, no allocation; who gets which answer is decided
 * in sdr_handshake.c.
 */
#include <string.h>
#include "base/sdr_rand.h"
#include "sdr_alias.h"
#include "sdr_conn_mtu.h"
#include "sdr_credit.h"
#include "sdr_hello_pair.h"
#include "sdr_hello_tx.h"
#include "sdr_multipath.h"
#include "sdr_seal.h"
#include "sdr_versions.h"
#include "wire/sdr_tlv.h"

/* bytes of extensions that a HELLO of ours has */
#define HELLO_EXT_ROOM (27u + SDR_ALIAS_EXT_MAX + SDR_MULTIPATH_EXT_MAX)
/* HELLOs of a connection that go in full size, too */
#define HELLO_PROBES 2u

static uint64_t cookie_make(const struct sdr_rel *rel, const struct sdr_uc_addr *from,
			    uint64_t epoch)
{
	uint8_t m[sizeof(*from) + 8];
	uint64_t h;

	memcpy(m, from, sizeof(*from));
	sdr_put_le64(m + sizeof(*from), epoch);
	h = sdr_hash64(m, sizeof(m), rel->secret[0]);
	return h ? h : 1;
}

bool sdr_cookie_ok(const struct sdr_rel *rel, const struct sdr_uc_addr *from, uint64_t cookie)
{
	uint64_t epoch = rel->now / SDR_COOKIE_LIFE_NS;

	return cookie && (cookie == cookie_make(rel, from, epoch) ||
			  cookie == cookie_make(rel, from, epoch - 1));
}

static size_t ext_put32(uint8_t *p, size_t room, enum sdr_hello_ext type, uint32_t v)
{
	uint8_t le[4];

	sdr_put_le32(le, v);
	return sdr_tlv_put(p, room, (uint8_t)type, le, sizeof(le));
}

/* What is said besides: ext has HELLO_EXT_ROOM bytes. */
static void hello_ext(const struct sdr_conn *c, enum sdr_rel_type type, uint8_t *ext,
		      struct sdr_hello *h)
{
	size_t n = 0;

	if (c->rel->info.probe_max)
		n = ext_put32(ext, HELLO_EXT_ROOM, SDR_HELLO_PROBE_MAX, c->rel->info.probe_max);
	if (type == SDR_REL_HELLO_ACK && c->hs.came)
		n += ext_put32(ext + n, HELLO_EXT_ROOM - n, SDR_HELLO_CAME,
			       (uint32_t)(c->hs.came / 1000));
	if (type == SDR_REL_HELLO_ACK && c->hs.seen)
		n += ext_put32(ext + n, HELLO_EXT_ROOM - n, SDR_HELLO_SEEN, c->hs.seen);
	n += sdr_alias_put(c, type, ext + n, HELLO_EXT_ROOM - n);
	n += sdr_multipath_put(c->rel, ext + n, HELLO_EXT_ROOM - n);
	h->ext = ext;
	h->ext_len = (uint32_t)n;
}

static void hello_fill(struct sdr_conn *c, enum sdr_rel_type type, struct sdr_hello *h)
{
	uint8_t info[SDR_QP_INFO_SIZE];

	sdr_hello_init(h);
	h->features = c->rel->features;
	h->instance = c->rel->instance;
	h->cid = c->id.cid;
	h->echo = type == SDR_REL_HELLO_ACK ? c->id.peer_cid : 0;
	h->cookie = type == SDR_REL_HELLO ? c->hs.cookie : 0;
	h->seg_bytes = (uint32_t)c->shape->seg_bytes;
	h->msn_limit = sdr_conn_msn_limit(c);
	h->mseq_limit = sdr_conn_mseq_limit(c);
	h->ctl_max = c->rel->ctl_max;
	h->ts_us = type == SDR_REL_HELLO_ACK ? c->hs.ts : (uint32_t)(c->rel->now / 1000);
	/* Parity needs a place: peers of an rkeyed engine have a key for it with a berth only. */
	if (!sdr_qp_rkeyed(c->shape->qp)) {
		h->codes = SDR_WIRE_CODE_KINDS;
		h->code_syms = SDR_CODE_SYMS_MAX;
		h->code_chunk = SDR_REL_EC_CHUNK;
	}
	sdr_qp_info_get(c->shape->qp, info);
	sdr_wire_qp_info_decode(info, sizeof(info), &h->qp);
}

/*
 * As long as the path may carry: that it is answered says that the path does.  The one that is
 * relied on follows it.  False: it was not sent.
 */
static bool hello_probe(struct sdr_conn *c, enum sdr_rel_type type, const struct sdr_hello *h,
			uint32_t len)
{
	uint8_t *p;
	size_t n;

	if (len <= SDR_HELLO_LEN + h->ext_len || !(p = sdr_seal_begin(c->rel)))
		return false;
	n = sdr_hello_encode(p, type, h);
	memset(p + n, 0, len - n);
	sdr_seal_probe(c, len);
	return true;
}

/* A full engine loses it, as the network might; the initiator's timer repeats. */
static bool hello_one(struct sdr_conn *c, enum sdr_rel_type type, const struct sdr_hello *h)
{
	uint8_t *p = sdr_seal_begin(c->rel);

	if (p)
		sdr_seal_send(c, sdr_hello_encode(p, type, h));
	return p;
}

/*
 * The first ones: as they are, and before that as long as the device carries and as long as a
 * connection before this one has found to pass.  Once more, if that may tell how slow the path is.
 */
static void hello_first(struct sdr_conn *c, const struct sdr_hello *h)
{
	uint32_t most = sdr_conn_mtu_hello(c), known = sdr_conn_mtu_hello_known(c), len = most;
	bool left = hello_probe(c, SDR_REL_HELLO, h, most);

	if (known && known < most) {
		len = known;
		left = hello_probe(c, SDR_REL_HELLO, h, known);
	}
	left = hello_one(c, SDR_REL_HELLO, h) && left;
	if (!left || !sdr_cc_pair_asks(&c->rel->cfg))
		return;
	if (hello_probe(c, SDR_REL_HELLO, h, len) && hello_one(c, SDR_REL_HELLO, h))
		sdr_hello_pair_left(c, len + c->rel->tag_len,
				    SDR_HELLO_LEN + h->ext_len + c->rel->tag_len);
}

void sdr_hello_send(struct sdr_conn *c, enum sdr_rel_type type)
{
	uint8_t ext[HELLO_EXT_ROOM];
	struct sdr_hello h;
	uint32_t len;

	hello_fill(c, type, &h);
	hello_ext(c, type, ext, &h);
	len = type == SDR_REL_HELLO_ACK ? sdr_conn_mtu_echo(c, c->hs.seen) : 0;
	if (len && hello_probe(c, type, &h, len)) {
		sdr_conn_mtu_echoed(c, len);
		return;
	}
	if (type == SDR_REL_HELLO && c->hs.tries < HELLO_PROBES) {
		hello_first(c, &h);
		return;
	}
	if (hello_one(c, type, &h) && type == SDR_REL_HELLO && c->hs.tries >= SDR_HELLO_TRIES_ASK)
		sdr_versions_ask(c);
}

void sdr_hello_refuse(struct sdr_rel *rel, const struct sdr_uc_addr *to, const struct sdr_hello *in,
		      enum sdr_hello_status status, uint32_t mtu)
{
	struct sdr_hello h = {
		.version_min = SDR_WIRE_VERSION_MIN,
		.version_max = SDR_WIRE_VERSION_MAX,
		.features = rel->features,
		.instance = rel->instance,
		.echo = in->cid,
		.status = status,
		.ctl_max = rel->ctl_max,
		.seg_bytes = mtu,
		.ts_us = in->ts_us,
		.qp = { .channels = rel->cfg.channels,
			.generations = rel->cfg.generations,
			.split = rel->cfg.split,
			.mtu = mtu,
			.chunk = mtu,
			.max_msg = mtu,
			.qpn = SDR_QPN_MIN },
	};
	uint8_t *p = sdr_seal_begin(rel);

	if (p)
		sdr_seal_answer(rel, to, sdr_hello_encode(p, SDR_REL_HELLO_ACK, &h));
}

void sdr_retry_send(struct sdr_rel *rel, const struct sdr_uc_addr *to, uint64_t cid)
{
	struct sdr_retry r = { .cid = cid,
			       .cookie = cookie_make(rel, to, rel->now / SDR_COOKIE_LIFE_NS) };
	uint8_t *p = sdr_seal_begin(rel);

	if (p)
		sdr_seal_answer(rel, to, sdr_retry_encode(p, SDR_REL_RETRY, &r));
}

void sdr_reset_send(struct sdr_rel *rel, const struct sdr_uc_addr *to, uint64_t cid)
{
	struct sdr_retry r = { .cid = cid };
	uint8_t *p = sdr_seal_begin(rel);

	if (p)
		sdr_seal_answer(rel, to, sdr_retry_encode(p, SDR_REL_RESET, &r));
}
