/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* Whether somebody has asked for sdr (sdr_named.c). */
#ifndef SDR_NAMED_H
#define SDR_NAMED_H

#include <stdbool.h>

struct fi_info;

/* Does the application or the user name this provider?  hints may be NULL. */
bool sdr_named(const struct fi_info *hints);

#endif /* SDR_NAMED_H */
