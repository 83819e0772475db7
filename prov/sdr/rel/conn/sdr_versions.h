/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Peers that speak another version of the wire, see sdr_versions.c.
 */
#ifndef SDR_VERSIONS_H
#define SDR_VERSIONS_H

#include "sdr_conn.h"
#include "wire/sdr_version.h"

/* A whole datagram in another version than ours. */
void sdr_versions_input(struct sdr_rel *rel, const struct sdr_uc_addr *from, const uint8_t *p,
			size_t len);
/* Which versions a peer speaks; v->cid is of our HELLO. */
void sdr_versions_said(struct sdr_rel *rel, const struct sdr_uc_addr *from,
		       const struct sdr_version *v);
/* A HELLO named no version of ours: which ones we speak. */
void sdr_versions_answer(struct sdr_rel *rel, const struct sdr_uc_addr *to, uint64_t cid);
/* Our HELLOs go unanswered: does the peer speak version 1, which answers no other? */
void sdr_versions_ask(struct sdr_conn *c);

#endif /* SDR_VERSIONS_H */
