/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which interfaces are used, and in which order.
 *
 * FI_SDR_IFACE is a list of rules: names and networks in order of preference, or what is excluded.
 * An address that a "!" matches is out; when some rule is not of that kind, so is an address that
 * none of those matches, and the first that does says its place.  Within a place, or without rules,
 * the order is: the address that routing sends from, the others of its device; then plain
 * interfaces, bridges of containers, tunnels; link-local addresses behind all of them, loopback
 * last; IPv4 before IPv6, and else as the kernel lists them.  A bridge, a tunnel or even loopback
 * that carries the route is first like any other: what is last is last because it usually reaches
 * nobody.
 *
 * No state, no I/O, no libfabric type: interfaces come as data.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uc/sdr_uc_net.h"

#include "sdr_iface_pick.h"

/* ---- rules ----------------------------------------------------------------------------------- */

static const uint8_t *sdr_iface_ip(const struct sockaddr_storage *sa)
{
	if (sa->ss_family == AF_INET)
		return (const uint8_t *)&((const struct sockaddr_in *)(const void *)sa)->sin_addr;
	return (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
}

/* ADDRESS or ADDRESS/BITS; 0, or -EINVAL. */
static int sdr_iface_rule_net(struct sdr_iface_rule *u, const char *text)
{
	char host[INET6_ADDRSTRLEN];
	size_t n = strcspn(text, "/");
	unsigned long bits, max;
	char *end;

	if (n >= sizeof(host))
		return -EINVAL;
	memcpy(host, text, n);
	host[n] = 0;
	u->family = strchr(host, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(u->family, host, u->net) != 1)
		return -EINVAL;
	max = u->family == AF_INET ? 32 : 128;
	u->prefix = (unsigned int)max;
	if (!text[n])
		return 0;
	if (text[n + 1] < '0' || text[n + 1] > '9')
		return -EINVAL;
	bits = strtoul(text + n + 1, &end, 10);
	if (*end || bits > max)
		return -EINVAL;
	u->prefix = (unsigned int)bits;
	return 0;
}

static int sdr_iface_rule_parse(struct sdr_iface_rule *u, const char *text)
{
	memset(u, 0, sizeof(*u));
	snprintf(u->text, sizeof(u->text), "%s", text);
	if (*text == '!') {
		u->out = true;
		text++;
	}
	if (strchr(text, '/') || !sdr_iface_rule_net(u, text))
		return sdr_iface_rule_net(u, text);
	if (!*text || strlen(text) >= sizeof(u->name) || strpbrk(text, " \t!*?\"'()"))
		return -EINVAL;
	memcpy(u->name, text, strlen(text) + 1);
	return 0;
}

int sdr_iface_rules_parse(const char *text, struct sdr_iface_rules *r, char *why, size_t len)
{
	char item[sizeof(r->v[0].text)];
	size_t n;

	memset(r, 0, sizeof(*r));
	if (!*text)
		return 0;
	for (;; text += n + 1) {
		n = strcspn(text, ",");
		if (r->n == SDR_IFACE_RULES_MAX) {
			snprintf(why, len, "must be %u items at most", SDR_IFACE_RULES_MAX);
			return -EINVAL;
		}
		snprintf(item, sizeof(item), "%.*s", (int)n, text);
		if (n >= sizeof(item) || sdr_iface_rule_parse(&r->v[r->n], item)) {
			snprintf(
				why, len,
				"\"%s\" must be an interface's name (wan0) or a network (10.1.0.0/16, "
				"2001:db8::/32), or one of them with ! before it",
				item);
			return -EINVAL;
		}
		r->named |= !r->v[r->n++].out;
		if (!text[n])
			return 0;
	}
}

/* Bytes of a device's name: a label of one more address (eth0:1) is behind it. */
static size_t sdr_iface_dev(const char *name)
{
	return strcspn(name, ":");
}

static bool sdr_iface_rule_match(const struct sdr_iface_rule *u, const struct sdr_iface *f)
{
	const uint8_t *ip = sdr_iface_ip(&f->addr);
	unsigned int whole = u->prefix / 8, rest = u->prefix % 8;

	if (u->name[0])
		return strcmp(u->name, f->name) == 0 ||
		       (strlen(u->name) == sdr_iface_dev(f->name) &&
			memcmp(u->name, f->name, strlen(u->name)) == 0);
	if (f->addr.ss_family != u->family || memcmp(ip, u->net, whole) != 0)
		return false;
	return !rest || !((ip[whole] ^ u->net[whole]) >> (8 - rest));
}

/* The place that the rules give it, UINT_MAX: none. */
static unsigned int sdr_iface_place(const struct sdr_iface_rules *r, const struct sdr_iface *f)
{
	unsigned int place = r->named ? UINT_MAX : 0, i;

	for (i = 0; i < r->n; i++) {
		if (!sdr_iface_rule_match(&r->v[i], f))
			continue;
		if (r->v[i].out)
			return UINT_MAX;
		if (place == UINT_MAX)
			place = i;
	}
	return place;
}

const struct sdr_iface_rule *sdr_iface_rules_idle(const struct sdr_iface_rules *r,
						  const struct sdr_iface *v, unsigned int n)
{
	unsigned int i, k;

	for (i = 0; i < r->n; i++) {
		for (k = 0; k < n && !sdr_iface_rule_match(&r->v[i], &v[k]); k++)
			;
		if (k == n && !r->v[i].out)
			return &r->v[i];
	}
	return NULL;
}

/* ---- order ----------------------------------------------------------------------------------- */

enum { SDR_IFACE_KEYS = 6 };

/* How near to the route: its address, its device, neither. */
static unsigned int sdr_iface_near(const struct sdr_iface *v, unsigned int n,
				   const struct sdr_iface *f, const struct sockaddr_storage *from,
				   unsigned int nfrom)
{
	unsigned int near = 2, i, k;

	for (k = 0; k < nfrom; k++) {
		if (sdr_sockaddr_same_ip((const struct sockaddr *)&f->addr,
					 (const struct sockaddr *)&from[k]))
			return 0;
		for (i = 0; i < n; i++) {
			if (sdr_iface_dev(v[i].name) == sdr_iface_dev(f->name) &&
			    memcmp(v[i].name, f->name, sdr_iface_dev(f->name)) == 0 &&
			    sdr_sockaddr_same_ip((const struct sockaddr *)&v[i].addr,
						 (const struct sockaddr *)&from[k]))
				near = 1;
		}
	}
	return near;
}

static void sdr_iface_keys(struct sdr_iface *f, unsigned int place, unsigned int near)
{
	f->order[0] = place;
	f->order[1] = f->loopback && near;
	f->order[2] = f->linklocal && near;
	f->order[3] = near < 2 ? 0 : 1 + f->kind;
	f->order[4] = near;
	f->order[5] = f->addr.ss_family == AF_INET6;
}

static bool sdr_iface_before(const struct sdr_iface *a, const struct sdr_iface *b)
{
	int i;

	for (i = 0; i < SDR_IFACE_KEYS; i++) {
		if (a->order[i] != b->order[i])
			return a->order[i] < b->order[i];
	}
	return false;
}

unsigned int sdr_iface_pick(const struct sdr_iface_rules *r, struct sdr_iface *v, unsigned int n,
			    const struct sockaddr_storage *from, unsigned int nfrom)
{
	unsigned int i, k, allowed = 0;
	struct sdr_iface f;

	_Static_assert(sizeof(f.order) / sizeof(f.order[0]) == SDR_IFACE_KEYS, "all are compared");
	for (i = 0; i < n; i++) {
		sdr_iface_keys(&v[i], sdr_iface_place(r, &v[i]),
			       sdr_iface_near(v, n, &v[i], from, nfrom));
		allowed += v[i].order[0] != UINT_MAX;
	}
	for (i = 1; i < n; i++) {
		f = v[i];
		for (k = i; k > 0 && sdr_iface_before(&f, &v[k - 1]); k--)
			v[k] = v[k - 1];
		v[k] = f;
	}
	return allowed;
}

/* ---- rails ----------------------------------------------------------------------------------- */

static bool sdr_iface_same_dev(const struct sdr_iface *a, const struct sdr_iface *b)
{
	size_t len = sdr_iface_dev(a->name);

	return len == sdr_iface_dev(b->name) && memcmp(a->name, b->name, len) == 0;
}

/* Addresses of one family that reach equally far. */
static bool sdr_iface_alike(const struct sdr_iface *a, const struct sdr_iface *b)
{
	return a->addr.ss_family == b->addr.ss_family && a->loopback == b->loopback &&
	       a->linklocal == b->linklocal;
}

unsigned int sdr_iface_rails(const struct sdr_iface_rules *r, const struct sdr_iface *v,
			     unsigned int n, const struct sdr_iface *own,
			     struct sockaddr_storage *out, unsigned int max)
{
	unsigned int count = 0, i, k;

	for (i = 0; own && r->named && i < n && count < max; i++) {
		if (!sdr_iface_alike(&v[i], own) || sdr_iface_same_dev(&v[i], own))
			continue;
		for (k = 0; k < i; k++)
			if (sdr_iface_alike(&v[k], &v[i]) && sdr_iface_same_dev(&v[k], &v[i]))
				break;
		if (k == i) /* the first of its device */
			out[count++] = v[i].addr;
	}
	return count;
}

void sdr_iface_ip_text(const struct sockaddr_storage *sa, char *buf, size_t len)
{
	if (!inet_ntop(sa->ss_family, sdr_iface_ip(sa), buf, (socklen_t)len))
		snprintf(buf, len, "?");
}

void sdr_iface_text(const struct sdr_iface *v, unsigned int n, char *buf, size_t len)
{
	char ip[INET6_ADDRSTRLEN];
	unsigned int i, k;
	size_t at = 0;

	snprintf(buf, len, "none");
	for (i = 0; i < n && at < len; i++) {
		for (k = 0; k < i && strcmp(v[k].name, v[i].name) != 0; k++)
			;
		if (k < i)
			continue; /* it was there */
		at += (size_t)snprintf(buf + at, len - at, "%s%s (", at ? ", " : "", v[i].name);
		for (k = i; k < n && at < len; k++) {
			if (strcmp(v[k].name, v[i].name) != 0)
				continue;
			sdr_iface_ip_text(&v[k].addr, ip, sizeof(ip));
			at += (size_t)snprintf(buf + at, len - at, "%s%s", k == i ? "" : ", ", ip);
		}
		if (at < len)
			at += (size_t)snprintf(buf + at, len - at, ")");
	}
}
