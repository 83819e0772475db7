/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The size of packets on paths beside a connection's first.  See sdr_path_mtu.c. */
#ifndef SDR_PATH_MTU_H
#define SDR_PATH_MTU_H

#include "sdr_conn.h"

/* IP bytes of the longest packet that leaves now, by any path; the first carries it. */
uint32_t sdr_path_mtu_need(const struct sdr_conn *c);
/* Of the next long challenge by this path: those, or, by turns, what every path should carry. */
uint32_t sdr_path_mtu_asks(const struct sdr_conn *c, const struct sdr_path *p);
/* One of so many IP bytes was answered: it is alive, or about to be. */
void sdr_path_mtu_proved(struct sdr_conn *c, struct sdr_path *p, uint32_t bytes);
/* The size in force has changed: the engine hears of it. */
void sdr_path_mtu_apply(struct sdr_conn *c, const struct sdr_path *p);
/* The longest packets are others now: the search goes as far, and no further. */
void sdr_path_mtu_follow(struct sdr_conn *c);
/* IP bytes of the probes that are to leave by it now, as sdr_pmtu_probes. */
uint32_t sdr_path_mtu_probes(struct sdr_conn *c, struct sdr_path *p,
			     uint32_t size[SDR_PMTU_PROBES]);
/* One of so many IP bytes was answered. */
void sdr_path_mtu_passed(struct sdr_conn *c, struct sdr_path *p, uint32_t bytes);

/* IP bytes that a packet by it may have; 0: nothing is known, as much as both sides take. */
static inline uint32_t sdr_path_mtu_size(const struct sdr_conn *c, const struct sdr_path *p)
{
	return p->pmtu.size ? p->pmtu.size : c->main.pmtu.size;
}

/* Bytes of a control datagram by it. */
static inline uint32_t sdr_path_mtu_ctl(const struct sdr_conn *c, const struct sdr_path *p)
{
	uint32_t ctl = p->pmtu.size ? (p->pmtu.size - c->rel->info.ctl_over) & ~3u : c->ctl_max;

	return ctl < c->ctl_max ? ctl : c->ctl_max;
}

#endif /* SDR_PATH_MTU_H */
