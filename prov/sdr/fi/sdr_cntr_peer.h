/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Imported counters (sdr_cntr_peer.c).
 */
#ifndef SDR_CNTR_PEER_H
#define SDR_CNTR_PEER_H

struct sdr_cntr;

/*
 * Makes a counter that is being opened with FI_PEER one that counts at the owner's (context of
 * fi_cntr_open); 0 or -FI_EINVAL, also where the headers have no such counters.
 */
int sdr_cntr_import(struct sdr_cntr *cntr, const void *context);

#endif /* SDR_CNTR_PEER_H */
