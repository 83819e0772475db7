/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * libibverbs at arm's length: loaded when it is first needed, never linked.
 *
 * Calls into the library go through struct sdr_ibv.  The inline calls of <infiniband/verbs.h> that
 * go through a context's own table (ibv_post_send, ibv_post_recv, ibv_poll_cq, ibv_req_notify_cq,
 * ibv_alloc_mw, ibv_bind_mw, ibv_dealloc_mw, ibv_alloc_null_mr, ibv_create_cq_ex, ibv_create_qp_ex
 * for devices that have them) may be used as they are; whatever else begins with ibv_ would leave
 * an undefined symbol, and the provider would not load where the library is missing.  A test looks
 * for such symbols.
 */
#ifndef SDR_VERBS_LIB_H
#define SDR_VERBS_LIB_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdr_ibv {
	struct ibv_device **(*get_device_list)(int *n);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *dev);
	struct ibv_context *(*open_device)(struct ibv_device *dev);
	int (*close_device)(struct ibv_context *ctx);
	int (*query_device)(struct ibv_context *ctx, struct ibv_device_attr *attr);
	int (*query_port)(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr);
	int (*query_gid_ex)(struct ibv_context *ctx, uint32_t port, uint32_t index,
			    struct ibv_gid_entry *entry, uint32_t flags, size_t entry_size);
	ssize_t (*query_gid_table)(struct ibv_context *ctx, struct ibv_gid_entry *entries,
				   size_t max, uint32_t flags, size_t entry_size);
	int (*get_async_event)(struct ibv_context *ctx, struct ibv_async_event *ev);
	void (*ack_async_event)(struct ibv_async_event *ev);

	struct ibv_pd *(*alloc_pd)(struct ibv_context *ctx);
	int (*dealloc_pd)(struct ibv_pd *pd);
	/* access: without the bits of IBV_ACCESS_OPTIONAL_RANGE */
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t len, int access);
	struct ibv_mr *(*reg_mr_iova)(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				      int access);
	/* rdma-core 34; NULL in older ones */
	struct ibv_mr *(*reg_dmabuf_mr)(struct ibv_pd *pd, uint64_t offset, size_t len,
					uint64_t iova, int fd, int access);
	int (*dereg_mr)(struct ibv_mr *mr);

	struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *ctx);
	int (*destroy_comp_channel)(struct ibv_comp_channel *chan);
	struct ibv_cq *(*create_cq)(struct ibv_context *ctx, int cqe, void *cq_context,
				    struct ibv_comp_channel *chan, int vector);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*get_cq_event)(struct ibv_comp_channel *chan, struct ibv_cq **cq, void **cq_context);
	void (*ack_cq_events)(struct ibv_cq *cq, unsigned int n);

	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*query_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
			struct ibv_qp_init_attr *init);
	int (*destroy_qp)(struct ibv_qp *qp);
	struct ibv_qp_ex *(*qp_to_qp_ex)(struct ibv_qp *qp);
	struct ibv_ah *(*create_ah)(struct ibv_pd *pd, struct ibv_ah_attr *attr);
	int (*destroy_ah)(struct ibv_ah *ah);

	const char *(*event_type_str)(enum ibv_event_type type);
	const char *(*wc_status_str)(enum ibv_wc_status status);
	const char *(*port_state_str)(enum ibv_port_state state);

	/*
	 * True: memory stays right when the application forks: the kernel copies pinned pages for
	 * the child, or the library keeps them out of the child (kernels before 5.12).
	 */
	bool fork_safe;
};

/*
 * The table, the same for ever; NULL when the library is not there or too old, with a text (what is
 * missing, which package has it) in err.  err may be NULL.  Any thread.
 */
const struct sdr_ibv *sdr_ibv_get(char *err, size_t err_len);

#ifdef SDR_HAVE_MLX5DV
#include <infiniband/mlx5dv.h>

/* What indirect keys need of libmlx5, which libibverbs has loaded when there is such a device. */
struct sdr_mlx5dv {
	bool (*is_supported)(struct ibv_device *dev);
	struct mlx5dv_mkey *(*create_mkey)(struct mlx5dv_mkey_init_attr *attr);
	int (*destroy_mkey)(struct mlx5dv_mkey *mkey);
	struct ibv_qp *(*create_qp)(struct ibv_context *ctx, struct ibv_qp_init_attr_ex *attr,
				    struct mlx5dv_qp_init_attr *dv);
	struct mlx5dv_qp_ex *(*qp_ex_from_ibv_qp_ex)(struct ibv_qp_ex *qp);
};
/* NULL: libmlx5 is not there. Any thread. */
const struct sdr_mlx5dv *sdr_mlx5dv_get(void);
#endif

#endif /* SDR_VERBS_LIB_H */
