/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Frames of transfers going out that travel in the connection's packets: ENDs, and copies of
 * announcements.
 */
#include "sdr_bulk_put.h"
#include "sdr_seg_tx.h"
#include "rel/conn/sdr_rec.h"

bool sdr_bulk_ends_due(const struct sdr_conn *c)
{
	return !sdr_list_empty(&c->bulk->tx.ends);
}

bool sdr_bulk_copies_due(const struct sdr_conn *c)
{
	return !sdr_list_empty(&c->bulk->tx.copies);
}

size_t sdr_bulk_put_ends(struct sdr_conn *c, uint8_t *p, size_t room)
{
	size_t n = 0;

	while (!sdr_list_empty(&c->bulk->tx.ends)) {
		struct sdr_seg_tx *s =
			sdr_container(c->bulk->tx.ends.next, struct sdr_seg_tx, end_link);
		struct sdr_frame_end e = { .msn = s->msn };
		size_t k = sdr_frame_end_encode(p + n, room - n, &e);

		if (!k)
			break;
		sdr_list_del(&s->end_link);
		/*
		 * Repairs are followed by an END of their own: the answer to the one before still
		 * says what it was for.
		 */
		if (!s->ended || !sdr_seq_lt(sdr_conn_path(c, c->ctl)->acked_seq, s->end_seq))
			s->end_first = c->tx.seq + 1;
		else if (!sdr_seq_lt(sdr_conn_path(c, c->ctl)->acked_seq, s->end_first))
			s->end_first = s->end_seq;
		s->ended = true;
		s->end_seq =
			c->tx.seq + 1; /* this packet wants an answer: its number is the next */
		n += k;
	}
	return n;
}

/*
 * A lost announcement makes all data behind it land nowhere: on a path that loses, it travels again
 * behind the first data.  The same record number: the receiver takes one.  Not logged, not awaited.
 */
size_t sdr_bulk_put_copies(struct sdr_conn *c, uint8_t *p, size_t room)
{
	size_t n = 0;

	while (!sdr_list_empty(&c->bulk->tx.copies)) {
		struct sdr_bulk_tx *b =
			sdr_container(c->bulk->tx.copies.next, struct sdr_bulk_tx, copy);

		if (b->rec && b->rec->sent && !b->rec->acked) {
			size_t k = sdr_frame_rec_encode(p + n, room - n, &b->rec->f);

			if (!k)
				break;
			n += k;
		}
		sdr_list_del(&b->copy);
	}
	return n;
}
