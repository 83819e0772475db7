/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * far_mem.h over the drivers without devices: three of them, each with a device 1.
 */
#include "fake_mem.h"
#include "far_mem.h"

const char *far_open(void)
{
	return NULL;
}

unsigned int far_iface(unsigned int wanted)
{
	return wanted;
}

int far_device(void)
{
	return 1;
}

int far_device_none(void)
{
	return FAKE_DEVICES;
}

void *far_alloc(unsigned int iface, size_t len)
{
	return fake_alloc((int)iface, far_device(), len);
}

void far_free(void *p)
{
	fake_free(p);
}

void far_write(void *to, const void *from, size_t n)
{
	fake_write(to, from, n);
}

void far_read(void *to, const void *from, size_t n)
{
	fake_read(to, from, n);
}

bool far_fail(int n)
{
	fake_fail(n);
	return true;
}

bool far_stats(struct far_stats *out)
{
	struct fake_stats st;

	fake_stats(&st);
	*out = (struct far_stats){ st.copies, st.largest, st.pinned };
	return true;
}
