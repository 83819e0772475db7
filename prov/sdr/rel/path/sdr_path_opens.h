/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Who began to open a connection of late: see sdr_path_opens.c. */
#ifndef SDR_PATH_OPENS_H
#define SDR_PATH_OPENS_H

#include <stdint.h>
#include "sdr_path_mem.h"

#define SDR_PATH_NEW 16u /* paths on which those are counted that find them out */

/* Who began to open, of this span and the one before. */
struct sdr_path_opens {
	uint64_t span_ns; /* when it began */
	uint32_t now, before;
};

/* Of a path on which that is counted before anything is known of it. */
struct sdr_path_new {
	struct sdr_path_key key; /* len 0: none */
	struct sdr_path_opens opens;
};

/* One more. */
void sdr_path_opens_add(struct sdr_path_opens *o, uint64_t rtt_ns, uint64_t now);
/* So many; one that began to open then is among them, or is to be. */
uint32_t sdr_path_opens_count(struct sdr_path_opens *o, uint64_t rtt_ns, uint64_t now,
			      uint64_t opened);

/* The same by the key, if it has one, in a table of SDR_PATH_NEW. */
void sdr_path_new_add(struct sdr_path_new *fresh, const struct sdr_path_key *k, uint64_t now);
uint32_t sdr_path_new_count(struct sdr_path_new *fresh, const struct sdr_path_key *k, uint64_t now,
			    uint64_t opened);

#endif /* SDR_PATH_OPENS_H */
