/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Opens an engine of the registry, with fault injection over it where that is configured.
 *
 * Names: "soft" (any IPv4 address, any port), "soft:ADDRESS", "soft:ADDRESS:PORT"; "verbs" (the
 * first RDMA device), "verbs:DEVICE", "verbs:DEVICE:ADDRESS", "verbs:DEVICE:ADDRESS:PORT"; IPv6
 * addresses in brackets, with an interface where they need one: "soft:[fe80::1%eth0]:4791".
 * Addresses are numeric: there is no name lookup here.
 */
#ifndef SDR_UC_OPEN_H
#define SDR_UC_OPEN_H

#include "sdr_uc_engine.h"

/*
 * attr may be NULL; its bind and device come from the name.  0, or -EINVAL (name, fault text, mtu
 * out of range), -EADDRINUSE, -EADDRNOTAVAIL, -EMSGSIZE (the device cannot carry the mtu),
 * -EAFNOSUPPORT, -ENODEV (no such RDMA device), -ENOMEM ...
 */
int sdr_uc_open(const char *name, const struct sdr_uc_open_attr *attr, struct sdr_uc **uc);
/* The same with the row instead of its name: bind and device are the attributes'. */
int sdr_uc_open_engine(const struct sdr_uc_engine *e, const struct sdr_uc_open_attr *attr,
		       struct sdr_uc **uc);

#endif /* SDR_UC_OPEN_H */
