/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Leave to write, as the operations grant and grant_end give and end it, by the way that the engine
 * was opened with (v->keys).  A grant of no bytes has no key.  Receives are there before the grant
 * is known to the peer, as its data may come before their slot is bound.
 */
#include <errno.h>
#include <string.h>

#include "sdr_verbs_impl.h"

int sdr_verbs_key_wait(struct sdr_verbs *v, struct ibv_cq *cq)
{
	uint64_t until = sdr_verbs_now(&v->uc) + SDR_VERBS_KEY_NS;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc))) {
		if (sdr_verbs_now(&v->uc) > until) {
			sdr_verbs_break(v, -ETIMEDOUT,
					"the device did not set a key within a second (dmesg)");
			return -ETIMEDOUT;
		}
	}
	return n < 0 || wc.status != IBV_WC_SUCCESS ? -EIO : 0;
}

/* Of a grant of no bytes: there is no key, and devices check none. */
static char sdr_verbs_nothing;

int sdr_verbs_grant(struct sdr_uc_qp *qp, void *buf, size_t len, const struct sdr_mem *mem,
		    void *mr, struct sdr_uc_grant *g)
{
	const struct sdr_verbs_range r = { buf, len, mem, NULL };
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);
	uint32_t i;
	int ret;

	(void)mr; /* found by its range */
	memset(g, 0, sizeof(*g));
	/* The data may be here before their slot is bound. */
	for (i = 0; i < q->ntp; i++)
		sdr_verbs_tp_ready(&q->tp[i]);
	if (len) {
		ret = q->v->keys->grant(q->v, &r, g);
		if (ret)
			return ret;
	} else {
		g->impl = &sdr_verbs_nothing;
	}
	q->v->st.grants++;
	sdr_verbs_qp_expect(q, 1);
	return 0;
}

void sdr_verbs_grant_end(struct sdr_uc_qp *qp, struct sdr_uc_grant *g)
{
	struct sdr_verbs_qp *q = sdr_verbs_qp_of(qp);

	if (g->impl != &sdr_verbs_nothing && !sdr_verbs_pd_foreign(q->v->pd))
		q->v->keys->end(q->v, g);
	g->impl = NULL;
	sdr_verbs_qp_expect(q, -1);
}
