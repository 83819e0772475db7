/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The SDK's clear-to-send, keys, and bytes of applications.  Decides whether bytes are one of
 * these, with every field inside its range; whether the values fit the local side is for the SDK to
 * decide.  A decoder writes its output only when it succeeds.  No state, no timers; any thread.
 */
#include "base/sdr_assert.h"
#include "sdr_wire.h"

#include <errno.h>

/* ---- clear to send --------------------------------------------------------------------------- */

size_t sdr_wire_cts_encode(uint8_t *p, const struct sdr_wire_cts *c)
{
	sdr_class_encode(p, SDR_CLASS_SDK, SDR_SDK_CTS);
	p += SDR_CLASS_LEN;
	sdr_put_le32(p, c->qpn);
	sdr_put_le32(p + 4, c->rkey);
	sdr_put_le32(p + 8, c->posted);
	return SDR_WIRE_CTS_LEN;
}

int sdr_wire_cts_decode(const uint8_t *p, size_t len, struct sdr_wire_cts *c)
{
	if (len != SDR_WIRE_CTS_LEN - SDR_CLASS_LEN || sdr_get_le32(p) > SDR_QPN_MASK)
		return -EBADMSG;
	c->qpn = sdr_get_le32(p);
	c->rkey = sdr_get_le32(p + 4);
	c->posted = sdr_get_le32(p + 8);
	return 0;
}

/* ---- keys ------------------------------------------------------------------------------------ */

size_t sdr_wire_keys_encode(uint8_t *p, const struct sdr_wire_keys *k)
{
	sdr_class_encode(p, SDR_CLASS_SDK, SDR_SDK_KEYS);
	p += SDR_CLASS_LEN;
	sdr_put_le32(p, k->qpn);
	sdr_put_le32(p + 4, k->rkey);
	sdr_put_le32(p + 8, k->posted);
	sdr_put_le32(p + 12, k->first);
	sdr_put_le16(p + 16, k->n);
	sdr_put_le16(p + 18, 0);
	return SDR_WIRE_KEYS_HDR + (size_t)k->n * SDR_WIRE_KEY_LEN;
}

void sdr_wire_key_put(uint8_t entry[SDR_WIRE_KEY_LEN], const struct sdr_wire_key *key)
{
	sdr_put_le64(entry, key->va);
	sdr_put_le32(entry + 8, key->rkey);
	entry[12] = key->state;
}

void sdr_wire_key_get(const struct sdr_wire_keys *k, uint32_t i, struct sdr_wire_key *key)
{
	const uint8_t *entry = k->entry + (size_t)i * SDR_WIRE_KEY_LEN;

	SDR_ASSERT(i < k->n);
	key->va = sdr_get_le64(entry);
	key->rkey = sdr_get_le32(entry + 8);
	key->state = entry[12];
}

static bool sdr_wire_key_ok(const struct sdr_wire_key *key)
{
	return key->state == SDR_KEY_LIVE || (key->state == SDR_KEY_VOID && !key->va && !key->rkey);
}

int sdr_wire_keys_decode(const uint8_t *p, size_t len, struct sdr_wire_keys *out)
{
	const size_t head = SDR_WIRE_KEYS_HDR - SDR_CLASS_LEN;
	struct sdr_wire_keys k;
	struct sdr_wire_key key;
	uint32_t i;

	if (len < head)
		return -EBADMSG;
	k.qpn = sdr_get_le32(p);
	k.rkey = sdr_get_le32(p + 4);
	k.posted = sdr_get_le32(p + 8);
	k.first = sdr_get_le32(p + 12);
	k.n = sdr_get_le16(p + 16);
	k.entry = p + head;
	if (k.qpn > SDR_QPN_MASK || sdr_get_le16(p + 18))
		return -EBADMSG;
	if (!k.n || k.n > SDR_WIRE_KEYS_MAX || len != head + (size_t)k.n * SDR_WIRE_KEY_LEN)
		return -EBADMSG;
	if ((int32_t)(k.posted - k.first) < (int32_t)k.n)
		return -EBADMSG;
	for (i = 0; i < k.n; i++) {
		sdr_wire_key_get(&k, i, &key);
		if (!sdr_wire_key_ok(&key))
			return -EBADMSG;
	}
	*out = k;
	return 0;
}

/* ---- bytes of the application ---------------------------------------------------------------- */

void sdr_wire_app_encode(uint8_t *p, const struct sdr_wire_app *a)
{
	sdr_class_encode(p, SDR_CLASS_SDK, SDR_SDK_APP);
	sdr_put_le32(p + SDR_CLASS_LEN, a->qpn);
	sdr_put_le32(p + SDR_CLASS_LEN + 4, a->rkey);
}

int sdr_wire_app_decode(const uint8_t *p, size_t len, struct sdr_wire_app *a)
{
	const uint32_t head = SDR_WIRE_APP_HDR - SDR_CLASS_LEN;

	if (len < head || sdr_get_le32(p) > SDR_QPN_MASK)
		return -EBADMSG;
	a->qpn = sdr_get_le32(p);
	a->rkey = sdr_get_le32(p + 4);
	a->bytes = p + head;
	a->len = len - head;
	return 0;
}
