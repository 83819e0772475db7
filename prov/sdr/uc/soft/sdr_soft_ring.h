/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A ring of trains in memory that two processes share (sdr_soft_ring.c).
 */
#ifndef SDR_SOFT_RING_H
#define SDR_SOFT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#define SDR_SOFT_RING_BYTES 1048576u /* of trains; a power of two, and pages of any kernel */
#define SDR_SOFT_RING_TRAIN 65536u   /* bytes of one are fewer */

/* In front of each train, at multiples of 64 bytes. */
struct sdr_soft_ring_train {
	uint32_t bytes; /* 1..SDR_SOFT_RING_TRAIN - 1 */
	uint32_t seg;	/* of its packets, the last of which may be shorter */
	uint64_t since; /* when it was put there, ns of CLOCK_MONOTONIC */
	uint8_t ecn;	/* enum sdr_uc_ecn */
	uint8_t zero[47];
};

/* The first page of the shared memory.  Each side believes the other nothing. */
struct sdr_soft_ring_head {
	uint64_t magic;
	uint64_t nonce; /* of the question that names it: it is the right one */
	uint32_t port;	/* of the sender's socket, host order */
	uint32_t zero;
	/* the sender writes: bytes put in; it will put in no more */
	_Alignas(64) uint64_t in;
	uint32_t left;
	/* the receiver writes: bytes taken out; it reads here; it has ceased to */
	_Alignas(64) uint64_t out;
	uint32_t reads, gone;
	/* both: it sleeps on its descriptor, and has to be woken by a datagram */
	_Alignas(64) uint32_t asleep;
};

/* One side's view of it. */
struct sdr_soft_ring {
	struct sdr_soft_ring_head *head; /* NULL: none */
	uint8_t *data; /* twice, one behind the other: no train is in two pieces */
	int fd;
	uint64_t in, out; /* own counter, and the other's as last seen */
};

/* Makes one, locked as the sender's.  0 or a negative errno. */
int sdr_soft_ring_make(struct sdr_soft_ring *r, uint64_t nonce, uint32_t port);
/*
 * Opens what a process of this host and user has made under that descriptor, and says that it is
 * read.  0, or a negative errno: there is nothing, it is another's, or no ring.
 */
int sdr_soft_ring_open(struct sdr_soft_ring *r, pid_t pid, int fd, uint64_t nonce, uint32_t port);
void sdr_soft_ring_close(struct sdr_soft_ring *r, bool sender);
/* The other side's process is there and has not closed it.  A system call. */
bool sdr_soft_ring_lives(const struct sdr_soft_ring *r, bool sender);

/* Sender.  Copies a train.  0, -EAGAIN: no room now, -EPIPE: closed or broken. */
int sdr_soft_ring_put(struct sdr_soft_ring *r, const struct iovec *v, size_t n,
		      const struct sdr_soft_ring_train *t);
/* What was put in since it was called last has to be told: the receiver sleeps. */
bool sdr_soft_ring_wakes(struct sdr_soft_ring *r);

/*
 * Receiver.  The next train, which stays where it is until out is moved; r->in is behind it then.
 * NULL: there is none.  *broken: the sender has written what is no train.
 */
uint8_t *sdr_soft_ring_next(struct sdr_soft_ring *r, struct sdr_soft_ring_train *t, bool *broken);
/* All trains that next has handed out may be overwritten. */
void sdr_soft_ring_free(struct sdr_soft_ring *r);
/* Before it sleeps.  True: there is something. */
bool sdr_soft_ring_sleep(struct sdr_soft_ring *r);

static inline void sdr_soft_ring_awake(struct sdr_soft_ring *r)
{
	__atomic_store_n(&r->head->asleep, 0, __ATOMIC_RELAXED);
}

static inline bool sdr_soft_ring_has(const struct sdr_soft_ring *r)
{
	return __atomic_load_n(&r->head->in, __ATOMIC_ACQUIRE) != r->in;
}

#endif /* SDR_SOFT_RING_H */
