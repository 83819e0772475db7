/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What is not there, said politely: libfabric calls most slots of its tables without looking, so
 * each has a function.  -FI_ENOSYS, or -FI_EOPNOTSUPP where the interface says so.
 */
#include <rdma/fi_errno.h>

#include "sdr_enosys.h"

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif

int sdr_no_close(struct fid *fid)
{
	return 0;
}

int sdr_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

int sdr_no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int sdr_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
	return -FI_ENOSYS;
}

int sdr_no_tostr(const struct fid *fid, char *buf, size_t len)
{
	return -FI_ENOSYS;
}

int sdr_no_ops_set(struct fid *fid, const char *name, uint64_t flags, void *ops, void *context)
{
	return -FI_ENOSYS;
}

int sdr_no_wait_open(struct fid_fabric *fabric, struct fi_wait_attr *attr,
		     struct fid_wait **waitset)
{
	return -FI_ENOSYS;
}

int sdr_no_scalable_ep(struct fid_domain *dom, struct fi_info *info, struct fid_ep **sep,
		       void *context)
{
	return -FI_ENOSYS;
}

int sdr_no_stx_ctx(struct fid_domain *dom, struct fi_tx_attr *attr, struct fid_stx **stx,
		   void *context)
{
	return -FI_ENOSYS;
}

int sdr_no_query_collective(struct fid_domain *dom, enum fi_collective_op coll,
			    struct fi_collective_attr *attr, uint64_t flags)
{
	return -FI_EOPNOTSUPP;
}

int sdr_no_av_set(struct fid_av *av, struct fi_av_set_attr *attr, struct fid_av_set **set,
		  void *context)
{
	return -FI_ENOSYS;
}

int sdr_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr, struct fid_ep **ep,
		  void *context)
{
	return -FI_ENOSYS;
}

int sdr_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr, struct fid_ep **ep,
		  void *context)
{
	return -FI_ENOSYS;
}

ssize_t sdr_no_size_left(struct fid_ep *ep)
{
	return -FI_ENOSYS;
}

int sdr_no_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return -FI_EOPNOTSUPP;
}

int sdr_no_connect(struct fid_ep *ep, const void *addr, const void *param, size_t paramlen)
{
	return -FI_ENOSYS;
}

int sdr_no_listen(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

int sdr_no_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return -FI_ENOSYS;
}

int sdr_no_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen)
{
	return -FI_ENOSYS;
}

int sdr_no_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return -FI_ENOSYS;
}

int sdr_no_join(struct fid_ep *ep, const void *addr, uint64_t flags, struct fid_mc **mc,
		void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
				  fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
				   size_t count, fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
				   void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
				     uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				  fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
				   size_t count, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
				     uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_inject(struct fid_ep *ep, const void *buf, size_t len,
				    fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				      uint64_t data, fi_addr_t dest_addr, uint64_t tag,
				      void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len,
					uint64_t data, fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

struct fi_ops_tagged sdr_no_tagged_ops = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = sdr_no_tagged_recv,
	.recvv = sdr_no_tagged_recvv,
	.recvmsg = sdr_no_tagged_recvmsg,
	.send = sdr_no_tagged_send,
	.sendv = sdr_no_tagged_sendv,
	.sendmsg = sdr_no_tagged_sendmsg,
	.inject = sdr_no_tagged_inject,
	.senddata = sdr_no_tagged_senddata,
	.injectdata = sdr_no_tagged_injectdata,
};

static ssize_t sdr_no_rma_read(struct fid_ep *ep, void *buf, size_t len, void *desc,
			       fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_rma_readv(struct fid_ep *ep, const struct iovec *iov, void **desc,
				size_t count, fi_addr_t src_addr, uint64_t addr, uint64_t key,
				void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_rma_readmsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_rma_write(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_rma_writev(struct fid_ep *ep, const struct iovec *iov, void **desc,
				 size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				 void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_rma_writemsg(struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_rma_inject(struct fid_ep *ep, const void *buf, size_t len,
				 fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_rma_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				    uint64_t data, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				    void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_rma_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				     fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return -FI_ENOSYS;
}

struct fi_ops_rma sdr_no_rma_ops = {
	.size = sizeof(struct fi_ops_rma),
	.read = sdr_no_rma_read,
	.readv = sdr_no_rma_readv,
	.readmsg = sdr_no_rma_readmsg,
	.write = sdr_no_rma_write,
	.writev = sdr_no_rma_writev,
	.writemsg = sdr_no_rma_writemsg,
	.inject = sdr_no_rma_inject,
	.writedata = sdr_no_rma_writedata,
	.injectdata = sdr_no_rma_injectdata,
};

static ssize_t sdr_no_atomic_write(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				   fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				   enum fi_datatype datatype, enum fi_op op, void *context)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				    size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				    enum fi_datatype datatype, enum fi_op op, void *context)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				      uint64_t flags)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_inject(struct fid_ep *ep, const void *buf, size_t count,
				    fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				    enum fi_datatype datatype, enum fi_op op)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_readwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				       void *result, void *result_desc, fi_addr_t dest_addr,
				       uint64_t addr, uint64_t key, enum fi_datatype datatype,
				       enum fi_op op, void *context)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
					size_t count, struct fi_ioc *resultv, void **result_desc,
					size_t result_count, fi_addr_t dest_addr, uint64_t addr,
					uint64_t key, enum fi_datatype datatype, enum fi_op op,
					void *context)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
					  struct fi_ioc *resultv, void **result_desc,
					  size_t result_count, uint64_t flags)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_compwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				       const void *compare, void *compare_desc, void *result,
				       void *result_desc, fi_addr_t dest_addr, uint64_t addr,
				       uint64_t key, enum fi_datatype datatype, enum fi_op op,
				       void *context)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
					size_t count, const struct fi_ioc *comparev,
					void **compare_desc, size_t compare_count,
					struct fi_ioc *resultv, void **result_desc,
					size_t result_count, fi_addr_t dest_addr, uint64_t addr,
					uint64_t key, enum fi_datatype datatype, enum fi_op op,
					void *context)
{
	return -FI_EOPNOTSUPP;
}

static ssize_t sdr_no_atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
					  const struct fi_ioc *comparev, void **compare_desc,
					  size_t compare_count, struct fi_ioc *resultv,
					  void **result_desc, size_t result_count, uint64_t flags)
{
	return -FI_EOPNOTSUPP;
}

static int sdr_no_atomic_writevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				    size_t *count)
{
	return -FI_EOPNOTSUPP;
}

static int sdr_no_atomic_readwritevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
					size_t *count)
{
	return -FI_EOPNOTSUPP;
}

static int sdr_no_atomic_compwritevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
					size_t *count)
{
	return -FI_EOPNOTSUPP;
}

struct fi_ops_atomic sdr_no_atomic_ops = {
	.size = sizeof(struct fi_ops_atomic),
	.write = sdr_no_atomic_write,
	.writev = sdr_no_atomic_writev,
	.writemsg = sdr_no_atomic_writemsg,
	.inject = sdr_no_atomic_inject,
	.readwrite = sdr_no_atomic_readwrite,
	.readwritev = sdr_no_atomic_readwritev,
	.readwritemsg = sdr_no_atomic_readwritemsg,
	.compwrite = sdr_no_atomic_compwrite,
	.compwritev = sdr_no_atomic_compwritev,
	.compwritemsg = sdr_no_atomic_compwritemsg,
	.writevalid = sdr_no_atomic_writevalid,
	.readwritevalid = sdr_no_atomic_readwritevalid,
	.compwritevalid = sdr_no_atomic_compwritevalid,
};

static ssize_t sdr_no_coll_barrier(struct fid_ep *ep, fi_addr_t coll_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_broadcast(struct fid_ep *ep, void *buf, size_t count, void *desc,
				     fi_addr_t coll_addr, fi_addr_t root_addr,
				     enum fi_datatype datatype, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_alltoall(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				    void *result, void *result_desc, fi_addr_t coll_addr,
				    enum fi_datatype datatype, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_allreduce(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				     void *result, void *result_desc, fi_addr_t coll_addr,
				     enum fi_datatype datatype, enum fi_op op, uint64_t flags,
				     void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_allgather(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				     void *result, void *result_desc, fi_addr_t coll_addr,
				     enum fi_datatype datatype, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_reduce_scatter(struct fid_ep *ep, const void *buf, size_t count,
					  void *desc, void *result, void *result_desc,
					  fi_addr_t coll_addr, enum fi_datatype datatype,
					  enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_reduce(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				  void *result, void *result_desc, fi_addr_t coll_addr,
				  fi_addr_t root_addr, enum fi_datatype datatype, enum fi_op op,
				  uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_scatter(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				   void *result, void *result_desc, fi_addr_t coll_addr,
				   fi_addr_t root_addr, enum fi_datatype datatype, uint64_t flags,
				   void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_gather(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				  void *result, void *result_desc, fi_addr_t coll_addr,
				  fi_addr_t root_addr, enum fi_datatype datatype, uint64_t flags,
				  void *context)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_msg(struct fid_ep *ep, const struct fi_msg_collective *msg,
			       struct fi_ioc *resultv, void **result_desc, size_t result_count,
			       uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t sdr_no_coll_barrier2(struct fid_ep *ep, fi_addr_t coll_addr, uint64_t flags,
				    void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_collective sdr_no_collective_ops = {
	.size = sizeof(struct fi_ops_collective),
	.barrier = sdr_no_coll_barrier,
	.broadcast = sdr_no_coll_broadcast,
	.alltoall = sdr_no_coll_alltoall,
	.allreduce = sdr_no_coll_allreduce,
	.allgather = sdr_no_coll_allgather,
	.reduce_scatter = sdr_no_coll_reduce_scatter,
	.reduce = sdr_no_coll_reduce,
	.scatter = sdr_no_coll_scatter,
	.gather = sdr_no_coll_gather,
	.msg = sdr_no_coll_msg,
	.barrier2 = sdr_no_coll_barrier2,
};
