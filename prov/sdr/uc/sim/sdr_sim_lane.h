/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Links of the simulated network and their lanes: which there are. */
#ifndef SDR_SIM_LANE_H
#define SDR_SIM_LANE_H

#include "sdr_sim_impl.h"

/* What SDR_SIM_LANE has put together. */
static inline uint32_t sdr_sim_lane_node(uint32_t packed)
{
	return packed & 0xffff;
}
static inline uint32_t sdr_sim_lane_of(uint32_t packed)
{
	return packed >> 16;
}

/* from may be a lane.  It comes into being.  NULL: no memory, or there can be none. */
struct sdr_sim_lnk *sdr_sim_lnk_get(struct sdr_sim_world *w, uint32_t from, uint32_t to);
/* Why there was none. */
int sdr_sim_lnk_err(const struct sdr_sim_world *w, uint32_t from, uint32_t to);
/* NULL: not used yet. */
struct sdr_sim_lnk *sdr_sim_lnk_peek(const struct sdr_sim_world *w, uint32_t from, uint32_t to);
/* The packet's, which has one. */
struct sdr_sim_lnk *sdr_sim_lnk_of(const struct sdr_sim_world *w, const struct sdr_sim_packet *p);
/* From source to source. */
static inline uint32_t sdr_sim_lane(uint32_t from, uint32_t to)
{
	return from ? from : to;
}
/* Whom a setting of this lane may concern: itself, behind lane 0 the others.  *k is 0 at first. */
struct sdr_sim_lnk *sdr_sim_lane_next(struct sdr_sim_lnk *l, uint32_t *k);
/* A link, with its lanes. */
void sdr_sim_lane_free(struct sdr_sim_lnk *l);

#endif /* SDR_SIM_LANE_H */
