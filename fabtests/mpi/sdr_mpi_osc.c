/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */

/*
 * One-sided sections: fence, lock and unlock with flush, atomics, post-start-complete-wait. Each
 * window has a region per origin, so that all ranks write at once, and a canary between regions.
 * Which transport carries them is Open MPI's choice of osc component: see run.sh.
 */
#include "sdr_mpi.h"

#include <stdlib.h>
#include <string.h>

struct window {
	MPI_Win win;
	uint8_t *mem;
	size_t region; /* bytes a rank owns in everybody's window, canary included */
};

#define CANARY 64u /* bytes at the end of every region that are not written */

static struct window window_new(size_t payload)
{
	struct window w = { .region = payload + CANARY };
	MPI_Aint bytes = (MPI_Aint)(w.region * (size_t)mt.size);
	void *mem = NULL;

	MT_MPI(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, mt.comm, &mem, &w.win));
	MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
	w.mem = mem;
	memset(w.mem, MT_EMPTY_BYTE, (size_t)bytes);
	MT_MPI(MPI_Barrier(mt.comm));
	return w;
}

static void window_free(struct window *w)
{
	MT_MPI(MPI_Win_free(&w->win));
}

static MPI_Aint disp(const struct window *w, int origin)
{
	return (MPI_Aint)(w->region * (size_t)origin);
}

static uint64_t osc_key(int from, int to, int step)
{
	return mt_key(300, (uint64_t)from, (uint64_t)to, (uint64_t)step);
}

/* everybody's region in my window has its bytes, and the canary and the rest are whole */
static void window_check(const struct window *w, size_t len, int step, bool own, const char *what)
{
	for (int r = 0; r < mt.size; r++) {
		const uint8_t *p = w->mem + w->region * (size_t)r;
		bool clean = true;

		if (r == mt.rank && !own)
			continue;
		mt_verify(p, len, osc_key(r, mt.rank, step), what);
		for (size_t i = len; i < w->region; i++)
			clean = clean && p[i] == MT_EMPTY_BYTE;
		MT_CHECK(clean, "%s: written behind the region of %d", what, r);
	}
}

void mt_osc_fence(void)
{
	const size_t lens[] = { 1, 8, 1000, 8000, 65537, 500001 };

	for (int i = 0; i < 6; i++) {
		size_t len = lens[i];
		struct window w = window_new(len);
		uint8_t *out = malloc(len * (size_t)mt.size), *in = malloc(len * (size_t)mt.size);
		int one[4], *acc;

		MT_MPI(MPI_Win_fence(0, w.win));
		for (int r = 0; r < mt.size; r++) {
			mt_fill(out + len * (size_t)r, len, osc_key(mt.rank, r, i));
			MT_MPI(MPI_Put(out + len * (size_t)r, (int)len, MPI_BYTE, r,
				       disp(&w, mt.rank), (int)len, MPI_BYTE, w.win));
		}
		MT_MPI(MPI_Win_fence(0, w.win));
		window_check(&w, len, i, true, "Put");
		MT_MPI(MPI_Win_fence(0, w.win));
		/* read back what the right neighbour sent each other rank */
		for (int r = 0; r < mt.size; r++)
			MT_MPI(MPI_Get(in + len * (size_t)r, (int)len, MPI_BYTE, r,
				       disp(&w, (mt.rank + 1) % mt.size), (int)len, MPI_BYTE,
				       w.win));
		MT_MPI(MPI_Win_fence(0, w.win));
		for (int r = 0; r < mt.size; r++)
			mt_verify(in + len * (size_t)r, len, osc_key((mt.rank + 1) % mt.size, r, i),
				  "Get");
		window_free(&w);

		/* everybody adds to the same ints of everybody */
		w = window_new(sizeof(one));
		acc = (int *)(void *)w.mem;
		memset(acc, 0, sizeof(one));
		MT_MPI(MPI_Win_fence(0, w.win));
		for (int j = 0; j < 4; j++)
			one[j] = mt.rank + 1 + j;
		for (int r = 0; r < mt.size; r++)
			MT_MPI(MPI_Accumulate(one, 4, MPI_INT, r, 0, 4, MPI_INT, MPI_SUM, w.win));
		MT_MPI(MPI_Win_fence(0, w.win));
		for (int j = 0; j < 4; j++)
			MT_CHECK(acc[j] == mt.size * (mt.size + 1) / 2 + mt.size * j,
				 "Accumulate: int %d is %d", j, acc[j]);
		window_free(&w);
		free(out);
		free(in);
	}
}

void mt_osc_lock(void)
{
	size_t len = mt.quick ? 30000 : 200000;
	struct window w = window_new(len);
	uint8_t *out = malloc(len), *in = malloc(len);
	int rounds = mt.quick ? 3 : 8, total = -1;

	for (int k = 0; k < rounds; k++) {
		/* write, flush, read back, under a shared lock */
		for (int d = 1; d < mt.size; d++) {
			int r = (mt.rank + d) % mt.size;

			mt_fill(out, len, osc_key(mt.rank, r, 1000 + k));
			MT_MPI(MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w.win));
			MT_MPI(MPI_Put(out, (int)len, MPI_BYTE, r, disp(&w, mt.rank), (int)len,
				       MPI_BYTE, w.win));
			MT_MPI(MPI_Win_flush(r, w.win));
			memset(in, 0, len);
			MT_MPI(MPI_Get(in, (int)len, MPI_BYTE, r, disp(&w, mt.rank), (int)len,
				       MPI_BYTE, w.win));
			MT_MPI(MPI_Win_unlock(r, w.win));
			mt_verify(in, len, osc_key(mt.rank, r, 1000 + k), "read back");
		}
		MT_MPI(MPI_Barrier(mt.comm));
		MT_MPI(MPI_Win_lock(MPI_LOCK_SHARED, mt.rank, 0, w.win));
		window_check(&w, len, 1000 + k, false, "locked Put");
		MT_MPI(MPI_Win_unlock(mt.rank, w.win));
		MT_MPI(MPI_Barrier(mt.comm));
	}

	/* a counter at rank 0 that is read and written under an exclusive lock */
	if (mt.rank == 0) {
		MT_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
		memset(w.mem, 0, sizeof(int));
		MT_MPI(MPI_Win_unlock(0, w.win));
	}
	MT_MPI(MPI_Barrier(mt.comm));
	for (int k = 0; k < rounds * 3; k++) {
		int x = -1;

		MT_MPI(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
		MT_MPI(MPI_Get(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, w.win));
		MT_MPI(MPI_Win_flush(0, w.win));
		x++;
		MT_MPI(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, w.win));
		MT_MPI(MPI_Win_unlock(0, w.win));
	}
	MT_MPI(MPI_Barrier(mt.comm));
	MT_MPI(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
	MT_MPI(MPI_Get(&total, 1, MPI_INT, 0, 0, 1, MPI_INT, w.win));
	MT_MPI(MPI_Win_unlock(0, w.win));
	MT_CHECK(total == rounds * 3 * mt.size, "the locked counter is %d, not %d", total,
		 rounds * 3 * mt.size);
	MT_MPI(MPI_Barrier(mt.comm));
	window_free(&w);
	free(out);
	free(in);
}

void mt_osc_atomic(void)
{
	struct window w = window_new(4 * sizeof(int64_t));
	int64_t *mem = (int64_t *)(void *)w.mem, one = 1, old = -1, swap, zero = 0, sum = 0;
	int count = mt.quick ? 20 : 60, wins = 0, all = 0;
	uint8_t *seen = calloc((size_t)(count * mt.size), 1);
	int64_t *tickets = calloc((size_t)count, sizeof(*tickets));
	int64_t *every = calloc((size_t)(count * mt.size), sizeof(*every));

	memset(mem, 0, 4 * sizeof(*mem));
	MT_MPI(MPI_Barrier(mt.comm));
	MT_MPI(MPI_Win_lock_all(0, w.win));
	/* tickets from the last rank: each number is drawn once */
	for (int k = 0; k < count; k++) {
		MT_MPI(MPI_Fetch_and_op(&one, &tickets[k], MPI_INT64_T, mt.size - 1, 0, MPI_SUM,
					w.win));
		MT_MPI(MPI_Win_flush(mt.size - 1, w.win));
	}
	/* one winner */
	swap = mt.rank + 1;
	MT_MPI(MPI_Compare_and_swap(&swap, &zero, &old, MPI_INT64_T, 0, 8, w.win));
	MT_MPI(MPI_Win_flush(0, w.win));
	wins = old == 0;
	/* old value and addition in one go, to every rank */
	for (int r = 0; r < mt.size; r++) {
		MT_MPI(MPI_Get_accumulate(&swap, 1, MPI_INT64_T, &sum, 1, MPI_INT64_T, r, 16, 1,
					  MPI_INT64_T, MPI_SUM, w.win));
		MT_MPI(MPI_Win_flush(r, w.win));
		MT_CHECK(sum >= 0 && sum <= mt.size * (mt.size + 1) / 2 - swap,
			 "Get_accumulate gives %lld", (long long)sum);
	}
	MT_MPI(MPI_Win_unlock_all(w.win));
	MT_MPI(MPI_Barrier(mt.comm));
	MT_MPI(MPI_Allgather(tickets, count, MPI_INT64_T, every, count, MPI_INT64_T, mt.comm));
	for (int i = 0; i < count * mt.size; i++) {
		bool fresh = every[i] >= 0 && every[i] < count * mt.size && !seen[every[i]];

		MT_CHECK(fresh, "ticket %lld drawn twice, or none", (long long)every[i]);
		if (fresh)
			seen[every[i]] = 1;
	}
	MT_MPI(MPI_Allreduce(&wins, &all, 1, MPI_INT, MPI_SUM, mt.comm));
	MT_CHECK(all == 1, "%d winners of one compare-and-swap", all);
	MT_MPI(MPI_Win_lock(MPI_LOCK_SHARED, mt.rank, 0, w.win));
	MT_CHECK(mem[2] == mt.size * (mt.size + 1) / 2, "Get_accumulate adds up to %lld",
		 (long long)mem[2]);
	MT_MPI(MPI_Win_unlock(mt.rank, w.win));
	window_free(&w);
	free(seen);
	free(tickets);
	free(every);
}

void mt_osc_pscw(void)
{
	size_t len = 50000;
	struct window w = window_new(len);
	int to = (mt.rank + 1) % mt.size, from = (mt.rank - 1 + mt.size) % mt.size;
	MPI_Group all, target, origin;
	uint8_t *out = malloc(len);

	MT_MPI(MPI_Comm_group(mt.comm, &all));
	MT_MPI(MPI_Group_incl(all, 1, &to, &target));
	MT_MPI(MPI_Group_incl(all, 1, &from, &origin));
	for (int k = 0; k < 5; k++) {
		mt_fill(out, len, osc_key(mt.rank, to, 2000 + k));
		MT_MPI(MPI_Win_post(origin, 0, w.win));
		MT_MPI(MPI_Win_start(target, 0, w.win));
		MT_MPI(MPI_Put(out, (int)len, MPI_BYTE, to, disp(&w, mt.rank), (int)len, MPI_BYTE,
			       w.win));
		MT_MPI(MPI_Win_complete(w.win));
		MT_MPI(MPI_Win_wait(w.win));
		mt_verify(w.mem + w.region * (size_t)from, len, osc_key(from, mt.rank, 2000 + k),
			  "post-start-complete-wait");
	}
	MPI_Group_free(&all);
	MPI_Group_free(&target);
	MPI_Group_free(&origin);
	window_free(&w);
	free(out);
}
