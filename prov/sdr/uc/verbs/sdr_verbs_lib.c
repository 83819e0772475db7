/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Loads libibverbs, and libmlx5 behind it.
 *
 * Loads once a process, at the first call that needs the library; it is never unloaded, since
 * drivers leave exit and fork handlers behind.  Symbols are asked for by the version that the
 * headers stand for: the oldest versions of the same names have other structs.  A library that is
 * missing is looked for again at the next call, which costs a few system calls and spares a
 * restart.
 *
 * Fork: before anything is registered the library learns that the application may fork, unless the
 * kernel copies pinned pages for the child by itself.  No timers; one lock, held while loading
 * only.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "sdr_verbs_lib.h"

#define SDR_IBV_SO  "libibverbs.so.1"
#define SDR_MLX5_SO "libmlx5.so.1"

static pthread_mutex_t sdr_lib_lock = PTHREAD_MUTEX_INITIALIZER;

struct sdr_lib_sym {
	const char *name, *version;
	size_t at; /* where in the table the address goes */
};

static struct sdr_ibv sdr_ibv_tab;
static _Atomic(const struct sdr_ibv *) sdr_ibv_ready;

/*
 * The library's own query_port fills the older, shorter struct; drivers since 2017 take the size
 * along.
 */
static int (*sdr_ibv_query_port_old)(struct ibv_context *ctx, uint8_t port,
				     struct _compat_ibv_port_attr *attr);

static int sdr_ibv_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr)
{
	struct verbs_context *v = verbs_get_ctx_op(ctx, query_port);

	if (v)
		return v->query_port(ctx, port, attr, sizeof(*attr));
	memset(attr, 0, sizeof(*attr));
	return sdr_ibv_query_port_old(ctx, port, (struct _compat_ibv_port_attr *)attr);
}

#define SYM(member, symbol, ver)                              \
	{                                                     \
		symbol, ver, offsetof(struct sdr_ibv, member) \
	}
static const struct sdr_lib_sym sdr_ibv_syms[] = {
	SYM(get_device_list, "ibv_get_device_list", "IBVERBS_1.1"),
	SYM(free_device_list, "ibv_free_device_list", "IBVERBS_1.1"),
	SYM(get_device_name, "ibv_get_device_name", "IBVERBS_1.1"),
	SYM(open_device, "ibv_open_device", "IBVERBS_1.1"),
	SYM(close_device, "ibv_close_device", "IBVERBS_1.1"),
	SYM(query_device, "ibv_query_device", "IBVERBS_1.1"),
	SYM(query_gid_ex, "_ibv_query_gid_ex", "IBVERBS_1.11"),
	SYM(query_gid_table, "_ibv_query_gid_table", "IBVERBS_1.11"),
	SYM(get_async_event, "ibv_get_async_event", "IBVERBS_1.1"),
	SYM(ack_async_event, "ibv_ack_async_event", "IBVERBS_1.1"),
	SYM(alloc_pd, "ibv_alloc_pd", "IBVERBS_1.1"),
	SYM(dealloc_pd, "ibv_dealloc_pd", "IBVERBS_1.1"),
	SYM(reg_mr, "ibv_reg_mr", "IBVERBS_1.1"),
	SYM(reg_mr_iova, "ibv_reg_mr_iova", "IBVERBS_1.7"),
	SYM(dereg_mr, "ibv_dereg_mr", "IBVERBS_1.1"),
	SYM(create_comp_channel, "ibv_create_comp_channel", "IBVERBS_1.0"),
	SYM(destroy_comp_channel, "ibv_destroy_comp_channel", "IBVERBS_1.0"),
	SYM(create_cq, "ibv_create_cq", "IBVERBS_1.1"),
	SYM(destroy_cq, "ibv_destroy_cq", "IBVERBS_1.1"),
	SYM(get_cq_event, "ibv_get_cq_event", "IBVERBS_1.1"),
	SYM(ack_cq_events, "ibv_ack_cq_events", "IBVERBS_1.1"),
	SYM(create_qp, "ibv_create_qp", "IBVERBS_1.1"),
	SYM(modify_qp, "ibv_modify_qp", "IBVERBS_1.1"),
	SYM(query_qp, "ibv_query_qp", "IBVERBS_1.1"),
	SYM(destroy_qp, "ibv_destroy_qp", "IBVERBS_1.1"),
	SYM(qp_to_qp_ex, "ibv_qp_to_qp_ex", "IBVERBS_1.6"),
	SYM(create_ah, "ibv_create_ah", "IBVERBS_1.1"),
	SYM(destroy_ah, "ibv_destroy_ah", "IBVERBS_1.1"),
	SYM(event_type_str, "ibv_event_type_str", "IBVERBS_1.1"),
	SYM(wc_status_str, "ibv_wc_status_str", "IBVERBS_1.1"),
	SYM(port_state_str, "ibv_port_state_str", "IBVERBS_1.1"),
};
#undef SYM

static void *sdr_lib_sym(void *lib, const char *name, const char *version)
{
	void *p = dlvsym(lib, name, version);

	return p ? p : dlsym(lib, name);
}

/*
 * Fills a table of function pointers; the name of the first symbol that is missing, NULL: all are
 * there.
 */
static const char *sdr_lib_fill(void *lib, void *tab, const struct sdr_lib_sym *v, size_t n)
{
	size_t i;
	void *p;

	for (i = 0; i < n; i++) {
		p = sdr_lib_sym(lib, v[i].name, v[i].version);
		if (!p)
			return v[i].name;
		memcpy((char *)tab + v[i].at, &p, sizeof(p));
	}
	return NULL;
}

/* Before the first registration of this process through the library, or it refuses. */
static bool sdr_ibv_fork(void *lib)
{
	enum ibv_fork_status (*status)(void) = NULL;
	int (*init)(void) = NULL;
	void *p;

	p = sdr_lib_sym(lib, "ibv_is_fork_initialized", "IBVERBS_1.13");
	memcpy(&status, &p, sizeof(p));
	if (status && status() != IBV_FORK_DISABLED)
		return true;
	p = sdr_lib_sym(lib, "ibv_fork_init", "IBVERBS_1.1");
	memcpy(&init, &p, sizeof(p));
	return init && init() == 0;
}

static int sdr_ibv_load(char *err, size_t len)
{
	void *lib = dlopen(SDR_IBV_SO, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), *p;
	const char *missing;

	if (!lib) {
		p = dlerror();
		snprintf(err, len, "cannot load %s (apt-get install libibverbs1 ibverbs-providers)",
			 p ? (const char *)p : SDR_IBV_SO);
		return -ENOENT;
	}
	missing = sdr_lib_fill(lib, &sdr_ibv_tab, sdr_ibv_syms,
			       sizeof(sdr_ibv_syms) / sizeof(sdr_ibv_syms[0]));
	p = sdr_lib_sym(lib, "ibv_query_port", "IBVERBS_1.1");
	if (!p)
		missing = "ibv_query_port";
	if (missing) {
		snprintf(err, len,
			 "%s has no %s: it is older than rdma-core 32, a newer one is needed",
			 SDR_IBV_SO, missing);
		dlclose(lib);
		return -ENOTSUP;
	}
	memcpy(&sdr_ibv_query_port_old, &p, sizeof(p));
	p = sdr_lib_sym(lib, "ibv_reg_dmabuf_mr", "IBVERBS_1.12");
	memcpy(&sdr_ibv_tab.reg_dmabuf_mr, &p, sizeof(p));
	sdr_ibv_tab.query_port = sdr_ibv_query_port;
	sdr_ibv_tab.fork_safe = sdr_ibv_fork(lib);
	return 0;
}

const struct sdr_ibv *sdr_ibv_get(char *err, size_t err_len)
{
	const struct sdr_ibv *tab = atomic_load_explicit(&sdr_ibv_ready, memory_order_acquire);
	char why[256] = "";

	if (tab)
		return tab;
	pthread_mutex_lock(&sdr_lib_lock);
	tab = atomic_load_explicit(&sdr_ibv_ready, memory_order_relaxed);
	if (!tab && sdr_ibv_load(why, sizeof(why)) == 0) {
		tab = &sdr_ibv_tab;
		atomic_store_explicit(&sdr_ibv_ready, tab, memory_order_release);
	}
	pthread_mutex_unlock(&sdr_lib_lock);
	if (!tab && err && err_len)
		snprintf(err, err_len, "%s", why);
	return tab;
}

#ifdef SDR_HAVE_MLX5DV

static struct sdr_mlx5dv sdr_mlx5dv_tab;
static _Atomic(const struct sdr_mlx5dv *) sdr_mlx5dv_ready;

#define SYM(member, symbol, ver)                                 \
	{                                                        \
		symbol, ver, offsetof(struct sdr_mlx5dv, member) \
	}
static const struct sdr_lib_sym sdr_mlx5dv_syms[] = {
	SYM(is_supported, "mlx5dv_is_supported", "MLX5_1.8"),
	SYM(create_mkey, "mlx5dv_create_mkey", "MLX5_1.10"),
	SYM(destroy_mkey, "mlx5dv_destroy_mkey", "MLX5_1.10"),
	SYM(create_qp, "mlx5dv_create_qp", "MLX5_1.3"),
	SYM(qp_ex_from_ibv_qp_ex, "mlx5dv_qp_ex_from_ibv_qp_ex", "MLX5_1.10"),
};
#undef SYM

const struct sdr_mlx5dv *sdr_mlx5dv_get(void)
{
	const struct sdr_mlx5dv *tab =
		atomic_load_explicit(&sdr_mlx5dv_ready, memory_order_acquire);
	void *lib;

	if (tab)
		return tab;
	pthread_mutex_lock(&sdr_lib_lock);
	tab = atomic_load_explicit(&sdr_mlx5dv_ready, memory_order_relaxed);
	lib = tab ? NULL : dlopen(SDR_MLX5_SO, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (lib && !sdr_lib_fill(lib, &sdr_mlx5dv_tab, sdr_mlx5dv_syms,
				 sizeof(sdr_mlx5dv_syms) / sizeof(sdr_mlx5dv_syms[0]))) {
		tab = &sdr_mlx5dv_tab;
		atomic_store_explicit(&sdr_mlx5dv_ready, tab, memory_order_release);
	}
	pthread_mutex_unlock(&sdr_lib_lock);
	return tab;
}

#endif
