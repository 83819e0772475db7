/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* What binds an endpoint to a peer (sdr_rel_bond), and its end.  See sdr_bond.c. */
#ifndef SDR_BOND_H
#define SDR_BOND_H

struct sdr_conn;
struct sdr_peer;

/* c has failed: the bond with its peer is over. */
void sdr_bond_failed(struct sdr_conn *c);
/* Whom the caller is to hear of, and why, when c is freed; NULL: nobody. */
struct sdr_peer *sdr_bond_lost(const struct sdr_conn *c, int *err);

#endif /* SDR_BOND_H */
