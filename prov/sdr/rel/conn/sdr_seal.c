/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Control datagrams out and in: everything else of an endpoint writes and reads what lies between
 * the class header and the tag, and takes its room from here.
 *
 * There are no keys yet, and so no tag (rel->tag_len is 0).  This is where they will be: sending
 * sets SDR_CLASS_SEALED in the class header and puts the tag behind the contents (wire/sdr_tag.h),
 * for which every datagram has the room already; what comes in with a tag is checked, and without
 * one dropped, before anything of it is looked at.  Until then a datagram with a tag does not get
 * here: sdr_class_decode refuses it, and it is counted as bad.
 *
 * Counts what leaves: with its connection, or with the endpoint where there is none.  No state of
 * its own, no timers; the endpoint's thread.
 */
#include "sdr_seal.h"
#include "sdr_turn.h"

uint8_t *sdr_seal_begin(struct sdr_rel *rel)
{
	return sdr_context_ctl_alloc(rel->ctx);
}

static void seal_out(struct sdr_rel *rel, const struct sdr_uc_addr *to, size_t len)
{
	sdr_turn_sent(rel, len + rel->tag_len + rel->info.ctl_over);
	sdr_context_ctl_push(rel->ctx, to, len + rel->tag_len);
}

void sdr_seal_send_at(struct sdr_conn *c, const struct sdr_uc_addr *to, size_t len)
{
	SDR_ASSERT(len && len <= sdr_seal_room(c->rel, c->ctl_max));
	c->st.ctl_tx++;
	seal_out(c->rel, to, len);
}

void sdr_seal_send(struct sdr_conn *c, size_t len)
{
	sdr_seal_send_at(c, &c->addr, len);
}

static void seal_from(struct sdr_conn *c, uint8_t source, const struct sdr_uc_addr *to, size_t len,
		      uint8_t flags)
{
	len += c->rel->tag_len;
	c->st.ctl_tx++;
	sdr_turn_sent(c->rel, len + c->rel->info.ctl_over);
	sdr_context_ctl_push_from(c->rel->ctx, source, to, len, flags);
}

void sdr_seal_send_from(struct sdr_conn *c, uint8_t source, const struct sdr_uc_addr *to,
			size_t len)
{
	SDR_ASSERT(len && len <= sdr_seal_room(c->rel, c->ctl_max));
	seal_from(c, source, to, len, 0);
}

void sdr_seal_send_by(struct sdr_conn *c, const struct sdr_path *p, size_t len)
{
	if (p->index)
		sdr_seal_send_from(c, p->source, &p->addr, len);
	else
		sdr_seal_send(c, len);
}

void sdr_seal_probe_by(struct sdr_conn *c, const struct sdr_path *p, size_t len)
{
	SDR_ASSERT(p->index && len && len + c->rel->tag_len <= c->rel->info.probe_max);
	seal_from(c, p->source, &p->addr, len, SDR_UC_F_PROBE);
}

void sdr_seal_send_asking(struct sdr_conn *c, struct sdr_path *p, size_t len)
{
	sdr_ecn_sent(&p->ecn, 1, p->ecn.ect);
	if (!p->ecn.ect) {
		sdr_seal_send_by(c, p, len);
		return;
	}
	SDR_ASSERT(len && len <= sdr_seal_room(c->rel, c->ctl_max));
	if (p->index) {
		seal_from(c, p->source, &p->addr, len, SDR_UC_F_ECT);
		return;
	}
	c->st.ctl_tx++;
	sdr_turn_sent(c->rel, len + c->rel->tag_len + c->rel->info.ctl_over);
	sdr_context_ctl_push_ect(c->rel->ctx, &c->addr, len + c->rel->tag_len);
}

void sdr_seal_probe(struct sdr_conn *c, size_t len)
{
	SDR_ASSERT(len && len + c->rel->tag_len <= c->rel->info.probe_max);
	c->st.ctl_tx++;
	c->st.path_probes++;
	sdr_turn_sent(c->rel, len + c->rel->tag_len + c->rel->info.ctl_over);
	sdr_context_ctl_push_probe(c->rel->ctx, &c->addr, len + c->rel->tag_len);
}

void sdr_seal_answer(struct sdr_rel *rel, const struct sdr_uc_addr *to, size_t len)
{
	SDR_ASSERT(len && len <= sdr_seal_room(rel, rel->ctl_max));
	rel->closed.ctl_tx++;
	seal_out(rel, to, len);
}

static void seal_input(void *user, const struct sdr_uc_addr *from, uint8_t type, const uint8_t *buf,
		       size_t len)
{
	struct sdr_rel *rel = user;

	sdr_rel_now(rel);
	rel->activity++;
	if (len < rel->tag_len) {
		rel->closed.pkts_bad++;
		return;
	}
	len -= rel->tag_len;
	rel->ctl_input(rel, from, type, buf, len);
}

/* Of another version: there are no keys for it. */
static void seal_other_input(void *user, const struct sdr_uc_addr *from, const uint8_t *buf,
			     size_t len)
{
	struct sdr_rel *rel = user;

	sdr_rel_now(rel);
	rel->activity++;
	rel->ctl_other(rel, from, buf, len);
}

void sdr_seal_bind(struct sdr_rel *rel, sdr_rel_input_fn *input, sdr_rel_other_fn *other)
{
	rel->ctl_input = input;
	rel->ctl_other = other;
	sdr_context_ctl_set(rel->ctx, SDR_CLASS_REL, seal_input, rel);
	sdr_context_ctl_other_set(rel->ctx, seal_other_input, rel);
}
