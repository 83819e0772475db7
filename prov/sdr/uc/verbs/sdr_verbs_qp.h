/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * One peer's QP: channels * generations transport QPs, each a UC QP, with its receive completion
 * queues (sdr_verbs_qp.c), and the slot table (sdr_verbs_slot.c); its end when the device gives one
 * up (sdr_verbs_bad.c).
 */
#ifndef SDR_VERBS_QP_H
#define SDR_VERBS_QP_H

#include "sdr_verbs_ctl.h"
#include "sdr_verbs_lane.h"

struct sdr_verbs;
struct sdr_verbs_qp;

#define SDR_VERBS_SLOT_PAGE 64u	 /* slots a page of the table */
#define SDR_VERBS_INLINE    128u /* bytes that a device takes inside the request */

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
	struct sdr_verbs_rq *rq;
	uint32_t tx_free; /* work requests that may be posted */
	uint32_t rx_need; /* receives that were used; its lane's */
	bool rx_on;	  /* receives were posted; written by the owner in its lane */
	uint8_t gen, channel;
	uint32_t index; /* in v->tps */
	/* separates its completions from those of an earlier user of the index */
	uint32_t serial;
	struct sdr_verbs_batch *batch; /* ring of tx_depth */
	uint32_t head, tail;	       /* batches under way, free-running */
};

struct sdr_verbs_slot {
	uint64_t len;
	uint8_t gen;
	bool bound; /* set last, cleared first: workers look at it */
};

/* Why a QP is broken, as those know it who may not touch it (sdr_verbs_qp_broke). */
enum sdr_verbs_broke {
	SDR_VERBS_BROKE_NOT,
	SDR_VERBS_BROKE_SAID, /* the owner has it in q->failed */
	SDR_VERBS_BROKE_RECEIVES,
	SDR_VERBS_BROKE_POLL,
	SDR_VERBS_BROKE_STATUS, /* and behind it: a receive ended with that enum ibv_wc_status */
};

struct sdr_verbs_qp {
	struct sdr_uc_qp qp;
	struct sdr_verbs *v;
	uint32_t expected; /* bound slots and open grants */
	void *cookie;
	uint8_t channels, generations;
	struct sdr_imm_split split;
	uint32_t mtu, nslots, ntp;
	uint64_t max_msg;
	uint32_t rkey, psn; /* own; the key only shows that a peer has seen our info */
	bool connected;
	bool on_way; /* its transports have left INIT, perhaps not all */
	bool peer_nic;
	uint32_t peer_rkey;
	struct sdr_wire_qp_info peer; /* as connected: for a peer that moves */
	struct sdr_uc_addr addr;      /* of the peer */
	struct sdr_verbs_peer *ctl;   /* NULL: it has no device */
	struct sdr_verbs_slot **pages;
	struct sdr_verbs_rq *rq; /* one a transport QP, or one a worker that has channels of it */
	uint32_t nrq;
	atomic_int broke; /* enum sdr_verbs_broke */
	/* ns: the device disabled one of its queue pairs; 0: it did not */
	uint64_t failed_at;
	char failed[96];	       /* what happened */
	struct sdr_verbs_qp *bad_next; /* v->bad */
	struct sdr_verbs_tp tp[];
};

static inline struct sdr_verbs_qp *sdr_verbs_qp_of(struct sdr_uc_qp *qp)
{
	return (struct sdr_verbs_qp *)qp;
}

/*
 * Breaks one QP, of which the engine survives: reported by poll (SDR_UC_EV_QP), likewise not at
 * once. The engine's thread.
 */
void sdr_verbs_qp_break(struct sdr_verbs_qp *q, const char *what);
/* Likewise, any thread that is in one of its lanes: the engine's does the rest when it polls. */
void sdr_verbs_qp_broke(struct sdr_verbs_qp *q, int why);
/* Breaks those that were marked so. */
void sdr_verbs_qp_broken(struct sdr_verbs *v);
/* The device has said something of some QP's queue pairs: finds out which. */
void sdr_verbs_qp_event(struct sdr_verbs *v);
/* Events of those that broke; the engine breaks instead when the port is down. */
int sdr_verbs_qp_report(struct sdr_verbs *v, uint64_t now, struct sdr_uc_ev *ev, int max);
int sdr_verbs_qp_create(struct sdr_uc *uc, const struct sdr_uc_qp_attr *a, struct sdr_uc_qp **qp);
void sdr_verbs_qp_destroy(struct sdr_uc_qp *qp);
void sdr_verbs_qp_info(struct sdr_uc_qp *qp, struct sdr_wire_qp_info *out);
int sdr_verbs_qp_connect(struct sdr_uc_qp *qp, const struct sdr_wire_qp_info *p,
			 const struct sdr_uc_addr *addr);
void sdr_verbs_qp_readdress(struct sdr_uc_qp *qp, const struct sdr_uc_addr *addr);
int sdr_verbs_slot_bind(struct sdr_uc_qp *qp, uint32_t slot, uint32_t use, void *buf, size_t len,
			void *mr);
void sdr_verbs_slot_unbind(struct sdr_uc_qp *qp, uint32_t slot);
/* Receives of a transport QP are posted: all, and again those that were used. */
void sdr_verbs_tp_ready(struct sdr_verbs_tp *t);
/* One more, or one less, reason to look at the QP's completion queues. */
void sdr_verbs_qp_expect(struct sdr_verbs_qp *q, int delta);

static inline struct sdr_verbs_slot *sdr_verbs_slot_find(const struct sdr_verbs_qp *q,
							 uint32_t slot)
{
	struct sdr_verbs_slot *page =
		slot < q->nslots
			? __atomic_load_n(&q->pages[slot / SDR_VERBS_SLOT_PAGE], __ATOMIC_ACQUIRE)
			: NULL;

	return page ? &page[slot % SDR_VERBS_SLOT_PAGE] : NULL;
}

static inline bool sdr_verbs_slot_bound(const struct sdr_verbs_slot *e)
{
	return __atomic_load_n(&e->bound, __ATOMIC_ACQUIRE);
}

#endif /* SDR_VERBS_QP_H */
