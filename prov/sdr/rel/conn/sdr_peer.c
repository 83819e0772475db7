/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers: one small object per address that matters now, found by a keyed hash.  It carries the
 * caller's word (the provider's fi_addr) and what the path to it is like, and lives as long as
 * something needs it: the caller's hold (sdr_rel_peer), a receive directed at it, an unexpected
 * message from it, a connection.  One that nothing on this side names (no hold, no directed
 * receive) is a stranger: it goes with its last connection and message.  What is known of the last
 * SDR_REL_PEERS_GONE of those that were validated is kept for when they come back, and for
 * statistics; the counts of others go to the endpoint's total.  Peers with a name are at most
 * SDR_REL_PEERS_MAX; strangers are bounded by their connections (sdr_conn_admit) and messages
 * (sdr_unexp_room).
 */
#include <errno.h>
#include <stdlib.h>
#include "base/sdr_rand.h"
#include "rel/sdr_rel.h"
#include "sdr_conn.h"
#include "sdr_peer.h"

static uint64_t peer_hash(const struct sdr_rel *rel, const struct sdr_uc_addr *addr)
{
	return sdr_hash64(addr, sizeof(*addr), rel->hash_key);
}

struct sdr_peer *sdr_peer_find(struct sdr_rel *rel, const struct sdr_uc_addr *addr)
{
	uint64_t h = peer_hash(rel, addr);
	struct sdr_hnode *n;

	for (n = sdr_htab_first(&rel->peers, h); n; n = n->next) {
		struct sdr_peer *p = sdr_container(n, struct sdr_peer, hnode);

		if (n->hash == h && sdr_uc_addr_equal(&p->addr, addr))
			return p;
	}
	return NULL;
}

struct sdr_peer *sdr_peer_make(struct sdr_rel *rel, const struct sdr_uc_addr *addr)
{
	struct sdr_peer *p = sdr_peer_find(rel, addr);

	if (p)
		return p;
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->rel = rel;
	p->addr = *addr;
	p->user = UINT64_MAX;
	sdr_list_init(&p->unexp);
	sdr_list_init(&p->gone);
	sdr_loss_est_init(&p->loss, rel->now);
	if (sdr_htab_add(&rel->peers, &p->hnode, peer_hash(rel, addr))) {
		free(p);
		return NULL;
	}
	return p;
}

static bool peer_needed(const struct sdr_peer *p)
{
	return p->names || p->nconns || p->nunexp || p->ncame;
}

static void peer_free(struct sdr_peer *p)
{
	SDR_ASSERT(!peer_needed(p) && sdr_list_empty(&p->gone) && !p->unexp_bytes);
	sdr_rel_stats_add(&p->rel->closed, &p->past);
	sdr_htab_del(&p->rel->peers, &p->hnode);
	free(p);
}

/* It is needed again, or goes. */
static void peer_gone_del(struct sdr_peer *p)
{
	if (sdr_list_empty(&p->gone))
		return;
	sdr_list_del(&p->gone);
	p->rel->ngone--;
}

void sdr_peer_release(struct sdr_peer *p)
{
	struct sdr_rel *rel = p->rel;

	if (peer_needed(p))
		return;
	if (!p->validated) {
		peer_free(p);
		return;
	}
	SDR_ASSERT(sdr_list_empty(&p->gone) && !p->conn && sdr_list_empty(&p->unexp));
	sdr_list_add_tail(&p->gone, &rel->gone);
	if (++rel->ngone <= SDR_REL_PEERS_GONE)
		return;
	p = sdr_container(rel->gone.next, struct sdr_peer, gone);
	peer_gone_del(p);
	peer_free(p);
}

void sdr_peer_name(struct sdr_peer *p)
{
	peer_gone_del(p);
	if (p->names++)
		return;
	p->rel->npeers_named++;
	p->rel->nstrangers -= p->nconns;
}

void sdr_peer_unname(struct sdr_peer *p)
{
	SDR_ASSERT(p->names);
	if (!--p->names) {
		p->rel->npeers_named--;
		p->rel->nstrangers += p->nconns;
	}
	sdr_peer_release(p);
}

void sdr_peer_conn_add(struct sdr_peer *p, struct sdr_conn *c)
{
	SDR_ASSERT(c->peer == p);
	peer_gone_del(p);
	if (!p->conn)
		p->conn = c;
	p->nconns++;
	p->used = true;
	p->rel->nstrangers += !p->names;
}

void sdr_peer_conn_del(struct sdr_peer *p, struct sdr_conn *c)
{
	if (p->conn == c)
		p->conn = NULL;
	p->srtt = c->main.rtt.samples ? c->main.rtt.srtt : p->srtt;
	SDR_ASSERT(p->nconns && (p->names || p->rel->nstrangers));
	p->nconns--;
	p->rel->nstrangers -= !p->names;
	sdr_peer_release(p);
	p = c->alias.by;
	if (!p)
		return;
	SDR_ASSERT(p->ncame && p->came != c);
	p->ncame--;
	sdr_peer_release(p);
}

void sdr_peer_conn_move(struct sdr_conn *c, struct sdr_peer *to)
{
	struct sdr_peer *p = c->peer;

	SDR_ASSERT(p->conn == c && p->nconns && !c->alias.by && !p->same && !to->same);
	p->conn = NULL;
	p->nconns--;
	p->rel->nstrangers -= !p->names;
	p->same = to;
	p->came = c;
	p->ncame++;
	c->alias.by = p;
	c->peer = to;
	to->loss = p->loss;
	to->srtt = p->srtt;
	to->validated = true;
	sdr_peer_conn_add(to, c);
}

void sdr_rel_peer_put(struct sdr_peer *p)
{
	sdr_peer_unname(p);
}

struct sdr_peer *sdr_rel_peer_find(struct sdr_rel *rel, const struct sdr_uc_addr *addr)
{
	return sdr_peer_find(rel, addr);
}

const struct sdr_uc_addr *sdr_peer_addr(const struct sdr_peer *peer)
{
	return &peer->addr;
}

void sdr_peer_user_set(struct sdr_peer *peer, uint64_t v)
{
	peer->user = v;
}

uint64_t sdr_peer_user(const struct sdr_peer *peer)
{
	return peer->user;
}

void sdr_rel_peers_walk(struct sdr_rel *rel, void (*fn)(void *user, struct sdr_peer *peer),
			void *user)
{
	for (uint32_t i = 0; rel->peers.bucket && i <= rel->peers.mask; i++) {
		struct sdr_hnode *n = rel->peers.bucket[i], *next;

		for (; n; n = next) {
			struct sdr_peer *p = sdr_container(n, struct sdr_peer, hnode);

			next = n->next;
			if (p->used)
				fn(user, p);
		}
	}
}

void sdr_peers_destroy(struct sdr_rel *rel)
{
	for (uint32_t i = 0; rel->peers.bucket && i <= rel->peers.mask; i++) {
		while (rel->peers.bucket[i]) {
			struct sdr_hnode *n = rel->peers.bucket[i];

			rel->peers.bucket[i] = n->next;
			free(sdr_container(n, struct sdr_peer, hnode));
		}
	}
	sdr_htab_destroy(&rel->peers);
}

int sdr_rel_peer_scheme(struct sdr_peer *peer, const struct sdr_scheme_ops *scheme)
{
	while (peer->same)
		peer = peer->same;
	if (peer->nconns)
		return -EBUSY;
	peer->scheme = scheme;
	return 0;
}
