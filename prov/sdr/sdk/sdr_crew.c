/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Receive workers, the SDK's part: each runs the receive worker kernel (sdr_rxk.h) over what it has
 * placed, and leaves a note of each run of packets for the context's round.
 *
 * The bitmaps are written by the workers at once; sums (got, high, duplicates, marks) are not:
 * they go through notes, one for each run of packets of one message, in a ring a worker, which
 * it alone writes and the round alone reads.  So nothing that a packet touches is shared but the
 * bitmap's word, and a round costs what there are runs, not packets.  A ring that is full makes
 * its worker wait (room), and the packets with it.
 *
 * Order.  The round takes the notes of all workers in the order in which the packets came, as far
 * as that is certain: a gap that is left is one of the network's, and not of a worker that is
 * behind the others.
 *
 * Lifetime.  A worker finds the message by the slot's word, which the owner clears before it
 * unbinds the slot, and slot_unbind returns when no worker is in the middle of it (sdr_uc.h): so a
 * handle that was given back is written by nobody.  Notes of it may lie in the ring yet: they carry
 * QP and message number, and are of no use when the handle has others now.  Notes of a QP
 * that goes are struck out.
 *
 * Decides nothing about messages; no timers.  Only sdr_crew_room and sdr_crew_placed run on
 * workers' threads.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "sdr_context.h"
#include "sdr_crew.h"
#include "sdr_qp.h"
#include "sdr_recv.h"

#define SDR_CREW_NOTES 1024u /* a worker; power of two */
#define SDR_CREW_LINE  64u   /* bytes of a cache line */

struct sdr_crew_note {
	uint64_t since; /* when it came, in the engine's order of arrivals */
	struct sdr_recv_note n;
};

struct sdr_crew_lane {
	/* written by the worker */
	_Alignas(SDR_CREW_LINE) uint32_t tail;
	/* written by the round */
	_Alignas(SDR_CREW_LINE) uint32_t head;
	_Alignas(SDR_CREW_LINE) struct sdr_crew_note note[SDR_CREW_NOTES];
};

struct sdr_crew {
	uint32_t n; /* workers */
	struct sdr_crew_lane lane[];
};

/* ---- a worker's thread ----------------------------------------------------------------------- */

static bool sdr_crew_room(void *user, uint32_t worker)
{
	struct sdr_context *ctx = user;
	struct sdr_crew_lane *l = &ctx->crew->lane[worker];

	return l->tail - __atomic_load_n(&l->head, __ATOMIC_ACQUIRE) < SDR_CREW_NOTES;
}

static void sdr_crew_placed(void *user, uint32_t worker, const struct sdr_uc_ev *ev, int n)
{
	struct sdr_context *ctx = user;
	struct sdr_crew_lane *l = &ctx->crew->lane[worker];
	struct sdr_crew_note *note = &l->note[l->tail % SDR_CREW_NOTES];

	SDR_ASSERT(sdr_crew_room(user, worker));
	note->since = ev->since;
	sdr_recv_run(ev->p.cookie, ev, n, &note->n);
	__atomic_store_n(&l->tail, l->tail + 1, __ATOMIC_RELEASE);
}

/* ---- the owner's ----------------------------------------------------------------------------- */

int sdr_crew_create(struct sdr_context *ctx)
{
	size_t len = sizeof(struct sdr_crew) + ctx->info.workers * sizeof(struct sdr_crew_lane);
	struct sdr_uc_crew to = {
		.room = sdr_crew_room,
		.placed = sdr_crew_placed,
		.user = ctx,
	};

	SDR_ASSERT(ctx->info.workers && ctx->info.workers <= SDR_WORKERS_MAX);
	if (posix_memalign((void **)&ctx->crew, SDR_CREW_LINE, len)) {
		ctx->crew = NULL;
		return -ENOMEM;
	}
	memset(ctx->crew, 0, len);
	ctx->crew->n = ctx->info.workers;
	ctx->uc->ops->crew(ctx->uc, &to);
	return 0;
}

void sdr_crew_destroy(struct sdr_crew *crew)
{
	free(crew);
}

int sdr_crew_collect(struct sdr_context *ctx)
{
	struct sdr_crew *crew = ctx->crew;
	struct sdr_list *e;
	uint32_t i, tail;
	bool any = false;
	uint64_t done;
	int n = 0;

	for (i = 0; i < crew->n && !any; i++)
		any = crew->lane[i].head != __atomic_load_n(&crew->lane[i].tail, __ATOMIC_ACQUIRE);
	if (!any)
		return 0;
	/* Asked before the tails are read: what has been placed by then is in all of the rings. */
	done = ctx->uc->ops->crew_done(ctx->uc);
	for (i = 0; i < crew->n; i++) {
		struct sdr_crew_lane *l = &crew->lane[i];

		tail = __atomic_load_n(&l->tail, __ATOMIC_ACQUIRE);
		for (; l->head != tail; n++) {
			if (l->note[l->head % SDR_CREW_NOTES].since > done)
				break;
			(void)sdr_recv_count(ctx, &l->note[l->head % SDR_CREW_NOTES].n);
			__atomic_store_n(&l->head, l->head + 1, __ATOMIC_RELEASE);
		}
	}
	/* Once for all runs of a message: the words of its bitmap are in the workers' caches. */
	for (e = ctx->touched.next; n && e != &ctx->touched; e = e->next)
		sdr_recv_cum(sdr_container(e, struct sdr_rcv_handle, touched));
	return n;
}

void sdr_crew_forget(struct sdr_context *ctx, const struct sdr_qp *qp)
{
	struct sdr_crew *crew = ctx->crew;
	uint32_t i, k;

	for (i = 0; i < crew->n; i++) {
		struct sdr_crew_lane *l = &crew->lane[i];
		uint32_t tail = __atomic_load_n(&l->tail, __ATOMIC_ACQUIRE);

		for (k = l->head; k != tail; k++)
			if (l->note[k % SDR_CREW_NOTES].n.qp == qp)
				l->note[k % SDR_CREW_NOTES].n.qp = NULL;
	}
}
