/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Wait objects: what threads sleep on (sdr_wait.c).  Each queue and each counter has one.
 */
#ifndef SDR_WAIT_H
#define SDR_WAIT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rdma/fi_eq.h>

struct sdr_domain;
struct sdr_ep;

/* A thread inside a blocking read. */
struct sdr_sleeper {
	struct sdr_sleeper *next;
	int fd; /* eventfd */
	bool on;
	pthread_t thread;   /* that is inside, while on */
	atomic_bool raised; /* fd is readable */
};

struct sdr_wait {
	enum fi_wait_obj obj;
	struct sdr_domain *dom; /* NULL: an event queue's */
	int fd;			/* FI_WAIT_FD: eventfd */
	atomic_bool raised;	/* fd is readable */
	int epfd;		/* FI_WAIT_FD with endpoints: what is handed out; -1 none */
	/* epoll descriptor over the endpoints, for blocking reads; -1 before the first */
	int nap_fd;
	pthread_mutex_t lock;
	struct sdr_sleeper *list; /* kept for the next */
	atomic_int sleepers;	  /* of them, inside */
	pthread_mutex_t mutex;	  /* FI_WAIT_MUTEX_COND */
	pthread_cond_t cond;
	struct sdr_wait *cond_next; /* under dom->conds_lock, like the next */
	bool cond_due;
};

/* dom: NULL for event queues.  -FI_ENOSYS for wait objects that do not exist here. */
int sdr_wait_init(struct sdr_wait *w, enum fi_wait_obj obj, struct sdr_domain *dom);
void sdr_wait_fini(struct sdr_wait *w);
/* Something was published: wakes everybody else who sleeps on w. */
void sdr_wait_raise(struct sdr_wait *w);
/* Forgets earlier raises of the descriptor; the caller looks again afterwards. */
void sdr_wait_drain(struct sdr_wait *w);
/* Blocking reads: in, before the look that decides whether to sleep; NULL and errno. */
struct sdr_sleeper *sdr_wait_enter(struct sdr_wait *w);
void sdr_wait_leave(struct sdr_wait *w, struct sdr_sleeper *s);
/* Forgets earlier raises of this sleeper, before each look. */
void sdr_wait_awake(struct sdr_wait *w, struct sdr_sleeper *s);
/*
 * Until raised, an endpoint wants a round or until_ns (CLOCK_MONOTONIC) has come.  0 or -FI_EINTR.
 */
int sdr_wait_sleep(struct sdr_wait *w, struct sdr_sleeper *s, uint64_t until_ns);
/* FI_WAIT_FD: the descriptor handed out becomes readable, too, when an endpoint's does. */
int sdr_wait_drives(struct sdr_wait *w);
/*
 * The set that blocking reads sleep on, made when there is none yet.  Under the lock of w's
 * endpoints.
 */
int sdr_wait_nap_open(struct sdr_wait *w);
void sdr_wait_nap_close(struct sdr_wait *w); /* no thread sleeps on it */
/*
 * Endpoints of the sets: the engine's descriptor and the alarm.  Under the lock of w's endpoints.
 */
int sdr_wait_watch(struct sdr_wait *w, const struct sdr_ep *ep);
void sdr_wait_unwatch(struct sdr_wait *w, const struct sdr_ep *ep);
/* FI_GETWAIT and FI_GETWAITOBJ. */
int sdr_wait_control(struct sdr_wait *w, int command, void *arg);
uint64_t sdr_mono_ns(void); /* CLOCK_MONOTONIC */

#endif /* SDR_WAIT_H */
