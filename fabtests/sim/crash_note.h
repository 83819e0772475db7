/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * What a property test says when a seed crashes, aborts, hangs (SIGALRM) or is stopped by
 * AddressSanitizer: which seed it was and how to replay it.  The process ends as it would have.
 */
#ifndef CRASH_NOTE_H
#define CRASH_NOTE_H

extern char crash_note[160]; /* a line with its newline; set before each seed */

void crash_note_watch(void); /* from here on, for the whole process */

#endif /* CRASH_NOTE_H */
