/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The soft engine's poll of several sources: what came to any of them, in the order in which it
 * came.
 *
 * Paths of one length deliver in the order of sending, and a peer may count on that where it costs
 * nothing: data behind the control datagram that binds their slot.  Sockets have no order among
 * them, and read one after the other they make one up: on a clean loopback one packet in twenty
 * found its slot unbound.  The kernel's stamps give it back, as they do with workers
 * (sdr_soft_worker.c).
 *
 * A round asks which sockets have something, receives from those of which nothing is left, each its
 * share of the buffers, and takes the messages by their stamps.  What came while it read waits for
 * the next round, since an older message may have come to a socket that was read before; and so
 * does what is younger than the last message of a socket that has more.  Where nothing could be
 * taken for that, the wall's clock was set, and nothing waits.  With more sockets that have
 * something than buffers, and in a train, of which the kernel stamps the first packet, order is as
 * good as it gets.
 */
#include <string.h>
#include <time.h>

#include "sdr_soft_impl.h"
#include "sdr_soft_merge.h"

/* When message i came, and not before those of its socket that did; 0: it is not known. */
static uint64_t sdr_soft_merge_came(struct sdr_soft_rx *rx, uint32_t i)
{
	struct msghdr *h = &rx->hdr[i].msg_hdr;
	struct timespec t;
	struct cmsghdr *cm;
	uint64_t ns = 0;
	uint32_t k;

	for (cm = CMSG_FIRSTHDR(h); cm && !ns; cm = CMSG_NXTHDR(h, cm)) {
		if (cm->cmsg_level != SOL_SOCKET || cm->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&t, CMSG_DATA(cm), sizeof(t));
		ns = sdr_soft_ns(&t);
	}
	for (k = 0; k < i; k++)
		if (rx->inlet[k] == rx->inlet[i] && rx->came[k] > ns)
			ns = rx->came[k];
	return ns;
}

static void sdr_soft_merge_swap(struct sdr_soft_rx *rx, uint32_t i, uint32_t k)
{
	struct mmsghdr hdr = rx->hdr[i];
	struct sdr_soft_inlet *inlet = rx->inlet[i];
	uint64_t came = rx->came[i];

	rx->hdr[i] = rx->hdr[k];
	rx->inlet[i] = rx->inlet[k];
	rx->came[i] = rx->came[k];
	rx->hdr[k] = hdr;
	rx->inlet[k] = inlet;
	rx->came[k] = came;
}

/* What is not split yet, oldest first. */
static void sdr_soft_merge_sort(struct sdr_soft_rx *rx)
{
	uint32_t i, k;

	for (i = 1; i < rx->nmsg; i++)
		for (k = i; k && rx->came[k - 1] > rx->came[k]; k--)
			sdr_soft_merge_swap(rx, k - 1, k);
}

/* Makes room: what is not split yet goes to the front. */
static void sdr_soft_merge_pack(struct sdr_soft_rx *rx)
{
	uint32_t from = rx->cur, left = rx->nmsg - from, i;

	for (i = 0; from && i < left; i++)
		sdr_soft_merge_swap(rx, i, from + i);
	sdr_soft_rx_reset_from(rx, left);
}

/*
 * Of the sockets that have something, those of which nothing is left from the last round; the
 * others have nothing older than that, and *until is no later.
 */
static uint32_t sdr_soft_merge_bare(const struct sdr_soft *s, const struct sdr_soft_rx *rx,
				    uint64_t *until)
{
	uint32_t ready = sdr_soft_source_ready(s), seen = 0, i, k;

	for (i = rx->nmsg; i--;) {
		k = 1u << (rx->inlet[i] - s->inlet);
		if (ready & k & ~seen && rx->came[i] < *until)
			*until = rx->came[i];
		seen |= k;
	}
	return ready & ~seen;
}

/* Receives from the sockets that have something.  0 or a negative errno. */
static int sdr_soft_merge_fetch(struct sdr_soft *s, struct sdr_soft_rx *rx, bool *drained)
{
	uint64_t until, last = 0;
	uint32_t bare, share, n, i, k;
	struct timespec t;
	int ret;

	/* Nothing was old enough the last time: that is the clock's fault. */
	if (rx->held && !rx->cur)
		last = rx->came[rx->nmsg - 1];
	sdr_soft_merge_pack(rx);
	clock_gettime(CLOCK_REALTIME, &t);
	until = sdr_soft_ns(&t);
	*drained = !rx->nmsg;
	bare = sdr_soft_merge_bare(s, rx, &until);
	if (!bare)
		rx->many = rx->hushed;
	for (i = 0; bare && sdr_soft_rx_room(rx) && i < (uint32_t)s->nfd; i++) {
		k = ((uint32_t)s->next + i) % (uint32_t)s->nfd;
		if (!(bare >> k & 1))
			continue;
		share = sdr_soft_rx_room(rx) / (uint32_t)__builtin_popcount(bare);
		bare &= ~(1u << k);
		n = rx->nmsg;
		ret = sdr_soft_rx_call(s, rx, s->fd[k], &s->inlet[k], share ? share : 1);
		if (ret < 0)
			return ret;
		*drained &= rx->drained;
		for (; n < rx->nmsg; n++)
			rx->came[n] = sdr_soft_merge_came(rx, n);
		if (ret && !rx->drained && rx->came[n - 1] < until)
			until = rx->came[n - 1];
	}
	*drained &= !bare;
	if (++s->next >= s->nfd)
		s->next = 0;
	sdr_soft_merge_sort(rx);
	if (s->net->shows)
		rx->until = until > last ? until : last;
	return 0;
}

int sdr_soft_merge(struct sdr_soft *s, struct sdr_uc_ev *ev, int max, bool *ctl, bool *drained)
{
	struct sdr_soft_rx *rx = &s->rx;
	int n, ret, i;

	*ctl = *drained = rx->dry = false;
	if (sdr_soft_rx_left(rx) && !rx->held) {
		n = sdr_soft_rx_split(s, rx, ev, max, ctl);
		if (n || (sdr_soft_rx_left(rx) && !rx->held))
			return n;
	}
	/* Who gets nothing may sleep: if that is for its waiting alone, it has waited. */
	for (i = 0, n = 0; i < 2 && !n; i++) {
		ret = sdr_soft_merge_fetch(s, rx, drained);
		if (ret < 0) {
			ev[0].kind = SDR_UC_EV_ERROR;
			ev[0].len = 0;
			ev[0].err = ret;
			return 1;
		}
		n = sdr_soft_rx_split(s, rx, ev, max, ctl);
		if (!rx->held)
			break;
	}
	*drained &= !sdr_soft_rx_left(rx);
	rx->dry = *drained;
	return n;
}
