/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * A peer that lies, as a property test: each seed is a run of liar.h.
 *
 *   sdr_liar [--first N] [--count N] [--packets N] [--twice] [--keep-going] [--verbose]
 *
 * Without arguments 200 seeds of some 200 forged packets; floods add theirs.  A seed that fails,
 * crashes or hangs says so, and how to replay it; with --keep-going each seed has a process of its
 * own, and all failing ones are listed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "crash_note.h"
#include "liar.h"

#define LIAR_HANG_S	    30u
#define LIAR_STEPS(packets) ((packets)*8 / 5) /* 5 steps of 8 are lies */

struct opts {
	const char *name;
	uint64_t first, count, packets;
	bool twice, keep, verbose;
};

static void run_once(const struct opts *o, uint64_t seed, struct liar_stats *st)
{
	struct liar_draw d = { .rng = seed * 0x9fb21c651e98df25ull, .random = true };

	alarm(LIAR_HANG_S);
	snprintf(crash_note, sizeof(crash_note),
		 "seed %llu failed; replay: %s --first %llu --count 1 --packets %llu --verbose\n",
		 (unsigned long long)seed, o->name, (unsigned long long)seed,
		 (unsigned long long)o->packets);
	if (o->verbose)
		fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
	liar_run(&d, (uint32_t)LIAR_STEPS(o->packets), o->verbose, st);
	if (o->verbose)
		fprintf(stderr,
			"  %llu forged, %llu floods, %llu operations, %llu exchanges with the honest node, %llu "
			"restarts, "
			"%llu bytes at the peak, %llu steps per packet, %llu per round, %.3f s virtual, trace "
			"%016llx\n",
			(unsigned long long)st->forged, (unsigned long long)st->floods,
			(unsigned long long)st->ops, (unsigned long long)st->talks,
			(unsigned long long)st->restarts, (unsigned long long)st->heap_peak,
			(unsigned long long)st->pkt_steps, (unsigned long long)st->round_steps,
			(double)st->ns / 1e9, (unsigned long long)st->trace);
}

/* One seed; twice on request, or now and then: the two must be the same to the bit. */
static uint64_t run_seed(const struct opts *o, uint64_t seed)
{
	struct liar_stats st, again;

	run_once(o, seed, &st);
	if (!o->twice && seed % 16)
		return st.forged;
	run_once(o, seed, &again);
	if (again.trace != st.trace) {
		fprintf(stderr, "two runs differ: trace %016llx and %016llx\n",
			(unsigned long long)st.trace, (unsigned long long)again.trace);
		abort();
	}
	return st.forged + again.forged;
}

/* In a process of its own.  False: it failed. */
static bool run_apart(const struct opts *o, uint64_t seed, uint64_t *forged)
{
	int fd[2], status;
	uint64_t n = 0;
	pid_t pid;

	if (pipe(fd) || (pid = fork()) < 0) {
		perror("fork");
		exit(2);
	}
	if (!pid) {
		n = run_seed(o, seed);
		_exit(write(fd[1], &n, sizeof(n)) == sizeof(n) ? 0 : 1);
	}
	close(fd[1]);
	if (read(fd[0], &n, sizeof(n)) == sizeof(n))
		*forged += n;
	close(fd[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: sdr_liar [--first N] [--count N] [--packets N] [--twice] [--keep-going] [--verbose]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct opts o = { .name = argv[0], .first = 1, .count = 200, .packets = 200 };
	uint64_t forged = 0, failed = 0;

	for (int i = 1; i < argc; i++) {
		uint64_t *num = NULL;

		if (!strcmp(argv[i], "--first"))
			num = &o.first;
		else if (!strcmp(argv[i], "--count"))
			num = &o.count;
		else if (!strcmp(argv[i], "--packets"))
			num = &o.packets;
		else if (!strcmp(argv[i], "--twice"))
			o.twice = true;
		else if (!strcmp(argv[i], "--keep-going"))
			o.keep = true;
		else if (!strcmp(argv[i], "--verbose"))
			o.verbose = true;
		else
			return usage();
		if (num && ++i == argc)
			return usage();
		if (num)
			*num = strtoull(argv[i], NULL, 0);
	}
	crash_note_watch();
	for (uint64_t s = o.first; s < o.first + o.count; s++) {
		if (!o.keep)
			forged += run_seed(&o, s);
		else
			failed += !run_apart(&o, s, &forged);
	}
	printf("sdr_liar: %llu seeds, %llu forged packets, %llu failed\n",
	       (unsigned long long)o.count, (unsigned long long)forged, (unsigned long long)failed);
	return failed ? 1 : 0;
}
