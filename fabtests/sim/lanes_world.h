/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The world of sdr_explore_lanes: an engine of a device with workers, a device that never was, and
 * what is known of both beside the code (lanes_code.c).
 */
#ifndef LANES_WORLD_H
#define LANES_WORLD_H

#include "explore_turns.h"
#include "uc/verbs/sdr_verbs_impl.h"

/* Threads: the workers, then */
#define LANES_WORKERS 2u
#define LANES_OWNER   2
#define LANES_DEVICE  3

#define LANES_GENS  2u
#define LANES_MTU   256u
#define LANES_SLOTS 2u
#define LANES_USES  3u /* of a slot */
#define LANES_PKTS  3u /* a message */
#define LANES_FDS   8
#define LANES_ROOMY 8u /* more reports than there are packets */

/* Orders that are wrong, to see that they are found. */
enum lanes_wrong {
	LANES_RIGHT,
	LANES_NO_LEAVE,	   /* a slot is unbound, and nobody looks who has events of it */
	LANES_LATE_NOTIFY, /* a worker asks for notifications after its last look */
	LANES_NO_PASS,	   /* a control datagram is reported before the data that came before it */
	LANES_LATE_ASK,	   /* a poll is counted after it has looked for control datagrams */
	LANES_NO_WAKE,	   /* a queue is read from now on, and its worker is not told */
	LANES_WRONGS,
};

/* A receive completion queue of the device's. */
struct lanes_queue {
	struct ibv_cq cq;
	struct ibv_wc wc[8];
	uint32_t head, tail;
	bool armed, gone;
};

struct lanes_world {
	struct sdr_verbs v;
	struct sdr_verbs_pd pd;
	struct ibv_context ctx;
	struct sdr_ibv ibv;
	struct sdr_uc_ops soft_ops;
	struct sdr_uc soft;
	struct sdr_verbs_qp *q; /* NULL: destroyed */
	struct sdr_verbs_tp *tps[LANES_WORKERS * LANES_GENS];
	struct ibv_qp qp[LANES_WORKERS * LANES_GENS];
	struct lanes_queue queue[LANES_WORKERS];
	struct ibv_cq ud_cq;
	struct ibv_qp ud_qp;
	struct sdr_verbs_mr ud_mr;
	struct ibv_mr ud_ibv_mr;
	struct ibv_comp_channel chan[LANES_WORKERS];
	uint32_t qps, queues, chans;
	/* descriptors: how often they were written to, and who sleeps on them */
	uint32_t fds, count[LANES_FDS];
	bool pending[LANES_WORKERS]; /* a request for notifications that was put off */
	/* beside the code */
	enum lanes_wrong wrong;
	struct sdr_verbs_worker *worker[LANES_WORKERS];
	int holder[LANES_WORKERS];    /* thread that has the lock; -1: none */
	uint64_t past[LANES_WORKERS]; /* what that had read before it */
	bool had[LANES_WORKERS];      /* something was held since */
	/* of this world: */
	bool fails;    /* receives may end with errors */
	bool closes;   /* it goes to the very end */
	bool talks[2]; /* control datagrams come to the device, to the socket */
	/* control datagrams that have come to the device, and to the socket, and were read */
	uint32_t ctl[2], ctl_read[2];
	uint32_t room; /* reports that a worker may make between two rounds of the owner */
	uint32_t notes[LANES_WORKERS];
	bool bound[LANES_SLOTS][LANES_USES];
	uint8_t seen[LANES_SLOTS][LANES_USES][LANES_PKTS];
	uint32_t placed;
	bool called; /* the owner is to wake, whatever it sleeps on */
};

extern struct lanes_world lanes;

/* Descriptors (lanes_code.c): as eventfd, read and write. */
int lanes_fd_new(void);
ssize_t lanes_fd_read(int fd, uint64_t *n, uint32_t line);
ssize_t lanes_fd_write(int fd, uint32_t line);
/* All memory is free. */
void lanes_mem_reset(void);
/* In place of the engine's. */
uint64_t lanes_now(struct sdr_uc *uc);
void lanes_pd_events(struct sdr_verbs_pd *pd);

/* A world without packets.  workers: as many channels. */
void lanes_reset(uint32_t workers);
uint64_t lanes_hash(void);
/* A worker's thread. */
void lanes_work(uint32_t worker);
/* The device has placed a packet. */
void lanes_arrives(uint32_t channel, uint32_t slot, uint32_t use, uint32_t pkt,
		   enum ibv_wc_status status);
/* A control datagram comes to the device, or to the socket. */
void lanes_control(bool socket);
/* Some are to be read. */
bool lanes_ctl_there(void);
/* The owner sleeps until there is something on its descriptor. */
void lanes_owner_sleep(void);
/* The notes that workers have left. */
void lanes_collect(void);

#endif /* LANES_WORLD_H */
