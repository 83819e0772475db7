/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The fabric: what domains and event queues are opened from (sdr_fabric.c).
 */
#ifndef SDR_FABRIC_H
#define SDR_FABRIC_H

#include <pthread.h>
#include <stdatomic.h>

#include <rdma/fabric.h>

struct sdr_fabric {
	struct fid_fabric fid;
	atomic_int refs;
	pthread_mutex_t answer; /* connection requests, see sdr_connreq.c: outside all others */
};

int sdr_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);

#endif /* SDR_FABRIC_H */
