/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * ibv_reg_dmabuf_mr for a device that has none (soft RoCE), as the provider finds it: dlvsym of the
 * program that this is linked into, which must export it (-export-dynamic), says so.
 *
 * What is registered is a mapping of the file behind the "dma-buf" (fabtests/hmem/fake_mem.c), whose
 * position is where the buffer begins.  As strict as the kernel: place and address agree in a page,
 * and nothing lies outside.  Mappings stay, one a file: a registration may outlive its descriptor.
 */
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dmabuf_shim.h"

#define PAGE 4096u
#define MAX  64u /* files */

static struct {
	ino_t ino;
	off_t size;
	unsigned char *p;
} maps[MAX];
static unsigned int nmaps, made;
static bool on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ibv_mr *(*reg_iova)(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				  int access);

void dmabuf_shim(bool is_on)
{
	on = is_on;
}

unsigned int dmabuf_shim_made(void)
{
	return made;
}

/* Under lock.  The file's bytes; NULL: errno. */
static unsigned char *map_of(int fd, off_t *size)
{
	struct stat st;
	unsigned int i;

	if (fstat(fd, &st))
		return NULL;
	for (i = 0; i < nmaps; i++) {
		*size = maps[i].size;
		if (maps[i].ino == st.st_ino)
			return maps[i].p;
	}
	errno = ENOMEM;
	if (nmaps == MAX)
		return NULL;
	maps[i].p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (maps[i].p == MAP_FAILED)
		return NULL;
	maps[i].ino = st.st_ino;
	maps[i].size = *size = st.st_size;
	nmaps++;
	return maps[i].p;
}

static struct ibv_mr *reg_dmabuf(struct ibv_pd *pd, uint64_t offset, size_t len, uint64_t iova,
				 int fd, int access)
{
	struct ibv_mr *mr = NULL;
	unsigned char *p;
	off_t size, at;

	pthread_mutex_lock(&lock);
	p = map_of(fd, &size);
	at = p ? lseek(fd, 0, SEEK_CUR) + (off_t)offset : 0;
	if (p && (at % PAGE != (off_t)(iova % PAGE) || at > size || (off_t)len > size - at))
		errno = EINVAL;
	else if (p)
		mr = reg_iova(pd, p + at, len, iova, access);
	made += mr != NULL;
	pthread_mutex_unlock(&lock);
	return mr;
}

void *dlvsym(void *handle, const char *name, const char *version)
{
	void *(*real)(void *handle, const char *name, const char *version);
	void *p = dlsym(RTLD_NEXT, "dlvsym");

	memcpy(&real, &p, sizeof(real));
	if (!on || strcmp(name, "ibv_reg_dmabuf_mr"))
		return real(handle, name, version);
	p = real(handle, "ibv_reg_mr_iova", "IBVERBS_1.7");
	memcpy(&reg_iova, &p, sizeof(reg_iova));
	return (void *)reg_dmabuf;
}
