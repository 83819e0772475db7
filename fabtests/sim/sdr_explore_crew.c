/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * sdr_explore_crew: every interleaving of two receive workers and their engine's owner, in small
 * worlds.
 *
 *   sdr_explore_crew [-v]
 *
 * The real code of a worker (sdr_soft_worker.c), of placing (sdr_soft_place.c), of the owner's side
 * (sdr_soft_crew.c, sdr_soft_qp.c) and the receive worker kernel (sdr_rxk.c) is compiled here with
 * its atomic accesses preceded by a point at which another thread may go on (explore_turns.c).
 *
 * What must hold in each: no byte of a buffer is written, not even half way, when the owner has
 * been given it back; no bit of a message is set after; each packet that comes once is counted once
 * if its slot was bound when it came, an early one counts when its slot is bound in time, a
 * repeated one counts once; a chunk is complete exactly once; nobody waits for ever.
 */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "explore_turns.h"

#include "base/sdr_assert.h"
#include "base/sdr_bitmap.h"
#include "sdk/sdr_rxk.h"
#include "uc/sdr_uc.h"
#include "uc/soft/sdr_soft_impl.h"

/* ---- the world ------------------------------------------------------------------------------- */

#define WORKERS 2
#define OWNER	WORKERS /* its thread */
#define MTU	256u
#define PKTS	2u /* a message; both are one chunk */
#define USES	2u /* of the one slot */
#define FRAMES	3u /* a worker gets at most */
#define QPN	(SDR_SOFT_QPN_FIRST)
#define RKEY	0x1234567u

/* What the owner does, one after the other. */
enum deed {
	END,
	BIND,	/* the next use of the slot: the word first, then the engine (sdr_msgtab.c) */
	UNBIND, /* the present one: after it the buffer is the owner's */
	POLL,	/* a round that finds nothing more to read */
	DESTROY,
};

struct frame {
	uint8_t use, pkt; /* of which message, which packet */
};

struct scenario {
	const char *name;
	enum deed deed[8];
	struct frame got[WORKERS][FRAMES];
	uint32_t n[WORKERS];
	/* of each use: packets that count at least, at the end, in every interleaving */
	uint32_t least[USES];
};

static const struct scenario scenarios[] = {
	{ "both halves, then the end",
	  { BIND, POLL, POLL, UNBIND },
	  { { { 0, 0 } }, { { 0, 1 } } },
	  { 1, 1 },
	  { 0, 0 } },
	{ "both halves and nobody ends it",
	  { BIND, POLL, POLL },
	  { { { 0, 0 } }, { { 0, 1 } } },
	  { 1, 1 },
	  { 2, 0 } },
	{ "the same packet at both",
	  { BIND, POLL, POLL, UNBIND },
	  { { { 0, 0 }, { 0, 1 } }, { { 0, 0 } } },
	  { 2, 1 },
	  { 0, 0 } },
	{ "bound anew while packets of both uses come",
	  { BIND, UNBIND, BIND, POLL, POLL },
	  { { { 0, 0 }, { 1, 0 } }, { { 0, 1 }, { 1, 1 } } },
	  { 2, 2 },
	  { 0, 2 } },
	{ "late ones between those of the next use",
	  { BIND, UNBIND, BIND, POLL, POLL, UNBIND },
	  { { { 1, 0 }, { 0, 0 } }, { { 0, 0 }, { 1, 1 } } },
	  { 2, 2 },
	  { 0, 0 } },
	{ "the queue pair goes",
	  { BIND, UNBIND, DESTROY },
	  { { { 0, 0 } }, { { 0, 0 }, { 0, 1 } } },
	  { 1, 2 },
	  { 0, 0 } },
};

static struct {
	struct sdr_soft s;
	struct sdr_soft_crew crew;
	struct sdr_soft_worker worker[WORKERS];
	struct sdr_soft_qp *qp;
	struct sdr_soft_slot page[SDR_SOFT_SLOT_PAGE];
	struct sdr_soft_slot *pages[1];
	struct sdr_soft_qp *qpn[SDR_SOFT_QPN_FIRST + 4];
	struct sdr_rxk rxk;
	uint32_t words[64];
	void *slabs[1];
	struct sdr_rxk_msg msg[USES];
	uint64_t bits[USES][2]; /* packets, chunks */
	uint8_t buf[USES][PKTS * MTU];
	/* beside the code */
	bool owned[USES]; /* the buffer is the owner's */
	bool ended[USES]; /* it was bound, and is not any more */
	bool destroyed;
	uint32_t next;	      /* use that is bound next */
	uint32_t fresh[USES]; /* packets that counted */
	uint32_t chunks[USES];
} world;

static uint8_t frames[USES][PKTS][SDR_DATA_OVERHEAD + MTU];

/* ---- threads --------------------------------------------------------------------------------- */

static const struct scenario *sc;

static uint64_t state_hash(void)
{
	uint64_t h = 1;
	uint32_t i;

	for (i = 0; i < WORKERS; i++)
		h = turns_mix(turns_mix(h, world.worker[i].hold.slot != NULL),
			      world.worker[i].work);
	h = turns_mix(h, world.crew.drained);
	h = turns_mix(h, world.crew.news | world.crew.bell.asleep << 1);
	h = turns_mix(turns_mix(h, world.page[0].bound), world.page[0].use);
	h = turns_mix(turns_mix(h, world.words[0]), world.destroyed);
	h = turns_mix(turns_mix(h, world.qpn[QPN] != NULL), world.qpn[QPN + 1] != NULL);
	h = turns_mix_bytes(h, world.bits, sizeof(world.bits));
	h = turns_mix_bytes(h, world.owned, sizeof(world.owned));
	h = turns_mix_bytes(h, world.ended, sizeof(world.ended));
	h = turns_mix_bytes(h, world.fresh, sizeof(world.fresh));
	h = turns_mix_bytes(h, world.chunks, sizeof(world.chunks));
	for (i = 0; i < USES; i++)
		h = turns_mix(turns_mix(h, world.buf[i][0]), world.buf[i][MTU]);
	return h;
}

static uint64_t read_it(const volatile void *p, uint64_t v)
{
	return turns_read((uint64_t)((const char *)p - (const char *)&world), v);
}

static int spin(void)
{
	if (turns_running() != OWNER)
		turns_stir(OWNER); /* which polls for those who wait, at its end */
	turns_spin(0);
	return 0;
}

/* Of what is shared only this changes in these worlds; accesses to the rest need no point. */
static bool shared(const volatile void *p)
{
	const uint8_t *b = (const uint8_t *)p;
	uint32_t i;

#define IN(x) (b >= (const uint8_t *)&(x) && b < (const uint8_t *)&(x) + sizeof(x))
	for (i = 0; i < WORKERS; i++)
		if (IN(world.worker[i].hold) || IN(world.worker[i].work))
			return true;
	return IN(world.page[0]) || IN(world.words[0]) || IN(world.bits) || IN(world.qpn) ||
	       IN(world.crew.drained);
#undef IN
}

/*
 * In memcpy's place: while the owner has the buffer nothing may be written, nor be in the middle of
 * it.  Under ThreadSanitizer copies are made word by word, and this has no caller.
 */
__attribute__((unused)) static void copy_checked(uint8_t *to, const uint8_t *from, size_t n,
						 uint32_t line)
{
	const size_t at = (size_t)(to - &world.buf[0][0]);
	const bool *owned = &world.owned[at / sizeof(world.buf[0])];

	if (at >= sizeof(world.buf))
		turns_fail("a packet goes nowhere");
	if (*owned)
		turns_fail("a byte is written after the buffer was given back");
	to[0] = from[0];
	turns_wrote();
	turns_point(line);
	if (*owned)
		turns_fail("a buffer was given back in the middle of a packet");
	while (n--)
		*to++ = *from++;
}

static void stored(const volatile void *p)
{
	int i;

	for (i = 0; i < WORKERS; i++)
		if (p == (const void *)&world.worker[i].hold.slot && world.worker[i].hold.slot &&
		    world.destroyed)
			turns_fail("a queue pair that is gone is looked at");
	turns_wrote();
}

#define __atomic_load_n(p, o)                                \
	({                                                   \
		if (shared(p))                               \
			turns_point(__LINE__);               \
		__typeof__(*(p)) v_ = __atomic_load_n(p, o); \
		if (shared(p))                               \
			read_it(p, (uint64_t)(uintptr_t)v_); \
		v_;                                          \
	})
#define __atomic_store_n(p, x, o)              \
	do {                                   \
		if (shared(p))                 \
			turns_point(__LINE__); \
		__atomic_store_n(p, x, o);     \
		if (shared(p))                 \
			stored(p);             \
	} while (0)
#define __atomic_fetch_or(p, x, o)                                \
	({                                                        \
		turns_point(__LINE__);                            \
		__typeof__(*(p)) v_ = __atomic_fetch_or(p, x, o); \
		turns_wrote();                                    \
		read_it(p, (uint64_t)v_);                         \
		v_;                                               \
	})
#define __builtin_ia32_pause() ((void)spin())
#define sched_yield()	       spin()
#define sdr_uc_offer(o)	       ((void)(o), spin(), true)
#define ppoll(p, n, t, m)      ((void)(p), (void)(t), spin())
#define SDR_SOFT_EARLY_NAPS    1u
#define memcpy(to, from, n)    copy_checked(to, from, n, __LINE__)

#include "sdk/sdr_rxk.c"
#undef memcpy
#include "uc/soft/sdr_soft_crew.c"
#include "uc/soft/sdr_soft_qp.c"
#include "uc/soft/sdr_soft_worker.c"
#define memcpy(to, from, n) copy_checked(to, from, n, __LINE__)
#include "uc/soft/sdr_soft_place.c"
#undef memcpy

/* ---- what the threads do --------------------------------------------------------------------- */

static bool crew_room(void *user, uint32_t worker)
{
	const struct sdr_soft_worker *me = &world.worker[worker];

	(void)user;
	/* all that the next turn of its loop depends on */
	turns_forget(turns_mix(turns_mix(turns_mix(me->rx.cur, me->rx.off), me->hold.waited),
			       turns_mix(me->hold.lost[0].qp != NULL, me->hold.lost[0].use)));
	return true;
}

/* As sdr_crew_placed, but for the notes. */
static void crew_placed(void *user, uint32_t worker, const struct sdr_uc_ev *ev, int n)
{
	struct sdr_rxk_run run;
	uint32_t imm, use;
	int i;

	(void)user;
	(void)worker;
	if (world.destroyed)
		turns_fail("a packet is reported of a queue pair that is gone");
	for (i = 0; i < n; i++) {
		imm = ev[i].p.imm;
		if (!sdr_rxk_run(&world.rxk, ev[i].gen, &imm, 1, ev[i].len, &run))
			turns_fail("a packet of a wrong length was placed");
		if (!run.msg)
			continue;
		use = (uint32_t)(run.msg - world.msg);
		if (world.ended[use])
			turns_fail("a bit was set after the message's end");
		world.fresh[use] += run.fresh;
		world.chunks[use] += run.chunks;
	}
}

static void owner_end(uint32_t use)
{
	world.owned[use] = true;
	world.ended[use] = true;
	if (world.fresh[use] != (uint32_t)__builtin_popcountll(world.bits[use][0]))
		turns_fail("packets counted and bits differ");
}

static void owner_thread(void)
{
	uint32_t i;

	for (i = 0; sc->deed[i]; i++) {
		turns_forget(i);
		switch (sc->deed[i]) {
		case BIND:
			sdr_rxk_open(&world.rxk, 0, (uint8_t)(world.next % 2), world.next);
			if (sdr_soft_slot_bind(&world.qp->qp, 0, world.next, world.buf[world.next],
					       sizeof(world.buf[0]), NULL))
				turns_fail("bind");
			world.next++;
			break;
		case UNBIND:
			sdr_rxk_close(&world.rxk, 0);
			sdr_soft_slot_unbind(&world.qp->qp, 0);
			owner_end(world.next - 1);
			break;
		case POLL:
			sdr_soft_crew_poll(&world.s, true);
			break;
		case DESTROY:
			for (uint32_t k = 0; k < world.qp->ntp; k++)
				__atomic_store_n(&world.s.qpn[QPN + k], NULL, __ATOMIC_SEQ_CST);
			sdr_soft_crew_quiet(&world.s);
			world.destroyed = true;
			break;
		case END:
			break;
		}
	}
	/* Workers that wait for the owner see it poll, as long as there are any. */
	while (!turns_done(0) || !turns_done(1)) {
		turns_forget(i);
		if (turns_spins(0) || turns_spins(1))
			sdr_soft_crew_poll(&world.s, true);
		else
			(void)spin();
	}
}

static void thread_main(int me)
{
	if (me == OWNER)
		owner_thread();
	else
		sdr_soft_worker_take(&world.worker[me]);
}

/* ---- worlds ---------------------------------------------------------------------------------- */

static void frames_make(void)
{
	struct sdr_imm_split split = { 6, 22, 4 };
	uint32_t use, p, crc;

	for (use = 0; use < USES; use++) {
		for (p = 0; p < PKTS; p++) {
			uint8_t *f = frames[use][p];
			struct sdr_wire_data d = {
				.qpn = QPN + use % 2,
				.va = (uint64_t)p * MTU,
				.rkey = sdr_rkey_of_epoch(RKEY, use / 2),
				.len = MTU,
				.imm = sdr_imm_pack(&split, 0, p, 0),
			};

			sdr_wire_data_encode(f, &d);
			memset(f + SDR_DATA_HDR, (int)(0x10 + use * PKTS + p), MTU);
			crc = sdr_icrc_final(
				sdr_soft_icrc(world.s.icrc_seed, f, SDR_DATA_HDR + MTU));
			sdr_put_le32(f + SDR_DATA_HDR + MTU, crc);
		}
	}
}

static void world_reset(void)
{
	uint32_t i, k;

	memset(world.page, 0, sizeof(world.page));
	memset(world.words, 0, sizeof(world.words));
	memset(world.bits, 0, sizeof(world.bits));
	memset(world.buf, 0, sizeof(world.buf));
	memset(world.owned, 0, sizeof(world.owned));
	memset(world.ended, 0, sizeof(world.ended));
	memset(world.fresh, 0, sizeof(world.fresh));
	memset(world.chunks, 0, sizeof(world.chunks));
	memset(&world.crew, 0, sizeof(world.crew));
	memset(world.worker, 0, sizeof(world.worker));
	world.next = 0;
	world.destroyed = false;
	world.s.crew = &world.crew;
	world.crew.to = (struct sdr_uc_crew){ .room = crew_room, .placed = crew_placed };
	world.crew.n = world.crew.on = WORKERS;
	world.crew.pid = getpid();
	world.crew.bell.fd = -1;
	world.qpn[QPN] = world.qpn[QPN + 1] = world.qp;
	for (i = 0; i < USES; i++) {
		world.msg[i] = (struct sdr_rxk_msg){ .pkt_bits = &world.bits[i][0],
						     .chunk_bits = &world.bits[i][1],
						     .npkts = PKTS,
						     .tail = MTU };
	}
	for (i = 0; i < WORKERS; i++) {
		struct sdr_soft_worker *me = &world.worker[i];

		world.crew.worker[i] = me;
		me->s = &world.s;
		me->index = i;
		me->fd = me->bell.fd = -1;
		me->rx.st = &me->own.st;
		me->rx.xst = &me->own.xst;
		me->rx.worker = true;
		me->rx.nmsg = sc->n[i];
		for (k = 0; k < sc->n[i]; k++) {
			const struct frame *f = &sc->got[i][k];

			me->rx.iov[k].iov_base = frames[f->use][f->pkt];
			me->rx.hdr[k].msg_hdr.msg_iov = &me->rx.iov[k];
			me->rx.hdr[k].msg_len = sizeof(frames[0][0]);
			me->rx.inlet[k] = &me->inlet;
		}
	}
}

static void world_judge(void)
{
	uint32_t use, p;

	for (use = 0; use < USES; use++) {
		if (!world.ended[use] &&
		    world.fresh[use] != (uint32_t)__builtin_popcountll(world.bits[use][0]))
			turns_fail("packets counted and bits differ");
		if (world.fresh[use] < sc->least[use])
			turns_fail("a packet that came in time was not counted");
		if (world.chunks[use] != (world.bits[use][0] == 3) ||
		    (world.bits[use][1] & 1) != world.chunks[use])
			turns_fail("a chunk is not complete exactly once");
		for (p = 0; p < PKTS; p++)
			if (world.bits[use][0] >> p & 1 &&
			    memcmp(&world.buf[use][p * MTU], frames[use][p] + SDR_DATA_HDR, MTU) !=
				    0)
				turns_fail("the bytes of a packet that counted are not there");
	}
}

static const struct turns_world turns = {
	.program = "sdr_explore_crew",
	.threads = WORKERS + 1,
	.first = OWNER,
	.reset = world_reset,
	.hash = state_hash,
	.thread = thread_main,
	.judge = world_judge,
};

static void explore(const struct scenario *s, bool verbose)
{
	uint64_t states, runs;

	sc = s;
	states = turns_explore(&turns, s->name, &runs, NULL);
	if (verbose)
		printf("%-50s %8llu states %8llu runs\n", s->name, (unsigned long long)states,
		       (unsigned long long)runs);
}

int main(int argc, char **argv)
{
	bool verbose;
	uint32_t i;

	verbose = argc == 2 && !strcmp(argv[1], "-v");
	if (argc > 1 && !verbose) {
		fprintf(stderr, "usage: sdr_explore_crew [-v]\n");
		return 2;
	}
	world.qp = calloc(1, sizeof(*world.qp) + 2 * sizeof(world.qp->psn[0]));
	if (!world.qp || !turns_open())
		return 2;
	world.s.icrc_seed = sdr_icrc_seed_masked();
	world.s.qpn = world.qpn;
	world.s.qpn_cap = sizeof(world.qpn) / sizeof(world.qpn[0]);
	world.pages[0] = world.page;
	*world.qp = (struct sdr_soft_qp){ .s = &world.s,
					  .qpn = QPN,
					  .rkey = RKEY,
					  .ntp = 2,
					  .channels = 1,
					  .generations = 2,
					  .split = { 6, 22, 4 },
					  .mtu = MTU,
					  .max_msg = PKTS * MTU,
					  .pages = world.pages,
					  .nslots = 64 };
	world.slabs[0] = world.msg;
	world.rxk = (struct sdr_rxk){ .slots = world.words,
				      .slabs = world.slabs,
				      .stride = sizeof(world.msg[0]),
				      .mtu = MTU,
				      .split = { 6, 22, 4 } };
	sdr_rxk_chunk_set(&world.rxk, PKTS);
	frames_make();
	for (i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
		explore(&scenarios[i], verbose);
	turns_close();
	free(world.qp);
	return 0;
}
