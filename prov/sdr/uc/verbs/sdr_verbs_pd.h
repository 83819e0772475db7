/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A device as a process uses it: context, protection domain, registrations.  Shared by engines and
 * threads; its lock is a leaf and is never held over a wait for the network.
 */
#ifndef SDR_VERBS_PD_H
#define SDR_VERBS_PD_H

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/sdr_mem.h"
#include "sdr_verbs.h"
#include "sdr_verbs_lib.h"

struct sdr_verbs;

/* A registration: of one message under way or several that share it, or the application's own. */
struct sdr_verbs_mr {
	struct ibv_mr *mr;
	uintptr_t lo, hi; /* [lo, hi) */
	int access;	  /* IBV_ACCESS_* */
	uint32_t refs;	  /* users; under pd->lock */
	/* where [lo, hi) lies; NULL: where the CPU reaches it */
	const struct sdr_mem *mem;
	struct sdr_dmabuf dmabuf; /* of lo, that its application named; fd -1: it named none */
};

#define SDR_VERBS_FAR_REFUSED 16u /* memories that a device is known not to reach */

struct sdr_verbs_pd {
	struct sdr_verbs_pd *next;
	char name[SDR_UC_DEV_NAME];
	pid_t pid; /* a forked child opens its own */
	uint32_t refs;
	const struct sdr_ibv *ibv;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	pthread_mutex_t lock;	  /* everything below */
	struct sdr_verbs_mr **mr; /* sorted by lo */
	uint32_t nmr, cap;
	struct sdr_verbs *engines;
	atomic_ullong regs; /* registrations made */
	const struct sdr_mem *refused[SDR_VERBS_FAR_REFUSED];
	uint32_t nrefused;
};

/* The device has indirect keys and a NULL memory region to point them at. */
bool sdr_verbs_root_possible(struct ibv_context *ctx);

/*
 * True in a forked child: device objects are the parent's, and giving them back would take them
 * from it.  What the child closes loses its memory and descriptors here, and nothing over there.
 */
static inline bool sdr_verbs_pd_foreign(const struct sdr_verbs_pd *pd)
{
	return pd->pid != getpid();
}

int sdr_verbs_pd_get(const char *device, struct sdr_verbs_pd **pd, char *err, size_t err_len);
void sdr_verbs_pd_put(struct sdr_verbs_pd *pd);
/* Reads what the device has to say and marks the engines it concerns. */
void sdr_verbs_pd_events(struct sdr_verbs_pd *pd);

/* What is to be registered: memory, and where it lies. */
struct sdr_verbs_range {
	void *buf;
	size_t len;
	const struct sdr_mem *mem;	 /* NULL: the CPU reaches it */
	const struct sdr_dmabuf *dmabuf; /* of mem, if its application named it; or NULL */
};

/* A registration with these rights: one that is there, or a new one.  NULL: errno. */
struct sdr_verbs_mr *sdr_verbs_mr_get(struct sdr_verbs_pd *pd, const struct sdr_verbs_range *r,
				      int access);
/* One that is there, likewise; NULL: none. */
struct sdr_verbs_mr *sdr_verbs_mr_share(struct sdr_verbs_pd *pd, const struct sdr_verbs_range *r,
					int access);
void sdr_verbs_mr_put(struct sdr_verbs_pd *pd, struct sdr_verbs_mr *mr);

/*
 * A registration of a device's memory (sdr_verbs_far.c), under its own address, or (moved) under
 * another, *moved, with the same place in a page.  NULL: errno.  Under pd->lock.
 */
struct ibv_mr *sdr_verbs_far_reg(struct sdr_verbs_pd *pd, const struct sdr_verbs_range *r,
				 uint64_t *moved, int access);

/*
 * Text for a failure of the device: what was requested, the limit in the way, the remedy.
 */
void sdr_verbs_why(const struct sdr_verbs_pd *pd, int err, const char *what, char *buf, size_t len);

#endif /* SDR_VERBS_PD_H */
