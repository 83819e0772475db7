/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where an endpoint's paths begin (sdr_ep_sources.c).
 */
#ifndef SDR_EP_SOURCES_H
#define SDR_EP_SOURCES_H

#include <stdint.h>
#include <sys/socket.h>

struct sdr_ep;
struct sdr_uc;

/*
 * The sources beside the one at bind, SDR_PATHS_MAX - 1 at most, for sdr_uc_open_attr.more: how
 * many.
 */
uint8_t sdr_ep_sources(const struct sdr_ep *ep, const struct sockaddr_storage *bind,
		       struct sockaddr_storage *more);
/* Says in the log which there are; asked: how many were, err: why there are fewer. */
void sdr_ep_sources_say(struct sdr_uc *uc, uint8_t asked, const char *err);

#endif /* SDR_EP_SOURCES_H */
