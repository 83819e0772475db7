/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The keys of a memory of paths, and what is under each.  A key is bytes to this file.
 *
 * At most SDR_PATH_MEM_MAX, found by a hash under a key of the caller's, so that nobody can aim for
 * one bucket, and all of them in a list in the order in which they were touched, the last one
 * first.  Where there is no room the one goes that was touched longest ago, unless the new one (of
 * a file) was touched before all of them.  Allocates for new keys only; no clock, no lock.
 */
#include <stdlib.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "base/sdr_rand.h"
#include "sdr_path_keys.h"

void sdr_path_keys_init(struct sdr_path_keys *t, uint64_t hash_key)
{
	t->hash_key = hash_key;
	sdr_list_init(&t->touched);
}

static void path_drop(struct sdr_path_keys *t, struct sdr_path_entry *e)
{
	sdr_htab_del(&t->tab, &e->hnode);
	sdr_list_del(&e->link);
	free(e);
}

void sdr_path_keys_destroy(struct sdr_path_keys *t)
{
	while (!sdr_list_empty(&t->touched))
		path_drop(t, sdr_container(t->touched.next, struct sdr_path_entry, link));
	sdr_htab_destroy(&t->tab);
}

static uint64_t path_hash(const struct sdr_path_keys *t, const struct sdr_path_key *k)
{
	return sdr_hash64(k->b, k->len, t->hash_key);
}

struct sdr_path_entry *sdr_path_keys_find(const struct sdr_path_keys *t,
					  const struct sdr_path_key *k)
{
	uint64_t h = path_hash(t, k);
	struct sdr_hnode *n;

	SDR_ASSERT(k->len <= SDR_PATH_KEY_MAX);
	for (n = k->len ? sdr_htab_first(&t->tab, h) : NULL; n; n = n->next) {
		struct sdr_path_entry *e = sdr_container(n, struct sdr_path_entry, hnode);

		if (n->hash == h && e->key.len == k->len && !memcmp(e->key.b, k->b, k->len))
			return e;
	}
	return NULL;
}

/* Behind all that were touched later. */
static void path_place(struct sdr_path_keys *t, struct sdr_path_entry *e)
{
	struct sdr_list *at = &t->touched, *l = t->touched.prev;

	/* Those of a file come in this order. */
	if (l != &t->touched &&
	    sdr_container(l, struct sdr_path_entry, link)->touched_ns >= e->touched_ns) {
		sdr_list_add_tail(&e->link, &t->touched);
		return;
	}
	for (l = t->touched.next; l != &t->touched; l = l->next) {
		if (sdr_container(l, struct sdr_path_entry, link)->touched_ns <= e->touched_ns)
			break;
		at = l;
	}
	sdr_list_add_head(&e->link, at);
}

struct sdr_path_entry *sdr_path_keys_make(struct sdr_path_keys *t, const struct sdr_path_key *k,
					  uint64_t touched_ns)
{
	struct sdr_path_entry *e;

	while (t->tab.n >= SDR_PATH_MEM_MAX) {
		e = sdr_container(t->touched.prev, struct sdr_path_entry, link);
		if (e->touched_ns > touched_ns)
			return NULL;
		path_drop(t, e);
	}
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->key = *k;
	e->touched_ns = touched_ns;
	if (sdr_htab_add(&t->tab, &e->hnode, path_hash(t, k))) {
		free(e);
		return NULL;
	}
	path_place(t, e);
	return e;
}

struct sdr_path_entry *sdr_path_keys_touch(struct sdr_path_keys *t, const struct sdr_path_key *k,
					   uint64_t now)
{
	struct sdr_path_entry *e = sdr_path_keys_find(t, k);

	if (!k->len || !e)
		return k->len ? sdr_path_keys_make(t, k, now) : NULL;
	if (now > e->touched_ns) {
		e->touched_ns = now;
		sdr_list_del(&e->link);
		path_place(t, e);
	}
	return e;
}
