/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Wait objects: who is raised by what is published, and that nobody pays for what he knows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <poll.h>
#include <pthread.h>
#include <cmocka.h>
#include "fi/sdr_wait.h"

static bool readable(const struct sdr_sleeper *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

struct other {
	struct sdr_wait *w;
	struct sdr_sleeper *s;
	bool enters;
};

static void *other_main(void *arg)
{
	struct other *o = arg;

	if (o->enters)
		o->s = sdr_wait_enter(o->w);
	else
		sdr_wait_raise(o->w);
	return NULL;
}

static void other_run(struct other *o)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, other_main, o), 0);
	assert_int_equal(pthread_join(t, NULL), 0);
}

/* This thread is inside, and o has the same one. */
static struct sdr_sleeper *wait_open(struct sdr_wait *w, struct other *o)
{
	struct sdr_sleeper *s;

	assert_int_equal(sdr_wait_init(w, FI_WAIT_UNSPEC, NULL), 0);
	o->w = w;
	s = sdr_wait_enter(w);
	assert_non_null(s);
	return s;
}

/* What a sleeper's own round publishes costs no call; what others publish wakes it. */
static void raise__not_oneself(void **state)
{
	struct other o = { .enters = false };
	struct sdr_sleeper *s;
	struct sdr_wait w;

	(void)state;
	s = wait_open(&w, &o);
	sdr_wait_raise(&w);
	assert_false(readable(s));
	other_run(&o);
	assert_true(readable(s));
	assert_int_equal(sdr_wait_sleep(&w, s, UINT64_MAX), 0); /* returns at once */
	sdr_wait_awake(&w, s);
	assert_false(readable(s));
	/* the next one inside is another thread: it is raised, and by us */
	sdr_wait_leave(&w, s);
	o.enters = true;
	other_run(&o);
	assert_ptr_equal(o.s, s);
	sdr_wait_raise(&w);
	assert_true(readable(s));
	sdr_wait_leave(&w, s);
	assert_false(readable(s));
	sdr_wait_fini(&w);
}

/* Of two sleepers one publishes: the other is raised. */
static void raise__the_others(void **state)
{
	struct other o = { .enters = true };
	struct sdr_sleeper *s;
	struct sdr_wait w;

	(void)state;
	s = wait_open(&w, &o);
	other_run(&o);
	assert_non_null(o.s);
	sdr_wait_raise(&w);
	assert_false(readable(s));
	assert_true(readable(o.s));
	sdr_wait_leave(&w, o.s);
	sdr_wait_leave(&w, s);
	sdr_wait_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(raise__not_oneself),
		cmocka_unit_test(raise__the_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
