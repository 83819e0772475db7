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

#include "sdr_verbs.h"
#include "sdr_verbs_lib.h"

struct sdr_verbs;

/* A registration: of one message under way or several that share it, or the application's own. */
struct sdr_verbs_mr {
	struct ibv_mr *mr;
	uintptr_t lo, hi; /* [lo, hi) */
	int access;	  /* IBV_ACCESS_* */
	uint32_t refs;	  /* users; under pd->lock */
};

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

/*
 * A registration of [buf, buf + len) with these rights: one that is there, or a new one.  NULL:
 * errno.
 */
struct sdr_verbs_mr *sdr_verbs_mr_get(struct sdr_verbs_pd *pd, void *buf, size_t len, int access);
void sdr_verbs_mr_put(struct sdr_verbs_pd *pd, struct sdr_verbs_mr *mr);

/*
 * Text for a failure of the device: what was requested, the limit in the way, the remedy.
 */
void sdr_verbs_why(const struct sdr_verbs_pd *pd, int err, const char *what, char *buf, size_t len);

#endif /* SDR_VERBS_PD_H */
