/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Addresses of engines on the wire, as HELLO carries them.  No state. */
#ifndef SDR_HELLO_ADDR_H
#define SDR_HELLO_ADDR_H

#include "uc/sdr_uc.h"
#include "wire/sdr_hello.h"

/* False: no address of a known family, or no port. */
bool sdr_hello_addr_of(const struct sdr_uc_addr *addr, struct sdr_hello_addr *a);
/* One with a family, as anybody may know it: of no scope. */
void sdr_hello_addr_name(const struct sdr_hello_addr *a, struct sdr_uc_addr *name);
/*
 * What the sender of a HELLO that came from there means.  False: an address of another family than
 * that, where nothing of ours gets.
 */
bool sdr_hello_addr_at(const struct sdr_hello_addr *a, const struct sdr_uc_addr *from,
		       struct sdr_uc_addr *addr);

#endif /* SDR_HELLO_ADDR_H */
