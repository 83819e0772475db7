/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The size of what a connection sends follows the path: asks rel/path/sdr_pmtu.c, sends its probes,
 * and applies what it finds.
 *
 * A first HELLO goes twice, small and as long as the device carries; the answer to the long one
 * says that the path carries it, and nothing else is needed.  That answer is as long itself, and
 * counts as the packet 0 of who was called: the first packet that comes then acknowledges it, and
 * what is sent first to a caller goes whole as well.  It is no longer than what it answers, so that
 * nobody is sent more in another's name than he sent himself.  Until that is known nothing longer
 * than the base is sent: data packets in pieces, control datagrams built smaller.  Probes are
 * packets of PING and PADDING that are not logged: their loss is no loss, of records, of the
 * window or of the estimator.  Their acknowledgement is that of their number.  They leave only
 * while something is under way, so an idle connection sends none.
 *
 * What follows a change: control datagrams are built for the new size at once, records that were
 * made before go in parts (sdr_parts.c); the engine cuts data packets whose number is given; when
 * the search has found something, the packets of later messages get the size that fits
 * (sdr_reshape_want).
 *
 * Engines that write by key (RDMA devices) have the size of their port: there is no discovery with
 * them, and none with a peer that does not know pieces.
 */
#include <stdio.h>
#include "sdr_conn_mtu.h"
#include "sdr_conn_ops.h"
#include "sdr_path_mtu.h"
#include "sdr_reshape.h"
#include "sdr_seal.h"

#define MTU_STEP 64u /* bytes: data packets are a multiple of it, but for the engine's largest */
#define FEATURES (SDR_FEATURE_PROBE | SDR_FEATURE_PIECES)

/* IP bytes of the longest packet that this side would send. */
static uint32_t mtu_max(const struct sdr_rel *rel)
{
	uint32_t data = rel->mtu + rel->info.data_over, ctl = rel->ctl_max + rel->info.ctl_over;

	return data > ctl ? data : ctl;
}

static uint32_t mtu_least(const struct sdr_rel *rel)
{
	uint32_t max = mtu_max(rel), least = SDR_CTL_MIN + rel->info.ctl_over;

	return least < max ? least : max;
}

/* What this host's route says: once, before anything is found out by sending. */
static bool mtu_route(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	uint32_t told;

	if (c->mtu_asked || !c->main.pmtu.size || !rel->uc->ops->path_mtu)
		return false;
	c->mtu_asked = true;
	told = rel->uc->ops->path_mtu(rel->uc, &c->addr);
	return told && sdr_pmtu_limit(&c->main.pmtu, told, SDR_PMTU_BY_ROUTE, rel->now);
}

void sdr_conn_mtu_init(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	bool known = (rel->features & FEATURES) != FEATURES;

	sdr_pmtu_init(&c->main.pmtu, mtu_least(rel), known ? 0 : mtu_max(rel), rel->now);
	c->mtu_asked = false;
	/* Some five system calls: one that was opened by the peer may never send anything large. */
	if (!c->hs.passive)
		mtu_route(c);
}

/*
 * Data packets of later messages as long as fits: not for each small step up, since the ones that
 * are numbered already are either cut or shorter than they could be.
 */
static void mtu_reshape(struct sdr_conn *c)
{
	const struct sdr_rel *rel = c->rel;
	uint32_t mtu = c->main.pmtu.size - rel->info.data_over, now = c->shape->mtu;

	mtu = mtu >= rel->mtu ? rel->mtu : mtu - mtu % MTU_STEP;
	if (mtu < now || mtu > now + now / 16)
		(void)sdr_reshape_want(c, mtu); /* not with every peer: then they are cut */
}

/*
 * What was found, once for each size; while the search is in its first round the next may be
 * another.
 */
static void mtu_found(struct sdr_conn *c)
{
	static const char *const how[] = {
		[SDR_PMTU_BY_BASE] = "every path is supposed to carry them",
		[SDR_PMTU_BY_HELLO] = "the first datagram of this size was answered",
		[SDR_PMTU_BY_PROBE] = "a probe of this size arrived, longer ones did not",
		[SDR_PMTU_BY_ROUTE] = "this host's route or ICMP says so",
		[SDR_PMTU_BY_HOLE] = "longer ones vanish on the way, without ICMP: a black hole",
		[SDR_PMTU_BY_PEER] = "the peer takes no longer ones",
	};
	const struct sdr_rel *rel = c->rel;
	char text[192];

	if (c->main.pmtu.size == c->main.mtu_found ||
	    (!sdr_pmtu_settled(&c->main.pmtu) && !c->main.pmtu.tries))
		return;
	c->main.mtu_found = c->main.pmtu.size;
	mtu_reshape(c);
	if (!rel->cbs->note)
		return;
	snprintf(text, sizeof(text), "packets of at most %u bytes (%u of data, %u of control): %s",
		 c->main.pmtu.size, c->main.pmtu.size - rel->info.data_over, c->ctl_max,
		 how[c->main.pmtu.how]);
	rel->cbs->note(rel->user, c->peer, text);
}

/* The size in force, where it matters. */
static void mtu_apply(struct sdr_conn *c)
{
	uint32_t size = c->main.pmtu.size, ctl;

	if (!size || !c->hs.peer_known)
		return;
	ctl = (size - c->rel->info.ctl_over) & ~3u;
	c->ctl_max = ctl < c->ctl_agreed ? ctl : c->ctl_agreed;
	SDR_ASSERT(c->ctl_max >= SDR_CTL_MIN);
	for (uint32_t i = 0; i < sizeof(c->shapes) / sizeof(c->shapes[0]); i++)
		if (c->shapes[i].qp)
			sdr_qp_path_set(c->shapes[i].qp, size);
	sdr_path_mtu_follow(c);
	sdr_conn_kick(c);
	mtu_found(c);
}

void sdr_conn_mtu_opened(struct sdr_conn *c, uint32_t probe_max)
{
	struct sdr_rel *rel = c->rel;
	uint32_t peer = probe_max > c->ctl_agreed ? probe_max : c->ctl_agreed;

	c->ctl_max = c->ctl_agreed;
	if ((c->hs.features & FEATURES) != FEATURES) {
		sdr_pmtu_init(&c->main.pmtu, 1, 0, rel->now);
		/* A HELLO that was another's (conn_unaccept) may have had it cut. */
		sdr_qp_path_set(c->shape->qp, 0);
		return;
	}
	sdr_pmtu_limit(&c->main.pmtu, peer + rel->info.ctl_over, SDR_PMTU_BY_PEER, rel->now);
	mtu_apply(c);
}

uint32_t sdr_conn_mtu_hello(const struct sdr_conn *c)
{
	if (!c->main.pmtu.size || c->main.pmtu.size == c->main.pmtu.max)
		return 0;
	return ((c->main.pmtu.ceil - 1 - c->rel->info.ctl_over) & ~3u) - c->rel->tag_len;
}

uint32_t sdr_conn_mtu_hello_known(const struct sdr_conn *c)
{
	uint32_t known = c->known.mtu;

	if (!c->main.pmtu.size || known <= c->main.pmtu.size || known >= c->main.pmtu.ceil)
		return 0;
	return ((known - c->rel->info.ctl_over) & ~3u) - c->rel->tag_len;
}

void sdr_conn_mtu_seen(struct sdr_conn *c, uint32_t bytes)
{
	uint32_t most = sdr_conn_mtu_hello(c) + c->rel->tag_len;

	/* No HELLO of ours was longer. */
	if (bytes > most)
		bytes = most;
	/* What is lost to rounding is not looked for. */
	bytes += c->rel->info.ctl_over;
	if (c->main.pmtu.ceil - 1 - bytes < 4)
		bytes = c->main.pmtu.ceil - 1;
	if (sdr_pmtu_arrived(&c->main.pmtu, bytes, SDR_PMTU_BY_HELLO, c->rel->now))
		mtu_apply(c);
}

/* IP bytes of a control datagram of that many before its tag, that is a probe. */
static uint32_t mtu_echo_size(const struct sdr_conn *c, uint32_t len)
{
	if (len == sdr_conn_mtu_hello(c)) /* what is lost to rounding is not looked for */
		return c->main.pmtu.ceil - 1;
	return len + c->rel->tag_len + c->rel->info.ctl_over;
}

uint32_t sdr_conn_mtu_echo(const struct sdr_conn *c, uint32_t bytes)
{
	uint32_t most = sdr_conn_mtu_hello(c), len = bytes - c->rel->tag_len;

	/* only the first can be packet 0; without stamps answers are short (sdr_hello_pair.c) */
	if (!c->hs.passive || c->tx.pn || bytes <= SDR_CTL_MIN || !most || !c->hs.came)
		return 0;
	len = len < most ? len : most;
	return mtu_echo_size(c, len) > c->main.pmtu.size ? len : 0;
}

void sdr_conn_mtu_echoed(struct sdr_conn *c, uint32_t len)
{
	SDR_ASSERT(!c->tx.pn && len && len <= sdr_conn_mtu_hello(c));
	/* what lets data leave tells of it; if not, others go with these at once */
	sdr_pmtu_sent(&c->main.pmtu, c->tx.pn++, mtu_echo_size(c, len), c->rel->now, 0);
}

bool sdr_conn_mtu_asked(const struct sdr_conn *c)
{
	bool asked = c->main.pmtu.nprobes > 0;

	for (uint32_t i = 1; i < c->npaths; i++)
		asked |= c->more[i - 1].pmtu.nprobes > 0;
	return asked;
}

void sdr_conn_mtu_acked(struct sdr_conn *c, uint32_t lo, uint32_t hi)
{
	if (sdr_pmtu_acked(&c->main.pmtu, lo, hi, c->rel->now))
		mtu_apply(c);
	for (uint32_t i = 1; i < c->npaths; i++)
		if (sdr_pmtu_acked(&c->more[i - 1].pmtu, lo, hi, c->rel->now))
			sdr_path_mtu_apply(c, &c->more[i - 1]);
}

void sdr_conn_mtu_passed(struct sdr_path *p, uint32_t bytes, uint64_t tx_ns)
{
	sdr_pmtu_passed(&p->pmtu, bytes, tx_ns);
}

void sdr_conn_mtu_lost(struct sdr_conn *c, struct sdr_path *p, uint32_t n, uint32_t bytes,
		       uint64_t tx_ns)
{
	if (!n)
		return;
	sdr_pmtu_hole_weather(&p->pmtu.hole, sdr_loss_est_mean(&c->peer->loss));
	/* Less than that it never carries, or has no size of its own: it is of no use then. */
	if (p->index && (!p->pmtu.size || bytes <= p->pmtu.least)) {
		p->narrow |= sdr_pmtu_hole_lost(&p->pmtu.hole, n, bytes, tx_ns, p->rtt.srtt);
		return;
	}
	if (!sdr_pmtu_lost(&p->pmtu, n, bytes, tx_ns, p->rtt.srtt, c->rel->now))
		return;
	c->st.path_holes++;
	if (p->index)
		sdr_path_mtu_apply(c, p);
	else
		mtu_apply(c);
}

static void mtu_limit(struct sdr_conn *c, uint32_t bytes)
{
	if (!sdr_pmtu_limit(&c->main.pmtu, bytes, SDR_PMTU_BY_ROUTE, c->rel->now))
		return;
	c->st.path_told++;
	mtu_apply(c);
}

void sdr_conn_mtu_ask(struct sdr_conn *c)
{
	struct sdr_uc *uc = c->rel->uc;
	uint32_t bytes;

	if (!c->main.pmtu.size || !uc->ops->path_mtu)
		return;
	bytes = uc->ops->path_mtu(uc, &c->addr);
	if (bytes)
		mtu_limit(c, bytes);
}

void sdr_conn_mtu_told(void *user, const struct sdr_uc_addr *to, uint32_t bytes)
{
	struct sdr_rel *rel = user;
	struct sdr_peer *p = sdr_peer_real(sdr_peer_find(rel, to));

	sdr_rel_now(rel);
	/* One that has moved to another address since hears of it when it asks. */
	if (p && p->conn && sdr_uc_addr_equal(&p->conn->addr, to))
		mtu_limit(p->conn, bytes);
}

void sdr_conn_mtu_moved(struct sdr_conn *c)
{
	if (sdr_pmtu_restart(&c->main.pmtu, c->rel->now))
		mtu_apply(c);
}

/* ---- probes ---------------------------------------------------------------------------------- */

/* False: the engine is full. */
static bool mtu_probe(struct sdr_conn *c, uint32_t size)
{
	uint32_t len = (size - c->rel->info.ctl_over) & ~3u;
	uint8_t *p = sdr_seal_begin(c->rel);
	size_t n, room = sdr_seal_room(c->rel, len);

	if (!p)
		return false;
	n = sdr_packet_encode(p, c->id.peer_cid, c->tx.pn);
	n += sdr_frame_ping_encode(p + n, room - n);
	n += sdr_frame_long_encode(p + n, room - n, SDR_FRAME_PADDING, NULL,
				   (uint16_t)(room - n - SDR_FRAME_LONG_HDR));
	SDR_ASSERT(n == room);
	sdr_seal_probe(c, n);
	sdr_pmtu_sent(&c->main.pmtu, c->tx.pn, size, c->rel->now, sdr_conn_rto(c, 0));
	c->tx.pn++;
	c->rel->activity++;
	return true;
}

void sdr_conn_mtu_send(struct sdr_conn *c)
{
	uint32_t size[SDR_PMTU_PROBES], n;

	/* Hardly ever: this is asked with each packet. */
	if (sdr_pmtu_deadline(&c->main.pmtu) > c->rel->now ||
	    sdr_conn_mtu_deadline(c) > c->rel->now)
		return;
	if (mtu_route(c))
		mtu_apply(c);
	n = sdr_pmtu_probes(&c->main.pmtu, c->rel->now, size);
	mtu_found(c);
	for (uint32_t i = 0; i < n; i++)
		if (!mtu_probe(c, size[i]))
			break;
}

uint64_t sdr_conn_mtu_deadline(const struct sdr_conn *c)
{
	uint64_t next = sdr_pmtu_deadline(&c->main.pmtu);

	if (next == NEVER || !c->hs.validated || c->state != SDR_CONN_OPEN || c->rel->closing ||
	    !c->rel->ops->busy(c))
		return NEVER;
	return next;
}
