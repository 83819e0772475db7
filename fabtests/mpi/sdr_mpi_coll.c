/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * Collectives: rooted, all-to-all, with per-rank counts, nonblocking; and communicators. Contents
 * are ints from value(), so that every expected result can be computed by the receiver; sums stay
 * in 32 bits and doubles are whole numbers, so results are exact whatever the order of reduction.
 */
#include "sdr_mpi.h"

#include <stdlib.h>
#include <string.h>

static const int counts[] = { 0, 1, 2, 31, 1000, 4097, 70001, 300000 };

#define NCOUNTS	    ((int)(sizeof(counts) / sizeof(counts[0])))
#define QUICK_COUNT 70001

/* element i of what rank `from` gives to rank `to` */
static int value(int salt, int from, int to, int i)
{
	uint32_t x = (uint32_t)(salt * 40503 + from * 7919 + to * 104729 + i) * 2654435761u;

	return (int)((x >> 8) & 0xfffff);
}

static int *ints_new(size_t n)
{
	int *v = malloc((n + 1) * sizeof(int));

	if (!v)
		MPI_Abort(MPI_COMM_WORLD, 2);
	memset(v, MT_EMPTY_BYTE, (n + 1) * sizeof(int));
	return v;
}

static void ints_fill(int *v, int n, int salt, int from, int to)
{
	for (int i = 0; i < n; i++)
		v[i] = value(salt, from, to, i);
}

static void ints_check(const int *v, int n, int salt, int from, int to, const char *what)
{
	for (int i = 0; i < n; i++)
		if (v[i] != value(salt, from, to, i)) {
			MT_CHECK(false, "%s: element %d of %d, from %d", what, i, n, from);
			return;
		}
	MT_CHECK(true, "%s", what);
}

static int expected_sum(int salt, int ranks, int i)
{
	int sum = 0;

	for (int r = 0; r < ranks; r++)
		sum += value(salt, r, 0, i);
	return sum;
}

static void sum_check(const int *v, int n, int salt, int ranks, const char *what)
{
	for (int i = 0; i < n; i++)
		if (v[i] != expected_sum(salt, ranks, i)) {
			MT_CHECK(false, "%s: element %d of %d", what, i, n);
			return;
		}
	MT_CHECK(true, "%s", what);
}

static bool skipped(int n)
{
	return mt.quick && n > QUICK_COUNT;
}

void mt_coll_rooted(void)
{
	for (int c = 0; c < NCOUNTS; c++) {
		int n = counts[c], root = (c + 1) % mt.size;
		size_t all = (size_t)n * (size_t)mt.size;
		int *mine, *many;

		if (skipped(n))
			continue;
		mine = ints_new((size_t)n);
		many = ints_new(all);
		if (mt.rank == root)
			ints_fill(mine, n, c, root, 0);
		MT_MPI(MPI_Bcast(mine, n, MPI_INT, root, mt.comm));
		ints_check(mine, n, c, root, 0, "Bcast");

		ints_fill(mine, n, c, mt.rank, 0);
		MT_MPI(MPI_Reduce(mine, many, n, MPI_INT, MPI_SUM, root, mt.comm));
		if (mt.rank == root)
			sum_check(many, n, c, mt.size, "Reduce");

		MT_MPI(MPI_Gather(mine, n, MPI_INT, many, n, MPI_INT, root, mt.comm));
		for (int r = 0; r < mt.size && mt.rank == root; r++)
			ints_check(many + (size_t)r * (size_t)n, n, c, r, 0, "Gather");

		for (int r = 0; r < mt.size && mt.rank == root; r++)
			ints_fill(many + (size_t)r * (size_t)n, n, c, root, r);
		MT_MPI(MPI_Scatter(many, n, MPI_INT, mine, n, MPI_INT, root, mt.comm));
		ints_check(mine, n, c, root, mt.rank, "Scatter");
		free(mine);
		free(many);
	}
}

/* whole numbers in doubles, and the largest */
static void allreduce_kinds(int n, int salt)
{
	double *d = malloc(((size_t)n + 1) * sizeof(*d)), *e = malloc(((size_t)n + 1) * sizeof(*e));
	int *a = ints_new((size_t)n), *b = ints_new((size_t)n);
	bool ok = true;

	for (int i = 0; i < n; i++)
		d[i] = value(salt, mt.rank, 0, i);
	MT_MPI(MPI_Allreduce(d, e, n, MPI_DOUBLE, MPI_SUM, mt.comm));
	for (int i = 0; i < n; i++)
		ok = ok && (int)e[i] == expected_sum(salt, mt.size, i);
	MT_CHECK(ok, "Allreduce of %d doubles", n);

	ints_fill(a, n, salt, mt.rank, 0);
	MT_MPI(MPI_Allreduce(a, b, n, MPI_INT, MPI_MAX, mt.comm));
	ok = true;
	for (int i = 0; i < n; i++) {
		int max = 0;

		for (int r = 0; r < mt.size; r++)
			max = value(salt, r, 0, i) > max ? value(salt, r, 0, i) : max;
		ok = ok && b[i] == max;
	}
	MT_CHECK(ok, "Allreduce, largest of %d", n);
	free(d);
	free(e);
	free(a);
	free(b);
}

void mt_coll_all(void)
{
	for (int c = 0; c < NCOUNTS; c++) {
		int n = counts[c];
		size_t all = (size_t)n * (size_t)mt.size;
		int *mine, *many, *more;

		if (skipped(n))
			continue;
		mine = ints_new((size_t)n);
		many = ints_new(all);
		more = ints_new(all);
		ints_fill(mine, n, c, mt.rank, 0);
		MT_MPI(MPI_Allreduce(mine, many, n, MPI_INT, MPI_SUM, mt.comm));
		sum_check(many, n, c, mt.size, "Allreduce");
		MT_MPI(MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_INT, MPI_SUM, mt.comm));
		sum_check(mine, n, c, mt.size, "Allreduce in place");
		allreduce_kinds(n, c);

		ints_fill(mine, n, c, mt.rank, 0);
		MT_MPI(MPI_Allgather(mine, n, MPI_INT, many, n, MPI_INT, mt.comm));
		for (int r = 0; r < mt.size; r++)
			ints_check(many + (size_t)r * (size_t)n, n, c, r, 0, "Allgather");

		for (int r = 0; r < mt.size; r++)
			ints_fill(many + (size_t)r * (size_t)n, n, c, mt.rank, r);
		MT_MPI(MPI_Alltoall(many, n, MPI_INT, more, n, MPI_INT, mt.comm));
		for (int r = 0; r < mt.size; r++)
			ints_check(more + (size_t)r * (size_t)n, n, c, r, mt.rank, "Alltoall");

		/* block r of the sum goes to rank r */
		ints_fill(many, (int)all, c, mt.rank, 0);
		MT_MPI(MPI_Reduce_scatter_block(many, mine, n, MPI_INT, MPI_SUM, mt.comm));
		for (int i = 0; i < n; i++)
			if (mine[i] != expected_sum(c, mt.size, mt.rank * n + i)) {
				MT_CHECK(false, "Reduce_scatter_block: element %d of %d", i, n);
				break;
			}
		ints_fill(mine, n, c, mt.rank, 0);
		MT_MPI(MPI_Scan(mine, more, n, MPI_INT, MPI_SUM, mt.comm));
		sum_check(more, n, c, mt.rank + 1, "Scan");
		MT_MPI(MPI_Exscan(mine, more, n, MPI_INT, MPI_SUM, mt.comm));
		if (mt.rank)
			sum_check(more, n, c, mt.rank, "Exscan");
		free(mine);
		free(many);
		free(more);
	}
	for (int i = 0; i < 50; i++)
		MT_MPI(MPI_Barrier(mt.comm));
}

/* ints that rank a gives rank b; nothing for some pairs */
static int pair_count(int round, int a, int b)
{
	struct mt_rng rng = { mt_key(70, (uint64_t)round, (uint64_t)a, (uint64_t)b) };

	return mt_rng_below(&rng, 5) ? (int)mt_rng_size(&rng, mt.quick ? 20000 : 200000) / 4 : 0;
}

static void alltoallv_round(int round)
{
	size_t n = (size_t)mt.size;
	int *sc = ints_new(n), *sd = ints_new(n), *rc = ints_new(n), *rd = ints_new(n);
	int sent = 0, received = 0, *out, *in;

	for (int r = 0; r < mt.size; r++) {
		sc[r] = pair_count(round, mt.rank, r);
		sd[r] = sent;
		sent += sc[r];
		rc[r] = pair_count(round, r, mt.rank);
		rd[r] = received;
		received += rc[r] + 1; /* a gap of one int, which must stay empty */
	}
	out = ints_new((size_t)sent);
	in = ints_new((size_t)received);
	for (int r = 0; r < mt.size; r++)
		ints_fill(out + sd[r], sc[r], round, mt.rank, r);
	MT_MPI(MPI_Alltoallv(out, sc, sd, MPI_INT, in, rc, rd, MPI_INT, mt.comm));
	for (int r = 0; r < mt.size; r++) {
		ints_check(in + rd[r], rc[r], round, r, mt.rank, "Alltoallv");
		MT_CHECK(in[rd[r] + rc[r]] == 0x5a5a5a5a, "Alltoallv writes behind a block");
	}

	/* the first block of each, gathered everywhere and at one rank, and scattered again */
	for (int r = 0; r < mt.size; r++)
		rc[r] = pair_count(round, r, 0);
	received = 0;
	for (int r = 0; r < mt.size; r++) {
		rd[r] = received;
		received += rc[r];
	}
	free(in);
	in = ints_new((size_t)received);
	MT_MPI(MPI_Allgatherv(out + sd[0], sc[0], MPI_INT, in, rc, rd, MPI_INT, mt.comm));
	for (int r = 0; r < mt.size; r++)
		ints_check(in + rd[r], rc[r], round, r, 0, "Allgatherv");
	memset(in, 0, (size_t)received * sizeof(int));
	MT_MPI(MPI_Gatherv(out + sd[0], sc[0], MPI_INT, in, rc, rd, MPI_INT, round % mt.size,
			   mt.comm));
	for (int r = 0; r < mt.size && mt.rank == round % mt.size; r++)
		ints_check(in + rd[r], rc[r], round, r, 0, "Gatherv");
	memset(out + sd[0], 0, (size_t)sc[0] * sizeof(int));
	MT_MPI(MPI_Scatterv(in, rc, rd, MPI_INT, out + sd[0], sc[0], MPI_INT, round % mt.size,
			    mt.comm));
	ints_check(out + sd[0], sc[0], round, mt.rank, 0, "Scatterv");
	free(sc);
	free(sd);
	free(rc);
	free(rd);
	free(out);
	free(in);
}

void mt_coll_v(void)
{
	for (int round = 0; round < (mt.quick ? 4 : 12); round++)
		alltoallv_round(round);
}

/* several collectives and a pair exchange in flight at once, completed together */
void mt_coll_nonblocking(void)
{
	enum { N = 4 };
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;

	for (int c = 0; c < NCOUNTS; c++) {
		int n = counts[c], k = 0;
		int *in[N], *out[N], *blk, *more, *a, *b;
		MPI_Request req[2 * N + 5];

		if (skipped(n))
			continue;
		for (int j = 0; j < N; j++) {
			in[j] = ints_new((size_t)n);
			out[j] = ints_new((size_t)n);
			ints_fill(in[j], n, c * N + j, mt.rank, 0);
			MT_MPI(MPI_Iallreduce(in[j], out[j], n, MPI_INT, MPI_SUM, mt.comm,
					      &req[k++]));
		}
		blk = ints_new((size_t)n * (size_t)mt.size);
		more = ints_new((size_t)n * (size_t)mt.size);
		a = ints_new((size_t)n);
		b = ints_new((size_t)n);
		for (int r = 0; r < mt.size; r++)
			ints_fill(blk + (size_t)r * (size_t)n, n, c, mt.rank, r);
		MT_MPI(MPI_Ialltoall(blk, n, MPI_INT, more, n, MPI_INT, mt.comm, &req[k++]));
		ints_fill(a, n, c + 500, mt.rank, to);
		MT_MPI(MPI_Irecv(b, n, MPI_INT, from, c, mt.comm, &req[k++]));
		MT_MPI(MPI_Isend(a, n, MPI_INT, to, c, mt.comm, &req[k++]));
		MT_MPI(MPI_Ibarrier(mt.comm, &req[k++]));
		MT_MPI(MPI_Waitall(k, req, MPI_STATUSES_IGNORE));
		for (int j = 0; j < N; j++) {
			sum_check(out[j], n, c * N + j, mt.size, "Iallreduce");
			free(in[j]);
			free(out[j]);
		}
		for (int r = 0; r < mt.size; r++)
			ints_check(more + (size_t)r * (size_t)n, n, c, r, mt.rank, "Ialltoall");
		ints_check(b, n, c + 500, from, mt.rank, "beside collectives");
		if (mt.rank == 0)
			ints_fill(a, n, c + 600, 0, 0);
		MT_MPI(MPI_Ibcast(a, n, MPI_INT, 0, mt.comm, &req[0]));
		MT_MPI(MPI_Wait(&req[0], MPI_STATUS_IGNORE));
		ints_check(a, n, c + 600, 0, 0, "Ibcast");
		free(blk);
		free(more);
		free(a);
		free(b);
	}
}

/* the same tag in two communicators does not mix; split in reverse order; groups */
void mt_comms(void)
{
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;
	int got[2] = { -1, -1 }, sum = -1, want = 0, rank, size;
	MPI_Comm dup[2], half;
	MPI_Request req[4];

	for (int i = 0; i < 2; i++)
		MT_MPI(MPI_Comm_dup(mt.comm, &dup[i]));
	for (int i = 0; i < 2; i++)
		MT_MPI(MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, dup[i],
				 &req[i]));
	for (int i = 1; i >= 0; i--) {
		static int sent[2];

		sent[i] = value(80 + i, mt.rank, to, 0);
		MT_MPI(MPI_Isend(&sent[i], 1, MPI_INT, to, 3, dup[i], &req[2 + i]));
	}
	MT_MPI(MPI_Waitall(4, req, MPI_STATUSES_IGNORE));
	for (int i = 0; i < 2; i++) {
		MT_CHECK(got[i] == value(80 + i, from, mt.rank, 0), "communicators mix");
		MT_MPI(MPI_Comm_free(&dup[i]));
	}

	MT_MPI(MPI_Comm_split(mt.comm, mt.rank & 1, -mt.rank, &half));
	MPI_Comm_rank(half, &rank);
	MPI_Comm_size(half, &size);
	for (int r = mt.rank & 1; r < mt.size; r += 2)
		want += r;
	MT_CHECK(size == (mt.size + 1 - (mt.rank & 1)) / 2, "half has %d ranks", size);
	MT_CHECK(rank == size - 1 - mt.rank / 2, "rank %d of the half", rank);
	MT_MPI(MPI_Allreduce(&mt.rank, &sum, 1, MPI_INT, MPI_SUM, half));
	MT_CHECK(sum == want, "sum %d in the half, not %d", sum, want);
	sum = mt.rank;
	MT_MPI(MPI_Bcast(&sum, 1, MPI_INT, size - 1, half));
	MT_CHECK(sum == (mt.rank & 1), "Bcast in the half gives %d", sum);
	MT_MPI(MPI_Comm_free(&half));

	MT_MPI(MPI_Comm_split(mt.comm, mt.rank == 0 ? MPI_UNDEFINED : 1, mt.rank, &half));
	MT_CHECK((half == MPI_COMM_NULL) == (mt.rank == 0), "who is in the split");
	if (half != MPI_COMM_NULL) {
		MT_MPI(MPI_Barrier(half));
		MT_MPI(MPI_Comm_free(&half));
	}
}
