/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What all scenarios start from: a WAN with two nodes, a transfer over it, and the time it should
 * have taken.
 *
 * ideal = wire bytes / rate + RTT, wire bytes being those of the data packets sent once.  Every
 * time here is virtual, so the bounds do not depend on the machine.  SDR_SCENARIOS_V=1 prints the
 * measured figures; an argument is a filter of test names (with * and ?).
 */
#ifndef SCENARIOS_H
#define SCENARIOS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <cmocka.h>
#include "rel/path/sdr_cc_ops.h"
#include "../bed/simnet.h"

#define KB	  1024ull
#define MB	  (1024 * KB)
#define WAN_DELAY (12500 * US_NS) /* one way: 25 ms RTT */
#define WAN_RTT	  (2 * WAN_DELAY)
#define GBIT	  1000000000ull

static inline void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static inline void say(const char *fmt, ...)
{
	va_list ap;

	if (!getenv("SDR_SCENARIOS_V"))
		return;
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

static inline double ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

static inline void must(struct simnet *sn)
{
	char why[512];

	if (sn->failed) {
		simnet_close(sn, why, sizeof(why));
		fail_msg("%s", why);
	}
}

static inline void done(struct simnet *sn)
{
	char why[512];

	if (!simnet_close(sn, why, sizeof(why)))
		fail_msg("%s", why);
}

static inline void wan(struct simnet_cfg *c, uint64_t seed, uint64_t rate)
{
	simnet_cfg_default(c);
	c->seed = seed;
	c->link = (struct sdr_sim_link){ .rate_bps = rate, .delay_ns = WAN_DELAY };
	c->rel.cc = &sdr_cc_fixed;
	c->rel.rate_bps = rate;
	c->virtual_payload = true;
	c->tick_ns = 5 * US_NS;
}

static inline void start(struct simnet *sn, const struct simnet_cfg *c)
{
	int err = simnet_open(sn, c);

	must(sn);
	assert_int_equal(err, 0);
}

/* A first small message, so that connection and RTT are known. */
static inline void warm(struct simnet *sn)
{
	simnet_recv(sn, 1, 0, 64);
	simnet_send(sn, 0, 1, 64, 0);
	simnet_run_all(sn, 30 * S_NS);
	simnet_run_for(sn, 3 * sn->cfg.link.delay_ns + 100 * MS_NS);
	must(sn);
}

static inline uint64_t ideal_ns(const struct simnet *sn, uint64_t len)
{
	const struct sdr_sim_link *l = &sn->cfg.link;
	uint32_t mtu = sn->cfg.node.mtu ? sn->cfg.node.mtu : SDR_MTU_DEFAULT;
	uint64_t wire = len + (len + mtu - 1) / mtu * (SDR_SIM_IP_UDP + SDR_DATA_OVERHEAD);

	return (l->rate_bps ? (uint64_t)((double)wire * 8e9 / (double)l->rate_bps) : 0) +
	       2 * l->delay_ns;
}

/* One message from node 0 to node 1, receive posted before; the time until both sides know. */
static inline uint64_t transfer(struct simnet *sn, uint64_t len, uint64_t limit_ns)
{
	struct simnet_op *r, *s;
	uint64_t t0 = simnet_now(sn);

	r = simnet_recv(sn, 1, 0, len);
	s = simnet_send(sn, 0, 1, len, 0);
	simnet_run_all(sn, limit_ns);
	must(sn);
	assert_true(simnet_op_ok(r) && simnet_op_ok(s));
	return (r->done_ns > s->done_ns ? r->done_ns : s->done_ns) - t0;
}

#endif /* SCENARIOS_H */
