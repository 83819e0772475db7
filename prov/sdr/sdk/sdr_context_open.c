/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Opens an engine by name and puts a context on it.  The only file of the SDK that reaches for the
 * system: the engine's open, and the kernel's random numbers when no seed is given.  Everything
 * else of the SDK links without it.
 */
#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include "uc/sdr_uc_open.h"

#include "sdr_context.h"
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
		err = sdr_why(a.why, a.why_len, -EINVAL, "channels %u: expected 1 to %u, or 0",
			      a.channels, SDR_CHANNELS_MAX);
		goto out;
	}
	err = sdr_context_seed(a.seed, rand);
	if (err)
		goto out;
	open_attr.mtu = a.mtu;
	open_attr.fault = a.fault;
	open_attr.seed = a.seed;
	open_attr.channels = a.channels;
	open_attr.err = a.why;
	open_attr.err_len = a.why_len;
	err = sdr_uc_open(dev_name, &open_attr, &uc);
	if (err)
		goto out;
	ctx = sdr_context_create_on(uc, &a, rand);
	if (ctx)
		return ctx;
	err = -errno;
	uc->ops->close(uc);
out:
	sdr_why_end(a.why, a.why_len, err);
	errno = -err;
	return NULL;
}
