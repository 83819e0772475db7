/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What the lies are made of: see liar_draw.c (values) and liar_say.c (frames and packets). */
#ifndef LIAR_SAY_H
#define LIAR_SAY_H

#include "liar.h"

#define ROOM_LEFT 40u	     /* bytes: a packet with no more is full */
#define PN_JUMP	  (1u << 20) /* farther, and what follows would be taken for old */
#define OWN_CID	  7u	     /* of many forged HELLOs */

enum liar_habit {			 /* what a run's liar does beside the usual */
		  HABIT_WILD = 1 << 0,	 /* many values from nowhere */
		  HABIT_FULL = 1 << 1,	 /* packets as full as they can be */
		  HABIT_CLOSES = 1 << 2, /* BYE, RESET and what ends connections */
		  HABIT_HELLOS = 1 << 3, /* many handshakes */
		  HABIT_CODES = 1 << 4,	 /* parity in every bulk */
		  HABIT_DATA = 1 << 5,	 /* data packets */
		  HABIT_HELPS = 1 << 6,	 /* answers as an honest peer would, mostly */
		  HABIT_FLOODS = 1 << 7,
		  HABIT_MOVES = 1 << 8,	 /* from another address of its own */
		  HABIT_SHAPES = 1 << 9, /* the size of packets changes all the time */
		  HABIT_TURNS = 1 << 10, /* many records lead and follow */
};

/* ---- liar_draw.c ---- */
uint32_t liar_number(const struct liar *l, uint32_t i); /* address, 0 its own */
uint32_t liar_number_of(const struct sdr_uc_addr *a);
uint32_t liar_bits32(struct liar *l);
bool liar_wild(struct liar *l); /* this value is to be from nowhere */
/* One of the victim's connections to the liar, by any address; NULL: there is none. */
struct sdr_conn *liar_conn_pick(struct liar *l);
struct sdr_op *liar_op_pick(struct liar *l, const struct sdr_conn *c);
struct sdr_bulk_rx *liar_brx_pick(struct liar *l, const struct sdr_conn *c);
uint32_t liar_msn_in(struct liar *l, const struct sdr_conn *c);
uint32_t liar_msn_out(struct liar *l, const struct sdr_conn *c, struct sdr_seg_tx **s);
uint32_t liar_rseq(struct liar *l, const struct sdr_conn *c);
const uint8_t *liar_junk(void);
bool liar_rec_is_message(uint8_t op);
struct sdr_frame_rec liar_rec_draw(struct liar *l, struct sdr_conn *c, uint8_t op);

/* ---- liar_say.c: each puts a frame into the packet being made; false: there is no room ---- */
void liar_packet_new(struct liar *l, bool strict);
size_t liar_room(const struct liar *l);
bool liar_put(struct liar *l, size_t n); /* what was written behind the rest */
bool liar_put_rec(struct liar *l, struct sdr_conn *c, const struct sdr_frame_rec *f);
bool liar_say_end(struct liar *l, const struct sdr_conn *c);
bool liar_say_help(struct liar *l, struct sdr_conn *c);
void liar_say(struct liar *l, struct sdr_conn *c); /* it leaves */
void liar_say_packet(struct liar *l);		   /* one of anything */
void liar_inject(struct liar *l, uint32_t from, const uint8_t *p, size_t len);

/* ---- liar_path.c ---- */
/* What an honest QP would say of itself, but for its size. */
struct sdr_wire_qp_info liar_qp_draw(struct liar *l, const struct sdr_rel *rel, uint32_t mtu,
				     uint64_t max_msg);
bool liar_say_shape(struct liar *l, const struct sdr_conn *c);
/* The packet leaves in parts, or not at all. */
void liar_parts(struct liar *l, const struct sdr_conn *c, uint32_t from, uint32_t pn,
		const uint8_t *packet, size_t len);
void liar_path(struct liar *l); /* between the two carries something else now */

#endif /* LIAR_SAY_H */
