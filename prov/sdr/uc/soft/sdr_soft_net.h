/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What carries the soft engine's datagrams: the kernel's UDP, or rings in this process's memory.
 *
 * Both are known by descriptors that poll and epoll take.  Beside its row nothing of a carrier is
 * known to the rest of the engine.
 */
#ifndef SDR_SOFT_NET_H
#define SDR_SOFT_NET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

struct sdr_soft;

struct sdr_soft_net {
	const char *name; /* of the engine that it makes: "soft", "mem" */
	/*
	 * Descriptors show at any time whether there is something, and what was received stays when
	 * more is.
	 */
	bool shows;
	/*
	 * Processors that no worker sends with, the owner's among them: the kernel's half of the
	 * work, a peer on this host and the application need some.
	 */
	uint8_t spare;
	/*
	 * A descriptor bound to sa (port 0: any, or one of lo..hi where lo is not 0), with the
	 * buffers that s asks for; s->gso, gro and ecn are what is there.  Descriptor or a negative
	 * errno; *what: the call that failed.
	 */
	int (*open)(struct sdr_soft *s, const struct sockaddr_storage *sa, uint16_t lo, uint16_t hi,
		    const char **what);
	void (*close)(int fd);
	/* Its own address.  0 or a negative errno. */
	int (*name_get)(int fd, struct sockaddr_storage *sa);
	/*
	 * As recvmmsg and sendmmsg without waiting.  What recv hands out may lie elsewhere than in
	 * the buffers it was given, and stays until the next call.
	 */
	int (*recv)(int fd, struct mmsghdr *v, unsigned int n);
	int (*send)(int fd, struct mmsghdr *v, unsigned int n);
	/*
	 * What is sent leaves by the device that has the address.  Its index; 0: routing chooses,
	 * as ever.  NULL: there are no devices.
	 */
	uint32_t (*pin)(int fd, const struct sockaddr *sa);
	/* What is received from now on says when it came (SCM_TIMESTAMPNS). */
	void (*stamp)(int fd);
	/* Bytes of payload that may arrive unread, in packets of mtu bytes. */
	uint32_t (*window)(int fd, uint32_t mtu);
	/* Of a buffer (SO_RCVBUF, SO_SNDBUF), in bytes as they are asked for. */
	uint32_t (*got)(int fd, int which);
	/* As sdr_uc_device_mtu. */
	int (*device_mtu)(const struct sockaddr *sa);
	/* What is sent to there stays on this host (sdr_soft_host.h); NULL: that is no question. */
	bool (*stays)(const struct sockaddr *to);
	/* Bytes of an IP packet from a source to there that this host lets out; 0: not known. */
	uint32_t (*path_mtu)(const struct sdr_soft *s, uint32_t source,
			     const struct sockaddr_storage *to);
};

extern const struct sdr_soft_net sdr_soft_net_udp;
extern const struct sdr_soft_net sdr_soft_net_mem;

/* A port of the latter: nothing is received from it (EAGAIN) until it is played.  Any thread. */
void sdr_soft_mem_port_hold(int fd);
void sdr_soft_mem_port_play(int fd, uint32_t times);

#endif /* SDR_SOFT_NET_H */
