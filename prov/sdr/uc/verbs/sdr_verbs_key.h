/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Leave to write into memory (sdr_verbs_key.c), and the ways of giving and ending it
 * (sdr_verbs_key_mr.c, _mw.c, _root.c).
 */
#ifndef SDR_VERBS_KEY_H
#define SDR_VERBS_KEY_H

#include "sdr_verbs.h"
#include "sdr_verbs_lib.h"
#include "sdr_verbs_pd.h"

struct sdr_verbs;

#define SDR_VERBS_KEY_NS 1000000000ull /* to set a key: microseconds in practice, ns */

/* One way of giving and ending leave to write. */
struct sdr_verbs_keys {
	const char *name;
	int access; /* IBV_ACCESS_* of the registration below a grant; 0: it makes its own */
	int (*open)(struct sdr_verbs *v);
	void (*close)(struct sdr_verbs *v);
	int (*grant)(struct sdr_verbs *v, const struct sdr_verbs_range *r, struct sdr_uc_grant *g);
	void (*end)(struct sdr_verbs *v, struct sdr_uc_grant *g);
};
/*
 * Waits for the one completion of a request that sets a key.  Without one within SDR_VERBS_KEY_NS
 * the engine is broken: the next wait would take a late one for its own.
 */
int sdr_verbs_key_wait(struct sdr_verbs *v, struct ibv_cq *cq);
extern const struct sdr_verbs_keys sdr_verbs_keys_mr, sdr_verbs_keys_mw, sdr_verbs_keys_root;

/* sdr_uc_ops.grant, grant_end */
int sdr_verbs_grant(struct sdr_uc_qp *qp, void *buf, size_t len, const struct sdr_mem *mem,
		    void *mr, struct sdr_uc_grant *g);
void sdr_verbs_grant_end(struct sdr_uc_qp *qp, struct sdr_uc_grant *g);

#endif /* SDR_VERBS_KEY_H */
