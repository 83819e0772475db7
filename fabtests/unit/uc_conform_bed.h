/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Two ends of a row's network with one connected QP each, and what they have reported. */
#ifndef UC_CONFORM_BED_H
#define UC_CONFORM_BED_H

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "uc_conform.h"

#define BED_MTU	     256u
#define BED_PKTS     64u /* of the longest message */
#define BED_MSG	     (BED_PKTS * BED_MTU)
#define BED_SLOT     5u		 /* that cases use unless they need more */
#define BED_USER     0xa1b2c3d4u /* user immediate */
#define BED_FILL     0xee	 /* of memory that nothing was written to */
#define BED_ROUNDS   1000000u
#define BED_RETRY_NS 100000u /* after which what the network did not take is posted again */
#define BED_GUARD    BED_MTU /* bytes on both sides of a buffer that stay BED_FILL */

#define BED_CREW 4096 /* events of workers that wait */

#define BED_ROOM (BED_MSG + 2 * BED_GUARD)

/* What one end has reported since bed_forget(). */
struct bed_seen {
	uint32_t placed[BED_PKTS]; /* of message BED_SLOT, by packet offset */
	uint32_t nplaced, nother;  /* of it, and of other messages */
	uint32_t nctl, nqp, nerr;
	uint8_t gen, channel; /* of the last placed */
	uint32_t bytes;
	void *cookie;
	uint8_t ctl[SDR_PROBE_MAX]; /* the last datagram */
	uint32_t ctl_len;
	struct sdr_uc_addr from;
};

/* What workers of an end have placed, until its next poll. */
struct bed_crew {
	pthread_mutex_t lock;
	struct sdr_uc_ev ev[BED_CREW];
	int n;
};

struct bed {
	const struct uc_conform *row;
	struct uc_net net;
	struct sdr_uc_qp *qp[2];
	struct sdr_wire_qp_info qpi[2];
	struct sdr_uc_info ui[2];
	struct sdr_uc_addr addr[2];
	struct bed_seen seen[2];
	struct bed_crew crew[2];
	uint32_t rounds;
	struct sdr_uc_grant grant; /* of the receiver's BED_SLOT */
	uint8_t src[BED_MSG];
	uint8_t room[BED_ROOM], *dst; /* dst: between the guards */
	/* called for each datagram at the receiver, inside the round */
	void (*on_ctl)(struct bed *b);
};

static inline const struct sdr_uc_ops *bed_ops(const struct bed *b, int side)
{
	return b->net.uc[side]->ops;
}

/* 0 or 77 */
int bed_open(struct bed *b, const struct uc_conform *row);
void bed_close(struct bed *b);
struct sdr_uc_qp_attr bed_qp_attr(struct bed *b, int side);
void bed_forget(struct bed *b);
/* One round of both ends: true when something was reported, or time is left until `until`. */
bool bed_turn(struct bed *b, uint64_t until);
/* Rounds until *count >= n. */
void bed_wait(struct bed *b, const uint32_t *count, uint32_t n);
/* Rounds until the receiver has counted or reported `n` packets that came too late. */
void bed_wait_late(struct bed *b, uint32_t n);
/* Rounds until what was sent has arrived, if it ever does: on a busy host it may not have. */
void bed_settle(struct bed *b);

/* Lets the peer write len bytes at dst through BED_SLOT: binds it and grants what needs a grant. */
void bed_give(struct bed *b, uint32_t use, size_t len);
void bed_take_back(struct bed *b);
/* A run of BED_SLOT from its packet `first` on. */
struct sdr_uc_tx bed_write(struct bed *b, uint32_t first, uint32_t len);
struct sdr_uc_tx bed_ctl(struct bed *b, const void *buf, uint32_t len);
/* Posts all of it, in as many calls as it takes. */
void bed_post(struct bed *b, struct sdr_uc_tx *v, int n);
static inline void bed_post_one(struct bed *b, struct sdr_uc_tx t)
{
	bed_post(b, &t, 1);
}

/* The receiver's memory: [at, at + len) is what was sent, all else untouched. */
void bed_check(const struct bed *b, size_t at, size_t len);
/* Packets [first, first + n) were reported, once each where the network does not repeat. */
void bed_check_placed(const struct bed *b, uint32_t first, uint32_t n);

/*
 * The bed of the clause that runs, open on the row that cmocka hands it; skips if it is not here.
 */
struct bed *bed_of(void **state);

/* ---- clauses --------------------------------------------------------------------------------- */

struct uc_clause {
	const char *name;
	void (*run)(void **state);
};
#define UC_CLAUSE(f)   \
	{              \
#f, f, \
	}
/* Each ends with a NULL name. */
extern const struct uc_clause uc_clauses_memory[], uc_clauses_calls[], uc_clauses_pieces[];

#endif /* UC_CONFORM_BED_H */
