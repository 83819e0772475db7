/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * How many connections of an endpoint sent to, or received from, one network at the same time, and
 * with what they begin.
 *
 * In an all-to-all between two sites each process sends to as many as it receives from, and all of
 * their flows meet on the path between them.  What each should begin with is the same for all, and
 * none can see it alone.  So each end takes the mean of what it knows of those beside it, and tells
 * the other one (conn/sdr_conn_fan.c): means of means are equal after a few exchanges, and their
 * sum is what it was (gossip averaging: Boyd, Ghosh, Prabhakar and Shah, IEEE Transactions on
 * Information Theory 52(6), 2006).
 *
 * A list, the member seen last in front: to see one is to move it there, to count is to walk until
 * one was seen too long ago, SDR_FAN_MAX members at most.  No clock, no allocation, no threads.
 */
#include "base/sdr_assert.h"
#include "sdr_fan.h"

void sdr_fan_init(struct sdr_fan *f)
{
	sdr_list_init(&f->seen);
}

void sdr_fan_member_init(struct sdr_fan_member *m)
{
	sdr_list_init(&m->link);
	m->at = m->net = m->win = 0;
}

void sdr_fan_seen(struct sdr_fan *f, struct sdr_fan_member *m, uint64_t net, uint64_t now)
{
	SDR_ASSERT(sdr_list_empty(&f->seen) ||
		   sdr_container(f->seen.next, struct sdr_fan_member, link)->at <= now);
	m->at = now;
	m->net = net;
	sdr_list_del(&m->link);
	sdr_list_add_head(&m->link, &f->seen);
}

void sdr_fan_leave(struct sdr_fan_member *m)
{
	sdr_list_del(&m->link);
}

uint32_t sdr_fan_count(const struct sdr_fan *f, const struct sdr_fan_member *m, uint64_t since,
		       uint32_t *win)
{
	uint32_t n = 1, looked = 1, know = m->win > 0;
	uint64_t sum = m->win;
	const struct sdr_list *l;

	for (l = f->seen.next; l != &f->seen && looked < SDR_FAN_MAX; l = l->next, looked++) {
		const struct sdr_fan_member *o = sdr_container(l, struct sdr_fan_member, link);

		if (o->at < since)
			break;
		if (o == m || o->net != m->net)
			continue;
		n++;
		know += o->win > 0;
		sum += o->win;
	}
	*win = know ? (uint32_t)(sum / know) : 0;
	return n;
}
