/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Addresses of engines on the wire: family, port, address, in both the same bytes
 * (uc/sdr_uc_addr.h) but for the scope of an IPv6 address, which is this host's alone: that of
 * where the HELLO came from.
 */
#include <string.h>
#include "base/sdr_assert.h"
#include "sdr_hello_addr.h"

#define HEAD	 3u /* family, port */
#define SCOPE_V6 4u /* behind the address */

static uint32_t ip_len(uint8_t family)
{
	return family == 4 ? 4 : family == 6 ? 16 : 0;
}

bool sdr_hello_addr_of(const struct sdr_uc_addr *addr, struct sdr_hello_addr *a)
{
	uint32_t len = ip_len(addr->b[0]);

	memset(a, 0, sizeof(*a));
	if (!len || addr->len < HEAD + len)
		return false;
	a->family = addr->b[0];
	a->port = sdr_get_be16(addr->b + 1);
	memcpy(a->ip, addr->b + HEAD, len);
	return a->port != 0;
}

void sdr_hello_addr_name(const struct sdr_hello_addr *a, struct sdr_uc_addr *name)
{
	uint32_t len = ip_len(a->family);

	SDR_ASSERT(len);
	memset(name, 0, sizeof(*name));
	name->len = (uint8_t)(HEAD + len + (a->family == 6 ? SCOPE_V6 : 0));
	name->b[0] = a->family;
	sdr_put_be16(name->b + 1, a->port);
	memcpy(name->b + HEAD, a->ip, len);
}

bool sdr_hello_addr_at(const struct sdr_hello_addr *a, const struct sdr_uc_addr *from,
		       struct sdr_uc_addr *addr)
{
	if (a->family && a->family != from->b[0])
		return false;
	*addr = *from;
	sdr_put_be16(addr->b + 1, a->port);
	if (a->family)
		memcpy(addr->b + HEAD, a->ip, ip_len(a->family));
	return true;
}
