/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What paths were found to carry, beyond the connections that found out: see sdr_path_mem.c. */
#ifndef SDR_PATH_MEM_H
#define SDR_PATH_MEM_H

#include <stdbool.h>
#include <stdint.h>

#define SDR_PATH_MEM_MAX 4096u /* keys; beyond, the one that was touched last longest ago goes */
#define SDR_PATH_KEY_MAX 43u   /* bytes */

/* older knowledge counts half, a quarter, nothing; ns */
#define SDR_PATH_FRESH_NS (60 * 1000000000ull)
#define SDR_PATH_OLD_NS	  (3600 * 1000000000ull)
#define SDR_PATH_LIFE_NS  (7 * 24 * 3600 * 1000000000ull)

struct sdr_path_key {
	uint8_t len; /* bytes; 0: there is none */
	uint8_t b[SDR_PATH_KEY_MAX];
};

struct sdr_path_ends {		  /* of a connection */
	struct sdr_path_key host; /* from here to its peer's host */
	struct sdr_path_key net;  /* and to the network that this is in */
};

struct sdr_path_facts {
	uint64_t rate_Bps; /* of the bottleneck; 0: unknown */
	uint64_t rtt_ns;   /* smallest; 0: unknown */
	/* packets that say what it loses, those lost, bursts of them; 0: nothing does */
	double pkts, lost, bursts;
	uint32_t mtu; /* bytes of an IP packet that passed; 0: unknown */
};

struct sdr_path_mem;

/* key: of the hash; NULL: no memory. */
struct sdr_path_mem *sdr_path_mem_new(uint64_t hash_key);
void sdr_path_mem_free(struct sdr_path_mem *m);
/* Called around each of the calls below, for users in several threads. */
void sdr_path_mem_lock_set(struct sdr_path_mem *m, void (*lock)(void *arg),
			   void (*unlock)(void *arg), void *arg);

/* A connection with these ends begins to open: one of those that will share what is known. */
void sdr_path_mem_open(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now);
/*
 * And one moved moved_Bps since the last time, or since it opened: a second ago, or once less.
 * True: that counts.
 */
bool sdr_path_mem_use(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
		      uint64_t moved_Bps);
/* It is over; first, last: when it was counted. */
void sdr_path_mem_leave(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
			uint64_t first, uint64_t last);
/* It has found out that much. */
void sdr_path_mem_tell(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
		       const struct sdr_path_facts *f);
/*
 * What a connection that began to open then may believe, as far as it is not too old: its share of
 * the rate.  False: nothing.
 */
bool sdr_path_mem_ask(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
		      uint64_t opened, struct sdr_path_facts *f, uint64_t *age_ns);

/* So many, that one included, began to open together, or move data there: at least 1. */
uint32_t sdr_path_mem_together(struct sdr_path_mem *m, const struct sdr_path_ends *e, uint64_t now,
			       uint64_t opened);

/* Grows when one begins to open; without the lock, any thread. */
uint32_t sdr_path_mem_opened(const struct sdr_path_mem *m);

/* Keys that something is known of, the one that was touched last first; no calls from fn. */
void sdr_path_mem_walk(struct sdr_path_mem *m, uint64_t now, void *user,
		       void (*fn)(void *user, const struct sdr_path_key *key,
				  const struct sdr_path_facts *f, uint64_t age_ns));
/* Somebody else found that out so long ago; kept if it is newer than what is known. */
bool sdr_path_mem_put(struct sdr_path_mem *m, uint64_t now, const struct sdr_path_key *key,
		      const struct sdr_path_facts *f, uint64_t age_ns);
/* Grows with what is told. */
uint64_t sdr_path_mem_news(const struct sdr_path_mem *m);
uint32_t sdr_path_mem_count(const struct sdr_path_mem *m);

#endif /* SDR_PATH_MEM_H */
