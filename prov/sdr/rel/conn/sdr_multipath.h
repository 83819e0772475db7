/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The paths beside a connection's first: see sdr_multipath.c, sdr_path_life.c, sdr_path_ctl.c. */
#ifndef SDR_MULTIPATH_H
#define SDR_MULTIPATH_H

#include "sdr_conn.h"

/* numbers of challenges: of paths from here on, below those of where the peer is */
#define SDR_MULTIPATH_NUMBER 0x80u
/* bytes of the extension of a HELLO that names our sources */
#define SDR_MULTIPATH_EXT_MAX (3u + (SDR_PATHS_MAX - 1) * 19u)
/* a path that never answered, and one that has, is asked again at most so long after */
#define SDR_MULTIPATH_NEW_NS  (5000 * MS)
#define SDR_MULTIPATH_BACK_NS (1000 * MS)
/* short challenges to an address from which nothing has come */
#define SDR_MULTIPATH_TRIES 6u
/* the least silence of a path, while others answer, that says something: its host may be busy */
#define SDR_MULTIPATH_PATIENCE_NS (20 * MS)

/* packets of a path that timed out in a row, while the others answer: it does not */
#define SDR_MULTIPATH_TIMEOUTS 2u

struct sdr_multipath {
	uint64_t key; /* of challenges */
	uint32_t n;   /* addresses of the peer beside c->addr */
	struct {
		struct sdr_uc_addr addr;
		bool proved; /* it has answered: what comes from there is the peer's */
	} peer[SDR_PATHS_MAX - 1];
	struct sdr_cc_bond bond; /* of the paths that are alive */
	/* as c->marks, of what came by the paths beside the first, by index - 1 */
	uint64_t marks[SDR_PATHS_MAX - 1][SDR_UC_ECNS];
	uint8_t back;	 /* path by which the peer's packets come */
	uint64_t ctl_ns; /* something came by c->ctl last */
	uint64_t own_ns; /* until then c->ctl is this side's choice */
};

/* Where it ends. */
static inline const struct sdr_uc_addr *sdr_path_addr(const struct sdr_conn *c,
						      const struct sdr_path *p)
{
	return p->index ? &p->addr : &c->addr;
}

/* Our sources, as an extension of a HELLO; 0 bytes: there is one. */
size_t sdr_multipath_put(const struct sdr_rel *rel, uint8_t *p, size_t room);
/* What the peer's HELLO, which came from there, says of its sources. */
void sdr_multipath_said(struct sdr_conn *c, const struct sdr_uc_addr *from,
			const struct sdr_hello *h);
/* Its address is validated: the other paths are tried. */
void sdr_multipath_begin(struct sdr_conn *c);
void sdr_multipath_free(struct sdr_conn *c);

enum sdr_multipath_who {
	SDR_MULTIPATH_NOBODY, /* it may be anybody's */
	SDR_MULTIPATH_NAMED,  /* named by the peer, and not proved: only its challenges count */
	SDR_MULTIPATH_PEER,
};
/* Whose is what comes from there, beside c->addr? */
enum sdr_multipath_who sdr_multipath_who(const struct sdr_conn *c, const struct sdr_uc_addr *from);
/* Frames [p, end) of a packet from an address that is named. */
void sdr_multipath_named(struct sdr_conn *c, const struct sdr_uc_addr *from, const uint8_t *p,
			 const uint8_t *end);
/* PATH_CHALLENGE or PATH_RESPONSE from the peer; false: not one of a path. */
bool sdr_multipath_input(struct sdr_conn *c, const struct sdr_uc_addr *from,
			 const struct sdr_frame *f);
/* The path that the packet in hand came by, as it came from there; 0: by none of the others. */
uint32_t sdr_multipath_by(struct sdr_conn *c, const struct sdr_uc_addr *from);
/* A packet from the peer; aside: not by the path that its packets leave by. */
void sdr_multipath_heard(struct sdr_conn *c, const struct sdr_uc_addr *from, bool aside);
/*
 * A packet from the peer that asks for an answer came to this source of ours; newest: none that
 * left later has come.
 */
void sdr_multipath_asked(struct sdr_conn *c, const struct sdr_uc_addr *from, bool newest,
			 bool aside, bool pinged);
/* Congestion control has heard of what arrived: is one of the others silent? */
void sdr_multipath_judge(struct sdr_conn *c);
/* The peer is at c->addr now, and not there any more. */
void sdr_multipath_moved(struct sdr_conn *c, const struct sdr_uc_addr *from);

uint64_t sdr_multipath_deadline(const struct sdr_conn *c); /* ns; NEVER */
void sdr_multipath_timer(struct sdr_conn *c);

#endif /* SDR_MULTIPATH_H */
