/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine's send calls, and what becomes of messages that the kernel does not take.
 *
 * Full (EAGAIN, no memory): the cursor goes back to the first packet that did not leave, PSNs
 * included, and post reports the rest; a message for which there is never memory is lost in the
 * end.  A train that the device cannot segment is built again as single packets.  Too long for the
 * route: what the route carries now is looked up, the QPs that send there get it as their limit,
 * and everything from that message on is built anew, in pieces; nothing is lost by it.  A control
 * datagram that is too long, and what is refused for good (a firewall, no route), is a lost packet,
 * counted by its cause.
 */
#include <errno.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_net.h"
#include "sdr_soft_frame.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_near.h"
#include "sdr_soft_path.h"
#include "sdr_soft_piece.h"
#include "sdr_soft_spread.h"

#define SDR_SOFT_NOBUFS_TRIES 16u /* posts after which a message without memory is lost */

/* Message m does not go: what it begins with, if that is not the start of a packet. */
static void sdr_soft_rest_set(struct sdr_soft_tx *tx, const struct sdr_soft_msg *m,
			      const struct sdr_uc_tx *t)
{
	if (!m->first)
		return;
	tx->rest = (struct sdr_soft_rest){
		.qp = t->w.qp,
		.slot = t->w.slot,
		.epoch = t->w.epoch,
		.off = t->w.first + m->desc_pkt,
		.size = m->size,
		.piece = m->first,
		.gen = t->gen,
	};
}

/* Nothing from message i on was sent: back to its first packet. */
static void sdr_soft_rewind(struct sdr_soft *s, struct sdr_soft_cur *c, uint32_t i, int n)
{
	const struct sdr_soft_msg *m = &s->tx.msg[i];
	int d;

	for (d = m->desc; d <= c->d && d < n; d++) {
		struct sdr_uc_tx *t = &c->v[d];
		uint32_t built = (d == c->d ? c->pkt : sdr_soft_tx_pkts(t)) -
				 (d == m->desc ? m->desc_pkt : 0);

		if (t->kind == SDR_UC_TX_CTL) {
			s->ctl_psn = (s->ctl_psn - built) & SDR_PSN_MASK;
		} else if (sdr_soft_tx_valid(t)) {
			struct sdr_soft_qp *q = sdr_soft_tx_qp(t);
			uint32_t *psn = &q->psn[(uint32_t)t->gen * q->channels + t->channel];

			*psn = (*psn - built) & SDR_PSN_MASK;
		}
	}
	c->d = m->desc;
	c->pkt = m->desc_pkt;
	sdr_soft_rest_set(&s->tx, m, &c->v[m->desc]);
}

static void sdr_soft_sent(struct sdr_soft *s, uint32_t i, uint32_t n)
{
	for (; n; n--, i++) {
		s->st.pkts_tx += s->tx.msg[i].npkts;
		s->st.bytes_tx += s->tx.msg[i].payload;
		s->st.ctl_tx += s->tx.msg[i].nctl;
		s->st.pieces_tx += s->tx.msg[i].npieces;
	}
}

/*
 * Message i is longer than its route carries.  True: QPs that it is of have a lower limit now, and
 * it can be built anew.
 */
static bool sdr_soft_too_long(struct sdr_soft *s, const struct sdr_soft_cur *c, uint32_t i, int n)
{
	const struct sdr_soft_msg *m = &s->tx.msg[i];
	const struct msghdr *h = &s->tx.hdr[i].msg_hdr;
	uint8_t source = s->inlet[m->sock].source;
	uint32_t bytes = sdr_soft_path_refused(s, source, h->msg_name,
					       m->seg + sdr_uc_head((sa_family_t)s->family));
	bool lower = false;
	int d;

	if (!bytes)
		return false;
	for (d = m->desc; d <= c->d && d < n; d++) {
		const struct sdr_uc_tx *t = &c->v[d];
		struct sdr_soft_qp *q;

		if (t->kind != SDR_UC_TX_WRITE || !sdr_soft_tx_valid(t))
			continue;
		q = sdr_soft_tx_qp(t);
		if (q->nic)
			continue;
		lower |= sdr_soft_via_lower(q, source, h->msg_name, h->msg_namelen, bytes);
		if (source || (q->cut.path && q->cut.path <= bytes) ||
		    !sdr_soft_spread_goes(q, h->msg_name, h->msg_namelen))
			continue;
		sdr_soft_piece_limit(q, &q->cut, bytes);
		lower = true;
	}
	return lower;
}

/* The kernel refused message i.  True: it is to be built anew; false: it is lost. */
static bool sdr_soft_refused(struct sdr_soft *s, const struct sdr_soft_cur *c, uint32_t i, int n,
			     int err)
{
	struct sdr_soft_tx *tx = &s->tx;
	const struct sdr_soft_msg *m = &tx->msg[i];
	bool train = m->nseg > 1;

	/* Before Linux 6.14 a train of segments that are too long is EINVAL. */
	if ((err == EMSGSIZE || (err == EINVAL && train)) && sdr_soft_too_long(s, c, i, n))
		return true;
	/*
	 * EIO: a device without check sums cannot segment; the others: a segment does not fit, be
	 * it one of several.
	 */
	if (train && (err == EIO || err == EINVAL || err == EMSGSIZE)) {
		if (err == EIO)
			s->gso = false;
		s->xst.tx_gso_off++;
		tx->single = m->nseg;
		return true;
	}
	s->st.tx_lost += m->nseg;
	if (err == EMSGSIZE)
		s->st.tx_toobig += m->nseg;
	else if (err == ENOBUFS || err == ENOMEM)
		s->st.tx_nobufs += m->nseg;
	else if (err == EPERM || err == EACCES)
		s->st.tx_denied += m->nseg;
	return false;
}

/* Message i goes into a ring, or is lost.  False: not now. */
static bool sdr_soft_flush_near(struct sdr_soft *s, uint32_t i)
{
	int ret = sdr_soft_near_send(s, s->tx.msg[i].near, i);

	if (ret == -EAGAIN)
		return false;
	if (ret) {
		s->st.tx_lost += s->tx.msg[i].nseg;
		return true;
	}
	s->st.shm_tx += s->tx.msg[i].nseg;
	sdr_soft_sent(s, i, 1);
	return true;
}

/* One call takes both: m goes by a socket. */
static bool sdr_soft_same_way(const struct sdr_soft_msg *m, const struct sdr_soft_msg *o)
{
	return o->sock == m->sock && !o->near;
}

bool sdr_soft_flush(struct sdr_soft *s, struct sdr_soft_cur *c, int n, bool *full)
{
	struct sdr_soft_tx *tx = &s->tx;
	uint32_t i, j;
	int ret, err;

	for (i = 0; i < tx->nmsg; i++)
		sdr_soft_train_end(tx, i);
	for (i = 0; i < tx->nmsg;) {
		int fd = s->fd[tx->msg[i].sock];

		if (tx->msg[i].near) {
			if (sdr_soft_flush_near(s, i)) {
				i++;
				continue;
			}
			s->st.tx_again++;
			*full = true;
			goto back;
		}
		for (j = i + 1; j < tx->nmsg && sdr_soft_same_way(&tx->msg[i], &tx->msg[j]); j++)
			;
		ret = s->net->send(fd, &tx->hdr[i], j - i);
		if (ret > 0) {
			s->st.sys_tx++;
			sdr_soft_sent(s, i, (uint32_t)ret);
			i += (uint32_t)ret;
			tx->nobufs = 0;
			continue;
		}
		err = errno;
		if (err == EINTR)
			continue;
		if (err == EAGAIN ||
		    ((err == ENOBUFS || err == ENOMEM) && ++tx->nobufs < SDR_SOFT_NOBUFS_TRIES)) {
			s->st.tx_again++;
			*full = true;
			goto back;
		}
		tx->nobufs = 0;
		if (sdr_soft_refused(s, c, i, n, err))
			goto back;
		i++;
	}
	sdr_soft_batch_reset(tx);
	return true;
back:
	sdr_soft_rewind(s, c, i, n);
	sdr_soft_batch_reset(tx);
	return false;
}
