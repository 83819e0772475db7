/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Links of a datagram endpoint: which there are, by address and by queue pair, and the queue pair
 * of each.  A link is a queue pair of numbered messages in one direction, which the side that
 * writes asks for (sdr_link_ask.c).
 *
 * A peer may have two links to us for a while, when it has restarted: each is known by the peer's
 * queue pair, and the old one falls silent.  Under the endpoint's lock; no timers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/sdr_assert.h"
#include "base/sdr_rand.h"

#include "sdr_link.h"
#include "sdr_ep.h"

struct sdr_link_name sdr_link_name_of(const struct sdr_uc_addr *addr,
				      const struct sdr_dgram_to *peer)
{
	struct sdr_link_name n;

	memset(&n, 0, sizeof(n));
	n.addr.len = addr->len;
	memcpy(n.addr.b, addr->b, addr->len);
	if (peer)
		n.peer = *peer;
	return n;
}

struct sdr_link *sdr_link_named(const struct sdr_links *s, bool in,
				const struct sdr_link_name *name, uint64_t *hash)
{
	struct sdr_hnode *n;

	*hash = sdr_hash64(name, sizeof(*name), s->key);
	for (n = sdr_htab_first(&s->names, *hash); n; n = n->next) {
		struct sdr_link *l = sdr_container(n, struct sdr_link, by_name);

		if (l->in == in && sdr_uc_addr_equal(&l->addr, &name->addr) &&
		    (!in || (l->peer.qpn == name->peer.qpn && l->peer.rkey == name->peer.rkey)))
			return l;
	}
	return NULL;
}

static void sdr_link_broken(void *user, int err)
{
	struct sdr_link *l = user;

	(void)err;
	l->broken = true;
	sdr_link_kick(l);
}

int sdr_link_qp_make(struct sdr_link *l, uint32_t mtu, uint8_t info[SDR_QP_INFO_LEN])
{
	struct sdr_links *s = l->ep->links;
	const struct sdr_qp_handlers h = { .size = sizeof(h),
					   .user = l,
					   .received = l->in ? s->received : NULL,
					   .broken = sdr_link_broken };
	struct sdr_qp_attr a = { .size = sizeof(a),
				 .mtu = mtu,
				 .max_msg = SDR_LINK_WRITE_MAX,
				 .id_bits = SDR_LINK_ID_BITS,
				 .off_bits = 32 - SDR_LINK_ID_BITS,
				 .rate_bps = l->ep->env.rel.rate_bps,
				 .flags = SDR_QP_NUMBERED };
	struct sdr_wire_qp_info i;

	l->qp = sdr_qp_create(l->ep->ctx, &a);
	if (!l->qp)
		return -errno;
	(void)sdr_qp_handlers_set(l->qp, &h);
	if (sdr_qp_info_get(l->qp, info) || sdr_wire_qp_info_decode(info, SDR_QP_INFO_LEN, &i) ||
	    sdr_htab_add(&s->qpns, &l->by_qpn, sdr_mix64(i.qpn ^ s->key))) {
		sdr_qp_destroy(l->qp);
		l->qp = NULL;
		return -ENOMEM;
	}
	l->me = (struct sdr_dgram_to){ i.qpn, i.rkey };
	l->mtu = i.mtu;
	return 0;
}

void sdr_link_qp_drop(struct sdr_link *l)
{
	if (!l->qp)
		return;
	sdr_htab_del(&l->ep->links->qpns, &l->by_qpn);
	sdr_qp_destroy(l->qp); /* and what is sent or received by it */
	l->qp = NULL;
	l->h = NULL;
	l->owed = 0;
	l->broken = false;
}

struct sdr_link *sdr_link_new(struct sdr_ep *ep, bool in, const struct sdr_link_name *name,
			      uint64_t hash)
{
	struct sdr_links *s = ep->links;
	struct sdr_link *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->ep = ep;
	l->in = in;
	l->addr = name->addr;
	l->peer = name->peer;
	sdr_list_init(&l->busy);
	sdr_list_init(&l->ops);
	if (sdr_htab_add(&s->names, &l->by_name, hash)) {
		free(l);
		return NULL;
	}
	if (in)
		sdr_list_add_tail(&l->all, &s->in);
	else
		sdr_list_add_head(&l->all, &s->out);
	s->nin += in;
	s->nunproved += in;
	return l;
}

void sdr_link_drop(struct sdr_link *l)
{
	/* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): who was dropped before is in no list */
	struct sdr_links *s = l->ep->links;

	if (l->in)
		s->gone(l);
	SDR_ASSERT(sdr_list_empty(&l->ops));
	sdr_link_qp_drop(l);
	sdr_htab_del(&s->names, &l->by_name);
	sdr_list_del(&l->all);
	sdr_list_del(&l->busy);
	s->nin -= l->in;
	s->nunproved -= l->in && !l->proved;
	free(l);
}

void sdr_link_kick(struct sdr_link *l)
{
	if (sdr_list_empty(&l->busy))
		sdr_list_add_tail(&l->busy, &l->ep->links->busy);
}

void sdr_link_prove(struct sdr_link *l)
{
	struct sdr_links *s = l->ep->links;

	s->nunproved -= !l->proved;
	l->proved = true;
	sdr_list_del(&l->all);
	sdr_list_add_tail(&l->all, &s->in);
}

int sdr_links_open(struct sdr_ep *ep)
{
	struct sdr_links *s = calloc(1, sizeof(*s));

	if (!s)
		return -FI_ENOMEM;
	if (getrandom(&s->key, sizeof(s->key), 0) != sizeof(s->key)) {
		free(s);
		return -FI_EIO;
	}
	sdr_list_init(&s->out);
	sdr_list_init(&s->in);
	sdr_list_init(&s->busy);
	sdr_list_init(&s->told);
	ep->links = s;
	return 0;
}

void sdr_links_close(struct sdr_ep *ep)
{
	struct sdr_links *s = ep->links;

	if (!s)
		return;
	while (!sdr_list_empty(&s->out))
		sdr_link_drop(sdr_container(s->out.next, struct sdr_link, all));
	while (!sdr_list_empty(&s->in))
		sdr_link_drop(sdr_container(s->in.next, struct sdr_link, all));
	SDR_ASSERT(!s->nin && !s->nunproved && sdr_list_empty(&s->busy));
	sdr_htab_destroy(&s->names);
	sdr_htab_destroy(&s->qpns);
	free(s);
	ep->links = NULL;
}
