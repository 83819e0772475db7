/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * An HSA runtime without a device: the calls that the provider makes, as AMD documents them, over
 * fake_mem.  Agent 1 is a CPU, those from 2 on are GPUs.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "fake_mem.h"

#define DRIVER	  2
#define HSA_ERROR 0x1000

struct agent {
	uint64_t handle;
};

struct info { /* hsa_amd_pointer_info_t */
	uint32_t size;
	int type;
	void *agent_base, *host_base;
	size_t len;
	void *user;
	struct agent owner;
	uint32_t global_flags;
};

static int started;

int hsa_init(void);
int hsa_iterate_agents(int (*each)(struct agent agent, void *data), void *data);
int hsa_agent_get_info(struct agent agent, int attr, void *value);
int hsa_memory_copy(void *to, const void *from, size_t n);
int hsa_amd_pointer_info(const void *ptr, struct info *info, void *alloc, uint32_t *n,
			 struct agent **agents);
int hsa_amd_memory_lock(void *p, size_t len, struct agent *agents, int n, void **out);
int hsa_amd_memory_unlock(void *p);
int hsa_system_get_info(int attr, void *value);
int hsa_amd_portable_export_dmabuf(const void *p, size_t n, int *fd, uint64_t *off);

int hsa_init(void)
{
	started = 1;
	return 0;
}

int hsa_iterate_agents(int (*each)(struct agent agent, void *data), void *data)
{
	int ret = started ? 0 : HSA_ERROR;

	for (uint64_t h = 1; !ret && h < 2 + FAKE_DEVICES; h++)
		ret = each((struct agent){ h }, data);
	return ret;
}

int hsa_agent_get_info(struct agent agent, int attr, void *value)
{
	if (attr != 17 || !agent.handle) /* HSA_AGENT_INFO_DEVICE */
		return HSA_ERROR;
	*(int *)value = agent.handle > 1;
	return 0;
}

int hsa_memory_copy(void *to, const void *from, size_t n)
{
	return started && fake_copy(to, from, n) ? 0 : HSA_ERROR;
}

int hsa_amd_pointer_info(const void *ptr, struct info *info, void *alloc, uint32_t *n,
			 struct agent **agents)
{
	int driver, device;

	if (alloc || n || agents || info->size < sizeof(*info))
		return HSA_ERROR;
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	if (fake_owner(ptr, &driver, &device) && driver == DRIVER) {
		info->type = 1; /* HSA_EXT_POINTER_TYPE_HSA */
		info->owner.handle = 2 + (uint64_t)device;
	}
	return 0;
}

int hsa_amd_memory_lock(void *p, size_t len, struct agent *agents, int n, void **out)
{
	if (!p || !len || agents || n)
		return HSA_ERROR;
	*out = p;
	fake_pin(true);
	return 0;
}

int hsa_amd_memory_unlock(void *p)
{
	if (!p)
		return HSA_ERROR;
	fake_pin(false);
	return 0;
}

int hsa_system_get_info(int attr, void *value)
{
	if (!started || attr != 0x204) /* HSA_AMD_SYSTEM_INFO_DMABUF_SUPPORTED */
		return HSA_ERROR;
	*(bool *)value = true;
	return 0;
}

int hsa_amd_portable_export_dmabuf(const void *p, size_t n, int *fd, uint64_t *off)
{
	return started && n && fake_dmabuf(p, n, true, fd, off) ? 0 : HSA_ERROR;
}
