/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Two ends that have no version of the wire in common: each learns it, and what the initiator has
 * posted ends with an error that names the versions of both.  wire/sdr_version.h has the forms.
 *
 * Trust: a HELLO in another version costs one answer that is no longer than itself, and no state.
 * The answer is believed as RETRY is: it has the connection id of our HELLO, comes from where that
 * went to, and nothing has proved the peer yet.  Answers are not answered.
 *
 * A peer that speaks one of our versions besides (its range overlaps ours) is none of these: our
 * HELLO, in the form of a version that we both know, is on its way.
 */
#include "sdr_seal.h"
#include "sdr_versions.h"

void sdr_versions_said(struct sdr_rel *rel, const struct sdr_uc_addr *from,
		       const struct sdr_version *v)
{
	struct sdr_conn *c = sdr_conn_by_cid(rel, v->cid);
	bool ours = v->min <= SDR_WIRE_VERSION_MAX && v->max >= SDR_WIRE_VERSION_MIN;

	if (!c || !sdr_uc_addr_equal(from, &c->addr) || (c->hs.validated && !ours)) {
		rel->closed.pkts_bad++;
		return;
	}
	if (ours)
		return;
	sdr_conn_fail(c, sdr_rel_err_version(v->min, v->max));
}

/* Which versions we speak, in a form that the peer knows. */
static void versions_say(struct sdr_rel *rel, const struct sdr_uc_addr *to, uint64_t cid,
			 size_t (*encode)(uint8_t *p, const struct sdr_version *v))
{
	const struct sdr_version v = { cid, SDR_WIRE_VERSION_MIN, SDR_WIRE_VERSION_MAX };
	uint8_t *p;

	rel->closed.hello_other++;
	if (rel->closing)
		return;
	p = sdr_seal_begin(rel);
	if (p)
		sdr_seal_answer(rel, to, encode(p, &v));
}

void sdr_versions_answer(struct sdr_rel *rel, const struct sdr_uc_addr *to, uint64_t cid)
{
	versions_say(rel, to, cid, sdr_version_encode);
}

void sdr_versions_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
			size_t len)
{
	struct sdr_foreign f;

	if (sdr_foreign_decode(p, len, &f)) {
		rel->closed.pkts_bad++;
		return;
	}
	if (f.kind == SDR_FOREIGN_SAYS)
		sdr_versions_said(rel, from, &f.v);
	else if (f.version == 1)
		versions_say(rel, from, f.v.cid, sdr_v1_refusal_encode);
	else
		sdr_versions_answer(rel, from, f.v.cid);
}

void sdr_versions_ask(struct sdr_conn *c)
{
	uint8_t *p = sdr_seal_begin(c->rel);

	if (p)
		sdr_seal_send(c, sdr_v1_hello_encode(p, c->rel->instance, c->id.cid));
}
