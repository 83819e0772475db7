/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The device behind an entry of fi_getinfo (struct fid_nic of info->nic).
 *
 * Entries of RDMA devices have one; those of sockets have none.  It is one piece of memory: its
 * strings and attributes lie inside it, libfabric copies and frees it through the table below
 * only.  Beside what libfabric prints of any device it says which engine would move the packets and
 * how late ones are kept out, and it carries to fi_domain whether the application named the
 * device by name.  No threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "uc/sdr_uc.h"
#include "uc/sdr_uc_addr.h"
#include "uc/sdr_uc_engine.h"

#include "sdr_nic.h"
#include "sdr_enosys.h"
#include "sdr_prov.h"

struct sdr_nic {
	struct fid_nic fid;
	struct fi_device_attr dev;
	struct fi_bus_attr bus;
	struct fi_link_attr link;
	struct sdr_uc_dev d;
	bool asked;
	char address[64];
};

static struct fi_ops sdr_nic_ops;

/* Pointers into itself. */
static void sdr_nic_tie(struct sdr_nic *n)
{
	n->fid.device_attr = &n->dev;
	n->fid.bus_attr = &n->bus;
	n->fid.link_attr = &n->link;
	n->dev.name = n->d.name;
	n->dev.driver = n->d.driver[0] ? n->d.driver : NULL;
	n->link.address = n->address;
	n->link.network_type = (char *)(uintptr_t) "Ethernet";
}

static int sdr_nic_close(struct fid *fid)
{
	free(container_of(fid, struct sdr_nic, fid.fid));
	return 0;
}

static int sdr_nic_control(struct fid *fid, int command, void *arg)
{
	struct sdr_nic *n;

	if (command != FI_DUP)
		return -FI_ENOSYS;
	n = malloc(sizeof(*n));
	if (!n)
		return -FI_ENOMEM;
	memcpy(n, container_of(fid, struct sdr_nic, fid.fid), sizeof(*n));
	sdr_nic_tie(n);
	*(struct fid_nic **)arg = &n->fid;
	return 0;
}

/* Appends, as libfabric's own does. */
static int sdr_nic_tostr(const struct fid *fid, char *buf, size_t len)
{
	const struct sdr_nic *n = (const struct sdr_nic *)(const void *)fid;
	size_t at = strnlen(buf, len);

	if (at + 1 >= len)
		return -FI_ETOOSMALL;
	snprintf(buf + at, len - at,
		 "    fid_nic:\n"
		 "        sdr engine: %s\n"
		 "        late packets: %s\n"
		 "        fi_device_attr:\n"
		 "            name: %s\n"
		 "            driver: %s\n"
		 "            port: %u, GID index %d, interface %s\n"
		 "        fi_bus_attr:\n"
		 "            fi_bus_type: %s\n"
		 "        fi_link_attr:\n"
		 "            address: %s\n"
		 "            mtu: %zu\n"
		 "            speed: %zu\n"
		 "            state: FI_LINK_UP\n"
		 "            network_type: %s\n",
		 n->d.engine->name, n->d.late, n->d.name, n->d.driver[0] ? n->d.driver : "unknown",
		 n->d.port, n->d.gid_index, n->d.netdev[0] ? n->d.netdev : "unknown",
		 n->bus.bus_type == FI_BUS_PCI ? "FI_BUS_PCI" : "FI_BUS_UNKNOWN", n->address,
		 n->link.mtu, n->link.speed, n->link.network_type);
	return 0;
}

static struct fi_ops sdr_nic_ops = {
	.size = sizeof(struct fi_ops),
	.close = sdr_nic_close,
	.bind = sdr_no_bind,
	.control = sdr_nic_control,
	.ops_open = sdr_no_ops_open,
	.tostr = sdr_nic_tostr,
	.ops_set = sdr_no_ops_set,
};

/* Where it is plugged in, for those who choose devices near a processor. */
static void sdr_nic_bus(struct sdr_nic *n)
{
	char path[sizeof("/sys/class/infiniband//device") + SDR_UC_DEV_NAME], link[256];
	unsigned int domain, bus, dev, fn;
	const char *last;
	ssize_t len;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/device", n->d.name);
	len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0)
		return;
	link[len] = 0;
	last = strrchr(link, '/');
	if (sscanf(last ? last + 1 : link, "%x:%x:%x.%x", &domain, &bus, &dev, &fn) != 4)
		return;
	n->bus.bus_type = FI_BUS_PCI;
	n->bus.attr.pci.domain_id = (uint16_t)domain;
	n->bus.attr.pci.bus_id = (uint8_t)bus;
	n->bus.attr.pci.device_id = (uint8_t)dev;
	n->bus.attr.pci.function_id = (uint8_t)fn;
}

struct fid_nic *sdr_nic_make(const struct sdr_uc_dev *d, bool asked)
{
	struct sdr_nic *n = calloc(1, sizeof(*n));
	struct sdr_uc_addr addr;

	if (!n)
		return NULL;
	n->fid.fid.fclass = FI_CLASS_NIC;
	n->fid.fid.ops = &sdr_nic_ops;
	n->d = *d;
	n->asked = asked;
	n->bus.bus_type = FI_BUS_UNKNOWN;
	n->link.mtu = d->mtu;
	n->link.speed = (size_t)d->speed_bps;
	n->link.state = FI_LINK_UP;
	if (sdr_uc_addr_from_sockaddr(&addr, (const struct sockaddr *)&d->addr) == 0)
		sdr_uc_addr_format(&addr, n->address, sizeof(n->address));
	sdr_nic_bus(n);
	sdr_nic_tie(n);
	return &n->fid;
}

const struct sdr_uc_dev *sdr_nic_dev(const struct fid_nic *nic, bool *asked)
{
	const struct sdr_nic *n = (const struct sdr_nic *)(const void *)nic;

	if (!nic || nic->fid.ops != &sdr_nic_ops)
		return NULL;
	*asked = n->asked;
	return &n->d;
}
