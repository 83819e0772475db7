/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The trace of a simulation: JSON lines in the manner of qlog, one event a line.
 *
 * All numbers are virtual time and what packets carry, so the same seed writes the same bytes.
 * Names of packets' events are those of the simulated network.  What happens in warm-up is left
 * out.  The file ends after a number of lines that was given beforehand, with a line that says so;
 * processes that write to it take turns.
 */
#include <inttypes.h>
#include <string.h>

#include "sim_trace.h"

/* One more line may be written. */
static bool sim_trace_take(struct sim_trace *t)
{
	if (!*t->left)
		return false;
	if (--*t->left)
		return true;
	fprintf(t->f, "{\"event\":\"truncated\"}\n");
	return false;
}

void sim_trace_head(struct sim_trace *t, const char *members)
{
	fprintf(t->f, "{\"event\":\"trace\",\"format\":1,%s}\n", members);
}

void sim_trace_packet(void *user, uint64_t now_ns, enum sdr_sim_what what,
		      const struct sdr_sim_packet *p)
{
	struct sim_trace *t = user;
	bool there = what >= SDR_SIM_T_RCVBUF; /* at the receiver */

	if (!t->on || !sim_trace_take(t))
		return;
	fprintf(t->f,
		"{\"time_ns\":%" PRIu64 ",\"node\":%u,\"event\":\"%s\",\"from\":%u,\"to\":%u,",
		now_ns, there ? p->dst : p->src, sdr_sim_what_name(what), p->src, p->dst);
	if (p->lane)
		fprintf(t->f, "\"lane\":%u,", p->lane);
	if (p->kind == SDR_SIM_ICMP) {
		fprintf(t->f, "\"kind\":\"icmp\",\"mtu\":%u}\n",
			sdr_get_le32(sdr_sim_packet_payload(p)));
		return;
	}
	if (p->kind == SDR_SIM_CTL) {
		fprintf(t->f, "\"kind\":\"ctl\",\"len\":%u}\n", p->len);
		return;
	}
	fprintf(t->f,
		"\"kind\":\"data\",\"len\":%u,\"qpn\":%u,\"psn\":%u,\"slot\":%u,\"offset\":%" PRIu64
		"}\n",
		p->len, p->qpn, p->psn, sdr_imm_id(&t->split, p->imm),
		(uint64_t)sdr_imm_off(&t->split, p->imm) * t->mtu +
			(p->piece ? p->va % t->mtu : 0));
}

void sim_trace_done(struct sim_trace *t, uint64_t now_ns, uint32_t node,
		    const struct sdr_rel_cqe *e)
{
	if (!t->on || !sim_trace_take(t))
		return;
	fprintf(t->f,
		"{\"time_ns\":%" PRIu64
		",\"node\":%u,\"event\":\"complete\",\"operation\":\"%s\",\"len\":%" PRIu64 "}\n",
		now_ns, node, e->kind == SDR_REL_RECV ? "recv" : "send", e->len);
}

void sim_trace_run(struct sim_trace *t, uint64_t now_ns, bool end, uint32_t cell, uint32_t shard,
		   uint32_t run)
{
	t->on = !end;
	if (!sim_trace_take(t))
		return;
	fprintf(t->f,
		"{\"time_ns\":%" PRIu64 ",\"event\":\"%s\",\"cell\":%u,\"shard\":%u,\"run\":%u}\n",
		now_ns, end ? "end" : "begin", cell, shard, run);
}
