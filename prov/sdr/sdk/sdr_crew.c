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
	struct sdr_qp *qp; /* NULL: it is gone */
	struct sdr_rcv_handle *h;
	uint64_t since; /* when it came, in the engine's order of arrivals */
	struct sdr_recv_run run;
	uint32_t msn;
	uint16_t late, bad;
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

/* One packet of a note, whatever it is. */
static void sdr_crew_packet(struct sdr_crew_note *note, const struct sdr_uc_ev *ev)
{
	struct sdr_rxk_out out;
	enum sdr_rxk_res r = sdr_rxk_packet(&note->qp->rxk, ev->gen, ev->p.imm, ev->len, &out);

	if (r == SDR_RXK_LATE) {
		note->late++;
		return;
	}
	if (r == SDR_RXK_BAD) {
		note->bad++;
		return;
	}
	note->h = sdr_container(out.msg, struct sdr_rcv_handle, k);
	sdr_recv_run_add(&note->run, r, out.off, ev->ecn);
}

/* How many of the packets from the first on follow each other and are full but the last. */
static int sdr_crew_row(const struct sdr_rxk *k, const struct sdr_uc_ev *ev, int n, uint32_t *imm)
{
	uint32_t off = sdr_imm_off(&k->split, ev->p.imm);
	int i;

	for (i = 0; i < n; i++) {
		if (sdr_imm_off(&k->split, ev[i].p.imm) != off + (uint32_t)i ||
		    ev[i].ecn != ev->ecn || (i && ev[i - 1].len != k->mtu))
			break;
		imm[i] = ev[i].p.imm;
	}
	return i;
}

static void sdr_crew_placed(void *user, uint32_t worker, const struct sdr_uc_ev *ev, int n)
{
	struct sdr_context *ctx = user;
	struct sdr_crew_lane *l = &ctx->crew->lane[worker];
	struct sdr_crew_note *note = &l->note[l->tail % SDR_CREW_NOTES];
	uint32_t imm[SDR_UC_POLL_MIN];
	struct sdr_rxk_run run;
	int i, k;

	SDR_ASSERT(n > 0 && n <= (int)SDR_UC_POLL_MIN && sdr_crew_room(user, worker));
	memset(note, 0, sizeof(*note));
	note->qp = ev->p.cookie;
	note->since = ev->since;
	for (i = 0; i < n; i += k) {
		SDR_ASSERT(ev[i].p.cookie == note->qp);
		k = sdr_crew_row(&note->qp->rxk, ev + i, n - i, imm);
		if (!sdr_rxk_run(&note->qp->rxk, ev[i].gen, imm, (uint32_t)k, ev[i + k - 1].len,
				 &run)) {
			k = 1;
			sdr_crew_packet(note, &ev[i]);
		} else if (!run.msg) {
			note->late += (uint16_t)k;
		} else {
			note->h = sdr_container(run.msg, struct sdr_rcv_handle, k);
			sdr_recv_run_take(&note->run, &run,
					  sdr_imm_off(&note->qp->rxk.split, imm[k - 1]), ev[i].ecn);
		}
	}
	if (note->h)
		note->msn = note->h->st.msn;
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

static void sdr_crew_take(struct sdr_context *ctx, const struct sdr_crew_note *note)
{
	ctx->pkts_late += note->late;
	ctx->pkts_bad += note->bad;
	if (note->qp && note->h && note->h->qp == note->qp && note->h->st.msn == note->msn) {
		sdr_recv_run(note->h, &note->run);
		return;
	}
	/* They came while it was there. */
	ctx->pkts_dup += note->run.dups;
	ctx->chunks_rx += note->run.chunks;
}

int sdr_crew_collect(struct sdr_context *ctx)
{
	struct sdr_crew *crew = ctx->crew;
	uint64_t done = 0;
	uint32_t i, tail;
	int n = 0;

	for (i = 0; i < crew->n; i++) {
		struct sdr_crew_lane *l = &crew->lane[i];

		tail = __atomic_load_n(&l->tail, __ATOMIC_ACQUIRE);
		if (l->head != tail && !done)
			done = ctx->uc->ops->crew_done(ctx->uc);
		for (; l->head != tail; n++) {
			if (l->note[l->head % SDR_CREW_NOTES].since > done)
				break;
			sdr_crew_take(ctx, &l->note[l->head % SDR_CREW_NOTES]);
			__atomic_store_n(&l->head, l->head + 1, __ATOMIC_RELEASE);
		}
	}
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
			if (l->note[k % SDR_CREW_NOTES].qp == qp)
				l->note[k % SDR_CREW_NOTES].qp = NULL;
	}
}
