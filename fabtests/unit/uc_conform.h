/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The contract of uc/sdr_uc.h, clause by clause, for any engine.
 *
 * A row says how two ends of a network are opened, how time passes there and what the network may
 * do to packets; uc_conform_run() puts every row through every clause.  A new engine is one row.
 * Nothing here knows an engine, and no clause depends on how long anything takes: UC_WAIT_NS only
 * guards against hanging.
 */
#ifndef UC_CONFORM_H
#define UC_CONFORM_H

#include "uc/sdr_uc.h"

#define UC_WAIT_NS 20000000000ull /* of the engines' clock */

/* What the network of a row does beside delivering: clauses that this voids are left out. */
#define UC_CONFORM_DUPS	    0x1 /* packets arrive more than once */
#define UC_CONFORM_REORDERS 0x2 /* packets overtake each other */
/* A receiver with one key for a slot, which cannot tell one epoch from the next. */
#define UC_CONFORM_ONE_KEY 0x4

struct uc_net {
	struct sdr_uc *uc[2]; /* 0 sends, 1 receives */
	void *priv;	      /* the row's */
};

struct uc_conform {
	const char *name;
	uint32_t flags;	    /* UC_CONFORM_* */
	uint64_t settle_ns; /* after which what was sent has arrived, if it ever does; 0: 2 ms */
	const void *arg;    /* the row's */
	/*
	 * Both ends, of which the first can reach the second and back.  0, or 77: not on this host.
	 */
	int (*open)(const struct uc_conform *c, struct uc_net *net);
	/* After both engines were closed.  May be NULL. */
	void (*close)(struct uc_net *net);
	/* Lets time pass until `due` of the engines' clock.  NULL: sleeps on the descriptors. */
	void (*sleep)(struct uc_net *net, uint64_t due);
	/* Breaks the receiver's QP with this number.  NULL: cannot be done here. */
	int (*break_qp)(struct uc_net *net, uint32_t qpn);
};

/* Returns for main(): how many clauses failed; 77 when no row could be opened here. */
int uc_conform_run(const struct uc_conform *rows, unsigned int n, int argc, char **argv);

#endif /* UC_CONFORM_H */
