/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Endpoints: the object, which is opened, bound, enabled and closed in sdr_ep.c.  Its traffic side
 * is in the headers beside it: sdr_ep_engine.h, sdr_ep_progress.h, sdr_ep_peer.h, sdr_ep_done.h,
 * sdr_post.h, sdr_alarm.h, sdr_dgram.h.
 *
 * Everything below this layer is single-threaded per endpoint and knows neither time nor threads;
 * this layer adds both.  Locks, outermost first:
 *
 *   fabric->answer  connection requests (sdr_connreq.c)
 *   dom->eps_lock   the domain's list of endpoints (progress thread, deregistration)
 *   pset->lock      the endpoints that a CQ or a counter drives
 *   av->eps_lock    the endpoints bound to an address vector
 *   ep->lock        everything below one endpoint: rel, SDK context, engine
 *   that of receives which endpoints share (sdr_srx_shared.c)
 *   av->lock, regions->lock, cq->lock, work->lock, paths->lock
 *   wait->lock, dom->conds_lock     leaves, like those above, but a region's counters are raised
 *                                   under its lock
 *   that of wide atomics            a leaf (sdr_atomic_lock.c)
 *
 * A call on an endpoint takes exactly one of them, ep->lock; completions are pushed under it and
 * take the queue's own cq->lock for the copy, and wait->lock when a thread sleeps.  The mutex of
 * FI_WAIT_MUTEX_COND is the application's, which may post while it holds it: it has no place in
 * this order, and is only ever tried.  A thread that closes an endpoint takes it out of all lists
 * first and without holding its lock.  Nothing is allocated per operation.
 */
#ifndef SDR_EP_H
#define SDR_EP_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include <rdma/fi_endpoint.h>

#include "base/sdr_list.h"

#include "sdr_alarm.h"
#include "sdr_domain.h"
#include "sdr_env.h"

struct sdr_av;
struct sdr_cm;
struct sdr_cm_ops;
struct sdr_cntr;
struct sdr_context;
struct sdr_cq;
struct sdr_dgram;
struct sdr_eq;
struct sdr_links;
struct sdr_notes;
struct sdr_peer;
struct sdr_pep;
struct sdr_rel;
struct sdr_srx;
struct sdr_uc;

/* operations: default and largest depth of the transmit queue */
#define SDR_TX_SIZE	    1024u
#define SDR_TX_SIZE_MAX	    65536u
#define SDR_RX_SIZE	    4096u /* receives: likewise */
#define SDR_RX_SIZE_MAX	    65536u
#define SDR_INJECT_SIZE	    1024u /* bytes: default and largest fi_inject */
#define SDR_INJECT_SIZE_MAX 4096u
#define SDR_MULTI_RECV_MIN  64u /* bytes: default of FI_OPT_MIN_MULTI_RECV */
/* time a closing endpoint may spend on what it has promised */
#define SDR_CLOSE_LINGER_MS 3000
#define SDR_EP_ADDR_TEXT    80u	 /* bytes of an address and port as text */
#define SDR_EP_WHERE	    128u /* bytes of ep->where */

enum sdr_cntr_kind {
	SDR_CNTR_SEND,
	SDR_CNTR_RECV,
	SDR_CNTR_READ,
	SDR_CNTR_WRITE,
	SDR_CNTR_REMOTE_READ,
	SDR_CNTR_REMOTE_WRITE,
	SDR_CNTR_KINDS
};

struct sdr_ep {
	struct fid_ep fid;
	struct sdr_domain *dom;
	struct sdr_ep *closing_next; /* dom->closing */
	enum fi_ep_type type;
	pthread_mutex_t lock;
	atomic_uint watch; /* entered under lock, see SDR_WATCH_* */

	/* below: under lock once enabled */
	bool enabled;
	struct sdr_rel *rel;	 /* RDM, MSG */
	struct sdr_dgram *dg;	 /* DGRAM */
	struct sdr_notes *notes; /* likewise */
	struct sdr_links *links; /* likewise, with FI_RMA */
	struct sdr_context *ctx; /* either's; NULL before the engine is open */
	struct sdr_uc *uc;
	int fd;			 /* the engine's, -1 none */
	int alarm_fd;		 /* timerfd, -1 before enable */
	uint64_t alarm_due;	 /* ns of the engine's clock at which it rings; UINT64_MAX never */
	atomic_bool alarm_rung;	 /* by a worker, see sdr_alarm.c; any thread */
	bool hushed;		 /* fd is silent: who sleeps wakes by the alarm */
	struct sdr_peer *mate;	 /* MSG: whom all goes to, held; NULL: not connected */
	bool over;		 /* MSG: not any more; receives end at once */
	struct sdr_peer **peers; /* by fi_addr, each held */
	uint32_t npeers;
	bool broken; /* the engine failed for good */

	struct sdr_av *av;
	struct sdr_cq *tx_cq, *rx_cq;
	struct sdr_cntr *cntr[SDR_CNTR_KINDS];
	struct sdr_eq *eq;
	struct sdr_srx *srx;			      /* the receives are there; NULL: its own */
	struct sdr_list srx_link;		      /* of sdr_srx_shared.c, under its lock */
	uint32_t srx_pins;			      /* likewise */
	struct sdr_rel_iov lent_iov[SDR_REL_IOV_MAX]; /* of the receive last taken from there */
	const struct sdr_cm_ops *cm_ops; /* MSG: who takes calls of peers; NULL: nobody */
	struct sdr_cm *cm;		 /* MSG: its connection */
	struct sdr_pep *pep;		 /* MSG: the passive endpoint that it is; NULL: none */
	/* of calls without flags: FI_COMPLETION and the info's op_flags */
	uint64_t tx_flags, rx_flags;
	/* added to those with: FI_COMPLETION unless selective */
	uint64_t tx_msg_flags, rx_msg_flags;
	uint64_t caps;
	size_t min_multi; /* bytes */
	size_t inject_size;
	bool directed, want_src;
	bool source_err; /* who is in no address vector is told by an error */
	bool hmem;	 /* FI_HMEM: buffers may be memory of devices */
	bool rx_cq_data; /* FI_RX_CQ_DATA: a peer's write with data takes a receive with it */
	struct sockaddr_storage src;   /* to bind, then as bound */
	struct sockaddr_storage first; /* of its interface, port 0: its name if bound to all */
	struct sockaddr_storage name;  /* that others are given, once the engine is open */
	char where[SDR_EP_WHERE];      /* which interface and why, for the log */
	struct sdr_env env;	       /* the domain's, changed by the extension */
	uint32_t tx_size, rx_size;

	_Atomic uint32_t app_polls; /* the application drove this endpoint so often */
	/* it said with fi_trywait that it would sleep, and may have changed its mind */
	atomic_bool app_waits;
	uint8_t thread_in;    /* enum sdr_thread_in; under eps_lock */
	uint8_t thread_grace; /* how far the thread has got in believing that it has */
	uint32_t thread_seen; /* app_polls when the progress thread looked last */
	/* manual progress: the thread looks so often whether it is needed; 0: the alarm tells */
	uint64_t look_ns;
	char reported[128]; /* what the engine said last */
};

int sdr_ep_open(struct fid_domain *dom, struct fi_info *info, struct fid_ep **ep, void *context);
int sdr_ep_open2(struct fid_domain *dom, struct fi_info *info, struct fid_ep **ep, uint64_t flags,
		 void *context);

/* The application drives: the progress thread stays away. */
static inline void sdr_ep_touch(struct sdr_ep *ep)
{
	atomic_fetch_add_explicit(&ep->app_polls, 1, memory_order_relaxed);
}

/*
 * After anything that may have given the endpoint work: releases the lock, and sleepers learn
 * of it.
 */
static inline void sdr_ep_unlock(struct sdr_ep *ep)
{
	if (atomic_load_explicit(&ep->watch, memory_order_relaxed))
		sdr_ep_alarm_sooner(ep);
	pthread_mutex_unlock(&ep->lock);
}

#endif /* SDR_EP_H */
