/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The kinds of values that say where packets go: lists of interfaces, addresses, ranges of ports.
 *
 * As in sdr_env_kind.c: a value is read whole or not at all, and the empty text is "none".
 * Addresses are numeric, since there is no name lookup here; whether this host has them is seen
 * where they are used.  No state, no I/O.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_net.h"

#include "sdr_env.h"
#include "sdr_env_kind.h"
#include "sdr_iface_pick.h"

static int sdr_net_refuse(const struct sdr_env_var *v, char *why, size_t len)
{
	snprintf(why, len, "must be %s", v->range);
	return -EINVAL;
}

/* ---- interfaces ------------------------------------------------------------------------------ */

static int sdr_iface_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			   size_t len)
{
	struct sdr_iface_rules rules;

	if (sdr_iface_rules_parse(text, &rules, why, len))
		return -EINVAL;
	snprintf(at, v->width, "%s", text);
	return 0;
}

static int sdr_iface_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	(void)v;
	return snprintf(buf, len, "%s", (const char *)at);
}

const struct sdr_env_kind sdr_kind_iface = { .parse = sdr_iface_parse, .format = sdr_iface_format };

/* ---- addresses ------------------------------------------------------------------------------- */

static uint16_t sdr_net_port(const struct sockaddr_storage *sa)
{
	/* It lies at the same place in both families. */
	return ntohs(((const struct sockaddr_in *)(const void *)sa)->sin_port);
}

/* ADDRESS, ADDRESS:PORT and with brackets; an IPv6 address alone needs none. */
static int sdr_net_addr(const char *text, struct sockaddr_storage *sa)
{
	char host[INET6_ADDRSTRLEN + IF_NAMESIZE + 3];
	const char *colon = strchr(text, ':');

	if (*text != '[' && colon && strchr(colon + 1, ':')) {
		if (snprintf(host, sizeof(host), "[%s]", text) >= (int)sizeof(host))
			return -EINVAL;
		text = host;
	}
	return sdr_uc_addr_parse(text, sa);
}

static bool sdr_net_multicast(const struct sockaddr_storage *sa)
{
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct sockaddr_in *in = (const void *)sa;

	if (sa->ss_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >= 0xe0000000u;
	return IN6_IS_ADDR_MULTICAST(&in6->sin6_addr);
}

static int sdr_host_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			  size_t len)
{
	struct sockaddr_storage sa = { .ss_family = 0 };
	const char *end;

	if (*text) {
		end = strchr(text, ']');
		if (sdr_net_addr(text, &sa) || sdr_net_multicast(&sa) ||
		    (end ? end[1] != 0 : sa.ss_family == AF_INET && strchr(text, ':')))
			return sdr_net_refuse(v, why, len);
	}
	memcpy(at, &sa, sizeof(sa));
	return 0;
}

static int sdr_remote_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			    size_t len)
{
	struct sockaddr_storage sa = { .ss_family = 0 };

	if (*text && (sdr_net_addr(text, &sa) || sdr_net_multicast(&sa) ||
		      sdr_sockaddr_any((const struct sockaddr *)&sa)))
		return sdr_net_refuse(v, why, len);
	memcpy(at, &sa, sizeof(sa));
	return 0;
}

/* Without the port where that is 0. */
static int sdr_net_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	const struct sockaddr_storage *sa = at;
	char text[INET6_ADDRSTRLEN + 16];
	struct sdr_uc_addr addr;

	(void)v;
	if (sdr_uc_addr_from_sockaddr(&addr, (const struct sockaddr *)sa))
		return snprintf(buf, len, "%s", "");
	sdr_uc_addr_format(&addr, text, sizeof(text));
	if (!sdr_net_port(sa))
		*strrchr(text, ':') = 0;
	return snprintf(buf, len, "%s", text);
}

const struct sdr_env_kind sdr_kind_host = { .parse = sdr_host_parse, .format = sdr_net_format };
const struct sdr_env_kind sdr_kind_remote = { .parse = sdr_remote_parse, .format = sdr_net_format };

/* ---- ports ----------------------------------------------------------------------------------- */

/* Digits, up to 65535; what follows, NULL: no number. */
static const char *sdr_net_digits(const char *s, uint32_t *out)
{
	const char *at = s;

	for (*out = 0; *at >= '0' && *at <= '9'; at++) {
		*out = *out * 10 + (uint32_t)(*at - '0');
		if (*out > 65535)
			return NULL;
	}
	return at == s ? NULL : at;
}

static int sdr_ports_parse(const struct sdr_env_var *v, const char *text, void *at, char *why,
			   size_t len)
{
	struct sdr_port_range r = { 0, 0 };
	uint32_t lo = 0, hi = 0;
	const char *end;

	if (*text) {
		end = sdr_net_digits(text, &lo);
		end = end && *end == '-' ? sdr_net_digits(end + 1, &hi) : NULL;
		if (!end || *end || !lo || hi < lo) {
			snprintf(why, len, "must be %s, from 1 to 65535", v->range);
			return -EINVAL;
		}
		r.lo = (uint16_t)lo;
		r.hi = (uint16_t)hi;
	}
	memcpy(at, &r, sizeof(r));
	return 0;
}

static int sdr_ports_format(const struct sdr_env_var *v, const void *at, char *buf, size_t len)
{
	const struct sdr_port_range *r = at;

	(void)v;
	if (!r->lo)
		return snprintf(buf, len, "%s", "");
	return snprintf(buf, len, "%u-%u", r->lo, r->hi);
}

const struct sdr_env_kind sdr_kind_ports = { .parse = sdr_ports_parse, .format = sdr_ports_format };
