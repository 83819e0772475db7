/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What libfabric 2 calls deprecated, and applications of older versions of its interface still ask
 * for: its headers warn at each use in a way that no option of the compiler silences (and that
 * -Werror makes an error of).  The values are part of the binary interface.
 */
#ifndef SDR_OLD_API_H
#define SDR_OLD_API_H

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#if FI_MAJOR_VERSION > 1
#undef FI_MR_UNSPEC
#undef FI_MR_BASIC
#undef FI_MR_SCALABLE
#undef FI_LOCAL_MR
#undef FI_ORDER_NONE
#undef FI_ORDER_STRICT
#undef FI_ORDER_DATA
#undef FI_REG_MR
#define FI_MR_UNSPEC	0
#define FI_MR_BASIC	(1 << 0)
#define FI_MR_SCALABLE	(1 << 1)
#define FI_LOCAL_MR	(1ULL << 55)
#define FI_ORDER_NONE	0ULL
#define FI_ORDER_STRICT 0x1FF
#define FI_ORDER_DATA	(1ULL << 16)
#define FI_REG_MR	(1ULL << 59)
#endif

#endif /* SDR_OLD_API_H */
