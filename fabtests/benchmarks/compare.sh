#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# sdr against another provider over clean loopback, with the same program and in one go:
# A B A B ..., so that a busy moment of the machine hits both; medians of ROUNDS runs, and the
# ratio of the medians. Ends with "N passed, N failed" over the bars of the project:
# bandwidth of 1 MiB writes >= MIN_BW times and of tagged messages >= MIN_TAGGED times, 8-byte latency
# (median, and p99) <= MAX_LAT times the other's, 8-byte messages a second >= MIN_RATE times, fetch-adds
# of 8 bytes a second >= MIN_FETCH times, and a fetch-add <= MAX_FETCH times a ping-pong of sdr's own.
#
#   fabtests/benchmarks/compare.sh [options of sdr_bench, e.g. --seconds 3 --window 64]
#
# Environment (defaults): PROV=sdr, BASE='tcp;ofi_rxm' (what fi_getinfo gives for "tcp" and
# FI_EP_RDM in libfabric 1.17), ROUNDS=5, MIN_BW=1.1, MIN_TAGGED=1, MAX_LAT=1.5, MIN_RATE=1.1,
# MIN_FETCH=1.2, MAX_FETCH=1.15,
# SDR_BENCH=the program, FI_PROVIDER_PATH=the build directory's .libs.

set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${SDR_BUILDDIR:-$(cd "$here/../.." && pwd)}
PROV=${PROV:-sdr}
BASE=${BASE:-tcp;ofi_rxm}
ROUNDS=${ROUNDS:-5}
SDR_BENCH=${SDR_BENCH:-$build/sdr_bench}
if [ -z "${FI_PROVIDER_PATH:-}" ] && [ -e "$build/.libs/libsdr-fi.so" ]; then
	export FI_PROVIDER_PATH=$build/.libs
fi
export IPATH_NO_BACKTRACE=1
unset FI_SDR_FAULT
if grep -qs '^SDR_ASSERT_CPPFLAGS = -D' "${FI_PROVIDER_PATH:-}/../Makefile"; then
	echo "this build has assertions, which cost time: configure with --disable-assert for numbers" >&2
fi
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

for round in $(seq "$ROUNDS"); do
	for prov in "$PROV" "$BASE"; do
		timeout -s KILL 180 "$SDR_BENCH" --prov "$prov" --format csv --seconds 1 \
			--tests write_bw,lat,rate,tagged_bw,fetch,fetch_rate "$@" \
			> "$rows.one" < /dev/null || echo "run $round of $prov failed" >&2
		grep -v '^prov,' "$rows.one" >> "$rows"
		rm -f "$rows.one"
	done
done

awk -F, -v a="$PROV" -v b="$BASE" -v rounds="$ROUNDS" \
	-v min_bw="${MIN_BW:-1.1}" -v max_lat="${MAX_LAT:-1.5}" \
	-v min_tagged="${MIN_TAGGED:-1}" -v min_rate="${MIN_RATE:-1.1}" \
	-v min_fetch="${MIN_FETCH:-1.2}" -v max_fetch="${MAX_FETCH:-1.15}" '
	{ k = $2 " " $3; n[$1, k]++; v[$1, k, n[$1, k]] = $5 + 0; unit[k] = $6
	  if (!(k in seen)) { seen[k] = 1; keys[++nkeys] = k } }
	function median(p, k,   m, i, j, t, x) {
		m = n[p, k]
		if (!m) return 0
		for (i = 1; i <= m; i++) x[i] = v[p, k, i]
		for (i = 2; i <= m; i++) { t = x[i]; for (j = i - 1; j > 0 && x[j] > t; j--) x[j + 1] = x[j]; x[j + 1] = t }
		return m % 2 ? x[(m + 1) / 2] : (x[m / 2] + x[m / 2 + 1]) / 2
	}
	function bar(name, ok) { printf "%-4s %s\n", ok ? "PASS" : "FAIL", name; if (ok) passed++; else failed++ }
	END {
		printf "medians of %d runs, alternating\n%-18s %12s %14s %8s  %s\n", rounds, "test bytes", a, b, "ratio", "unit"
		for (i = 1; i <= nkeys; i++) {
			k = keys[i]; x = median(a, k); y = median(b, k); r[k] = y > 0 ? x / y : 0
			full[k] = n[a, k] == rounds && n[b, k] == rounds
			printf "%-18s %12.2f %14.2f %8.2f  %s%s\n", k, x, y, r[k], unit[k], full[k] ? "" : "  (runs missing)"
		}
		bar("every run finished", nkeys > 0 && missing() == 0)
		if ("write_bw 1048576" in r)
			bar(sprintf("1 MiB write bandwidth ratio %.2f >= %s", r["write_bw 1048576"], min_bw),
			    r["write_bw 1048576"] >= min_bw)
		if ("tagged_bw 1048576" in r)
			bar(sprintf("1 MiB tagged bandwidth ratio %.2f >= %s", r["tagged_bw 1048576"], min_tagged),
			    r["tagged_bw 1048576"] >= min_tagged)
		if ("lat 8" in r)
			bar(sprintf("8-byte latency ratio %.2f <= %s", r["lat 8"], max_lat),
			    r["lat 8"] > 0 && r["lat 8"] <= max_lat)
		if ("lat_p99 8" in r)
			bar(sprintf("8-byte latency p99 ratio %.2f <= %s", r["lat_p99 8"], max_lat),
			    r["lat_p99 8"] > 0 && r["lat_p99 8"] <= max_lat)
		if ("rate 8" in r)
			bar(sprintf("8-byte messages a second ratio %.2f >= %s", r["rate 8"], min_rate),
			    r["rate 8"] >= min_rate)
		if ("fetch_rate 8" in r)
			bar(sprintf("8-byte fetch-adds a second ratio %.2f >= %s", r["fetch_rate 8"], min_fetch),
			    r["fetch_rate 8"] >= min_fetch)
		if (("fetch 8" in r) && ("lat 8" in r)) {
			x = median(a, "lat 8") > 0 ? median(a, "fetch 8") / 2 / median(a, "lat 8") : 0
			bar(sprintf("%s: a fetch-add %.2f of a ping-pong <= %s", a, x, max_fetch), x > 0 && x <= max_fetch)
		}
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0
	}
	function missing(   i, m) { for (i = 1; i <= nkeys; i++) m += !full[keys[i]]; return m + 0 }
' "$rows"
