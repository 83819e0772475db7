/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Counters: how many operations have ended, well and badly.
 *
 * Two atomic values; reading them drives the bound endpoints, or where a region is bound all of the
 * domain.  A wait returns when the value has reached the threshold, when an error was counted since
 * it began, or when time is up.
 */
#include <errno.h>
#include <stdlib.h>

#include "sdr_cntr.h"
#include "sdr_cntr_peer.h"
#include "sdr_domain.h"
#include "sdr_enosys.h"
#include "sdr_prov.h"

static void sdr_cntr_count(struct sdr_cntr *cntr, bool error)
{
	atomic_fetch_add(error ? &cntr->err : &cntr->val, 1);
	sdr_wait_raise(&cntr->wait);
}

/* What a reader waits for: another value than it has read last. */
struct sdr_cntr_side {
	_Atomic uint64_t *what, *last;
};

static bool cntr_news(void *of)
{
	const struct sdr_cntr_side *side = of;

	return atomic_load(side->what) != atomic_load(side->last);
}

/* Who reads what it has read before spins. */
static uint64_t sdr_cntr_look(struct sdr_cntr *cntr, _Atomic uint64_t *what, _Atomic uint64_t *last)
{
	bool worked = sdr_pset_progress(&cntr->eps);
	uint64_t v = atomic_load_explicit(what, memory_order_acquire);
	bool news = v != atomic_load_explicit(last, memory_order_relaxed);
	struct sdr_cntr_side side = { what, last };

	if (sdr_yield_read(&cntr->yield, worked || news)) {
		sdr_pset_rest(&cntr->eps, &cntr->yield, cntr_news, &side);
		v = atomic_load_explicit(what, memory_order_acquire);
		news = cntr_news(&side);
	}
	if (news)
		atomic_store_explicit(last, v, memory_order_relaxed);
	return v;
}

static uint64_t sdr_cntr_read(struct fid_cntr *fid)
{
	struct sdr_cntr *cntr = container_of(fid, struct sdr_cntr, fid);

	return sdr_cntr_look(cntr, &cntr->val, &cntr->last_val);
}

static uint64_t sdr_cntr_readerr(struct fid_cntr *fid)
{
	struct sdr_cntr *cntr = container_of(fid, struct sdr_cntr, fid);

	return sdr_cntr_look(cntr, &cntr->err, &cntr->last_err);
}

static int sdr_cntr_add(struct fid_cntr *fid, uint64_t value)
{
	struct sdr_cntr *cntr = container_of(fid, struct sdr_cntr, fid);

	atomic_fetch_add(&cntr->val, value);
	sdr_wait_raise(&cntr->wait);
	return 0;
}

static int sdr_cntr_set(struct fid_cntr *fid, uint64_t value)
{
	struct sdr_cntr *cntr = container_of(fid, struct sdr_cntr, fid);

	atomic_store(&cntr->val, value);
	sdr_wait_raise(&cntr->wait);
	return 0;
}

static int sdr_cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
	struct sdr_cntr *cntr = container_of(fid, struct sdr_cntr, fid);

	atomic_fetch_add(&cntr->err, value);
	sdr_wait_raise(&cntr->wait);
	return 0;
}

static int sdr_cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	struct sdr_cntr *cntr = container_of(fid, struct sdr_cntr, fid);

	atomic_store(&cntr->err, value);
	sdr_wait_raise(&cntr->wait);
	return 0;
}

static int sdr_cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct sdr_cntr *cntr = container_of(fid, struct sdr_cntr, fid);
	uint64_t until = timeout < 0 ? UINT64_MAX : sdr_mono_ns() + (uint64_t)timeout * 1000000ull;
	uint64_t errors = atomic_load(&cntr->err);
	struct sdr_sleeper *s;
	bool busy;
	int ret;

	sdr_pset_progress(&cntr->eps);
	if (atomic_load(&cntr->val) >= threshold)
		return 0;
	ret = sdr_pset_enter(&cntr->eps, &s);
	if (ret)
		return ret;
	for (;;) {
		sdr_wait_awake(&cntr->wait, s);
		busy = sdr_pset_look(&cntr->eps);
		ret = 0;
		if (atomic_load(&cntr->val) >= threshold)
			break;
		ret = -FI_EAVAIL;
		if (atomic_load(&cntr->err) != errors)
			break;
		ret = -FI_ETIMEDOUT;
		if (until != UINT64_MAX && sdr_mono_ns() >= until)
			break;
		ret = busy ? 0 : sdr_wait_sleep(&cntr->wait, s, until);
		if (ret)
			break;
	}
	sdr_pset_leave(&cntr->eps, s);
	return ret;
}

int sdr_cntr_trywait(struct sdr_cntr *cntr)
{
	uint64_t val, err;
	bool busy;

	sdr_pset_progress(&cntr->eps);
	val = atomic_load(&cntr->val);
	err = atomic_load(&cntr->err);
	if (val != cntr->polled_val || err != cntr->polled_err) {
		cntr->polled_val = val;
		cntr->polled_err = err;
		return -FI_EAGAIN;
	}
	sdr_wait_drain(&cntr->wait);
	busy = cntr->wait.obj == FI_WAIT_FD && sdr_pset_handover(&cntr->eps);
	if (atomic_load(&cntr->val) != val || atomic_load(&cntr->err) != err) {
		sdr_wait_raise(&cntr->wait);
		return -FI_EAGAIN;
	}
	return busy ? -FI_EAGAIN : 0;
}

static int sdr_cntr_close(struct fid *fid)
{
	struct sdr_cntr *cntr = container_of(fid, struct sdr_cntr, fid.fid);

	if (atomic_load(&cntr->refs) || atomic_load(&cntr->wait.sleepers))
		return -FI_EBUSY;
	sdr_domain_cntr_del(cntr->dom, cntr);
	sdr_wait_fini(&cntr->wait);
	sdr_pset_fini(&cntr->eps);
	atomic_fetch_sub(&cntr->dom->refs, 1);
	free(cntr);
	return 0;
}

static int sdr_cntr_control(struct fid *fid, int command, void *arg)
{
	return sdr_wait_control(&container_of(fid, struct sdr_cntr, fid.fid)->wait, command, arg);
}

static struct fi_ops sdr_cntr_fi_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_cntr_close,
	.bind = sdr_no_bind,
	.control = sdr_cntr_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_no_tostr,
	.ops_set = sdr_no_ops_set,
};

static struct fi_ops_cntr sdr_cntr_ops = {
	.size = sizeof(struct fi_ops_cntr),
	.read = sdr_cntr_read,
	.readerr = sdr_cntr_readerr,
	.add = sdr_cntr_add,
	.set = sdr_cntr_set,
	.wait = sdr_cntr_wait,
	.adderr = sdr_cntr_adderr,
	.seterr = sdr_cntr_seterr,
};

int sdr_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **fid,
		  void *context)
{
	struct sdr_domain *dom = container_of(domain, struct sdr_domain, fid);
	bool peer = attr && (attr->flags & FI_PEER);
	struct sdr_cntr *cntr;
	int ret;

	if (attr && attr->events != FI_CNTR_EVENTS_COMP)
		return -FI_ENOSYS;
	if (attr && (attr->flags & ~FI_PEER))
		return -FI_EBADFLAGS;
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return -FI_ENOMEM;
	cntr->bump = sdr_cntr_count;
	cntr->fid.ops = &sdr_cntr_ops;
	ret = peer ? sdr_cntr_import(cntr, context) : 0;
	if (!ret)
		ret = sdr_wait_init(&cntr->wait,
				    peer   ? FI_WAIT_NONE
				    : attr ? attr->wait_obj
					   : FI_WAIT_UNSPEC,
				    dom);
	if (!ret) {
		ret = sdr_wait_drives(&cntr->wait);
		if (ret)
			sdr_wait_fini(&cntr->wait);
	}
	if (ret) {
		free(cntr);
		return ret;
	}
	sdr_pset_init(&cntr->eps, &cntr->wait);
	cntr->dom = dom;
	atomic_fetch_add(&dom->refs, 1);
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &sdr_cntr_fi_ops;
	*fid = &cntr->fid;
	return 0;
}
