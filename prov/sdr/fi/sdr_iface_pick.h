/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which interfaces are used, and in which order (sdr_iface_pick.c).  Data in, data out: no
 * libfabric type, no system call.
 */
#ifndef SDR_IFACE_PICK_H
#define SDR_IFACE_PICK_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sdr_iface.h"

#define SDR_IFACE_RULES_MAX 32u
#define SDR_IFACE_TEXT	    384u /* bytes that sdr_iface_text is given */

/* One item of FI_SDR_IFACE. */
struct sdr_iface_rule {
	bool out;		/* "!": excluded */
	char name[IF_NAMESIZE]; /* of a device; "": a network */
	int family;		/* of the network */
	uint8_t net[16];
	unsigned int prefix;	     /* its bits */
	char text[IF_NAMESIZE + 48]; /* as written */
};

struct sdr_iface_rules {
	struct sdr_iface_rule v[SDR_IFACE_RULES_MAX];
	unsigned int n; /* 0: all interfaces */
	bool named;	/* some are not excluded: what none of those matches is */
};

/* "wan0,!10.1.0.0/16"; "" none.  0, or -EINVAL and why ("must be ..."). */
int sdr_iface_rules_parse(const char *text, struct sdr_iface_rules *r, char *why, size_t len);
/* The first rule that matches none of them and excludes nothing; NULL: each matches. */
const struct sdr_iface_rule *sdr_iface_rules_idle(const struct sdr_iface_rules *r,
						  const struct sdr_iface *v, unsigned int n);
/*
 * Sorts: in front what the rules allow, in the order in which applications should try it, behind
 * that the rest.  from: the addresses that routing sends from, family 0 none.  How many are
 * allowed.
 */
unsigned int sdr_iface_pick(const struct sdr_iface_rules *r, struct sdr_iface *v, unsigned int n,
			    const struct sockaddr_storage *from, unsigned int nfrom);
/*
 * Where paths of an endpoint at own (NULL: at none of them) may begin, beside there: of the n that
 * the rules allow, one address of each other device, of its family and as far as it reaches, in
 * their order.  None where the rules name no interfaces.  How many, max at most.
 */
unsigned int sdr_iface_rails(const struct sdr_iface_rules *r, const struct sdr_iface *v,
			     unsigned int n, const struct sdr_iface *own,
			     struct sockaddr_storage *out, unsigned int max);
/* For messages: the address without its port. */
void sdr_iface_ip_text(const struct sockaddr_storage *sa, char *buf, size_t len);
/* Likewise: "eth0 (10.0.0.2, fe80::1), lo (127.0.0.1, ::1)", or "none". */
void sdr_iface_text(const struct sdr_iface *v, unsigned int n, char *buf, size_t len);

#endif /* SDR_IFACE_PICK_H */
