/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How the verbs engine breaks, and its clock.
 *
 * A device that fails, its control queue pair or a queue that the device disables, or a port that
 * stays down for SDR_VERBS_DOWN_NS, breaks the engine: poll says so once, with a reason as text.
 * A port that is down for less is like any other silence on the path, unless the device gives queue
 * pairs up for it.  A queue pair of a QP that fails breaks that QP only (sdr_verbs_bad.c): its peer
 * can make it fail.
 *
 * Any thread may say that something failed: the first reason stays, and nothing is freed.
 */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "sdr_verbs_impl.h"

uint64_t sdr_verbs_now(struct sdr_uc *uc)
{
	struct timespec ts;

	(void)uc;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static void sdr_verbs_break_now(struct sdr_verbs *v, int err, const char *what)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&v->err, &none, err))
		snprintf(v->reason, sizeof(v->reason), "%s: %s", v->device, what);
}

void sdr_verbs_break(struct sdr_verbs *v, int err, const char *what)
{
	unsigned long long none = 0;

	if (err != -EIO)
		sdr_verbs_break_now(v, err, what);
	else if (atomic_compare_exchange_strong(&v->failed_at, &none, sdr_verbs_now(&v->uc)))
		snprintf(v->failed, sizeof(v->failed), "%s", what);
}

void sdr_verbs_fail_check(struct sdr_verbs *v, uint64_t now)
{
	uint64_t at = atomic_load(&v->failed_at);
	struct ibv_port_attr port;

	/* at may be later than now */
	if (!at || now < at + SDR_VERBS_FAIL_NS || atomic_load(&v->err))
		return;
	if (!v->ibv->query_port(v->pd->ctx, v->port, &port) && port.state != IBV_PORT_ACTIVE)
		sdr_verbs_break_now(v, -ENETDOWN, SDR_VERBS_DOWN_WORDS);
	else
		sdr_verbs_break_now(v, -EIO, v->failed);
}
