#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# CPU seconds and wake-ups a GB of sender and receiver over a long path (sdr_wan: 25 ms, 1 Gbit/s, MTU
# 9000, a queue of 1 BDP), with both sides asleep while there is nothing to do, beside another
# provider over the same path: A B A B ..., medians of ROUNDS runs and the ratio of the medians. And
# beside sdr_bare, a loop that sends a GB at the same rate and does nothing else: the floor, with the
# wake-ups of this machine (sdr_wan's among them, which a sender pays for where it runs on another
# processor).
# Ends with "N passed, N failed" over the bar of the project.
#
#   fabtests/benchmarks/wan-cpu.sh [options of sdr_wan, e.g. --rate 100mbit]
#
# Environment (defaults): PROV=sdr, BASE='tcp;ofi_rxm', ROUNDS=3, SIZE=134217728, COUNT=4, MAX_CPU=0.35
# (s/GB, each side), SDR_BUILDDIR, FI_PROVIDER_PATH.  Exit status: 77 no network namespaces here.
# CPU time depends on what else runs: on an idle machine only.

set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${SDR_BUILDDIR:-$(cd "$here/../../build" && pwd)}
ROUNDS=${ROUNDS:-3}
export FI_PROVIDER_PATH=${FI_PROVIDER_PATH:-$build/.libs} IPATH_NO_BACKTRACE=1
unset FI_SDR_FAULT
if grep -qs '^SDR_ASSERT_CPPFLAGS = -D' "$FI_PROVIDER_PATH/../Makefile"; then
	echo "this build has assertions, which cost time: configure with --disable-assert for numbers" >&2
fi
rows=$(mktemp)
trap 'rm -f "$rows" "$rows.one"' EXIT

for round in $(seq "$ROUNDS"); do
	for prov in "${PROV:-sdr}" "${BASE:-tcp;ofi_rxm}"; do
		"$build/sdr_wan" --rtt 25ms --rate 1gbit --queue 1bdp --json /dev/null --quiet "$@" \
			--serve "b:'$build/sdr_cpu' --prov '$prov' --serve 10.77.2.1 7471" \
			--run "a:sleep 1; '$build/sdr_cpu' --prov '$prov' --size ${SIZE:-134217728} \
				--count ${COUNT:-4} 10.77.2.1 7471 > '$rows.one'" < /dev/null
		case $? in
		0) cat "$rows.one" >> "$rows" ;;
		77) exit 77 ;;
		*) echo "run $round of $prov failed" >&2 ;;
		esac
		rm -f "$rows.one"
	done
	bps=$(awk -F, -v p="${PROV:-sdr}" '$1 == p { bps = 1e6 * $5 } END { print bps }' "$rows")
	[ -n "$bps" ] || continue # nothing to be the floor of
	if "$build/sdr_wan" --rtt 25ms --rate 1gbit --queue 1bdp --json /dev/null --quiet "$@" \
		--run "a:'$build/sdr_bare' --rate $bps 10.77.2.1 9 > '$rows.one'" < /dev/null; then
		awk -F, '{ print "bare,,,," $4 "," $5 ",," $6 "," }' "$rows.one" >> "$rows"
	else
		echo "run $round of sdr_bare failed" >&2
	fi
	rm -f "$rows.one"
done

awk -F, -v a="${PROV:-sdr}" -v b="${BASE:-tcp;ofi_rxm}" -v rounds="$ROUNDS" -v max="${MAX_CPU:-0.35}" '
	{ n[$1]++; for (f = 5; f <= 9; f++) v[$1, f, n[$1]] = $f + 0 }
	function median(p, f,   m, i, j, t, x) {
		m = n[p]
		if (!m) return 0
		for (i = 1; i <= m; i++) x[i] = v[p, f, i]
		for (i = 2; i <= m; i++) { t = x[i]; for (j = i - 1; j > 0 && x[j] > t; j--) x[j + 1] = x[j]; x[j + 1] = t }
		return m % 2 ? x[(m + 1) / 2] : (x[m / 2] + x[m / 2 + 1]) / 2
	}
	function bar(name, ok) { printf "%-4s %s\n", ok ? "PASS" : "FAIL", name; if (ok) passed++; else failed++ }
	END {
		what[5] = "Mbit/s"; what[6] = "sender s/GB"; what[7] = "receiver s/GB"
		what[8] = "sender wake-ups/GB"; what[9] = "receiver wake-ups/GB"
		printf "medians of %d runs, alternating\n%-22s %12s %14s %8s\n", rounds, "", a, b, "ratio"
		for (f = 5; f <= 9; f++) {
			x = median(a, f); y = median(b, f)
			printf "%-22s %12.2f %14.2f %8.2f\n", what[f], x, y, (y > 0 ? x / y : 0)
		}
		if (n["bare"])
			printf "%-22s %12.2f (%.0f wake-ups/GB, %.0f Mbit/s)\n", "bare sender s/GB", median("bare", 6), median("bare", 8), median("bare", 5)
		bar("every run finished", n[a] == rounds && n[b] == rounds)
		bar(sprintf("sender %.3f s/GB <= %s", median(a, 6), max), n[a] && median(a, 6) <= max)
		bar(sprintf("receiver %.3f s/GB <= %s", median(a, 7), max), n[a] && median(a, 7) <= max)
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0
	}
' "$rows"
