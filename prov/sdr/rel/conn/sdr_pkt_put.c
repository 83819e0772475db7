/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Frames into a packet: what is owed to the peer and wants no answer, and the end of a connection.
 *
 * Each call writes what there is of its kind, as far as there is room, and keeps the books of what
 * was said; that the packet leaves is for the caller.  The order is that of sdr_pkt_tx.c.
 */
#include "sdr_conn_ecn.h"
#include "sdr_conn_fan.h"
#include "sdr_conn_ops.h"
#include "sdr_credit.h"
#include "sdr_home.h"
#include "sdr_pkt_put.h"
#include "sdr_plog.h"
#include "sdr_rec.h"

/* It has left; where losses are to be expected, once more a little later, with what may be new. */
static void ack_again(struct sdr_conn *c)
{
	if (c->rx.ack_twice && c->rx.again_ns == NEVER)
		c->rx.again_ns = c->rel->now + sdr_conn_report_delay(c);
	c->rx.ack_twice = false;
}

static size_t put_ack(struct sdr_conn *c, uint8_t *p, size_t room)
{
	struct sdr_frame_ack ack;
	size_t n;

	sdr_pnset_ack(&c->rx.pns, &ack);
	if (!ack.n) {
		c->rx.ack_due = c->rx.ack_now = false;
		return 0;
	}
	ack.delay_us = sdr_us_since(c->rel->now, c->rx.largest_ns);
	sdr_conn_ecn_put(c, &ack);
	n = sdr_frame_ack_encode(p, room, &ack);
	if (!n)
		return 0;
	c->st.ack_tx++;
	/* A ping may be one of many: an answer for each (sdr_probe.c). */
	c->rx.pings -= c->rx.pings > 0;
	c->rx.ack_due = c->rx.ack_now = c->rx.pings > 0;
	ack_again(c);
	return n + sdr_conn_ecn_put_more(c, p + n, room - n);
}

static size_t put_held(struct sdr_conn *c, uint8_t *p, size_t room)
{
	size_t n = sdr_frame_held_encode(p, room);

	c->rx.held_due = n == 0;
	return n;
}

static size_t put_credit(struct sdr_conn *c, uint8_t *p, size_t room)
{
	const struct sdr_frame_credit cr = { sdr_conn_msn_limit(c), sdr_conn_mseq_limit(c) };
	size_t n;

	if (cr.msn_limit == c->credit.msn_granted && cr.mseq_limit == c->credit.mseq_granted &&
	    !c->tx.ping_due)
		return 0;
	n = sdr_frame_credit_encode(p, room, &cr);
	if (!n)
		return 0;
	/* What was granted stays granted. */
	SDR_ASSERT(!sdr_seq_lt(cr.msn_limit, c->credit.msn_granted) &&
		   !sdr_seq_lt(cr.mseq_limit, c->credit.mseq_granted));
	c->credit.msn_granted = cr.msn_limit;
	c->credit.mseq_granted = cr.mseq_limit;
	return n;
}

size_t sdr_pkt_put_acks(struct sdr_conn *c, uint8_t *p, size_t room, bool *more)
{
	size_t n;

	*more = false;
	n = c->rel->ops->put_reports(c, p, room, more);
	n += sdr_conn_fan_put(c, p + n, room - n, n > 0);
	if (*more)
		return n; /* the ACK goes with the last of them */
	if (c->rx.ack_due || c->rx.ack_now || n)
		n += put_ack(c, p + n, room - n);
	if (c->rx.held_due)
		n += put_held(c, p + n, room - n);
	if (n)
		n += sdr_home_put(c, p + n, room - n);
	return n + put_credit(c, p + n, room - n);
}

size_t sdr_pkt_put_answers(struct sdr_conn *c, uint8_t *p, size_t room)
{
	struct sdr_list *q[] = { &c->rec.rtx, &c->rec.unordered }, *l;
	size_t n = 0;

	for (int i = 0; i < 2; i++) {
		sdr_list_each(l, q[i]) {
			struct sdr_rec *r = sdr_container(l, struct sdr_rec, link);

			if (!r->op && sdr_rec_number(c, r))
				n += sdr_frame_rec_encode(p + n, room - n, &r->f);
		}
	}
	for (uint32_t pos = c->tx.log.head; pos != c->tx.log.tail; pos++) {
		sdr_list_each(l, &sdr_plog_at(c, pos)->recs) {
			struct sdr_rec *r = sdr_container(l, struct sdr_rec, link);

			if (!r->op)
				n += sdr_frame_rec_encode(p + n, room - n, &r->f);
		}
	}
	return n;
}

static size_t put_close(bool *due, enum sdr_close_reason reason, uint8_t *p, size_t room)
{
	const struct sdr_frame_close f = { (uint16_t)reason };

	if (!*due)
		return 0;
	*due = false;
	return sdr_frame_close_encode(p, room, &f);
}

size_t sdr_pkt_put_bye(struct sdr_conn *c, uint8_t *p, size_t room)
{
	return put_close(&c->close.bye_due, SDR_CLOSE_BYE, p, room);
}

size_t sdr_pkt_put_bye_ack(struct sdr_conn *c, uint8_t *p, size_t room)
{
	return put_close(&c->close.bye_ack_due, SDR_CLOSE_BYE_ACK, p, room);
}
