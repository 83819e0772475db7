/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The one place where a control datagram of an endpoint leaves, and the one where it enters.  See
 * sdr_seal.c.
 */
#ifndef SDR_SEAL_H
#define SDR_SEAL_H

#include "sdr_conn.h"

/*
 * What comes for the endpoint arrives here from now on, and goes on: to input, or, of another
 * version, to other.
 */
void sdr_seal_bind(struct sdr_rel *rel, sdr_rel_input_fn *input, sdr_rel_other_fn *other);

/*
 * A place for one datagram, class header included: sdr_seal_room() bytes.  NULL: the engine is
 * full. What is not sent is dropped with the next begin.
 */
uint8_t *sdr_seal_begin(struct sdr_rel *rel);
void sdr_seal_send(struct sdr_conn *c, size_t len); /* to where c's peer is */
void sdr_seal_send_by(struct sdr_conn *c, const struct sdr_path *p, size_t len); /* by that path */
/* The same of a packet that wants an answer: a queue may mark it, where the path carries marks. */
void sdr_seal_send_asking(struct sdr_conn *c, struct sdr_path *p, size_t len);
/* The same, up to info.probe_max bytes: whether the path carries it is the question. */
void sdr_seal_probe(struct sdr_conn *c, size_t len);
/* By another path than the first, which has probes of its own. */
void sdr_seal_probe_by(struct sdr_conn *c, const struct sdr_path *p, size_t len);
/* Back to where something came from. */
void sdr_seal_send_from(struct sdr_conn *c, uint8_t source, const struct sdr_uc_addr *to,
			size_t len);
/* To where it may be: a challenge, or the answer to one. */
void sdr_seal_send_at(struct sdr_conn *c, const struct sdr_uc_addr *to, size_t len);
/* To a peer without a connection. */
void sdr_seal_answer(struct sdr_rel *rel, const struct sdr_uc_addr *to, size_t len);

/*
 * Of a datagram of at most ctl_max bytes of payload: those that its class header and what follows
 * may take.  The rest is the tag's.
 */
static inline uint32_t sdr_seal_room(const struct sdr_rel *rel, uint32_t ctl_max)
{
	return ctl_max - rel->tag_len;
}

/* Bytes that travel inside a record, in a packet of its own.  Both sides compute the same. */
static inline uint32_t sdr_seal_inline_max(const struct sdr_rel *rel, uint32_t ctl_max)
{
	return sdr_seal_room(rel, ctl_max) - SDR_PACKET_HDR - SDR_REC_HDR_MAX;
}

#endif /* SDR_SEAL_H */
