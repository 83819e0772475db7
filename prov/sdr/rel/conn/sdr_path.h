/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One path of a connection: what is known of it, and how much is under way on it.
 *
 * A path leads from a source of our engine to an address of the peer.  Each connection has one, its
 * first (c->main); with several (sdr_multipath.h) each has its round trip, window, rate and order of
 * its own, since nothing that one of them shows says anything of another.  Plain data: what is done
 * with it is the rooms'.
 */
#ifndef SDR_PATH_H
#define SDR_PATH_H

#include "rel/path/sdr_cc.h"
#include "rel/path/sdr_rack.h"
#include "rel/path/sdr_rtt.h"

struct sdr_path {
	struct sdr_rtt rtt;
	struct sdr_cc cc;
	struct sdr_rack rack;
	uint64_t inflight; /* bytes of data and packets, neither acknowledged nor lost */
};

#endif /* SDR_PATH_H */
