/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * libfabric's atomics in the numbers of the layer below (sdr_atomic_map.c).
 */
#ifndef SDR_ATOMIC_MAP_H
#define SDR_ATOMIC_MAP_H

#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>

#include "rel/sdr_rel.h"
#include "wire/sdr_atomic.h"

/*
 * Fills op and type of an atomic of a->form.  Bytes of an element, or 0: that operation is not
 * there, or not in this form, or not on this type.
 */
size_t sdr_atomic_map(enum fi_datatype datatype, enum fi_op op, struct sdr_rel_atomic *a);

/* fi_query_atomic of a domain. */
int sdr_atomic_query(struct fid_domain *dom, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags);

#endif /* SDR_ATOMIC_MAP_H */
