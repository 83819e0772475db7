/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Imported completion queues (sdr_cq_peer.c).
 */
#ifndef SDR_CQ_PEER_H
#define SDR_CQ_PEER_H

struct sdr_cq;

/*
 * Makes a queue that is being opened with FI_PEER one that writes into the owner's (context of
 * fi_cq_open); 0 or -FI_EINVAL.
 */
int sdr_cq_import(struct sdr_cq *cq, const void *context);

#endif /* SDR_CQ_PEER_H */
