/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The code that sdr_explore_lanes explores, and what it stands on.
 *
 * Workers, lanes, slots and poll of the verbs engine are compiled here with a point
 * (explore_turns.h) before each access that another thread may notice: atomic ones, calls of the
 * device, reads and writes of descriptors.  Memory, descriptors, threads and the device are the
 * world's, and time stands still: nobody is woken by it.  What a lock protects is not watched;
 * instead a call of the device must be made by who has the lock of the queue's lane.
 *
 * A worker has nothing in hand when it asks for the time with its lock taken: what it has read
 * before that is forgotten, so that one that looks again and again is in the same state.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#include "base/sdr_assert.h"
#include "explore_turns.h"
#include "uc/sdr_uc_offer.h"
#include "uc/sdr_uc_thread.h"

/* ---- in place of what the code calls --------------------------------------------------------- */

static bool before(const volatile void *p, uint32_t line);
static int lock_of(const volatile void *p);
static void loaded(const volatile void *p, uint64_t v);
static void stored(const volatile void *p, bool changed);
/* A point follows. */
static inline int yield(void)
{
	return 0;
}

static int naps(struct pollfd *p, nfds_t n, uint32_t line);
ssize_t lanes_fd_read(int fd, uint64_t *n, uint32_t line);
ssize_t lanes_fd_write(int fd, uint32_t line);
int lanes_fd_new(void);
static void *mem_new(size_t n);
static int mem_new_at(void **p, size_t n);
static void mem_free(void *p);
static int thread_new(pthread_t *t, void *arg);
static int thread_join(pthread_t t, uint32_t line);

#define HERE (PART * 10000u + __LINE__) /* PART: a number of the file */
#define PART 1u

#define __atomic_load_n(p, o)                                   \
	({                                                      \
		bool seen_ = lock_of(p) < 0 && before(p, HERE); \
		__typeof__(*(p)) got_ = __atomic_load_n(p, o);  \
		if (seen_)                                      \
			loaded(p, (uint64_t)(uintptr_t)got_);   \
		got_;                                           \
	})
#define __atomic_store_n(p, x, o)             \
	do {                                  \
		if (lock_of(p) < 0)           \
			before(p, HERE);      \
		__typeof__(*(p)) was_ = *(p); \
		__atomic_store_n(p, x, o);    \
		stored(p, was_ != *(p));      \
	} while (0)
#define __atomic_exchange_n(p, x, o)                                  \
	({                                                            \
		bool seen_ = before(p, HERE);                         \
		__typeof__(*(p)) was_ = __atomic_exchange_n(p, x, o); \
		if (seen_) {                                          \
			loaded(p, (uint64_t)was_);                    \
			stored(p, was_ != *(p));                      \
		}                                                     \
		was_;                                                 \
	})
#undef atomic_load
#define atomic_load(p)                                                                     \
	({                                                                                 \
		bool seen_ = before(p, HERE);                                              \
		unsigned long long got_ =                                                  \
			(unsigned long long)atomic_load_explicit(p, memory_order_seq_cst); \
		if (seen_)                                                                 \
			loaded(p, got_);                                                   \
		got_;                                                                      \
	})
#define __builtin_ia32_pause()		  turns_spin(0)
#define sched_yield()			  yield()
#define sdr_uc_offer(o)			  ((void)(o), true)
#define ppoll(p, n, t, m)		  ((void)(t), naps(p, n, HERE))
#define read(fd, p, n)			  lanes_fd_read(fd, p, HERE)
#define write(fd, p, n)			  ((void)(p), lanes_fd_write(fd, HERE))
#define close(fd)			  ((void)(fd))
#define fcntl(...)			  0
#define eventfd(n, flags)		  lanes_fd_new()
#define calloc(n, len)			  mem_new((n) * (len))
#define posix_memalign(p, a, n)		  mem_new_at(p, n)
#define free(p)				  mem_free(p)
#define prctl(...)			  ((void)0)
#define pthread_join(t, p)		  thread_join(t, HERE)
#define sdr_uc_thread_create(t, run, arg) thread_new(t, arg)
#define sdr_verbs_now			  lanes_now
#define sdr_verbs_pd_events		  lanes_pd_events
#define SDR_VERBS_WAIT_SPINS		  no_spins
#define SDR_VERBS_WARM_LOOKS		  no_spins

static const uint32_t no_spins; /* whoever has nothing to do sleeps at once */

#include "lanes_world.h"

struct lanes_world lanes;

#undef PART
#define PART 2u
#include "uc/verbs/sdr_verbs_worker.c"
#undef PART
#define PART 3u
#include "uc/verbs/sdr_verbs_crew.c"
#undef PART
#define PART 4u
#include "uc/verbs/sdr_verbs_lane.c"
#undef PART
#define PART 5u
#include "uc/verbs/sdr_verbs_qp.c"
#undef PART
#define PART 6u
#define sdr_verbs_crew_leave(q, slot)                  \
	do {                                           \
		if (lanes.wrong != LANES_NO_LEAVE)     \
			sdr_verbs_crew_leave(q, slot); \
	} while (0)
#define sdr_verbs_lane_wake(l)                    \
	do {                                      \
		if (lanes.wrong != LANES_NO_WAKE) \
			sdr_verbs_lane_wake(l);   \
	} while (0)
#include "uc/verbs/sdr_verbs_slot.c"
#undef PART
#define PART 7u
#define sdr_verbs_crew_ask(c, look)                  \
	do {                                         \
		if (lanes.wrong != LANES_LATE_ASK)   \
			sdr_verbs_crew_ask(c, look); \
	} while (0)
#define sdr_verbs_crew_told(c, n, seen)                                               \
	do {                                                                          \
		if (lanes.wrong == LANES_LATE_ASK)                                    \
			(sdr_verbs_crew_ask)(c, v->looks.n);                          \
		sdr_verbs_crew_told(c, lanes.wrong == LANES_NO_PASS ? 0 : (n), seen); \
	} while (0)
#include "uc/verbs/sdr_verbs_rx.c"
#undef PART
#define PART 8u
#include "uc/verbs/sdr_verbs_ctl.c"
#undef PART
#define PART 9u

/* ---- points ---------------------------------------------------------------------------------- */

/* What a thread reads or writes here is one of its steps, in the worlds where it matters. */
static bool shared(const volatile void *p)
{
	const struct sdr_verbs_crew *c = lanes.v.crew;
	uint32_t i, k;

	for (i = 0; c && i < c->n; i++) {
		const struct sdr_verbs_worker *w = c->worker[i];

		if (p == &w->lock || p == &w->early || p == &w->bell.asleep)
			return true;
		/* A worker that holds nothing makes no use of it. */
		if (p == &c->asked && lanes.holder[i] == turns_running() &&
		    w->lane.pos == w->lane.n)
			return false;
	}
	if (c && p == &c->stop)
		return lanes.closes;
	if (c && (p == &c->asked || p == &c->handled || p == &c->news || p == &c->bell.asleep))
		return true;
	if (lanes.fails && (p == &lanes.v.broke || (lanes.q && p == &lanes.q->broke)))
		return true;
	for (k = 0; lanes.q && lanes.q->pages[0] && k < LANES_SLOTS; k++)
		if (p == &lanes.q->pages[0][k].bound)
			return true;
	return false;
}

static bool before(const volatile void *p, uint32_t line)
{
	if (turns_running() < 0 || !shared(p))
		return false;
	turns_point(line);
	return true;
}

static int lock_of(const volatile void *p)
{
	const struct sdr_verbs_crew *c = lanes.v.crew;
	uint32_t i;

	for (i = 0; c && i < c->n; i++)
		if (p == &c->worker[i]->lock)
			return (int)i;
	return -1;
}

/* What a lock protects. */
static uint64_t lane_hash(const struct sdr_verbs_worker *w)
{
	const struct sdr_verbs_lane *l = &w->lane;
	int32_t polls = (int32_t)(w->need - w->crew->handled);
	bool need = l->pos < l->n && polls > 0;
	uint64_t h = turns_mix(l->hot != NULL, need ? (uint64_t)polls : 0);
	uint32_t i;

	for (i = l->pos; i < l->n; i++)
		h = turns_mix(turns_mix(h, l->tp[i] ? l->wc[i].wr_id : 99), l->wc[i].imm_data);
	return h;
}

/*
 * Of what a thread reads this must be known later on; the rest decides at once where it goes on, or
 * lies in what is hashed.  Who has got a lock may read what it protects; of all that, how the look
 * ended is left when it gives it up (left).
 */
static void loaded(const volatile void *p, uint64_t v)
{
	const struct sdr_verbs_crew *c = lanes.v.crew;
	int lock = lock_of(p), me = turns_running();
	uint32_t i;

	if (lock >= 0) {
		if (v)
			return;
		lanes.holder[lock] = me;
		lanes.past[lock] = turns_past();
		lanes.had[lock] = c->worker[lock]->lane.pos < c->worker[lock]->lane.n;
		turns_read(1, lane_hash(c->worker[lock]));
		return;
	}
	for (i = 0; i < c->n; i++) {
		const struct sdr_verbs_worker *w = c->worker[i];

		if (p == &c->handled && lanes.holder[i] == me)
			turns_read(2, (int32_t)(v - w->need) >= 0);
		else if (p == &w->early)
			turns_read(3 + i, v);
	}
	if (p == &c->handled || p == &c->asked || p == &c->stop || p == &c->news ||
	    p == &c->bell.asleep)
		return;
	for (i = 0; i < c->n; i++)
		if (p == &c->worker[i]->early || p == &c->worker[i]->bell.asleep)
			return;
	turns_read((uintptr_t)p, v);
}

static void left(uint32_t lock)
{
	const struct sdr_verbs_lane *l = &lanes.worker[lock]->lane;
	uint64_t ended = (uint64_t)lanes.had[lock] | (uint64_t)(l->pos < l->n) << 1 |
			 (uint64_t)(l->hot != NULL) << 2;

	lanes.holder[lock] = -1;
	turns_forget(turns_mix(lanes.past[lock], ended << 2 | lock));
}

static void stored(const volatile void *p, bool changed)
{
	int lock = lock_of(p);

	if (turns_running() < 0)
		return;
	if (lock >= 0 && !lanes.v.crew->worker[lock]->lock)
		left((uint32_t)lock);
	if (changed)
		turns_wrote();
}

/* ---- memory, threads, descriptors ------------------------------------------------------------ */

static _Alignas(64) uint8_t mem[128u << 10];
static size_t mem_used;

void lanes_mem_reset(void)
{
	mem_used = 0;
}

static void *mem_new(size_t n)
{
	uint64_t *p = (void *)(mem + mem_used);
	size_t len = 64 + ((n + 63) & ~(size_t)63);

	if (len > sizeof(mem) - mem_used)
		turns_fail("no memory");
	mem_used += len;
	memset(p, 0, len);
	p[0] = len - 64;
	return p + 8;
}

static int mem_new_at(void **p, size_t n)
{
	*p = mem_new(n);
	return 0;
}

/* Who looks at it afterwards finds no pointer there. */
static void mem_free(void *p)
{
	if (p)
		memset(p, 0xdd, ((uint64_t *)p)[-8]);
}

static int thread_new(pthread_t *t, void *arg)
{
	struct sdr_verbs_worker *w = arg;

	*t = w->index;
	lanes.worker[w->index] = w;
	return 0;
}

static int thread_join(pthread_t t, uint32_t line)
{
	while (!turns_done((int)t))
		turns_spin(line);
	return 0;
}

void lanes_work(uint32_t worker)
{
	if (lanes.worker[worker])
		sdr_verbs_worker_main(lanes.worker[worker]);
}

int lanes_fd_new(void)
{
	return (int)lanes.fds++;
}

/* The owner's bell is first, then those of each worker: bell and completion channel. */
static int sleeper_of(int fd)
{
	return fd ? (fd - 1) / 2 : LANES_OWNER;
}

ssize_t lanes_fd_write(int fd, uint32_t line)
{
	turns_point(line);
	lanes.count[fd]++;
	turns_wake(sleeper_of(fd));
	turns_wrote();
	return 8;
}

ssize_t lanes_fd_read(int fd, uint64_t *n, uint32_t line)
{
	turns_point(line);
	*n = lanes.count[fd];
	lanes.count[fd] = 0;
	return *n ? 8 : -1;
}

/* On its bell alone it naps, and is back when something has changed. */
static int naps(struct pollfd *p, nfds_t n, uint32_t line)
{
	int me = turns_running();

	if (lanes.pending[me]) {
		turns_point(line + 1000);
		lanes.queue[me].armed = true;
	}
	lanes.pending[me] = false;
	turns_forget(line);
	turns_point(line);
	if (n == 1) {
		if (!lanes.count[p[0].fd])
			turns_rest(line);
		return 0;
	}
	while (!lanes.count[p[0].fd] && !lanes.count[p[1].fd])
		turns_sleep(line);
	return 1;
}

void lanes_owner_sleep(void)
{
	turns_point(HERE);
	while (!lanes.count[lanes.v.crew->bell.fd] && !lanes_ctl_there() && !lanes.called)
		turns_sleep(HERE);
	lanes.called = false;
}

uint64_t lanes_now(struct sdr_uc *uc)
{
	int me = turns_running();

	(void)uc;
	if (me >= 0 && me < LANES_OWNER && lanes.holder[me] == me) {
		lanes.past[me] = 0;
		turns_look();
		turns_forget(lane_hash(lanes.worker[me]));
	}
	return 1000000000ull;
}

/*
 * Looks are counted for ever; what matters is how long ago.  That grows as well, if the socket is
 * not read, and the oldest are alike.
 */
static uint64_t look_hash(uint32_t look)
{
	uint32_t ago = lanes.v.looks.n - look;

	return ago < 4 ? ago : 4;
}

uint64_t lanes_hash(void)
{
	const struct sdr_verbs_crew *c = lanes.v.crew;
	uint64_t h = 1;
	uint32_t i;

	for (i = 0; i < LANES_WORKERS && lanes.worker[i] && c; i++) {
		const struct sdr_verbs_worker *w = c->worker[i];
		const struct lanes_queue *q = &lanes.queue[i];

		h = turns_mix(h, (uint64_t)w->lock | (uint64_t)w->wanted << 1 |
					 (uint64_t)w->early << 2 | (uint64_t)w->bell.asleep << 3 |
					 (uint64_t)w->bell.armed << 4 | (uint64_t)q->armed << 6 |
					 (uint64_t)q->gone << 7 | (uint64_t)lanes.pending[i] << 9);
		h = turns_mix(turns_mix(h, w->hot), w->bell.owed);
		h = turns_mix(turns_mix(h, (uint64_t)(lanes.holder[i] + 1)), lanes.had[i]);
		h = turns_mix(turns_mix(h, lane_hash(w)), lanes.notes[i]);
		h = turns_mix(turns_mix(h, w->lane.st.pkts_rx), w->lane.st.pkts_late);
		h = turns_mix_bytes(h, q->wc + q->head, (q->tail - q->head) * sizeof(q->wc[0]));
	}
	if (c) {
		h = turns_mix(h, look_hash(c->asked) | look_hash(c->handled) << 16 |
					 look_hash(c->read) << 32);
		h = turns_mix(h, c->bell.owed);
		h = turns_mix(h, (uint64_t)c->news | (uint64_t)c->stop << 1 |
					 (uint64_t)c->bell.asleep << 2 |
					 (uint64_t)c->bell.armed << 3);
	}
	if (lanes.q) {
		h = turns_mix(turns_mix(h, lanes.q->expected), (uint64_t)(lanes.q->broke + 1));
		for (i = 0; i < lanes.q->ntp; i++)
			h = turns_mix(h, lanes.q->tp[i].rx_on);
		for (i = 0; lanes.q->pages[0] && i < LANES_SLOTS; i++)
			h = turns_mix(h, (uint64_t)lanes.q->pages[0][i].bound |
						 (uint64_t)lanes.q->pages[0][i].gen << 1);
	}
	h = turns_mix(h, (uint64_t) !!lanes.v.looked | (uint64_t)lanes.v.broke << 1 |
				 (uint64_t) !!lanes.v.bad << 2);
	h = turns_mix(h, lanes.called);
	h = turns_mix_bytes(h, lanes.ctl, sizeof(lanes.ctl));
	h = turns_mix_bytes(h, lanes.ctl_read, sizeof(lanes.ctl_read));
	h = turns_mix(turns_mix(h, lanes.v.ud.nwc), lanes.v.ud.pos);
	h = turns_mix(h, look_hash(lanes.v.looks.ud) | look_hash(lanes.v.looks.sock) << 16 |
				 (uint64_t)lanes.v.looks.sock_next << 32);
	h = turns_mix_bytes(h, lanes.count, sizeof(lanes.count));
	h = turns_mix_bytes(h, lanes.bound, sizeof(lanes.bound));
	return turns_mix_bytes(h, lanes.seen, sizeof(lanes.seen));
}
