/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Connections by what their peer calls them, see sdr_peer_cid.c. */
#ifndef SDR_PEER_CID_H
#define SDR_PEER_CID_H

#include "sdr_conn.h"

/*
 * It is found by what the peer calls it and where the peer is; not any more.  Both change together.
 */
void sdr_conn_peer_note(struct sdr_conn *c);
void sdr_conn_peer_forget(struct sdr_conn *c);
bool sdr_conn_peer_noted(const struct sdr_conn *c);
/* NULL: there is none. */
struct sdr_conn *sdr_conn_by_peer(struct sdr_rel *rel, uint64_t cid,
				  const struct sdr_uc_addr *addr);

#endif /* SDR_PEER_CID_H */
