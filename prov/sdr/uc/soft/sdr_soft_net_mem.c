/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Rings in this process's memory as the soft engine's carrier: engine "mem".  The same frames,
 * checks and workers as over UDP, with no kernel in between: for tests, examples and measurements
 * of what the engine itself costs.
 *
 * A port is a ring of datagrams (trains, as they were sent, with their segment size) and a bell
 * whose descriptor is readable when there may be something in it (sdr_uc_bell.h).  Senders copy,
 * one at a time per port; the one thread that receives is handed pointers into the ring, which are
 * its own until it asks the next time.  A full ring is a full network (EAGAIN), not a loss.
 * Nothing is lost, reordered or delayed, and there is no address but 127.0.0.1.
 *
 * Ports are found by descriptor and by number without a lock; their structs are used again and
 * never given back, so that a sender that holds one whose port was closed finds it closed, under
 * its lock.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/sdr_assert.h"
#include "sdr_soft_impl.h"
#include "sdr_soft_net.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define SDR_SOFT_MEM_FDS      4096 /* descriptors of this process that can be ports */
#define SDR_SOFT_MEM_PORT     20000u
#define SDR_SOFT_MEM_PORTS    65536u
#define SDR_SOFT_MEM_ALIGN    64u
#define SDR_SOFT_MEM_MTU      65535	 /* bytes of an IP packet */
#define SDR_SOFT_MEM_RING     (1u << 20) /* bytes, at least */
#define SDR_SOFT_MEM_WRAP     UINT32_MAX /* in place of a length: the ring goes on at its start */
#define SDR_SOFT_MEM_DATAGRAM 65536u	 /* bytes, at most */
/* ns that a play takes, by the stamps, in all rings alike: they tell which worker is behind */
#define SDR_SOFT_MEM_PLAY_NS 1000000000u

struct sdr_soft_mem_head {
	uint32_t len, seg; /* bytes; of its segments, 0: it is one */
	uint64_t stamp;	   /* ns, of the wall's clock */
	uint16_t from;	   /* port */
	uint8_t pad[SDR_SOFT_MEM_ALIGN - 18];
};

struct sdr_soft_mem_port {
	struct sdr_soft_mem_port *next; /* of those that are free */
	uint16_t port;			/* 0: it is free */
	pthread_mutex_t lock;		/* of senders, and of who closes it */
	uint8_t *ring;
	uint64_t cap; /* bytes, a power of two */
	/* free-running byte positions: written by senders, */
	_Alignas(SDR_SOFT_CREW_LINE) uint64_t tail;
	/* and by the receiver: up to there all is free again; handed out */
	_Alignas(SDR_SOFT_CREW_LINE) uint64_t head;
	uint64_t taken;
	/* by who measures: held, from there on; and so many times more it is handed out, ... */
	bool held;
	uint64_t mark;
	uint32_t again;
	uint64_t later;		 /* ... with stamps that are later by that, ns */
	struct sdr_uc_bell bell; /* its fd is the port's */
};

static pthread_mutex_t sdr_soft_mem_lock =
	PTHREAD_MUTEX_INITIALIZER; /* of what follows, to write */
static struct sdr_soft_mem_port *sdr_soft_mem_fd[SDR_SOFT_MEM_FDS];
static struct sdr_soft_mem_port *sdr_soft_mem_no[SDR_SOFT_MEM_PORTS];
static struct sdr_soft_mem_port *sdr_soft_mem_free;

static struct sdr_soft_mem_port *sdr_soft_mem_of(int fd)
{
	SDR_ASSERT(fd >= 0 && fd < SDR_SOFT_MEM_FDS && sdr_soft_mem_fd[fd]);
	return sdr_soft_mem_fd[fd];
}

/* ---- open, close ----------------------------------------------------------------------------- */

/* A number that nobody has; 0: none.  Under sdr_soft_mem_lock. */
static uint16_t sdr_soft_mem_number(uint16_t want)
{
	static uint16_t next = SDR_SOFT_MEM_PORT;
	uint32_t i;

	if (want)
		return sdr_soft_mem_no[want] ? 0 : want;
	for (i = 0; i < SDR_SOFT_MEM_PORTS; i++) {
		if (!++next)
			next = SDR_SOFT_MEM_PORT;
		if (!sdr_soft_mem_no[next])
			return next;
	}
	return 0;
}

static struct sdr_soft_mem_port *sdr_soft_mem_port_get(void)
{
	struct sdr_soft_mem_port *p = sdr_soft_mem_free;

	if (p) {
		sdr_soft_mem_free = p->next;
		return p;
	}
	if (posix_memalign((void **)&p, SDR_SOFT_CREW_LINE, sizeof(*p)))
		return NULL;
	memset(p, 0, sizeof(*p));
	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static int sdr_soft_mem_open(struct sdr_soft *s, const struct sockaddr_storage *sa, uint16_t lo,
			     uint16_t hi, const char **what)
{
	uint16_t want = ntohs(((const struct sockaddr_in *)sa)->sin_port), port;
	uint64_t cap = SDR_SOFT_MEM_RING;
	struct sdr_soft_mem_port *p = NULL;
	int fd, ret;

	(void)lo;
	(void)hi;
	s->gso = true;
	s->gro = true;
	s->ecn = false;
	while (cap < s->rcvbuf)
		cap *= 2;
	*what = "eventfd";
	fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	pthread_mutex_lock(&sdr_soft_mem_lock);
	*what = "port";
	ret = -EADDRINUSE;
	port = sdr_soft_mem_number(want);
	if (!port)
		goto err;
	*what = "memory of a ring";
	ret = -ENOMEM;
	if (fd < SDR_SOFT_MEM_FDS)
		p = sdr_soft_mem_port_get();
	if (!p)
		goto err;
	p->ring = aligned_alloc(4096, cap);
	if (!p->ring)
		goto err_port;
	p->cap = cap;
	p->bell = (struct sdr_uc_bell){ .fd = fd };
	p->port = port;
	p->tail = p->head = p->taken = 0;
	p->held = false;
	p->again = 0;
	p->later = 0;
	__atomic_store_n(&sdr_soft_mem_fd[fd], p, __ATOMIC_RELEASE);
	__atomic_store_n(&sdr_soft_mem_no[port], p, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&sdr_soft_mem_lock);
	return fd;

err_port:
	p->next = sdr_soft_mem_free;
	sdr_soft_mem_free = p;
err:
	pthread_mutex_unlock(&sdr_soft_mem_lock);
	close(fd);
	return ret;
}

static void sdr_soft_mem_close(int fd)
{
	struct sdr_soft_mem_port *p = sdr_soft_mem_of(fd);

	pthread_mutex_lock(&sdr_soft_mem_lock);
	sdr_soft_mem_fd[fd] = NULL;
	__atomic_store_n(&sdr_soft_mem_no[p->port], NULL, __ATOMIC_RELEASE);
	pthread_mutex_lock(&p->lock);
	free(p->ring);
	p->ring = NULL;
	p->port = 0;
	close(fd);
	pthread_mutex_unlock(&p->lock);
	p->next = sdr_soft_mem_free;
	sdr_soft_mem_free = p;
	pthread_mutex_unlock(&sdr_soft_mem_lock);
}

static void sdr_soft_mem_addr(struct sockaddr_storage *sa, uint16_t port)
{
	struct sockaddr_in *in = (void *)sa;

	memset(in, 0, sizeof(*in));
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = htons(port);
}

static int sdr_soft_mem_name(int fd, struct sockaddr_storage *sa)
{
	sdr_soft_mem_addr(sa, sdr_soft_mem_of(fd)->port);
	return 0;
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void sdr_soft_mem_fill(struct mmsghdr *v, struct sdr_soft_mem_head *h, uint64_t later)
{
	uint64_t ns = h->stamp + later;
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000u),
			      .tv_nsec = (long)(ns % 1000000000u) };
	int seg = (int)h->seg;
	size_t n;

	v->msg_hdr.msg_iov->iov_base = h + 1;
	v->msg_hdr.msg_flags = 0;
	v->msg_len = h->len;
	sdr_soft_mem_addr(v->msg_hdr.msg_name, h->from);
	v->msg_hdr.msg_namelen = sizeof(struct sockaddr_in);
	n = sdr_soft_cmsg_put(v->msg_hdr.msg_control, SOL_SOCKET, SCM_TIMESTAMPNS, &t, sizeof(t));
	if (seg)
		n += sdr_soft_cmsg_put((char *)v->msg_hdr.msg_control + n, IPPROTO_UDP, UDP_GRO,
				       &seg, sizeof(seg));
	v->msg_hdr.msg_controllen = n;
}

/* Bytes of a datagram in the ring. */
static uint64_t sdr_soft_mem_room(uint32_t len)
{
	return sizeof(struct sdr_soft_mem_head) +
	       ((len + SDR_SOFT_MEM_ALIGN - 1) & ~(SDR_SOFT_MEM_ALIGN - 1));
}

/* All was handed out: what was held once more? */
static bool sdr_soft_mem_rewind(struct sdr_soft_mem_port *p)
{
	uint32_t again = __atomic_load_n(&p->again, __ATOMIC_ACQUIRE);

	if (!again)
		return false;
	__atomic_store_n(&p->again, again - 1, __ATOMIC_RELAXED);
	p->taken = p->mark;
	p->later += SDR_SOFT_MEM_PLAY_NS;
	return true;
}

static unsigned int sdr_soft_mem_take(struct sdr_soft_mem_port *p, struct mmsghdr *v,
				      unsigned int n)
{
	uint64_t tail = __atomic_load_n(&p->tail, __ATOMIC_SEQ_CST), at;
	struct sdr_soft_mem_head *h;
	unsigned int k = 0;

	if (__atomic_load_n(&p->held, __ATOMIC_SEQ_CST))
		return 0;
	while (k < n) {
		if (p->taken == tail && !sdr_soft_mem_rewind(p))
			break;
		at = p->taken & (p->cap - 1);
		h = (void *)(p->ring + at);
		if (h->len == SDR_SOFT_MEM_WRAP) {
			p->taken += p->cap - at;
			continue;
		}
		sdr_soft_mem_fill(&v[k++], h, p->later);
		p->taken += sdr_soft_mem_room(h->len);
	}
	return k;
}

static int sdr_soft_mem_recv(int fd, struct mmsghdr *v, unsigned int n)
{
	struct sdr_soft_mem_port *p = sdr_soft_mem_of(fd);
	unsigned int k;

	/* what is handed out once more is not free */
	if (!__atomic_load_n(&p->again, __ATOMIC_ACQUIRE))
		__atomic_store_n(&p->head, p->taken, __ATOMIC_RELEASE);
	k = sdr_soft_mem_take(p, v, n);
	if (k)
		return (int)k;
	sdr_uc_bell_arm(&p->bell);
	sdr_uc_bell_hear(&p->bell);
	k = sdr_soft_mem_take(p, v, n);
	if (k)
		return (int)k;
	errno = EAGAIN;
	return -1;
}

/* ---- sending --------------------------------------------------------------------------------- */

static uint32_t sdr_soft_mem_seg(const struct msghdr *m)
{
	const struct cmsghdr *cm = m->msg_controllen ? CMSG_FIRSTHDR(m) : NULL;
	uint16_t seg = 0;

	if (cm && cm->cmsg_level == IPPROTO_UDP && cm->cmsg_type == UDP_SEGMENT)
		memcpy(&seg, CMSG_DATA(cm), sizeof(seg));
	return seg;
}

/* Under p->lock.  NULL: no room. */
static struct sdr_soft_mem_head *sdr_soft_mem_place(struct sdr_soft_mem_port *p, uint32_t len,
						    uint64_t *tail)
{
	uint64_t need = sdr_soft_mem_room(len), at = p->tail & (p->cap - 1), skip = 0;

	if (p->cap - at < need)
		skip = p->cap - at;
	if (p->tail + skip + need - __atomic_load_n(&p->head, __ATOMIC_ACQUIRE) > p->cap)
		return NULL;
	if (skip)
		((struct sdr_soft_mem_head *)(void *)(p->ring + at))->len = SDR_SOFT_MEM_WRAP;
	*tail = p->tail + skip + need;
	return (void *)(p->ring + ((p->tail + skip) & (p->cap - 1)));
}

/* 0, or a negative errno. */
static int sdr_soft_mem_put(struct sdr_soft_mem_port *p, const struct msghdr *m, uint16_t from,
			    uint32_t *bytes)
{
	struct sdr_soft_mem_head *h;
	struct timespec t;
	uint64_t tail;
	uint8_t *to;
	size_t i, len = 0;
	int ret = 0;

	for (i = 0; i < m->msg_iovlen; i++)
		len += m->msg_iov[i].iov_len;
	*bytes = (uint32_t)len;
	if (len > SDR_SOFT_MEM_DATAGRAM)
		return -EMSGSIZE;
	pthread_mutex_lock(&p->lock);
	if (!p->ring)
		goto out; /* closed meanwhile: nobody is there */
	ret = -EAGAIN;
	h = sdr_soft_mem_place(p, (uint32_t)len, &tail);
	if (!h)
		goto out;
	ret = 0;
	for (i = 0, to = (uint8_t *)(h + 1); i < m->msg_iovlen; i++) {
		memcpy(to, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
		to += m->msg_iov[i].iov_len;
	}
	clock_gettime(CLOCK_REALTIME, &t);
	h->len = (uint32_t)len;
	h->seg = sdr_soft_mem_seg(m);
	h->stamp = sdr_soft_ns(&t);
	h->from = from;
	__atomic_store_n(&p->tail, tail, __ATOMIC_SEQ_CST);
	sdr_uc_bell_ring(&p->bell);
out:
	pthread_mutex_unlock(&p->lock);
	return ret;
}

static int sdr_soft_mem_send(int fd, struct mmsghdr *v, unsigned int n)
{
	uint16_t from = sdr_soft_mem_of(fd)->port;
	struct sdr_soft_mem_port *p;
	unsigned int k;
	int ret = 0;

	for (k = 0; k < n; k++) {
		const struct sockaddr_in *to = v[k].msg_hdr.msg_name;

		p = __atomic_load_n(&sdr_soft_mem_no[ntohs(to->sin_port)], __ATOMIC_ACQUIRE);
		ret = p ? sdr_soft_mem_put(p, &v[k].msg_hdr, from, &v[k].msg_len) : 0;
		if (ret)
			break;
	}
	if (k)
		return (int)k;
	errno = -ret;
	return -1;
}

void sdr_soft_mem_port_hold(int fd)
{
	struct sdr_soft_mem_port *p = sdr_soft_mem_of(fd);

	p->mark = __atomic_load_n(&p->tail, __ATOMIC_SEQ_CST);
	__atomic_store_n(&p->held, true, __ATOMIC_SEQ_CST);
}

void sdr_soft_mem_port_play(int fd, uint32_t times)
{
	struct sdr_soft_mem_port *p = sdr_soft_mem_of(fd);
	bool empty = __atomic_load_n(&p->tail, __ATOMIC_SEQ_CST) == p->mark;

	SDR_ASSERT(times && p->held);
	__atomic_store_n(&p->again, empty ? 0 : times - 1, __ATOMIC_RELEASE);
	__atomic_store_n(&p->held, false, __ATOMIC_SEQ_CST);
	sdr_uc_bell_again(&p->bell);
}

static void sdr_soft_mem_stamp(int fd)
{
	(void)fd;
}

static uint32_t sdr_soft_mem_got(int fd, int which)
{
	uint64_t cap = sdr_soft_mem_of(fd)->cap;

	(void)which;
	return cap < UINT32_MAX ? (uint32_t)cap : UINT32_MAX;
}

/* A datagram's head and rounding take as much again of the smallest packets, if they come alone. */
static uint32_t sdr_soft_mem_window(int fd, uint32_t mtu)
{
	(void)mtu;
	return sdr_soft_mem_got(fd, 0) / 4;
}

static int sdr_soft_mem_device_mtu(const struct sockaddr *sa)
{
	(void)sa;
	return SDR_SOFT_MEM_MTU;
}

static uint32_t sdr_soft_mem_path_mtu(const struct sdr_soft *s, uint32_t source,
				      const struct sockaddr_storage *to)
{
	(void)s;
	(void)source;
	(void)to;
	return 0;
}

const struct sdr_soft_net sdr_soft_net_mem = {
	.name = "mem",
	.spare = 1,
	.open = sdr_soft_mem_open,
	.close = sdr_soft_mem_close,
	.name_get = sdr_soft_mem_name,
	.recv = sdr_soft_mem_recv,
	.send = sdr_soft_mem_send,
	.stamp = sdr_soft_mem_stamp,
	.window = sdr_soft_mem_window,
	.got = sdr_soft_mem_got,
	.device_mtu = sdr_soft_mem_device_mtu,
	.path_mtu = sdr_soft_mem_path_mtu,
};
