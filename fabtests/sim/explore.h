/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What sdr_explore's parts share: the small world's size, its model, and the real SDK that is led
 * along.
 */
#ifndef EXPLORE_H
#define EXPLORE_H

#include "base/sdr_bitmap.h"
#include "sdk/sdr_qp.h"
#include "sdk/sdr_recv.h"
#include "../unit/uc_loop.h"

#define IDS	 2u
#define GENS	 2u
#define BOUND	 (IDS * GENS) /* messages */
#define PKTS	 2u	      /* a message */
#define MSGS_MAX 6u
#define MTU	 256u
#define LEN	 (PKTS * MTU - 100) /* the last packet is short */
#define GUARD	 32u
#define FILL	 0xee

/* ---- model ----------------------------------------------------------------------------------- */

enum { RX_NONE, RX_LIVE, RX_DONE };

struct model_pkt {
	uint8_t copies; /* that may still be delivered */
	uint8_t events; /* hardware: placed or discarded, not polled yet */
	bool bytes;	/* in the buffer */
	bool bit;
};

struct model {
	uint8_t rx[MSGS_MAX];
	struct model_pkt p[MSGS_MAX][PKTS];
	uint8_t posted; /* messages 0..posted - 1 */
	uint8_t limit;	/* that the sender knows of */
	uint8_t seen;	/* that the receiver knows the sender to know of */
	/* messages that the sender's user has posted; not lazy: those below limit */
	uint8_t sent;
	/* rkeyed: */
	uint8_t key[MSGS_MAX]; /* what the sender knows of a message */
	uint8_t went;	       /* not lazy: bit m: message m went onto the network, or never will */
};

enum { KEY_NONE, KEY_LIVE, KEY_VOID };
enum { ACT_POST, ACT_COMPLETE, ACT_CTS, ACT_KEY, ACT_SEEN, ACT_SEND, ACT_DELIVER, ACT_EVENT };

struct act {
	uint8_t kind, m, p; /* CTS, SEEN: m is the number sent; KEY: p is what is said of m */
};

struct world {
	const char *name;
	enum loop_mode mode;
	uint32_t ppc; /* packets per chunk */
	uint32_t msgs;
	uint32_t start;	    /* first message number */
	bool bounded;	    /* no packet is late by BOUND messages */
	uint8_t copies;	    /* of each packet: 2 with duplication */
	uint8_t events_max; /* hardware: events waiting at a time */
	uint8_t depth;	    /* 1: not under sanitizers, ten times slower; 2: only with --deep */
	bool lazy;	    /* the sender posts its messages at any time, not as soon as possible */
	/* failing steps are wanted: those of aliasing, or any for LOOP_HW_1KEY */
	bool must_fail;
};

extern const struct world *w; /* the one being explored */

static inline bool world_rkeyed(void)
{
	return w->mode == LOOP_RKEYED || w->mode == LOOP_RKEYED_ROOT;
}

/* The whole state, exactly: no two states have the same key; b never has its top bit. */
struct key {
	uint64_t a, b;
};
struct key model_key(const struct model *s);
uint8_t model_base(const struct model *s);
/* Rkey-addressed: what the sender's CTS_SEEN says. */
uint8_t model_known(const struct model *s);
bool model_may_post(const struct model *s);
/* All steps that are possible; returns how many of the ACTS_MAX were filled. */
#define ACTS_MAX 64u
uint32_t model_acts(const struct model *s, struct act *a);
void model_step(struct model *s, struct act a);

/* ---- the real thing -------------------------------------------------------------------------- */

void real_open(void);
void real_close(void);
/* Back to the state in which nothing has happened. */
void real_reset(void);
/*
 * before, after: the model's state without and with the step.  False: what happened is wrong, see
 * why.
 */
bool real_step(const struct model *before, const struct model *after, struct act a);
/* Compares everything with the model. */
bool real_check(const struct model *s);
extern char why[256];

/* The explorer cannot go on. */
void die(const char *what) __attribute__((noreturn));

#endif /* EXPLORE_H */
