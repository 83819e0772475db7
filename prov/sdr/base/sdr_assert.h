/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * SDR_ASSERT(cond): a pre- or post-condition of an object.  One that does not hold is a bug in sdr,
 * never something that the network, the application or the machine did: those get an error code, a
 * counter, a dropped packet.
 *
 * With SDR_ASSERTS = 1 (configure --enable-assert, which --enable-werror, the sanitizers and the
 * fuzzers imply) a condition that fails is printed with its place and the process aborts.  With
 * SDR_ASSERTS = 0, the default of a plain ./configure, the condition is compiled and not evaluated:
 * no code is left of it, and it must not have a side effect.  Nothing is counted then: a counter
 * would put a load and a branch into a data path whose speed is part of what is promised.
 *
 * A check that needs a loop, such as the books of a connection, is a function of its own that
 * is called under `if (SDR_ASSERTS)`.  Any thread may assert; no state.
 */
#ifndef SDR_ASSERT_H
#define SDR_ASSERT_H

#ifndef SDR_ASSERTS
#define SDR_ASSERTS 0
#endif

#if SDR_ASSERTS
#define SDR_ASSERT(cond) ((cond) ? (void)0 : sdr_assert_failed(#cond, __FILE__, __LINE__, __func__))
#else
#define SDR_ASSERT(cond) ((void)(0 && (cond)))
#endif

/* Prints one line to stderr and aborts. */
__attribute__((noreturn, cold)) void sdr_assert_failed(const char *cond, const char *file, int line,
						       const char *func);

#endif /* SDR_ASSERT_H */
