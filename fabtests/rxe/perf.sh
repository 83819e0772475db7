#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Bandwidth of sdr_perf on soft-RoCE devices beside perftest's ib_write_bw over UC queue pairs, in
# the guest of scripts/rxe-vm.sh: rxe0 to rxe1.  Both send one packet of 4096 bytes a work request:
# ib_write_bw as one message each, sdr_perf as the packets of 1 MiB writes, which it delivers.  They
# take turns, since a guest is not the same from one moment to the next; medians of the turns, and
# their ratio.  It measures and judges nothing: exit status 1 only if something did not run.
#
#   scripts/rxe-vm.sh run -t 300 -- fabtests/rxe/perf.sh [-n TURNS] [-D SECONDS] [OPTION of sdr_perf...]
#
# $SDR_BUILDDIR names the build (default: build/ of the tree).

set -u
src=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${SDR_BUILDDIR:-$src/build}
export FI_PROVIDER_PATH=${FI_PROVIDER_PATH:-$build/.libs} IPATH_NO_BACKTRACE=1
near=10.9.0.1 far=10.9.0.2 port=18516
turns=5 seconds=3
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill -9 "$server" 2>/dev/null; rm -rf "$tmp"' EXIT

die() {
	echo "perf.sh: $*" >&2
	tail -n 5 "$tmp"/*.txt >&2
	exit 1
}

while [ $# -gt 0 ]; do
	case $1 in
	-n) turns=${2:?turns} ;;
	-D) seconds=${2:?seconds} ;;
	*) break ;;
	esac
	shift 2
done
command -v ib_write_bw >/dev/null || die "ib_write_bw is missing (apt-get install perftest)"
[ -x "$build/sdr_perf" ] || die "there is no build in $build (SDR_BUILDDIR names it)"
[ -d /sys/class/infiniband/rxe1 ] || die "there is no rxe1: this runs in the guest of scripts/rxe-vm.sh"

# Index of an IPv4 address in the device's table of GIDs, where it is the last.
gid() { # DEVICE ADDRESS
	local hex g i
	# shellcheck disable=SC2086
	hex=$(printf '%02x%02x:%02x%02x' ${2//./ })
	for i in 0 1 2 3 4 5 6 7; do
		g=
		read -r g 2>/dev/null <"/sys/class/infiniband/$1/ports/1/gids/$i"
		case $g in 0000:*:ffff:"$hex") echo "$i"; return ;; esac
	done
	die "$1 has no GID for $2"
}

# until_open udp|tcp PORT : a socket of this machine is there.
until_open() {
	local i
	for i in {1..400}; do
		case $(</proc/net/"$1")$(</proc/net/"$1"6) in *:"$(printf '%04X' "$2")"\ *) return 0 ;; esac
		kill -0 "$server" 2>/dev/null || break
		sleep 0.05
	done
	die "the server did not come up"
}

ended() {
	wait "$server" || die "the server failed"
	server=
}

# Gbit/s of one run, in $got.
perftest_bw() {
	local p=$((port + 10))
	timeout 120 ib_write_bw -c UC -s 4096 -D "$seconds" -f 0 -F -d rxe1 -x "$(gid rxe1 $far)" -p $p --report_gbits \
		>"$tmp/server.txt" 2>&1 &
	server=$!
	until_open tcp $p
	timeout 120 ib_write_bw -c UC -s 4096 -D "$seconds" -f 0 -F -d rxe0 -x "$(gid rxe0 $near)" -p $p --report_gbits $far \
		>"$tmp/client.txt" 2>&1 || die "ib_write_bw failed"
	ended
	# from the message rate: its bandwidth has two decimals only
	got=$(awk '$1 == 4096 { printf "%.6f\n", $5 * 4096 * 8 / 1e3 }' "$tmp/client.txt")
	[ -n "$got" ] || die "ib_write_bw printed no result"
}

sdr_bw() { # OPTIONS...
	timeout 120 "$build/sdr_perf" -q -p $port -e verbs -d rxe1 >"$tmp/server.txt" 2>&1 &
	server=$!
	until_open udp $port
	timeout 120 "$build/sdr_perf" -q -p $port -e verbs -d rxe0 --op write -s 1m -D "$seconds" --format csv "$@" $far \
		>"$tmp/client.txt" 2>&1 || die "sdr_perf failed"
	ended
	got=$(awk -F, '$2 == "verbs" && $4 == "verbs" { print $14 }' "$tmp/client.txt")
	[ -n "$got" ] || die "sdr_perf printed no result of the verbs engine"
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }

for ((i = 1; i <= turns; i++)); do
	perftest_bw
	echo "$got" >>"$tmp/perftest"
	line="turn $i: ib_write_bw $got Gbit/s"
	sdr_bw "$@"
	echo "$got" >>"$tmp/sdr"
	echo "$line, sdr_perf $got Gbit/s"
done
a=$(median <"$tmp/perftest") b=$(median <"$tmp/sdr")
awk -v a="$a" -v b="$b" -v n="$turns" 'BEGIN {
	printf "median of %d: ib_write_bw -c UC -s 4096 %.4f Gbit/s, sdr_perf -s 1m %.4f Gbit/s, ratio %.2f\n", n, a, b, b / a }'
