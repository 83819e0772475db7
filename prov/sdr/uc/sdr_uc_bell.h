/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An eventfd that one thread sleeps on, and others ring only when it does.
 *
 * Who sleeps sets `asleep`, and looks after that whether there is something; who has brought
 * something looks at `asleep` after that: with sequential consistency one of the two sees the
 * other.  Who takes `asleep` away writes, or is about to; so the one that slept knows that there is
 * a count to be read, and reads on until it has found it: else its descriptor stayed readable.
 */
#ifndef SDR_UC_BELL_H
#define SDR_UC_BELL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

struct sdr_uc_bell {
	int fd; /* non-blocking */
	/* the sleeper's: */
	bool armed;		  /* it slept, or was about to, since it was awake last, */
	bool rung;		  /* and somebody writes, or has written: fd is to be read */
	_Alignas(64) bool asleep; /* both sides' */
};

/* Unconditionally: whoever sleeps on it wakes. */
static inline void sdr_uc_bell_strike(int fd)
{
	const uint64_t one = 1;

	while (write(fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

/* There is something; it was made visible before. */
static inline void sdr_uc_bell_ring(struct sdr_uc_bell *b)
{
	if (__atomic_load_n(&b->asleep, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&b->asleep, false, __ATOMIC_SEQ_CST))
		sdr_uc_bell_strike(b->fd);
}

/*
 * There is something that was there before, and could not be seen: the sleeper may have heard the
 * ring for it already.
 */
static inline void sdr_uc_bell_again(struct sdr_uc_bell *b)
{
	__atomic_store_n(&b->asleep, false, __ATOMIC_SEQ_CST);
	sdr_uc_bell_strike(b->fd);
}

/* Will sleep; looks after this whether there is something. */
static inline void sdr_uc_bell_arm(struct sdr_uc_bell *b)
{
	if (!__atomic_exchange_n(&b->asleep, true, __ATOMIC_SEQ_CST) && b->armed)
		b->rung = true;
	b->armed = true;
}

/* Is awake: nobody needs to ring. */
static inline void sdr_uc_bell_wake(struct sdr_uc_bell *b)
{
	if (b->armed && !__atomic_exchange_n(&b->asleep, false, __ATOMIC_SEQ_CST))
		b->rung = true;
	b->armed = false;
}

/* The count of a ring goes, so that fd is silent until the next. */
static inline void sdr_uc_bell_hear(struct sdr_uc_bell *b)
{
	uint64_t n;

	if (b->rung && read(b->fd, &n, sizeof(n)) > 0)
		b->rung = false;
}

#endif /* SDR_UC_BELL_H */
