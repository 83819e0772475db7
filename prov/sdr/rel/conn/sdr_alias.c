/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers behind address translation: they are seen at one address and known by another.
 *
 * HELLO and HELLO_ACK carry their sender's name, what it tells others to reach it by.  A connection
 * whose peer is seen elsewhere *claims* that name.  Nothing follows from it until something on this
 * side names the same (an address vector, an operation, a directed receive) and has no connection
 * there.  Then the name itself is tried, by a HELLO as ever:
 *
 *   another endpoint answers      the claim is void; that one has the name
 *   the same endpoint answers     it is proved.  CHECK in the HELLO says that the connection is
 *                                 there, and it answers SAME instead of opening a second one; where
 *                                 both sides have opened one already both stay, and each sends on
 *                                 one alone
 *   nothing answers               for SDR_ALIAS_HELLOS repeats and SDR_ALIAS_PATIENCE_NS: it is
 *                                 believed, if nothing ever answered there
 *
 * What is proved or believed makes one peer of both: the one with the name.  The connection goes
 * over to it with all that came through it, and so do operations that waited for the name's
 * handshake; the address where it was seen becomes another word for it (peer->same) for as long as
 * the connection lives.  While the claim is looked into, messages of the connection wait
 * (rec.held), so that none is reported as a stranger's.
 *
 * Trust: a claim counts from an address that is validated, once a connection; it takes no name that
 * a live connection has, nor one that ever answered for itself.  Who wants a name that is not his
 * must be silent about it longer than its owner: who answers, wins.
 *
 * State: the claims by name (rel->claims), and in each connection its own.  The timer is the
 * connection's that tries the name.  The endpoint's thread.
 */
#include <string.h>
#include "base/sdr_rand.h"
#include "rel/sdr_rel.h"
#include "sdr_alias.h"
#include "sdr_conn_ops.h"
#include "sdr_hello_addr.h"
#include "sdr_peer_cid.h"
#include "wire/sdr_tlv.h"

/* ---- addresses ------------------------------------------------------------------------------- */

static bool addr_zero(const uint8_t *p, size_t n)
{
	while (n && !*p)
		p++, n--;
	return !n;
}

static size_t addr_put(uint8_t *p, size_t room, uint8_t type, const struct sdr_uc_addr *a)
{
	struct sdr_hello_addr h;
	uint8_t v[3 + sizeof(h.ip)]; /* family, port, address */

	if (!sdr_hello_addr_of(a, &h))
		return 0;
	return sdr_tlv_put(p, room, type, v, (uint16_t)sdr_hello_addr_put(v, sizeof(v), &h));
}

/* It may be another host's, whoever says so: neither this host's nor a link's, nor a group's. */
static bool addr_global(const struct sdr_hello_addr *a)
{
	if (a->family == 4)
		return a->ip[0] && a->ip[0] != 127 && a->ip[0] < 224;
	return a->ip[0] != 0xff && !addr_zero(a->ip, 15) &&
	       !(a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80);
}

/* The name that a HELLO carries.  False: none, or one that no endpoint can have. */
static bool hello_name(const struct sdr_hello *h, struct sdr_uc_addr *name)
{
	const uint8_t *p = h->addrs;
	struct sdr_hello_addr a;

	if (!p || sdr_hello_addr_next(&p, p + h->addrs_len, &a) != 1 || !a.family)
		return false;
	sdr_hello_addr_name(&a, name);
	return addr_global(&a);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static uint64_t name_hash(const struct sdr_rel *rel, const struct sdr_uc_addr *name)
{
	return sdr_hash64(name, sizeof(*name), rel->hash_key);
}

/* The oldest of those that claim this name, with a validated address if so asked; *n: of all. */
static struct sdr_conn *claim_find(struct sdr_rel *rel, const struct sdr_uc_addr *name,
				   bool validated, uint32_t *n)
{
	struct sdr_conn *first = NULL;
	uint64_t h;

	*n = 0;
	if (!rel->claims.n)
		return NULL;
	h = name_hash(rel, name);
	for (struct sdr_hnode *p = sdr_htab_first(&rel->claims, h); p; p = p->next) {
		struct sdr_conn *c = sdr_container(p, struct sdr_conn, alias.node);

		sdr_rel_step(rel);
		if (p->hash != h || !sdr_uc_addr_equal(&c->alias.name, name))
			continue;
		++*n;
		if ((c->hs.validated || !validated) && (!first || c->hs.born < first->hs.born))
			first = c;
	}
	return first;
}

size_t sdr_alias_put(const struct sdr_conn *c, enum sdr_rel_type type, uint8_t *p, size_t room)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_conn *k;
	uint8_t check[8];
	size_t n = 0;
	uint32_t claims;

	if (rel->name.len)
		n = addr_put(p, room, SDR_HELLO_ADDRESSES, &rel->name);
	if (type == SDR_REL_HELLO_ACK && c->alias.seen_elsewhere)
		return n + addr_put(p + n, room - n, SDR_HELLO_OBSERVED, &c->addr);
	if (type == SDR_REL_HELLO && (k = claim_find(rel, &c->peer->addr, false, &claims))) {
		sdr_put_le64(check, sdr_hello_check(k->id.peer_cid, c->id.cid));
		n += sdr_tlv_put(p + n, room - n, SDR_HELLO_CHECK, check, sizeof(check));
	}
	return n;
}

/* ---- a HELLO comes --------------------------------------------------------------------------- */

struct sdr_conn *sdr_alias_conn(struct sdr_rel *rel, const struct sdr_uc_addr *from,
				const struct sdr_hello *h)
{
	struct sdr_peer *p = sdr_peer_find(rel, from);
	struct sdr_uc_addr name;

	if (p && p->came)
		return p->came;
	if (p && p->conn)
		return p->conn;
	/* It may have moved since it came. */
	p = hello_name(h, &name) ? sdr_peer_find(rel, &name) : NULL;
	return p && p->conn && sdr_uc_addr_equal(&p->conn->addr, from) ? p->conn : NULL;
}

struct sdr_conn *sdr_alias_known(struct sdr_rel *rel, const struct sdr_uc_addr *from,
				 const struct sdr_hello *h)
{
	struct sdr_conn *c = sdr_conn_by_peer(rel, h->cid, from);
	struct sdr_uc_addr name;

	if (!c && hello_name(h, &name))
		c = sdr_conn_by_peer(rel, h->cid, &name);
	return c && c->id.peer_instance == h->instance ? c : NULL;
}

static bool conn_checks(const struct sdr_peer *p, const struct sdr_hello *h)
{
	const struct sdr_conn *c = p ? p->conn : NULL;

	return c && sdr_hello_check(c->id.cid, h->cid) == h->check;
}

bool sdr_alias_same(struct sdr_rel *rel, const struct sdr_uc_addr *from, const struct sdr_hello *h)
{
	struct sdr_uc_addr name;

	if (!h->check)
		return false;
	return conn_checks(sdr_peer_real(sdr_peer_find(rel, from)), h) ||
	       (hello_name(h, &name) && conn_checks(sdr_peer_real(sdr_peer_find(rel, &name)), h));
}

static void claim_end(struct sdr_conn *k)
{
	sdr_htab_del(&k->rel->claims, &k->alias.node);
	k->alias.name.len = 0;
}

static void alias_note(struct sdr_peer *p, const char *text)
{
	if (p->rel->cbs->note)
		p->rel->cbs->note(p->rel->user, p, text);
}

static void claim_refuse(struct sdr_conn *k)
{
	k->st.claims_refused++;
	claim_end(k);
	alias_note(k->peer, "says that it has a name that is another's: a stranger");
}

/* Messages that waited have their turn. */
static void claim_release(struct sdr_conn *k)
{
	if (!k->rec.held)
		return;
	k->rec.held = false;
	k->rel->ops->released(k);
}

void sdr_alias_said(struct sdr_conn *c, const struct sdr_uc_addr *from, const struct sdr_hello *h)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_uc_addr name;
	uint32_t n;

	if (h->observed.port)
		c->alias.translated = true;
	claim_end(c);
	c->alias.seen_elsewhere = false;
	if (!hello_name(h, &name) || sdr_uc_addr_equal(&name, from))
		return;
	c->alias.seen_elsewhere = true;
	if (rel->cfg.no_aliases || sdr_uc_addr_equal(&name, &c->peer->addr))
		return;
	c->alias.name = name;
	(void)claim_find(rel, &name, false, &n);
	/* Nobody has our name but us. */
	if (n >= SDR_ALIAS_CLAIMS_MAX || sdr_uc_addr_equal(&name, &rel->name) ||
	    sdr_htab_add(&rel->claims, &c->alias.node, name_hash(rel, &name)))
		claim_refuse(c);
}

/* ---- two become one -------------------------------------------------------------------------- */

static void alias_merge(struct sdr_conn *k, struct sdr_peer *x)
{
	struct sdr_conn *c = x->conn;
	struct sdr_peer *y = k->peer;

	SDR_ASSERT(sdr_conn_live(k) && k->hs.validated && !k->alias.by && x != y && !x->same);
	claim_end(k);
	if (c && !c->hs.validated) {
		c->alias.until = NEVER;
		k->rel->ops->handover(c, k);
		sdr_conn_fail(c, SDR_REL_ERR_CLOSED);
	}
	k->st.aliases++;
	alias_note(x, "comes through address translation");
	sdr_peer_conn_move(k, x);
	k->rel->ops->rehomed(k, y);
	claim_release(k);
	k->rel->ops->opened(k);
	sdr_conn_kick(k);
	sdr_conn_wake(k);
}

/* The one that tries x's name waits no longer. */
static void check_over(struct sdr_conn *c)
{
	c->alias.until = NEVER;
	if (!c->hs.validated && !c->hs.passive && !c->rel->ops->wanted(c))
		sdr_conn_fail(c, SDR_REL_ERR_CLOSED);
}

/* k, whose address is validated, claims to be x: c is x's connection, or tries to be. */
static void check_begin(struct sdr_conn *k, struct sdr_conn *c)
{
	struct sdr_peer *x = c->peer;
	uint64_t gap;

	if (c->hs.validated) {
		if (c->id.peer_instance == k->id.peer_instance)
			alias_merge(k, x);
		else if (x->direct)
			claim_refuse(k);
		else
			k->st.claims_refused++; /* it may have it when that one is gone */
		return;
	}
	if (c->alias.until != NEVER)
		return;
	gap = SDR_ALIAS_HELLOS * 2 * (k->main.rtt.samples ? k->main.rtt.srtt : c->main.rtt.srtt);
	if (gap < SDR_ALIAS_PATIENCE_NS)
		gap = SDR_ALIAS_PATIENCE_NS;
	c->alias.until = c->hs.born + gap > c->rel->now ? c->hs.born + gap : c->rel->now;
	k->rec.held = true;
	sdr_conn_wake(c);
}

/* Something here knows x, and k claims it. */
static void claim_look(struct sdr_conn *k, struct sdr_peer *x)
{
	struct sdr_conn *c;

	if (k->peer == x || x->same || k->alias.by) {
		claim_refuse(k);
		return;
	}
	if (x->conn) {
		check_begin(k, x->conn);
		return;
	}
	c = sdr_conn_open(x, false, x->rel->mtu);
	if (!c)
		return;
	sdr_alias_opened(c); /* finds k */
	sdr_conn_wake(c);
}

void sdr_alias_opened(struct sdr_conn *c)
{
	uint32_t n;
	struct sdr_conn *k = claim_find(c->rel, &c->peer->addr, true, &n);

	if (!k)
		return;
	if (k->peer == c->peer || c->peer->same || k->alias.by)
		claim_refuse(k);
	else
		check_begin(k, c);
}

void sdr_alias_named(struct sdr_peer *p)
{
	struct sdr_rel *rel = p->rel;
	struct sdr_conn *k;
	uint32_t n;

	if (p->conn || p->same || rel->closing || !rel->claims.n)
		return;
	k = claim_find(rel, &p->addr, true, &n);
	if (!k)
		return;
	rel->now = rel->uc->ops->now(rel->uc);
	claim_look(k, p);
}

struct sdr_peer *sdr_rel_peer(struct sdr_rel *rel, const struct sdr_uc_addr *addr)
{
	struct sdr_peer *p = sdr_peer_find(rel, addr);

	if (rel->npeers_named >= SDR_REL_PEERS_MAX && (!p || !p->names))
		return NULL;
	if (!p)
		p = sdr_peer_make(rel, addr);
	if (!p)
		return NULL;
	sdr_peer_name(p);
	sdr_alias_named(p);
	return p;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* x's own connection is validated: those who claim its name are it, or are not. */
static void claims_settle(struct sdr_conn *c)
{
	struct sdr_conn *k;
	uint32_t n;

	c->alias.until = NEVER;
	while ((k = claim_find(c->rel, &c->peer->addr, true, &n))) {
		sdr_rel_step(c->rel);
		if (k->id.peer_instance == c->id.peer_instance && !k->alias.by) {
			alias_merge(k, c->peer);
			continue;
		}
		claim_refuse(k);
		claim_release(k);
	}
}

void sdr_alias_validated(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_peer *x;
	bool known, made;

	if (sdr_uc_addr_equal(&c->addr, &c->peer->addr))
		c->peer->direct = true;
	if (!rel->claims.n)
		return;
	claims_settle(c);
	if (!c->alias.name.len || rel->closing)
		return;
	x = sdr_peer_find(rel, &c->alias.name);
	known = x && (x->names || x->conn || x->same);
	if (!known && rel->cbs->knows)
		known = rel->cbs->knows(rel->user, &c->alias.name);
	made = known && !x;
	if (made)
		x = sdr_peer_make(rel, &c->alias.name);
	if (known && x)
		claim_look(c, x);
	if (made && x)
		sdr_peer_release(x);
}

bool sdr_alias_answered(struct sdr_conn *c, const struct sdr_hello *h)
{
	uint32_t n;
	struct sdr_conn *k;

	if (h->observed.port)
		c->alias.translated = true;
	if (!c->rel->claims.n && h->status != SDR_HELLO_SAME)
		return false;
	k = claim_find(c->rel, &c->peer->addr, false, &n);
	if (!k || k->id.peer_instance != h->instance)
		return h->status == SDR_HELLO_SAME;
	if (h->status == SDR_HELLO_SAME) {
		if (k->hs.validated && !c->hs.validated && !k->alias.by)
			alias_merge(k, c->peer);
		return true;
	}
	/*
	 * One connection of its cannot be both of ours: it has taken our HELLO for the answer to
	 * its own, and takes the answer to that one now.
	 */
	return k->id.peer_cid == h->cid;
}

void sdr_alias_silent(struct sdr_conn *c)
{
	struct sdr_peer *x = c->peer;
	struct sdr_conn *k;
	uint32_t n;

	SDR_ASSERT(sdr_conn_live(c) && !c->hs.validated);
	c->alias.until = NEVER;
	k = claim_find(c->rel, &x->addr, true, &n);
	if (!k)
		return;
	if (!x->direct) {
		alias_merge(k, x);
		return;
	}
	claim_refuse(k);
	claim_release(k);
	check_over(c);
}

void sdr_alias_failed(struct sdr_conn *c)
{
	struct sdr_rel *rel = c->rel;
	struct sdr_conn *k;
	struct sdr_peer *x;
	uint32_t n;

	/* It tried a name: nobody does any more. */
	if (c->alias.until != NEVER) {
		c->alias.until = NEVER;
		while ((k = claim_find(rel, &c->peer->addr, true, &n))) {
			claim_refuse(k);
			claim_release(k);
		}
	}
	if (c->alias.by) {
		c->alias.by->same = NULL;
		c->alias.by->came = NULL;
	}
	if (!c->alias.name.len)
		return;
	x = c->rec.held ? sdr_peer_find(rel, &c->alias.name) : NULL;
	claim_end(c);
	c->rec.held = false;
	if (x && x->conn && x->conn->alias.until != NEVER)
		check_over(x->conn);
}
