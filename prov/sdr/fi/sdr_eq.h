/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Event queues (sdr_eq.c).
 */
#ifndef SDR_EQ_H
#define SDR_EQ_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>

#include "base/sdr_list.h"

#include "sdr_wait.h"

struct sdr_fabric;

/* in prov_errno: the rest is an enum sdr_rel_err, else an errno */
#define SDR_EQ_CAUSE	0x1000000
#define SDR_EQ_SIZE_MAX 65536u /* events of an event queue before writes fail */

struct sdr_event {
	struct sdr_event *next;
	uint32_t event;
	bool is_err;
	bool provider; /* written by us: data is a struct fi_eq_entry, or with cm one of that */
	bool cm;       /* data is a struct fi_eq_cm_entry and what the application's peer said */
	struct fi_eq_err_entry err;
	bool request; /* likewise FI_CONNREQ, of caller */
	uint16_t caller;
	struct fi_info *info; /* of the entry: the application's when it is read */
	size_t len;	      /* bytes of data; of an error: of its err_data */
	uint8_t data[];
};

/* A connection that is about to be reported here. */
struct sdr_eq_await {
	struct sdr_list link;
	uint16_t caller;
};

struct sdr_eq {
	struct fid_eq fid;
	struct sdr_fabric *fabric;
	atomic_int refs;
	bool user_writes; /* FI_WRITE */
	pthread_mutex_t lock;
	struct sdr_event *head, **tail;
	struct sdr_event *held, **held_tail; /* requests that wait for one of awaited */
	uint32_t count;			     /* of both */
	struct sdr_list awaited;
	struct sdr_event *lent; /* the application looks at its err_data until the next read */
	struct sdr_wait wait;
};

int sdr_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
		void *context);
int sdr_eq_event(struct sdr_eq *eq, uint32_t event, const struct fi_eq_entry *entry);
int sdr_eq_error(struct sdr_eq *eq, const struct fi_eq_err_entry *err);
/* Of connections.  entry->info goes with the event, unless it fails; data: of the peer's. */
int sdr_eq_cm(struct sdr_eq *eq, uint32_t event, const struct fi_eq_cm_entry *entry,
	      const void *data, size_t len);
/*
 * FI_CONNREQ.  Who calls again after its first call was accepted finds that order here: while the
 * first connection is awaited, requests of the same caller are held back.
 */
int sdr_eq_request(struct sdr_eq *eq, const struct fi_eq_cm_entry *entry, const void *data,
		   size_t len, uint16_t caller);
void sdr_eq_await(struct sdr_eq *eq, struct sdr_eq_await *a, uint16_t caller);
/* What is to be said of it has been. */
void sdr_eq_awaited(struct sdr_eq *eq, struct sdr_eq_await *a);
int sdr_eq_error_data(struct sdr_eq *eq, const struct fi_eq_err_entry *err, const void *data,
		      size_t len);
/* fid is about to go: forgets what was reported of it and not read. */
void sdr_eq_purge(struct sdr_eq *eq, const struct fid *fid);
int sdr_eq_trywait(struct sdr_eq *eq);

#endif /* SDR_EQ_H */
