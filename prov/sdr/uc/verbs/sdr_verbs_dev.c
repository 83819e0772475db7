/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Which RDMA devices there are, and under which addresses they can be met.
 *
 * Decides what is usable: a port that is active, with Ethernet below it, and of its RoCEv2 GIDs
 * those whose address an interface has now, because the engine binds a socket to it, too (a port
 * also has GIDs that are no interface's address).  Everything is read anew each time: devices,
 * ports and addresses come and go.  Nothing is loaded or opened on a machine whose sysfs shows no
 * device.  Whether a device can do UC cannot be queried; creating a queue pair shows it.  Any
 * thread; no state.
 */
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sdr_verbs_impl.h"

#define SDR_VERBS_SYSFS	 "/sys/class/infiniband_verbs"
#define SDR_VERBS_DEVDIR "/dev/infiniband"
/* GIDs of a device that are looked at; the kernel takes less than 64 KiB of them */
#define SDR_VERBS_GIDS_MAX 2000

struct sdr_verbs_search {
	const struct sdr_ibv *ibv;
	struct ifaddrs *ifs;
	struct ibv_gid_entry *gids; /* room for SDR_VERBS_GIDS_MAX */
	struct sdr_uc_dev *v;
	unsigned int n, cap;
	int ret; /* why the last device that could not be used could not */
	char *err;
	size_t err_len;
};

static int sdr_verbs_say(char *err, size_t len, int ret, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static int sdr_verbs_say(char *err, size_t len, int ret, const char *fmt, ...)
{
	va_list ap;

	if (err && len) {
		va_start(ap, fmt);
		vsnprintf(err, len, fmt, ap);
		va_end(ap);
	}
	return ret;
}

/* Devices that the kernel has; one's name. */
static unsigned int sdr_verbs_sysfs(char *name, size_t len)
{
	char path[sizeof(SDR_VERBS_SYSFS) + sizeof(((struct dirent *)0)->d_name) + 8];
	DIR *dir = opendir(SDR_VERBS_SYSFS);
	unsigned int n = 0;
	struct dirent *e;
	FILE *f;

	snprintf(name, len, "the device");
	while (dir && (e = readdir(dir))) {
		if (strncmp(e->d_name, "uverbs", 6) != 0)
			continue;
		n++;
		snprintf(path, sizeof(path), "%s/%s/ibdev", SDR_VERBS_SYSFS, e->d_name);
		f = fopen(path, "re");
		if (f && fgets(name, (int)len, f))
			name[strcspn(name, "\n")] = 0;
		if (f)
			fclose(f);
	}
	if (dir)
		closedir(dir);
	return n;
}

/* "rxe", "mlx5"; "" when sysfs does not say. */
static void sdr_verbs_driver(const char *device, char *out, size_t len)
{
	char path[sizeof("/sys/class/infiniband//device/driver") + SDR_UC_DEV_NAME], link[256],
		*name, *tail;
	ssize_t n;

	out[0] = 0;
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/parent", device);
	/* an attribute of soft RoCE alone: the interface it rides on */
	if (access(path, F_OK) == 0) {
		snprintf(out, len, "rxe");
		return;
	}
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device/driver", device);
	n = readlink(path, link, sizeof(link) - 1);
	if (n <= 0)
		return;
	link[n] = 0;
	name = strrchr(link, '/') ? strrchr(link, '/') + 1 : link;
	tail = strstr(name, "_core");
	if (tail && !tail[5])
		*tail = 0;
	snprintf(out, len, "%.*s", (int)len - 1, name);
}

bool sdr_verbs_root_possible(struct ibv_context *ctx)
{
#ifdef SDR_HAVE_MLX5DV
	const struct sdr_ibv *ibv = sdr_ibv_get(NULL, 0);
	const struct sdr_mlx5dv *dv;
	struct ibv_mr *null_mr;
	struct ibv_pd *pd;

	if (!ibv || !verbs_get_ctx_op(ctx, alloc_null_mr))
		return false;
	dv = sdr_mlx5dv_get();
	if (!dv || !dv->is_supported(ctx->device))
		return false;
	pd = ibv->alloc_pd(ctx);
	if (!pd)
		return false;
	/* the library has the call for every mlx5, the device perhaps not */
	null_mr = ibv_alloc_null_mr(pd);
	if (null_mr)
		ibv->dereg_mr(null_mr);
	ibv->dealloc_pd(pd);
	return null_mr != NULL;
#else
	(void)ctx;
	return false;
#endif
}

static const char *sdr_verbs_late(const char *driver, struct ibv_context *ctx,
				  const struct ibv_device_attr *attr)
{
	if (strcmp(driver, "rxe") == 0)
		/* its windows do not check their bounds, and ending one does not wait */
		return "mr";
	if (sdr_verbs_root_possible(ctx))
		return "root";
	return (attr->device_cap_flags & IBV_DEVICE_MEM_WINDOW) && attr->max_mw > 0 ? "mw" : "mr";
}

/* Bits a second of a port; 0: unknown code. */
static uint64_t sdr_verbs_speed(const struct ibv_port_attr *p)
{
	static const uint64_t mbit[8] = { 2500, 5000, 10000, 10000, 14000, 25000, 50000, 100000 };
	static const uint64_t lanes[5] = { 1, 4, 8, 12, 2 };
	unsigned int s = p->active_speed ? (unsigned int)__builtin_ctz(p->active_speed) : 8;
	unsigned int w = p->active_width ? (unsigned int)__builtin_ctz(p->active_width) : 5;

	return s < 8 && w < 5 ? mbit[s] * lanes[w] * 1000000ull : 0;
}

/* A GID as a socket address: IPv4 lies in IPv6 clothes. */
static void sdr_verbs_gid_addr(const struct ibv_gid_entry *g, struct sockaddr_storage *out)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sockaddr_in6 *in6 = (void *)out;
	struct sockaddr_in *in = (void *)out;

	memset(out, 0, sizeof(*out));
	if (memcmp(g->gid.raw, mapped, sizeof(mapped)) == 0) {
		in->sin_family = AF_INET;
		memcpy(&in->sin_addr, g->gid.raw + 12, 4);
		return;
	}
	in6->sin6_family = AF_INET6;
	memcpy(&in6->sin6_addr, g->gid.raw, 16);
	if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
		in6->sin6_scope_id = g->ndev_ifindex;
}

/* The interface that has the address and is up; NULL none. */
static const struct ifaddrs *sdr_verbs_iface(const struct sdr_verbs_search *s,
					     const struct sockaddr_storage *sa)
{
	const struct ifaddrs *i;

	for (i = s->ifs; i; i = i->ifa_next) {
		if ((i->ifa_flags & IFF_UP) &&
		    sdr_sockaddr_same_ip(i->ifa_addr, (const struct sockaddr *)sa))
			return i;
	}
	return NULL;
}

static int sdr_verbs_add(struct sdr_verbs_search *s, const struct sdr_uc_dev *d)
{
	struct sdr_uc_dev *v;
	unsigned int i;

	for (i = 0; i < s->n; i++) { /* one address may have several GIDs of one type */
		if (strcmp(s->v[i].name, d->name) == 0 && s->v[i].port == d->port &&
		    sdr_sockaddr_same_ip((const struct sockaddr *)&s->v[i].addr,
					 (const struct sockaddr *)&d->addr))
			return 0;
	}
	if (s->n == s->cap) {
		v = realloc(s->v, (s->cap + 16) * sizeof(*v));
		if (!v)
			return -ENOMEM;
		s->v = v;
		s->cap += 16;
	}
	s->v[s->n++] = *d;
	return 0;
}

/* d: filled but for port, GID and what follows from them. */
static int sdr_verbs_list_ports(struct sdr_verbs_search *s, struct ibv_context *ctx,
				unsigned int nports, struct sdr_uc_dev *d)
{
	const struct sdr_ibv *ibv = s->ibv;
	const struct ifaddrs *ifa;
	struct ibv_port_attr p;
	const char *down = NULL;
	ssize_t ngids, i;
	unsigned int port;
	int ret;

	ngids = ibv->query_gid_table(ctx, s->gids, SDR_VERBS_GIDS_MAX, 0, sizeof(*s->gids));
	if (ngids < 0)
		return sdr_verbs_say(s->err, s->err_len, (int)ngids,
				     "%s: cannot read its addresses: %s", d->name,
				     strerror((int)-ngids));
	for (port = 1; port <= nports; port++) {
		if (ibv->query_port(ctx, (uint8_t)port, &p) ||
		    p.link_layer != IBV_LINK_LAYER_ETHERNET)
			continue;
		if (p.state != IBV_PORT_ACTIVE) {
			down = ibv->port_state_str(p.state);
			continue;
		}
		d->port = (uint8_t)port;
		d->mtu = 128u << p.active_mtu;
		d->speed_bps = sdr_verbs_speed(&p);
		for (i = 0; i < ngids; i++) {
			if (s->gids[i].port_num != port ||
			    s->gids[i].gid_type != IBV_GID_TYPE_ROCE_V2)
				continue;
			sdr_verbs_gid_addr(&s->gids[i], &d->addr);
			ifa = sdr_verbs_iface(s, &d->addr);
			if (!ifa)
				continue;
			d->gid_index = (int)s->gids[i].gid_index;
			snprintf(d->netdev, sizeof(d->netdev), "%s", ifa->ifa_name);
			ret = sdr_verbs_add(s, d);
			if (ret)
				return ret;
		}
	}
	if (!s->n && !s->ret && down)
		sdr_verbs_say(s->err, s->err_len, 0,
			      "%s: its port is down (%s): ip link set its interface up", d->name,
			      down);
	else if (!s->n && !s->ret)
		sdr_verbs_say(
			s->err, s->err_len, 0,
			"%s: no port that is up has a RoCE v2 address: give its interface an IP address",
			d->name);
	return 0;
}

/*
 * The library tries several ways to open a device, and leaves the error of the last one: so looks
 * itself.
 */
static int sdr_verbs_not_open(struct sdr_verbs_search *s, struct ibv_device *dev, int ret)
{
	char node[sizeof(SDR_VERBS_DEVDIR) + sizeof(dev->dev_name) + 1];

	snprintf(node, sizeof(node), "%s/%s", SDR_VERBS_DEVDIR, dev->dev_name);
	if (eaccess(node, R_OK | W_OK))
		ret = -errno;
	switch (ret) {
	case -ENOENT:
		return sdr_verbs_say(
			s->err, s->err_len, 0,
			"%s is not there: hand the device node to this container, or modprobe ib_uverbs",
			node);
	case -EACCES:
	case -EPERM:
		s->ret = sdr_verbs_say(
			s->err, s->err_len, -EACCES,
			"no permission on %s: add the user to the group that owns it, or give it mode "
			"0666 with a udev rule",
			node);
		return 0;
	default:
		s->ret = sdr_verbs_say(s->err, s->err_len, ret, "cannot open %s (%s): %s",
				       s->ibv->get_device_name(dev), node, strerror(-ret));
		return 0;
	}
}

static int sdr_verbs_list_device(struct sdr_verbs_search *s, struct ibv_device *dev)
{
	const struct sdr_ibv *ibv = s->ibv;
	struct sdr_uc_dev d;
	struct ibv_device_attr attr;
	struct ibv_context *ctx;
	int ret;

	errno = 0;
	ctx = ibv->open_device(dev);
	if (!ctx)
		return sdr_verbs_not_open(s, dev, errno ? -errno : -EIO); /* others may do */
	memset(&d, 0, sizeof(d));
	snprintf(d.name, sizeof(d.name), "%s", ibv->get_device_name(dev));
	ret = -ibv->query_device(ctx, &attr);
	if (ret) {
		s->ret = sdr_verbs_say(s->err, s->err_len, ret, "cannot query %s: %s", d.name,
				       strerror(-ret));
		ret = 0;
		goto out;
	}
	sdr_verbs_driver(d.name, d.driver, sizeof(d.driver));
	snprintf(d.late, sizeof(d.late), "%s", sdr_verbs_late(d.driver, ctx, &attr));
	ret = sdr_verbs_list_ports(s, ctx, attr.phys_port_cnt, &d);
	if (ret && ret != -ENOMEM) {
		s->ret = ret;
		ret = 0;
	}
out:
	ibv->close_device(ctx);
	return ret;
}

int sdr_verbs_list(struct sdr_uc_dev **v, unsigned int *n, char *err, size_t err_len)
{
	struct sdr_verbs_search s = { .err = err, .err_len = err_len };
	struct ibv_device **list = NULL;
	char name[SDR_UC_DEV_NAME];
	int i, count = 0, ret = 0;

	*v = NULL;
	*n = 0;
	if (!sdr_verbs_sysfs(name, sizeof(name)))
		return sdr_verbs_say(
			err, err_len, 0,
			"this machine has no RDMA device (%s is empty or missing; soft RoCE: modprobe "
			"rdma_rxe, rdma link add rxe0 type rxe netdev INTERFACE)",
			SDR_VERBS_SYSFS);
	if (access(SDR_VERBS_DEVDIR, F_OK))
		return sdr_verbs_say(
			err, err_len, 0,
			"the kernel has %s, but there is no %s here: hand the device nodes to this "
			"container, or modprobe ib_uverbs",
			name, SDR_VERBS_DEVDIR);
	s.ibv = sdr_ibv_get(err, err_len);
	if (!s.ibv)
		return 0;
	list = s.ibv->get_device_list(&count);
	if (!list || !count) {
		ret = sdr_verbs_say(
			err, err_len, -ENODEV,
			"libibverbs has no driver for %s: apt-get install ibverbs-providers", name);
		goto out;
	}
	s.gids = malloc(SDR_VERBS_GIDS_MAX * sizeof(*s.gids));
	if (!s.gids || getifaddrs(&s.ifs)) {
		ret = -ENOMEM;
		goto out;
	}
	for (i = 0; i < count && !ret; i++)
		ret = sdr_verbs_list_device(&s, list[i]);
	if (!ret && !s.n)
		ret = s.ret;
	if (ret || !s.n)
		goto out;
	*v = s.v;
	*n = s.n;
	s.v = NULL;
	if (err && err_len)
		err[0] = 0;
out:
	free(s.v);
	free(s.gids);
	if (s.ifs)
		freeifaddrs(s.ifs);
	if (list)
		s.ibv->free_device_list(list);
	return ret;
}
