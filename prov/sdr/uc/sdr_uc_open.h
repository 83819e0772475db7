/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Opens an engine by its name.  Names: "soft" (any IPv4 address, any port), "soft:ADDRESS",
 * "soft:ADDRESS:PORT"; "verbs" (the first RDMA device), "verbs:DEVICE", "verbs:DEVICE:ADDRESS",
 * "verbs:DEVICE:ADDRESS:PORT"; IPv6 addresses in brackets, with an interface where they need one:
 * "soft:[fe80::1%eth0]:4791".  Addresses are numeric: nothing here asks a name server.
 */
#ifndef SDR_UC_OPEN_H
#define SDR_UC_OPEN_H

#include "sdr_uc.h"

#define SDR_UC_ERR_LEN 256u /* bytes that hold every message written to sdr_uc_open_attr.err */

struct sdr_uc_open_attr {
	/* payload bytes a packet; 0: what the local device carries, at most SDR_MTU_DEFAULT */
	uint32_t mtu;
	const char *fault; /* syntax in sdr_fault.h; NULL or "": none */
	uint64_t seed;	   /* of fault injection where its text has no seed=; 0 is a seed too */
	/* soft: socket buffers, bytes asked of the kernel; 0: SDR_SOFT_RCVBUF, SDR_SOFT_SNDBUF */
	uint32_t rcvbuf;
	uint32_t sndbuf;
	uint8_t channels; /* soft: source ports, for ECMP; 0: 1 */
	uint8_t off;	  /* SDR_SOFT_NO_*: kernel features to do without (tests) */
	char *err;	  /* where a reason in words goes when open fails; may be NULL */
	size_t err_len;	  /* bytes at err */
};

/*
 * attr may be NULL.  0, or -EINVAL (name, fault text, mtu out of range), -EADDRINUSE,
 * -EADDRNOTAVAIL, -EMSGSIZE (the device cannot carry the mtu), -EAFNOSUPPORT, -ENODEV (no such RDMA
 * device), -ENOMEM ...
 */
int sdr_uc_open(const char *name, const struct sdr_uc_open_attr *attr, struct sdr_uc **uc);

#endif /* SDR_UC_OPEN_H */
