/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Opens an engine by name and puts a context on it, and finds out where others meet one that was
 * given no address: at this host's address on the way to them.  The only file of the SDK that
 * reaches for the system: the engine's open, routes, and the kernel's random numbers when no seed
 * is given.  Everything else of the SDK links without it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_net.h"
#include "uc/sdr_uc_open.h"

#include "sdr_context.h"
#include "sdr_qp.h"
#include "sdr_sdk.h"
#include "sdr_why.h"

static int sdr_context_seed(uint64_t seed, uint64_t out[2])
{
	if (seed) {
		out[0] = seed;
		out[1] = ~seed;
		return 0;
	}
	return getrandom(out, 16, 0) == 16 ? 0 : -EIO;
}

/* Behind the default route alone (documentation addresses, RFC 5737 and 3849). */
static const char *const sdr_context_world[] = { "192.0.2.1", "2001:db8::1" };

/* This host's address towards a peer, with the port of the engine; 0 or negative errno. */
static int sdr_context_route(struct sdr_context *ctx, const struct sockaddr *to,
			     struct sdr_uc_addr *out)
{
	struct sdr_uc_addr own;
	struct sockaddr_storage from;
	int err = sdr_uc_route(to, &from);

	if (err)
		return err;
	err = sdr_uc_addr_from_sockaddr(out, (const struct sockaddr *)&from);
	if (err)
		return err;
	ctx->uc->ops->sockname(ctx->uc, &own);
	memcpy(out->b + 1, own.b + 1, 2); /* sdr_uc_addr.h: the port */
	return 0;
}

/* Towards the world, of the engine's family; without such a route none. */
static void sdr_context_home(struct sdr_context *ctx)
{
	struct sdr_uc_addr own, home;
	struct sockaddr_storage sa, to;
	size_t i;

	ctx->uc->ops->sockname(ctx->uc, &own);
	if (sdr_uc_addr_to_sockaddr(&own, &sa) < 0 || !sdr_sockaddr_any((struct sockaddr *)&sa))
		return;
	for (i = 0; i < sizeof(sdr_context_world) / sizeof(sdr_context_world[0]); i++)
		if (!sdr_uc_addr_parse(sdr_context_world[i], &to) && to.ss_family == sa.ss_family &&
		    !sdr_context_route(ctx, (const struct sockaddr *)&to, &home))
			ctx->home = home;
}

struct sdr_context *sdr_context_create(const char *dev_name, const struct sdr_dev_attr *attr)
{
	struct sdr_dev_attr a = { .size = sizeof(a) };
	struct sdr_uc_open_attr open_attr = { 0 };
	struct sdr_context *ctx;
	struct sdr_uc *uc;
	uint64_t rand[2];
	int err = -EINVAL;

	if (attr && attr->size < sizeof(attr->size))
		goto out;
	if (attr)
		memcpy(&a, attr, attr->size < sizeof(a) ? attr->size : sizeof(a));
	a.size = sizeof(a);
	if (a.why && a.why_len)
		a.why[0] = 0;
	if (a.channels > SDR_CHANNELS_MAX) {
		sdr_why(a.why, a.why_len, "channels %u: expected 1 to %u, or 0", a.channels,
			SDR_CHANNELS_MAX);
		goto out;
	}
	if (a.workers > SDR_WORKERS_MAX) {
		sdr_why(a.why, a.why_len, "workers %u: expected 0 to %u", a.workers,
			SDR_WORKERS_MAX);
		goto out;
	}
	err = sdr_context_seed(a.seed, rand);
	if (err)
		goto out;
	open_attr.mtu = a.mtu;
	open_attr.fault = a.fault;
	open_attr.seed = a.seed;
	open_attr.channels = a.channels;
	open_attr.workers = a.workers;
	open_attr.err = a.why;
	open_attr.err_len = a.why_len;
	err = sdr_uc_open(dev_name, &open_attr, &uc);
	if (err)
		goto out;
	ctx = sdr_context_create_on(uc, &a, rand);
	if (ctx) {
		sdr_context_home(ctx);
		return ctx;
	}
	err = -errno;
	uc->ops->close(uc);
out:
	sdr_why_end(a.why, a.why_len, err);
	errno = -err;
	return NULL;
}

int sdr_context_query(struct sdr_context *ctx, struct sdr_context_info *out)
{
	struct sdr_context_info i = { 0 };
	struct sdr_uc_addr addr;

	if (!ctx || !out || out->size < sizeof(out->size))
		return -EINVAL;
	i.size = out->size < sizeof(i) ? out->size : sizeof(i);
	snprintf(i.engine, sizeof(i.engine), "%s", ctx->info.name);
	ctx->uc->ops->sockname(ctx->uc, &addr);
	sdr_uc_addr_format(ctx->home.len ? &ctx->home : &addr, i.addr, sizeof(i.addr));
	i.mtu = ctx->mtu;
	i.ctl_max = ctx->info.ctl_max - SDR_WIRE_APP_HDR;
	i.rx_window = ctx->info.rx_window;
	i.keyed = ctx->info.rkeyed;
	memcpy(out, &i, i.size);
	return 0;
}

int sdr_qp_info_route(struct sdr_qp *qp, const char *peer, void *info)
{
	struct sdr_wire_qp_info i;
	struct sockaddr_storage to;
	struct sdr_uc_addr addr;
	int err;

	if (!qp || !peer || !info || sdr_uc_addr_parse(peer, &to) ||
	    sdr_sockaddr_any((const struct sockaddr *)&to))
		return -EINVAL;
	memset(&i, 0, sizeof(i));
	qp->ctx->uc->ops->qp_info(qp->uqp, &i);
	i.chunk = qp->chunk;
	if (!i.addr_len) {
		err = sdr_context_route(qp->ctx, (const struct sockaddr *)&to, &addr);
		if (err)
			return err;
		sdr_qp_info_addr(&i, &addr);
	}
	sdr_wire_qp_info_encode(info, &i);
	return 0;
}
