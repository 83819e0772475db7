#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Boots the guest of scripts/rxe-vm.sh and runs guest.sh in it, with the build in $SDR_BUILDDIR
# (default: build/ of the tree).  Exit status: guest.sh's, 124 out of time, 125 no guest.
#
#   run.sh [-t SECONDS] [CASE...]      names of cases or patterns of them, as guest.sh has it

set -u
src=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${SDR_BUILDDIR:-$src/build}
limit=1200
if [ "${1:-}" = -t ]; then
	limit=${2:?-t wants seconds}
	shift 2
fi
[ -e "$build/.libs/libsdr-fi.so" ] && [ -x "$build/sdr_xfer" ] ||
	{ echo "not ok - there is no build in $build (SDR_BUILDDIR names it)"; exit 1; }
# A compiler takes minutes in the guest.
mpicc.openmpi -std=gnu11 -O2 -g -Wall -Wextra -o "$build/sdr_mpi" "$src"/fabtests/mpi/sdr_mpi*.c ||
	{ echo "not ok - sdr_mpi does not build (apt-get install openmpi-bin libopenmpi-dev)"; exit 1; }
exec "$src/scripts/rxe-vm.sh" run -t "$limit" -C "$build" -- \
	env SDR_SRCDIR="$src" SDR_BUILDDIR="$build" FI_PROVIDER_PATH="$build/.libs" IPATH_NO_BACKTRACE=1 \
	bash "$src/fabtests/rxe/guest.sh" "$@"
