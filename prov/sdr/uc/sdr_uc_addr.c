/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Addresses of engines on IP networks: engine form, socket form, text.  The engine form is compared
 * byte by byte, so everything that does not tell peers apart (flow labels, the scope of global
 * addresses, IPv4 mapped into IPv6) is left out of it.  No state, no I/O but the name of an
 * interface (the scope of a link-local address).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "sdr_uc_addr.h"

#define SDR_UC_ADDR_V4	 7u   /* bytes: family, port, address */
#define SDR_UC_ADDR_V6	 23u  /* bytes: family, port, address, scope */
#define SDR_UC_ADDR_TEXT 108u /* bytes of "address%interface" that parse looks at */

int sdr_uc_addr_from_sockaddr(struct sdr_uc_addr *out, const struct sockaddr *sa)
{
	memset(out, 0, sizeof(*out));
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)sa;

		out->len = SDR_UC_ADDR_V4;
		out->b[0] = 4;
		memcpy(out->b + 1, &in->sin_port, 2);
		memcpy(out->b + 3, &in->sin_addr, 4);
		return 0;
	}
	if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)sa;

		out->len = SDR_UC_ADDR_V6;
		out->b[0] = 6;
		memcpy(out->b + 1, &in6->sin6_port, 2);
		memcpy(out->b + 3, &in6->sin6_addr, 16);
		if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
			sdr_put_le32(out->b + 19, in6->sin6_scope_id);
		return 0;
	}
	return -EAFNOSUPPORT;
}

int sdr_uc_addr_to_sockaddr(const struct sdr_uc_addr *a, struct sockaddr_storage *out)
{
	if (a->len >= SDR_UC_ADDR_V4 && a->b[0] == 4) {
		struct sockaddr_in *in = (void *)out;

		memset(in, 0, sizeof(*in));
		in->sin_family = AF_INET;
		memcpy(&in->sin_port, a->b + 1, 2);
		memcpy(&in->sin_addr, a->b + 3, 4);
		return sizeof(*in);
	}
	/* Without the scope id (as in a QP info) 19 bytes. */
	if (a->len >= SDR_UC_ADDR_V6 - 4 && a->b[0] == 6) {
		struct sockaddr_in6 *in6 = (void *)out;

		memset(in6, 0, sizeof(*in6));
		in6->sin6_family = AF_INET6;
		memcpy(&in6->sin6_port, a->b + 1, 2);
		memcpy(&in6->sin6_addr, a->b + 3, 16);
		if (a->len >= SDR_UC_ADDR_V6)
			in6->sin6_scope_id = sdr_get_le32(a->b + 19);
		return sizeof(*in6);
	}
	return -EINVAL;
}

/*
 * A /24 is the smallest network that is routed for itself, and a /48 is what a site is given (RFC
 * 6177): hosts in it most likely have their way out of it in common.
 */
uint8_t sdr_uc_addr_where(const struct sdr_uc_addr *a, bool net, uint8_t out[SDR_UC_ADDR_WHERE])
{
	uint8_t n = a->len < 3 ? 0 : (uint8_t)(a->len - 3);

	if (a->len < SDR_UC_ADDR_V4)
		return 0;
	out[0] = a->b[0];
	if (net)
		n = a->b[0] == 4 ? 3 : 6;
	if (n > SDR_UC_ADDR_WHERE - 1)
		n = SDR_UC_ADDR_WHERE - 1;
	memcpy(out + 1, a->b + 3, n);
	return (uint8_t)(n + 1);
}

/* Decimal, all of it, at most max; -1 otherwise. */
static long sdr_uc_decimal(const char *s, long max)
{
	long v = 0;

	if (!*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		v = v * 10 + (*s - '0');
		if (v > max)
			return -1;
	}
	return v;
}

static int sdr_uc_host_parse(char *host, bool v6, struct sockaddr_storage *out)
{
	struct sockaddr_in6 *in6 = (void *)out;
	char *zone;
	long scope;

	out->ss_family = v6 ? AF_INET6 : AF_INET;
	if (!v6)
		return inet_pton(AF_INET, host, &((struct sockaddr_in *)(void *)out)->sin_addr) == 1
			       ? 0
			       : -EINVAL;
	zone = strchr(host, '%');
	if (zone) {
		*zone++ = 0;
		scope = sdr_uc_decimal(zone, INT32_MAX);
		in6->sin6_scope_id = scope < 0 ? if_nametoindex(zone) : (uint32_t)scope;
		if (!in6->sin6_scope_id)
			return -EINVAL;
	}
	return inet_pton(AF_INET6, host, &in6->sin6_addr) == 1 ? 0 : -EINVAL;
}

int sdr_uc_addr_parse(const char *s, struct sockaddr_storage *out)
{
	char host[SDR_UC_ADDR_TEXT];
	const char *port = NULL, *end;
	bool v6 = *s == '[';
	long v = 0;

	memset(out, 0, sizeof(*out));
	if (!*s) {
		out->ss_family = AF_INET;
		return 0;
	}
	end = strchr(v6 ? ++s : s, v6 ? ']' : ':');
	if (v6) {
		if (!end || (end[1] && end[1] != ':'))
			return -EINVAL;
		port = end[1] ? end + 2 : NULL;
	} else {
		port = end ? end + 1 : NULL;
		end = end ? end : s + strlen(s);
	}
	if (end == s || (size_t)(end - s) >= sizeof(host))
		return -EINVAL;
	memcpy(host, s, (size_t)(end - s));
	host[end - s] = 0;
	if (port) {
		v = sdr_uc_decimal(port, 65535);
		if (v < 0)
			return -EINVAL;
	}
	if (sdr_uc_host_parse(host, v6, out))
		return -EINVAL;
	/* The port lies at the same place in both families. */
	((struct sockaddr_in *)(void *)out)->sin_port = htons((uint16_t)v);
	return 0;
}

void sdr_uc_addr_format(const struct sdr_uc_addr *a, char *buf, size_t len)
{
	char text[INET6_ADDRSTRLEN] = "?";

	if (a->len >= SDR_UC_ADDR_V4 && a->b[0] == 4) {
		inet_ntop(AF_INET, a->b + 3, text, sizeof(text));
		snprintf(buf, len, "%s:%u", text, sdr_get_be16(a->b + 1));
	} else if (a->len >= SDR_UC_ADDR_V6 - 4 && a->b[0] == 6) {
		uint32_t scope = a->len >= SDR_UC_ADDR_V6 ? sdr_get_le32(a->b + 19) : 0;

		inet_ntop(AF_INET6, a->b + 3, text, sizeof(text));
		if (scope)
			snprintf(buf, len, "[%s%%%u]:%u", text, scope, sdr_get_be16(a->b + 1));
		else
			snprintf(buf, len, "[%s]:%u", text, sdr_get_be16(a->b + 1));
	} else {
		snprintf(buf, len, "?");
	}
}
