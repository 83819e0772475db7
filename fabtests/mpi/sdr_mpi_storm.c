/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * Point-to-point sections with many messages in flight: storms of nonblocking operations posted
 * and completed in shuffled orders, order within one tag, rings, persistent requests, derived
 * datatypes. Every rank can compute what every other rank sends (storm_draw), so nothing but the
 * messages under test is exchanged.
 */
#include "sdr_mpi.h"

#include <stdlib.h>
#include <string.h>

static void storm_draw(int round, int from, int to, int k, size_t *len, uint64_t *key)
{
	struct mt_rng rng = { mt_key((uint64_t)round + 50, (uint64_t)from, (uint64_t)to,
				     (uint64_t)k) };

	*len = mt_rng_size(&rng, mt.quick ? 100000 : 1000000);
	*key = mt_rng_next(&rng);
}

enum storm_end { END_WAITALL, END_WAITANY, END_WAITSOME, END_TESTALL, END_COUNT };

/* completes all n requests one way or the other */
static void storm_finish(enum storm_end end, int n, MPI_Request *req)
{
	int *idx = calloc((size_t)n, sizeof(*idx));
	int done = 0, flag = 0, i;

	switch (end) {
	case END_WAITALL:
		MT_MPI(MPI_Waitall(n, req, MPI_STATUSES_IGNORE));
		break;
	case END_WAITANY:
		for (i = 0; i < n; i++) {
			int which = -1;

			MT_MPI(MPI_Waitany(n, req, &which, MPI_STATUS_IGNORE));
			MT_CHECK(which >= 0 && which < n, "Waitany gives %d", which);
		}
		break;
	case END_WAITSOME:
		for (i = 0; i < n; i += done) {
			MT_MPI(MPI_Waitsome(n, req, &done, idx, MPI_STATUSES_IGNORE));
			if (!MT_CHECK(done > 0, "Waitsome gives %d", done))
				break;
		}
		break;
	default:
		while (!flag)
			if (MPI_Testall(n, req, &flag, MPI_STATUSES_IGNORE) != MPI_SUCCESS)
				break;
		MT_CHECK(flag, "Testall");
		break;
	}
	free(idx);
}

/* count messages to and from every other rank, unique tags, all orders shuffled differently */
static void storm_round(int round, int count)
{
	int peers = mt.size - 1, half = count * peers, n = 2 * half;
	struct mt_buf *b = calloc((size_t)n, sizeof(*b));
	MPI_Request *req = calloc((size_t)n, sizeof(MPI_Request));
	int *order = calloc((size_t)n, sizeof(*order));
	struct mt_rng rng = { mt_key(7, (uint64_t)round, (uint64_t)mt.rank, 0) };

	for (int i = 0; i < n; i++) {
		order[i] = i;
		req[i] = MPI_REQUEST_NULL;
	}
	mt_rng_shuffle(&rng, order, n);
	/* index below half: receive, else send */
	for (int j = 0; j < n; j++) {
		int i = order[j], k = (i % half) / peers;
		int peer = (mt.rank + 1 + i % peers) % mt.size;
		uint64_t key;
		size_t len;

		if (i < half) {
			storm_draw(round, peer, mt.rank, k, &len, &key);
			b[i] = mt_buf_new(len + 3);
			MT_MPI(MPI_Irecv(b[i].p, (int)b[i].len, MPI_BYTE, peer, k, mt.comm,
					 &req[i]));
		} else {
			storm_draw(round, mt.rank, peer, k, &len, &key);
			b[i] = mt_buf_new(len);
			mt_fill(b[i].p, len, key);
			MT_MPI(MPI_Isend(b[i].p, (int)len, MPI_BYTE, peer, k, mt.comm, &req[i]));
		}
	}
	storm_finish((enum storm_end)(round % END_COUNT), n, req);
	for (int i = 0; i < half; i++) {
		uint64_t key;
		size_t len;

		storm_draw(round, (mt.rank + 1 + i % peers) % mt.size, mt.rank, i / peers, &len,
			   &key);
		mt_verify(b[i].p, len, key, "storm");
		mt_buf_check(&b[i], len, "storm");
	}
	for (int i = 0; i < n; i++)
		mt_buf_free(&b[i]);
	free(b);
	free(req);
	free(order);
}

void mt_storm(void)
{
	int rounds = mt.quick ? 4 : 8;

	for (int round = 0; round < rounds; round++)
		storm_round(round, mt.quick ? 60 : 150);
}

/* one tag for all: receives match in the order of the sends, whatever the sizes */
void mt_order(void)
{
	enum { COUNT = 300 };
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;
	struct mt_buf *s = calloc(COUNT, sizeof(*s)), *r = calloc(COUNT, sizeof(*r));
	MPI_Request *req = calloc(2 * COUNT, sizeof(MPI_Request));
	int count = mt.quick ? 80 : COUNT, n = 0;
	uint64_t key;
	size_t len;

	/* a third of the receives come after the sends */
	for (int k = 0; k < count; k++) {
		storm_draw(1000, from, mt.rank, k, &len, &key);
		r[k] = mt_buf_new(len);
		if (k < count * 2 / 3)
			MT_MPI(MPI_Irecv(r[k].p, (int)len, MPI_BYTE, from, 5, mt.comm, &req[n++]));
	}
	for (int k = 0; k < count; k++) {
		storm_draw(1000, mt.rank, to, k, &len, &key);
		s[k] = mt_buf_new(len);
		mt_fill(s[k].p, len, key);
		MT_MPI(MPI_Isend(s[k].p, (int)len, MPI_BYTE, to, 5, mt.comm, &req[n++]));
	}
	for (int k = count * 2 / 3; k < count; k++)
		MT_MPI(MPI_Irecv(r[k].p, (int)r[k].len, MPI_BYTE, from, 5, mt.comm, &req[n++]));
	MT_MPI(MPI_Waitall(n, req, MPI_STATUSES_IGNORE));
	for (int k = 0; k < count; k++) {
		storm_draw(1000, from, mt.rank, k, &len, &key);
		mt_verify(r[k].p, len, key, "order");
		mt_buf_check(&r[k], len, "order");
		mt_buf_free(&s[k]);
		mt_buf_free(&r[k]);
	}
	free(s);
	free(r);
	free(req);
}

/* a block travels around all ranks and comes home */
void mt_ring(void)
{
	const size_t sizes[] = { 1, 100, 4096, 70000, 600000 };
	int right = (mt.rank + 1) % mt.size, left = (mt.rank - 1 + mt.size) % mt.size;

	for (int i = 0; i < 5; i++) {
		size_t len = sizes[i];
		struct mt_buf a = mt_buf_new(len), b = mt_buf_new(len);

		mt_fill(a.p, len, mt_key(11, (uint64_t)i, (uint64_t)mt.rank, 0));
		for (int step = 1; step <= mt.size; step++) {
			int origin = (mt.rank - step + 2 * mt.size) % mt.size;

			if (step & 1) {
				MT_MPI(MPI_Sendrecv(a.p, (int)len, MPI_BYTE, right, step, b.p,
						    (int)len, MPI_BYTE, left, step, mt.comm,
						    MPI_STATUS_IGNORE));
				memcpy(a.p, b.p, len);
			} else {
				MT_MPI(MPI_Sendrecv_replace(a.p, (int)len, MPI_BYTE, right, step,
							    left, step, mt.comm,
							    MPI_STATUS_IGNORE));
			}
			mt_verify(a.p, len, mt_key(11, (uint64_t)i, (uint64_t)origin, 0), "ring");
		}
		mt_buf_check(&a, len, "ring");
		mt_buf_check(&b, len, "ring");
		mt_buf_free(&a);
		mt_buf_free(&b);
	}
}

/* the same requests started again and again with other bytes */
void mt_persistent(void)
{
	enum { N = 6 };
	const size_t sizes[N] = { 0, 8, 1000, 9000, 66000, 400000 };
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;
	int rounds = mt.quick ? 8 : 25;
	struct mt_buf s[N], r[N];
	MPI_Request req[2 * N];

	for (int i = 0; i < N; i++) {
		int n = (int)sizes[i];

		s[i] = mt_buf_new(sizes[i]);
		r[i] = mt_buf_new(sizes[i]);
		MT_MPI(MPI_Recv_init(r[i].p, n, MPI_BYTE, i & 1 ? MPI_ANY_SOURCE : from, i, mt.comm,
				     &req[i]));
		if (i & 1)
			MT_MPI(MPI_Ssend_init(s[i].p, n, MPI_BYTE, to, i, mt.comm, &req[N + i]));
		else
			MT_MPI(MPI_Send_init(s[i].p, n, MPI_BYTE, to, i, mt.comm, &req[N + i]));
	}
	for (int k = 0; k < rounds; k++) {
		for (int i = 0; i < N; i++) {
			mt_buf_reset(&r[i]);
			mt_fill(s[i].p, sizes[i],
				mt_key(21, (uint64_t)k, (uint64_t)i, (uint64_t)mt.rank));
		}
		MT_MPI(MPI_Startall(2 * N, req));
		MT_MPI(MPI_Waitall(2 * N, req, MPI_STATUSES_IGNORE));
		for (int i = 0; i < N; i++) {
			mt_verify(r[i].p, sizes[i],
				  mt_key(21, (uint64_t)k, (uint64_t)i, (uint64_t)from),
				  "persistent");
			mt_buf_check(&r[i], sizes[i], "persistent");
		}
	}
	for (int i = 0; i < 2 * N; i++)
		MT_MPI(MPI_Request_free(&req[i]));
	for (int i = 0; i < N; i++) {
		mt_buf_free(&s[i]);
		mt_buf_free(&r[i]);
	}
}

/* one typed message each way; the bytes of the type are given as (offset, length) pairs */
static void datatype_try(const char *what, MPI_Datatype type, int count, size_t extent,
			 const size_t (*span)[2], int nspans, int tag)
{
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;
	size_t len = extent * (size_t)count, flat = 0, at = 0;
	struct mt_buf s = mt_buf_new(len), r = mt_buf_new(len), f;
	uint8_t *want;
	MPI_Request req;

	MT_MPI(MPI_Type_commit(&type));
	for (int j = 0; j < nspans; j++)
		flat += span[j][1] * (size_t)count;
	mt_fill(s.p, len, mt_key(31, (uint64_t)tag, (uint64_t)mt.rank, len));
	want = malloc(len + 1);
	mt_fill(want, len, mt_key(31, (uint64_t)tag, (uint64_t)from, len));

	/* typed to typed: the gaps of the receiver stay untouched */
	MT_MPI(MPI_Isend(s.p, count, type, to, tag, mt.comm, &req));
	MT_MPI(MPI_Recv(r.p, count, type, from, tag, mt.comm, MPI_STATUS_IGNORE));
	MT_MPI(MPI_Wait(&req, MPI_STATUS_IGNORE));
	mt_buf_check(&r, len, what);
	for (int c = 0; c < count; c++)
		for (int j = 0; j < nspans; j++) {
			size_t off = (size_t)c * extent + span[j][0];

			MT_CHECK(!memcmp(r.p + off, want + off, span[j][1]),
				 "%s: typed bytes at %zu", what, off);
			memset(r.p + off, MT_EMPTY_BYTE, span[j][1]);
		}
	mt_buf_check(&r, 0, what);

	/* typed to bytes */
	f = mt_buf_new(flat);
	MT_MPI(MPI_Isend(s.p, count, type, to, tag + 1, mt.comm, &req));
	MT_MPI(MPI_Recv(f.p, (int)flat, MPI_BYTE, from, tag + 1, mt.comm, MPI_STATUS_IGNORE));
	MT_MPI(MPI_Wait(&req, MPI_STATUS_IGNORE));
	for (int c = 0; c < count; c++)
		for (int j = 0; j < nspans; j++) {
			MT_CHECK(!memcmp(f.p + at, want + (size_t)c * extent + span[j][0],
					 span[j][1]),
				 "%s: flat bytes at %zu", what, at);
			at += span[j][1];
		}
	mt_buf_check(&f, flat, what);
	MT_MPI(MPI_Type_free(&type));
	mt_buf_free(&s);
	mt_buf_free(&r);
	mt_buf_free(&f);
	free(want);
}

void mt_datatypes(void)
{
	static const size_t column[][2] = { { 0, 12 }, { 40, 12 }, { 80, 12 }, { 120, 12 } };
	static const size_t holes[][2] = { { 4, 8 }, { 20, 4 }, { 60, 16 } };
	static const size_t mixed[][2] = { { 0, 1 }, { 8, 8 }, { 16, 6 } };
	int blocks[] = { 2, 1, 4 }, at[] = { 1, 5, 15 };
	int mixed_blocks[] = { 1, 1, 3 };
	MPI_Aint mixed_at[] = { 0, 8, 16 };
	MPI_Datatype mixed_types[] = { MPI_CHAR, MPI_DOUBLE, MPI_SHORT };
	MPI_Datatype t, u;

	for (int i = 0; i < 3; i++) {
		int count = i == 0 ? 1 : i == 1 ? 30 : 3000;

		/* 4 blocks of 3 ints, one every 10 ints; resized to a round extent */
		MT_MPI(MPI_Type_vector(4, 3, 10, MPI_INT, &t));
		MT_MPI(MPI_Type_create_resized(t, 0, 160, &u));
		MPI_Type_free(&t);
		datatype_try("vector", u, count, 160, column, 4, i * 10);

		MT_MPI(MPI_Type_indexed(3, blocks, at, MPI_INT, &t));
		MT_MPI(MPI_Type_create_resized(t, 0, 80, &u));
		MPI_Type_free(&t);
		datatype_try("indexed", u, count, 80, holes, 3, i * 10 + 2);

		MT_MPI(MPI_Type_create_struct(3, mixed_blocks, mixed_at, mixed_types, &t));
		MT_MPI(MPI_Type_create_resized(t, 0, 24, &u));
		MPI_Type_free(&t);
		datatype_try("struct", u, count, 24, mixed, 3, i * 10 + 4);
	}
}
