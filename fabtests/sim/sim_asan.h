/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* SIM_ASAN is defined in a build with AddressSanitizer, gcc's or clang's. */
#ifndef SIM_ASAN_H
#define SIM_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIM_ASAN 1
#endif
#endif

#endif /* SIM_ASAN_H */
