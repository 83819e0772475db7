/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Which packets the line loses, by itself: see wan_loss.c. */
#ifndef SDR_TOOLS_WAN_LOSS_H
#define SDR_TOOLS_WAN_LOSS_H

#include "wan_link.h"

struct wan_loss {
	uint64_t rng;
	uint64_t at_ps; /* start of the last packet */
	bool bad;
};

/* Whether a packet that starts on the line at that time is lost; times do not go back. */
bool wan_loss_hit(struct wan_loss *s, const struct wan_link *cfg, uint64_t start_ps);

#endif /* SDR_TOOLS_WAN_LOSS_H */
