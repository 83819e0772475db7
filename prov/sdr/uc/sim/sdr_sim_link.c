/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The impairments of the simulated network: what a link does to a packet.
 *
 * In this order: the test's filter, the size limit, blackout, the queue in front of the bottleneck
 * (tail drop), serialisation, loss (independent, by size, in bursts), corruption, delay with jitter
 * and reordering, duplication.  A packet lost in transit has used its time on the line; one dropped
 * by the queue has not.  Every link, and each lane of one, draws from a generator of its own: the
 * traffic of one link does not change another's luck.  A line that a link shares with others
 * (sdr_sim_line.c) stands between serialisation and loss.  Which links there are, and how they are
 * set, is in sdr_sim_lane.c.
 *
 * Cross traffic has no events: when the queue is looked at, what came since then is put in it
 * first, packet by packet.  After a long silence only the last SDR_SIM_CROSS_MAX of them are drawn:
 * what was before is forgotten, as it would be by a queue that runs empty now and then, or is full
 * all the time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include "sdr_sim_addr.h"
#include "sdr_sim_lane.h"

#define SDR_SIM_PS	  1000000000000ull /* picoseconds a second */
#define SDR_SIM_CROSS_MAX 65536u	   /* packets of cross traffic made up for at a time */
#define SDR_SIM_CROSS_LEN 1500u
#define SDR_SIM_RAW_FULL  1500u /* bytes of a full packet where there is no engine */

static double sdr_sim_cross_gap(const struct sdr_sim_lnk *l)
{
	return (double)l->cfg.cross_bytes * 8 * (double)SDR_SIM_PS / (double)l->cfg.cross_bps;
}

static void sdr_sim_cross_next(struct sdr_sim_lnk *l, double gap)
{
	double u = (double)((sdr_sim_rng_next(&l->cross_rng) >> 11) + 1) * 0x1p-53; /* (0, 1] */

	l->cross_ps += (uint64_t)(-log(u) * gap) + 1;
}

static uint64_t sdr_sim_lnk_ps(struct sdr_sim_lnk *l, uint64_t bytes)
{
	uint64_t rate = l->cfg.rate_bps;

	if (rate != l->last_rate || bytes != l->last_bytes) {
		l->last_rate = rate;
		l->last_bytes = bytes;
		l->last_ps = sdr_sim_ps(rate, bytes);
	}
	return l->last_ps;
}

/* Bytes that wait for the line at that time, of all that has been put in its queue. */
static uint64_t sdr_sim_lnk_waiting(const struct sdr_sim_lnk *l, uint64_t at_ps)
{
	if (!l->cfg.rate_bps || l->busy_ps <= at_ps)
		return 0;
	return (uint64_t)((double)(l->busy_ps - at_ps) * (double)l->cfg.rate_bps /
			  (8.0 * (double)SDR_SIM_PS));
}

/*
 * A packet finds room when the queue is empty or it fits: otherwise nothing larger than the queue
 * could ever go.
 */
static bool sdr_sim_lnk_full(const struct sdr_sim_lnk *l, uint64_t backlog, uint32_t wire)
{
	return l->cfg.queue_bytes && backlog && backlog + wire > l->cfg.queue_bytes;
}

/* Puts the cross traffic that has come until now in the queue. */
static void sdr_sim_lnk_cross(struct sdr_sim_lnk *l, uint64_t now_ps)
{
	const struct sdr_sim_link *c = &l->cfg;
	double gap, span;
	uint64_t ps;

	if (!c->cross_bps || !c->rate_bps || l->cross_ps > now_ps)
		return;
	gap = sdr_sim_cross_gap(l);
	span = gap * SDR_SIM_CROSS_MAX;
	if ((double)(now_ps - l->cross_ps) > span)
		l->cross_ps = now_ps - (uint64_t)span;
	ps = sdr_sim_lnk_ps(l, c->cross_bytes);
	for (; l->cross_ps <= now_ps; sdr_sim_cross_next(l, gap)) {
		if (sdr_sim_lnk_full(l, sdr_sim_lnk_waiting(l, l->cross_ps), c->cross_bytes)) {
			l->st.cross_dropped++;
			continue;
		}
		l->st.cross++;
		l->busy_ps = (l->busy_ps > l->cross_ps ? l->busy_ps : l->cross_ps) + ps;
	}
}

/* Bytes that wait for the line now. */
static uint64_t sdr_sim_lnk_backlog(const struct sdr_sim_world *w, struct sdr_sim_lnk *l)
{
	sdr_sim_lnk_cross(l, w->now * 1000);
	return sdr_sim_lnk_waiting(l, w->now * 1000);
}

static void sdr_sim_lnk_cfg(const struct sdr_sim_world *w, struct sdr_sim_lnk *l,
			    const struct sdr_sim_link *cfg)
{
	l->cfg = *cfg;
	if (!l->cfg.cross_bytes)
		l->cfg.cross_bytes = SDR_SIM_CROSS_LEN;
	if (!l->cfg.cross_bps)
		return;
	l->cross_ps = w->now * 1000;
	sdr_sim_cross_next(l, sdr_sim_cross_gap(l));
}

void sdr_sim_lnk_init(const struct sdr_sim_world *w, struct sdr_sim_lnk *l, uint64_t seed,
		      const struct sdr_sim_link *cfg)
{
	sdr_sim_rng_seed(&l->rng, w->attr.seed ^ seed * 0xd6e8feb86659fd93ull);
	sdr_sim_rng_seed(&l->cross_rng, w->attr.seed ^ seed * 0xa0761d6478bd642full);
	sdr_sim_lnk_cfg(w, l, cfg);
}

void sdr_sim_lnk_set(const struct sdr_sim_world *w, struct sdr_sim_lnk *l,
		     const struct sdr_sim_link *cfg)
{
	uint64_t backlog = sdr_sim_lnk_backlog(w, l);

	sdr_sim_lnk_cfg(w, l, cfg);
	l->busy_ps = w->now * 1000 + sdr_sim_lnk_ps(l, backlog);
}

uint64_t sdr_sim_lnk_blocked(const struct sdr_sim_world *w, struct sdr_sim_lnk *l, uint32_t wire)
{
	uint64_t backlog, over;

	if (!l->cfg.block)
		return 0;
	backlog = sdr_sim_lnk_backlog(w, l);
	if (!sdr_sim_lnk_full(l, backlog, wire))
		return 0;
	over = backlog + wire - l->cfg.queue_bytes;
	if (over > backlog)
		over = backlog;
	return w->now + sdr_sim_lnk_ps(l, over) / 1000 + 1;
}

/*
 * Gilbert-Elliott: is the line bad for a packet that starts at start_ps?  The chain forgets by a
 * factor of lambda a slot: P(bad after t slots) = pi + (s - pi) * lambda^t, pi being the share of
 * bad slots and s the state (0, 1).
 */
bool sdr_sim_ge_bad(struct sdr_sim_ge *g, struct sdr_sim_rng *rng, double share, double burst,
		    uint64_t start_ps, uint64_t slot_ps)
{
	double stay = burst > 1 ? 1 - 1 / burst : 0;
	double enter = share < 1 ? share * (1 - stay) / (1 - share) : 1;
	double p = g->bad ? stay : enter, lambda = stay - enter;
	uint64_t gone_ps = start_ps > g->ps ? start_ps - g->ps : 0;

	if (slot_ps && lambda > 0 && gone_ps != slot_ps)
		p = share + (g->bad - share) * pow(lambda, (double)gone_ps / (double)slot_ps);
	g->ps = start_ps;
	g->bad = sdr_sim_rng_hit(rng, p);
	return g->bad;
}

/* Wire bytes of a full packet of the packet's sender. */
static uint32_t sdr_sim_full(const struct sdr_sim_world *w, const struct sdr_sim_packet *p)
{
	const struct sdr_sim_eng *e = w->nodes[p->src].eng;

	return e ? e->attr.mtu + SDR_SIM_DATA_OVER : SDR_SIM_RAW_FULL;
}

static bool sdr_sim_lnk_lost(struct sdr_sim_world *w, struct sdr_sim_lnk *l,
			     const struct sdr_sim_packet *p, uint64_t start_ps)
{
	const struct sdr_sim_link *c = &l->cfg;
	bool lost = false;

	if (c->ge_loss > 0)
		lost = sdr_sim_ge_bad(&l->ge, &l->rng, c->ge_loss, c->ge_burst, start_ps,
				      sdr_sim_lnk_ps(l, sdr_sim_full(w, p)));
	if (c->loss > 0 && sdr_sim_rng_hit(&l->rng, c->loss))
		lost = true;
	if (c->loss_byte > 0 && sdr_sim_rng_hit(&l->rng, c->loss_byte * p->wire))
		lost = true;
	return lost;
}

static struct sdr_sim_packet *sdr_sim_packet_copy(struct sdr_sim_world *w,
						  const struct sdr_sim_packet *p)
{
	size_t len = !p->buf		       ? 0
		     : p->kind == SDR_SIM_DATA ? p->len
					       : p->len + sizeof(struct sdr_uc_addr);
	struct sdr_sim_packet *c = sdr_sim_packet_get(w, len);
	uint8_t *buf, pool;

	if (!c)
		return NULL;
	buf = c->buf;
	pool = c->pool;
	*c = *p;
	c->buf = buf;
	c->pool = pool;
	c->flags = (uint8_t)((p->flags | SDR_SIM_P_COPY) & ~(SDR_SIM_P_WRITTEN | SDR_SIM_P_NULL));
	if (len)
		__builtin_memcpy(buf, p->buf, len);
	return c;
}

void sdr_sim_lnk_launch(struct sdr_sim_world *w, struct sdr_sim_lnk *l, struct sdr_sim_packet *p)
{
	p->seq = w->seq++;
	sdr_sim_trace(w, SDR_SIM_T_SENT, p);
	sdr_sim_packet_schedule(w, l, p);
}

void sdr_sim_lnk_gone(struct sdr_sim_world *w, struct sdr_sim_packet *p, enum sdr_sim_what fate)
{
	p->seq = w->seq++;
	sdr_sim_trace(w, fate, p);
	sdr_sim_packet_put(w, p);
}

void sdr_sim_lnk_transit(struct sdr_sim_world *w, struct sdr_sim_lnk *l, struct sdr_sim_packet *p,
			 uint64_t start_ps, uint64_t end_ps)
{
	const struct sdr_sim_link *c = &l->cfg;
	struct sdr_sim_packet *copy;

	if (sdr_sim_lnk_lost(w, l, p, start_ps)) {
		l->st.lost++;
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_LOST);
		return;
	}
	if (c->corrupt > 0 && sdr_sim_rng_hit(&l->rng, c->corrupt))
		p->flags |= SDR_SIM_P_CORRUPT;
	if (p->flags & SDR_SIM_P_CORRUPT)
		l->st.corrupt++;
	p->due = (end_ps + 999) / 1000 + c->delay_ns + p->extra_ns;
	if (c->jitter_ns)
		p->due += sdr_sim_rng_next(&l->rng) % (c->jitter_ns + 1);
	if (c->reorder > 0 && sdr_sim_rng_hit(&l->rng, c->reorder)) {
		p->due += c->reorder_ns;
		l->st.reordered++;
	}
	copy = c->dup > 0 && sdr_sim_rng_hit(&l->rng, c->dup) ? sdr_sim_packet_copy(w, p) : NULL;
	sdr_sim_lnk_launch(w, l, p);
	if (copy) {
		l->st.dup++;
		sdr_sim_lnk_launch(w, l, copy);
	}
}

/* The link's own line has sent it at that time: on to the line that it shares. */
static void sdr_sim_lnk_forward(struct sdr_sim_world *w, struct sdr_sim_lnk *l,
				struct sdr_sim_packet *p)
{
	if (!l->cfg.rate_bps) {
		sdr_sim_line_enter(w, l, p);
		return;
	}
	p->due = (l->busy_ps + 999) / 1000;
	if (!l->front.head && sdr_sim_event_at(w, p->due, SDR_SIM_E_FRONT, l)) {
		sdr_sim_packet_put(w, p); /* out of memory: a loss */
		return;
	}
	w->flying += p->wire;
	sdr_sim_fifo_push(&l->front, p);
}

void sdr_sim_lnk_send(struct sdr_sim_world *w, struct sdr_sim_lnk *l, struct sdr_sim_packet *p)
{
	const struct sdr_sim_link *c = &l->cfg;
	uint64_t backlog, start_ps;

	p->nth = p->kind == SDR_SIM_CTL ? ++l->st.ctl : ++l->st.data;
	l->st.bytes += p->wire;
	if (w->attr.filter && !w->attr.filter(w->attr.user, p)) {
		l->st.filtered++;
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_FILTERED);
		return;
	}
	if (c->mtu && p->wire > c->mtu) {
		l->st.drop_mtu++;
		sdr_sim_path_icmp(w, l, p);
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_OVERSIZE);
		return;
	}
	if (l->down) {
		l->st.blackout++;
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_BLACKOUT);
		return;
	}
	backlog = sdr_sim_lnk_backlog(w, l);
	/* where it blocks, the sender has asked: for all pieces of a packet before the first */
	if (!c->block && sdr_sim_lnk_full(l, backlog, p->wire)) {
		l->st.dropped++;
		sdr_sim_lnk_gone(w, p, SDR_SIM_T_QUEUE);
		return;
	}
	if (backlog + p->wire > l->st.queue_peak)
		l->st.queue_peak = backlog + p->wire;
	if (l->busy_ps < w->now * 1000)
		l->busy_ps = w->now * 1000;
	start_ps = l->busy_ps;
	l->busy_ps += sdr_sim_lnk_ps(l, p->wire);
	if (l->line)
		sdr_sim_lnk_forward(w, l, p);
	else
		sdr_sim_lnk_transit(w, l, p, start_ps, l->busy_ps);
}

/* ---- injection ------------------------------------------------------------------------------- */

int sdr_sim_inject_ctl(struct sdr_sim_world *w, uint32_t from_number, uint32_t node,
		       uint64_t delay_ns, const void *buf, size_t len)
{
	struct sdr_sim_packet *p;
	struct sdr_uc_addr from;

	uint32_t source = sdr_sim_lane_of(node);

	node = sdr_sim_lane_node(node);
	if (node >= w->attr.nodes || source >= w->nodes[node].sources || len > SDR_PROBE_MAX)
		return -EINVAL;
	p = sdr_sim_packet_get(w, len + sizeof(from));
	if (!p)
		return -ENOMEM;
	sdr_sim_addr_make(from_number, &from);
	__builtin_memcpy(p->buf, &from, sizeof(from));
	__builtin_memcpy(p->buf + sizeof(from), buf, len);
	p->kind = SDR_SIM_CTL;
	p->flags = SDR_SIM_P_COPY;
	p->len = (uint32_t)len;
	p->wire = SDR_SIM_CTL_OVER + p->len + sdr_wire_pad(p->len);
	p->from = from_number;
	p->to = sdr_sim_source_number(&w->nodes[node], source);
	p->src = p->dst = (uint16_t)node;
	p->due = w->now + delay_ns;
	sdr_sim_lnk_launch(w, NULL, p);
	return 0;
}

int sdr_sim_replay(struct sdr_sim_world *w, const struct sdr_sim_packet *pkt, uint64_t delay_ns)
{
	struct sdr_sim_packet *c = sdr_sim_packet_copy(w, pkt);

	if (!c)
		return -ENOMEM;
	c->due = w->now + delay_ns;
	sdr_sim_lnk_launch(w, NULL, c);
	return 0;
}
