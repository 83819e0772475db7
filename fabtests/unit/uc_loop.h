/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A loopback engine for tests: a few nodes in one process, and a network that does what the test
 * says.
 *
 * By itself (auto) every packet posted arrives in order.  With auto off packets stay outstanding
 * until the test delivers, copies or drops each of them, in any order.  Time does not move until
 * the test moves it. post() can be made to stop after a number of packets, in the middle of a run
 * too.
 *
 * Kinds of receiver (a node's is the net's at the time it was opened):
 *   LOOP_SOFT          a packet is checked and placed when poll meets it; late ones are counted
 *                      and not reported
 *   LOOP_HW            placed or discarded when it arrives, reported always, later (a NULL key per
 *                      generation)
 *   LOOP_HW_1KEY       one key for all generations: what is bound to the slot is written
 *   LOOP_RKEYED         hardware whose messages need a grant; of a packet under an ended one
 *                      nothing is seen ("mr", "mw")
 *   LOOP_RKEYED_ROOT    the same, but such a packet is reported, with nothing written ("root")
 * An rkeyed receiver writes under a living grant whatever slot the packet names, and reports all it
 * has written: what an event means is the SDK's to find out.  Packets without bytes are checked by
 * no key, as on hardware.
 *
 * Memory that is sent from under a registration (reg_min) is read when it is posted, or, with
 * late_reads, when the packet leaves the network; it must be registered as long.
 *
 * poll returns behind a control datagram, so that what it announces can be bound before data behind
 * it are met.
 */
#ifndef UC_LOOP_H
#define UC_LOOP_H

#include "uc/sdr_uc.h"

#define LOOP_NODES     4
#define LOOP_UNLIMITED (-1)

enum loop_mode {
	LOOP_SOFT,
	LOOP_HW,
	LOOP_HW_1KEY,
	LOOP_RKEYED,
	LOOP_RKEYED_ROOT,
};

struct loop_reg;

struct loop_pkt {
	struct loop_pkt *next;
	uint8_t kind;	  /* enum sdr_uc_tx_kind */
	uint8_t src, dst; /* nodes */
	uint8_t channel, gen;
	uint32_t qpn, rkey; /* WRITE: the receiver's */
	uint32_t slot, off; /* WRITE: off in packets */
	uint32_t imm;
	uint32_t len; /* bytes */
	uint32_t tag; /* free for the test */
	bool rkeyed;
	uint64_t va;	      /* rkeyed: where the first byte goes */
	struct loop_reg *reg; /* whose memory is still to be read */
	const uint8_t *unread;
	uint8_t buf[];
};

struct loop_net {
	bool automatic; /* arrives by itself */
	enum loop_mode mode;
	uint64_t now; /* ns */
	long budget;  /* packets that post() takes before the network is full; LOOP_UNLIMITED */
	uint32_t mtu; /* bytes, for engines opened from now on */
	uint32_t npkts, cap;
	struct loop_pkt **pkts; /* outstanding, oldest first */
	struct loop_node *node[LOOP_NODES];
	uint64_t posts;	  /* calls */
	uint64_t descs;	  /* descriptors taken whole */
	uint32_t binds;	  /* slots bound now, all QPs */
	uint32_t reg_min; /* bytes, for engines opened from now on */
	bool late_reads;
	int grant_err, reg_err;	 /* what grant and mr_reg say; 0: they work */
	uint32_t grants, regs;	 /* open now, all nodes */
	uint64_t granted, reged; /* made in all */
	/* rkeyed packets under no grant of ours, and under one that has ended */
	uint64_t key_bad, key_ended;
	uint64_t rand;
	struct loop_grant *grant; /* all that were made on QPs that still exist */
};

struct loop_net *loop_net_create(enum loop_mode mode, uint32_t mtu);
/* Engines must be closed before. */
void loop_net_destroy(struct loop_net *net);
int loop_open(struct loop_net *net, uint8_t node, struct sdr_uc **uc);
void loop_addr(uint8_t node, struct sdr_uc_addr *addr);

/* Outstanding packet i goes to its receiver (its number is free afterwards). */
void loop_deliver(struct loop_net *net, uint32_t i);
/* A copy goes, the packet stays. */
void loop_deliver_copy(struct loop_net *net, uint32_t i);
void loop_drop(struct loop_net *net, uint32_t i);
void loop_deliver_all(struct loop_net *net);
void loop_drop_all(struct loop_net *net);
/* What a broken or hostile peer could make an engine report: an event without a placement. */
void loop_forge_placed(struct loop_net *net, uint8_t node, void *cookie, uint8_t gen, uint32_t imm,
		       uint32_t len);
void loop_forge_ctl(struct loop_net *net, uint8_t node, uint8_t from, const void *buf,
		    uint32_t len);
void loop_forge_error(struct loop_net *net, uint8_t node, int err);
void loop_forge_broken(struct loop_net *net, uint8_t node, void *cookie, int err); /* of a QP */
/*
 * Takes back the event that arrived last at the node (hardware modes), to be forged again later;
 * false: none.
 */
bool loop_steal(struct loop_net *net, uint8_t node, struct sdr_uc_ev *ev);
/* The registration that the grant was made with. */
void *loop_grant_mr(const struct sdr_uc_grant *g);
/* Events that poll would return at the node. */
uint32_t loop_pending(struct loop_net *net, uint8_t node);

#endif /* UC_LOOP_H */
