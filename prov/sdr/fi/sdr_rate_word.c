/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Where the word of a ceiling lies (rel/path/sdr_ceiling.c): in the endpoint, in the process, or in
 * a file that all processes of this user on this host map.
 *
 * The file lies in /dev/shm, where everybody may make files: it is taken only if it is a plain file
 * of this user's with one name, to which nobody else has access; anything else is an error, since a
 * ceiling that is shared with the wrong people, or with nobody, is none.  It is mapped once a
 * process, for good; a child goes on sharing it.  A reboot takes file and clock away together.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rel/path/sdr_ceiling.h"
#include "sdr_env.h"
#include "sdr_rate_word.h"

#define SDR_RATE_WORD_LEN 4096 /* bytes of the file: the word is at its beginning */

static struct sdr_ceiling_word sdr_process_word;

static pthread_mutex_t sdr_host_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sdr_ceiling_word *sdr_host_word; /* NULL: not mapped yet */

/* What is wrong with it; NULL: nothing. */
static const char *sdr_rate_file_bad(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return strerror(errno);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1)
		return "is no plain file with one name";
	if (st.st_uid != geteuid())
		return "belongs to another user";
	if (st.st_mode & (S_IRWXG | S_IRWXO))
		return "is open to other users";
	if (st.st_size < SDR_RATE_WORD_LEN && ftruncate(fd, SDR_RATE_WORD_LEN))
		return strerror(errno);
	return NULL;
}

int sdr_rate_word_map(const char *path, struct sdr_ceiling_word **word, char *err, size_t len)
{
	int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
	const char *bad = fd < 0 ? strerror(errno) : sdr_rate_file_bad(fd);
	void *p = MAP_FAILED;

	if (!bad) {
		p = mmap(NULL, SDR_RATE_WORD_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED)
			bad = strerror(errno);
	}
	if (bad)
		snprintf(err, len,
			 "FI_SDR_RATE_MAX: cannot share it over the host: %s: %s; remove that file",
			 path, bad);
	if (fd >= 0)
		close(fd);
	*word = bad ? NULL : p;
	return bad ? -EACCES : 0;
}

int sdr_rate_word(uint8_t share, struct sdr_ceiling_word **word, char *err, size_t len)
{
	char path[64];
	int ret = 0;

	*word = NULL;
	switch (share) {
	case SDR_SHARE_PROCESS:
		*word = &sdr_process_word;
		break;
	case SDR_SHARE_HOST:
		pthread_mutex_lock(&sdr_host_lock);
		snprintf(path, sizeof(path), "/dev/shm/sdr-rate-max-%u", (unsigned int)geteuid());
		if (!sdr_host_word)
			ret = sdr_rate_word_map(path, &sdr_host_word, err, len);
		*word = sdr_host_word;
		pthread_mutex_unlock(&sdr_host_lock);
		break;
	}
	return ret;
}
