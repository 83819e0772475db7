/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * Point-to-point sections with one message in flight per pair at a time: sizes, modes, wildcard
 * receives, probes, unexpected messages, truncation, cancel, self. The sections that flood are in
 * sdr_mpi_storm.c. A message's key is made of (sender, receiver, tag or step, size), so a message
 * that is matched to the wrong receive has the wrong bytes.
 */
#include "sdr_mpi.h"

#include <stdlib.h>

#define KIB ((size_t)1024)
#define MIB (KIB * KIB)

static const size_t sizes[] = {
	0,    1,    7,	   8,	  9,	 63,	64,    65,     255,	   256,		1000,
	1023, 1024, 1025,  1408,  1472,	 1500,	2048,  4095,   4096,	   4097,	8191,
	8192, 8193, 16384, 32768, 65535, 65536, 65537, 131072, 262144 + 1, 1048576 + 3, 8388608,
};

#define NSIZES	  ((int)(sizeof(sizes) / sizeof(sizes[0])))
#define QUICK_MAX (2 * MIB)

static uint64_t message_key(int from, int to, int tag, size_t len)
{
	return mt_key((uint64_t)from, (uint64_t)to, (uint64_t)tag, len);
}

/* status and bytes of a message that lies in b */
static void message_check(const struct mt_buf *b, const MPI_Status *st, int from, int tag,
			  size_t len, const char *what)
{
	int count = -1;

	MPI_Get_count(st, MPI_BYTE, &count);
	MT_CHECK(st->MPI_SOURCE == from, "%s: source %d, not %d", what, st->MPI_SOURCE, from);
	MT_CHECK(st->MPI_TAG == tag, "%s: tag %d, not %d", what, st->MPI_TAG, tag);
	MT_CHECK(count >= 0 && (size_t)count == len, "%s: %d bytes, not %zu", what, count, len);
	mt_verify(b->p, len, message_key(from, mt.rank, tag, len), what);
	mt_buf_check(b, len, what);
}

static struct mt_buf message_new(int to, int tag, size_t len)
{
	struct mt_buf b = mt_buf_new(len);

	mt_fill(b.p, len, message_key(mt.rank, to, tag, len));
	return b;
}

static void message_send(int to, int tag, size_t len)
{
	struct mt_buf b = message_new(to, tag, len);

	MT_MPI(MPI_Send(b.p, (int)len, MPI_BYTE, to, tag, mt.comm));
	mt_verify(b.p, len, message_key(mt.rank, to, tag, len), "sent buffer");
	mt_buf_free(&b);
}

static void message_recv(int from, int tag, size_t len, size_t room, const char *what)
{
	struct mt_buf b = mt_buf_new(room);
	MPI_Status st;

	MT_MPI(MPI_Recv(b.p, (int)room, MPI_BYTE, from, tag, mt.comm, &st));
	message_check(&b, &st, from, tag, len, what);
	mt_buf_free(&b);
}

static int tag_ub(void)
{
	int *ub = NULL, flag = 0;

	MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &ub, &flag);
	return flag && ub ? *ub : 32767;
}

/* every size, both directions at once, to every other rank, with room to spare and without */
void mt_sizes(void)
{
	int ub = tag_ub();
	const int tags[] = { 0, 1, 255, 32767, ub / 2, ub };

	for (int i = 0; i < NSIZES; i++) {
		size_t len = sizes[i];

		if (mt.quick && len > QUICK_MAX)
			continue;
		for (int d = 1; d < mt.size; d++) {
			int to = (mt.rank + d) % mt.size;
			int from = (mt.rank - d + mt.size) % mt.size;
			int tag = tags[(i + d) % 6];
			size_t room = len + (i & 1 ? 0 : 100);
			struct mt_buf s = message_new(to, tag, len), r = mt_buf_new(room);
			MPI_Request req;
			MPI_Status st;

			MT_MPI(MPI_Isend(s.p, (int)len, MPI_BYTE, to, tag, mt.comm, &req));
			MT_MPI(MPI_Recv(r.p, (int)room, MPI_BYTE, from, tag, mt.comm, &st));
			message_check(&r, &st, from, tag, len, "sizes");
			MT_MPI(MPI_Wait(&req, MPI_STATUS_IGNORE));
			mt_buf_free(&s);
			mt_buf_free(&r);
		}
	}
	/* one way at a time: rank 0 sends, the last rank answers */
	for (int i = 0; i < NSIZES; i++) {
		size_t len = sizes[i];
		int last = mt.size - 1;

		if (mt.quick && len > QUICK_MAX)
			continue;
		if (mt.rank == 0) {
			message_send(last, i, len);
			message_recv(last, i + 1000, len, len, "pong");
		} else if (mt.rank == last) {
			message_recv(0, i, len, len, "ping");
			message_send(0, i + 1000, len);
		}
	}
}

/* Ssend, Bsend, Rsend and their nonblocking forms */
void mt_modes(void)
{
	const size_t len[] = { 0, 17, 5000, 200000 };
	int attach = (int)(256 * KIB) * mt.size + MPI_BSEND_OVERHEAD * 16 * mt.size;
	void *space = malloc((size_t)attach);
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;

	MT_MPI(MPI_Buffer_attach(space, attach));
	for (int i = 0; i < 4; i++) {
		for (int mode = 0; mode < 4; mode++) {
			int tag = i * 10 + mode;
			struct mt_buf s = message_new(to, tag, len[i]), r = mt_buf_new(len[i]);
			MPI_Request rr, sr = MPI_REQUEST_NULL;
			MPI_Status st;
			int n = (int)len[i];

			MT_MPI(MPI_Irecv(r.p, n, MPI_BYTE, from, tag, mt.comm, &rr));
			/* a ready send needs the receive to be there */
			MT_MPI(MPI_Barrier(mt.comm));
			if (mode == 0)
				MT_MPI(MPI_Ssend(s.p, n, MPI_BYTE, to, tag, mt.comm));
			else if (mode == 1)
				MT_MPI(MPI_Bsend(s.p, n, MPI_BYTE, to, tag, mt.comm));
			else if (mode == 2)
				MT_MPI(MPI_Rsend(s.p, n, MPI_BYTE, to, tag, mt.comm));
			else
				MT_MPI(MPI_Issend(s.p, n, MPI_BYTE, to, tag, mt.comm, &sr));
			MT_MPI(MPI_Wait(&rr, &st));
			message_check(&r, &st, from, tag, len[i], "modes");
			MT_MPI(MPI_Wait(&sr, MPI_STATUS_IGNORE));
			mt_buf_free(&s);
			mt_buf_free(&r);
		}
	}
	/* a synchronous send may not complete before the receive is posted */
	if (mt.rank == 0) {
		struct mt_buf s = message_new(1, 77, 100);
		MPI_Request sr;
		int flag = 0;

		MT_MPI(MPI_Issend(s.p, 100, MPI_BYTE, 1, 77, mt.comm, &sr));
		for (int i = 0; i < 1000; i++)
			MPI_Test(&sr, &flag, MPI_STATUS_IGNORE);
		MT_CHECK(!flag, "a synchronous send completed without a receive");
		MT_MPI(MPI_Send(NULL, 0, MPI_BYTE, 1, 78, mt.comm));
		MT_MPI(MPI_Wait(&sr, MPI_STATUS_IGNORE));
		mt_buf_free(&s);
	} else if (mt.rank == 1) {
		MT_MPI(MPI_Recv(NULL, 0, MPI_BYTE, 0, 78, mt.comm, MPI_STATUS_IGNORE));
		message_recv(0, 77, 100, 100, "issend");
	}
	MT_MPI(MPI_Buffer_detach(&space, &attach));
	free(space);
}

/* what sender s sends as its message k of a wildcard round */
static void wildcard_draw(int root, int s, int k, int *tag, size_t *len)
{
	struct mt_rng rng = { mt_key(900 + (uint64_t)root, (uint64_t)s, (uint64_t)k, 0) };

	*tag = (int)mt_rng_below(&rng, 5);
	*len = mt_rng_size(&rng, mt.quick ? 100000 : 500000);
}

static void wildcard_round(int root, int count, int variant)
{
	int *next = calloc((size_t)mt.size, sizeof(*next));
	struct mt_buf r = mt_buf_new(512 * KIB);

	if (mt.rank != root) {
		for (int k = 0; k < count; k++) {
			size_t len;
			int tag;

			wildcard_draw(root, mt.rank, k, &tag, &len);
			if (variant)
				tag = 9;
			message_send(root, tag, len);
		}
		goto out;
	}
	for (int i = 0; i < count * (mt.size - 1); i++) {
		int source = MPI_ANY_SOURCE, wanted = MPI_ANY_TAG, tag, s;
		MPI_Status st = { .MPI_SOURCE = -1, .MPI_TAG = -1 };
		size_t len;

		if (variant == 1)
			wanted = 9;
		if (variant == 2)
			source = (root + 1 + i / count) % mt.size;
		mt_buf_reset(&r);
		MT_MPI(MPI_Recv(r.p, (int)r.len, MPI_BYTE, source, wanted, mt.comm, &st));
		s = st.MPI_SOURCE;
		if (!MT_CHECK(s >= 0 && s < mt.size && s != root, "wildcard: source %d", s))
			break;
		/* messages of one sender may not overtake each other */
		wildcard_draw(root, s, next[s]++, &tag, &len);
		if (variant)
			tag = 9;
		message_check(&r, &st, s, tag, len, "wildcard");
	}
out:
	mt_buf_free(&r);
	free(next);
}

void mt_wildcard(void)
{
	int roots = mt.quick ? 1 : mt.size;

	for (int root = 0; root < roots; root++)
		for (int variant = 0; variant < 3; variant++) {
			wildcard_round(root, mt.quick ? 20 : 40, variant);
			MT_MPI(MPI_Barrier(mt.comm));
		}
}

static void probe_recv(int method, int source, int from, int tag, size_t len)
{
	MPI_Status st;
	MPI_Message msg = MPI_MESSAGE_NULL;
	struct mt_buf r;
	int count = -1, flag = 0;

	if (method == 0) {
		MT_MPI(MPI_Probe(source, tag, mt.comm, &st));
	} else if (method == 1) {
		while (!flag)
			MPI_Iprobe(source, tag, mt.comm, &flag, &st);
	} else if (method == 2) {
		MT_MPI(MPI_Mprobe(source, tag, mt.comm, &msg, &st));
	} else {
		while (!flag)
			MPI_Improbe(source, tag, mt.comm, &flag, &msg, &st);
	}
	MPI_Get_count(&st, MPI_BYTE, &count);
	MT_CHECK(st.MPI_SOURCE == from, "probe %d: source %d, not %d", method, st.MPI_SOURCE, from);
	MT_CHECK(st.MPI_TAG == tag, "probe %d: tag %d, not %d", method, st.MPI_TAG, tag);
	if (!MT_CHECK((size_t)count == len, "probe %d: %d bytes, not %zu", method, count, len))
		count = (int)len;
	r = mt_buf_new((size_t)count);
	if (method < 2)
		MT_MPI(MPI_Recv(r.p, count, MPI_BYTE, st.MPI_SOURCE, st.MPI_TAG, mt.comm, &st));
	else
		MT_MPI(MPI_Mrecv(r.p, count, MPI_BYTE, &msg, &st));
	message_check(&r, &st, from, tag, len, "probe");
	mt_buf_free(&r);
}

void mt_probe(void)
{
	const size_t len[] = { 0, 8, 1000, 20000, 300000, 1048577 };
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size, flag = 1;
	MPI_Status st;

	MT_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, mt.comm, &flag, &st));
	MT_CHECK(!flag, "a probe finds a message that was not sent");
	MT_MPI(MPI_Barrier(mt.comm));
	for (int i = 0; i < 6; i++)
		for (int method = 0; method < 8; method++) {
			int tag = i * 8 + method;
			struct mt_buf s = message_new(to, tag, len[i]);
			MPI_Request req;

			MT_MPI(MPI_Isend(s.p, (int)len[i], MPI_BYTE, to, tag, mt.comm, &req));
			probe_recv(method & 3, method & 4 ? MPI_ANY_SOURCE : from, from, tag,
				   len[i]);
			MT_MPI(MPI_Wait(&req, MPI_STATUS_IGNORE));
			mt_buf_free(&s);
		}
}

#define UNEXPECTED_MAX 200

/* all messages are on their way before the first receive; received in another order */
void mt_unexpected(void)
{
	int count = mt.quick ? 40 : UNEXPECTED_MAX;
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;
	struct mt_buf s[UNEXPECTED_MAX];
	MPI_Request req[UNEXPECTED_MAX];
	size_t len[UNEXPECTED_MAX];
	int order[UNEXPECTED_MAX];
	struct mt_rng rng = { mt_key(1, 2, 3, 4) };

	for (int i = 0; i < count; i++) {
		len[i] = mt_rng_size(&rng, mt.quick ? 200000 : 1000000);
		order[i] = i;
		s[i] = message_new(to, i, len[i]);
		MT_MPI(MPI_Isend(s[i].p, (int)len[i], MPI_BYTE, to, i, mt.comm, &req[i]));
	}
	MT_MPI(MPI_Barrier(mt.comm));
	mt_rng_shuffle(&rng, order, count);
	for (int i = 0; i < count; i++)
		message_recv(from, order[i], len[order[i]], len[order[i]] + 10, "unexpected");
	MT_MPI(MPI_Waitall(count, req, MPI_STATUSES_IGNORE));
	for (int i = 0; i < count; i++)
		mt_buf_free(&s[i]);
}

/* a receive that is too small ends with MPI_ERR_TRUNCATE, writes only inside, harms nothing else */
void mt_truncate(void)
{
	const size_t len[] = { 100, 5000, 70000, 1000000 }, room[] = { 50, 4999, 1000, 65536 };
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;

	for (int i = 0; i < 8; i++) {
		size_t n = len[i & 3], small = room[i & 3];
		bool late = i & 4; /* the message comes before the receive */
		struct mt_buf s = message_new(to, i, n), r = mt_buf_new(small);
		MPI_Request sr, rr;
		int rc, class = MPI_SUCCESS;

		if (late) {
			MT_MPI(MPI_Isend(s.p, (int)n, MPI_BYTE, to, i, mt.comm, &sr));
			MT_MPI(MPI_Barrier(mt.comm));
			MT_MPI(MPI_Irecv(r.p, (int)small, MPI_BYTE, from, i, mt.comm, &rr));
		} else {
			MT_MPI(MPI_Irecv(r.p, (int)small, MPI_BYTE, from, i, mt.comm, &rr));
			MT_MPI(MPI_Barrier(mt.comm));
			MT_MPI(MPI_Isend(s.p, (int)n, MPI_BYTE, to, i, mt.comm, &sr));
		}
		rc = MPI_Wait(&rr, MPI_STATUS_IGNORE);
		if (rc != MPI_SUCCESS)
			MPI_Error_class(rc, &class);
		MT_CHECK(class == MPI_ERR_TRUNCATE, "%zu into %zu%s: error class %d", n, small,
			 late ? ", unexpected" : "", class);
		MT_MPI(MPI_Wait(&sr, MPI_STATUS_IGNORE));
		mt_buf_check(&r, small, "truncate");
		mt_buf_free(&s);
		mt_buf_free(&r);
		MT_MPI(MPI_Barrier(mt.comm));
		s = message_new(to, i + 100, n);
		MT_MPI(MPI_Isend(s.p, (int)n, MPI_BYTE, to, i + 100, mt.comm, &sr));
		message_recv(from, i + 100, n, n, "after truncation");
		MT_MPI(MPI_Wait(&sr, MPI_STATUS_IGNORE));
		mt_buf_free(&s);
	}
}

/* a cancelled receive takes no message and touches no byte; its neighbours still match */
void mt_cancel(void)
{
	enum { N = 12 };
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;

	for (int round = 0; round < 3; round++) {
		size_t len = round == 0 ? 64 : round == 1 ? 8000 : 150000;
		struct mt_buf r[N], s[N];
		MPI_Request rr[N], sr[N];

		for (int i = 0; i < N; i++) {
			r[i] = mt_buf_new(len);
			MT_MPI(MPI_Irecv(r[i].p, (int)len, MPI_BYTE, i & 2 ? MPI_ANY_SOURCE : from,
					 i / 2, mt.comm, &rr[i]));
		}
		/* even ones go: then only the odd one of each tag is left */
		for (int i = 0; i < N; i += 2) {
			MPI_Status st;
			int flag = 0;

			MT_MPI(MPI_Cancel(&rr[i]));
			MT_MPI(MPI_Wait(&rr[i], &st));
			MPI_Test_cancelled(&st, &flag);
			MT_CHECK(flag, "receive %d was not cancelled", i);
		}
		MT_MPI(MPI_Barrier(mt.comm));
		for (int i = 1; i < N; i += 2) {
			s[i] = message_new(to, i / 2, len);
			MT_MPI(MPI_Isend(s[i].p, (int)len, MPI_BYTE, to, i / 2, mt.comm, &sr[i]));
		}
		for (int i = 1; i < N; i += 2) {
			MPI_Status st;

			MT_MPI(MPI_Wait(&rr[i], &st));
			message_check(&r[i], &st, from, i / 2, len, "beside a cancelled receive");
			MT_MPI(MPI_Wait(&sr[i], MPI_STATUS_IGNORE));
			mt_buf_free(&s[i]);
		}
		for (int i = 0; i < N; i++) {
			if (!(i & 1))
				mt_buf_check(&r[i], 0, "cancelled receive");
			mt_buf_free(&r[i]);
		}
		MT_MPI(MPI_Barrier(mt.comm));
	}
}

/* messages of a rank to itself */
void mt_self(void)
{
	const size_t len[] = { 0, 1, 4096, 100000, 1000000 };

	for (int i = 0; i < 5; i++) {
		struct mt_buf s = message_new(mt.rank, i, len[i]), r = mt_buf_new(len[i] + 5);
		MPI_Request rr, sr;
		MPI_Status st;

		/* half of them posted first, half unexpected */
		if (i & 1)
			MT_MPI(MPI_Irecv(r.p, (int)r.len, MPI_BYTE, mt.rank, i, mt.comm, &rr));
		MT_MPI(MPI_Isend(s.p, (int)len[i], MPI_BYTE, mt.rank, i, mt.comm, &sr));
		if (!(i & 1))
			MT_MPI(MPI_Irecv(r.p, (int)r.len, MPI_BYTE, MPI_ANY_SOURCE, i, mt.comm,
					 &rr));
		MT_MPI(MPI_Wait(&rr, &st));
		message_check(&r, &st, mt.rank, i, len[i], "self");
		MT_MPI(MPI_Wait(&sr, MPI_STATUS_IGNORE));
		mt_buf_free(&s);
		mt_buf_free(&r);
	}
}
