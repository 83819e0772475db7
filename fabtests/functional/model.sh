#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# sdr_model: known values through a batch, what its commands print, that threads change nothing, the
# claims of the man page, and what it refuses: with exit status 2, the name of the field and of the
# row, and nothing on standard output.
#
# model_golden.csv: inputs, then between what the mean and the quantiles lie (for what is drawn: of
# 100000 samples), then derived values; from an implementation of its own, right to 1e-12.
#
#   model.sh [CASE...]        names of cases, default all

. "$(dirname "$0")/cases.sh"

model=$build/sdr_model
golden=${SDR_SRCDIR:-$(dirname "$0")/../..}/fabtests/functional/model_golden.csv
header=id,scheme,bandwidth_bps,rtt_s,rto_rtts,beta,p_packet,mtu_bytes,chunk_bytes,msg_bytes,k,m,n_dc
results=mean_s,p50_s,p99_s,p999_s,ideal_s,t_inj_s,chunks,p_chunk,parity_chunks,base_s,p_ec,p_fallback,e_failures
results=$results,lower_bound_s,step_mean_s

run_model() { timeout -s KILL "$LIMIT" "$model" "$@"; }

# The cells of column NAME in the file, a line each.
column() { # FILE NAME
	awk -F, -v name="$2" '{ sub(/\r$/, "") } NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next } { print $c }' "$1"
}

# One cell of what a prediction prints.
value() { # NAME OPTIONS...
	local name=$1
	shift
	run_model "$@" --format csv >"$tmp/value.txt" || { no "$*: exit status $?"; return 1; }
	column "$tmp/value.txt" "$name" | head -n 1
}

# holds EXPRESSION : of numbers, in awk
holds() { awk "BEGIN { exit !($1) }" || no "it does not hold that $1"; }

# ---- known values --------------------------------------------------------------------------------

golden_is() { # OUT.csv
	awk -F, '
	FNR == 1 { file++; for (i = 1; i <= NF; i++) { at[file, $i] = i; name[file, i] = $i }; cols[file] = NF; next }
	file == 1 { row[$1] = $0; next }
	!($1 in row) { print "row " $1 " is not known"; bad++; next }
	{
		n = split(row[$1], want, ",")
		rows++
		split("mean p50 p99 p999", q, " ")
		for (i = 1; i <= 4; i++) {
			low = want[at[1, q[i] "_low"]]; high = want[at[1, q[i] "_high"]]; v = $at[2, q[i] "_s"]
			if (v == "" || v < low * (1 - 1e-6) || v > high * (1 + 1e-6)) {
				print $1 ": " q[i] " is " v ", not " low " to " high; bad++
			}
		}
		for (i = at[1, "p999_high"] + 1; i <= cols[1]; i++) {
			if (want[i] == "") continue
			v = $at[2, name[1, i]]; d = v - want[i]; if (d < 0) d = -d
			if (v == "" || d > 1e-6 * want[i] + 1e-15) { print $1 ": " name[1, i] " is " v ", not " want[i]; bad++ }
			derived++
		}
	}
	END { if (bad || rows != length(row) || rows < 30 || derived < 100) { print rows + 0 " rows, " bad + 0 " values wrong"; exit 1 } }
	' "$golden" "$1" || no "not the known values"
}

batch() {
	cut -d, -f1-13 "$golden" >"$tmp/in.txt"
	run_model predict --batch "$tmp/in.txt" >"$tmp/out.txt" || { no "exit status $?"; return 1; }
	case $(head -n 1 "$tmp/out.txt") in
	"$header,$results"*) ;;
	*) no "the columns are not those of sdr_model(1)"; return 1 ;;
	esac
	golden_is "$tmp/out.txt" || return 1
	# the inputs come back: the same numbers, whatever they were written like
	awk -F, 'NR == FNR { for (i = 1; i <= 13; i++) c[FNR, i] = $i; next }
	FNR > 1 { for (i = 1; i <= 13; i++) if (i > 2 ? c[FNR, i] + 0 != $i + 0 : c[FNR, i] != $i) { print "line " FNR ", column " i; bad = 1 } }
	END { exit bad }' "$tmp/in.txt" "$tmp/out.txt" || no "an input has changed"
}

# The same rows from standard input: columns turned round, CRLF, quotes, blank lines, a byte order mark.
batch_form() {
	cut -d, -f1-13 "$golden" >"$tmp/in.txt"
	{
		printf '\357\273\277'
		awk -F, '{ for (i = NF; i >= 1; i--) printf "%s%s", (i % 3 || NR == 1 ? $i : "\"" $i "\""), (i > 1 ? "," : "\r\n"); if (NR % 4 == 0) printf "\r\n" }' "$tmp/in.txt"
	} | run_model predict --batch - >"$tmp/out.txt" || { no "exit status $?"; return 1; }
	golden_is "$tmp/out.txt"
}

# What is left out has its default, from an option if there is one.
batch_defaults() {
	printf 'scheme,p_packet\nsr_rto,1e-3\nec_mds,0.01\n' >"$tmp/in.txt"
	run_model predict --batch "$tmp/in.txt" --size 1M >"$tmp/out.txt" || return 1
	[ "$(column "$tmp/out.txt" mean_s)" = "$(value mean_s predict --scheme sr_rto --drop-packet 1e-3 --size 1M &&
		value mean_s predict --scheme ec_mds --drop-packet 0.01 --size 1048576 --k 32 --m 8 --beta 1 --mtu 4096 --chunk 64K)" ] ||
		no "options and batch differ"
	[ "$(column "$tmp/out.txt" id | tr '\n' ' ')" = "1 2 " ] || no "rows without an id are not numbered"
}

batch_id() { # an id may be any text
	printf 'id,scheme\n"a,""b""",ideal\n' | run_model predict --batch - >"$tmp/out.txt" || return 1
	grep -q '^"a,""b""",ideal,' "$tmp/out.txt" || no "the id has changed"
}

# ---- what the commands print ---------------------------------------------------------------------

drop_of_chunk() { # --drop is the chunk's loss
	local p
	p=$(value p_chunk predict --scheme sr_rto --drop 1e-3) || return 1
	holds "$p > 0.001 * (1 - 1e-12) && $p < 0.001 * (1 + 1e-12)"
}

sweep_rows() {
	run_model sweep --schemes sr_rto,ec_mds --drop-packet 1e-6:1e-2:x5 --size 1M,2M --rtt 0.01:0.03:+0.01 --format csv >"$tmp/out.txt" ||
		return 1
	[ "$(column "$tmp/out.txt" p_packet | sort -u | tr '\n' ' ')" = "0.0001 0.001 0.01 1e-05 1e-06 " ] || no "not the decades"
	[ "$(column "$tmp/out.txt" rtt_s | sort -u | tr '\n' ' ')" = "0.01 0.02 0.03 " ] || no "not the round trips"
	[ "$(column "$tmp/out.txt" mean_s | wc -l)" = 60 ] || no "not 2 * 5 * 2 * 3 rows"
	[ "$(column "$tmp/out.txt" id | tail -n 1)" = 60 ] || no "not numbered"
}

# All rows as one JSON each, with the numbers of the CSV.
json() {
	command -v python3 >/dev/null || { skip "python3 is missing"; return 0; }
	local o="sweep --schemes ideal,sr_rto,ec_xor,hybrid --drop-packet 0,1e-3 --quantile 0.9"
	run_model $o --format json >"$tmp/a.txt" && run_model $o --format csv >"$tmp/b.txt" &&
		run_model advise --format json >"$tmp/c.txt" && run_model allreduce --samples 500 --format json >"$tmp/d.txt" &&
		printf 'id,scheme\n"a""\\\001\377\303\266",ideal\n' | run_model predict --batch - --format json >"$tmp/e.txt" || return 1
	python3 - "$tmp" <<-'PY' || no "not the JSON of sdr_model(1)"
	import csv, json, sys
	load = lambda n: json.load(open(f"{sys.argv[1]}/{n}.txt"))
	rows = load("a")
	want = list(csv.DictReader(open(f"{sys.argv[1]}/b.txt")))
	assert len(rows) == len(want) == 8
	assert all({k for k, v in w.items() if v} == set(r) for r, w in zip(rows, want))
	assert all(w[k] == v if isinstance(v, str) else float(w[k]) == v for r, w in zip(rows, want) for k, v in r.items())
	assert all("q0.9_s" in r and ("k" in r) == (r["scheme"] in ("ec_xor", "hybrid")) for r in rows)
	assert load("c")["candidates"][0]["rank"] == 1 and len(load("d")) == 4
	assert load("e")[0]["id"] == 'a"\\\x01?\u00f6'
	PY
}

# The threads share indexes: however many, every digit is the same.
jobs() {
	local o
	for o in "simulate --schemes sr_rto,ec_mds --drop-packet 1e-3 --samples 30000 --seed 7" \
		"allreduce --schemes sr_nack --drop-packet 1e-3 --samples 9000 --seed 3"; do
		run_model $o --jobs 1 --format csv >"$tmp/a.txt" && run_model $o --jobs 7 --format csv >"$tmp/b.txt" || return 1
		cmp -s "$tmp/a.txt" "$tmp/b.txt" || { no "$o: the result depends on --jobs"; return 1; }
	done
	run_model $o --seed 4 --format csv >"$tmp/b.txt"
	[ "$(column "$tmp/a.txt" mean_s)" != "$(column "$tmp/b.txt" mean_s)" ] || no "the seed does nothing"
}

# 100000 samples of every scheme within 1 % of the law's mean.
simulate() {
	run_model simulate --drop-packet 1e-4,1e-2 --size 8M --format csv 2>"$tmp/err.txt" >"$tmp/out.txt" || {
		cat "$tmp/err.txt"
		no "exit status $?"
		return 1
	}
	column "$tmp/out.txt" mean_diff >"$tmp/diff.txt"
	awk '$1 > 0.01 || $1 < -0.01 || $1 == "" { bad = 1 } END { exit bad || NR != 10 }' "$tmp/diff.txt" ||
		no "a mean is off by more than 1 %, or not there: $(tr '\n' ' ' <"$tmp/diff.txt")"
}

# A ring takes as long as its slowest link lets it; the other way round does not matter to it.
links() {
	local a b c
	printf 'from,to,rtt_s,p_packet\n1,2,0.1,\n' >"$tmp/slow.txt"
	printf 'from,to,rtt_s\r\n2,1,0.1\r\n' >"$tmp/back.txt"
	local o="allreduce --scheme sr_rto --samples 200 --nodes 4"
	a=$(value mean_s $o) && b=$(value mean_s $o --links "$tmp/slow.txt") && c=$(value mean_s $o --links "$tmp/back.txt") ||
		return 1
	holds "$b > $a * 1.5 && $c == $a"
}

collectives() {
	local a s g t o="allreduce --scheme sr_rto --samples 200 --compute 1e-3"
	a=$(value ideal_s $o) && s=$(value ideal_s $o --collective reduce_scatter) && g=$(value ideal_s $o --collective allgather) &&
		t=$(value ideal_s $o --collective tree) || return 1
	holds "$s < $a && $g < $a && $t > 0 && $t != $a"
}

advise_words() {
	run_model advise --drop-packet 1e-3 --rtt 25e-3 --bandwidth 400e9 --size 128M >"$tmp/out.txt" || return 1
	said out '^Use [a-z_]+( with k = [0-9]+, m = [0-9]+)?: p99 ' && said out '^FI_SDR_RELIABILITY=' && said out '^sr_rto: .* times' || return 1
	grep -q guess "$tmp/out.txt" && { no "a number that was given is called a guess"; return 1; }
	run_model advise >"$tmp/out.txt" && said out '^# rtt_s: .* is a guess; --rtt '
}

advise_stats() {
	{
		echo '{"peer":"192.0.2.7:18515","engine":"soft","late":"qp","pkts_tx":5,"rtt_min_ns":70000000,"loss_ppm":0,"pacing_bps":0,"loss_upper_ppb":0,"burst_milli":0}'
		echo '{"peer":"total","engine":"soft","late":"qp","pkts_tx":900000,"bytes_tx":3000000000,"rtt_min_ns":40000000,"srtt_ns":41000000,"loss_ppm":1900,"pacing_bps":9000000000,"loss_upper_ppb":2000000,"burst_milli":2500,"grants":0,"regs":0}'
	} >"$tmp/stats.json"
	run_model advise --stats "$tmp/stats.json" >"$tmp/out.txt" || return 1
	said out '^# 9 Gbit/s, RTT 40 ms, loss 0.002 in bursts of 2.5,' && said out '95 % sure' || return 1
	run_model advise --stats "$tmp/stats.json" --peer 192.0.2.7:18515 --bandwidth 1e9 >"$tmp/out.txt" &&
		said out '^# 1 Gbit/s, RTT 70 ms, loss 0 ' || return 1
	echo '{"peer":"total","rtt_min_ns":' >>"$tmp/stats.json"
	refuses '' 'line 3' 'statistics' -- advise --stats "$tmp/stats.json" &&
		refuses '' peer -- advise --stats /dev/null && refuses '' stats -- advise --stats "$tmp/nosuch"
}

# The provider's own statistics are read.
advise_own_stats() {
	local p
	p=$(free_port)
	export FI_SDR_STATS=$tmp/stats.json FI_SDR_FAULT=delay=1ms
	server_at server "$p" && client_at client "$p" -S 64k -I 3 && both_end_well client server || return 1
	unset FI_SDR_FAULT FI_SDR_STATS
	run_model advise --stats "$tmp/stats.json" >"$tmp/out.txt" && said out '^# rtt_s: smallest round trip that was measured'
}

advise_probe() {
	local h=payload_bytes,wire_bytes,sent,received,lost,loss,loss_low,loss_high,burst_packets,reordered,duplicates,rtt_min_s,rtt_median_s,rate_bps
	printf '%s\n1024,1070,20000,19990,10,0.0005,0,0,1,0,0,0.03,0.031,1e9\n4096,4142,20000,19950,50,0.0025,0,0,1.5,0,0,0.03,0.031,1e9\n' $h >"$tmp/probe.txt"
	run_model advise --probe "$tmp/probe.txt" >"$tmp/out.txt" &&
		said out 'RTT 30 ms, loss 0.0025 in bursts of 1.5, .* packets of 4096 bytes' && said out '50 of 20000' || return 1
	run_model advise --probe "$tmp/probe.txt" --mtu 1000 --rtt 0.5 >"$tmp/out.txt" && said out 'RTT 500 ms, loss 0.0005 ' || return 1
	printf '%s\n4096,4142,30000,30000,0,0,0,0.0001,,0,0,,,1e9\n' $h >"$tmp/none.txt"
	run_model advise --probe "$tmp/none.txt" >"$tmp/out.txt" && said out 'loss 0.0001 ' && said out 'none was lost' || return 1
	printf 'payload_bytes,sent,lost\n4096,10,11\n' >"$tmp/bad.txt"
	refuses '' 'line 2' lost -- advise --probe "$tmp/bad.txt" || return 1
	printf 'payload_bytes,sent\n4096,10\n' >"$tmp/bad.txt"
	refuses '' 'line 1' lost -- advise --probe "$tmp/bad.txt"
}

plot() {
	command -v gnuplot >/dev/null || { skip "gnuplot is missing (gnuplot-nox)"; return 0; }
	run_model sweep --schemes sr_rto,sr_nack --drop-packet 1e-6:1e-2:x9 --format csv >"$tmp/in.txt" || return 1
	run_model plot --x p_packet --y p999_s/ideal_s --series scheme --log xy --title "it's \$(1) %s" --output "$tmp/a.svg" "$tmp/in.txt" ||
		{ no "exit status $?"; return 1; }
	grep -q '<svg' "$tmp/a.svg" && grep -q 'packet loss (probability)' "$tmp/a.svg" && grep -q sr_nack "$tmp/a.svg" &&
		grep -q "it's \$(1) %s" "$tmp/a.svg" || no "not the picture"
	run_model plot --output "$tmp/c.svg" "$tmp/in.txt" && grep -q 'packet loss (probability)' "$tmp/c.svg" &&
		grep -q 'completion time, mean (s)' "$tmp/c.svg" && grep -q sr_nack "$tmp/c.svg" || no "not the default picture"
	run_model predict --format csv >"$tmp/one.txt" && refuses '' --x -- plot --output "$tmp/b.svg" "$tmp/one.txt" || return 1
	refuses '' nosuch -- plot --x nosuch --y mean_s --output "$tmp/b.svg" "$tmp/in.txt" &&
		refuses '' output -- plot --x p_packet --y mean_s --output "$tmp/b.pdf" "$tmp/in.txt" &&
		refuses '' 'line 2' scheme -- plot --x p_packet --y scheme --output "$tmp/b.svg" "$tmp/in.txt" || return 1
	[ ! -e "$tmp/b.svg" ] || no "a picture was left"
}

no_gnuplot() {
	local rc
	mkdir -p "$tmp/empty"
	printf 'a,b\n1,2\n' >"$tmp/in.txt"
	PATH=$tmp/empty "$model" plot --x a --y b --output "$tmp/a.svg" "$tmp/in.txt" 2>"$tmp/err.txt"
	rc=$?
	[ $rc = 1 ] || no "exit status $rc instead of 1"
	said err 'gnuplot-nox'
}

# A picture is whole or as it was before.
plot_fails() {
	local how rc
	mkdir -p "$tmp/fake" "$tmp/pictures"
	printf 'a,b\n1,2\n' >"$tmp/in.txt"
	for how in 'exit 3' 'kill -TERM $$'; do
		printf 'before\n' >"$tmp/pictures/a.svg"
		printf '#!/bin/sh\necho half\n%s\n' "$how" >"$tmp/fake/gnuplot"
		chmod +x "$tmp/fake/gnuplot"
		PATH=$tmp/fake:$PATH "$model" plot --x a --y b --output "$tmp/pictures/a.svg" "$tmp/in.txt" 2>"$tmp/err.txt"
		rc=$?
		[ $rc = 1 ] || no "$how: exit status $rc instead of 1"
		said err 'gnuplot (failed with exit status 3|ended by signal 15)' || return 1
		[ "$(cat "$tmp/pictures/a.svg") $(ls "$tmp/pictures")" = "before a.svg" ] || no "$how: $(ls "$tmp/pictures"), not as it was"
	done
}

# ---- what the paper says and what comes out (sdr_model(1)) ---------------------------------------

small="--chunk 8K --mtu 4096" # drops on small chunks

peak() { # selective repeat is slowest, against ideal, where the message is likely to lose one
	run_model sweep --scheme sr_rto --drop 1e-5 --mtu 4K --chunk 4K --size 1M:64G:x17 --format csv >"$tmp/out.txt" || return 1
	paste -d' ' <(column "$tmp/out.txt" msg_bytes) <(column "$tmp/out.txt" mean_s) <(column "$tmp/out.txt" ideal_s) |
		awk '$2 / $3 > top { top = $2 / $3; at = $1 / 4096 * 1e-5 } END { exit !(at > 0.5 && at < 5 && top > 2.3 && top < 2.5) }' ||
		no "the peak is elsewhere"
}

heat_map() { # up to 6.5 times in the mean, 12.2 in p99.9
	local mean=0 p999=0
	run_model sweep --schemes sr_rto,ec_mds --drop-packet 1e-6:1e-1:x6 --size 128K:1G:x14 $small --format csv >"$tmp/out.txt" || return 1
	read -r mean p999 < <(paste -d' ' <(column "$tmp/out.txt" p_packet) <(column "$tmp/out.txt" mean_s) <(column "$tmp/out.txt" p999_s) |
		awk '$1 <= 0.0100001 && NR % 2 { m = $2; q = $3; next } $1 <= 0.0100001 { if (m / $2 > a) a = m / $2; if (q / $3 > b) b = q / $3 } END { print a, b }')
	holds "$mean > 6.2 && $mean < 7 && $p999 > 12.1 && $p999 < 12.3"
}

row_128m() { # 3 to 10 times ideal at 128 MiB from 1e-4 on
	local a b
	a=$(value mean_s predict --scheme sr_rto --drop-packet 1e-4 $small) && b=$(value mean_s predict --scheme sr_rto --drop-packet 0.035 $small) ||
		return 1
	holds "$a / 0.02768435 > 3 && $b / 0.02768435 > 9.5 && $b / 0.02768435 < 10.5"
}

xor_and_mds() {
	local x m
	x=$(value p_fallback predict --scheme ec_xor --drop-packet 1e-3 --chunk 4K) &&
		m=$(value p_fallback predict --scheme ec_mds --drop-packet 1e-2 --chunk 4K) || return 1
	holds "$x > 0.05 && $x < 0.2 && $m < 1e-3"
}

nack_below_3() {
	run_model sweep --schemes sr_rto,sr_nack --chunk 4K --drop-packet 1e-6:0.1:x6 --size 128K:8G:x17 --format csv >"$tmp/out.txt" || return 1
	paste -d' ' <(column "$tmp/out.txt" mean_s) <(column "$tmp/out.txt" p999_s) |
		awk 'NR % 2 { m = $1; q = $2; next } m / $1 >= 3 || q / $2 >= 3 { bad = 1 } m / $1 > 2.4 { seen = 1 } END { exit bad || !seen }' ||
		no "selective repeat by reports gains 3 times or more, or never 2.4"
}

crossing() { # erasure coding loses where its parity costs more than a repair: not at 32 GiB with (32, 8)
	local o="predict --drop-packet 1e-5 --chunk 4K --size" s e f
	s=$(value mean_s $o 16G --scheme sr_rto) && e=$(value mean_s $o 16G --scheme ec_mds) &&
		f=$(value mean_s $o 16G --scheme ec_mds --k 32 --m 4) || return 1
	holds "$e > $s && $f < $s" || return 1
	s=$(value mean_s $o 32G --scheme sr_rto) && f=$(value mean_s $o 32G --scheme ec_mds --k 64 --m 8) || return 1
	holds "$f > $s"
}

allreduce_gain() { # of four datacenters, p99.9: 3 to more than 6 times
	local a b
	a=$(value speedup_p999 allreduce --scheme ec_mds --chunk 4K --drop-packet 1e-5 --samples 20000) &&
		b=$(value speedup_p999 allreduce --scheme ec_mds --chunk 4K --drop-packet 1e-2 --samples 20000) || return 1
	holds "$a > 3 && $a < 4 && $b > 6 && $b < 9"
}

# ---- what is refused -----------------------------------------------------------------------------

# refuses INPUT WORD... -- OPTIONS... : exit status 2, nothing on standard output, every word in the error
refuses() {
	local input=$1 words=() rc w
	shift
	while [ "$1" != -- ]; do
		words+=("$1")
		shift
	done
	shift
	printf "$input" | timeout -s KILL 20 "$model" "$@" >"$tmp/out.txt" 2>"$tmp/err.txt"
	rc=$?
	[ $rc = 2 ] || { no "$*: exit status $rc instead of 2"; return 1; }
	[ ! -s "$tmp/out.txt" ] || { no "$*: something on standard output"; return 1; }
	for w in "${words[@]}"; do
		grep -qF -- "$w" "$tmp/err.txt" || { no "$*: the error does not name $w: $(cat "$tmp/err.txt")"; return 1; }
	done
}

# bad_row COLUMN VALUE SCHEME : in the third line, behind a good row
bad_row() {
	local c=$1 v=$2 s=${3:-sr_rto} h=id,scheme
	local cells=good,ideal bad=wrong,$s
	[ "$c" = scheme ] && bad=wrong,$v
	[ "$c" = scheme ] || { h=$h,$c cells=$cells, bad=$bad,$v; }
	refuses "$h\n$cells\n$bad\n" 'line 3' wrong "$c" -- predict --batch -
}

bad_values() {
	local c v
	for c in bandwidth_bps rtt_s rto_rtts beta p_packet; do
		for v in -1 nan NaN inf -nan 1e999 0x10 1e-3x '1 2' --1 1e; do
			bad_row $c "$v" ec_mds || return 1
		done
	done
	for c in mtu_bytes chunk_bytes msg_bytes k m n_dc; do
		for v in -1 nan 1.5 0x10 12q 1e40 99999999999999999999999 K; do
			bad_row $c "$v" ec_mds || return 1
		done
	done
	bad_row p_packet 1 && bad_row p_packet 1.5 && bad_row bandwidth_bps 0 && bad_row rtt_s 0 &&
		bad_row msg_bytes 0 && bad_row mtu_bytes 0 && bad_row chunk_bytes 0 && bad_row chunk_bytes 4294967296 &&
		bad_row msg_bytes 9223372036854775809 && bad_row msg_bytes 1e19 && bad_row msg_bytes 16777216T &&
		bad_row k 0 ec_mds && bad_row m 0 ec_xor && bad_row m 225 ec_mds && bad_row k 249 hybrid &&
		bad_row scheme sr && bad_row scheme EC_MDS && bad_row scheme '' && bad_row scheme allreduce_ &&
		bad_row n_dc 1 allreduce_sr_rto && bad_row n_dc 1025 allreduce_ideal && bad_row n_dc 0 allreduce_ec_mds
}

# The largest that makes sense.
largest() {
	value mean_s predict --scheme sr_rto --size 9223372036854775808 >/dev/null &&
		value mean_s predict --scheme ec_mds --k 255 --m 1 >/dev/null
}

bad_batches() {
	local h=id,scheme,rtt_s,p_packet
	refuses "$h\na,sr_rto,1,0\nb,sr_rto,1\n" 'line 3' '"b"' p_packet -- predict --batch - &&
		refuses "$h\na,sr_rto\n" 'line 2' '"a"' rtt_s -- predict --batch - &&
		refuses "$h\n\na,sr_rto,1,0\n\nb,sr_rto,1,0,5\n" 'line 5' '"b"' 5 -- predict --batch - &&
		refuses "$h,colour\na,sr_rto,1,0,red\n" 'line 1' colour -- predict --batch - &&
		refuses "$h,rtt_s\na,sr_rto,1,0,1\n" 'line 1' rtt_s two -- predict --batch - &&
		refuses "id,rtt_s\na,1\n" 'line 1' scheme -- predict --batch - &&
		refuses "$h\na,sr_rto,1,\"0\n" 'line 2' quote -- predict --batch - &&
		refuses "$h\na,sr_rto,1,\"0\"1\n" 'line 2' quote -- predict --batch - &&
		refuses "$h\na,sr_rto,1,0\0000,\n" zero -- predict --batch - &&
		refuses "" empty -- predict --batch - && refuses '\n\r\n' empty -- predict --batch - &&
		refuses "$h\n" row -- predict --batch - && refuses '' nosuch -- predict --batch "$tmp/nosuch" &&
		refuses '' "$tmp" -- predict --batch "$tmp" && refuses "$h\na,sr_rto,1,2\n" 'line 2' p_packet -- simulate --batch - &&
		refuses '\033[31m\n1\n' 'column "?[31m"' -- predict --batch -
}

bad_links() {
	local o="allreduce --samples 10 --nodes 3 --links -"
	refuses 'from,to,rtt_s\n0,3,1\n' 'line 2' to -- $o && refuses 'from,to,rtt_s\n0,1,-1\n' 'line 2' rtt_s -- $o &&
		refuses 'from,to,p_packet\n0,1,1\n' 'line 2' p_packet -- $o && refuses 'from,to\n1,1\n' 'line 2' to -- $o &&
		refuses 'from,to\n0,1\n0,1\n' 'line 3' to -- $o && refuses 'from,rtt_s\n0,1\n' to -- $o &&
		refuses 'from,to,mtu\n0,1,1\n' mtu -- $o && refuses 'from,to\n0\n' 'line 2' to -- $o && refuses '' empty -- $o
}

bad_options() {
	local p="predict --scheme ec_mds"
	refuses '' COMMAND -- 2>/dev/null || refuses '' command -- || return 1
	refuses '' guess -- guess && refuses '' --bogus -- $p --bogus && refuses '' -z -- $p -z && refuses '' word -- $p word &&
		refuses '' --rtt missing -- $p --rtt && refuses '' --links predict -- $p --links x &&
		refuses '' --drop-packet p_packet -- $p --drop-packet 1 && refuses '' --drop -- $p --drop 1 &&
		refuses '' --drop-packet --drop -- $p --drop 0 --drop-packet 0 && refuses '' --rtt rtt_s -- $p --rtt nan &&
		refuses '' --rtt rtt_s -- $p --rtt -1 && refuses '' --m 256 -- $p --k 250 --m 7 && refuses '' --size msg_bytes -- $p --size 16777216T &&
		refuses '' --size msg_bytes -- $p --size 5kb && refuses '' --scheme nosuch -- predict --scheme sr_rto,nosuch &&
		refuses '' --scheme empty -- predict --scheme sr_rto, && refuses '' --rtt list -- $p --rtt 1,2 &&
		refuses '' --unit -- $p --unit bit && refuses '' --decode -- $p --decode rows && refuses '' --resend -- $p --resend none &&
		refuses '' --objective -- $p --objective p90 && refuses '' --collective -- $p --collective star &&
		refuses '' --quantile -- $p --quantile 1 && refuses '' --quantile -- $p --quantile x && refuses '' --format -- $p --format xml &&
		refuses '' --samples -- $p --samples 0 && refuses '' --jobs -- $p --jobs 0 && refuses '' --seed -- $p --seed -1 &&
		refuses '' --nodes -- allreduce --nodes 1 && refuses '' --burst -- predict --scheme hybrid --burst 0.5 &&
		refuses '' --max-overhead -- advise --max-overhead -1 && refuses '' --stats --probe -- advise --stats a --probe b &&
		refuses '' --peer -- advise --peer a && refuses '' --output -- plot && refuses '' --log -- plot --x a --y b --output c.svg --log z
}

bad_lists() {
	local s="sweep --scheme sr_rto"
	refuses '' --rtt range -- $s --rtt 1:2 && refuses '' --rtt x1 -- $s --rtt 1:2:x1 && refuses '' --rtt range -- $s --rtt 2:1:x3 &&
		refuses '' --rtt +0 -- $s --rtt 1:2:+0 && refuses '' --size -- $s --size 1M:2M:*2 && refuses '' --rtt -- $s --rtt 0:1:x3 &&
		refuses '' combinations -- $s --rtt 1:2:x1001 --size 1M:4G:x1001 && refuses '' --rtt values -- $s --rtt 1:2:+1e-9 &&
		refuses '' 'row 2' --drop-packet p_packet -- $s --drop-packet 0,1 && refuses '' --rtt rtt_s a -- $s --rtt 1,a
}

# A result that does not get through is an error.
full_disk() {
	local rc
	[ -w /dev/full ] || { skip "there is no /dev/full"; return 0; }
	"$model" predict >/dev/full 2>"$tmp/err.txt"
	rc=$?
	[ $rc = 1 ] || no "exit status $rc instead of 1"
	said err 'could not be written' || return 1
	# far more than a pipe holds, and no reader
	(run_model sweep --drop-packet 1e-6:1e-2:x200 --format csv 2>"$tmp/pipe.txt"; echo $? >"$tmp/rc.txt") | true
	[ "$(cat "$tmp/rc.txt")" = 1 ] || no "exit status $(cat "$tmp/rc.txt") instead of 1 without a reader"
	said pipe 'could not be written'
}

progress_line() { # of a run that is far from done
	command -v script >/dev/null || { skip "script is missing (bsdutils)"; return 0; }
	spawn term script -qec "'$model' simulate --scheme sr_rto --drop-packet 0.5 --samples 5000000 --jobs 1 --size 4G --chunk 4K" /dev/null
	until_said term 'row 1 of 1, [0-9a-z ]+, [0-9]+ of [0-9]+ done' 40
}

help_lists() {
	local c
	run_model --help >"$tmp/help.txt" && run_model --version >"$tmp/version.txt" && said version '^sdr_model .*[0-9]+\.[0-9]+' || return 1
	for c in predict sweep simulate allreduce advise plot; do
		said help "^  $c " && run_model $c --help >"$tmp/$c.txt" && said $c "usage: sdr_model $c" && said $c '  --help' || return 1
	done
	said advise '  --probe FILE' && said allreduce '  --links FILE' && said plot '  --series COLUMN'
}

all="batch batch_form batch_defaults batch_id drop_of_chunk sweep_rows json jobs simulate links collectives advise_words advise_stats
	advise_own_stats advise_probe plot no_gnuplot plot_fails peak heat_map row_128m xor_and_mds nack_below_3 crossing allreduce_gain
	bad_values largest bad_batches bad_links bad_options bad_lists full_disk progress_line help_lists"
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
