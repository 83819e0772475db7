/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What every file of this layer stands on: the provider's struct, its names and versions, and how
 * the user is warned (sdr_prov.c).
 */
#ifndef SDR_PROV_H
#define SDR_PROV_H

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "base/sdr_list.h"

struct sdr_env;

/* libfabric's own name and idiom, without the complaint of compilers about alignment */
#undef container_of
#define container_of sdr_container

#define SDR_PROV_NAME	   "sdr"
#define SDR_PROV_VERSION   FI_VERSION(0, 2)  /* the package's, without its third number */
#define SDR_FI_API_VERSION FI_VERSION(1, 17) /* of the headers this is built against */
#define SDR_PROTO	   (1u << 31 | 0x5d) /* bit 31: the provider's own numbers */

extern struct fi_provider sdr_prov;

/*
 * A message for the user that must not get lost: the log when it is on, stderr when not. Once a
 * text.
 */
void sdr_warn_once(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The settings of the environment as it is now.  0, or -FI_EINVAL after a warning. */
int sdr_env_read(struct sdr_env *env);

#endif /* SDR_PROV_H */
