/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What becomes of completions, and what rel calls back for (sdr_ep_done.c).
 */
#ifndef SDR_EP_DONE_H
#define SDR_EP_DONE_H

#include "rel/sdr_rel.h"

struct sdr_cq;
struct sdr_cqe;
struct sdr_ep;

/* What the layer below carries for us in uflags. */
#define SDR_UF_CQ   0x1u /* success makes a CQ entry */
#define SDR_UF_LENT 0x2u /* ctx is a receive of ep->srx (sdr_srx.h) */

/* Of an endpoint that takes calls (ep->cm_ops), and of any other. */
extern const struct sdr_rel_cbs sdr_ep_msg_cbs, sdr_ep_cbs;

/* Which counter of an endpoint's counts this kind of report (enum sdr_cntr_kind). */
uint8_t sdr_ep_done_cntr(uint8_t kind);

/* The FI error, positive, of a negative errno of rel (sdr_rel_errno). */
int sdr_ep_done_errno(int err);

/* Error entry to the CQ of the operation's side, with a text; under lock. */
void sdr_ep_done_error(struct sdr_ep *ep, struct sdr_cq *cq, struct sdr_cqe *e,
		       const struct sdr_uc_addr *who);
/*
 * FI_SOURCE_ERR: of what was received well, but from no address of the vector, the entry becomes an
 * error with that address.  The same endpoint's, with src set; from may be NULL.
 */
void sdr_ep_done_from(struct sdr_ep *ep, struct sdr_cqe *e, const struct sdr_uc_addr *from);

#endif /* SDR_EP_DONE_H */
