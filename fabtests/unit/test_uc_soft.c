/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine under the conformance suite: over loopback, with what kernels may lack, and
 * through shared memory.
 */
#include <errno.h>

#include "uc_conform_soft.h"

static const struct uc_soft_arg no_offload = { .addr = "127.0.0.1",
					       .off = SDR_SOFT_NO_GSO | SDR_SOFT_NO_GRO };
static const struct uc_soft_arg channels = { .addr = "127.0.0.1", .channels = 4 };
static const struct uc_soft_arg rings = { .addr = "127.0.0.1", .off = SDR_SOFT_NO_DELAY, .shm = 5 };
static const struct uc_soft_arg v6 = { .addr = "[::1]" };

static const struct uc_conform rows[] = {
	{ .name = "soft", .open = uc_soft_open },
	{ .name = "soft, no GSO, no GRO", .open = uc_soft_open, .arg = &no_offload },
	{ .name = "soft, 4 sockets", .open = uc_soft_open, .arg = &channels },
	{ .name = "soft, shared memory", .open = uc_soft_open, .arg = &rings },
	{ .name = "soft, IPv6", .open = uc_soft_open, .arg = &v6 },
};

int main(int argc, char **argv)
{
	return uc_conform_run(rows, sizeof(rows) / sizeof(rows[0]), argc, argv);
}
