/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The libfabric half of sdr_xfer: objects, registered buffers, completions, control messages.
 *
 * One completion queue takes everything; what is posted has a struct op as its context, and
 * its poster waits for it with op_wait, which also watches the clock.  Control receives
 * are always posted and complete in the order in which they were posted.
 */
#include "sdr_xfer.h"
#include "xfer_pattern.h"

static const char *const ctl_name[] = { "", "HELLO", "READY", "DONE", "VERDICT", "BYE" };

/* ---- completions --------------------------------------------------------------------------- */

static void cq_error(void)
{
	struct fi_cq_err_entry e = { 0 };
	struct op *op;
	const char *text;
	ssize_t ret;

	ret = fi_cq_readerr(x.cq, &e, 0);
	if (ret == -FI_EAGAIN)
		return;
	if (ret < 0)
		die(EXIT_BAD, "fi_cq_readerr: %s", fi_strerror((int)-ret));
	text = fi_cq_strerror(x.cq, e.prov_errno, e.err_data, NULL, 0);
	if (!e.op_context)
		die(EXIT_BAD, "error completion without a context: %s", text);
	op = (struct op *)e.op_context;
	op->done = true;
	op->err = e.err ? e.err : FI_EOTHER;
	snprintf(op->text, sizeof(op->text), "%s (%s)", fi_strerror(op->err), text ? text : "-");
}

void cq_progress(int ms)
{
	struct fi_cq_tagged_entry e[8];
	ssize_t ret, i;

	if (x.sread && ms > 0)
		ret = fi_cq_sread(x.cq, e, 8, NULL, ms);
	else
		ret = fi_cq_read(x.cq, e, 8);
	if (ret == -FI_EAVAIL) {
		cq_error();
		return;
	}
	if (ret == -FI_EAGAIN || ret == -FI_EINTR)
		return;
	if (ret < 0)
		die(EXIT_BAD, "reading completions while %s: %s", x.doing, fi_strerror((int)-ret));
	for (i = 0; i < ret; i++) {
		struct op *op = (struct op *)e[i].op_context;

		if (!op)
			continue;
		op->done = true;
		op->len = e[i].len;
	}
}

void op_wait(struct op *op)
{
	while (!op->done) {
		deadline_check();
		cq_progress(XFER_POLL_MS);
	}
	if (op->err)
		die(EXIT_BAD, "error completion while %s: %s", x.doing, op->text);
}

/* ---- control messages ----------------------------------------------------------------------- */

void *mr_desc(struct fid_mr *mr)
{
	return mr ? fi_mr_desc(mr) : NULL;
}

static void ctl_post(unsigned int i)
{
	memset(&x.ctl_op[i], 0, sizeof(x.ctl_op[i]));
	POST("fi_trecv", fi_trecv(x.ep, &x.ctl[i], sizeof(x.ctl[i]), mr_desc(x.mr_ctl),
				  FI_ADDR_UNSPEC, XFER_TAG_CTL, 0, &x.ctl_op[i].ctx));
}

void ctl_send_start(struct op *op, enum ctl_type type, uint64_t seq)
{
	struct ctl_msg *m = &x.ctl[XFER_CTL_RECVS];
	struct iovec iov = { m, sizeof(*m) };
	void *desc = mr_desc(x.mr_ctl);
	struct fi_msg_tagged msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = x.peer,
		.tag = XFER_TAG_CTL,
		.context = &op->ctx,
	};

	m->magic = XFER_MAGIC;
	m->type = type;
	m->seq = seq;
	memset(op, 0, sizeof(*op));
	/* The buffer is free again when this completes; the peer's answer says it arrived. */
	POST("fi_tsendmsg", fi_tsendmsg(x.ep, &msg, FI_COMPLETION | FI_TRANSMIT_COMPLETE));
}

void ctl_send(enum ctl_type type, uint64_t seq)
{
	struct op op;

	ctl_send_start(&op, type, seq);
	op_wait(&op);
}

struct ctl_msg ctl_wait(enum ctl_type type, uint64_t seq)
{
	struct op *op = &x.ctl_op[x.ctl_next];
	struct ctl_msg m = { 0 };

	op_wait(op);
	memcpy(&m, &x.ctl[x.ctl_next], op->len < sizeof(m) ? op->len : sizeof(m));
	if (op->len != sizeof(m) || m.magic != XFER_MAGIC)
		die(EXIT_BAD, "control message of %zu bytes is not ours while %s", op->len,
		    x.doing);
	if (m.type != type || m.seq != seq)
		die(EXIT_BAD, "expected %s of message %" PRIu64 ", got %s of %" PRIu64,
		    ctl_name[type], seq, m.type <= CTL_BYE ? ctl_name[m.type] : "?", m.seq);
	ctl_post(x.ctl_next);
	x.ctl_next = (x.ctl_next + 1) % XFER_CTL_RECVS;
	return m;
}

/* ---- set-up ---------------------------------------------------------------------------------- */

static uint64_t mode_caps(enum xfer_mode mode)
{
	return FI_TAGGED | (mode == MODE_MSG ? FI_MSG : mode == MODE_WRITE ? FI_RMA : 0);
}

static struct fi_info *fabric_hints(void)
{
	struct fi_info *h = fi_allocinfo();

	if (!h)
		die(EXIT_BAD, "fi_allocinfo: out of memory");
	h->ep_attr->type = FI_EP_RDM;
	/* A server without -m must be ready for every mode. */
	h->caps = x.client || x.mode_given ? mode_caps(x.mode) : FI_TAGGED | FI_MSG | FI_RMA;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->tx_attr->msg_order = FI_ORDER_SAS;
	h->rx_attr->msg_order = FI_ORDER_SAS;
	h->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
	h->fabric_attr->prov_name = strdup(x.prov);
	return h;
}

void fabric_open(void)
{
	struct fi_info *h = fabric_hints();
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_UNSPEC };
	int ret;

	if (x.client)
		ret = fi_getinfo(XFER_API, x.node, x.port, 0, h, &x.info);
	else
		ret = fi_getinfo(XFER_API, x.bind_addr ? x.bind_addr : "0.0.0.0", x.port, FI_SOURCE,
				 h, &x.info);
	/* "any address" is not a node to every provider */
	if (ret && !x.client && !x.bind_addr)
		ret = fi_getinfo(XFER_API, NULL, x.port, FI_SOURCE, h, &x.info);
	if (ret == -FI_ENODATA)
		die(EXIT_BAD,
		    "provider \"%s\" offers no FI_EP_RDM endpoint for %s %s:%s; try "
		    "\"fi_info -p '%s'\" and check FI_PROVIDER_PATH",
		    x.prov, x.client ? "peer" : "address",
		    x.client	  ? x.node
		    : x.bind_addr ? x.bind_addr
				  : "*",
		    x.port, x.prov);
	CHECK(ret, "fi_getinfo: %s");
	fi_freeinfo(h);

	CHECK(fi_fabric(x.info->fabric_attr, &x.fabric, NULL), "fi_fabric: %s");
	CHECK(fi_domain(x.fabric, x.info, &x.domain, NULL), "fi_domain: %s");
	ret = x.busy ? -FI_ENOSYS : fi_cq_open(x.domain, &cq_attr, &x.cq, NULL);
	x.sread = !ret;
	if (ret) {
		cq_attr.wait_obj = FI_WAIT_NONE;
		CHECK(fi_cq_open(x.domain, &cq_attr, &x.cq, NULL), "fi_cq_open: %s");
	}
	CHECK(fi_av_open(x.domain, &av_attr, &x.av, NULL), "fi_av_open: %s");
	CHECK(fi_endpoint(x.domain, x.info, &x.ep, NULL), "fi_endpoint: %s");
	CHECK(fi_ep_bind(x.ep, &x.av->fid, 0), "fi_ep_bind(av): %s");
	CHECK(fi_ep_bind(x.ep, &x.cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind(cq): %s");
	ret = fi_enable(x.ep);
	if (ret)
		die(EXIT_BAD, "fi_enable: %s%s%s", fi_strerror(-ret),
		    x.client ? "" : "; is port in use? ", x.client ? "" : x.port);
}

static void *guarded_alloc(uint64_t size)
{
	size_t len = (size + 2 * PATTERN_GUARD + 4095) & ~(size_t)4095;
	uint8_t *p = aligned_alloc(4096, len);

	if (!p)
		die(EXIT_BAD, "no memory for a buffer of %" PRIu64 " bytes", size);
	memset(p, PATTERN_GUARD_BYTE, len);
	return p + PATTERN_GUARD;
}

static struct fid_mr *mr_open(void *buf, size_t len, uint64_t access, bool needed)
{
	struct fid_mr *mr = NULL;

	if (needed)
		CHECK(fi_mr_reg(x.domain, buf, len, access, 0,
				access & FI_REMOTE_WRITE ? XFER_MR_KEY
							 : XFER_MR_KEY + 1 + (uintptr_t)buf % 4096,
				0, &mr, NULL),
		      "fi_mr_reg of %zu bytes: %s", len);
	return mr;
}

void ctl_open(void)
{
	size_t len = (XFER_CTL_RECVS + 1) * sizeof(*x.ctl);
	unsigned int i;

	x.ctl = calloc(XFER_CTL_RECVS + 1, sizeof(*x.ctl));
	if (!x.ctl)
		die(EXIT_BAD, "out of memory");
	x.mr_ctl =
		mr_open(x.ctl, len, FI_SEND | FI_RECV, x.info->domain_attr->mr_mode & FI_MR_LOCAL);
	for (i = 0; i < XFER_CTL_RECVS; i++)
		ctl_post(i);
}

void buffers_open(void)
{
	bool local = x.info->domain_attr->mr_mode & FI_MR_LOCAL, write = x.mode == MODE_WRITE;
	size_t len;
	unsigned int i;

	for (i = 0; i < x.nsizes; i++) {
		if (x.last[i] > x.max_size)
			x.max_size = x.last[i];
	}
	if (x.max_size > x.info->ep_attr->max_msg_size)
		die(EXIT_BAD, "size %" PRIu64 " is above the provider's max_msg_size %zu",
		    x.max_size, x.info->ep_attr->max_msg_size);
	len = x.max_size ? x.max_size : 1;
	x.tx = guarded_alloc(x.max_size);
	x.rx = guarded_alloc(x.max_size);
	x.mr_tx = mr_open(x.tx, len, FI_SEND | FI_WRITE, local);
	x.mr_rx = mr_open(x.rx, len, FI_RECV | (write ? FI_REMOTE_WRITE : 0), local || write);
}

static void peer_add(const void *addr)
{
	int ret = fi_av_insert(x.av, addr, 1, &x.peer, 0, NULL);

	if (ret != 1)
		die(EXIT_BAD, "fi_av_insert: %s", ret < 0 ? fi_strerror(-ret) : "address refused");
}

/* The client's first control message carries its address and the whole plan. */
void hello_send(void)
{
	struct ctl_msg *m = &x.ctl[XFER_CTL_RECVS];
	size_t len = sizeof(m->u.hello.name);

	snprintf(x.doing, sizeof(x.doing), "waiting for the server at %.40s:%.8s", x.node, x.port);
	if (!x.info->dest_addr)
		die(EXIT_BAD, "the provider did not resolve %s:%s", x.node, x.port);
	peer_add(x.info->dest_addr);
	memset(m, 0, sizeof(*m));
	CHECK(fi_getname(&x.ep->fid, m->u.hello.name, &len), "fi_getname: %s");
	m->u.hello.namelen = (uint32_t)len;
	m->u.hello.seed = x.seed;
	m->u.hello.mode = x.mode;
	m->u.hello.nsizes = x.nsizes;
	m->u.hello.iters = x.iters;
	m->u.hello.warm = x.warm;
	m->u.hello.oneway = x.oneway;
	memcpy(m->u.hello.size, x.size, sizeof(x.size));
	memcpy(m->u.hello.last, x.last, sizeof(x.last));
	ctl_send(CTL_HELLO, 0);
	ctl_wait(CTL_HELLO, 0);
}

void hello_wait(void)
{
	struct ctl_msg m;
	unsigned int i;

	snprintf(x.doing, sizeof(x.doing), "waiting for a client on port %s", x.port);
	m = ctl_wait(CTL_HELLO, 0);
	if (m.u.hello.mode > MODE_WRITE || m.u.hello.nsizes > XFER_MAX_SIZES ||
	    m.u.hello.iters > XFER_MAX_ITERS || m.u.hello.warm > XFER_MAX_ITERS ||
	    m.u.hello.namelen > XFER_MAX_NAME)
		die(EXIT_BAD, "the client's HELLO makes no sense (another version of sdr_xfer?)");
	if (x.mode_given && x.mode != (enum xfer_mode)m.u.hello.mode)
		die(EXIT_BAD, "this server was started for -m %s, the client wants %s",
		    xfer_mode_name[x.mode], xfer_mode_name[m.u.hello.mode]);
	x.mode = (enum xfer_mode)m.u.hello.mode;
	x.seed = m.u.hello.seed;
	x.nsizes = m.u.hello.nsizes;
	x.iters = m.u.hello.iters;
	x.warm = m.u.hello.warm;
	x.oneway = m.u.hello.oneway;
	memcpy(x.size, m.u.hello.size, sizeof(x.size));
	memcpy(x.last, m.u.hello.last, sizeof(x.last));
	for (i = 0; i < x.nsizes; i++) {
		if (x.iters && !entry_messages(i))
			die(EXIT_BAD, "the client's HELLO makes no sense (sizes)");
	}
	peer_add(m.u.hello.name);
	ctl_send(CTL_HELLO, 0);
}

void fabric_close(void)
{
	struct fid *fid[] = {
		x.ep ? &x.ep->fid : NULL,	  x.mr_ctl ? &x.mr_ctl->fid : NULL,
		x.mr_tx ? &x.mr_tx->fid : NULL,	  x.mr_rx ? &x.mr_rx->fid : NULL,
		x.cq ? &x.cq->fid : NULL,	  x.av ? &x.av->fid : NULL,
		x.domain ? &x.domain->fid : NULL, x.fabric ? &x.fabric->fid : NULL,
	};
	size_t i;

	for (i = 0; i < sizeof(fid) / sizeof(fid[0]); i++) {
		if (fid[i])
			CHECK(fi_close(fid[i]), "fi_close of object %zu: %s", i);
	}
	fi_freeinfo(x.info);
	free(x.ctl);
	free(x.tx - PATTERN_GUARD);
	free(x.rx - PATTERN_GUARD);
}
