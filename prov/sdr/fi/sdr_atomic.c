/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_ATOMIC on a reliable endpoint: the thirteen calls of fi_ops_atomic.  Operands, values to
 * compare with and results may be scattered; the remote side is one contiguous range
 * (rma_iov_limit 1) of as many elements.  Operands and compare values are copied before a call
 * returns; where each lies is what its descriptors say.  Which operations there are, and their
 * names below, is in sdr_atomic_map.c.
 */
#include <stdbool.h>

#include "sdr_atomic_map.h"
#include "sdr_ep.h"
#include "sdr_post.h"
#include "sdr_prov.h"

struct sdr_iocs {
	const struct fi_ioc *v;
	size_t n;
	void *const *desc; /* n of them, or NULL */
};

struct sdr_atomic_call {
	uint8_t form; /* enum sdr_atomic_form */
	bool inject;  /* fi_inject_atomic */
	struct sdr_iocs in, cmp, res;
	fi_addr_t peer;
	uint64_t addr, key;
	enum fi_datatype datatype;
	enum fi_op op;
	void *context;
	uint64_t flags;
};

/* Elements; SIZE_MAX: more than there can be. */
static size_t sdr_iocs_count(const struct sdr_iocs *c)
{
	size_t i, sum = 0;

	for (i = 0; i < c->n; i++) {
		if (c->v[i].count > SDR_REL_ATOMIC_MAX)
			return SIZE_MAX;
		sum += c->v[i].count;
	}
	return sum;
}

static uint8_t sdr_iocs_copy(struct sdr_rel_iov *to, const struct sdr_iocs *from, size_t size)
{
	size_t i;

	for (i = 0; i < from->n; i++)
		to[i] = (struct sdr_rel_iov){ from->v[i].addr, from->v[i].count * size };
	return (uint8_t)from->n;
}

static ssize_t sdr_atomic_post(struct fid_ep *fid, const struct sdr_atomic_call *c)
{
	struct sdr_ep *ep = container_of(fid, struct sdr_ep, fid);
	struct sdr_rel_iov in[SDR_REL_IOV_MAX], cmp[SDR_REL_IOV_MAX], res[SDR_REL_IOV_MAX];
	struct sdr_rel_atomic a = { .form = c->form, .cmp = cmp, .res = res };
	struct sdr_rel_wr wr = { .kind = c->form == SDR_ATOMIC_UPDATE ? SDR_REL_ATOMIC
								      : SDR_REL_FETCH_ATOMIC,
				 .iov = in,
				 .rma_addr = c->addr,
				 .rma_key = c->key,
				 .atomic = &a,
				 .ctx = c->context };
	size_t size = sdr_atomic_map(c->datatype, c->op, &a);
	bool reads = a.op == SDR_ATOMIC_READ; /* its operands are ignored */
	size_t count, n = reads ? 0 : c->in.n;
	int ret;

	if (!size || (c->flags & FI_TAGGED))
		return -FI_EOPNOTSUPP;
	if (n > SDR_REL_IOV_MAX || c->cmp.n > SDR_REL_IOV_MAX || c->res.n > SDR_REL_IOV_MAX)
		return -FI_EINVAL;
	count = sdr_iocs_count(reads ? &c->res : &c->in);
	if (count > SDR_REL_ATOMIC_MAX / size)
		return -FI_EMSGSIZE;
	if ((c->form == SDR_ATOMIC_COMPARE && sdr_iocs_count(&c->cmp) != count) ||
	    (c->form != SDR_ATOMIC_UPDATE && sdr_iocs_count(&c->res) != count))
		return -FI_EINVAL;
	a.count = (uint32_t)count;
	if (!reads)
		wr.niov = sdr_iocs_copy(in, &c->in, size);
	a.ncmp = sdr_iocs_copy(cmp, &c->cmp, size);
	a.nres = sdr_iocs_copy(res, &c->res, size);
	if (ep->hmem && ((ret = sdr_post_mem(cmp, a.ncmp, c->cmp.desc, &a.cmp_mem)) ||
			 (ret = sdr_post_mem(res, a.nres, c->res.desc, &a.res_mem))))
		return ret;
	if (c->inject)
		return sdr_ep_post_inject(ep, &wr, c->peer, 0);
	return sdr_ep_post(ep, &wr, c->peer, c->flags & ~FI_REMOTE_CQ_DATA, c->in.desc);
}

/* Flags of a call without them; what comes back is not constant data, and is not injected. */
static uint64_t sdr_atomic_flags(struct fid_ep *fid, uint8_t form)
{
	uint64_t flags = container_of(fid, struct sdr_ep, fid)->tx_flags;

	return form == SDR_ATOMIC_UPDATE ? flags : flags & ~FI_INJECT;
}

/* What a message says, but for the values to compare with and where results go. */
static ssize_t sdr_atomic_msg(struct fid_ep *fid, const struct fi_msg_atomic *msg, uint64_t flags,
			      struct sdr_atomic_call *c)
{
	const struct sdr_iocs *elements = msg->op == FI_ATOMIC_READ ? &c->res : &c->in;

	c->in = (struct sdr_iocs){ msg->msg_iov, msg->iov_count, msg->desc };
	if (msg->rma_iov_count != 1 || elements->n > SDR_REL_IOV_MAX ||
	    sdr_iocs_count(elements) != msg->rma_iov->count)
		return -FI_EINVAL;
	c->peer = msg->addr;
	c->addr = msg->rma_iov->addr;
	c->key = msg->rma_iov->key;
	c->datatype = msg->datatype;
	c->op = msg->op;
	c->context = msg->context;
	c->flags = flags | container_of(fid, struct sdr_ep, fid)->tx_msg_flags;
	return sdr_atomic_post(fid, c);
}

/* ---- update ---------------------------------------------------------------------------------- */

static ssize_t sdr_atomic_writev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
				 size_t count, fi_addr_t dest, uint64_t addr, uint64_t key,
				 enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct sdr_atomic_call c = { .form = SDR_ATOMIC_UPDATE,
				     .in = { iov, count, desc },
				     .peer = dest,
				     .addr = addr,
				     .key = key,
				     .datatype = datatype,
				     .op = op,
				     .context = context,
				     .flags = sdr_atomic_flags(fid, SDR_ATOMIC_UPDATE) };

	return sdr_atomic_post(fid, &c);
}

static ssize_t sdr_atomic_write(struct fid_ep *fid, const void *buf, size_t count, void *desc,
				fi_addr_t dest, uint64_t addr, uint64_t key,
				enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct fi_ioc iov = { (void *)(uintptr_t)buf, count };

	return sdr_atomic_writev(fid, &iov, &desc, 1, dest, addr, key, datatype, op, context);
}

static ssize_t sdr_atomic_writemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				   uint64_t flags)
{
	struct sdr_atomic_call c = { .form = SDR_ATOMIC_UPDATE };

	return sdr_atomic_msg(fid, msg, flags, &c);
}

static ssize_t sdr_atomic_inject(struct fid_ep *fid, const void *buf, size_t count, fi_addr_t dest,
				 uint64_t addr, uint64_t key, enum fi_datatype datatype,
				 enum fi_op op)
{
	struct fi_ioc iov = { (void *)(uintptr_t)buf, count };
	struct sdr_atomic_call c = { .form = SDR_ATOMIC_UPDATE,
				     .inject = true,
				     .in = { &iov, 1, NULL },
				     .peer = dest,
				     .addr = addr,
				     .key = key,
				     .datatype = datatype,
				     .op = op };

	return sdr_atomic_post(fid, &c);
}

/* ---- fetch ----------------------------------------------------------------------------------- */

static ssize_t sdr_atomic_fetchv(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
				 size_t count, struct fi_ioc *res, void **res_desc,
				 size_t res_count, fi_addr_t dest, uint64_t addr, uint64_t key,
				 enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct sdr_atomic_call c = { .form = SDR_ATOMIC_FETCH,
				     .in = { iov, count, desc },
				     .res = { res, res_count, res_desc },
				     .peer = dest,
				     .addr = addr,
				     .key = key,
				     .datatype = datatype,
				     .op = op,
				     .context = context,
				     .flags = sdr_atomic_flags(fid, SDR_ATOMIC_FETCH) };

	return sdr_atomic_post(fid, &c);
}

static ssize_t sdr_atomic_fetch(struct fid_ep *fid, const void *buf, size_t count, void *desc,
				void *res, void *res_desc, fi_addr_t dest, uint64_t addr,
				uint64_t key, enum fi_datatype datatype, enum fi_op op,
				void *context)
{
	struct fi_ioc in = { (void *)(uintptr_t)buf, count }, out = { res, count };

	return sdr_atomic_fetchv(fid, &in, &desc, 1, &out, &res_desc, 1, dest, addr, key, datatype,
				 op, context);
}

static ssize_t sdr_atomic_fetchmsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				   struct fi_ioc *res, void **res_desc, size_t res_count,
				   uint64_t flags)
{
	struct sdr_atomic_call c = { .form = SDR_ATOMIC_FETCH,
				     .res = { res, res_count, res_desc } };

	return sdr_atomic_msg(fid, msg, flags, &c);
}

/* ---- compare --------------------------------------------------------------------------------- */

static ssize_t sdr_atomic_comparev(struct fid_ep *fid, const struct fi_ioc *iov, void **desc,
				   size_t count, const struct fi_ioc *cmp, void **cmp_desc,
				   size_t cmp_count, struct fi_ioc *res, void **res_desc,
				   size_t res_count, fi_addr_t dest, uint64_t addr, uint64_t key,
				   enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct sdr_atomic_call c = { .form = SDR_ATOMIC_COMPARE,
				     .in = { iov, count, desc },
				     .cmp = { cmp, cmp_count, cmp_desc },
				     .res = { res, res_count, res_desc },
				     .peer = dest,
				     .addr = addr,
				     .key = key,
				     .datatype = datatype,
				     .op = op,
				     .context = context,
				     .flags = sdr_atomic_flags(fid, SDR_ATOMIC_COMPARE) };

	return sdr_atomic_post(fid, &c);
}

static ssize_t sdr_atomic_compare(struct fid_ep *fid, const void *buf, size_t count, void *desc,
				  const void *cmp, void *cmp_desc, void *res, void *res_desc,
				  fi_addr_t dest, uint64_t addr, uint64_t key,
				  enum fi_datatype datatype, enum fi_op op, void *context)
{
	struct fi_ioc in = { (void *)(uintptr_t)buf, count };
	struct fi_ioc with = { (void *)(uintptr_t)cmp, count }, out = { res, count };

	return sdr_atomic_comparev(fid, &in, &desc, 1, &with, &cmp_desc, 1, &out, &res_desc, 1,
				   dest, addr, key, datatype, op, context);
}

static ssize_t sdr_atomic_comparemsg(struct fid_ep *fid, const struct fi_msg_atomic *msg,
				     const struct fi_ioc *cmp, void **cmp_desc, size_t cmp_count,
				     struct fi_ioc *res, void **res_desc, size_t res_count,
				     uint64_t flags)
{
	struct sdr_atomic_call c = { .form = SDR_ATOMIC_COMPARE,
				     .cmp = { cmp, cmp_count, cmp_desc },
				     .res = { res, res_count, res_desc } };

	return sdr_atomic_msg(fid, msg, flags, &c);
}

/* ---- what there is --------------------------------------------------------------------------- */

static int sdr_atomic_valid(enum fi_datatype datatype, enum fi_op op, size_t *count, uint64_t form)
{
	struct fi_atomic_attr attr;
	int ret = sdr_atomic_query(NULL, datatype, op, &attr, form);

	if (!ret && count)
		*count = attr.count;
	return ret;
}

static int sdr_atomic_writevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
				 size_t *count)
{
	(void)fid;
	return sdr_atomic_valid(datatype, op, count, 0);
}

static int sdr_atomic_fetchvalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
				 size_t *count)
{
	(void)fid;
	return sdr_atomic_valid(datatype, op, count, FI_FETCH_ATOMIC);
}

static int sdr_atomic_comparevalid(struct fid_ep *fid, enum fi_datatype datatype, enum fi_op op,
				   size_t *count)
{
	(void)fid;
	return sdr_atomic_valid(datatype, op, count, FI_COMPARE_ATOMIC);
}

struct fi_ops_atomic sdr_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = sdr_atomic_write,
	.writev = sdr_atomic_writev,
	.writemsg = sdr_atomic_writemsg,
	.inject = sdr_atomic_inject,
	.readwrite = sdr_atomic_fetch,
	.readwritev = sdr_atomic_fetchv,
	.readwritemsg = sdr_atomic_fetchmsg,
	.compwrite = sdr_atomic_compare,
	.compwritev = sdr_atomic_comparev,
	.compwritemsg = sdr_atomic_comparemsg,
	.writevalid = sdr_atomic_writevalid,
	.readwritevalid = sdr_atomic_fetchvalid,
	.compwritevalid = sdr_atomic_comparevalid,
};
