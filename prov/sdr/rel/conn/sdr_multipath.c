/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The paths of a connection beside its first: which there are, and how each is proved.  Which of
 * them are alive is decided by sdr_path_life.c, which packets leave by by sdr_path_ctl.c.
 *
 * A path leads from a source of our engine (another port, for routers that hash, or another
 * address: a rail) to an address of the peer's.  Each side tells its own in HELLO (SOURCES);
 * path i leads from source i to address i, each modulo how many there are, so the peer's path i
 * is ours the other way round.  Each side tries each of its own by a PATH_CHALLENGE from its
 * source to its address, answered over the same path: a short one first, then one as long as its
 * data packets are, or as every path should carry, so what does not carry even that is not used;
 * one that is alive is asked by others whether it carries more (sdr_path_mtu.c).  What comes
 * from an address that has answered is the peer's, as what comes from c->addr; of what comes
 * from one that is only named nothing counts but challenges, and the answers to ours.  Whoever
 * has a connection may name anybody: an address from which nothing was answered gets
 * SDR_MULTIPATH_TRIES short challenges, and one more for each that comes from there.  Nothing
 * here changes where the peer is (sdr_conn_path.c).
 *
 *   unproved   challenged after a round trip, doubling, until it answers
 *   alive      takes data; and packets, while it is c->ctl
 *   silent     what was sent on it was not answered, while what left later on another was: all that
 *              is under way there is lost, and goes elsewhere; challenged until it answers, with
 *              a window that begins anew.  One that carries small packets alone any more, too
 *
 * Packets (records, acknowledgements) leave by one path, c->ctl: the first, or, when that is
 * silent, the shortest of those that answered of late.  Who hears a packet that asks for something
 * by another path than that of his own follows it.  So round trips of all paths are measured by one
 * way back, and begin anew when that is another.  Some packets leave aside (SDR_FRAME_ASIDE), by
 * other paths: what is asked of data by the path that they took (sdr_pkt_copy.c), an announcement
 * in front of the first data there, a ping by each path after a timeout.  A ping is answered by the
 * path that it came by, so when nothing is heard by c->ctl and something by another, that one is
 * taken.
 *
 * Timers: the challenges', while something is under way.  Two allocations a connection that may
 * have more than one path.  The endpoint's thread.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_rand.h"
#include "sdr_conn_ecn.h"
#include "sdr_conn_known.h"
#include "sdr_conn_mtu.h"
#include "sdr_conn_ops.h"
#include "sdr_hello_addr.h"
#include "sdr_multipath.h"
#include "sdr_path_life.h"
#include "sdr_path_mtu.h"
#include "sdr_pkt.h"
#include "sdr_seal.h"
#include "wire/sdr_tlv.h"

/* ---- what is said ---------------------------------------------------------------------------- */

/* Sources of the engine that connections use: as many as are asked for and there. */
static uint32_t sources_used(const struct sdr_rel *rel)
{
	return rel->cfg.paths < rel->info.sources ? rel->cfg.paths : rel->info.sources;
}

size_t sdr_multipath_put(const struct sdr_rel *rel, uint8_t *p, size_t room)
{
	uint32_t n = sources_used(rel);
	uint8_t v[SDR_MULTIPATH_EXT_MAX];
	struct sdr_hello_addr a;
	struct sdr_uc_addr at, home;
	size_t len = 0;

	if (n < 2 || !(rel->features & SDR_FEATURE_MULTIPATH))
		return 0;
	rel->uc->ops->source(rel->uc, 0, &home);
	for (uint32_t i = 1; i < n; i++) {
		rel->uc->ops->source(rel->uc, i, &at);
		if (!sdr_hello_addr_of(&at, &a))
			return 0;
		if (sdr_uc_addr_same_host(&at, &home))
			a.family = 0;
		len += sdr_hello_addr_put(v + len, sizeof(v) - len, &a);
	}
	return sdr_tlv_put(p, room, SDR_HELLO_SOURCES, v, (uint16_t)len);
}

void sdr_multipath_said(struct sdr_conn *c, const struct sdr_uc_addr *from,
			const struct sdr_hello *h)
{
	const uint8_t *p = h->sources, *end = p ? p + h->sources_len : NULL;
	struct sdr_multipath *m;
	struct sdr_hello_addr a;

	sdr_multipath_free(c);
	if (!(c->hs.features & SDR_FEATURE_MULTIPATH) || (!p && sources_used(c->rel) < 2))
		return;
	m = c->multi = calloc(1, sizeof(*m));
	if (!m)
		return; /* one path does */
	m->key = sdr_rel_rand(c->rel);
	while (p && sdr_hello_addr_next(&p, end, &a) == 1 && m->n < SDR_PATHS_MAX - 1)
		m->n += sdr_hello_addr_at(&a, from, &m->peer[m->n].addr);
}

/* ---- opening --------------------------------------------------------------------------------- */

/* One of those before it leads from there to there. */
static bool path_doubles(const struct sdr_conn *c, const struct sdr_path *p)
{
	for (uint32_t i = 0; i < p->index; i++) {
		const struct sdr_path *q = sdr_conn_path_of(c, i);

		if (q->source == p->source &&
		    sdr_uc_addr_equal(sdr_path_addr(c, q), sdr_path_addr(c, p)))
			return true;
	}
	return false;
}

static uint64_t path_rtt(const struct sdr_conn *c)
{
	return 2 * c->main.rtt.srtt > 20 * MS ? 2 * c->main.rtt.srtt : 20 * MS;
}

void sdr_multipath_begin(struct sdr_conn *c)
{
	struct sdr_multipath *m = c->multi;
	struct sdr_rel *rel = c->rel;
	uint32_t sources, n;

	if (!m || c->npaths > 1)
		return;
	sources = sources_used(rel);
	n = sources > m->n + 1 ? sources : m->n + 1;
	c->more = calloc(n - 1, sizeof(*c->more));
	for (uint32_t i = 1; c->more && i < n; i++) {
		struct sdr_path *p = &c->more[i - 1];
		uint32_t to = i % (m->n + 1);

		p->index = (uint8_t)i;
		p->source = (uint8_t)(i % sources);
		p->addr = to ? m->peer[to - 1].addr : c->addr;
		p->state = SDR_PATH_UNPROVED;
		p->rack.timer = NEVER;
		sdr_rtt_init(&p->rtt, c->main.rtt.srtt);
		c->npaths++;
		p->doubles = path_doubles(c, p);
		p->next_ns = p->doubles ? NEVER : rel->now;
	}
	sdr_shape_ways_all(c);
	/* So that what is under way on all of them can be summed up. */
	for (uint32_t i = 1; i < c->npaths; i++)
		sdr_cc_init(&c->more[i - 1].cc, &rel->cfg, c->shape->mtu, c->main.cc.rx_window,
			    c->main.rtt.srtt, NULL, rel->now);
}

void sdr_multipath_free(struct sdr_conn *c)
{
	free(c->more);
	c->more = NULL;
	c->npaths = 1;
	c->ctl = 0;
	sdr_shape_ways_all(c);
	free(c->multi);
	c->multi = NULL;
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* Of its nth challenge. */
static void path_data(const struct sdr_conn *c, const struct sdr_path *p, uint32_t n, uint8_t *data)
{
	uint64_t what[3] = { c->multi->key, p->index | (p->reached ? 0x100u : 0), n };

	sdr_put_le64(data, sdr_hash64(sdr_path_addr(c, p), sizeof(p->addr),
				      sdr_hash64(what, sizeof(what), c->multi->key)));
}

/* Bytes of control payload of a long challenge with so many IP bytes. */
static uint32_t path_bytes(const struct sdr_conn *c, uint32_t ip)
{
	const struct sdr_uc_info *e = &c->rel->info;
	uint32_t n = ip - e->ctl_over, most = e->probe_max > c->ctl_max ? e->probe_max : c->ctl_max;

	return (n < most ? n : most) & ~3u;
}

/* With so many IP bytes; 0: as few as it takes.  False: the engine is full. */
static bool path_challenge(struct sdr_conn *c, struct sdr_path *p, uint32_t ip)
{
	struct sdr_frame_path f = { .path = (uint8_t)(SDR_MULTIPATH_NUMBER | p->index) };
	uint32_t len = ip ? path_bytes(c, ip) : 0;
	uint8_t *b = sdr_seal_begin(c->rel);
	size_t n;

	if (!b)
		return false;
	path_data(c, p, p->asks, f.data);
	n = sdr_packet_encode(b, c->id.peer_cid, c->tx.pn);
	n += sdr_frame_aside_encode(b + n, SDR_FRAME_LONG_HDR);
	n += sdr_frame_path_encode(b + n, sdr_seal_room(c->rel, c->ctl_max) - n,
				   SDR_FRAME_PATH_CHALLENGE, &f);
	if (len > n + c->rel->tag_len) {
		len -= c->rel->tag_len;
		memset(b + n, SDR_FRAME_PAD, len - n);
		/* alone: what is too long takes nothing with it */
		if (len + c->rel->tag_len <= c->rel->info.probe_max)
			sdr_seal_probe_by(c, p, len);
		else
			sdr_seal_send_by(c, p, len);
	} else {
		sdr_seal_send_by(c, p, n);
	}
	c->tx.pn++;
	p->asked[p->asks % SDR_PATH_ASKED].ns = c->rel->now;
	p->asked[p->asks++ % SDR_PATH_ASKED].bytes = ip;
	return true;
}

/* Asked again after a round trip, doubling. */
static void path_ask(struct sdr_conn *c, struct sdr_path *p)
{
	uint64_t most = p->proved ? SDR_MULTIPATH_BACK_NS : SDR_MULTIPATH_NEW_NS, gap;

	(void)path_challenge(c, p, p->index && p->reached ? sdr_path_mtu_asks(c, p) : 0);
	gap = path_rtt(c) << (p->tries < SDR_PTO_BACKOFF_MAX ? p->tries : SDR_PTO_BACKOFF_MAX);
	p->tries++;
	p->next_ns = c->rel->now + (gap < most ? gap : most);
	if (p->index && !p->reached && p->tries >= SDR_MULTIPATH_TRIES)
		p->next_ns = NEVER;
	c->st.path_asks++;
}

/* One that is alive is asked whether it carries more. */
static void path_probe(struct sdr_conn *c, struct sdr_path *p)
{
	uint32_t size[SDR_PMTU_PROBES], n = sdr_path_mtu_probes(c, p, size), pn;
	/* the answer comes by the same path, which acknowledgements may not */
	uint64_t rto = sdr_conn_rto(c, 0) + 2 * p->rtt.srtt;

	for (uint32_t i = 0; i < n; i++) {
		pn = c->tx.pn;
		if (!path_challenge(c, p, size[i]))
			return;
		c->st.path_probes++;
		sdr_pmtu_sent(&p->pmtu, pn, size[i], c->rel->now, rto);
	}
}

uint64_t sdr_multipath_deadline(const struct sdr_conn *c)
{
	uint64_t d = NEVER;

	if (c->npaths == 1 || !c->rel->ops->busy(c))
		return NEVER;
	for (uint32_t i = 0; i < c->npaths; i++) {
		const struct sdr_path *p = sdr_conn_path_of(c, i);

		uint64_t next = p->state != SDR_PATH_ALIVE ? p->next_ns
				: i			   ? sdr_pmtu_deadline(&p->pmtu)
							   : NEVER;

		d = next < d ? next : d;
	}
	return d;
}

void sdr_multipath_timer(struct sdr_conn *c)
{
	for (uint32_t i = 0; i < c->npaths && c->npaths > 1; i++) {
		struct sdr_path *p = sdr_conn_path(c, i);

		if (p->state == SDR_PATH_ALIVE && i)
			path_probe(c, p);
		else if (p->state != SDR_PATH_ALIVE && p->next_ns <= c->rel->now)
			path_ask(c, p);
	}
}

void sdr_multipath_moved(struct sdr_conn *c, const struct sdr_uc_addr *from)
{
	if (c->npaths == 1)
		return;
	sdr_path_alive(c, &c->main, c->rel->now); /* it has answered where it is now */
	for (uint32_t i = 1; i < c->npaths; i++) {
		struct sdr_path *p = &c->more[i - 1];

		if (!sdr_uc_addr_equal(&p->addr, from))
			continue;
		p->addr = c->addr;
		p->reached = false;
		if (p->state == SDR_PATH_ALIVE)
			sdr_path_silent(c, p);
		p->doubles = path_doubles(c, p);
		p->next_ns = p->doubles ? NEVER : c->rel->now;
		sdr_conn_ecn_moved(c, p);
	}
	sdr_shape_ways_all(c);
}

/* ---- packets in ------------------------------------------------------------------------------ */

enum sdr_multipath_who sdr_multipath_who(const struct sdr_conn *c, const struct sdr_uc_addr *from)
{
	const struct sdr_multipath *m = c->multi;

	for (uint32_t i = 0; m && i < m->n; i++)
		if (sdr_uc_addr_equal(&m->peer[i].addr, from))
			return m->peer[i].proved ? SDR_MULTIPATH_PEER : SDR_MULTIPATH_NAMED;
	return SDR_MULTIPATH_NOBODY;
}

/* One of its last challenges has these data: which of p->asked; SDR_PATH_ASKED: none. */
static uint32_t path_asked(const struct sdr_conn *c, const struct sdr_path *p,
			   const uint8_t *theirs)
{
	uint8_t data[SDR_FRAME_PATH_DATA];

	for (uint32_t n = p->asks; n-- && p->asks - n <= SDR_PATH_ASKED;) {
		path_data(c, p, n, data);
		if (!memcmp(data, theirs, sizeof(data)))
			return n % SDR_PATH_ASKED;
	}
	return SDR_PATH_ASKED;
}

static void path_answered(struct sdr_conn *c, const struct sdr_uc_addr *from,
			  const struct sdr_frame_path *f)
{
	uint32_t i = f->path & ~SDR_MULTIPATH_NUMBER;
	struct sdr_path *p;
	uint32_t at;

	if (i >= c->npaths)
		return;
	p = sdr_conn_path(c, i);
	at = path_asked(c, p, f->data);
	if (at == SDR_PATH_ASKED || !sdr_uc_addr_equal(from, sdr_path_addr(c, p)) ||
	    sdr_context_ctl_source(c->rel->ctx) != p->source)
		return;
	if (p->index && !p->reached) { /* somebody is there: do data get there, too? */
		p->reached = true;
		sdr_conn_known_path_open(c, p);
		p->tries = 0;
		path_ask(c, p);
	} else {
		if (p->state == SDR_PATH_ALIVE)
			sdr_path_mtu_passed(c, p, p->asked[at].bytes);
		else
			sdr_path_mtu_proved(c, p, p->asked[at].bytes);
		sdr_path_alive(c, p, p->asked[at].ns);
	}
}

bool sdr_multipath_input(struct sdr_conn *c, const struct sdr_uc_addr *from,
			 const struct sdr_frame *f)
{
	struct sdr_frame_path answer = f->path;
	uint8_t *b;
	size_t n;

	if (!c->multi || !(f->path.path & SDR_MULTIPATH_NUMBER))
		return false;
	if (f->type == SDR_FRAME_PATH_RESPONSE) {
		path_answered(c, from, &f->path);
		return true;
	}
	b = sdr_seal_begin(c->rel);
	if (!b)
		return true; /* as if lost */
	n = sdr_packet_encode(b, c->id.peer_cid, c->tx.pn);
	n += sdr_frame_aside_encode(b + n, SDR_FRAME_LONG_HDR);
	n += sdr_frame_path_encode(b + n, sdr_seal_room(c->rel, c->ctl_max) - n,
				   SDR_FRAME_PATH_RESPONSE, &answer);
	sdr_seal_send_from(c, sdr_context_ctl_source(c->rel->ctx), from, n);
	c->tx.pn++;
	return true;
}

/* Something came from there: paths that were given up are asked for once more. */
static void path_wanted(struct sdr_conn *c, const struct sdr_uc_addr *from)
{
	for (uint32_t i = 1; i < c->npaths; i++) {
		struct sdr_path *p = &c->more[i - 1];

		if (p->tries >= SDR_MULTIPATH_TRIES && p->next_ns == NEVER &&
		    sdr_uc_addr_equal(&p->addr, from)) {
			p->tries = SDR_MULTIPATH_TRIES - 1;
			p->next_ns = c->rel->now;
		}
	}
}

void sdr_multipath_named(struct sdr_conn *c, const struct sdr_uc_addr *from, const uint8_t *p,
			 const uint8_t *end)
{
	uint32_t challenges = 0;
	struct sdr_frame f;

	if (!c->hs.validated)
		return;
	path_wanted(c, from);
	while (sdr_frame_next(&p, end, &f) > 0) {
		sdr_rel_step(c->rel);
		if (f.type == SDR_FRAME_PATH_RESPONSE ||
		    (f.type == SDR_FRAME_PATH_CHALLENGE && !challenges++))
			(void)sdr_multipath_input(c, from, &f);
	}
}
