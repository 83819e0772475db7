/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Memory of a device that is not there, see fake_mem.h.  One lock: a copy opens the pages that it
 * touches, and closes them again.  Each allocation is a file in memory, so that what maps that file
 * reaches it as an RDMA device would.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_mem.h"

#define PAGE 4096u
#define MAX  256u /* allocations at a time */

static struct {
	uint8_t *p; /* NULL: free */
	size_t len; /* bytes, whole pages */
	int driver, device;
	int fd;
} mems[MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fake_stats st;
static int fail_in = -1;
static bool dmabufs = true;

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "fake_mem: %s\n", what);
		abort();
	}
}

void *fake_alloc(int driver, int device, size_t len)
{
	size_t all = (len + PAGE) / PAGE * PAGE;
	int fd = memfd_create("fake_mem", MFD_CLOEXEC);
	unsigned int i = 0;
	uint8_t *p;

	must(fd >= 0 && !ftruncate(fd, (off_t)all), "no file");
	p = mmap(NULL, all, PROT_NONE, MAP_SHARED, fd, 0);
	must(p != MAP_FAILED, "no memory");
	pthread_mutex_lock(&lock);
	while (i < MAX && mems[i].p)
		i++;
	if (i == MAX)
		abort(); /* no test needs so many */
	mems[i].p = p;
	mems[i].len = all;
	mems[i].driver = driver;
	mems[i].device = device;
	mems[i].fd = fd;
	pthread_mutex_unlock(&lock);
	return p;
}

/* Under lock; NULL: none of ours. */
static int find(const void *p)
{
	for (unsigned int i = 0; i < MAX; i++)
		if (mems[i].p && (const uint8_t *)p >= mems[i].p &&
		    (const uint8_t *)p < mems[i].p + mems[i].len)
			return (int)i;
	return -1;
}

void fake_free(void *p)
{
	int i;

	pthread_mutex_lock(&lock);
	i = find(p);
	must(i >= 0 && mems[i].p == p, "freed, but not allocated");
	munmap(mems[i].p, mems[i].len);
	close(mems[i].fd);
	mems[i].p = NULL;
	pthread_mutex_unlock(&lock);
}

bool fake_owner(const void *p, int *driver, int *device)
{
	int i;

	pthread_mutex_lock(&lock);
	i = find(p);
	if (i >= 0) {
		*driver = mems[i].driver;
		*device = mems[i].device;
	}
	pthread_mutex_unlock(&lock);
	return i >= 0;
}

bool fake_dmabuf(const void *p, size_t n, bool whole, int *fd, uint64_t *off)
{
	char path[64];
	int i;

	pthread_mutex_lock(&lock);
	i = dmabufs ? find(p) : -1;
	if (i >= 0 && n > mems[i].len - (size_t)((const uint8_t *)p - mems[i].p))
		i = -1;
	if (i >= 0) {
		*off = (uint64_t)((const uint8_t *)p - mems[i].p);
		/* opened anew: a duplicate would share its position */
		snprintf(path, sizeof(path), "/proc/self/fd/%d", mems[i].fd);
		*fd = open(path, O_RDWR | O_CLOEXEC);
		must(*fd >= 0, "no descriptor");
		must(lseek(*fd, whole ? 0 : (off_t)*off, SEEK_SET) >= 0, "no position");
		st.dmabufs++;
	}
	pthread_mutex_unlock(&lock);
	return i >= 0;
}

void fake_dmabufs(bool on)
{
	pthread_mutex_lock(&lock);
	dmabufs = on;
	pthread_mutex_unlock(&lock);
}

void fake_flush(void)
{
	pthread_mutex_lock(&lock);
	st.flushes++;
	pthread_mutex_unlock(&lock);
}

void fake_range(const void *p, void **base, size_t *len)
{
	int i;

	pthread_mutex_lock(&lock);
	i = find(p);
	must(i >= 0, "no allocation");
	*base = mems[i].p;
	*len = mems[i].len;
	pthread_mutex_unlock(&lock);
}

/* Under lock.  The pages of [p, p + n), if it is ours; false: it leaves its allocation. */
static bool gate(const void *p, size_t n, int prot)
{
	uintptr_t lo = (uintptr_t)p / PAGE * PAGE, hi = ((uintptr_t)p + n + PAGE - 1) / PAGE * PAGE;
	int i = find(p);

	if (i < 0)
		return true;
	if (hi > (uintptr_t)mems[i].p + mems[i].len)
		return false;
	must(!mprotect((void *)lo, hi - lo, prot), "mprotect");
	return true;
}

static bool copy(void *to, const void *from, size_t n)
{
	if (!gate(to, n, PROT_READ | PROT_WRITE) || !gate(from, n, PROT_READ | PROT_WRITE))
		return false;
	memcpy(to, from, n);
	return gate(to, n, PROT_NONE) && gate(from, n, PROT_NONE);
}

bool fake_copy(void *to, const void *from, size_t n)
{
	bool ok = false;

	pthread_mutex_lock(&lock);
	if (fail_in != 0) {
		fail_in -= fail_in > 0;
		st.copies++;
		st.bytes += n;
		st.largest = n > st.largest ? n : st.largest;
		ok = copy(to, from, n);
	}
	pthread_mutex_unlock(&lock);
	return ok;
}

void fake_write(void *to, const void *from, size_t n)
{
	pthread_mutex_lock(&lock);
	must(!n || (find(to) >= 0 && copy(to, from, n)), "write outside");
	pthread_mutex_unlock(&lock);
}

void fake_read(void *to, const void *from, size_t n)
{
	pthread_mutex_lock(&lock);
	must(!n || (find(from) >= 0 && copy(to, from, n)), "read outside");
	pthread_mutex_unlock(&lock);
}

void fake_fail(int n)
{
	pthread_mutex_lock(&lock);
	fail_in = n;
	pthread_mutex_unlock(&lock);
}

void fake_stats(struct fake_stats *out)
{
	pthread_mutex_lock(&lock);
	*out = st;
	pthread_mutex_unlock(&lock);
}

void fake_pin(bool on)
{
	pthread_mutex_lock(&lock);
	must(on || st.pinned, "unpinned, but not pinned");
	st.pinned += on ? 1 : -1ull;
	pthread_mutex_unlock(&lock);
}
