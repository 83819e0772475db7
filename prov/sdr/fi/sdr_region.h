/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory regions, and a domain's table of them by key (sdr_region.c); their registration
 * (sdr_region_open.c).
 */
#ifndef SDR_REGION_H
#define SDR_REGION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/fi_domain.h>

struct sdr_cntr;
struct sdr_domain;
struct sdr_mem;
struct sdr_uc_mem;

#define SDR_MR_KEY_SIZE	  8u  /* bytes */
#define SDR_REGION_SECRET 16u /* bytes behind the keys of a domain */

struct sdr_region {
	struct fid_mr fid;
	struct sdr_domain *dom;
	struct sdr_region *next; /* of the bucket */
	uint8_t *base;
	uint64_t len;
	uint64_t access;	    /* FI_REMOTE_READ | FI_REMOTE_WRITE ... */
	bool on;		    /* in the table */
	struct sdr_uc_mem *mem;	    /* its registration with the domain's device; NULL none */
	const struct sdr_mem *hmem; /* where it lies; NULL: where the CPU reaches it */
	struct sdr_cntr *rd_cntr, *wr_cntr;
};

/* Memory regions of a domain that peers may use, by key; see sdr_region.c. */
struct sdr_regions {
	pthread_mutex_t lock;
	struct sdr_region **bucket;
	uint32_t mask; /* buckets - 1 */
	uint32_t count;
	uint64_t made; /* provider keys so far */
	uint8_t secret[SDR_REGION_SECRET];
};

extern struct fi_ops_mr sdr_mr_ops; /* sdr_region_open.c */
extern struct fi_ops sdr_region_fi_ops;

int sdr_regions_init(struct sdr_regions *r);
void sdr_regions_fini(struct sdr_regions *r);
/*
 * Puts it under this key, or (prov_key) one that is made.  -FI_ENOKEY: another region has it.
 */
int sdr_regions_insert(struct sdr_regions *r, struct sdr_region *reg, bool prov_key, uint64_t key);
/* Provider key n under a domain's secret: other keys say nothing of it. */
uint64_t sdr_region_key(const uint8_t secret[SDR_REGION_SECRET], uint64_t n);
/* mr_get of struct sdr_rel_cbs with the domain. */
int sdr_regions_get(struct sdr_domain *dom, uint64_t key, uint64_t addr, uint64_t len,
		    uint32_t access, void **va, void **region);
/* Counters bound to a region: it was read, its bytes changed. */
void sdr_regions_event(struct sdr_domain *dom, uint64_t key, bool read, bool changed);

#endif /* SDR_REGION_H */
