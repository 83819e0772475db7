#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# What sdr does to a network that others use, and what it gets there: the cases of DESIGN.md's law 11
# over sdr_wan, beside the kernel's TCP, as one table: case, what, must, measured, ok.
#
# usage: compare-share.sh [OPTION]...
#   --case LIST   names or beginnings of names, with commas between (all)
#   --list        the cases, and nothing is run
#   --quick       4 s in place of 10 for each run, and the longer cases are left out
#   --seconds N   of each run, in place of 10
#   --sim         the same cases in the simulator (sdr_share_bars), where it has them, in place of sdr_wan
#   --runs N      with --sim: seeds (5)
#   --rounds N    of each case (1): bars are of the median, which has the smallest and the largest beside it
#   --csv         instead of the table
#   --keep DIR    what the runs printed
#
# Programs are those of SDR_BUILDDIR (build/).  Nothing else should run meanwhile: sdr_wan says how late
# it was, and a run in which it was more than 1 ms late for 1 of 100 packets, or lost packets, is marked
# with a "?".  A round of it all takes about 20 minutes.  No part of any test.
#
# Exit status: 0 all that was measured is within its bar, 1 something is not, 2 usage, 77 no network
# namespaces here.

set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${SDR_BUILDDIR:-$here/../build}
needs="sdr_wan sdr_perf"
[[ " $* " != *" --sim "* ]] || needs="sdr_sim sdr_share_bars" # the latter by: make tests
for p in $needs; do
	[ -x "$build/$p" ] || { echo "compare-share.sh: $build/$p is not there; build first, or set SDR_BUILDDIR" >&2; exit 2; }
done
command -v python3 >/dev/null || { echo "compare-share.sh: python3 is missing; install it" >&2; exit 2; }
build=$(cd "$build" && pwd)
export FI_PROVIDER_PATH=${FI_PROVIDER_PATH:-$build/.libs} IPATH_NO_BACKTRACE=1
if grep -qs '^SDR_ASSERT_CPPFLAGS = -D' "$FI_PROVIDER_PATH/../Makefile"; then
	echo "this build has assertions, which cost time: configure with --disable-assert for numbers" >&2
fi
# as root: what is measured goes before whatever else the machine does
renice -n -10 -p $$ >/dev/null 2>&1
exec python3 "$here/share/share.py" --build "$build" "$@"
