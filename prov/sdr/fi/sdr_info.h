/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * fi_getinfo (sdr_info.c), and what is between its two halves: which addresses there are
 * (sdr_search.c), what is offered there (sdr_hints.c, sdr_entry.c).
 */
#ifndef SDR_INFO_H
#define SDR_INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <rdma/fabric.h>

#include "sdr_env.h"
#include "sdr_iface.h"
#include "sdr_iface_pick.h"

struct sdr_uc_dev;
struct sdr_uc_engine;

/* bytes of auth_key; 0: there are no authenticated connections yet */
#define SDR_AUTH_KEY_MAX 0u
#define SDR_CQ_DATA_SIZE 8u /* bytes */

int sdr_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);

/* One (source, destination) that can be offered. */
struct sdr_cand {
	struct sockaddr_storage src, dst;   /* family 0: none */
	struct sdr_iface iface;		    /* names and network */
	const struct sdr_uc_engine *engine; /* that would serve it */
	const struct sdr_uc_dev *dev;	    /* NULL: it needs none */
	uint64_t comm;			    /* FI_LOCAL_COMM, FI_REMOTE_COMM */
	uint32_t ctl_bound; /* bytes of a control datagram that the settings allow; 0: any */
};

struct sdr_search {
	const struct sdr_env *env;
	struct sdr_iface_rules rules; /* env->iface */
	/* in the order of sdr_iface_pick; behind the first nifs what the rules exclude */
	struct sdr_iface *ifs;
	unsigned int nifs, nall;
	bool only_loopback; /* there is no other interface: then it reaches all there is */
	bool bound;	    /* the source is FI_SDR_BIND's */
	bool named;	    /* settings or hints name interfaces: the route alone does not choose */
	bool chosen;	    /* the caller names an interface, a device or addresses */
	struct sdr_uc_dev *devs;
	unsigned int ndevs;
	const struct sdr_uc_engine *only; /* that the settings ask for; NULL: any */
	const struct sdr_uc_engine *any;  /* offered at every address; NULL: only devices are */
	struct sdr_cand *v;
	unsigned int n, cap;
};

/* The interfaces, by the settings of s->env.  0, or -FI_ENODATA and others after a warning. */
int sdr_search_ifaces(struct sdr_search *s);
/*
 * What node, service and hints ask for, as candidates.  0, or -FI_ENODATA and others with a reason
 * in the log.
 */
int sdr_search_addrs(struct sdr_search *s, const char *node, const char *service, uint64_t flags,
		     const struct fi_info *hints);
/* Fills in the engines and their devices, as the settings want them. */
void sdr_search_devs(struct sdr_search *s);

#endif /* SDR_INFO_H */
