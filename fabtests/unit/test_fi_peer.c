/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Imported queues (fi_peer(3)), and addresses with IDs of their user's: the test is the owner, a
 * provider that links this one.  It has one completion queue and one set of receives a side, in the
 * form that the headers at hand have, and sees to it that it is asked in its own calls only, and
 * that every entry comes back once.
 */
#include "test_fi_util.h"

#include "fi/sdr_peer_api.h"

#define BIG	(3u << 20)   /* bytes: parks when nobody asks for it */
#define MIDDLE	(200u << 10) /* bytes: a bounce buffer */
#define ENTRIES 64u
#define TX_SIZE 16u /* operations */
#define CQES	64u
#define USER_ID 0x700u /* of side k as the other knows it: + k */

struct entry {
	struct fi_peer_rx_entry e; /* first */
	struct iovec iov[2];
	uint64_t ignore;
	struct owner *of;
	enum { FREE, POSTED, GIVEN, UNEXP, QUEUED } state;
};

struct cqe {
	struct fi_cq_err_entry e; /* err 0: success */
	fi_addr_t src;
	char text[256];
};

struct owner { /* of one side */
	struct fid_ep *ep, *srx_ep;
	struct fid_cq *cq;
	struct fid_peer_cq peer_cq;
	struct fid_peer_srx srx;
	struct entry entry[ENTRIES];
	struct cqe cqe[CQES];
	uint32_t ncqe;
	bool inside; /* it may be asked for receives */
	bool refuses;
	struct sockaddr_storage name;
	size_t namelen;
	fi_addr_t peer;
};

static struct {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct owner o[2];
} T;

/* ---- the owner's side ------------------------------------------------------------------------ */

static ssize_t cq_write(struct fid_peer_cq *cq, void *context, uint64_t flags, size_t len,
			void *buf, uint64_t data, uint64_t tag, fi_addr_t src)
{
	struct owner *o = cq->fid.context;
	struct cqe *c = &o->cqe[o->ncqe++];

	assert_true(o->ncqe <= CQES);
	memset(c, 0, sizeof(*c));
	c->e.op_context = context;
	c->e.flags = flags;
	c->e.len = len;
	c->e.buf = buf;
	c->e.data = data;
	c->e.tag = tag;
	c->src = src;
	return 0;
}

static ssize_t cq_writeerr(struct fid_peer_cq *cq, const struct fi_cq_err_entry *err)
{
	struct owner *o = cq->fid.context;
	struct cqe *c = &o->cqe[o->ncqe++];

	assert_true(o->ncqe <= CQES);
	assert_int_not_equal(err->err, 0);
	c->e = *err;
	snprintf(c->text, sizeof(c->text), "%s", err->err_data ? (char *)err->err_data : "");
	return 0;
}

static struct entry *entry_new(struct owner *o)
{
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct entry *e = &o->entry[i];

		if (e->state != FREE)
			continue;
		memset(e, 0, sizeof(*e));
		e->of = o;
		e->e.srx = &o->srx;
		e->e.iov = e->iov;
		return e;
	}
	fail_msg("no entry left");
	return NULL;
}

static bool entry_matches(const struct entry *e, bool tagged, fi_addr_t addr, uint64_t tag)
{
	return !(e->e.flags & FI_TAGGED) == !tagged &&
	       (e->e.addr == FI_ADDR_UNSPEC || e->e.addr == addr) &&
	       !((e->e.tag ^ tag) & ~e->ignore);
}

static int owner_get(struct fid_peer_srx *srx, bool tagged, fi_addr_t addr, uint64_t tag,
		     struct fi_peer_rx_entry **out)
{
	struct owner *o = srx->ep_fid.fid.context;
	struct entry *e;

	assert_true(o->inside);
	if (o->refuses)
		return -FI_ENOSYS;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		e = &o->entry[i];
		if (e->state == POSTED && entry_matches(e, tagged, addr, tag)) {
			e->state = GIVEN;
			*out = &e->e;
			return 0;
		}
	}
	e = entry_new(o);
	e->state = UNEXP;
	e->e.addr = addr;
	e->e.tag = tag;
	e->e.flags = FI_RECV | (tagged ? FI_TAGGED : FI_MSG);
	*out = &e->e;
	return -FI_ENOENT;
}

#ifdef SDR_PEER_MATCH
static int owner_get_msg(struct fid_peer_srx *srx, struct fi_peer_match_attr *m,
			 struct fi_peer_rx_entry **e)
{
	return owner_get(srx, false, m->addr, m->tag, e);
}

static int owner_get_tag(struct fid_peer_srx *srx, struct fi_peer_match_attr *m,
			 struct fi_peer_rx_entry **e)
{
	return owner_get(srx, true, m->addr, m->tag, e);
}
#else
static int owner_get_msg(struct fid_peer_srx *srx, fi_addr_t addr, size_t size,
			 struct fi_peer_rx_entry **e)
{
	(void)size;
	return owner_get(srx, false, addr, 0, e);
}

static int owner_get_tag(struct fid_peer_srx *srx, fi_addr_t addr, uint64_t tag,
			 struct fi_peer_rx_entry **e)
{
	return owner_get(srx, true, addr, tag, e);
}
#endif

static int owner_queue(struct fi_peer_rx_entry *entry)
{
	struct entry *e = (struct entry *)entry;

	assert_true(e->of->inside);
	assert_int_equal(e->state, UNEXP);
	assert_non_null(entry->peer_context);
	e->state = QUEUED;
	return 0;
}

static void owner_free(struct fi_peer_rx_entry *entry)
{
	struct entry *e = (struct entry *)entry;

	assert_true(e->state == GIVEN || e->state == UNEXP);
	e->state = FREE;
}

#ifdef SDR_PEER_FOREACH
static void owner_foreach(struct fid_peer_srx *srx,
			  fi_addr_t (*addr)(struct fi_peer_rx_entry *entry))
{
	struct owner *o = srx->ep_fid.fid.context;

	for (uint32_t i = 0; i < ENTRIES; i++) {
		if (o->entry[i].state == QUEUED && o->entry[i].e.addr == FI_ADDR_UNSPEC)
			o->entry[i].e.addr = addr(&o->entry[i].e);
	}
}
#endif

static struct fi_ops_cq_owner cq_ops = { .size = sizeof(struct fi_ops_cq_owner),
					 .write = cq_write,
					 .writeerr = cq_writeerr };

static struct fi_ops_srx_owner srx_ops = {
	.size = sizeof(struct fi_ops_srx_owner),
	.get_msg = owner_get_msg,
	.get_tag = owner_get_tag,
	.queue_msg = owner_queue,
	.queue_tag = owner_queue,
#ifdef SDR_PEER_FOREACH
	.foreach_unspec_addr = owner_foreach,
#endif
	.free_entry = owner_free,
};

#ifdef SDR_PEER_CNTR
static struct { /* of side 0's sends */
	struct fid_peer_cntr peer;
	struct fid_cntr *cntr;
	uint32_t n, errs;
} C;

static void cntr_inc(struct fid_peer_cntr *cntr)
{
	assert_ptr_equal(cntr, &C.peer);
	C.n++;
}

static void cntr_incerr(struct fid_peer_cntr *cntr)
{
	assert_ptr_equal(cntr, &C.peer);
	C.errs++;
}

static struct fi_ops_cntr_owner cntr_ops = { .size = sizeof(struct fi_ops_cntr_owner),
					     .inc = cntr_inc,
					     .incerr = cntr_incerr };
#endif

/* ---- two sides ------------------------------------------------------------------------------- */

static struct fi_info *peer_hints(void)
{
	struct fi_info *h =
		test_hints(FI_EP_RDM, FI_MSG | FI_TAGGED | FI_SOURCE | FI_DIRECTED_RECV | FI_PEER |
					      FI_AV_USER_ID);
	return h;
}

static void owner_cq_open(struct owner *o)
{
	struct fi_cq_attr attr = { .flags = FI_PEER };
	struct fi_peer_cq_context c = { .size = sizeof(c), .cq = &o->peer_cq };

	o->peer_cq.fid.fclass = FI_CLASS_PEER_CQ;
	o->peer_cq.fid.context = o;
	o->peer_cq.owner_ops = &cq_ops;
	assert_ok(fi_cq_open(T.domain, &attr, &o->cq, &c));
}

static void owner_srx_open(struct owner *o)
{
	struct fi_rx_attr attr = { .op_flags = FI_PEER };
	struct fi_peer_srx_context c = { .size = sizeof(c), .srx = &o->srx };

	o->srx.ep_fid.fid.fclass = FI_CLASS_PEER_SRX;
	o->srx.ep_fid.fid.context = o;
	o->srx.owner_ops = &srx_ops;
	assert_ok(fi_srx_context(T.domain, &attr, &o->srx_ep, &c));
	assert_non_null(o->srx.peer_ops);
	assert_true(o->srx.peer_ops->size >= sizeof(struct fi_ops_srx_peer));
}

static void know(int k) /* side k learns of the other */
{
	struct owner *o = &T.o[k], *w = &T.o[!k];

	o->peer = USER_ID + (fi_addr_t)!k;
	assert_int_equal(fi_av_insert(T.av, &w->name, 1, &o->peer, FI_AV_USER_ID, NULL), 1);
	assert_int_not_equal(o->peer, USER_ID + !k);
}

static int setup_unknown(void **state)
{
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	struct fi_info *h = peer_hints();

	(void)state;
	memset(&T, 0, sizeof(T));
	h->tx_attr->size = TX_SIZE;
	T.info = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h);
	assert_non_null(T.info);
	fi_freeinfo(h);
	assert_ok(fi_fabric(T.info->fabric_attr, &T.fabric, NULL));
	assert_ok(fi_domain(T.fabric, T.info, &T.domain, NULL));
	assert_ok(fi_av_open(T.domain, &av, &T.av, NULL));
	for (int k = 0; k < 2; k++) {
		struct owner *o = &T.o[k];

		owner_cq_open(o);
		owner_srx_open(o);
		assert_ok(fi_endpoint(T.domain, T.info, &o->ep, NULL));
		assert_ok(fi_ep_bind(o->ep, &T.av->fid, 0));
		assert_ok(fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV));
		assert_ok(fi_ep_bind(o->ep, &o->srx_ep->fid, 0));
		assert_ok(fi_enable(o->ep));
		o->namelen = sizeof(o->name);
		assert_ok(fi_getname(&o->ep->fid, &o->name, &o->namelen));
	}
	return 0;
}

static int setup(void **state)
{
	setup_unknown(state);
	know(0);
	know(1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		struct owner *o = &T.o[k];

		if (o->ep)
			assert_ok(fi_close(&o->ep->fid));
		assert_ok(fi_close(&o->srx_ep->fid));
		assert_ok(fi_close(&o->cq->fid));
		for (uint32_t i = 0; i < ENTRIES; i++) {
			assert_int_not_equal(o->entry[i].state, GIVEN);
			assert_int_not_equal(o->entry[i].state, UNEXP);
		}
	}
	assert_ok(fi_close(&T.av->fid));
	assert_ok(fi_close(&T.domain->fid));
	assert_ok(fi_close(&T.fabric->fid));
	fi_freeinfo(T.info);
	return 0;
}

static void drive(void)
{
	for (int k = 0; k < 2; k++) {
		T.o[k].inside = true;
		assert_int_equal(fi_cq_read(T.o[k].cq, NULL, 0), 0);
		T.o[k].inside = false;
	}
}

/* Until side k has n completions. */
static void wait_for(int k, uint32_t n)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;

	while (T.o[k].ncqe < n) {
		drive();
		if (test_now_s() > end)
			fail_msg("%u of %u completions on side %d", T.o[k].ncqe, n, k);
	}
}

static struct entry *posted(int k, fi_addr_t from, uint64_t tag, uint64_t ignore, uint64_t kind)
{
	struct entry *e = entry_new(&T.o[k]);

	e->state = POSTED;
	e->ignore = ignore;
	e->e.addr = from;
	e->e.tag = tag;
	e->e.flags = kind | FI_RECV | FI_COMPLETION;
	e->e.context = e;
	return e;
}

static void into(struct entry *e, void *buf, size_t len)
{
	e->iov[e->e.count].iov_base = buf;
	e->iov[e->e.count].iov_len = len;
	e->e.count++;
}

static struct entry *queued(int k, uint64_t tag)
{
	uint64_t end = test_now_s() + TEST_GUARD_S;

	for (;;) {
		for (uint32_t i = 0; i < ENTRIES; i++) {
			struct entry *e = &T.o[k].entry[i];

			if (e->state == QUEUED && e->e.tag == tag)
				return e;
		}
		drive();
		if (test_now_s() > end)
			fail_msg("message %llu did not come", (unsigned long long)tag);
	}
}

/* As the owner does when the receive is posted that its message waits for. */
static void start(int k, struct entry *e, void *buf, size_t len)
{
	struct owner *o = &T.o[k];

	assert_int_equal(e->state, QUEUED);
	e->state = GIVEN;
	e->e.context = e;
	e->e.flags |= FI_COMPLETION;
	into(e, buf, len);
	o->inside = true;
	assert_ok(o->srx.peer_ops->start_tag(&e->e));
	o->inside = false;
}

static void *filled(size_t len, uint32_t seed)
{
	void *p = malloc(len);

	assert_non_null(p);
	test_fill(p, len, seed);
	return p;
}

/* ---- what is offered ------------------------------------------------------------------------- */

static void info__of_a_link_is_one_entry_that_its_owner_drives(void **state)
{
	struct fi_info *h = peer_hints(), *i = test_getinfo(TEST_API, NULL, NULL, 0, h), *n;

	(void)state;
	assert_non_null(i);
	assert_null(i->next);
	assert_true((i->caps & FI_PEER) && (i->caps & FI_AV_USER_ID));
	assert_true((i->domain_attr->caps & FI_PEER) && (i->domain_attr->caps & FI_AV_USER_ID));
	assert_int_equal(i->domain_attr->data_progress, FI_PROGRESS_MANUAL);
	assert_string_equal(i->fabric_attr->name, "sdr"); /* the same at the other end */
	h->domain_attr->name = strdup(i->domain_attr->name);
	n = test_getinfo(TEST_API, NULL, NULL, 0, h);
	assert_non_null(n);
	assert_string_equal(n->domain_attr->name, i->domain_attr->name);
	fi_freeinfo(n);
	h->domain_attr->data_progress = FI_PROGRESS_AUTO;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	h->domain_attr->data_progress = FI_PROGRESS_UNSPEC;
	h->ep_attr->type = FI_EP_DGRAM;
	h->caps = FI_MSG | FI_PEER;
	assert_null(test_getinfo(TEST_API, NULL, NULL, 0, h));
	fi_freeinfo(h);
	fi_freeinfo(i);
	h = test_hints(FI_EP_RDM, FI_MSG);
	i = test_getinfo(TEST_API, "127.0.0.1", NULL, FI_SOURCE, h);
	assert_non_null(i);
	assert_false(i->caps & (FI_PEER | FI_AV_USER_ID));
	assert_string_not_equal(i->fabric_attr->name, "sdr");
	fi_freeinfo(i);
	fi_freeinfo(h);
}

static void open__refuses_what_it_cannot_share(void **state)
{
	struct fi_peer_cq_context c = { .size = sizeof(c) };
	struct fi_peer_srx_context s = { .size = sizeof(s) };
	struct fi_cq_attr cq_attr = { .flags = FI_PEER };
	struct fi_rx_attr rx_attr = { .op_flags = FI_PEER };
	struct fid_peer_srx srx = { .owner_ops = NULL };
	struct fi_ops_srx_owner old = { .size = sizeof(old) - sizeof(void *) };
	struct fid_domain *dom;
	struct fid_cq *cq;
	struct fid_ep *ep;

	(void)state;
	assert_int_equal(fi_cq_open(T.domain, &cq_attr, &cq, NULL), -FI_EINVAL);
	assert_int_equal(fi_cq_open(T.domain, &cq_attr, &cq, &c), -FI_EINVAL);
	c.cq = &T.o[0].peer_cq;
	c.size--;
	assert_int_equal(fi_cq_open(T.domain, &cq_attr, &cq, &c), -FI_EINVAL);
	assert_int_equal(fi_srx_context(T.domain, &rx_attr, &ep, NULL), -FI_EINVAL);
	s.srx = &srx;
	assert_int_equal(fi_srx_context(T.domain, &rx_attr, &ep, &s), -FI_EINVAL);
	srx.owner_ops = &old;
	assert_int_equal(fi_srx_context(T.domain, &rx_attr, &ep, &s), -FI_EINVAL);
	/* A thread of ours would ask the owner at any time. */
	T.info->domain_attr->data_progress = FI_PROGRESS_AUTO;
	assert_ok(fi_domain(T.fabric, T.info, &dom, NULL));
	srx.owner_ops = &srx_ops;
	assert_int_equal(fi_srx_context(dom, &rx_attr, &ep, &s), -FI_EOPNOTSUPP);
	assert_ok(fi_close(&dom->fid));
	T.info->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	/* What is bound stays. */
	assert_int_equal(fi_close(&T.o[0].srx_ep->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&T.o[0].cq->fid), -FI_EBUSY);
}

static void reads__and_receives_are_the_owners(void **state)
{
	struct owner *o = &T.o[0];
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_tagged_entry e;
	fi_addr_t src;
	uint8_t b;

	(void)state;
	assert_int_equal(fi_cq_read(o->cq, &e, 1), -FI_ENOSYS);
	assert_int_equal(fi_cq_readfrom(o->cq, &e, 1, &src), -FI_ENOSYS);
	assert_int_equal(fi_cq_readerr(o->cq, &err, 0), -FI_ENOSYS);
	assert_int_equal(fi_cq_sread(o->cq, &e, 1, NULL, 0), -FI_ENOSYS);
	assert_int_equal(fi_cq_signal(o->cq), -FI_ENOSYS);
	assert_int_equal(fi_recv(o->ep, &b, 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_ENOSYS);
	assert_int_equal(fi_trecv(o->ep, &b, 1, NULL, FI_ADDR_UNSPEC, 0, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_recv(o->srx_ep, &b, 1, NULL, FI_ADDR_UNSPEC, NULL), -FI_ENOSYS);
	assert_int_equal(fi_trecv(o->srx_ep, &b, 1, NULL, FI_ADDR_UNSPEC, 0, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_cancel(&o->ep->fid, &b), -FI_ENOSYS);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void posted__receives_get_messages_with_their_source(void **state)
{
	uint8_t a[5] = { 0 }, b[5] = { 0 }, *big = calloc(1, BIG), *from = filled(BIG, 3);
	struct entry *two = posted(1, USER_ID, 0x10, 0xf, FI_TAGGED),
		     *other = posted(1, USER_ID + 5, 0x20, 0, FI_TAGGED),
		     *any = posted(1, FI_ADDR_UNSPEC, 0, 0, FI_MSG),
		     *huge = posted(1, USER_ID, 0x20, 0, FI_TAGGED);
	struct cqe *c = T.o[1].cqe;

	(void)state;
	into(two, a, 5);
	into(two, b, 5);
	into(other, a, 5);
	into(any, b, 2);
	into(huge, big, BIG);
	assert_ok(fi_tsenddata(T.o[0].ep, "0123456", 7, NULL, 0xda7a, T.o[0].peer, 0x17, a));
	wait_for(1, 1);
	assert_ptr_equal(c[0].e.op_context, two);
	assert_int_equal(c[0].e.flags, FI_RECV | FI_TAGGED | FI_REMOTE_CQ_DATA);
	assert_int_equal(c[0].e.len, 7);
	assert_int_equal(c[0].e.data, 0xda7a);
	assert_int_equal(c[0].e.tag, 0x17);
	assert_int_equal(c[0].src, USER_ID);
	assert_memory_equal(a, "01234", 5);
	assert_memory_equal(b, "56\0", 3);
	wait_for(0, 1);
	assert_ptr_equal(T.o[0].cqe[0].e.op_context, a);
	assert_int_equal(T.o[0].cqe[0].e.flags, FI_SEND | FI_TAGGED);
	assert_ok(fi_tsend(T.o[0].ep, from, BIG, NULL, T.o[0].peer, 0x20, NULL));
	assert_ok(fi_send(T.o[0].ep, "long", 4, NULL, T.o[0].peer, NULL));
	wait_for(1, 3);
	c++;
	if (c->e.op_context == any)
		c++; /* it may end first */
	assert_ptr_equal(c->e.op_context, huge);
	assert_int_equal(c->e.len, BIG);
	assert_true(test_same(big, BIG, 3));
	c = T.o[1].cqe + (c == T.o[1].cqe + 1 ? 2 : 1);
	assert_ptr_equal(c->e.op_context, any);
	assert_int_equal(c->e.err, FI_ETRUNC);
	assert_int_equal(c->e.flags, FI_RECV | FI_MSG);
	assert_int_equal(c->e.olen, 2);
	assert_true(strlen(c->text) > 0);
	assert_int_equal(other->state, POSTED); /* of somebody else */
	other->state = FREE;
	assert_int_equal(two->state, FREE);
	assert_int_equal(huge->state, FREE);
	assert_int_equal(any->state, FREE);
	wait_for(0, 3);
	free(big);
	free(from);
}

static void unexpected__of_every_size_is_started_later(void **state)
{
	static const uint32_t len[] = { 0, 100, MIDDLE, BIG };
	uint8_t *src[4], *dst[4];
	struct entry *e[4];

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		src[i] = filled(len[i] + 1, i);
		dst[i] = calloc(1, len[i] + 1);
		assert_ok(fi_tsenddata(T.o[0].ep, src[i], len[i], NULL, 40 + i, T.o[0].peer, i,
				       NULL));
	}
	for (uint32_t i = 0; i < 4; i++) {
		e[i] = queued(1, i);
		assert_int_equal(e[i]->e.addr, USER_ID);
		assert_int_equal(e[i]->e.flags, FI_TAGGED | FI_RECV | FI_REMOTE_CQ_DATA);
#ifdef SDR_PEER_CQ_DATA
		assert_int_equal(e[i]->e.cq_data, 40 + i);
#endif
#ifdef SDR_PEER_MATCH
		assert_int_equal(e[i]->e.msg_size, len[i]);
#endif
	}
	assert_int_equal(T.o[1].ncqe, 0);
	for (uint32_t i = 4; i-- > 0;) { /* in whatever order */
		uint32_t n = T.o[1].ncqe;

		start(1, e[i], dst[i], len[i]);
		wait_for(1, n + 1);
		assert_ptr_equal(T.o[1].cqe[n].e.op_context, e[i]);
		assert_int_equal(T.o[1].cqe[n].e.err, 0);
		assert_int_equal(T.o[1].cqe[n].e.len, len[i]);
		assert_int_equal(T.o[1].cqe[n].e.data, 40 + i);
		assert_int_equal(T.o[1].cqe[n].src, USER_ID);
		assert_true(test_same(dst[i], len[i], i));
		assert_int_equal(dst[i][len[i]], 0);
		assert_int_equal(e[i]->state, FREE);
		free(dst[i]);
	}
	wait_for(0, 4);
	for (uint32_t i = 0; i < 4; i++)
		free(src[i]);
}

static void unexpected__discarded_leaves_nothing_behind(void **state)
{
	uint8_t *src = filled(BIG, 1), b[8] = { 0 };
	struct entry *e, *last;

	(void)state;
	assert_ok(fi_tsend(T.o[0].ep, src, BIG, NULL, T.o[0].peer, 1, NULL));
	assert_ok(fi_tsend(T.o[0].ep, src, 8, NULL, T.o[0].peer, 2, NULL));
	assert_ok(fi_tsend(T.o[0].ep, src, 8, NULL, T.o[0].peer, 3, NULL));
	last = queued(1, 3);
	for (uint64_t tag = 1; tag < 3; tag++) {
		e = queued(1, tag);
		T.o[1].inside = true;
		assert_ok(T.o[1].srx.peer_ops->discard_tag(&e->e));
		T.o[1].inside = false;
		assert_int_equal(e->state, QUEUED); /* the owner's to free */
		e->state = FREE;
	}
	start(1, last, b, 8);
	wait_for(1, 1);
	assert_true(test_same(b, 8, 1));
	wait_for(0, 3); /* nobody waits for what nobody wants */
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(T.o[0].cqe[i].e.err, 0);
	assert_int_equal(T.o[1].ncqe, 1);
	free(src);
}

static void unexpected__at_the_end_is_no_message_any_more(void **state)
{
	struct entry *e;

	(void)state;
	assert_ok(fi_tsend(T.o[0].ep, "x", 1, NULL, T.o[0].peer, 1, NULL));
	e = queued(1, 1);
	assert_ok(fi_close(&T.o[1].ep->fid));
	T.o[1].ep = NULL;
	assert_int_equal(T.o[1].srx.peer_ops->start_tag(&e->e), -FI_EINVAL);
	assert_int_equal(T.o[1].srx.peer_ops->discard_tag(&e->e), -FI_EINVAL);
	assert_int_equal(e->state, QUEUED);
	assert_int_equal(T.o[1].ncqe, 0);
}

static void unexpected__from_a_stranger_gets_its_address_later(void **state)
{
	struct entry *e;
	uint8_t b;

	(void)state;
	know(0);
	assert_ok(fi_tsend(T.o[0].ep, "x", 1, NULL, T.o[0].peer, 9, NULL));
	e = queued(1, 9);
	assert_int_equal(e->e.addr, FI_ADDR_UNSPEC);
	know(1);
#ifdef SDR_PEER_FOREACH
	assert_int_equal(e->e.addr, USER_ID);
#endif
	start(1, e, &b, 1);
	wait_for(1, 1);
	assert_int_equal(T.o[1].cqe[0].src, USER_ID);
	wait_for(0, 1);
}

static void refused__message_ends_its_connection_and_says_so(void **state)
{
	(void)state;
	T.o[1].refuses = true;
	assert_ok(fi_send(T.o[0].ep, "x", 1, NULL, T.o[0].peer, NULL));
	wait_for(0, 1);
	T.o[1].refuses = false;
	assert_ok(fi_tsend(T.o[0].ep, "y", 1, NULL, T.o[0].peer, 4, NULL));
	wait_for(0, 2); /* on a new one, or with the end of the old */
	assert_int_equal(T.o[1].ncqe, 0);
}

static void posts__never_ask_the_owner(void **state)
{
	struct entry *e[4];
	ssize_t ret = 0;
	uint8_t b[4];
	uint32_t n;

	(void)state;
	assert_ok(fi_tinject(T.o[0].ep, "w", 1, T.o[0].peer, 70));
	queued(1, 70); /* they are connected */
	for (uint32_t i = 0; i < 4; i++) {
		e[i] = posted(0, USER_ID + 1, 0, UINT64_MAX, FI_TAGGED);
		e[i]->e.flags &= ~FI_COMPLETION;
		into(e[i], &b[i], 1);
		assert_ok(fi_tinject(T.o[1].ep, &i, 1, T.o[1].peer, i));
	}
	/* Side 1 has sent; what reaches side 0 waits until its owner reads. */
	for (uint32_t i = 0; i < 1000; i++) {
		T.o[1].inside = true;
		fi_cq_read(T.o[1].cq, NULL, 0);
		T.o[1].inside = false;
	}
	for (n = 0; n <= TX_SIZE && !ret; n++) {
		ret = fi_tinject(T.o[0].ep, "z", 1, T.o[0].peer, 77);
		for (uint32_t i = 0; i < 4; i++)
			assert_int_equal(e[i]->state, POSTED);
	}
	assert_int_equal(ret, -FI_EAGAIN);
	for (uint64_t end = test_now_s() + TEST_GUARD_S; e[3]->state != FREE && test_now_s() < end;)
		drive();
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(e[i]->state, FREE);
		assert_int_equal(b[i], i);
	}
	assert_int_equal(T.o[0].ncqe, 0); /* nobody asked for completions */
}

/* ---- counters -------------------------------------------------------------------------------- */

static void cntr__imported_counts_at_its_owner(void **state)
{
	struct fi_cntr_attr attr = { .flags = FI_PEER, .wait_obj = FI_WAIT_UNSPEC };
#ifdef SDR_PEER_CNTR
	struct fi_peer_cntr_context c = { .size = sizeof(c), .cntr = &C.peer };
	struct owner *o = &T.o[0];

	(void)state;
	memset(&C, 0, sizeof(C));
	C.peer.fid.fclass = FI_CLASS_PEER_CNTR;
	assert_int_equal(fi_cntr_open(T.domain, &attr, &C.cntr, NULL), -FI_EINVAL);
	assert_int_equal(fi_cntr_open(T.domain, &attr, &C.cntr, &c), -FI_EINVAL);
	C.peer.owner_ops = &cntr_ops;
	assert_ok(fi_cntr_open(T.domain, &attr, &C.cntr, &c));
	assert_int_equal(fi_cntr_set(C.cntr, 3), -FI_ENOSYS);
	assert_int_equal(fi_cntr_add(C.cntr, 3), -FI_ENOSYS);
	assert_int_equal(fi_cntr_wait(C.cntr, 1, 0), -FI_ENOSYS);
	/* Another endpoint: this one is enabled. */
	assert_ok(fi_close(&o->ep->fid));
	assert_ok(fi_endpoint(T.domain, T.info, &o->ep, NULL));
	assert_ok(fi_ep_bind(o->ep, &T.av->fid, 0));
	assert_ok(fi_ep_bind(o->ep, &o->cq->fid, FI_TRANSMIT | FI_RECV));
	assert_ok(fi_ep_bind(o->ep, &o->srx_ep->fid, 0));
	assert_ok(fi_ep_bind(o->ep, &C.cntr->fid, FI_SEND));
	assert_ok(fi_enable(o->ep));
	assert_ok(fi_tsend(o->ep, "x", 1, NULL, o->peer, 1, NULL));
	for (uint64_t end = test_now_s() + TEST_GUARD_S; !C.n && test_now_s() < end;) {
		o->inside = true;
		assert_int_equal(fi_cntr_read(C.cntr), 0);
		o->inside = false;
		drive();
	}
	assert_int_equal(C.n, 1);
	assert_int_equal(C.errs, 0);
	T.o[1].refuses = true; /* ends the connection */
	assert_ok(fi_tsend(o->ep, "x", 1, NULL, o->peer, 2, NULL));
	wait_for(0, 2);
	assert_int_equal(C.n + C.errs, 2);
	T.o[1].refuses = false;
	assert_ok(fi_tsend(o->ep, "x", 1, NULL, o->peer, 3, NULL));
	assert_ok(fi_close(&o->ep->fid)); /* not taken yet */
	o->ep = NULL;
	assert_int_equal(C.errs >= 1, 1);
	assert_int_equal(C.n + C.errs, 3);
	assert_ok(fi_close(&C.cntr->fid));
#else
	struct fid_cntr *cntr;

	(void)state;
	assert_int_equal(fi_cntr_open(T.domain, &attr, &cntr, NULL), -FI_EINVAL);
#endif
}

/* ---- addresses ------------------------------------------------------------------------------- */

static fi_addr_t source_of_one(struct test_pair *p)
{
	struct fi_cq_tagged_entry e;
	fi_addr_t src = 0;
	uint8_t b;

	assert_ok(fi_recv(p->s[1].ep, &b, 1, NULL, FI_ADDR_UNSPEC, NULL));
	assert_ok(fi_send(p->s[0].ep, "x", 1, NULL, p->s[0].peer, NULL));
	assert_int_equal(test_wait(p, 1, &e, &src), 1);
	test_wait_ok(p, 0, &e);
	return src;
}

static void av__user_ids_stand_for_addresses(void **state)
{
	struct test_opts o = { .caps = FI_MSG | FI_SOURCE | FI_AV_USER_ID };
	fi_addr_t other = 0xabcdefull << 32;
	struct test_pair p;

	(void)state;
	test_pair_open(&p, &o);
	assert_int_equal(source_of_one(&p), p.s[1].peer);
	assert_ok(fi_av_remove(p.av, &p.s[1].peer, 1, 0));
	assert_int_equal(fi_av_insert(p.av, &p.s[0].name, 1, NULL, FI_AV_USER_ID, NULL),
			 -FI_EINVAL);
	assert_int_equal(fi_av_insert(p.av, &p.s[0].name, 1, &other, FI_AV_USER_ID, NULL), 1);
	assert_int_equal(other, p.s[1].peer);
	assert_int_equal(source_of_one(&p), 0xabcdefull << 32);
	/* The place is another's. */
	assert_ok(fi_av_remove(p.av, &p.s[1].peer, 1, 0));
	assert_int_equal(fi_av_insert(p.av, &p.s[0].name, 1, &p.s[1].peer, 0, NULL), 1);
	assert_int_equal(source_of_one(&p), p.s[1].peer);
	test_pair_close(&p);
}

#ifdef SDR_AV_SET_USER_ID
static void av__of_user_ids_has_none_until_they_are_set(void **state)
{
	struct test_opts o = { .caps = FI_MSG | FI_SOURCE | FI_AV_USER_ID, .not_enabled = true };
	struct fi_av_attr attr = { .type = FI_AV_TABLE, .flags = FI_AV_USER_ID };
	struct test_pair p;
	fi_addr_t id = 7;

	(void)state;
	test_pair_open(&p, &o);
	for (int k = 0; k < 2; k++)
		assert_ok(fi_close(&p.s[k].ep->fid));
	assert_int_equal(fi_av_set_user_id(p.av, 0, 7, 0), -FI_EINVAL);
	assert_ok(fi_close(&p.av->fid));
	assert_ok(fi_av_open(p.domain, &attr, &p.av, NULL));
	for (int k = 0; k < 2; k++) {
		assert_ok(fi_endpoint(p.domain, p.info, &p.s[k].ep, NULL));
		assert_ok(fi_ep_bind(p.s[k].ep, &p.av->fid, 0));
		assert_ok(fi_ep_bind(p.s[k].ep, &p.s[k].cq->fid, FI_TRANSMIT | FI_RECV));
		test_side_enable(&p, k);
	}
	assert_int_equal(fi_av_insert(p.av, &p.s[0].name, 1, &id, FI_AV_USER_ID, NULL), -FI_EINVAL);
	assert_int_equal(source_of_one(&p), FI_ADDR_NOTAVAIL);
	assert_int_equal(fi_av_set_user_id(p.av, 12345, 7, 0), -FI_EINVAL);
	assert_int_equal(fi_av_set_user_id(p.av, p.s[1].peer, 7, 1), -FI_EBADFLAGS);
	assert_ok(fi_av_set_user_id(p.av, p.s[1].peer, 0x77, 0));
	assert_int_equal(source_of_one(&p), 0x77);
	test_pair_close(&p);
}
#endif

#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info__of_a_link_is_one_entry_that_its_owner_drives),
		CASE(open__refuses_what_it_cannot_share),
		CASE(reads__and_receives_are_the_owners),
		CASE(posted__receives_get_messages_with_their_source),
		CASE(unexpected__of_every_size_is_started_later),
		CASE(unexpected__discarded_leaves_nothing_behind),
		CASE(unexpected__at_the_end_is_no_message_any_more),
		cmocka_unit_test_setup_teardown(unexpected__from_a_stranger_gets_its_address_later,
						setup_unknown, teardown),
		CASE(refused__message_ends_its_connection_and_says_so),
		CASE(posts__never_ask_the_owner),
		CASE(cntr__imported_counts_at_its_owner),
		cmocka_unit_test(av__user_ids_stand_for_addresses),
#ifdef SDR_AV_SET_USER_ID
		cmocka_unit_test(av__of_user_ids_has_none_until_they_are_set),
#endif
	};

	test_env();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
