/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The sender and the receiver of a rival: see rival.h.
 *
 * The receiver notes what arrives in a log, and an acknowledgement says how much of the log there
 * was when it left: it acknowledges all of that, so that a lost one is made up for by the next and
 * one that was overtaken says nothing.  The log is memory that both sides share; the sender reads
 * no further than an acknowledgement that has arrived allows.
 *
 * Of a side's events in the world only the earliest counts; one that comes too early looks again,
 * and those that were overtaken do nothing.  Nothing here draws a random number.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sdr_assert.h"
#include "rival.h"

#define RIVAL_RING	  65536u /* packets whose fate is open, at most; power of two */
#define RIVAL_WINDOW	  (RIVAL_RING / 2)
#define RIVAL_DUPS	  3u
#define RIVAL_ACK_EVERY	  2u
#define RIVAL_ACK_WIRE	  66u
#define RIVAL_QUICK	  16u /* packets acknowledged one by one, at the start and after a gap */
#define RIVAL_DELACK_NS	  40000000ull
#define RIVAL_RTO_MIN_NS  200000000ull
#define RIVAL_RTO_INIT_NS 1000000000ull
#define RIVAL_RTO_MAX_NS  120000000000ull
#define RIVAL_BURST_BYTES 65536u
#define RIVAL_BURST_NS	  1000000ull
#define RIVAL_BURST_MIN	  2u
#define RIVAL_DEFER	  3u /* a burst is waited for up to that part of the window */
#define RIVAL_RX_WINDOW	  (1ull << 40)
#define RIVAL_CE	  0x80000000u

enum rival_fate { RIVAL_FREE, RIVAL_OUT, RIVAL_ACKED, RIVAL_LOST };

struct rival_pkt {
	uint64_t tx_ns;
	struct sdr_cc_snap snap;
	uint8_t fate;
};

struct rival {
	struct rival_attr a;
	struct sdr_cc cc;
	uint32_t mss;
	bool started;
	/* sender */
	struct rival_pkt *pkt; /* by number */
	uint64_t next;	       /* number of the next packet */
	uint64_t low;	       /* all below are acknowledged or lost */
	uint64_t high;	       /* number behind the largest acknowledged */
	uint64_t inflight;     /* bytes */
	uint64_t read;	       /* of the log */
	uint64_t srtt, rttvar, min_rtt;
	uint64_t paced_ns; /* the next burst not before */
	uint64_t quiet_ns; /* the last that was sent or acknowledged */
	uint32_t backoff;
	bool probed; /* the tail, since the last acknowledgement */
	uint64_t armed;
	/* receiver */
	uint32_t *log;
	uint64_t logged, acked;
	uint64_t rx_next; /* number expected */
	uint32_t quick;
	uint64_t delack_ns, rx_armed; /* UINT64_MAX: none */
	struct rival_stats st;
};

const struct sdr_cc_ops *const rival_table[] = { &rival_cubic, &rival_reno, &rival_bbr, &rival_bbr3,
						 NULL };

const struct sdr_cc_ops *rival_find(const char *name)
{
	for (size_t i = 0; rival_table[i]; i++)
		if (strcmp(rival_table[i]->name, name) == 0)
			return rival_table[i];
	return NULL;
}

static uint64_t rival_now(const struct rival *r)
{
	return sdr_sim_world_now(r->a.world);
}

/* ---- receiver -------------------------------------------------------------------------------- */

static void rival_ack(struct rival *r)
{
	struct sdr_sim_raw ack = { .a = r->logged, .wire = RIVAL_ACK_WIRE };

	r->acked = r->logged;
	r->delack_ns = UINT64_MAX;
	(void)sdr_sim_raw_send(r->a.world, r->a.to, r->a.from, &ack);
}

static void rival_delack(void *user);

static void rival_delack_arm(struct rival *r)
{
	if (r->delack_ns >= r->rx_armed)
		return;
	r->rx_armed = r->delack_ns;
	(void)sdr_sim_world_at(r->a.world, r->rx_armed, rival_delack, r);
}

static void rival_delack(void *user)
{
	struct rival *r = user;

	if (rival_now(r) != r->rx_armed)
		return; /* an earlier one took its place */
	r->rx_armed = UINT64_MAX;
	if (rival_now(r) >= r->delack_ns)
		rival_ack(r);
	rival_delack_arm(r);
}

static void rival_receive(void *user, const struct sdr_sim_raw *p)
{
	struct rival *r = user;

	r->log[r->logged++ % RIVAL_RING] =
		(uint32_t)(p->a % RIVAL_RING) | (p->ecn == SDR_UC_CE ? RIVAL_CE : 0);
	if (p->a != r->rx_next)
		r->quick = RIVAL_QUICK;
	if (p->a >= r->rx_next)
		r->rx_next = p->a + 1;
	if (r->quick || r->logged - r->acked >= RIVAL_ACK_EVERY) {
		r->quick -= r->quick != 0;
		rival_ack(r);
		return;
	}
	r->delack_ns = rival_now(r) + RIVAL_DELACK_NS;
	rival_delack_arm(r);
}

/* ---- timers of the sender -------------------------------------------------------------------- */

static void rival_wake(void *user);

static uint64_t rival_rto(const struct rival *r)
{
	uint64_t var = 4 * r->rttvar, rto;

	if (!r->srtt)
		return RIVAL_RTO_INIT_NS << r->backoff;
	rto = (r->srtt + (var > RIVAL_RTO_MIN_NS ? var : RIVAL_RTO_MIN_NS)) << r->backoff;
	return rto < RIVAL_RTO_MAX_NS ? rto : RIVAL_RTO_MAX_NS;
}

/* When silence is to be acted upon; UINT64_MAX: nothing is out. */
static uint64_t rival_silence(const struct rival *r)
{
	if (!r->inflight)
		return UINT64_MAX;
	if (r->probed || !r->srtt)
		return r->quiet_ns + rival_rto(r);
	return r->quiet_ns + 2 * r->srtt + (r->inflight <= r->mss ? RIVAL_RTO_MIN_NS : 0);
}

static void rival_arm(struct rival *r, uint64_t paced)
{
	uint64_t due = rival_silence(r);

	due = paced < due ? paced : due;
	if (due >= r->armed)
		return;
	r->armed = due;
	(void)sdr_sim_world_at(r->a.world, due, rival_wake, r);
}

/* ---- sending --------------------------------------------------------------------------------- */

static void rival_send_one(struct rival *r)
{
	struct sdr_sim_raw p = { .a = r->next,
				 .wire = r->mss + RIVAL_HEADERS,
				 .ecn = r->a.ecn ? SDR_UC_ECT0 : SDR_UC_NOT_ECT };
	struct rival_pkt *k = &r->pkt[r->next % RIVAL_RING];

	k->tx_ns = rival_now(r);
	k->fate = RIVAL_OUT;
	sdr_cc_sent(&r->cc, k->tx_ns, r->mss, 0, r->inflight, &k->snap);
	r->inflight += r->mss;
	r->next++;
	r->quiet_ns = k->tx_ns;
	r->st.sent++;
	(void)sdr_sim_raw_send(r->a.world, r->a.from, r->a.to, &p);
}

/* Packets of a burst: what a millisecond carries. */
static uint64_t rival_burst(const struct rival *r)
{
	uint64_t most = RIVAL_BURST_BYTES / r->mss, rate = r->cc.pacing_Bps, n;

	if (!rate && r->srtt)
		rate = (uint64_t)((double)r->cc.cwnd * SDR_CC_NS_PER_S / (double)r->srtt);
	n = (uint64_t)((double)rate * RIVAL_BURST_NS / SDR_CC_NS_PER_S) / r->mss;
	if (n > most)
		n = most;
	return n < RIVAL_BURST_MIN ? RIVAL_BURST_MIN : n;
}

/* The window is too little open for a burst, and acknowledgements will come. */
static bool rival_defers(const struct rival *r, uint64_t room, uint64_t burst)
{
	uint64_t part = r->cc.cwnd / r->mss / RIVAL_DEFER;

	return r->inflight && room < burst && room < part;
}

static void rival_push(struct rival *r)
{
	uint64_t burst = rival_burst(r), now = rival_now(r), room, n;
	uint64_t paced = UINT64_MAX;

	while (r->cc.cwnd >= r->inflight + r->mss && r->next - r->low < RIVAL_WINDOW) {
		room = (r->cc.cwnd - r->inflight) / r->mss;
		if (r->cc.pacing_Bps && r->paced_ns > now) {
			paced = r->paced_ns;
			break;
		}
		if (rival_defers(r, room, burst))
			break;
		n = room < burst ? room : burst;
		for (uint64_t i = 0; i < n; i++)
			rival_send_one(r);
		if (r->cc.pacing_Bps) {
			if (r->paced_ns < now)
				r->paced_ns = now;
			r->paced_ns += (uint64_t)((double)(n * r->mss) * SDR_CC_NS_PER_S /
						  (double)r->cc.pacing_Bps);
		}
	}
	rival_arm(r, paced);
}

/* ---- acknowledgements ------------------------------------------------------------------------ */

static void rival_rtt(struct rival *r, uint64_t rtt)
{
	uint64_t off = rtt > r->srtt ? rtt - r->srtt : r->srtt - rtt;

	if (!r->srtt) {
		r->srtt = rtt;
		r->rttvar = rtt / 2;
	} else {
		r->rttvar = (3 * r->rttvar + off) / 4;
		r->srtt = (7 * r->srtt + rtt) / 8;
	}
	if (!r->min_rtt || rtt < r->min_rtt)
		r->min_rtt = rtt;
}

/* The number of a packet of the log, which lies in front of next. */
static uint64_t rival_number(const struct rival *r, uint32_t low)
{
	return r->next - 1 - ((uint32_t)(r->next - 1) - low) % RIVAL_RING;
}

/* Takes the packet as delivered; the newest so far is noted in *newest (its number + 1). */
static void rival_delivered(struct rival *r, uint32_t entry, struct sdr_cc_ack *ack,
			    uint64_t *newest)
{
	uint64_t n = rival_number(r, entry & ~RIVAL_CE);
	struct rival_pkt *k = &r->pkt[n % RIVAL_RING];

	if (k->fate == RIVAL_OUT)
		r->inflight -= r->mss;
	else if (k->fate != RIVAL_LOST)
		return;
	k->fate = RIVAL_ACKED;
	ack->bytes += r->mss;
	ack->ce += entry & RIVAL_CE ? r->mss : 0;
	r->st.delivered++;
	r->st.bytes += r->mss;
	if (n + 1 > *newest)
		*newest = n + 1;
	if (n + 1 > r->high)
		r->high = n + 1;
}

/* What is missing in front of three that came. */
static void rival_losses(struct rival *r, struct sdr_cc_ack *ack, uint64_t until)
{
	for (; r->low < until; r->low++) {
		struct rival_pkt *k = &r->pkt[r->low % RIVAL_RING];

		if (k->fate != RIVAL_OUT)
			continue;
		k->fate = RIVAL_LOST;
		r->inflight -= r->mss;
		ack->lost += r->mss;
		r->st.lost++;
	}
}

static void rival_acked(void *user, const struct sdr_sim_raw *p)
{
	struct rival *r = user;
	struct sdr_cc_ack ack = { .now = rival_now(r) };
	uint64_t newest = 0;

	if (p->a <= r->read)
		return;
	for (; r->read < p->a; r->read++)
		rival_delivered(r, r->log[r->read % RIVAL_RING], &ack, &newest);
	if (r->high > RIVAL_DUPS)
		rival_losses(r, &ack, r->high - RIVAL_DUPS);
	if (newest) {
		const struct rival_pkt *k = &r->pkt[(newest - 1) % RIVAL_RING];

		ack.snap = &k->snap;
		ack.snap_tx_ns = k->tx_ns;
		ack.rtt = ack.now - k->tx_ns;
		rival_rtt(r, ack.rtt);
	}
	ack.min_rtt = r->min_rtt;
	ack.inflight = r->inflight;
	r->quiet_ns = ack.now;
	r->backoff = 0;
	r->probed = false;
	sdr_cc_acked(&r->cc, &ack);
	rival_push(r);
}

/* ---- silence --------------------------------------------------------------------------------- */

static void rival_timeout(struct rival *r)
{
	struct sdr_cc_ack gone = { 0 };

	rival_losses(r, &gone, r->next);
	r->st.timeouts++;
	if (r->backoff < 10)
		r->backoff++;
	r->paced_ns = 0;
	sdr_cc_timeout(&r->cc, rival_now(r));
}

static void rival_wake(void *user)
{
	struct rival *r = user;

	if (rival_now(r) != r->armed)
		return; /* an earlier one took its place */
	r->armed = UINT64_MAX;
	if (rival_now(r) >= rival_silence(r)) {
		if (r->probed || !r->srtt) {
			rival_timeout(r);
		} else {
			r->probed = true;
			r->st.probes++;
			rival_send_one(r);
		}
	}
	rival_push(r);
}

/* ---- life ------------------------------------------------------------------------------------ */

int rival_open(const struct rival_attr *attr, struct rival **out)
{
	struct rival *r = calloc(1, sizeof(*r));
	int err = -ENOMEM;

	if (!r)
		return err;
	r->a = *attr;
	r->mss = attr->path_mtu - RIVAL_HEADERS;
	r->armed = r->rx_armed = r->delack_ns = UINT64_MAX;
	r->quick = RIVAL_QUICK;
	r->pkt = calloc(RIVAL_RING, sizeof(*r->pkt));
	r->log = calloc(RIVAL_RING, sizeof(*r->log));
	if (r->pkt && r->log)
		err = sdr_sim_raw_open(attr->world, attr->to, rival_receive, r);
	if (!err)
		err = sdr_sim_raw_open(attr->world, attr->from, rival_acked, r);
	if (err) {
		rival_close(r);
		return err;
	}
	*out = r;
	return 0;
}

void rival_close(struct rival *r)
{
	if (!r)
		return;
	free(r->pkt);
	free(r->log);
	free(r);
}

void rival_start(struct rival *r)
{
	struct sdr_rel_cfg cfg = { .cc = r->a.cc };

	if (r->started)
		return;
	r->started = true;
	sdr_cc_init(&r->cc, &cfg, r->mss, RIVAL_RX_WINDOW, 0, NULL, rival_now(r));
	r->quiet_ns = rival_now(r);
	rival_push(r);
}

void rival_stats_get(const struct rival *r, struct rival_stats *st)
{
	*st = r->st;
	st->cwnd = r->cc.cwnd;
	st->pacing_Bps = r->cc.pacing_Bps;
	st->srtt = r->srtt;
	st->min_rtt = r->min_rtt;
}
