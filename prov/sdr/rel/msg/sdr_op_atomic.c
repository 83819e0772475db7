/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Atomics on memory of the peer, and their answers.
 *
 * Operands and compare values are copied when it is posted, so an atomic never goes as bulk.  What
 * is more than a record carries goes as several operations (struct sdr_op_parts): each names the
 * whole range, so that a wrong key refuses them all, and when all are answered an ATOMIC_END tells
 * the target that the whole is done, for its counters.  Without old values DONE answers; with them
 * an operation of the target's (ATOMIC_SERVE), which keeps them until its record is acknowledged.
 *
 * The target carries a record out when it comes, once: records come once.  Key, range, alignment
 * and memory for the answer are checked before; one that is refused has changed nothing.  Memory
 * that the CPU does not reach is copied, changed here and copied back, with all others kept away
 * meanwhile; when the way back fails, what has become of it is not known.  In which order the
 * atomics of a peer are carried out is sdr_follow.c's matter.
 */
#include <errno.h>
#include <string.h>
#include "base/sdr_assert.h"
#include "rel/conn/sdr_rec.h"
#include "sdr_atomic_exec.h"
#include "sdr_follow.h"
#include "sdr_op.h"
#include "sdr_remote.h"

/* ---- posting --------------------------------------------------------------------------------- */

static uint64_t iov_len(const struct sdr_rel_iov *v, uint32_t n)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < n; i++)
		len += v[i].len;
	return len;
}

/* The part [from, from + len) of a vector; returns how many pieces. */
static uint8_t iov_cut(const struct sdr_rel_iov *v, uint32_t n, uint64_t from, uint64_t len,
		       struct sdr_rel_iov *out)
{
	uint8_t k = 0;

	for (uint32_t i = 0; i < n && len; from -= from < v[i].len ? from : v[i].len, i++) {
		uint64_t take = v[i].len > from ? v[i].len - from : 0;

		if (take > len)
			take = len;
		if (!take)
			continue;
		out[k++] = (struct sdr_rel_iov){ (uint8_t *)v[i].buf + from, take };
		len -= take;
	}
	SDR_ASSERT(!len);
	return k;
}

/* Copies that part to *to, which moves on; 0 or -EIO. */
static int iov_read(uint8_t **to, const struct sdr_mem *mem, const struct sdr_rel_iov *v,
		    uint32_t n, uint64_t from, uint64_t len)
{
	struct sdr_rel_iov cut[SDR_REL_IOV_MAX];
	uint8_t k = iov_cut(v, n, from, len, cut);

	for (uint8_t i = 0; i < k; i++) {
		if (sdr_mem_get(mem, *to, cut[i].buf, cut[i].len))
			return -EIO;
		*to += cut[i].len;
	}
	return 0;
}

/* Elements that a record carries. */
static uint32_t atomic_step(const struct sdr_rel_atomic *a)
{
	uint32_t size = sdr_atomic_size(a->type);
	uint32_t each = sdr_atomic_carries(a->op, a->form, size);

	return SDR_ATOMIC_PART / (each > size ? each : size);
}

static int atomic_split(const struct sdr_rel_wr *wr)
{
	const struct sdr_rel_atomic *a = wr->atomic;
	uint32_t size, step;
	uint64_t len;

	if (!a || a->ncmp > SDR_REL_IOV_MAX || a->nres > SDR_REL_IOV_MAX ||
	    (a->form == SDR_ATOMIC_UPDATE) != (wr->kind == SDR_REL_ATOMIC))
		return -EINVAL;
	if (!sdr_atomic_goes(a->op, a->form) || !sdr_atomic_does(a->op, a->type))
		return -EOPNOTSUPP;
	size = sdr_atomic_size(a->type);
	if (a->count > SDR_REL_ATOMIC_MAX / size)
		return -EMSGSIZE;
	len = (uint64_t)a->count * size;
	if (!len || (a->op != SDR_ATOMIC_READ && iov_len(wr->iov, wr->niov) != len) ||
	    (a->form == SDR_ATOMIC_COMPARE && iov_len(a->cmp, a->ncmp) != len) ||
	    (a->form != SDR_ATOMIC_UPDATE && iov_len(a->res, a->nres) != len))
		return -EINVAL;
	step = atomic_step(a);
	return (int)((a->count + step - 1) / step);
}

static int atomic_make(struct sdr_op *op, const struct sdr_rel_wr *wr, uint32_t i)
{
	const struct sdr_rel_atomic *a = wr->atomic;
	uint32_t size = sdr_atomic_size(a->type), step = atomic_step(a), first = i * step;
	uint32_t count = a->count - first < step ? a->count - first : step;
	struct sdr_atomic h = {
		.op = a->op, .type = a->type, .form = a->form, .count = count, .first = first
	};
	uint64_t from = (uint64_t)first * size, len = (uint64_t)count * size;
	uint8_t *p;

	op->copy_pool = &op->peer->rel->msg->atomic_pool;
	op->copy = p = sdr_slab_alloc(op->copy_pool);
	if (!p) {
		op->copy_pool = NULL;
		return -ENOMEM;
	}
	sdr_atomic_put(p, &h);
	p += SDR_ATOMIC_HDR;
	if ((a->op != SDR_ATOMIC_READ && iov_read(&p, wr->mem, wr->iov, wr->niov, from, len)) ||
	    (a->form == SDR_ATOMIC_COMPARE && iov_read(&p, a->cmp_mem, a->cmp, a->ncmp, from, len)))
		return -EIO;
	op->len = (uint64_t)(p - op->copy);
	op->moved = len;
	op->reach = (uint64_t)a->count * size;
	if (a->form != SDR_ATOMIC_UPDATE) {
		op->niov = iov_cut(a->res, a->nres, from, len, op->iov);
		op->mem = a->res_mem;
		/* it is over when the old values are here, and not before */
		op->flags &= ~(SDR_REL_F_INJECT | SDR_REL_F_EARLY);
	}
	return 0;
}

static int atomic_fill(struct sdr_op *op, struct sdr_frame_rec *f, bool fits)
{
	SDR_ASSERT(fits); /* SDR_ATOMIC_PART: every path carries it */
	(void)fits;
	f->addr = op->rma_addr;
	f->key = op->rma_key;
	f->flags |= SDR_REC_F_RMA;
	if (op->parts) {
		f->flags |= SDR_REC_F_LEN;
		f->len = op->parts->whole;
	}
	return SDR_REL_OK;
}

/* For the target's counters: it has seen parts only. */
static void atomic_joined(struct sdr_op *op, uint64_t whole)
{
	struct sdr_conn *c = op->conn;
	struct sdr_rec *r = sdr_rec_new(c, SDR_REC_ATOMIC_END, op->wire_id);

	if (!r) {
		sdr_conn_fail(c, SDR_REL_ERR_NOMEM);
		return;
	}
	r->f.flags = SDR_REC_F_RMA | SDR_REC_F_LEN | SDR_REC_F_TAG;
	r->f.addr = op->rma_addr;
	r->f.key = op->rma_key;
	r->f.len = whole;
	r->f.tag = op->kind->number == SDR_REL_ATOMIC ? SDR_ATOMIC_UPDATE : SDR_ATOMIC_FETCH;
	sdr_rec_queue(c, r);
}

static bool atomic_complete(const struct sdr_op *op)
{
	return op->got_done;
}

static bool fetch_complete(const struct sdr_op *op)
{
	return op->data_in;
}

const struct sdr_op_kind sdr_op_atomic = {
	.name = "atomic",
	.number = SDR_REL_ATOMIC,
	.classes = SDR_ORDER_BIT(SDR_ORDER_UPDATE),
	.rec = SDR_REC_ATOMIC,
	.feature = SDR_FEATURE_ATOMIC,
	.split = atomic_split,
	.load = atomic_make,
	.joined = atomic_joined,
	.fill = atomic_fill,
	.complete = atomic_complete,
};

const struct sdr_op_kind sdr_op_fetch_atomic = {
	.name = "fetch_atomic",
	.number = SDR_REL_FETCH_ATOMIC,
	/* it reads, and most of them change what they read */
	.classes = SDR_ORDER_BIT(SDR_ORDER_FETCH) | SDR_ORDER_BIT(SDR_ORDER_UPDATE),
	.rec = SDR_REC_ATOMIC,
	.feature = SDR_FEATURE_ATOMIC,
	.split = atomic_split,
	.load = atomic_make,
	.joined = atomic_joined,
	.fill = atomic_fill,
	.complete = fetch_complete,
};

/* ---- at the target --------------------------------------------------------------------------- */

static bool serve_complete(const struct sdr_op *op)
{
	return op->rec.acked;
}

const struct sdr_op_kind sdr_op_atomic_serve = {
	.name = "atomic_serve",
	.rec = SDR_REC_ATOMIC_RSP,
	.served = true,
	.complete = serve_complete,
};

/* An answer with room for so many bytes.  NULL: no memory, or too many of them. */
static struct sdr_op *serve_new(struct sdr_conn *c, const struct sdr_frame_rec *f, uint64_t len)
{
	struct sdr_slab *pool = &c->rel->msg->atomic_pool;
	uint8_t *old = sdr_slab_alloc(pool);
	struct sdr_op *op = old ? sdr_op_serve(c, &sdr_op_atomic_serve, f) : NULL;

	if (!op) {
		sdr_slab_free(pool, old);
		return NULL;
	}
	op->copy_pool = pool;
	op->copy = old;
	op->len = len;
	return op;
}

static uint32_t atomic_access(const struct sdr_atomic *a)
{
	uint32_t access = a->op != SDR_ATOMIC_READ ? SDR_REL_ACCESS_WRITE : 0;

	return access | SDR_REL_ACCESS_COPY |
	       (a->form != SDR_ATOMIC_UPDATE ? SDR_REL_ACCESS_READ : 0);
}

static void atomic_report(struct sdr_conn *c, uint8_t form, bool changed,
			  const struct sdr_frame_rec *f, void *va, uint64_t len)
{
	struct sdr_rel_cqe e = {
		.kind = form == SDR_ATOMIC_UPDATE ? SDR_REL_REMOTE_ATOMIC
						  : SDR_REL_REMOTE_FETCH_ATOMIC,
		.changed = changed,
		.len = len,
		.buf = va,
		.peer = c->peer,
		.key = f->key,
	};

	if (c->rel->msg->rma_events)
		c->rel->cbs->done(c->rel->user, &e);
}

/* On a copy of w->at, which lies in mem; enum sdr_rel_err. */
static int atomic_copied(struct sdr_atomic_work w, const struct sdr_mem *mem)
{
	size_t len = (size_t)w.count * sdr_atomic_size(w.type);
	_Alignas(SDR_ATOMIC_ALIGN) uint8_t copy[SDR_ATOMIC_PART];
	void *at = w.at;

	SDR_ASSERT(len <= sizeof(copy));
	if (sdr_mem_get(mem, copy, at, len))
		return SDR_REL_ERR_MEM;
	w.at = copy;
	sdr_atomic_exec(&w);
	return w.op != SDR_ATOMIC_READ && sdr_mem_put(mem, at, copy, len) ? SDR_REL_ERR_MEM
									  : SDR_REL_OK;
}

/* mem: where w->at lies.  enum sdr_rel_err. */
static int atomic_exec(struct sdr_rel *rel, const struct sdr_atomic_work *w,
		       const struct sdr_mem *mem)
{
	bool guard = rel->cbs->atomic_enter && (mem || !sdr_atomic_alone(w->type, w->at));
	int err = SDR_REL_OK;

	if (guard)
		rel->cbs->atomic_enter(rel->user);
	if (mem)
		err = atomic_copied(*w, mem);
	else
		sdr_atomic_exec(w);
	if (guard)
		rel->cbs->atomic_leave(rel->user);
	return err;
}

/* Where its elements lie, and in what.  whole: bytes of the range.  enum sdr_rel_err. */
static int atomic_find(struct sdr_conn *c, const struct sdr_frame_rec *f,
		       const struct sdr_atomic *a, uint64_t whole, uint8_t **at,
		       const struct sdr_mem **mem)
{
	uint32_t size = sdr_atomic_size(a->type);
	uint64_t from = (uint64_t)a->first * size, len = (uint64_t)a->count * size;
	void *va = NULL, *region = NULL;

	if (from > whole || len > whole - from)
		return SDR_REL_ERR_PROTO;
	if (c->rel->cbs->mr_get(c->rel->user, f->key, f->addr, whole, atomic_access(a), &va,
				&region))
		return SDR_REL_ERR_KEY;
	*at = (uint8_t *)va + from;
	*mem = sdr_remote_mem(c->rel, region);
	return (uintptr_t)va % sdr_atomic_align(a->type) ? SDR_REL_ERR_ALIGN : SDR_REL_OK;
}

static void atomic_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	const struct sdr_mem *mem = NULL;
	struct sdr_op *answer = NULL;
	struct sdr_atomic a;
	uint8_t *at = NULL;
	uint64_t len = 0, whole = 0;
	int err;

	if (!sdr_atomic_get(f->payload, f->payload_len, &a)) {
		err = SDR_REL_ERR_PROTO;
	} else if (!a.known || !sdr_atomic_does(a.op, a.type)) {
		err = SDR_REL_ERR_UNSUPPORTED;
	} else {
		len = (uint64_t)a.count * sdr_atomic_size(a.type);
		whole = f->flags & SDR_REC_F_LEN ? f->len : len;
		err = atomic_find(c, f, &a, whole, &at, &mem);
	}
	if (!err && a.form != SDR_ATOMIC_UPDATE) {
		answer = serve_new(c, f, len);
		err = answer ? SDR_REL_OK : SDR_REL_ERR_NOMEM;
	}
	if (!err)
		err = atomic_exec(c->rel,
				  &(struct sdr_atomic_work){
					  .op = a.op,
					  .type = a.type,
					  .count = a.count,
					  .at = at,
					  .in = a.in,
					  .cmp = a.cmp,
					  .old = answer ? answer->copy : NULL,
				  },
				  mem);
	if (err) {
		if (answer)
			sdr_op_unserve(answer);
		c->st.pkts_bad += err == SDR_REL_ERR_PROTO;
		c->st.atomics_refused++;
		sdr_done_send(c, f->id, err);
		sdr_follow_over(c, f);
		return;
	}
	c->st.atomics_rx++;
	if (answer)
		sdr_op_start(answer);
	else
		sdr_done_send(c, f->id, SDR_REL_OK);
	if (!(f->flags & SDR_REC_F_LEN)) /* else its parts are more than this */
		atomic_report(c, a.form, a.op != SDR_ATOMIC_READ, f, at, len);
	sdr_follow_over(c, f);
}

/*
 * A range that no peer may change cannot have been changed; which operation fetched or compared
 * the record does not say.
 */
static void end_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	uint32_t access = SDR_REL_ACCESS_COPY | (f->tag == SDR_ATOMIC_UPDATE ? SDR_REL_ACCESS_WRITE
									     : SDR_REL_ACCESS_READ);
	void *va = NULL, *region = NULL;
	bool changed;

	if (f->tag >= SDR_ATOMIC_FORMS) {
		c->st.pkts_bad++;
		return;
	}
	changed = !c->rel->cbs->mr_get(c->rel->user, f->key, f->addr, f->len,
				       access | SDR_REL_ACCESS_WRITE, &va, &region);
	if (changed ||
	    !c->rel->cbs->mr_get(c->rel->user, f->key, f->addr, f->len, access, &va, &region))
		atomic_report(c, (uint8_t)f->tag, changed, f, va, f->len);
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void rsp_input(struct sdr_conn *c, const struct sdr_frame_rec *f)
{
	struct sdr_op *op = sdr_op_find(c, f->id);

	if (!op || op->kind != &sdr_op_fetch_atomic || op->data_in)
		return; /* it ended here */
	if (!op->rec.sent || f->payload_len != op->moved) {
		c->st.pkts_bad++;
		if (op->rec.sent)
			sdr_op_end(op, sdr_rel_errno(SDR_REL_ERR_PROTO), SDR_REL_ERR_PROTO);
		return;
	}
	if (sdr_op_scatter(op, f->payload, f->payload_len)) {
		sdr_op_end(op, sdr_rel_errno(SDR_REL_ERR_MEM), SDR_REL_ERR_MEM);
		return;
	}
	op->data_in = true;
	sdr_op_advance(op);
}

const struct sdr_rec_kind sdr_rec_kind_atomic = {
	.name = "atomic",
	.feature = SDR_FEATURE_ATOMIC,
	.input = atomic_input,
};

const struct sdr_rec_kind sdr_rec_kind_atomic_rsp = {
	.name = "atomic_rsp",
	.feature = SDR_FEATURE_ATOMIC,
	.input = rsp_input,
};

const struct sdr_rec_kind sdr_rec_kind_atomic_end = {
	.name = "atomic_end",
	.feature = SDR_FEATURE_ATOMIC,
	.input = end_input,
};
