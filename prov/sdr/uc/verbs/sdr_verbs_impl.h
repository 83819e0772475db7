/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Inside of the verbs engine.
 *
 *   sdr_verbs_pd     one a device and process: context, protection domain, registrations.  Shared
 *                    by engines and threads; its lock is a leaf and is never held over a wait for
 *                    the network.
 *   sdr_verbs        one an endpoint: UD pair for control, send completion queue, ring of copies,
 *                    socket (soft)
 *   sdr_verbs_qp     one a peer: channels * generations transport QPs, the slot table
 *   sdr_verbs_tp     one transport QP: a UC QP and its receive completion queue
 *
 * Everything below an engine is used by one thread at a time.
 */
#ifndef SDR_VERBS_IMPL_H
#define SDR_VERBS_IMPL_H

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_net.h"
#include "uc/soft/sdr_soft.h"
#include "sdr_verbs.h"
#include "sdr_verbs_lib.h"

/* bytes of a message from which registering beats copying */
#define SDR_VERBS_REG_MIN 65536u
/* packets of unregistered messages under way (each of one MTU) */
#define SDR_VERBS_COPIES    1024u
#define SDR_VERBS_SCQ	    4096u	/* send completions that may be outstanding */
#define SDR_VERBS_BATCH	    64u		/* work requests a doorbell */
#define SDR_VERBS_INLINE    128u	/* bytes a device is asked to take inside the request */
#define SDR_VERBS_HELD	    256u	/* receive completions taken at a time */
#define SDR_VERBS_UD_RX	    512u	/* control datagrams that wait unread */
#define SDR_VERBS_UD_TX	    128u	/* control datagrams under way */
#define SDR_VERBS_QKEY	    0x5d725d72u /* below 0x80000000: no privilege is needed */
#define SDR_VERBS_SLOT_PAGE 64u		/* slots a page of the table */
/* between looks at the socket and at device events, ns */
#define SDR_VERBS_LOOK_NS 50000u
#define SDR_VERBS_NAP_NS  500000ull   /* sleep at the most while data is flowing, ns */
#define SDR_VERBS_REST_NS 10000000ull /* sleep at the most while it is only expected, ns */
/* so long after the last packet it counts as flowing, ns */
#define SDR_VERBS_FLOW_NS 100000000ull
/* a port that is down for longer breaks the engine, ns */
#define SDR_VERBS_DOWN_NS    5000000000ull
#define SDR_VERBS_KEY_NS     1000000000ull /* to set a key: microseconds in practice, ns */
#define SDR_VERBS_FAIL_NS    200000000ull  /* from a failed write to the search for its cause, ns */
#define SDR_VERBS_DOWN_WORDS "its port is down: set its interface up (ip link)"
/* a peer not heard of for longer is met at its socket, ns */
#define SDR_VERBS_FRESH_NS 1000000000ull
/* bytes before a UD payload (IBTA 9.6; RoCEv2 IPv4: its last 20) */
#define SDR_VERBS_GRH 40u

struct sdr_verbs;
struct sdr_verbs_qp;

/* ---- device ---------------------------------------------------------------------------------- */

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
 * Words for a failure of the device: what was asked, the limit that stands in the way, the remedy.
 */
void sdr_verbs_why(const struct sdr_verbs_pd *pd, int err, const char *what, char *buf, size_t len);

/* ---- transport QPs --------------------------------------------------------------------------- */

/* Work requests under one signalled completion. */
struct sdr_verbs_batch {
	struct sdr_verbs_reg *reg; /* holds the memory; NULL: copies or inline */
	uint32_t copies;	   /* first of a chain in v->copy_next, SDR_VERBS_NONE: none */
	uint32_t n;
};
#define SDR_VERBS_NONE UINT32_MAX

struct sdr_verbs_tp {
	struct sdr_verbs_qp *q;
	struct ibv_qp *qp;
	struct ibv_cq *rcq;
	uint32_t tx_free; /* work requests that may be posted */
	uint32_t rx_need; /* receives that were used */
	bool rx_on;	  /* receives were posted */
	uint8_t gen, channel;
	uint32_t index; /* in v->tps */
	/* tells its completions from those of an earlier user of the index */
	uint32_t serial;
	struct sdr_verbs_batch *batch; /* ring of tx_depth */
	uint32_t head, tail;	       /* batches under way, free-running */
};

struct sdr_verbs_slot {
	uint64_t len;
	uint8_t gen;
	bool bound;
};

/* Where a peer's control datagrams go: a connected one's, or one that was heard of. */
struct sdr_verbs_peer {
	struct sdr_verbs_peer *next;
	struct sdr_uc_addr addr;
	struct ibv_ah *ah; /* made when something is to be sent; NULL */
	uint32_t qpn;
	uint32_t refs;	/* connections; 0: it may be forgotten */
	uint64_t heard; /* ns */
};

struct sdr_verbs_qp {
	struct sdr_uc_qp qp;
	struct sdr_verbs *v;
	struct sdr_verbs_qp *hot_prev, *hot_next; /* on v->hot while something may arrive */
	uint32_t expected;			  /* bound slots and open grants */
	void *cookie;
	uint8_t channels, generations;
	struct sdr_imm_split split;
	uint32_t mtu, nslots, ntp;
	uint64_t max_msg;
	uint32_t rkey, psn; /* own; the key only proves that a peer has seen our info */
	bool connected;
	bool on_way; /* its transports have left INIT, perhaps not all */
	bool peer_nic;
	uint32_t peer_rkey;
	struct sdr_wire_qp_info peer; /* as connected: for a peer that moves */
	struct sdr_uc_addr addr;      /* of the peer */
	struct sdr_verbs_peer *ctl;   /* NULL: it has no device */
	struct sdr_verbs_slot **pages;
	/* ns: the device gave up one of its queue pairs; 0: it did not */
	uint64_t failed_at;
	char failed[96];	       /* what happened */
	struct sdr_verbs_qp *bad_next; /* v->bad */
	struct sdr_verbs_tp tp[];
};

/* ---- keys ------------------------------------------------------------------------------------ */

/* One way of giving and ending leave to write. */
struct sdr_verbs_keys {
	const char *name;
	int access; /* IBV_ACCESS_* of the registration below a grant; 0: it makes its own */
	int (*open)(struct sdr_verbs *v);
	void (*close)(struct sdr_verbs *v);
	int (*grant)(struct sdr_verbs *v, void *buf, size_t len, struct sdr_uc_grant *g);
	void (*end)(struct sdr_verbs *v, struct sdr_uc_grant *g);
};
/*
 * Waits for the one completion of a request that sets a key.  Without one within SDR_VERBS_KEY_NS
 * the engine is broken: the next wait would take a late one for its own.
 */
int sdr_verbs_key_wait(struct sdr_verbs *v, struct ibv_cq *cq);
extern const struct sdr_verbs_keys sdr_verbs_keys_mr, sdr_verbs_keys_mw, sdr_verbs_keys_root;

/* ---- engine ---------------------------------------------------------------------------------- */

/* What mr_reg hands out. */
struct sdr_verbs_reg {
	struct sdr_verbs_mr *mr;
	uint32_t batches;	    /* under way */
	bool dead;		    /* deregistered: goes with the last of them */
	struct sdr_verbs_reg *next; /* dead: v->dead_regs */
};

struct sdr_verbs_ud {
	struct ibv_qp *qp;
	struct ibv_cq *rcq, *scq;
	struct sdr_verbs_mr *mr;
	uint8_t *buf; /* receive slots of rx_size bytes, then send slots of v->ctl_max */
	uint32_t rx_size;
	uint32_t rx_need, tx_head, tx_tail;
	uint32_t refill[SDR_VERBS_UD_RX]; /* receive slots to post again */
	struct ibv_wc wc[64];
	uint32_t nwc, pos;	     /* [pos, nwc) are not reported yet */
	struct sdr_uc_addr from[64]; /* of what the last poll reported */
};

/* An address of the device. */
struct sdr_verbs_src {
	struct sdr_uc_addr addr; /* port 0 */
	int gid_index;
};

struct sdr_verbs {
	struct sdr_uc uc;
	struct sdr_verbs_pd *pd;
	const struct sdr_ibv *ibv;
	struct sdr_verbs *next; /* pd->engines */
	struct sdr_uc *soft;	/* the socket */
	const struct sdr_verbs_keys *keys;
	void *keys_priv;
	char device[SDR_UC_DEV_NAME];
	uint8_t port;
	/* bound to all addresses of the family: routing chooses one a peer */
	bool any;
	int gid_index;		   /* of the bound address, or the first */
	struct sdr_verbs_src *src; /* all of the port, of the family */
	uint32_t nsrc;
	struct sockaddr_storage local; /* what the socket binds */
	struct sdr_uc_addr addr;       /* where others meet it: bound, or the first */
	uint32_t mtu, ctl_max;
	enum ibv_mtu port_mtu;
	uint32_t rx_depth, tx_depth, inl;
	int epfd;

	struct ibv_comp_channel *chan;
	struct ibv_cq *scq;
	uint32_t nsignal;		 /* send completions outstanding */
	struct sdr_verbs_reg *dead_regs; /* given up, and still to be read */
	struct sdr_verbs_tp **tps;	 /* by index; NULL: free */
	uint32_t ntps, tps_cap, serial;
	struct sdr_verbs_mr *copy_mr;
	uint8_t *copy;	     /* SDR_VERBS_COPIES * mtu bytes */
	uint32_t *copy_next; /* free list and chains */
	uint32_t copy_free;
	struct ibv_send_wr swr[SDR_VERBS_BATCH];
	struct ibv_sge sge[SDR_VERBS_BATCH];
	struct ibv_recv_wr rwr[SDR_VERBS_BATCH]; /* a chain without buffers */

	struct sdr_verbs_ud ud;
	struct sdr_verbs_peer *peers[64];

	struct sdr_verbs_qp *hot;
	struct sdr_verbs_qp *bad; /* failed, and not told yet */
	/* 1 + the last enum ibv_event_type that a queue pair of a QP had */
	atomic_int qp_event;
	/* completions that wait for the control datagrams before them */
	struct ibv_wc held[SDR_VERBS_HELD];
	struct sdr_verbs_tp *held_tp[SDR_VERBS_HELD];
	uint32_t nheld, held_pos;
	bool held_ready; /* those have been reported */
	bool held_sock;	 /* some are of peers that talk through the socket */

	atomic_ullong failed_at; /* ns: first thing that failed; 0: none */
	char failed[160];	 /* what it was */
	uint64_t polled;	 /* ns: last poll */
	uint64_t flowed;	 /* ns: last data */
	uint64_t looked;	 /* ns: last look at socket and device events */
	atomic_int err;		 /* -errno: broken */
	atomic_bool down;	 /* the port */
	uint64_t down_since;	 /* ns */
	bool err_told;
	char reason[320];
	struct sdr_uc_stats st;
};

static inline struct sdr_verbs *sdr_verbs_of(struct sdr_uc *uc)
{
	return (struct sdr_verbs *)uc;
}

static inline struct sdr_verbs_qp *sdr_verbs_qp_of(struct sdr_uc_qp *qp)
{
	return (struct sdr_verbs_qp *)qp;
}

/*
 * Breaks the engine: the first reason stays.  what: words.  With -EIO not at once: a device gives
 * queue pairs up when its port goes down and reports the port a moment later, so the cause is
 * looked for after SDR_VERBS_FAIL_NS.
 */
void sdr_verbs_break(struct sdr_verbs *v, int err, const char *what);
void sdr_verbs_judge(struct sdr_verbs *v, uint64_t now);
/*
 * Breaks one QP, of which the engine survives: told by poll (SDR_UC_EV_QP), likewise not at once.
 * The engine's thread.
 */
void sdr_verbs_qp_break(struct sdr_verbs_qp *q, const char *what);
/* The device has said something of some QP's queue pairs: finds out which. */
void sdr_verbs_qp_event(struct sdr_verbs *v);
/* Events of those that broke; the engine breaks instead when the port is down. */
int sdr_verbs_qp_report(struct sdr_verbs *v, uint64_t now, struct sdr_uc_ev *ev, int max);
uint64_t sdr_verbs_now(struct sdr_uc *uc);

int sdr_verbs_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *a, struct sdr_uc_qp **qp);
void sdr_verbs_qp_destroy(struct sdr_uc_qp *qp);
void sdr_verbs_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out);
int sdr_verbs_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *p,
			 const struct sdr_uc_addr *addr);
void sdr_verbs_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr);
int sdr_verbs_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
			void *mr);
void sdr_verbs_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot);
/* One more, or one less, reason to look at the QP's completion queues. */
void sdr_verbs_qp_expect(struct sdr_verbs_qp *q, int delta);

static inline struct sdr_verbs_slot *sdr_verbs_slot_find(const struct sdr_verbs_qp *q,
							 uint32_t slot)
{
	struct sdr_verbs_slot *page =
		slot < q->nslots ? q->pages[slot / SDR_VERBS_SLOT_PAGE] : NULL;

	return page ? &page[slot % SDR_VERBS_SLOT_PAGE] : NULL;
}

/* Path to a peer: its GID from its address, ours as bound or as routing has it. */
int sdr_verbs_path(struct sdr_verbs *v, const struct sdr_uc_addr *addr, struct ibv_ah_attr *ah);
/* Path of a queue pair that is connected to itself. */
void sdr_verbs_path_self(const struct sdr_verbs *v, struct ibv_ah_attr *ah);

int sdr_verbs_tx_init(struct sdr_verbs *v);
void sdr_verbs_tx_free(struct sdr_verbs *v);
int sdr_verbs_post(struct sdr_uc *uc, struct sdr_uc_tx *d, int n);
/* Takes in send completions. */
void sdr_verbs_tx_reap(struct sdr_verbs *v);
int sdr_verbs_tp_add(struct sdr_verbs *v, struct sdr_verbs_tp *t);
void sdr_verbs_tp_del(struct sdr_verbs *v, struct sdr_verbs_tp *t);
/* Forgets what a transport QP that was reset or destroyed had under way. */
void sdr_verbs_tp_forget(struct sdr_verbs_tp *t);
int sdr_verbs_mr_reg(struct sdr_uc *uc, void *buf, size_t len, void **mr);
bool sdr_verbs_mr_busy(struct sdr_uc *uc, void *mr);
bool sdr_verbs_mr_reading(struct sdr_uc *uc, const void *buf, size_t len);
void sdr_verbs_mr_dereg(struct sdr_uc *uc, void *mr);

int sdr_verbs_poll(struct sdr_uc *uc, struct sdr_uc_ev *ev, int max);
bool sdr_verbs_arm(struct sdr_uc *uc);
/*
 * Posts all receives of a transport QP, or those that were used; its QP breaks if the device takes
 * none.
 */
void sdr_verbs_rx_fill(struct sdr_verbs_tp *t);
/* Strikes out held completions of a QP that goes. */
void sdr_verbs_rx_forget(struct sdr_verbs_qp *q);

int sdr_verbs_ud_open(struct sdr_verbs *v);
void sdr_verbs_ud_close(struct sdr_verbs *v);
/* Sends one control datagram: true when it was taken (or is lost), false: full. */
bool sdr_verbs_ctl_post(struct sdr_verbs *v, struct sdr_uc_tx *t);
/* Control datagrams of devices; socket: those of the socket too. */
int sdr_verbs_ctl_poll(struct sdr_verbs *v, struct sdr_uc_ev *ev, int max, bool socket);
/* Completions of the UD pair taken in: true when something is there to report. */
bool sdr_verbs_ud_fetch(struct sdr_verbs *v);
struct sdr_verbs_peer *sdr_verbs_peer_get(struct sdr_verbs *v, const struct sdr_uc_addr *addr,
					  uint32_t qpn);
void sdr_verbs_peer_put(struct sdr_verbs *v, struct sdr_verbs_peer *p);
void sdr_verbs_peers_free(struct sdr_verbs *v);

#endif /* SDR_VERBS_IMPL_H */
