/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Only async-signal-safe calls: the note is made before it is needed.  See crash_note.h. */
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "crash_note.h"
#include "sim_asan.h"

char crash_note[160];

static void note_say(void)
{
	ssize_t n = write(2, crash_note, strlen(crash_note));

	(void)n;
}

static void note_crashed(int sig)
{
	note_say();
	signal(sig, SIG_DFL);
	raise(sig);
}

#ifdef SIM_ASAN
void __asan_on_error(void);
void __asan_on_error(void)
{
	note_say();
}
#endif

void crash_note_watch(void)
{
	signal(SIGSEGV, note_crashed);
	signal(SIGABRT, note_crashed);
	signal(SIGALRM, note_crashed);
}
