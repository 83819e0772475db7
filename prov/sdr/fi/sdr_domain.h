/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The domain: what endpoints, queues, vectors and regions are opened from (sdr_domain.c).  It owns
 * the table of regions, the progress thread and the pool of threads that encode.
 */
#ifndef SDR_DOMAIN_H
#define SDR_DOMAIN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <rdma/fi_domain.h>

#include "uc/sdr_uc_engine.h"
#include "sdr_env.h"
#include "sdr_region.h"
#include "sdr_work.h"

struct sdr_cntr;
struct sdr_ep;
struct sdr_fabric;
struct sdr_paths;
struct sdr_wait;

struct sdr_domain {
	struct fid_domain fid;
	struct sdr_fabric *fabric;
	atomic_int refs;
	struct sdr_env env; /* as it was when the domain was opened */
	uint32_t addr_format;
	uint64_t caps;
	bool mr_virt, mr_prov_key;
	bool hmem;     /* FI_HMEM: buffers and regions may be memory of devices */
	bool mr_iface; /* its API is one in which struct fi_mr_attr says where memory is */
	const struct sdr_uc_engine
		*engine;	      /* of its endpoints, unless their settings say another */
	char device[SDR_UC_DEV_NAME]; /* that engine's; "": it serves any address */
	bool device_asked;	      /* by name: then nothing else will do */
	bool auto_progress;
	bool waits;	      /* threads sleep on condition variables (FI_WAIT_MUTEX_COND) */
	struct fid_eq *mr_eq; /* FI_REG_MR */
	struct sdr_regions regions;

	pthread_mutex_t eps_lock;
	struct sdr_ep **eps;
	unsigned int neps, eps_cap;
	/* not in eps any more, and not gone: peers may still use regions through them */
	struct sdr_ep *closing;
	struct sdr_cntr *cntrs; /* of regions: each drives all of eps */

	/* progress thread, see sdr_progress.c */
	pthread_mutex_t thread_lock;
	pthread_t thread;
	bool thread_on;
	atomic_bool thread_stop;
	atomic_int thread_fd; /* eventfd that wakes it; -1 none */
	/* epoll descriptor over the endpoints that it watches; -1 none */
	int thread_set;
	pid_t thread_pid;	     /* process in which it runs */
	struct sdr_domain *next;     /* all domains with a thread, for the provider's clean-up */
	struct sdr_domain *all_next; /* all domains, likewise (sdr_exit.c) */
	pid_t pid;		     /* process that opened it */

	pthread_mutex_t conds_lock;
	/* condition variables to signal when their mutex is free, see sdr_wait.c */
	struct sdr_wait *conds;

	struct sdr_paths *paths; /* what the process knows of paths; NULL: no memory */
	struct sdr_work work;	 /* threads that encode, see sdr_work.c */
};

int sdr_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **dom,
		    void *context);
int sdr_domain_open2(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **dom,
		     uint64_t flags, void *context);
/* From the first region that it is bound to on, until it is closed. */
int sdr_domain_cntr_add(struct sdr_domain *dom, struct sdr_cntr *cntr);
void sdr_domain_cntr_del(struct sdr_domain *dom, struct sdr_cntr *cntr);
int sdr_domain_ep_add(struct sdr_domain *dom, struct sdr_ep *ep);
/* It closes: no thread drives it any more; regions that close find it until it is gone. */
void sdr_domain_ep_del(struct sdr_domain *dom, struct sdr_ep *ep);
void sdr_domain_ep_gone(struct sdr_domain *dom, struct sdr_ep *ep);

#endif /* SDR_DOMAIN_H */
