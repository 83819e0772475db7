/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is not there: calls that return -FI_ENOSYS or -FI_EINVAL, for the tables of operations
 * (sdr_enosys.c).
 */
#ifndef SDR_ENOSYS_H
#define SDR_ENOSYS_H

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

int sdr_no_close(struct fid *fid);
int sdr_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int sdr_no_control(struct fid *fid, int command, void *arg);
int sdr_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context);
int sdr_no_tostr(const struct fid *fid, char *buf, size_t len);
int sdr_no_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops, void *context);
int sdr_no_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		     struct fid_wait **waitset);
int sdr_no_scalable_ep(struct fid_domain *dom, struct fi_info *info, struct fid_ep **sep,
		       void *context);
int sdr_no_stx_ctx(struct fid_domain *dom, struct fi_tx_attr *attr, struct fid_stx **stx,
		   void *context);
int sdr_no_query_collective(struct fid_domain *dom, enum fi_collective_op coll,
			    struct fi_collective_attr *attr, uint64_t flags);
int sdr_no_av_set(struct fid_av *av, struct fi_av_set_attr *attr, struct fid_av_set **set,
		  void *context);
int sdr_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr, struct fid_ep **ep,
		  void *context);
int sdr_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr, struct fid_ep **ep,
		  void *context);
ssize_t sdr_no_size_left(struct fid_ep *ep);
int sdr_no_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen);
int sdr_no_connect(struct fid_ep *ep, const void *addr, const void *param, size_t paramlen);
int sdr_no_listen(struct fid_pep *pep);
int sdr_no_accept(struct fid_ep *ep, const void *param, size_t paramlen);
int sdr_no_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen);
int sdr_no_shutdown(struct fid_ep *ep, uint64_t flags);
int sdr_no_join(struct fid_ep *ep, const void *addr, uint64_t flags, struct fid_mc **mc,
		void *context);

extern struct fi_ops_ep sdr_no_ep_ops;
extern struct fi_ops_msg sdr_no_msg_ops;
extern struct fi_ops_tagged sdr_no_tagged_ops;
extern struct fi_ops_rma sdr_no_rma_ops;
extern struct fi_ops_atomic sdr_no_atomic_ops;
extern struct fi_ops_collective sdr_no_collective_ops;

#endif /* SDR_ENOSYS_H */
