/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Every interleaving of a few threads in a small world (explore_turns.c).  The program that has the
 * world compiles the code to be explored with its atomic accesses, and whatever else other threads
 * see, preceded by turns_point().
 *
 * All but turns_explore are for what runs in a thread of the world.
 */
#ifndef EXPLORE_TURNS_H
#define EXPLORE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define TURNS_THREADS 4

struct turns_world {
	const char *program; /* for messages */
	int threads;
	int first; /* who begins: its first point is the first choice */
	void (*reset)(void);
	/* of all that a thread may do depends on, but where it is and what it has read */
	uint64_t (*hash)(void);
	void (*thread)(int me);
	void (*judge)(void); /* at the end of a run */
	/* Nobody can go on: makes somebody, or fails.  NULL: this is a failure. */
	void (*stuck)(void);
};

/*
 * Runs all of them; returns how many states there were, and *runs.  fault: NULL, and a failure ends
 * the program with a message; or where to say what has failed first (NULL: nothing).
 */
uint64_t turns_explore(const struct turns_world *world, const char *name, uint64_t *runs,
		       const char **fault);
/* False: no memory. */
bool turns_open(void);
void turns_close(void);

/* Ends the run, and all of them. */
_Noreturn void turns_fail(const char *what);
/* Ends the run: what its threads would still do is of no interest. */
_Noreturn void turns_finish(void);
/* -1: the world is being made, or judged. */
int turns_running(void);
/* Another thread, or the same, goes on.  line: where this one is; 0: where it was last. */
void turns_point(uint32_t line);
/* This thread waits for another to change something. */
void turns_spin(uint32_t line);
/*
 * It begins to look whether there is something; and it has found nothing, and waits until another
 * changes something, or has done so since.
 */
void turns_look(void);
void turns_rest(uint32_t line);
/* It waits, until turns_wake: changes alone are not enough. */
void turns_sleep(uint32_t line);
void turns_wake(int thread);
/* A thread that spins looks again. */
void turns_stir(int thread);
/* This one has changed something. */
void turns_wrote(void);
bool turns_done(int thread);
bool turns_spins(int thread);
bool turns_sleeps(int thread);
/* It has read v there.  What is read again and has not changed tells nothing new. */
uint64_t turns_read(uint64_t where, uint64_t v);
/* What it has read, as one number. */
uint64_t turns_past(void);
/* Nothing that it has read before matters any more, but for this. */
void turns_forget(uint64_t what);

uint64_t turns_mix(uint64_t h, uint64_t v);
uint64_t turns_mix_bytes(uint64_t h, const void *p, uint64_t n);

#endif /* EXPLORE_TURNS_H */
