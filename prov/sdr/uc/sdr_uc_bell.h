/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An eventfd that one thread sleeps on, and others ring only when it does.
 *
 * Who sleeps sets `asleep`, and looks after that whether there is something; who has brought
 * something looks at `asleep` after that: with sequential consistency one of the two sees the
 * other.  Who takes `asleep` away writes, or is about to; so the one that slept knows how many
 * writes there are, and reads on until it has found as many: else its descriptor stayed readable.
 * There may be several that are about to, since it may sleep anew before the first has written.
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
	bool armed;		  /* it slept, or was about to, since it was awake last */
	uint32_t owed;		  /* writes that it knows of, less those that it has read */
	_Alignas(64) bool asleep; /* both sides' */
	uint32_t extra;		  /* writes for which nobody took that away */
};

/* Unconditionally: whoever sleeps on it wakes, and for good: nobody counts it. */
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
	if (!__atomic_exchange_n(&b->asleep, false, __ATOMIC_SEQ_CST))
		__atomic_fetch_add(&b->extra, 1, __ATOMIC_RELAXED);
	sdr_uc_bell_strike(b->fd);
}

/* Will sleep; looks after this whether there is something. */
static inline void sdr_uc_bell_arm(struct sdr_uc_bell *b)
{
	if (!__atomic_exchange_n(&b->asleep, true, __ATOMIC_SEQ_CST) && b->armed)
		b->owed++;
	b->armed = true;
}

/* Is awake: nobody needs to ring. */
static inline void sdr_uc_bell_wake(struct sdr_uc_bell *b)
{
	if (b->armed && !__atomic_exchange_n(&b->asleep, false, __ATOMIC_SEQ_CST))
		b->owed++;
	b->armed = false;
}

/*
 * The count of rings goes, so that fd is silent until the next.  One may be read before it is known
 * of: then less than nothing is owed for a moment.
 */
static inline void sdr_uc_bell_hear(struct sdr_uc_bell *b)
{
	uint64_t n;

	if ((int32_t)(b->owed + __atomic_load_n(&b->extra, __ATOMIC_RELAXED)) > 0 &&
	    read(b->fd, &n, sizeof(n)) > 0)
		b->owed -= (uint32_t)n;
}

#endif /* SDR_UC_BELL_H */
