/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers of this host, reached through shared memory.
 *
 * A QP whose peer is a process of this host (sdr_soft_host.c), and which has sent some hundred
 * kilobytes or control datagrams to it, makes a ring (sdr_soft_ring.c) and offers it with a knock
 * to the peer's port. The peer opens it, and from then on everything to that address goes through
 * the ring, control datagrams included: one queue, one order, as with one socket, and the same
 * frames. Nothing above notices but by the time it takes: no system call, and two copies instead of
 * the kernel's work.  What was sent by a socket before comes before: a ring that has something for
 * the first time is read when the sockets were empty after that.
 *
 * Who is not of our user, or in another namespace of processes, cannot open it; a relay on this
 * host has another port than the one that the ring says its sender has. Nobody answers such an
 * offer; it is repeated some times (sdr_soft_knock_time), and then everything goes by the socket
 * as ever.
 *
 * A ring that is full makes post stop, as a full socket does; so that one peer that stands still
 * does not stop all others, what is for it is lost when it has taken nothing out for 10 ms, as it
 * would be in the queue of its socket. A peer whose process has ended, or that has closed, is
 * noticed when it has not taken out for 5 ms what there is: from then on the socket is used,
 * behind which there may be another by then.
 *
 * A receiver that is going to sleep says so in its rings; who puts in then sends a datagram
 * (BELL). The sockets are looked at when the rings are empty, and every NEAR_FAIR polls.
 *
 * A forked child has nothing of it, and goes by the sockets.
 *
 * No threads of its own: everything is the owner's. Memory: SDR_SOFT_NEARS rings of 1 MiB in each
 * direction at most, as peers come for which it is worth it, and receive buffers with the first.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sdr_soft_near.h"

/* A byte that is 1 here, and 0 in children.  NULL: a kernel that cannot have that (before 4.14). */
static uint8_t *near_page(void)
{
	size_t len = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *p;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (madvise(p, len, MADV_WIPEONFORK)) {
		munmap(p, len);
		return NULL;
	}
	*p = 1;
	return p;
}

int sdr_soft_near_create(struct sdr_soft *s, uint64_t nonce)
{
	s->near = calloc(1, sizeof(*s->near));
	if (!s->near)
		return -ENOMEM;
	s->near->ours = near_page();
	if (!s->near->ours) {
		free(s->near);
		s->near = NULL;
		return 0;
	}
	s->near->pid = getpid();
	s->near->nonce = nonce;
	return 0;
}

void sdr_soft_near_destroy(struct sdr_soft *s)
{
	struct sdr_soft_near *n = s->near;
	uint32_t i;

	if (!n)
		return;
	for (i = 0; i < n->ntx; i++)
		sdr_soft_near_drop(n, &n->tx[i].ring, true);
	for (i = 0; i < n->nrx; i++)
		sdr_soft_near_drop(n, &n->rx[i].ring, false);
	if (n->in)
		sdr_soft_rx_free(n->in);
	free(n->in);
	munmap((void *)(uintptr_t)n->ours, (size_t)sysconf(_SC_PAGESIZE));
	free(n);
	s->near = NULL;
}
