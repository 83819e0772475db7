/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/* The consumers where no driver of devices is: FI_HMEM is a reason to be refused. */
#include "test_consumers.h"

const int consumers_lifted;

void consumer_device(struct fi_info *info)
{
	fail_msg("%s has FI_HMEM, without a device", info->domain_attr->name);
}
