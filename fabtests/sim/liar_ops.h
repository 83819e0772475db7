/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Operations and buffers, see liar_ops.c. */
#ifndef LIAR_OPS_H
#define LIAR_OPS_H

#include "liar.h"

#define LIAR_TALK_TAG (1ull << 63) /* bit of the tags of the conversation, and of no other */

/* Bytes with guards around them, to be freed with bed_mem_free. */
uint8_t *liar_guarded(size_t len);
void liar_guards_check(const uint8_t *p, size_t len);
/* NULL: there were enough.  One that is not taken is dropped at once. */
struct liar_op *liar_op_new(struct liar *l, uint32_t node, uint8_t kind, size_t len);
void liar_op_drop(struct liar *l, struct liar_op *op);
/* False: the endpoint refuses. */
bool liar_op_post(struct liar *l, struct liar_op *op, struct sdr_rel_wr *wr, uint32_t niov);
bool liar_op_recv(struct liar *l, struct liar_op *op, struct sdr_rel_rr *rr, uint32_t niov);
void liar_op_check(const struct liar_op *op);
bool liar_op_sends(const struct liar_op *op);
/* Of a node, what it sends or what it receives. */
uint32_t liar_ops_open(const struct liar *l, uint32_t node, bool sends);
void liar_region_make(struct liar_region *r, uint32_t node);

#endif /* LIAR_OPS_H */
