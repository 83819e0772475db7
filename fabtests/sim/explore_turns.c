/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Every interleaving of a few threads in a small world.
 *
 * Threads are coroutines; at each point every one that can move is tried, by running the world anew
 * from its start with the choices so far.  A state that was seen (the world's, where each thread
 * is, what each has read) is not entered again.  Accesses are taken as sequentially consistent:
 * which orders are enough where the machine is weaker is for ThreadSanitizer and the comments.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "explore_turns.h"

#define STACK (128u << 10)
#define DEPTH 4096u
#define SHOWN 400u	 /* points of a run that failed, the last */
#define SEEN  (1u << 22) /* states; power of two */

static struct thread {
	ucontext_t at;
	char *stack;
	bool done;
	bool spins;	     /* it waits for another to change something */
	bool sleeps;	     /* it waits to be woken */
	bool looks, stirred; /* another has changed something since it began to look */
	/* where it is, and a hash of what it has read since it had nothing in hand */
	uint32_t line;
	uint64_t history, last;
} th[TURNS_THREADS];
static ucontext_t home;
static jmp_buf outside;
static int running = -1; /* thread */

static const struct turns_world *world;
static const char *name;
static uint8_t choice[DEPTH],
	options[DEPTH]; /* of the path: taken; a bit a thread, not tried yet */
static uint32_t lines[DEPTH];
static uint32_t depth, fixed; /* points so far; of them, those whose choice is given */
static bool pruned, ended;    /* this run was given up; one was not */
static uint64_t *states;
static uint64_t nseen;
static const char **faulty, *failed;

/* ---- states ---------------------------------------------------------------------------------- */

uint64_t turns_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

uint64_t turns_mix_bytes(uint64_t h, const void *p, uint64_t n)
{
	const uint8_t *b = p;

	while (n--)
		h = turns_mix(h, *b++);
	return h;
}

static uint64_t state_hash(void)
{
	uint64_t h = world->hash();
	int i;

	for (i = 0; i < world->threads; i++) {
		h = turns_mix(turns_mix(h, th[i].history), th[i].line);
		h = turns_mix(h, (uint64_t)th[i].done | (uint64_t)th[i].spins << 1 |
					 (uint64_t)th[i].sleeps << 2 |
					 (uint64_t)th[i].stirred << 3);
	}
	return h ? h : 1;
}

/* True: it is new. */
static bool state_enter(void)
{
	uint64_t h = state_hash(), i = h & (SEEN - 1);

	for (; states[i]; i = (i + 1) & (SEEN - 1))
		if (states[i] == h)
			return false;
	states[i] = h;
	if (++nseen > SEEN / 2)
		turns_fail("too many states: make the world smaller");
	return true;
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* The run is over, in the middle of its threads. */
_Noreturn static void run_leave(void)
{
	int me = running;

	running = -1;
	if (me < 0)
		longjmp(outside, 1);
	swapcontext(&th[me].at, &home);
	abort();
}

_Noreturn void turns_finish(void)
{
	run_leave();
}

_Noreturn void turns_fail(const char *what)
{
	uint32_t i;

	if (faulty) {
		failed = failed ? failed : what;
		run_leave();
	}
	fprintf(stderr, "%s: \"%s\": %s; threads in turn, and where they were:", world->program,
		name, what);
	for (i = depth > SHOWN ? depth - SHOWN : 0; i < depth; i++)
		fprintf(stderr, " %u:%u", choice[i], lines[i]);
	fprintf(stderr, "\n");
	exit(1);
}

static uint8_t can_go(void)
{
	uint8_t can = 0;
	int i;

	for (i = 0; i < world->threads; i++)
		can |= (uint8_t)((!th[i].done && !th[i].spins && !th[i].sleeps) << i);
	return can;
}

static void turn(void)
{
	int i, me = running;
	uint8_t can = can_go();

	if (!can) {
		for (i = 0; i < world->threads && th[i].done; i++)
			;
		if (i == world->threads)
			run_leave();
		if (world->stuck)
			world->stuck();
		can = can_go();
		if (!can)
			turns_fail("everybody waits");
	}
	if (depth == DEPTH)
		turns_fail("a run without end");
	if (depth >= fixed) {
		if (!state_enter()) {
			pruned = true;
			run_leave();
		}
		/* who ran goes on first */
		i = can >> me & 1 ? me : __builtin_ctz(can);
		choice[depth] = (uint8_t)i;
		options[depth] = (uint8_t)(can & ~(1u << i));
	}
	i = choice[depth];
	lines[depth++] = th[i].line;
	running = i;
	if (i != me)
		swapcontext(&th[me].at, &th[i].at);
}

int turns_running(void)
{
	return running;
}

void turns_point(uint32_t line)
{
	if (line)
		th[running].line = line;
	turn();
}

void turns_wrote(void)
{
	int i;

	for (i = 0; i < world->threads; i++) {
		th[i].spins = false;
		th[i].stirred |= th[i].looks && i != running;
	}
}

void turns_spin(uint32_t line)
{
	th[running].spins = true;
	turns_point(line);
}

void turns_look(void)
{
	th[running].looks = true;
	th[running].stirred = false;
}

void turns_rest(uint32_t line)
{
	th[running].spins = !th[running].stirred;
	turns_point(line);
}

void turns_sleep(uint32_t line)
{
	th[running].sleeps = true;
	turns_point(line);
}

void turns_wake(int thread)
{
	th[thread].sleeps = false;
}

void turns_stir(int thread)
{
	th[thread].spins = false;
}

bool turns_done(int thread)
{
	return th[thread].done;
}

bool turns_spins(int thread)
{
	return th[thread].spins;
}

bool turns_sleeps(int thread)
{
	return th[thread].sleeps;
}

uint64_t turns_read(uint64_t where, uint64_t v)
{
	struct thread *t = &th[running];
	uint64_t at = turns_mix(turns_mix(where, t->line), v);

	if (at != t->last)
		t->history = turns_mix(t->history, at);
	t->last = at;
	return v;
}

uint64_t turns_past(void)
{
	return th[running].history;
}

void turns_forget(uint64_t what)
{
	th[running].history = what;
	th[running].last = 0;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void thread_main(int me)
{
	world->thread(me);
	th[me].done = true;
	turns_wrote();
	turn();
	turns_fail("a thread went on after its end");
}

static void thread_make(int me)
{
	struct thread *t = &th[me];
	char *stack = t->stack;

	memset(t, 0, sizeof(*t));
	t->stack = stack;
	getcontext(&t->at);
	t->at.uc_stack.ss_sp = stack;
	t->at.uc_stack.ss_size = STACK;
	t->at.uc_link = NULL;
	makecontext(&t->at, (void (*)(void))thread_main, 1, me);
}

/* One run, by the choices that are given and then by the first of each. */
static void run_once(void)
{
	int i;

	running = -1;
	depth = 0;
	if (setjmp(outside))
		return;
	world->reset();
	pruned = false;
	for (i = 0; i < world->threads; i++)
		thread_make(i);
	running = world->first;
	swapcontext(&home, &th[running].at);
	running = -1;
	if (pruned || failed)
		return;
	ended = true;
	world->judge();
}

uint64_t turns_explore(const struct turns_world *w, const char *what, uint64_t *runs,
		       const char **fault)
{
	world = w;
	name = what;
	faulty = fault;
	failed = NULL;
	memset(states, 0, SEEN * sizeof(*states));
	nseen = *runs = 0;
	fixed = 0;
	ended = false;
	for (;;) {
		run_once();
		++*runs;
		while (depth && !options[depth - 1])
			depth--;
		if (!depth || failed)
			break;
		choice[depth - 1] = (uint8_t)__builtin_ctz(options[depth - 1]);
		options[depth - 1] &= (uint8_t)(options[depth - 1] - 1);
		fixed = depth;
	}
	if (!ended && !failed)
		failed = "no run has an end";
	if (failed && !fault) {
		fprintf(stderr, "%s: \"%s\": %s\n", w->program, what, failed);
		exit(1);
	}
	if (fault)
		*fault = failed;
	return nseen;
}

bool turns_open(void)
{
	bool ok;
	int i;

	states = calloc(SEEN, sizeof(*states));
	ok = states;
	for (i = 0; i < TURNS_THREADS; i++) {
		th[i].stack = malloc(STACK);
		ok &= th[i].stack != NULL;
	}
	if (!ok)
		turns_close();
	return ok;
}

void turns_close(void)
{
	int i;

	for (i = 0; i < TURNS_THREADS; i++)
		free(th[i].stack);
	free(states);
}
