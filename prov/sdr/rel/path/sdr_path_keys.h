/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The keys of a memory of paths, and what is under each: see sdr_path_keys.c. */
#ifndef SDR_PATH_KEYS_H
#define SDR_PATH_KEYS_H

#include <stdint.h>
#include "base/sdr_htab.h"
#include "base/sdr_list.h"
#include "sdr_path_mem.h"
#include "sdr_path_opens.h"

struct sdr_path_entry {
	struct sdr_hnode hnode;
	struct sdr_list link; /* keys->touched */
	struct sdr_path_key key;
	struct sdr_path_facts f;
	uint64_t touched_ns;
	/* when f was found out; before the clock began, if negative */
	int64_t found_ns;
	/* who moves data, of this second and the one before, and how much together */
	uint64_t second;
	uint32_t movers, movers_before;
	uint64_t moved, moved_before; /* bytes per second */
	struct sdr_path_opens opens;
};

struct sdr_path_keys {
	struct sdr_htab tab;
	struct sdr_list touched; /* the last one first */
	uint64_t hash_key;
};

/* Of a table that is zero. */
void sdr_path_keys_init(struct sdr_path_keys *t, uint64_t hash_key);
void sdr_path_keys_destroy(struct sdr_path_keys *t);

/* NULL: it is not there, or there is none. */
struct sdr_path_entry *sdr_path_keys_find(const struct sdr_path_keys *t,
					  const struct sdr_path_key *k);
/* One that is not there.  NULL: no memory, or all others were touched later. */
struct sdr_path_entry *sdr_path_keys_make(struct sdr_path_keys *t, const struct sdr_path_key *k,
					  uint64_t touched_ns);
/* Found or made, and touched now.  NULL: no memory, or there is no key. */
struct sdr_path_entry *sdr_path_keys_touch(struct sdr_path_keys *t, const struct sdr_path_key *k,
					   uint64_t now);

#endif /* SDR_PATH_KEYS_H */
