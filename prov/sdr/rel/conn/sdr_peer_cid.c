/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Connections by what their peer calls them, for RESET.  Hashed with our key, since the peer
 * chooses; and one for a number and address, so that a peer that gives
 * all of them the same number makes no chain of them.
 */
#include <string.h>
#include "base/sdr_endian.h"
#include "base/sdr_rand.h"
#include "sdr_peer_cid.h"

static struct sdr_conn *peer_cid_find(struct sdr_rel *rel, uint64_t cid,
				      const struct sdr_uc_addr *addr, uint64_t *hash)
{
	uint8_t m[sizeof(*addr) + 8];
	struct sdr_hnode *n;

	memcpy(m, addr, sizeof(*addr));
	sdr_put_le64(m + sizeof(*addr), cid);
	*hash = sdr_hash64(m, sizeof(m), rel->hash_key);
	for (n = sdr_htab_first(&rel->peer_cids, *hash); n; n = n->next) {
		struct sdr_conn *c = sdr_container(n, struct sdr_conn, pnode);

		sdr_rel_step(rel);
		if (n->hash == *hash && c->id.peer_cid == cid && sdr_uc_addr_equal(&c->addr, addr))
			return c;
	}
	return NULL;
}

struct sdr_conn *sdr_conn_by_peer(struct sdr_rel *rel, uint64_t cid, const struct sdr_uc_addr *addr)
{
	uint64_t h;

	return peer_cid_find(rel, cid, addr, &h);
}

void sdr_conn_peer_forget(struct sdr_conn *c)
{
	sdr_htab_del(&c->rel->peer_cids, &c->pnode);
}

void sdr_conn_peer_note(struct sdr_conn *c)
{
	uint64_t h;

	if (!peer_cid_find(c->rel, c->id.peer_cid, &c->addr, &h))
		/* no memory: silence will tell, later */
		(void)sdr_htab_add(&c->rel->peer_cids, &c->pnode, h);
}

bool sdr_conn_peer_noted(const struct sdr_conn *c)
{
	struct sdr_hnode *n = sdr_htab_first(&c->rel->peer_cids, c->pnode.hash);

	while (n && n != &c->pnode)
		n = n->next;
	return n;
}
