/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* How many of an endpoint's connections sent, or received, at the same time: see sdr_fan.c. */
#ifndef SDR_FAN_H
#define SDR_FAN_H

#include <stdint.h>
#include "base/sdr_list.h"

#define SDR_FAN_MAX 64u /* are counted, and looked at */

struct sdr_fan { /* of an endpoint and a direction */
	struct sdr_list seen;
};

struct sdr_fan_member {	      /* of a connection */
	struct sdr_list link; /* fan->seen, the one seen last first; itself: never seen */
	uint64_t at;	      /* when it was seen, ns */
	uint64_t net;	      /* where its peer is: those of one network are counted */
	uint32_t win; /* bytes with which it begins, as one of many; 0: unknown.  The owner's */
};

void sdr_fan_init(struct sdr_fan *f);
void sdr_fan_member_init(struct sdr_fan_member *m);
/* Data of it left, or came; never earlier than that of another. */
void sdr_fan_seen(struct sdr_fan *f, struct sdr_fan_member *m, uint64_t net, uint64_t now);
/* It ends. */
void sdr_fan_leave(struct sdr_fan_member *m);
/*
 * Members of m's network seen since then, m included whenever it was seen; at least 1.  *win: the
 * mean of theirs that are known; 0: none is.
 */
uint32_t sdr_fan_count(const struct sdr_fan *f, const struct sdr_fan_member *m, uint64_t since,
		       uint32_t *win);

#endif /* SDR_FAN_H */
