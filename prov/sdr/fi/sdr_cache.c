/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * FI_SDR_CACHE: a file that remembers paths from process to process; its bytes are those of
 * rel/path/sdr_path_codec.c.
 *
 * Read once when the first domain opens, written when the last one closes or the process ends, by
 * the thread that does that.  Writing first takes what other processes have written meanwhile, then
 * puts a new file in place of the old one, so that a reader finds one or the other; a lock on the
 * directory keeps two writers apart, where the file system has locks, and is not waited for
 * longer than SDR_CACHE_LOCK_TRIES naps.
 *
 * The file is its owner's alone.  One that is somebody else's, that others may write, that is no
 * regular file, or that was made by something else or by a later version of this, is neither
 * believed nor replaced; a damaged one is replaced.  Whatever is wrong is a warning: a process
 * works without the file.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "rel/path/sdr_path_codec.h"

#include "sdr_cache.h"
#include "sdr_prov.h"
#include "sdr_wait.h"

#define SDR_CACHE_LOCK_TRIES 20u
#define SDR_CACHE_LOCK_NAP   5000000 /* ns */

/* Says what is wrong, and returns err. */
static int cache_refuse(const char *name, int err, const char *what)
{
	sdr_warn_once("FI_SDR_CACHE=\"%s\": %s", name, what);
	return err;
}

/* All of it, at most len and a byte; or a negative errno. */
static ssize_t cache_slurp(int fd, uint8_t *buf, size_t len)
{
	size_t n = 0;

	while (n < len) {
		ssize_t k = read(fd, buf + n, len - n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		if (!k)
			break;
		n += (size_t)k;
	}
	return (ssize_t)n;
}

/* 0: it may be read. */
static int cache_trust(const char *name, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return cache_refuse(name, -errno, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return cache_refuse(name, -EINVAL, "not a regular file: not used");
	if (st.st_uid != geteuid())
		return cache_refuse(name, -EPERM, "belongs to another user: not used");
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return cache_refuse(name, -EPERM, "others may write it (chmod go-w): not used");
	return 0;
}

static int cache_take(const char *name, int fd, uint8_t *buf, struct sdr_path_mem *m)
{
	ssize_t n = cache_slurp(fd, buf, SDR_PATH_CODEC_MAX + 1);
	int ret;

	if (n < 0)
		return cache_refuse(name, (int)n, strerror((int)-n));
	if (!n)
		return 0; /* as mktemp makes it */
	ret = sdr_path_decode(m, sdr_mono_ns(), (uint64_t)time(NULL), buf, (size_t)n);
	if (ret == -EPROTO)
		return cache_refuse(name, ret, "not a cache of paths: not used, and left as it is");
	if (ret == -EPROTONOSUPPORT)
		return cache_refuse(name, ret, "of a later version: not used, and left as it is");
	if (ret < 0)
		cache_refuse(name, ret, "damaged: what it knew is lost, it is begun anew");
	return 0;
}

int sdr_cache_read(const char *name, struct sdr_path_mem *m)
{
	/* Not a queue, which would wait for its other end. */
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), ret;
	uint8_t *buf;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return cache_refuse(name, -errno,
				    errno == ELOOP ? "a symbolic link: not used" : strerror(errno));
	ret = cache_trust(name, fd);
	buf = ret ? NULL : malloc(SDR_PATH_CODEC_MAX + 1);
	if (buf)
		ret = cache_take(name, fd, buf, m);
	free(buf);
	close(fd);
	return ret;
}

/* A descriptor whose closing ends the lock; -1: there is none. */
static int cache_lock(const char *name)
{
	const struct timespec nap = { .tv_nsec = SDR_CACHE_LOCK_NAP };
	const char *slash = strrchr(name, '/');
	char dir[PATH_MAX] = ".";
	uint32_t i;
	int fd;

	if (slash)
		snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name) + 1, name);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	for (i = 0; i < SDR_CACHE_LOCK_TRIES && flock(fd, LOCK_EX | LOCK_NB); i++) {
		if (errno != EWOULDBLOCK)
			break;
		nanosleep(&nap, NULL);
	}
	return fd;
}

static int cache_put(int fd, const uint8_t *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, buf + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	return 0;
}

/* The new file, and then in place of the old one. */
static int cache_replace(const char *name, const uint8_t *buf, size_t len)
{
	char temp[PATH_MAX];
	int fd, ret;

	if ((size_t)snprintf(temp, sizeof(temp), "%s.XXXXXX", name) >= sizeof(temp))
		return -ENAMETOOLONG;
	fd = mkostemp(temp, O_CLOEXEC); /* for its owner alone */
	if (fd < 0)
		return -errno;
	ret = cache_put(fd, buf, len);
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && rename(temp, name))
		ret = -errno;
	if (ret)
		unlink(temp);
	return ret;
}

int sdr_cache_write(const char *name, struct sdr_path_mem *m)
{
	int lock = cache_lock(name), ret = sdr_cache_read(name, m);
	uint8_t *buf = ret ? NULL : malloc(SDR_PATH_CODEC_MAX);
	size_t len;

	if (buf) {
		len = sdr_path_encode(m, sdr_mono_ns(), (uint64_t)time(NULL), buf,
				      SDR_PATH_CODEC_MAX);
		ret = cache_replace(name, buf, len);
		if (ret)
			cache_refuse(name, ret, strerror(-ret));
	}
	free(buf);
	if (lock >= 0)
		close(lock);
	return ret;
}
