/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Send workers: what a post has of a large message is sent by several threads.
 *
 * The owner cuts the runs of a large message (SDR_UC_F_SPREAD) into shares, each a train, and lays
 * them out; workers that have nothing to receive take one after the other, frame it, make its check
 * sums and send it from their own sockets, and so does the owner, until none is left.  It waits for
 * those that others are at, and only then post returns.  From that follows:
 *
 *   pacing    nothing is handed out that was not paced: the layer above has given it to post, which
 *             no share survives, so the one budget of the connection is that of all threads;
 *   memory    nobody reads a message's buffer after post, as without workers; completion, cancel,
 *             deregistration and the end of a QP have nobody to wait for;
 *   order     what came before in the post (the control datagram that binds the slot) has been sent
 *             before a share is laid out, and what comes behind it is sent when all have left.  Two
 *             posts do not overlap, so a train a thread is overtaken at a time, at most, and within
 *             one post, whose packets have one time of sending: once RACK has a window
 *             for what overtakes (rel/path/sdr_rack.h) it concludes no loss from that;
 *   progress  a worker that has no processor, or is busy receiving, takes no share, and the owner
 *             sends them all.
 *
 * What the kernel refuses a worker (full, too long, denied) is not counted by it: the train is the
 * owner's again, and so are all that nobody has begun.  It sends them the ordinary way, which knows
 * each cause (sdr_soft_flush.c).  If even then something stays behind, post hands it back with all
 * that is behind it.  What of that had left comes twice: a train or two a worker as a rule, all of
 * it where the worker that is refused stood meanwhile.
 *
 * Which workers.  A port of ours may be as unknown to what lies between the hosts as a port of the
 * peer's: a worker sends to a peer when all of its ports that answer the owner have answered a
 * knock from the worker's socket, too (sdr_soft_knock.c).  A peer without workers of its own takes
 * everything from the owner: it does not wait for what binds a slot, should packets from another
 * port overtake that.  And no more workers send than there are processors to spare (struct
 * sdr_soft_net, spare).
 *
 * Threads.  `word` is all the state there is of who may take what: a share is taken by one exchange
 * of it, and the value says everything, so it does not matter when it was read.  A share's fields
 * are written before the word and read after it, its `err` before `done` is counted.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/sdr_assert.h"
#include "uc/sdr_uc_pause.h"
#include "sdr_soft_frame.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_near.h"
#include "sdr_soft_share.h"
#include "sdr_soft_spread.h"

#define SDR_SOFT_SHARE_OWNER 0xffffu /* the owner takes whatever there is */
#define SDR_SOFT_SHARE_WAKES 2u	     /* shares for each worker that is woken, at least */

static inline uint64_t sdr_soft_word(uint32_t may, uint32_t n, uint32_t next)
{
	return (uint64_t)may << 32 | n << 16 | next;
}

static inline uint32_t sdr_soft_word_n(uint64_t w)
{
	return w >> 16 & 0xffff;
}

static inline uint32_t sdr_soft_word_next(uint64_t w)
{
	return w & 0xffff;
}

static inline bool sdr_soft_word_has(uint64_t w, uint32_t who)
{
	return w >> 32 & who && sdr_soft_word_next(w) < sdr_soft_word_n(w);
}

/* who: a bit of the word's, or all.  NULL: there is nothing to take. */
static struct sdr_soft_share *sdr_soft_share_take(struct sdr_soft_job *j, uint32_t who)
{
	uint64_t w = __atomic_load_n(&j->word, __ATOMIC_ACQUIRE);

	while (sdr_soft_word_has(w, who))
		if (__atomic_compare_exchange_n(&j->word, &w, w + 1, false, __ATOMIC_ACQ_REL,
						__ATOMIC_ACQUIRE))
			return &j->share[sdr_soft_word_next(w)];
	return NULL;
}

/* The kernel has refused one: nobody takes another. */
static void sdr_soft_share_stop(struct sdr_soft_job *j, int err)
{
	uint64_t w = __atomic_load_n(&j->word, __ATOMIC_ACQUIRE);
	uint32_t i, n;

	do {
		i = sdr_soft_word_next(w);
		n = sdr_soft_word_n(w);
	} while (i < n && !__atomic_compare_exchange_n(&j->word, &w, w + (n - i), false,
						       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
	if (i == n)
		return;
	for (w = i; w < n; w++)
		j->share[w].err = err;
	__atomic_fetch_add(&j->done, n - i, __ATOMIC_RELEASE);
}

/* ---- a share, by whoever took it ------------------------------------------------------------- */

static void sdr_soft_share_build(const struct sdr_soft *s, struct sdr_soft_tx *tx,
				 const struct sdr_soft_share *h)
{
	const struct sdr_uc_tx *t = h->t;
	const struct sdr_soft_qp *q = sdr_soft_tx_qp(t);
	struct msghdr *mh = &tx->hdr[0].msg_hdr;
	struct sdr_soft_msg *m = &tx->msg[0];
	struct sdr_soft_head head;
	uint32_t k;

	SDR_ASSERT(sdr_soft_batch_is_empty(tx));
	memset(m, 0, sizeof(*m));
	m->ect = sdr_soft_tx_ect(s, t);
	mh->msg_name = &h->to->sa;
	mh->msg_namelen = h->to->len;
	mh->msg_iov = tx->iov;
	sdr_soft_head_set(&head, q, t);
	for (k = h->pkt; k < h->pkt + h->npkts; k++) {
		uint64_t at = (uint64_t)k * q->mtu;
		uint32_t len = t->len - at < q->mtu ? (uint32_t)(t->len - at) : q->mtu;
		uint32_t wire = SDR_DATA_OVERHEAD + len + sdr_wire_pad(len);
		struct sdr_wire_data d;

		if (!m->seg)
			m->seg = wire;
		sdr_soft_data_set(&d, &head, q, t, k, len, (h->psn + (k - h->pkt)) & SDR_PSN_MASK);
		sdr_wire_data_encode(sdr_soft_arena(tx), &d);
		/* what is behind the last one is somebody else's */
		if (!q->bare && len > SDR_SOFT_PACK_MAX && k + 1 < h->pkt + h->npkts)
			sdr_soft_fetch_next(t, at, len);
		sdr_soft_frame(tx, m, s->icrc_seed, SDR_DATA_HDR, t->buf + at, len, false, q->bare);
		sdr_soft_msg_add(m, wire);
		m->payload += len;
	}
	sdr_soft_train_end(tx, 0);
}

/* 0, or what the kernel said.  tx is empty before and after: the owner's is that of its posts. */
static int sdr_soft_share_send(const struct sdr_soft *s, struct sdr_soft_tx *tx, int fd,
			       const struct sdr_soft_share *h, struct sdr_uc_stats *st)
{
	int err;

	sdr_soft_share_build(s, tx, h);
	do
		err = s->net->send(fd, &tx->hdr[0], 1) < 0 ? errno : 0;
	while (err == EINTR);
	if (!err) {
		st->sys_tx++;
		st->pkts_tx += h->npkts;
		st->bytes_tx += tx->msg[0].payload;
	}
	sdr_soft_batch_reset(tx);
	return err;
}

bool sdr_soft_share_waits(const struct sdr_soft_worker *w)
{
	return sdr_soft_word_has(__atomic_load_n(&w->s->crew->job.word, __ATOMIC_SEQ_CST),
				 1u << w->index);
}

bool sdr_soft_share_help(struct sdr_soft_worker *w)
{
	struct sdr_soft_job *j = &w->s->crew->job;
	struct sdr_soft_share *h;
	bool any = false;

	while ((h = sdr_soft_share_take(j, 1u << w->index))) {
		any = true;
		h->err = sdr_soft_share_send(w->s, w->tx, w->fd, h, &w->own.st);
		if (h->err) {
			w->own.xst.tx_back++;
			sdr_soft_share_stop(j, ECANCELED);
		} else {
			w->own.xst.tx_shared++;
		}
		sdr_soft_worker_tell(w);
		__atomic_fetch_add(&j->done, 1, __ATOMIC_RELEASE);
	}
	return any;
}

/* ---- the owner ------------------------------------------------------------------------------- */

uint32_t sdr_soft_share_helpers(const struct sdr_soft *s, uint32_t n)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), left;
	cpu_set_t set;

	if (!sched_getaffinity(0, sizeof(set), &set))
		cpus = CPU_COUNT(&set);
	left = cpus - (s->off & SDR_SOFT_NO_SPARE ? 0 : s->net->spare);
	if (s->off & SDR_SOFT_NO_SPARE || left > (long)n)
		return n;
	return left > 0 ? (uint32_t)left : 0;
}

/* Workers that may send packets of this descriptor; 0: it goes the ordinary way. */
static uint32_t sdr_soft_share_may(const struct sdr_uc_tx *t)
{
	struct sdr_soft_qp *q;

	if (t->kind != SDR_UC_TX_WRITE ||
	    (t->flags & (SDR_UC_F_SPREAD | SDR_UC_F_CORRUPT)) != SDR_UC_F_SPREAD || t->via ||
	    !t->len || !sdr_soft_tx_valid(t))
		return 0;
	q = sdr_soft_tx_qp(t);
	if (!q->spread || q->nic || q->cut.whole != UINT32_MAX ||
	    sdr_soft_near_find(q->s, &q->dest.sa, q->dest.len))
		return 0;
	return sdr_soft_spread_may(q);
}

static uint32_t sdr_soft_share_train(const struct sdr_soft_qp *q)
{
	uint32_t n = SDR_SOFT_GSO_BYTES / (SDR_DATA_OVERHEAD + q->mtu);

	return n < SDR_SOFT_GSO_SEGS ? n : SDR_SOFT_GSO_SEGS;
}

/*
 * How many descriptors from the first on can be shared out, as far as a job has room for them;
 * *may: by whom.  0: none, or too few.
 */
static int sdr_soft_share_run(const struct sdr_uc_tx *v, int n, uint32_t *may)
{
	uint32_t shares = 0, who, train;
	int i;

	*may = UINT32_MAX;
	for (i = 0; i < n; i++) {
		who = sdr_soft_share_may(&v[i]) & *may;
		if (!who)
			break;
		train = sdr_soft_share_train(sdr_soft_tx_qp(&v[i]));
		train = (sdr_soft_tx_pkts(&v[i]) + train - 1) / train;
		if (shares + train > SDR_SOFT_SHARES)
			break;
		shares += train;
		*may = who;
	}
	return shares < SDR_SOFT_SHARE_MIN ? 0 : i;
}

static uint32_t sdr_soft_share_cut(struct sdr_soft_job *j, const struct sdr_uc_tx *v, int n)
{
	uint32_t k = 0, pkts, train, at;
	struct sdr_soft_dest *to;
	struct sdr_soft_qp *q;
	uint32_t *psn;
	int i;

	for (i = 0; i < n; i++) {
		q = sdr_soft_tx_qp(&v[i]);
		to = sdr_soft_spread_dest(q, &v[i]);
		psn = &q->psn[(uint32_t)v[i].gen * q->channels + v[i].channel];
		pkts = sdr_soft_tx_pkts(&v[i]);
		train = sdr_soft_share_train(q);
		for (at = 0; at < pkts; at += train) {
			struct sdr_soft_share *h = &j->share[k++];

			to = sdr_soft_spread_next(q, to);
			h->t = &v[i];
			h->to = to;
			h->pkt = at;
			h->npkts = pkts - at < train ? pkts - at : train;
			h->psn = *psn;
			h->err = 0;
			*psn = (*psn + h->npkts) & SDR_PSN_MASK;
		}
	}
	SDR_ASSERT(k <= SDR_SOFT_SHARES);
	return k;
}

/* The shares are laid out: sends them, with whoever comes; returns when all are over. */
static void sdr_soft_share_send_all(struct sdr_soft *s, uint32_t n, uint32_t may)
{
	struct sdr_soft_crew *c = s->crew;
	struct sdr_soft_job *j = &c->job;
	struct sdr_soft_share *h;
	uint32_t i, wake = n / SDR_SOFT_SHARE_WAKES, k;

	j->done = 0;
	__atomic_store_n(&j->word, sdr_soft_word(may, n, 0), __ATOMIC_SEQ_CST);
	for (i = 0; i < c->on && wake; i++)
		if (may >> i & 1) {
			sdr_uc_bell_ring(&c->worker[i]->bell);
			wake--;
		}
	while ((h = sdr_soft_share_take(j, SDR_SOFT_SHARE_OWNER))) {
		k = h->t->channel % s->channels;
		h->err = sdr_soft_share_send(s, &s->tx, s->fd[k], h, &s->st);
		if (h->err)
			sdr_soft_share_stop(j, ECANCELED);
		__atomic_fetch_add(&j->done, 1, __ATOMIC_RELEASE);
	}
	for (i = 0; __atomic_load_n(&j->done, __ATOMIC_ACQUIRE) < n && sdr_uc_pause(c->pid, i); i++)
		;
}

/*
 * What did not leave goes the ordinary way, in order.  How many descriptors are over; the next was
 * advanced to what is left of it.
 */
static int sdr_soft_share_rest(struct sdr_soft *s, struct sdr_uc_tx *v, int n, uint32_t shares)
{
	struct sdr_soft_job *j = &s->crew->job;
	uint32_t i, mtu, done;
	struct sdr_uc_tx t;
	int d;

	for (i = 0; i < shares; i++) {
		const struct sdr_soft_share *h = &j->share[i];

		if (!h->err)
			continue;
		d = (int)(h->t - v);
		mtu = sdr_soft_tx_qp(h->t)->mtu;
		t = *h->t;
		t.buf += (uint64_t)h->pkt * mtu;
		t.len -= h->pkt * mtu;
		if (t.len > h->npkts * mtu)
			t.len = h->npkts * mtu;
		t.w.first += h->pkt;
		if (sdr_soft_post_own(s, &t, 1))
			continue;
		done = t.w.first - v[d].w.first;
		v[d].buf += (uint64_t)done * mtu;
		v[d].len -= done * mtu;
		v[d].w.first += done;
		return d;
	}
	return n;
}

int sdr_soft_share_post(struct sdr_soft *s, struct sdr_uc_tx *v, int n)
{
	int from = 0, at = 0, run, done;
	uint32_t may, shares;

	sdr_soft_knock_collect(s);
	while (at < n) {
		run = s->gso ? sdr_soft_share_run(v + at, n - at, &may) : 0;
		if (!run || s->crew->pid != getpid()) {
			at++;
			continue;
		}
		done = at > from ? sdr_soft_post_own(s, v + from, at - from) : 0;
		if (done < at - from)
			return from + done;
		shares = sdr_soft_share_cut(&s->crew->job, v + at, run);
		sdr_soft_share_send_all(s, shares, may);
		done = sdr_soft_share_rest(s, v + at, run, shares);
		if (done < run)
			return at + done;
		from = at += run;
	}
	return from < n ? from + sdr_soft_post_own(s, v + from, n - from) : n;
}
