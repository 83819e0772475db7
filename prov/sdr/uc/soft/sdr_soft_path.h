/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What this host has learned of the ways to its peers (sdr_soft_path.c).
 */
#ifndef SDR_SOFT_PATH_H
#define SDR_SOFT_PATH_H

#include <sys/socket.h>
#include "sdr_soft.h"

struct sdr_soft;

#define SDR_SOFT_WAYS 32u /* that are remembered, the newest */
#define SDR_SOFT_TELL 8u  /* events a poll */

/* The way to an address that the kernel refused a datagram for. */
struct sdr_soft_way {
	struct sdr_uc_addr to; /* len 0: none */
	uint32_t bytes;	       /* of the largest IP packet; 0: the route did not say */
	uint64_t asked, told;  /* ns: when routing was asked, and the owner told last */
	uint8_t source;	       /* that it begins at */
	bool tell;
	bool vain; /* routing had no answer that explains the refusal */
};

struct sdr_soft_paths {
	struct sdr_soft_way way[SDR_SOFT_WAYS];
	uint32_t next, tell; /* way that is forgotten next; how many are to be told */
	struct sdr_uc_addr to[SDR_SOFT_TELL]; /* of the last poll's events */
};

/*
 * The kernel refused a datagram from a source to this address for its size, an IP packet of that
 * many bytes.
 * Returns what the way carries, which is less; 0: nothing was learned.
 */
uint32_t sdr_soft_path_refused(struct sdr_soft *s, uint8_t source,
			       const struct sockaddr_storage *to, uint32_t bytes);
/* Events of what was learned since the last call. */
int sdr_soft_path_tell(struct sdr_soft *s, struct sdr_uc_ev *ev, int max);
uint32_t sdr_soft_path_mtu(struct sdr_uc *uc, const struct sdr_uc_addr *to);

#endif /* SDR_SOFT_PATH_H */
