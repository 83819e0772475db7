/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Processes: units of work are started in their order, a fixed number at a time.
 *
 * A process and not a thread for each, because its peak of memory and its processor time can be
 * told apart, and because one that dies takes nothing along.  What a unit has to say goes through
 * memory that both sides map.  The parent sleeps until a child ends.  The caller has no other
 * children, and SIGCHLD is blocked while this runs.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "sim_jobs.h"

#define SIM_TICK_S 1

struct sim_child {
	pid_t pid;
	uint32_t unit;
};

void *sim_jobs_share(size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

void sim_jobs_unshare(void *p, size_t len)
{
	if (p)
		munmap(p, len);
}

static pid_t sim_start(const struct sim_jobs *j, uint32_t i, const sigset_t *mask)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	sigprocmask(SIG_SETMASK, mask, NULL);
	j->run(j->ctx, i);
	fflush(NULL);
	_exit(0);
}

/* Takes in one child that has ended; false: none has. */
static bool sim_reap(const struct sim_jobs *j, struct sim_child *child, uint32_t *busy, bool *more)
{
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG);

	if (pid <= 0)
		return false;
	for (uint32_t k = 0; k < *busy; k++) {
		if (child[k].pid != pid)
			continue;
		if (!j->end(j->ctx, child[k].unit, WIFSIGNALED(status) ? WTERMSIG(status) : 0))
			*more = false;
		child[k] = child[--*busy];
		break;
	}
	return true;
}

int sim_jobs_run(const struct sim_jobs *j)
{
	const struct timespec wait = { .tv_sec = SIM_TICK_S };
	struct sim_child child[SIM_JOBS_MAX];
	uint32_t next = 0, busy = 0;
	time_t said = time(NULL);
	sigset_t set, old;
	bool more = true;
	int err = 0;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &old);
	while (busy || (more && next < j->n)) {
		while (more && next < j->n && busy < j->jobs) {
			child[busy] = (struct sim_child){ sim_start(j, next, &old), next };
			if (child[busy].pid < 0) {
				err = -errno;
				more = false;
				break;
			}
			next++;
			busy++;
		}
		if (!sim_reap(j, child, &busy, &more) && busy)
			sigtimedwait(&set, NULL, &wait);
		if (j->tick && time(NULL) - said >= SIM_TICK_S) {
			said = time(NULL);
			j->tick(j->ctx);
		}
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return err;
}
