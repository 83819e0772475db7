/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The objects behind the libfabric handles, and what the files of this layer ask of each other.
 *
 * Everything below this layer is single-threaded per endpoint and knows neither time nor threads;
 * this layer adds both.  Locks, outermost first:
 *
 *   dom->eps_lock   the domain's list of endpoints (progress thread, deregistration)
 *   pset->lock      the endpoints that a CQ or a counter drives
 *   av->eps_lock    the endpoints bound to an address vector
 *   ep->lock        everything below one endpoint: rel, SDK context, engine
 *   av->lock, regions->lock, cq->lock, work->lock
 *   wait->lock, dom->conds_lock     leaves, like those above, but a region's counters are raised
 *                                   under its lock
 *
 * A call on an endpoint takes exactly one of them, ep->lock; completions are pushed under it and
 * take the queue's own cq->lock for the copy, and wait->lock when somebody sleeps.  The mutex of
 * FI_WAIT_MUTEX_COND is the application's, who may post while it holds it: it stands nowhere in
 * this order, and is only ever tried.  Whoever closes an endpoint takes it out of all lists first
 * and without holding its lock.  Nothing is allocated per operation.
 */
#ifndef SDR_FI_H
#define SDR_FI_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_ext_sdr.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "base/sdr_list.h"
#include "rel/sdr_rel.h"
#include "uc/fault/sdr_fault.h"
#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_net.h"
#include "uc/soft/sdr_soft.h"
#include "uc/verbs/sdr_verbs.h"
#include "sdr_env.h"
#include "sdr_work.h"

/* libfabric's own name and idiom, without the complaint of compilers about alignment */
#undef container_of
#define container_of sdr_container

#define SDR_PROV_NAME	   "sdr"
#define SDR_PROV_VERSION   FI_VERSION(0, 1)
#define SDR_FI_API_VERSION FI_VERSION(1, 17) /* of the headers this is built against */
#define SDR_PROTO	   (FI_PROV_SPECIFIC | 0x5d)

/* ---- limits ---------------------------------------------------------------------------------- */

/* operations: default and largest depth of the transmit queue */
#define SDR_TX_SIZE	    1024u
#define SDR_TX_SIZE_MAX	    65536u
#define SDR_RX_SIZE	    4096u /* receives: likewise */
#define SDR_RX_SIZE_MAX	    65536u
#define SDR_INJECT_SIZE	    1024u /* bytes: default and largest fi_inject */
#define SDR_INJECT_SIZE_MAX 4096u
/* bytes of auth_key; 0: there are no authenticated connections yet */
#define SDR_AUTH_KEY_MAX 0u
/* entries: default, and the least a queue takes before posts say -FI_EAGAIN */
#define SDR_CQ_SIZE	  1024u
#define SDR_CQ_SIZE_FIRST 64u /* entries of a new queue's ring; it doubles as it fills */
/* entries: with so many unread an endpoint is not progressed any more */
#define SDR_CQ_SIZE_MAX	   (1u << 20)
#define SDR_EQ_SIZE_MAX	   65536u	     /* events of an event queue before writes fail */
#define SDR_AV_COUNT_MAX   SDR_REL_PEERS_MAX /* addresses of a vector */
#define SDR_MR_KEY_SIZE	   8u		     /* bytes */
#define SDR_REGION_SECRET  16u		     /* bytes behind the keys of a domain */
#define SDR_CQ_DATA_SIZE   8u		     /* bytes */
#define SDR_MULTI_RECV_MIN 64u		     /* bytes: default of FI_OPT_MIN_MULTI_RECV */
/* time a closing endpoint may spend on what it has promised */
#define SDR_CLOSE_LINGER_MS 3000
/* datagrams kept for receives that are not posted yet */
#define SDR_DGRAM_BACKLOG 256u
/* the progress thread stays away this long from a polling application */
#define SDR_THREAD_BACKOFF_NS 1000000ull
/* reads in a row without an entry before one gives the processor away */
#define SDR_YIELD_POLLS 128u

struct sdr_domain;
struct sdr_ep;
struct sdr_region;

extern struct fi_provider sdr_prov;

/*
 * A message for the user that must not get lost: the log when it is on, stderr when not. Once a
 * text.
 */
void sdr_warn_once(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The settings of the environment as it is now.  0, or -FI_EINVAL after a warning. */
int sdr_env_read(struct sdr_env *env);

/* ---- fabric, domain -------------------------------------------------------------------------- */

struct sdr_fabric {
	struct fid_fabric fid;
	atomic_int refs;
};

/* Memory regions of a domain by key; see sdr_region.c. */
struct sdr_regions {
	pthread_mutex_t lock;
	struct sdr_region **bucket;
	uint32_t mask; /* buckets - 1 */
	uint32_t count;
	uint64_t made; /* provider keys so far */
	uint8_t secret[SDR_REGION_SECRET];
};

struct sdr_domain {
	struct fid_domain fid;
	struct sdr_fabric *fabric;
	atomic_int refs;
	struct sdr_env env; /* as it was when the domain was opened */
	uint32_t addr_format;
	uint64_t caps;
	bool mr_virt, mr_prov_key;
	char device[SDR_VERBS_NAME]; /* RDMA device; "": none, the soft engine */
	bool device_asked;	     /* by name: then nothing else will do */
	bool auto_progress;
	struct fid_eq *mr_eq; /* FI_REG_MR */
	struct sdr_regions regions;

	pthread_mutex_t eps_lock;
	struct sdr_ep **eps;
	unsigned int neps, eps_cap;
	/* not in eps any more, and not gone: peers may still use regions through them */
	struct sdr_ep *closing;

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

	struct sdr_work work; /* threads that encode, see sdr_work.c */
};

int sdr_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int sdr_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **dom,
		    void *context);
int sdr_domain_open2(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **dom,
		     uint64_t flags, void *context);
int sdr_domain_ep_add(struct sdr_domain *dom, struct sdr_ep *ep);
/* It closes: nobody here drives it any more; regions that close find it until it is gone. */
void sdr_domain_ep_del(struct sdr_domain *dom, struct sdr_ep *ep);
void sdr_domain_ep_gone(struct sdr_domain *dom, struct sdr_ep *ep);
/*
 * Between the two the process's end is told to the peers of the domain's endpoints, by
 * sdr_exit_farewell.
 */
void sdr_exit_domain_add(struct sdr_domain *dom);
void sdr_exit_domain_del(struct sdr_domain *dom);
void sdr_exit_farewell(void);

int sdr_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);

/* ---- devices behind entries (sdr_nic.c) ------------------------------------------------------ */

/* For info->nic; asked: the application named the device.  NULL: no memory. */
struct fid_nic *sdr_nic_make(const struct sdr_verbs_dev_info *d, bool asked);
/* What sdr_nic_make was given; NULL: not one of ours. */
const struct sdr_verbs_dev_info *sdr_nic_dev(const struct fid_nic *nic, bool *asked);

/* ---- interfaces and names (sdr_iface.c) ------------------------------------------------------ */

struct sdr_iface {
	struct sockaddr_storage addr; /* port 0 */
	socklen_t addrlen;
	unsigned int prefix; /* bits of the network */
	bool loopback, linklocal;
	char name[64]; /* of the device: the libfabric domain */
	char net[64];  /* network/prefix: the libfabric fabric */
};

/*
 * Addresses of all interfaces that are up: others before loopback, IPv4 before IPv6.  *v from
 * malloc.
 */
int sdr_iface_list(struct sdr_iface **v, unsigned int *n);
/* The entry whose address is sa's, NULL none. */
const struct sdr_iface *sdr_iface_find(const struct sdr_iface *v, unsigned int n,
				       const struct sockaddr *sa);
/*
 * family AF_UNSPEC, AF_INET, AF_INET6; flags FI_SOURCE and FI_NUMERICHOST; up to max results, IPv4
 * first.
 */
int sdr_resolve(const char *node, const char *service, uint64_t flags, int family,
		struct sockaddr_storage *out, int max);
socklen_t sdr_sockaddr_len(const struct sockaddr *sa); /* 0: neither IPv4 nor IPv6 */
uint16_t sdr_sockaddr_port(const struct sockaddr *sa);
void sdr_sockaddr_port_set(struct sockaddr *sa, uint16_t port);

/* ---- wait objects (sdr_wait.c) --------------------------------------------------------------- */

/* A thread inside a blocking read. */
struct sdr_sleeper {
	struct sdr_sleeper *next;
	int fd; /* eventfd */
	bool on;
	atomic_bool raised; /* fd is readable */
};

struct sdr_wait {
	enum fi_wait_obj obj;
	struct sdr_domain *dom; /* NULL: an event queue's */
	int fd;			/* FI_WAIT_FD: eventfd */
	atomic_bool raised;	/* fd is readable */
	int epfd;		/* FI_WAIT_FD with endpoints: what is handed out; -1 none */
	/* epoll descriptor over the endpoints, for blocking reads; -1 before the first */
	int nap_fd;
	pthread_mutex_t lock;
	struct sdr_sleeper *list; /* kept for the next */
	atomic_int sleepers;	  /* of them, inside */
	pthread_mutex_t mutex;	  /* FI_WAIT_MUTEX_COND */
	pthread_cond_t cond;
	struct sdr_wait *cond_next; /* under dom->conds_lock, like the next */
	bool cond_due;
};

/* dom: NULL for event queues.  -FI_ENOSYS for wait objects that do not exist here. */
int sdr_wait_init(struct sdr_wait *w, enum fi_wait_obj obj, struct sdr_domain *dom);
void sdr_wait_fini(struct sdr_wait *w);
/* Something was published: wakes everybody who sleeps on w. */
void sdr_wait_raise(struct sdr_wait *w);
/* Forgets earlier raises of the descriptor; whoever calls this looks again afterwards. */
void sdr_wait_drain(struct sdr_wait *w);
/* Blocking reads: in, before the look that decides whether to sleep; NULL and errno. */
struct sdr_sleeper *sdr_wait_enter(struct sdr_wait *w);
void sdr_wait_leave(struct sdr_wait *w, struct sdr_sleeper *s);
/* Forgets earlier raises of this sleeper, before each look. */
void sdr_wait_awake(struct sdr_wait *w, struct sdr_sleeper *s);
/*
 * Until raised, an endpoint wants a round or until_ns (CLOCK_MONOTONIC) has come.  0 or -FI_EINTR.
 */
int sdr_wait_sleep(struct sdr_wait *w, struct sdr_sleeper *s, uint64_t until_ns);
/* FI_WAIT_FD: the descriptor handed out becomes readable, too, when an endpoint's does. */
int sdr_wait_drives(struct sdr_wait *w);
/*
 * The set that blocking reads sleep on, made when there is none yet.  Under the lock of w's
 * endpoints.
 */
int sdr_wait_nap_open(struct sdr_wait *w);
void sdr_wait_nap_close(struct sdr_wait *w); /* nobody sleeps on it */
/*
 * Endpoints of the sets: the engine's descriptor and the alarm.  Under the lock of w's endpoints.
 */
int sdr_wait_watch(struct sdr_wait *w, const struct sdr_ep *ep);
void sdr_wait_unwatch(struct sdr_wait *w, const struct sdr_ep *ep);
/* Signals what is due and free; true when something is left. */
bool sdr_wait_conds(struct sdr_domain *dom);
/* FI_GETWAIT and FI_GETWAITOBJ. */
int sdr_wait_control(struct sdr_wait *w, int command, void *arg);
uint64_t sdr_mono_ns(void); /* CLOCK_MONOTONIC */

/* ---- sets of endpoints (sdr_pset.c) ---------------------------------------------------------- */

/* The endpoints that a CQ or a counter drives. */
struct sdr_pset {
	struct sdr_wait *wait; /* the CQ's or counter's */
	pthread_mutex_t lock;
	struct sdr_ep **v;
	unsigned int n, cap;
	/* of all, in each endpoint's watch: reads between enter and leave, SDR_WATCH_FD */
	unsigned int watch;
	pthread_t napper;  /* who called fi_trywait last */
	bool napper_known; /* somebody did */
	bool napper_one;   /* and nobody else ever */
	bool naps;	   /* somebody may sleep on the descriptor */
};

void sdr_pset_init(struct sdr_pset *ps, struct sdr_wait *w);
void sdr_pset_fini(struct sdr_pset *ps);
int sdr_pset_add(struct sdr_pset *ps, struct sdr_ep *ep);
/* ep has got its descriptors. */
int sdr_pset_watch(struct sdr_pset *ps, struct sdr_ep *ep);
void sdr_pset_del(struct sdr_pset *ps, struct sdr_ep *ep);
/* Drives all endpoints of the set that nobody else is driving. */
void sdr_pset_progress(struct sdr_pset *ps);
/*
 * A blocking read: enter; then, until it has what it wants, sdr_wait_awake, sdr_pset_look, its own
 * look at what it waits for, sdr_wait_sleep unless look said true; leave.  enter: negative FI
 * error, or 0 and *s.
 */
int sdr_pset_enter(struct sdr_pset *ps, struct sdr_sleeper **s);
/* Drives all endpoints and sets their alarms.  True: do not sleep, look again. */
bool sdr_pset_look(struct sdr_pset *ps);
void sdr_pset_leave(struct sdr_pset *ps, struct sdr_sleeper *s);
/*
 * For fi_trywait: the application is about to sleep on the descriptor.  Drives and sets the alarms;
 * true: not now.
 */
bool sdr_pset_handover(struct sdr_pset *ps);

/* ---- progress (sdr_progress.c) --------------------------------------------------------------- */

int sdr_thread_start(struct sdr_domain *dom);
void sdr_thread_stop(struct sdr_domain *dom);
void sdr_thread_wake(struct sdr_domain *dom);
/* ep is about to go; under eps_lock. */
void sdr_thread_forget(struct sdr_domain *dom, struct sdr_ep *ep);
void sdr_thread_stop_all(void);

/* ---- completion queue ------------------------------------------------------------------------ */

struct sdr_cqe {
	void *ctx;
	uint64_t flags;
	size_t len;
	void *buf;
	uint64_t data;
	uint64_t tag;
	fi_addr_t src;
	size_t olen;
	int err; /* positive FI error, 0: success */
	int prov_err;
	char *text; /* errors: who and why, from malloc; may be NULL */
};

struct sdr_cq {
	struct fid_cq fid;
	struct sdr_domain *dom;
	atomic_int refs;
	enum fi_cq_format format;
	enum fi_cq_wait_cond wait_cond;
	uint32_t limit; /* unread entries at which posting says -FI_EAGAIN */

	pthread_mutex_t lock;
	struct sdr_cqe *ring;
	uint32_t cap, head;	       /* cap: a power of two */
	_Atomic uint32_t count;	       /* unread entries; written under lock */
	uint64_t lost;		       /* entries that found no memory */
	char *err_text;		       /* of the error read last */
	_Atomic uint32_t signals;      /* fi_cq_signal was called so often */
	_Atomic uint32_t signals_seen; /* of them, blocking reads have seen */
	_Atomic uint32_t idle;	       /* reads in a row that found nothing */

	struct sdr_wait wait;
	struct sdr_pset eps;
};

int sdr_cq_open(struct fid_domain *dom, struct fi_cq_attr *attr, struct fid_cq **cq, void *context);
/* Takes over e->text. */
void sdr_cq_push(struct sdr_cq *cq, const struct sdr_cqe *e);
static inline bool sdr_cq_full(struct sdr_cq *cq)
{
	return atomic_load_explicit(&cq->count, memory_order_relaxed) >= cq->limit;
}
/* fi_trywait on a CQ. */
int sdr_cq_trywait(struct sdr_cq *cq);

/* ---- counter --------------------------------------------------------------------------------- */

struct sdr_cntr {
	struct fid_cntr fid;
	struct sdr_domain *dom;
	atomic_int refs;
	_Atomic uint64_t val, err;
	uint64_t polled_val, polled_err; /* at the last fi_poll */
	struct sdr_wait wait;
	struct sdr_pset eps;
};

int sdr_cntr_open(struct fid_domain *dom, struct fi_cntr_attr *attr, struct fid_cntr **cntr,
		  void *context);
void sdr_cntr_bump(struct sdr_cntr *cntr, bool error);
int sdr_cntr_trywait(struct sdr_cntr *cntr);

/* ---- event queue ----------------------------------------------------------------------------- */

struct sdr_event {
	struct sdr_event *next;
	uint32_t event;
	bool is_err;
	bool provider; /* written by us: data is a struct fi_eq_entry */
	struct fi_eq_err_entry err;
	size_t len; /* bytes of data */
	uint8_t data[];
};

struct sdr_eq {
	struct fid_eq fid;
	struct sdr_fabric *fabric;
	atomic_int refs;
	bool user_writes; /* FI_WRITE */
	pthread_mutex_t lock;
	struct sdr_event *head, **tail;
	uint32_t count;
	struct sdr_wait wait;
};

int sdr_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
		void *context);
int sdr_eq_event(struct sdr_eq *eq, uint32_t event, const struct fi_eq_entry *entry);
int sdr_eq_error(struct sdr_eq *eq, const struct fi_eq_err_entry *err);
/* fid is about to go: forgets what was reported of it and not read. */
void sdr_eq_purge(struct sdr_eq *eq, const struct fid *fid);
int sdr_eq_trywait(struct sdr_eq *eq);

/* ---- address vector -------------------------------------------------------------------------- */

struct sdr_av_entry {
	struct sdr_uc_addr addr;
	uint32_t next; /* chain: of the hash bucket, or of the free list */
	bool used;
};

struct sdr_av {
	struct fid_av fid;
	struct sdr_domain *dom;
	atomic_int refs;
	enum fi_av_type type;
	bool async; /* opened with FI_EVENT */
	struct sdr_eq *eq;
	pthread_mutex_t eps_lock;
	struct sdr_ep **eps;
	unsigned int neps, eps_cap;
	pthread_mutex_t lock; /* the table */
	struct sdr_av_entry *tab;
	uint32_t *bucket;	     /* index + 1; 0 none */
	uint32_t n, cap, mask, free; /* free: index + 1 */
};

int sdr_av_open(struct fid_domain *dom, struct fi_av_attr *attr, struct fid_av **av, void *context);
/* 0 or -FI_EINVAL. */
int sdr_av_addr(struct sdr_av *av, fi_addr_t fi_addr, struct sdr_uc_addr *out);
/* FI_ADDR_NOTAVAIL when it is not in the table. */
fi_addr_t sdr_av_find(struct sdr_av *av, const struct sdr_uc_addr *addr);
int sdr_av_ep_add(struct sdr_av *av, struct sdr_ep *ep);
void sdr_av_ep_del(struct sdr_av *av, struct sdr_ep *ep);

/* ---- memory region --------------------------------------------------------------------------- */

struct sdr_region {
	struct fid_mr fid;
	struct sdr_domain *dom;
	struct sdr_region *next; /* of the bucket */
	uint8_t *base;
	uint64_t len;
	uint64_t access;	   /* FI_REMOTE_READ | FI_REMOTE_WRITE ... */
	bool on;		   /* in the table */
	struct sdr_verbs_mem *mem; /* its registration with the domain's device; NULL none */
	struct sdr_cntr *rd_cntr, *wr_cntr;
};

extern struct fi_ops_mr sdr_mr_ops;
int sdr_regions_init(struct sdr_regions *r);
void sdr_regions_fini(struct sdr_regions *r);
/* Provider key n under a domain's secret: other keys say nothing of it. */
uint64_t sdr_region_key(const uint8_t secret[SDR_REGION_SECRET], uint64_t n);
/* mr_get of struct sdr_rel_cbs with the domain. */
int sdr_regions_get(struct sdr_domain *dom, uint64_t key, uint64_t addr, uint64_t len,
		    uint32_t access, void **va, void **region);
/* Counters bound to a region. */
void sdr_regions_event(struct sdr_domain *dom, uint64_t key, bool write);

/* ---- endpoint -------------------------------------------------------------------------------- */

enum sdr_cntr_kind {
	SDR_CNTR_SEND,
	SDR_CNTR_RECV,
	SDR_CNTR_READ,
	SDR_CNTR_WRITE,
	SDR_CNTR_REMOTE_READ,
	SDR_CNTR_REMOTE_WRITE,
	SDR_CNTR_KINDS
};

/*
 * Who relies on an endpoint's alarm (sdr_alarm.c): ep->watch is the number of blocking reads, and
 * these.
 */
#define SDR_WATCH_SLEEPERS 0x0000ffffu
/* times the descriptors on which the application may sleep */
#define SDR_WATCH_FD 0x00010000u
/* the progress thread leaves it to them: the last one wakes it */
#define SDR_WATCH_AWAY	 0x01000000u
#define SDR_WATCH_THREAD 0x02000000u /* the progress thread sleeps on it */

/* What the layer below carries for us in uflags. */
#define SDR_UF_CQ 0x1u /* success makes a CQ entry */

struct sdr_dgram;

struct sdr_ep {
	struct fid_ep fid;
	struct sdr_domain *dom;
	struct sdr_ep *closing_next; /* dom->closing */
	enum fi_ep_type type;
	pthread_mutex_t lock;
	atomic_uint watch; /* entered under lock, see SDR_WATCH_* */

	/* below: under lock once enabled */
	bool enabled;
	struct sdr_rel *rel;	 /* RDM */
	struct sdr_dgram *dg;	 /* DGRAM */
	struct sdr_context *ctx; /* either's; NULL before the engine is open */
	struct sdr_uc *uc;
	int fd;			 /* the engine's, -1 none */
	int alarm_fd;		 /* timerfd, -1 before enable */
	uint64_t alarm_due;	 /* ns of the engine's clock at which it rings; UINT64_MAX never */
	struct sdr_peer **peers; /* by fi_addr, each held */
	uint32_t npeers;
	bool broken; /* the engine failed for good */

	struct sdr_av *av;
	struct sdr_cq *tx_cq, *rx_cq;
	struct sdr_cntr *cntr[SDR_CNTR_KINDS];
	struct sdr_eq *eq;
	/* of calls without flags: FI_COMPLETION and the info's op_flags */
	uint64_t tx_flags, rx_flags;
	/* added to those with: FI_COMPLETION unless selective */
	uint64_t tx_msg_flags, rx_msg_flags;
	uint64_t caps;
	size_t min_multi; /* bytes */
	size_t inject_size;
	bool directed, want_src;
	struct sockaddr_storage src; /* to bind, then as bound */
	struct sdr_env env;	     /* the domain's, changed by the extension */
	uint32_t tx_size, rx_size;

	_Atomic uint32_t app_polls; /* the application drove this endpoint so often */
	/* it said with fi_trywait that it would sleep, and may have changed its mind */
	atomic_bool app_waits;
	bool thread_in;		/* in the progress thread's set; under eps_lock */
	uint8_t thread_grace;	/* how far the thread has got in believing that it has */
	uint32_t thread_seen;	/* app_polls when the progress thread looked last */
	uint32_t thread_streak; /* looks in a row that found the application active */
	char told[128];		/* what the engine said last */
};

extern const struct sdr_rel_cbs sdr_ep_cbs;
int sdr_ep_open(struct fid_domain *dom, struct fi_info *info, struct fid_ep **ep, void *context);
int sdr_ep_open2(struct fid_domain *dom, struct fi_info *info, struct fid_ep **ep, uint64_t flags,
		 void *context);
/* Forgets what it knows of an address that leaves the vector. */
void sdr_ep_peer_forget(struct sdr_ep *ep, fi_addr_t fi_addr, const struct sdr_uc_addr *addr);
/* Opens the engine (binds the port) if that has not happened yet; 0 or FI error.  Under lock. */
int sdr_ep_engine_open(struct sdr_ep *ep);
/*
 * One round; under lock, as are the next four.  *wait_ns (may be NULL): how long it can be left
 * alone if its fd is silent.
 */
int sdr_ep_round(struct sdr_ep *ep, uint64_t *wait_ns);
/* A round that leaves the alarm alone. */
int sdr_ep_drive(struct sdr_ep *ep);
/* Engine time at which it wants a round; UINT64_MAX never. */
uint64_t sdr_ep_due(struct sdr_ep *ep);
/* Before each sleep on its descriptors, after the last round.  True: do not sleep, run another. */
bool sdr_ep_arm(struct sdr_ep *ep);
/* Too much is unread: it is not driven. */
bool sdr_ep_backpressured(const struct sdr_ep *ep);
/* Logs what the engine has to say, once: also when no operation here fails of it. */
void sdr_ep_reason(struct sdr_ep *ep);
/* Source of a received message, for FI_SOURCE; under lock. */
fi_addr_t sdr_ep_source(struct sdr_ep *ep, struct sdr_peer *peer);
struct sdr_peer *sdr_ep_peer_slow(struct sdr_ep *ep, fi_addr_t fi_addr);
/* Error entry to the CQ of the operation's side, with a text; under lock. */
void sdr_ep_done_error(struct sdr_ep *ep, struct sdr_cq *cq, struct sdr_cqe *e,
		       const struct sdr_uc_addr *who);

static inline struct sdr_peer *sdr_ep_peer(struct sdr_ep *ep, fi_addr_t fi_addr)
{
	if (fi_addr < ep->npeers && ep->peers[fi_addr])
		return ep->peers[fi_addr];
	return sdr_ep_peer_slow(ep, fi_addr);
}

/* The application drives: the progress thread stays away. */
static inline void sdr_ep_touch(struct sdr_ep *ep)
{
	atomic_fetch_add_explicit(&ep->app_polls, 1, memory_order_relaxed);
}

/* The alarm (sdr_alarm.c); all under lock. */
int sdr_ep_alarm_open(struct sdr_ep *ep);
void sdr_ep_alarm_close(struct sdr_ep *ep);
/* The deadline may have come nearer. */
void sdr_ep_alarm_sooner(struct sdr_ep *ep);
/* After a round: likewise, and an alarm that has rung is set anew. */
void sdr_ep_alarm_round(struct sdr_ep *ep);
/* Before a sleep: to the deadline as it is. */
void sdr_ep_alarm_exact(struct sdr_ep *ep);
/*
 * After a round of the application, which comes back or leaves the endpoint to the progress thread.
 */
void sdr_ep_alarm_driven(struct sdr_ep *ep);

/*
 * After anything that may have given the endpoint work: releases the lock, and those who sleep hear
 * of it.
 */
static inline void sdr_ep_unlock(struct sdr_ep *ep)
{
	if (atomic_load_explicit(&ep->watch, memory_order_relaxed))
		sdr_ep_alarm_sooner(ep);
	pthread_mutex_unlock(&ep->lock);
}

/*
 * Posting (sdr_post.c).  The caller fills kind, iov, niov, tag, data, rma_*, ctx; flags are
 * libfabric's. inject: no CQ entry.
 */
ssize_t sdr_ep_post(struct sdr_ep *ep, struct sdr_rel_wr *wr, fi_addr_t dest, uint64_t flags);
ssize_t sdr_ep_post_inject(struct sdr_ep *ep, struct sdr_rel_wr *wr, fi_addr_t dest,
			   uint64_t flags);
ssize_t sdr_ep_post_recv(struct sdr_ep *ep, struct sdr_rel_rr *rr, fi_addr_t src, uint64_t flags);
/* niov, or -FI_EINVAL when there are more than SDR_REL_IOV_MAX. */
static inline int sdr_iov_copy(struct sdr_rel_iov *to, const struct iovec *from, size_t count)
{
	size_t i;

	if (count > SDR_REL_IOV_MAX)
		return -FI_EINVAL;
	for (i = 0; i < count; i++) {
		to[i].buf = from[i].iov_base;
		to[i].len = from[i].iov_len;
	}
	return (int)count;
}

extern struct fi_ops_msg sdr_msg_ops;
extern struct fi_ops_tagged sdr_tagged_ops;
extern struct fi_ops_rma sdr_rma_ops;
extern struct fi_ops_msg sdr_dgram_msg_ops;

int sdr_dgram_open(struct sdr_ep *ep);
void sdr_dgram_close(struct sdr_ep *ep);
ssize_t sdr_dgram_cancel(struct sdr_ep *ep, void *context);
/* Bytes of the largest datagram on a control path of ctl_max bytes. */
size_t sdr_dgram_max(uint32_t ctl_max);

void sdr_stats_dump(struct sdr_ep *ep);
int sdr_ep_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);

int sdr_poll_open(struct fid_domain *dom, struct fi_poll_attr *attr, struct fid_poll **pollset);

/* ---- what is not there (sdr_enosys.c) -------------------------------------------------------- */

int sdr_no_close(struct fid *fid);
int sdr_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int sdr_no_control(struct fid *fid, int command, void *arg);
int sdr_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);
int sdr_no_tostr(const struct fid *fid, char *buf, size_t len);
int sdr_no_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops, void *context);
int sdr_no_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		      void *context);
int sdr_no_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		     struct fid_wait **waitset);
int sdr_no_scalable_ep(struct fid_domain *dom, struct fi_info *info, struct fid_ep **sep,
		       void *context);
int sdr_no_stx_ctx(struct fid_domain *dom, struct fi_tx_attr *attr, struct fid_stx **stx,
		   void *context);
int sdr_no_srx_ctx(struct fid_domain *dom, struct fi_rx_attr *attr, struct fid_ep **ep,
		   void *context);
int sdr_no_query_atomic(struct fid_domain *dom, enum fi_datatype datatype, enum fi_op op,
			struct fi_atomic_attr *attr, uint64_t flags);
int sdr_no_query_collective(struct fid_domain *dom, enum fi_collective_op coll,
			    struct fi_collective_attr *attr, uint64_t flags);
int sdr_no_av_set(struct fid_av *av, struct fi_av_set_attr *attr, struct fid_av_set **set,
		  void *context);
int sdr_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr, struct fid_ep **ep,
		  void *context);
int sdr_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr, struct fid_ep **ep,
		  void *context);
ssize_t sdr_no_size_left(struct fid_ep *ep);
int sdr_no_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen);
int sdr_no_connect(struct fid_ep *ep, const void *addr, const void *param, size_t paramlen);
int sdr_no_listen(struct fid_pep *pep);
int sdr_no_accept(struct fid_ep *ep, const void *param, size_t paramlen);
int sdr_no_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen);
int sdr_no_shutdown(struct fid_ep *ep, uint64_t flags);
int sdr_no_join(struct fid_ep *ep, const void *addr, uint64_t flags, struct fid_mc **mc,
		void *context);
extern struct fi_ops_tagged sdr_no_tagged_ops;
extern struct fi_ops_rma sdr_no_rma_ops;
extern struct fi_ops_atomic sdr_no_atomic_ops;
extern struct fi_ops_collective sdr_no_collective_ops;

#endif /* SDR_FI_H */
