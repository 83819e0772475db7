/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The books of an endpoint: those of all its connections, the ones that have failed and wait for
 * the end of a round too, then the sums over them.  Each room has its own.
 *
 * For tests, simulators and fuzzers, between two calls of the endpoint; it costs what there is, and
 * nothing when it is not called.  Changes nothing: what the walk takes is not counted as
 * work of the endpoint (rel->steps).
 */
#include "bulk/sdr_bulk_books.h"
#include "conn/sdr_conn_books.h"
#include "msg/sdr_msg_books.h"
#include "sdr_rel_books.h"

struct rel_sums {
	struct sdr_conn_sums conn;
	struct sdr_bulk_sums bulk;
	struct sdr_msg_sums msg;
};

static void list_books(struct sdr_books *k, const struct sdr_list *head, bool alive,
		       struct rel_sums *s)
{
	struct sdr_list *l;

	sdr_list_each(l, head) {
		const struct sdr_conn *c = sdr_container(l, struct sdr_conn, link);

		sdr_conn_books(k, c, &s->conn);
		SDR_BOOK(k, sdr_conn_live(c) == alive);
		sdr_bulk_books(k, c, s->conn.inflight, &s->bulk);
		sdr_msg_books(k, c, s->conn.alone, &s->msg);
	}
}

const char *sdr_rel_books(struct sdr_rel *rel, struct sdr_books *k)
{
	struct rel_sums s = { 0 };
	uint64_t steps = rel->steps;

	k->why[0] = 0;
	list_books(k, &rel->conn_list, true, &s);
	list_books(k, &rel->dead, false, &s);
	sdr_endpoint_books(k, rel, &s.conn);
	sdr_bulk_pool_books(k, rel, &s.bulk);
	sdr_msg_pool_books(k, rel, &s.msg);
	sdr_books_of(k, "endpoint", rel->instance);
	SDR_BOOK_EQ(k, rel->nanswers_strangers, s.conn.answers + s.msg.answers);
	rel->steps = steps;
	return sdr_books_ok(k) ? NULL : k->why;
}
