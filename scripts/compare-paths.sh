#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What a connection makes of several paths, over sdr_wan: of four that differ, of which one dies and
# comes back; of two, beside the kernel's MPTCP; and of sixteen that are one bottleneck, beside one
# TCP BBR.  As one table: case, what, must, measured, ok.
#
# usage: compare-paths.sh [OPTION]...
#   --case LIST   names or beginnings of names, with commas between (all)
#   --list        the cases, and nothing is run
#   --quick       the longer cases are left out, and runs that nothing happens in take 6 s in place of 10
#   --seconds N   of each of these runs
#   --single      FI_SDR_PATHS is not set: the same with the one path that a connection has then
#   --rounds N    of each case (1): bars are of the median, which has the smallest and the largest beside it
#   --csv         instead of the table
#   --keep DIR    what the runs printed
#
# Programs are those of SDR_BUILDDIR (build/).  Nothing else should run meanwhile: sdr_wan says how late
# it was, and a run in which it was more than 1 ms late for 1 of 100 packets, or lost packets, is marked
# with a "?".  A round of it all takes about 4 minutes.  No part of any test.
#
# "Of what lives" is what the line delivered, parity and what was sent again included, over the sum of
# the rates of the paths that are up, less what they lose.
#
# Exit status: 0 all that was measured is within its bar, 1 something is not, 2 usage, 77 no network
# namespaces here.

set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${SDR_BUILDDIR:-$here/../build}
for p in sdr_wan sdr_perf; do
	[ -x "$build/$p" ] || { echo "compare-paths.sh: $build/$p is not there; build first, or set SDR_BUILDDIR" >&2; exit 2; }
done
command -v python3 >/dev/null || { echo "compare-paths.sh: python3 is missing; install it" >&2; exit 2; }
build=$(cd "$build" && pwd)
export FI_PROVIDER_PATH=${FI_PROVIDER_PATH:-$build/.libs} IPATH_NO_BACKTRACE=1
if grep -qs '^SDR_ASSERT_CPPFLAGS = -D' "$FI_PROVIDER_PATH/../Makefile"; then
	echo "this build has assertions, which cost time: configure with --disable-assert for numbers" >&2
fi
# as root: what is measured goes before whatever else the machine does
renice -n -10 -p $$ >/dev/null 2>&1
exec python3 "$here/share/share.py" --script compare-paths.sh --build "$build" "$@"
