/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Inside of the verbs engine: the engine itself, one per endpoint.  Beside it:
 *
 *   sdr_verbs_pd.h    the device as this process uses it, shared by engines
 *   sdr_verbs_bind.h  what an engine is bound to
 *   sdr_verbs_break.h how it breaks, and its clock
 *   sdr_verbs_key.h   leave to write, and the ways of giving it
 *   sdr_verbs_ctl.h   UD queue pair and peers: control datagrams
 *   sdr_verbs_qp.h    one QP per peer, its transport QPs and slots
 *   sdr_verbs_tx.h    sending, registrations
 *   sdr_verbs_rx.h    receiving
 *   sdr_verbs_lane.h  receive queues, and who reads them: the owner, or
 *   sdr_verbs_crew.h  its workers
 *
 * Everything but the device and what workers have a part in is used by one thread at a time.
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
#include "sdr_verbs_bind.h"
#include "sdr_verbs_break.h"
#include "sdr_verbs_crew.h"
#include "sdr_verbs_ctl.h"
#include "sdr_verbs_key.h"
#include "sdr_verbs_lane.h"
#include "sdr_verbs_lib.h"
#include "sdr_verbs_pd.h"
#include "sdr_verbs_qp.h"
#include "sdr_verbs_rx.h"
#include "sdr_verbs_tx.h"

/* packets of unregistered messages under way (each of one MTU) */
#define SDR_VERBS_COPIES 1024u
#define SDR_VERBS_SCQ	 4096u /* send completions that may be outstanding */
/* between looks at the socket and at device events, ns */
#define SDR_VERBS_LOOK_NS 50000u
#define SDR_VERBS_NAP_NS  500000ull   /* maximum sleep while data is flowing, ns */
#define SDR_VERBS_REST_NS 10000000ull /* maximum sleep while it is only expected, ns */
/* so long after the last packet it counts as flowing, ns */
#define SDR_VERBS_FLOW_NS 100000000ull
/* a port that is down for longer breaks the engine, ns */
#define SDR_VERBS_DOWN_NS    5000000000ull
#define SDR_VERBS_FAIL_NS    200000000ull /* from a failed write to the search for its cause, ns */
#define SDR_VERBS_FAR_WHAT   "cannot register memory of a device by its dma-buf"
#define SDR_VERBS_DOWN_WORDS "its port is down: set its interface up (ip link)"

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
	uint8_t tclass; /* octet of the IP header of what leaves, its ECN bits 0 */
	/* bound to all addresses of the family: routing chooses one per peer */
	bool any;
	int gid_index;		   /* of the bound address, or the first */
	struct sdr_verbs_src *src; /* all of the port, of the family */
	uint32_t nsrc;
	struct sockaddr_storage local; /* what the socket binds */
	struct sdr_uc_addr addr;       /* where others meet it: bound, or the first */
	uint32_t mtu, ctl_max, ctl_bound;
	enum ibv_mtu port_mtu;
	uint32_t rx_depth, tx_depth, inl;
	int epfd;

	struct ibv_comp_channel *chan;
	struct ibv_cq *scq;
	uint32_t nsignal;		 /* send completions outstanding */
	struct sdr_verbs_reg *dead_regs; /* released, and still to be read */
	struct sdr_verbs_tp **tps;	 /* by index; NULL: free */
	uint32_t ntps, tps_cap, serial;
	struct sdr_verbs_mr *copy_mr;
	uint8_t *copy;	     /* SDR_VERBS_COPIES * mtu bytes */
	uint32_t *copy_next; /* free list and chains */
	uint32_t copy_free;
	struct ibv_send_wr swr[SDR_VERBS_BATCH];
	struct ibv_sge sge[SDR_VERBS_BATCH];

	struct sdr_verbs_ud ud;
	struct sdr_verbs_peer *peers[64];

	struct sdr_verbs_crew *crew; /* NULL: no workers */
	struct sdr_verbs_lane lane;  /* the owner's */
	struct sdr_verbs_qp *bad;    /* failed, and not reported yet */
	atomic_bool broke;	     /* a QP is marked as broken, and not on that list yet */
	/* 1 + the last enum ibv_event_type that a queue pair of a QP had */
	atomic_int qp_event;
	struct sdr_verbs_looks looks; /* for control datagrams */
	/* the last one when its lane was filled: what is held came before the next */
	uint32_t lane_look;

	atomic_ullong failed_at; /* ns: first thing that failed; 0: none */
	char failed[160];	 /* what it was */
	uint64_t polled;	 /* ns: last poll */
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

/* Path to a peer: its GID from its address, ours as bound or as routing has it. */
int sdr_verbs_path(struct sdr_verbs *v, const struct sdr_uc_addr *addr, struct ibv_ah_attr *ah);
/* Path of a queue pair that is connected to itself. */
void sdr_verbs_path_self(const struct sdr_verbs *v, struct ibv_ah_attr *ah);

#endif /* SDR_VERBS_IMPL_H */
