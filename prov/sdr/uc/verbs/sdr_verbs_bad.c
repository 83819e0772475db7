/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * QPs of which the device has disabled a queue pair.
 *
 * A completion with an error, a request that the device refuses, an event of a queue pair: the QP
 * is broken, and the engine is not.  A peer can bring it about (a SEND that no receive here has
 * room for), so it must not cost others anything.  Nothing is read from or written to a broken QP
 * any more, and what the device flushes from it is ignored.
 *
 * It is reported SDR_VERBS_FAIL_NS later: devices disable queue pairs, too, when their port goes
 * down, and say of the port a moment afterwards; then the whole engine breaks, with the cause that
 * helps.  In the order of failing: the first in the list is the first to be due.
 *
 * Workers find it out as well as the owner, and only mark the QP (`broke`): nobody reads from it
 * then, and the owner does the rest in its next poll.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sdr_verbs_impl.h"

void sdr_verbs_qp_break(struct sdr_verbs_qp *q, const char *what)
{
	struct sdr_verbs_qp **p;
	int none = SDR_VERBS_BROKE_NOT;

	if (q->failed_at)
		return;
	atomic_compare_exchange_strong(&q->broke, &none, SDR_VERBS_BROKE_SAID);
	q->failed_at = sdr_verbs_now(&q->v->uc);
	snprintf(q->failed, sizeof(q->failed), "%s", what);
	for (p = &q->v->bad; *p; p = &(*p)->bad_next)
		;
	q->bad_next = NULL;
	*p = q;
}

void sdr_verbs_qp_broke(struct sdr_verbs_qp *q, int why)
{
	int none = SDR_VERBS_BROKE_NOT;

	if (!atomic_compare_exchange_strong(&q->broke, &none, why))
		return;
	atomic_store(&q->v->broke, true);
	if (q->v->crew)
		sdr_verbs_crew_tell(q->v->crew);
}

void sdr_verbs_qp_broken(struct sdr_verbs *v)
{
	static const char *const said[SDR_VERBS_BROKE_STATUS] = {
		[SDR_VERBS_BROKE_RECEIVES] = "the device took no more receives",
		[SDR_VERBS_BROKE_POLL] = "polling a receive completion queue failed",
	};
	char words[96];
	uint32_t i;
	int why;

	atomic_store(&v->broke, false);
	for (i = 0; i < v->ntps; i++) {
		struct sdr_verbs_tp *t = v->tps[i];

		why = t && !t->q->failed_at ? atomic_load(&t->q->broke) : SDR_VERBS_BROKE_NOT;
		if (why <= SDR_VERBS_BROKE_SAID)
			continue;
		if (why >= SDR_VERBS_BROKE_STATUS)
			snprintf(words, sizeof(words), "a receive ended with \"%s\"",
				 v->ibv->wc_status_str(
					 (enum ibv_wc_status)(why - SDR_VERBS_BROKE_STATUS)));
		sdr_verbs_qp_break(t->q, why >= SDR_VERBS_BROKE_STATUS ? words : said[why]);
	}
}

void sdr_verbs_qp_event(struct sdr_verbs *v)
{
	int event = atomic_exchange(&v->qp_event, 0) - 1;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;
	char words[96];
	uint32_t i;

	snprintf(words, sizeof(words), "the device reports: %s",
		 v->ibv->event_type_str((enum ibv_event_type)event));
	for (i = 0; i < v->ntps; i++) {
		struct sdr_verbs_tp *t = v->tps[i];

		if (t && t->qp && !t->q->failed_at &&
		    !v->ibv->query_qp(t->qp, &a, IBV_QP_STATE, &init) && a.qp_state == IBV_QPS_ERR)
			sdr_verbs_qp_break(t->q, words);
	}
}

int sdr_verbs_qp_report(struct sdr_verbs *v, uint64_t now, struct sdr_uc_ev *ev, int max)
{
	struct ibv_port_attr port;
	struct sdr_verbs_qp *q;
	int n = 0;

	while (n < max && (q = v->bad) && now >= q->failed_at + SDR_VERBS_FAIL_NS) {
		if (!n && !v->ibv->query_port(v->pd->ctx, v->port, &port) &&
		    port.state != IBV_PORT_ACTIVE) {
			sdr_verbs_break(v, -ENETDOWN, SDR_VERBS_DOWN_WORDS);
			return 0;
		}
		v->bad = q->bad_next;
		snprintf(v->reason, sizeof(v->reason), "%s: %s", v->device, q->failed);
		memset(&ev[n], 0, sizeof(ev[n]));
		ev[n].kind = SDR_UC_EV_QP;
		ev[n].q.cookie = q->cookie;
		ev[n++].q.err = -EIO;
	}
	return n;
}
