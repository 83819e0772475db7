/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* An experiment: do the others yield to a little more of ours?  See sdr_push.c. */
#ifndef SDR_PUSH_H
#define SDR_PUSH_H

#include "rel/path/sdr_rival_at.h"

enum sdr_push_says {
	SDR_PUSH_WAIT,	 /* it goes on */
	SDR_PUSH_ASIDE,	 /* it tells nothing, and another follows */
	SDR_PUSH_NOBODY, /* they yield, or there are none: the next one is long after */
	SDR_PUSH_RIVALS, /* they do not yield */
};

struct sdr_push {
	uint64_t at, gap;      /* ns: not before; pause after one */
	uint32_t rounds, calm; /* of this one; without a queue that nobody yields to */
	/* own rate before it, bytes per second; queue before, and one that has grown by it, ns */
	double from, base, grown;
	double gain, queue, lost, bytes; /* what it brought, sums over rounds */
	bool sure;			 /* the last one met somebody, or another's push */
	bool suspect;			 /* what is seen is worth one, however much we have */
};

void sdr_push_init(struct sdr_push *p, uint64_t now, uint64_t random);
/* There is no reason for one now: none before a while. */
void sdr_push_idle(struct sdr_push *p, uint64_t now, uint64_t random);
/* The same for who has little all the time: one that comes up is not answered by all at once. */
void sdr_push_apart(struct sdr_push *p, uint64_t now, uint64_t random);
/* Rivals have gone: none before a while, whatever was meant before. */
void sdr_push_after(struct sdr_push *p, uint64_t now, uint64_t random);
/* Rivals are there, and nobody is asked for two pauses; until when, ns. */
uint64_t sdr_push_put_off(struct sdr_push *p, uint64_t now);
/* One soon, but not with others who were there. */
void sdr_push_suspects(struct sdr_push *p, const struct sdr_rival_at *at);
/* Now it would tell something.  rate: the own one, bytes per second; win: the window, bytes. */
bool sdr_push_may(const struct sdr_push *p, const struct sdr_rival_at *at, double rate, double win);
void sdr_push_begin(struct sdr_push *p, const struct sdr_rival_at *at, double rate);
/*
 * After each round of it.  *most: what the path was seen to carry, bytes per second, set where it
 * shows that this was too much; *win: the window, bytes.
 */
enum sdr_push_says sdr_push_round(struct sdr_push *p, const struct sdr_rival_at *at, double *most,
				  double *win);
/* From now on the pauses are twice as long. */
void sdr_push_rarer(struct sdr_push *p);

#endif /* SDR_PUSH_H */
