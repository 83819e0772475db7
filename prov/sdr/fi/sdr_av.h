/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Address vectors (sdr_av.c).
 */
#ifndef SDR_AV_H
#define SDR_AV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/fi_domain.h>

#include "rel/sdr_rel.h"

struct sdr_domain;
struct sdr_ep;
struct sdr_eq;

#define SDR_AV_COUNT_MAX SDR_REL_PEERS_MAX /* addresses of a vector */

struct sdr_av_entry {
	struct sdr_uc_addr addr;
	fi_addr_t user_id; /* what completions say in its place: the index, or the user's */
	uint32_t next;	   /* chain: of the hash bucket, or of the free list */
	bool used;
};

struct sdr_av {
	struct fid_av fid;
	struct sdr_domain *dom;
	atomic_int refs;
	enum fi_av_type type;
	bool async; /* opened with FI_EVENT */
	bool named; /* opened with FI_AV_USER_ID: entries have no user_id until they get one */
	struct sdr_eq *eq;
	pthread_mutex_t eps_lock;
	struct sdr_ep **eps;
	unsigned int neps, eps_cap;
	pthread_mutex_t lock; /* the table */
	struct sdr_av_entry *tab;
	uint32_t *bucket;	     /* index + 1; 0 none */
	uint32_t n, cap, mask, free; /* free: index + 1 */
	atomic_bool user_ids;	     /* some entry has one of the user's */
};

int sdr_av_open(struct fid_domain *dom, struct fi_av_attr *attr, struct fid_av **av, void *context);
int sdr_av_ep_add(struct sdr_av *av, struct sdr_ep *ep);
void sdr_av_ep_del(struct sdr_av *av, struct sdr_ep *ep);

#endif /* SDR_AV_H */
