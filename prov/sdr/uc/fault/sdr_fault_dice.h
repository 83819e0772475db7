/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What happens to the next packet, by chance: see sdr_fault_dice.c. */
#ifndef SDR_FAULT_DICE_H
#define SDR_FAULT_DICE_H

#include <stdbool.h>
#include <stdint.h>

struct sdr_fault;

enum { /* what happens to a packet */
       SDR_FAULT_DROP = 1,
       SDR_FAULT_DUP = 2,
       SDR_FAULT_REORDER = 4,
       SDR_FAULT_CORRUPT = 8,
};

/* Each kind of fault has its own random stream: turning one on does not move the others. */
enum sdr_fault_stream {
	SDR_FAULT_S_DROP,
	SDR_FAULT_S_DUP,
	SDR_FAULT_S_REORDER,
	SDR_FAULT_S_CORRUPT,
	SDR_FAULT_S_TIME,
	SDR_FAULT_STREAMS
};

/* Everything that a draw changes, so that draws for packets which were not taken can be undone. */
struct sdr_fault_dice {
	uint64_t rng[SDR_FAULT_STREAMS];
	bool bad; /* Gilbert-Elliott: inside a burst */
	uint64_t drop, dup, reorder, corrupt;
};

void sdr_fault_dice_seed(struct sdr_fault_dice *d, uint64_t seed);
/*
 * The fate of the next packet: SDR_FAULT_* flags.  Every stream in use moves, whatever the others
 * say.
 */
unsigned int sdr_fault_draw(struct sdr_fault *f);

#endif /* SDR_FAULT_DICE_H */
