#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# How long one message takes on a far path, to an RDMA device and to a socket on the same wire, in
# the guest of scripts/rxe-vm.sh: rxe0 to rxe1, and the soft engine between the same addresses,
# with netem at both ends.  One message at a time, and the device's and the socket's runs take
# turns, since a guest is not the same from one moment to the next.  Of each run the first messages
# are left out, which show that keys are wanted ahead; then medians, and their ratio.  It measures
# and judges nothing, unless --bars is given: then the ratio must be at most 1.05.
#
#   scripts/rxe-vm.sh run -t 600 -- fabtests/rxe/warm.sh [-n TURNS] [-i MESSAGES] [-s SIZE]
#           [-o send|write|tagged] [-w NETEM] [--bars] [OPTION of sdr_perf...]
#
# NETEM is "delay 12500us", a round trip of 25 ms, if it is not said.  What environment variables
# say of the provider counts for both ends.  $SDR_BUILDDIR names the build (default: build/ of the
# tree).

set -u
src=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${SDR_BUILDDIR:-$src/build}
export FI_PROVIDER_PATH=${FI_PROVIDER_PATH:-$build/.libs} IPATH_NO_BACKTRACE=1
far=10.9.0.2 port=18516
turns=3 iters=40 size=1m op=send weather="delay 12500us" bars="" skip=4
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null; rm -rf "$tmp"' EXIT

die() {
	echo "warm.sh: $*" >&2
	tail -n 5 "$tmp"/*.txt >&2
	exit 1
}

while [ $# -gt 0 ]; do
	case $1 in
	-n) turns=${2:?turns} ;;
	-i) iters=${2:?messages} ;;
	-s) size=${2:?size} ;;
	-o) op=${2:?operation} ;;
	-w) weather=${2:?netem} ;;
	--bars) bars=1; shift; continue ;;
	*) break ;;
	esac
	shift 2
done
[ -x "$build/sdr_perf" ] || die "there is no build in $build (SDR_BUILDDIR names it)"
[ -d /sys/class/infiniband/rxe1 ] || die "there is no rxe1: this runs in the guest of scripts/rxe-vm.sh"
"$src/scripts/rxe-net.sh" netem "$weather" || die "no netem"

until_open() { # PORT : a UDP socket of this machine is there
	local i
	for i in {1..400}; do
		case $(</proc/net/udp)$(</proc/net/udp6) in *:"$(printf '%04X' "$1")"\ *) return 0 ;; esac
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	die "the server did not come up"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

one() { # ENGINE OPTIONS... : ms of each warm message, appended to $tmp/ENGINE
	local engine=$1
	shift
	timeout 200 "$build/sdr_perf" -q -A "$far" -p $port -e "$engine" >"$tmp/server.txt" 2>&1 &
	server=$!
	until_open $port
	timeout 200 "$build/sdr_perf" -q -p $port -e "$engine" --op "$op" -s "$size" -n "$iters" -Q 1 \
		--times "$tmp/times.csv" "$@" $far >"$tmp/client.txt" 2>&1 || die "sdr_perf failed ($engine)"
	wait "$server" || die "the server failed ($engine)"
	server=
	tail -n +$((skip + 2)) "$tmp/times.csv" | awk -F, '{ print 1e3 * $4 }' >"$tmp/run"
	[ -s "$tmp/run" ] || die "no times ($engine)"
	cat "$tmp/run" >>"$tmp/$engine"
	got=$(median <"$tmp/run")
}

for ((i = 1; i <= turns; i++)); do
	one soft "$@"
	line="turn $i: socket $got ms"
	one verbs "$@"
	echo "$line, device $got ms"
done
a=$(median <"$tmp/soft") b=$(median <"$tmp/verbs")
awk -v a="$a" -v b="$b" -v n="$turns" -v s="$size" -v op="$op" -v w="$weather" -v bars="$bars" 'BEGIN {
	printf "%s of %s, %s: median of %d turns: socket %.2f ms, device %.2f ms, ratio %.3f\n", op, s, w, n, a, b, b / a
	exit bars != "" && b / a > 1.05 }'
