/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Keys: what clear to send is where messages need a grant (engines with info.rkeyed), for QPs
 * whose messages have no numbers of their own.
 *
 * Receiver: each posted buffer has a grant of its own (made in sdr_recv_post_at, ended in
 * sdr_msgtab_close), and KEYS carries its address and key to the sender.  A number that was
 * completed or skipped is reported as void.  A post sends what was not sent before; everything from
 * cts_seen on is sent again by CTS's timer (sdr_cts.c) until CTS_SEEN has confirmed it.  A packet
 * of message n shows that the sender knew n's key, and nothing about the keys below: here only
 * CTS_SEEN counts.  Numbers below next - IDs are done and not sent: `posted` says it.
 *
 * Sender: a ring by slot holds what is known of the messages [snd_limit - IDs, snd_limit): nothing,
 * live with a key, or void, and it only grows in this order, so lost, repeated and reordered KEYS
 * are harmless.  A message may be sent when it is live; a void one counts as sent.  Every KEYS is
 * answered with the first number of which nothing is known.  The first key that comes for a message
 * is its key; entries outside the ring are ignored.
 *
 * Late packets: a grant ends with its message, so bytes of a late packet go nowhere, however late.
 * Devices may report one all the same ("root"), by slot and generation only: its bit is taken for
 * that of a newer message when it is late by generations * IDs messages, or a multiple.  That is
 * the bound, the same as on hardware with one key (sdr_msgtab.c); nothing of it reaches bytes.
 */
#include <string.h>

#include "base/sdr_assert.h"
#include "sdr_keys.h"
#include "sdr_context.h"
#include "sdr_msgtab.h"
#include "sdr_qp.h"
#include "sdr_recv.h"
#include "sdr_rxk.h"
#include "sdr_sdk.h"
#include "sdr_send.h"

static uint32_t sdr_keys_ids(const struct sdr_qp *qp)
{
	return 1u << qp->rxk.split.id_bits;
}

/* ---- receiver -------------------------------------------------------------------------------- */

/* False: a number that is neither posted nor done, which only posting by number leaves. */
static bool sdr_keys_entry(const struct sdr_qp *qp, uint32_t msn, struct sdr_wire_key *key)
{
	const struct sdr_rcv_handle *h;

	memset(key, 0, sizeof(*key));
	switch (sdr_msgtab_state(qp, msn)) {
	case SDR_MSG_DONE:
		key->state = SDR_KEY_VOID;
		return true;
	case SDR_MSG_LIVE:
		h = sdr_container(sdr_rxk_msg_at(&qp->rxk, qp->rxk.slots[sdr_qp_slot(qp, msn)]),
				  struct sdr_rcv_handle, k);
		key->va = h->grant.va;
		key->rkey = h->grant.rkey;
		key->state = SDR_KEY_LIVE;
		return true;
	default:
		return false;
	}
}

void sdr_keys_tell(struct sdr_qp *qp, uint32_t from)
{
	uint32_t most = (qp->ctx->info.ctl_max - SDR_WIRE_KEYS_HDR) / SDR_WIRE_KEY_LEN;
	struct sdr_wire_keys k = { .qpn = qp->peer_qpn, .rkey = qp->peer_rkey, .posted = qp->next };
	uint32_t low = qp->next - sdr_keys_ids(qp);
	struct sdr_wire_key key;
	uint8_t *p;

	SDR_ASSERT(qp->ctx->info.rkeyed && most > 0);
	if ((int32_t)(low - from) > 0)
		from = low;
	while (from != qp->next && sdr_keys_entry(qp, from, &key)) {
		p = sdr_context_ctl_alloc(qp->ctx);
		if (!p)
			break; /* the timer sends it */
		k.first = from;
		k.n = 0;
		do {
			sdr_wire_key_put(p + SDR_WIRE_KEYS_HDR + (size_t)k.n++ * SDR_WIRE_KEY_LEN,
					 &key);
			from++;
		} while (k.n < most && from != qp->next && sdr_keys_entry(qp, from, &key));
		sdr_context_ctl_push(qp->ctx, &qp->peer, sdr_wire_keys_encode(p, &k));
		qp->ctx->cts_tx++;
	}
	qp->keys_sent = from;
}

/* ---- sender ---------------------------------------------------------------------------------- */

/* Moves the ring up; what leaves it is known to be done. */
static void sdr_keys_limit(struct sdr_qp *qp, uint32_t posted)
{
	uint32_t ids = sdr_keys_ids(qp), n = posted - qp->snd_limit, i;

	if ((int32_t)n <= 0)
		return;
	for (i = 0; i < n && i < ids; i++)
		qp->keys[sdr_qp_slot(qp, posted - 1 - i)].state = 0;
	qp->snd_limit = posted;
	if ((int32_t)(posted - ids - qp->snd_known) > 0)
		qp->snd_known = posted - ids;
}

/* True when the message has become void. */
static bool sdr_keys_take(struct sdr_qp *qp, uint32_t msn, const struct sdr_wire_key *key)
{
	struct sdr_wire_key *have = &qp->keys[sdr_qp_slot(qp, msn)];

	if (qp->snd_limit - msn - 1 >= sdr_keys_ids(qp) || key->state <= have->state)
		return false;
	*have = *key;
	return key->state == SDR_KEY_VOID;
}

bool sdr_keys_input(struct sdr_context *ctx, const uint8_t *buf, size_t len,
		    struct sdr_qp **informed)
{
	struct sdr_wire_keys k;
	struct sdr_wire_key key;
	bool voids = false;
	struct sdr_qp *qp;
	uint32_t i;

	*informed = NULL;
	if (sdr_wire_keys_decode(buf, len, &k))
		return false;
	qp = sdr_context_qp_find(ctx, k.qpn);
	if (!qp || qp->rkey != k.rkey || qp->numbered || (qp->connected && !qp->keys))
		return false;
	if (!qp->connected)
		return true; /* comes again */
	ctx->cts_rx++;
	sdr_keys_limit(qp, k.posted);
	for (i = 0; i < k.n; i++) {
		sdr_wire_key_get(&k, i, &key);
		voids |= sdr_keys_take(qp, k.first + i, &key);
	}
	while (qp->snd_known != qp->snd_limit && qp->keys[sdr_qp_slot(qp, qp->snd_known)].state)
		qp->snd_known++;
	SDR_ASSERT((int32_t)(qp->snd_limit - qp->snd_known) >= 0);
	sdr_send_review(qp, voids);
	*informed = qp;
	return true;
}
