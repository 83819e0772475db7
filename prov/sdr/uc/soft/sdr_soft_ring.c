/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A ring of trains in memory that two processes share: one puts in, one takes out.
 *
 * It is a memfd of the sender's, which the receiver opens through /proc: the kernel lets only
 * processes of the same user do that, nothing has a name, and nothing stays when both are gone.
 * Its size is sealed, so that neither can take the memory away from under the other.
 *
 * Counters run free. `in` is stored with release behind the bytes, `out` behind the last use of
 * them; each side keeps its own counter to itself and checks the other's: whatever a process
 * writes there, the other reads and writes inside of its own mapping, and calls the ring broken.
 * What a train has in it may change while it is read, as with any memory that is shared: who takes
 * it looks at each field once.
 *
 * Each side holds a lock of the open file (OFD) on a byte of its own, which the kernel gives up
 * when the process ends, however it ends. No timers; a side is used by one thread at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sdr_assert.h"
#include "sdr_soft_ring.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U /* Linux 6.3 */
#endif

#define RING_MAGIC 0x31676e6972726473ull /* "sdrring1" */
#define RING_HEAD  65536u		 /* bytes in front of the trains: a page of any kernel */
#define RING_FILE  (RING_HEAD + SDR_SOFT_RING_BYTES)
#define RING_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define RING_ALIGN 64u
#define RING_NAME  "sdr"
#define RING_LINK  "/memfd:" RING_NAME " (deleted)" /* as proc(5) shows it */

#define RING_BYTE_TX 0 /* that the sender locks, */
#define RING_BYTE_RX 1 /* and the receiver */

_Static_assert(sizeof(struct sdr_soft_ring_head) <= RING_HEAD, "it has a page");
_Static_assert(sizeof(struct sdr_soft_ring_train) == RING_ALIGN, "trains are aligned");
_Static_assert(!(SDR_SOFT_RING_BYTES & (SDR_SOFT_RING_BYTES - 1)), "a power of two");

static uint64_t ring_room(uint32_t bytes)
{
	return sizeof(struct sdr_soft_ring_train) + ((bytes + RING_ALIGN - 1) & ~(RING_ALIGN - 1));
}

static uint8_t *ring_at(const struct sdr_soft_ring *r, uint64_t at)
{
	return r->data + (at & (SDR_SOFT_RING_BYTES - 1));
}

static int ring_lock(int fd, int byte)
{
	struct flock l = { .l_type = F_WRLCK, .l_start = byte, .l_len = 1 };

	return fcntl(fd, F_OFD_SETLK, &l) ? -errno : 0;
}

static int ring_map(struct sdr_soft_ring *r)
{
	const size_t whole = RING_FILE + SDR_SOFT_RING_BYTES;
	uint8_t *p;

	p = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	if (mmap(p, RING_FILE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, r->fd, 0) ==
		    MAP_FAILED ||
	    mmap(p + RING_FILE, SDR_SOFT_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
		 r->fd, RING_HEAD) == MAP_FAILED) {
		int err = errno;

		munmap(p, whole);
		return -err;
	}
	r->head = (void *)p;
	r->data = p + RING_HEAD;
	return 0;
}

/* Hosts may refuse files that could be executed (vm.memfd_noexec); older ones do not know. */
static int ring_file(void)
{
	const unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create(RING_NAME, flags | MFD_NOEXEC_SEAL);

	return fd < 0 && errno == EINVAL ? memfd_create(RING_NAME, flags) : fd;
}

int sdr_soft_ring_make(struct sdr_soft_ring *r, uint64_t nonce, uint32_t port)
{
	int ret;

	memset(r, 0, sizeof(*r));
	r->fd = ring_file();
	if (r->fd < 0)
		return -errno;
	if (ftruncate(r->fd, RING_FILE) || fcntl(r->fd, F_ADD_SEALS, RING_SEALS))
		ret = -errno;
	else
		ret = ring_lock(r->fd, RING_BYTE_TX);
	if (!ret)
		ret = ring_map(r);
	if (ret) {
		close(r->fd);
		return ret;
	}
	r->head->nonce = nonce;
	r->head->port = port;
	__atomic_store_n(&r->head->magic, RING_MAGIC, __ATOMIC_RELEASE);
	return 0;
}

/* It is what make has made, and of our own user. */
static int ring_check(int fd)
{
	struct stat st;
	int seals;

	if (fstat(fd, &st))
		return -errno;
	seals = fcntl(fd, F_GET_SEALS);
	if (!S_ISREG(st.st_mode) || st.st_size != RING_FILE || seals < 0 ||
	    (seals & RING_SEALS) != RING_SEALS)
		return -EBADMSG;
	return st.st_uid == geteuid() ? 0 : -EACCES;
}

int sdr_soft_ring_open(struct sdr_soft_ring *r, pid_t pid, int fd, uint64_t nonce, uint32_t port)
{
	char path[64], is[sizeof(RING_LINK)] = "";
	int ret;

	memset(r, 0, sizeof(*r));
	snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)pid, fd);
	/* nothing else is opened: there are files to which that does something */
	if (readlink(path, is, sizeof(is) - 1) < 0)
		return -errno;
	if (strcmp(is, RING_LINK))
		return -EBADMSG;
	r->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (r->fd < 0)
		return -errno;
	ret = ring_check(r->fd);
	if (!ret)
		ret = ring_lock(r->fd, RING_BYTE_RX); /* one receiver */
	if (!ret)
		ret = ring_map(r);
	if (ret) {
		close(r->fd);
		return ret;
	}
	if (__atomic_load_n(&r->head->magic, __ATOMIC_ACQUIRE) != RING_MAGIC ||
	    r->head->nonce != nonce || r->head->port != port) {
		sdr_soft_ring_close(r, false);
		return -EBADMSG;
	}
	r->in = r->out = __atomic_load_n(&r->head->out, __ATOMIC_RELAXED);
	__atomic_store_n(&r->head->reads, 1, __ATOMIC_RELEASE);
	return 0;
}

void sdr_soft_ring_close(struct sdr_soft_ring *r, bool sender)
{
	if (!r->head)
		return;
	__atomic_store_n(sender ? &r->head->left : &r->head->gone, 1, __ATOMIC_RELEASE);
	munmap(r->head, RING_FILE + SDR_SOFT_RING_BYTES);
	close(r->fd); /* and the lock with it */
	r->head = NULL;
}

bool sdr_soft_ring_lives(const struct sdr_soft_ring *r, bool sender)
{
	struct flock l = { .l_type = F_WRLCK,
			   .l_start = sender ? RING_BYTE_RX : RING_BYTE_TX,
			   .l_len = 1 };

	if (__atomic_load_n(sender ? &r->head->gone : &r->head->left, __ATOMIC_ACQUIRE))
		return false;
	return !fcntl(r->fd, F_OFD_GETLK, &l) && l.l_type != F_UNLCK;
}

int sdr_soft_ring_put(struct sdr_soft_ring *r, const struct iovec *v, size_t n,
		      const struct sdr_soft_ring_train *t)
{
	uint64_t need = ring_room(t->bytes);
	uint8_t *p = ring_at(r, r->in);
	size_t i;

	SDR_ASSERT(t->bytes && t->bytes < SDR_SOFT_RING_TRAIN);
	if (SDR_SOFT_RING_BYTES - (r->in - r->out) < need) {
		r->out = __atomic_load_n(&r->head->out, __ATOMIC_ACQUIRE);
		if (r->in - r->out > SDR_SOFT_RING_BYTES ||
		    __atomic_load_n(&r->head->gone, __ATOMIC_RELAXED)) {
			r->out = r->in; /* no room is ever counted from what it says */
			return -EPIPE;
		}
		if (SDR_SOFT_RING_BYTES - (r->in - r->out) < need)
			return -EAGAIN;
	}
	memcpy(p, t, sizeof(*t));
	p += sizeof(*t);
	for (i = 0; i < n; i++) {
		memcpy(p, v[i].iov_base, v[i].iov_len);
		p += v[i].iov_len;
	}
	r->in += need;
	__atomic_store_n(&r->head->in, r->in, __ATOMIC_RELEASE);
	return 0;
}

/* The receiver sets `asleep` and looks at `in`, the sender the other way round. */
bool sdr_soft_ring_wakes(struct sdr_soft_ring *r)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return __atomic_load_n(&r->head->asleep, __ATOMIC_RELAXED) &&
	       __atomic_exchange_n(&r->head->asleep, 0, __ATOMIC_RELAXED);
}

uint8_t *sdr_soft_ring_next(struct sdr_soft_ring *r, struct sdr_soft_ring_train *t, bool *broken)
{
	uint64_t there = __atomic_load_n(&r->head->in, __ATOMIC_ACQUIRE) - r->in;
	uint8_t *p = ring_at(r, r->in);

	*broken = false;
	if (!there)
		return NULL;
	memcpy(t, p, sizeof(*t)); /* what is checked is what is used */
	if (there > SDR_SOFT_RING_BYTES - (r->in - r->out) || !t->bytes ||
	    t->bytes >= SDR_SOFT_RING_TRAIN || !t->seg || ring_room(t->bytes) > there) {
		*broken = true;
		return NULL;
	}
	r->in += ring_room(t->bytes);
	return p + sizeof(*t);
}

void sdr_soft_ring_free(struct sdr_soft_ring *r)
{
	r->out = r->in;
	__atomic_store_n(&r->head->out, r->out, __ATOMIC_RELEASE);
}

bool sdr_soft_ring_sleep(struct sdr_soft_ring *r)
{
	__atomic_store_n(&r->head->asleep, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return sdr_soft_ring_has(r);
}
