#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# sdr_sim: what it prints is true and comes again, for every workload and kind of impairment.
#
# usage: sim.sh [CASE...]

. "$(dirname "$0")/cases.sh"
sim=$build/sdr_sim

# simulate ARGUMENT... : to $tmp/out.txt, exit status 0.
simulate() {
	timeout "$LIMIT" "$sim" "$@" >"$tmp/out.txt" 2>"$tmp/err.txt" || no "sdr_sim $*: exit status $?: $(head -c 300 "$tmp/err.txt")"
}

# col NAME [ROW] : a cell of the CSV in out.txt; rows from 1.
col() {
	awk -F, -v name="$1" -v row="${2:-1}" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i }
		NR == row + 1 { print $c }' "$tmp/out.txt"
}

# holds EXPRESSION : awk says that it is true.
holds() { awk "BEGIN { exit !($1) }" || no "not so: $1"; }

# All columns but the last two, which tell the simulation's own speed.
repeats() { sed 's/,[^,]*,[^,]*$//' "$tmp/out.txt"; }

same_seed_same_result() {
	local a b c
	simulate message --scheme sr_rto,hybrid --size 1M --drop-packet 1e-3 --runs 64 --warm 20 --format csv --jobs 1 || return 1
	a=$(repeats)
	[ "$(wc -l <"$tmp/out.txt")" = 3 ] || no "not two rows" || return 1
	simulate message --scheme sr_rto,hybrid --size 1M --drop-packet 1e-3 --runs 64 --warm 20 --format csv --jobs 3 || return 1
	b=$(repeats)
	[ "$a" = "$b" ] || no "--jobs changes the result" || return 1
	simulate message --scheme sr_rto,hybrid --size 1M --drop-packet 1e-3 --runs 64 --warm 20 --format csv --seed 2 || return 1
	c=$(repeats)
	[ "$a" != "$c" ] || no "--seed changes nothing"
}

nothing_lost_is_ideal() {
	local i
	simulate message --scheme ideal,sr_rto,sr_nack,hybrid,sr,auto --size 16M,256M --runs 8 --format csv || return 1
	for i in {1..12}; do
		holds "$(col mean_s "$i") >= $(col ideal_s "$i") && $(col mean_s "$i") <= 1.01 * $(col ideal_s "$i")" || return 1
		holds "$(col max_s "$i") >= $(col p999_s "$i") && $(col p999_s "$i") >= $(col p50_s "$i") && $(col p50_s "$i") >= $(col min_s "$i")" || return 1
		[ "$(col rtx_pkts "$i")" = 0 ] && [ "$(col parity_pkts "$i")" = 0 ] || no "row $i: repairs" || return 1
	done
	# with the headers on the same line it takes longer by their share
	simulate message --scheme ideal --size 4G --runs 1 --headers --format csv || return 1
	holds "$(col mean_s) > 1.01 * $(col ideal_s) && $(col mean_s) < 1.02 * $(col ideal_s)"
}

parity_beats_timeouts() {
	simulate message --scheme ec_mds,ec_xor,sr_nack,sr_rto,ideal --drop-packet 1e-3 --decode row --size 32M --runs 64 --format csv || return 1
	holds "$(col mean_s 1) < 1.05 * $(col ideal_s 1) && $(col mean_s 4) > 2.5 * $(col ideal_s 4)" || return 1
	holds "$(col mean_s 3) > 1.5 * $(col ideal_s 3) && $(col mean_s 3) < $(col mean_s 4)" || return 1
	holds "$(col mean_s 5) < 1.01 * $(col ideal_s 5)" || return 1
	holds "$(col parity_pkts 1) == 8192 / 4 * 64 && $(col overhead 1) >= 0.25 && $(col overhead 1) < 0.26" || return 1
	holds "$(col rtx_pkts 4) > 200 && $(col parity_pkts 4) == 0"
}

streams() {
	local one
	simulate stream --scheme sr --size 4M --messages 40 --window 1 --runs 4 --format csv || return 1
	holds "$(col mean_s) < 1.01 * $(col ideal_s)" || return 1
	one=$(col goodput_bps)
	holds "$one > 4194304 * 8 / $(col ideal_s) * 0.98" || return 1
	simulate stream --scheme sr --size 4M --messages 40 --window 8 --runs 4 --format csv || return 1
	holds "$(col goodput_bps) > 7 * $one && $(col mean_s) < 1.1 * $(col ideal_s)"
}

allreduces() {
	simulate allreduce --scheme ideal,sr_rto,ec_mds --nodes 3 --size 24M --drop-packet 2e-3 --decode row --runs 16 --format csv || return 1
	[ "$(col scheme 3)" = allreduce_ec_mds ] && [ "$(col n_dc 1)" = 3 ] || no "row: $(tail -n 1 "$tmp/out.txt")" || return 1
	holds "$(col ideal_s 1) > 4 * 0.025 && $(col mean_s 1) < 1.01 * $(col ideal_s 1)" || return 1
	holds "$(col mean_s 2) > 3 * $(col ideal_s 2) && $(col mean_s 3) < 1.2 * $(col ideal_s 3)"
}

bursts() {
	local burst
	simulate message --scheme sr --size 64M --loss ge:1e-2:16 --runs 32 --format csv || return 1
	[ "$(col burst_packets)" = 16 ] && [ "$(col p_packet)" = 0.01 ] || no "$(cat "$tmp/out.txt")" || return 1
	holds "$(col rtx_pkts) > 16384 * 32 * 0.007 && $(col rtx_pkts) < 16384 * 32 * 0.014" || return 1
	burst=$(col p50_s)
	simulate message --scheme sr --size 64M --loss iid:1e-2 --runs 32 --format csv || return 1
	holds "$(col p50_s) != $burst && $(col rtx_pkts) > 16384 * 32 * 0.009 && $(col rtx_pkts) < 16384 * 32 * 0.011"
}

crowds() {
	local alone
	simulate message --scheme sr --size 64M --runs 8 --format csv || return 1
	alone=$(col mean_s)
	simulate message --scheme sr --size 64M --cross 300e9 --runs 8 --format csv || return 1
	holds "$(col mean_s) > $alone + 0.0005 && $(col rtx_pkts) == 0" || return 1
	simulate message --scheme sr --size 64M --cross 300e9:9000 --queue 1M --runs 8 --format csv || return 1
	holds "$(col rtx_pkts) > 100 && $(col mean_s) > $alone + 0.02"
}

weather() {
	simulate message --scheme sr --size 16M --jitter 1e-3 --runs 8 --format csv || return 1
	# a path that reorders: data wait as long behind the record that announces them as packets overtake by
	holds "$(col mean_s) > $(col ideal_s) + 0.0015 && $(col mean_s) < $(col ideal_s) + 0.004" || return 1
	simulate message --scheme sr --size 16M --reorder 1e-2:5e-3 --runs 8 --format csv || return 1
	holds "$(col min_s) > $(col ideal_s) + 0.001" || return 1
	simulate message --scheme sr --size 1M --reverse-loss 0.5 --runs 32 --format csv || return 1
	holds "$(col max_s) > 1.5 * $(col ideal_s)" || return 1
	simulate message --scheme sr --cc bbr --size 64M --runs 4 --warm 8 --format csv || return 1
	holds "$(col mean_s) < 4 * $(col ideal_s)"
}

narrow_paths() {
	local how
	for how in 1500 1500:icmp; do
		simulate message --scheme sr --size 16M --bandwidth 1e9 --path-mtu "$how" --runs 8 --format csv || return 1
		# the headers of smaller packets, and nothing else; all of it without a loss
		holds "$(col mean_s) < 1.05 * $(col ideal_s) && $(col rtx_pkts) == 0" || return 1
		holds "$(col packets) > 8 * 16777216 / 1436" || return 1
	done
	timeout "$LIMIT" "$sim" message --path-mtu 1500:now >/dev/null 2>"$tmp/err.txt"
	[ $? = 2 ] || no "--path-mtu 1500:now is taken"
}

bytes_are_right() {
	simulate message --verify --scheme sr_nack,ec_mds,hybrid --size 1000003 --drop-packet 2e-2 --runs 8 --warm 20 --format csv || return 1
	holds "$(col rtx_pkts 1) > 20 && $(col parity_pkts 2) > 0 && $(col parity_pkts 3) > 0" || return 1
	simulate stream --verify --scheme ec_xor,auto --size 300000 --messages 20 --window 6 --drop-packet 1e-2 --runs 2 --warm 4 &&
		simulate allreduce --verify --scheme sr,hybrid --nodes 4 --size 1000001 --drop-packet 1e-2 --runs 2 --warm 4
}

# 1 GiB in flight costs what is under way, not the message.
memory_and_speed() {
	simulate message --scheme sr_nack --size 1G --drop-packet 1e-5 --runs 2 --format csv || return 1
	holds "$(col rss_kib) < 200 * 1024 && $(col packets) >= 2 * 262144 && $(col mpkt_per_s) > 0"
}

traces() {
	local n='[0-9]+' end
	simulate message --scheme ec_mds --size 300K --drop-packet 0.05 --runs 2 --trace "$tmp/a.trace" || return 1
	grep -qvE "^\{\"event\":\"trace\",\"format\":1,\"seed\":$n\}$|^\{\"time_ns\":$n,\"event\":\"(begin|end)\",\"cell\":$n,\"shard\":$n,\"run\":$n\}$|^\{\"time_ns\":$n,\"node\":$n,\"event\":\"complete\",\"operation\":\"(send|recv)\",\"len\":307200\}$|^\{\"time_ns\":$n,\"node\":$n,\"event\":\"[a-z]+\",\"from\":$n,\"to\":$n,\"kind\":\"(ctl\",\"len\":$n|data\",\"len\":$n,\"qpn\":$n,\"psn\":$n,\"slot\":$n,\"offset\":$n)\}$" "$tmp/a.trace" &&
		{ no "a line of no kind"; return 1; }
	[ "$(grep -c '"begin"' "$tmp/a.trace")" = 2 ] && [ "$(grep -c '"end"' "$tmp/a.trace")" = 2 ] &&
		[ "$(grep -c '"complete"' "$tmp/a.trace")" = 4 ] || no "runs" || return 1
	# every data packet that was sent, and not lost, arrives and is placed
	[ "$(grep -c '"sent".*"data"' "$tmp/a.trace")" -ge 150 ] && grep -q '"lost".*"data"' "$tmp/a.trace" || no "no packets" || return 1
	[ "$(grep -c '"event":"placed"' "$tmp/a.trace")" -gt 100 ] || no "nothing placed" || return 1
	simulate message --scheme ec_mds --size 300K --drop-packet 0.05 --runs 2 --trace "$tmp/b.trace" || return 1
	cmp "$tmp/a.trace" "$tmp/b.trace" || no "another trace" || return 1
	simulate message --scheme ec_mds --size 300K --drop-packet 0.05 --runs 2 --trace "$tmp/b.trace" --trace-max 50 || return 1
	end=$(tail -n 1 "$tmp/b.trace")
	[ "$end" = '{"event":"truncated"}' ] && [ "$(wc -l <"$tmp/b.trace")" -le 51 ] || no "it ends with $end"
}

batches() {
	cat >"$tmp/in.csv" <<-EOF
		id,scheme,bandwidth_bps,rtt_s,rto_rtts,beta,p_packet,mtu_bytes,chunk_bytes,msg_bytes,k,m,n_dc
		a,sr_rto,400e9,0.025,3,1,0.001,4096,65536,1048576,0,0,0
		"b,1",ec_mds,100e9,0.01,3,1,0.001,4096,4096,4194304,16,4,
		c,allreduce_sr_nack,400e9,0.005,,,0,4096,65536,1048576,,,4
	EOF
	simulate message --batch "$tmp/in.csv" --runs 4 || return 1
	[ "$(head -n 1 "$tmp/out.txt")" = "id,scheme,bandwidth_bps,rtt_s,rto_rtts,beta,p_packet,mtu_bytes,chunk_bytes,msg_bytes,k,m,n_dc,mean_s,p50_s,p99_s,p999_s,ideal_s,runs,min_s,max_s,packets,parity_pkts,rtx_pkts,overhead,goodput_bps,mpkt_per_s,rss_kib" ] ||
		no "columns: $(head -n 1 "$tmp/out.txt")" || return 1
	[ "$(sed -n 's/,4194304,16,4,.*//p' "$tmp/out.txt")" = '"b,1",ec_mds,100000000000,0.01,3,1,0.001,4096,4096' ] || no "row b: $(cat "$tmp/out.txt")" || return 1
	holds "$(col ideal_s 3) > 6 * 0.005 && $(col mean_s 3) < 1.05 * $(col ideal_s 3)"
}

formats() {
	simulate message --scheme sr --size 64K --runs 2 --format json || return 1
	grep -q '^{"id":"1","scheme":"sr","bandwidth_bps":400000000000,' "$tmp/out.txt" || no "$(cat "$tmp/out.txt")" || return 1
	simulate message --scheme sr,auto --size 64K --runs 2 || return 1
	[ "$(wc -l <"$tmp/out.txt")" = 3 ] && grep -q 'sr .*64 KiB .* 25.01 ms' "$tmp/out.txt" || no "$(cat "$tmp/out.txt")"
}

# refused PATTERN ARGUMENT... : exit status 2, the reason, and nothing on standard output.
refused() {
	local want=$1 rc
	shift
	timeout "$LIMIT" "$sim" "$@" >"$tmp/out.txt" 2>"$tmp/err.txt" </dev/null
	rc=$?
	[ $rc = 2 ] || no "sdr_sim $*: exit status $rc" || return 1
	[ ! -s "$tmp/out.txt" ] || no "sdr_sim $*: it printed something" || return 1
	grep -qE -- "$want" "$tmp/err.txt" || no "sdr_sim $*: $(head -c 300 "$tmp/err.txt")"
}

bad_input() {
	local head=id,scheme,bandwidth_bps,rtt_s,rto_rtts,beta,p_packet,mtu_bytes,chunk_bytes,msg_bytes,k,m,n_dc
	refused 'message, stream, allreduce or share' && refused 'none of message' run && refused 'no option' message --bogus 1 &&
		refused 'scheme.*zzz' message --scheme zzz && refused 'rtt_s' message --rtt -1 && refused 'p_packet' message --drop-packet 1 &&
		refused 'p_packet' message --drop-packet nan && refused 'bandwidth_bps' message --bandwidth 1e99 &&
		refused 'mtu_bytes' message --mtu 9000 && refused 'chunk_bytes' message --chunk 5000 &&
		refused '1 TiB' message --size 2T && refused 'k \+ m' message --scheme ec_mds --k 200 --m 100 &&
		refused 'rto_rtts' message --scheme sr_rto --rto-rtts 0.5 && refused 'n_dc' allreduce --nodes 1 &&
		refused 'queue' message --cross 500e9 && refused 'ge:SHARE:BURST' message --loss ge:1e-2 &&
		refused 'exclude' message --loss iid:0.1 --drop 0.1 && refused '--runs' message --runs 0 &&
		refused 'no path 2 of 2' message --paths 2 --lane 2:rtt=1 && refused 'no path 1 of 1' message --lane 1:rtt=1 &&
		refused '--paths' message --paths 17 && refused '--lane' message --lane 16:rtt=1 && refused 'K:KEY=VALUE' message --lane 1 &&
		refused 'KEY=VALUE' message --lane 0:rtt && refused 'no "speed"' message --lane 0:speed=1 &&
		refused 'FROM:TO' message --lane 0:dead=1 && refused '--lane' message --lane 0:dead=2:1 &&
		refused 'iid:P' message --lane 0:loss=ge:0.1 && refused 'one rate' message --lane 0:bandwidth=1e9 &&
		refused '--jobs' message --jobs 1000 && refused 'P:SECONDS' message --reorder 0.1 &&
		refused 'No such file' message --batch "$tmp/none.csv" && refused 'verify' message --verify --size 100G || return 1
	printf '%s\n%s\n%s\n' $head a,sr_rto,4e11,0.025,3,1,0,4096,65536,1,0,0,0 b,sr_rto,4e11,0.025,3,1,1.5,4096,65536,1,0,0,0 >"$tmp/in.csv"
	refused 'line 3, id "b": p_packet' message --batch "$tmp/in.csv" || return 1
	printf '%s\n%s\n' $head a,sr_rto,4e11,0.025 >"$tmp/in.csv"
	refused 'line 2' message --batch "$tmp/in.csv" || return 1
	printf '%s\n' $head,speed a,sr_rto,4e11,0.025,3,1,0,4096,65536,1,0,0,0,1 >"$tmp/in.csv"
	refused 'speed' message --batch "$tmp/in.csv"
}

# What a path has of its own holds for it, comes again whatever --jobs, and is as on all paths otherwise.
several_paths() {
	local a b
	simulate message --scheme sr --size 8M --bandwidth 1e9 --paths 2 --lane 0:rtt=80e-3 --lane 1:bandwidth=1e9,rtt=0.9e-1 \
		--cc auto --runs 4 --format csv || return 1
	holds "$(col ideal_s) > 0.080 + 0.0335 && $(col ideal_s) < 0.080 + 0.0336 && $(col min_s) > 0.080" || return 1
	simulate message --scheme sr --size 8M --bandwidth 1e9 --paths 3 --lane 0:loss=ge:1e-2:8,reverse-loss=1e-2 --lane 2:dead=0:1 --runs 64 \
		--jobs 1 --format csv || return 1
	a=$(repeats)
	holds "$(col rtx_pkts) > 0" || return 1
	simulate message --scheme sr --size 8M --bandwidth 1e9 --paths 3 --lane 0:loss=ge:1e-2:8,reverse-loss=1e-2 --lane 2:dead=0:1 --runs 64 \
		--jobs 3 --format csv || return 1
	b=$(repeats)
	[ "$a" = "$b" ] || no "--jobs changes the result" || return 1
	# all paths dead for a while, in each run
	simulate message --scheme sr --size 64K --paths 2 --lane 0:dead=0:0.3 --lane 1:dead=0:0.3 --pause 0.4 --runs 3 --format csv || return 1
	holds "$(col min_s) > 0.3" || return 1
	simulate message --scheme ideal --size 64K --paths 2 --lane 0:dead=0:0.3,loss=0.5 --lane 1:dead=0:0.3,loss=0.5 --runs 3 --format csv || return 1
	holds "$(col max_s) < 1.01 * $(col ideal_s)" || return 1
	simulate share --flows 1 --paths 4 --seconds 1 --format csv || return 1
	holds "$(col utilisation 2) > 0.5"
}

# Flows at one bottleneck: who gets what adds up, and comes again whatever --jobs.
shares() {
	local a b
	simulate share --flows 2 --cc fixed --rival cubic --seconds 2 --runs 3 --loss ge:1e-3:8 --stall 1e-4:1e-2 --jobs 1 --format csv || return 1
	a=$(sed 's/,[^,]*$//' "$tmp/out.txt")
	[ "$(wc -l <"$tmp/out.txt")" = 13 ] && [ "$(col flow 3)" = cubic0 ] && [ "$(col flow 4)" = all ] || no "rows: $(cat "$tmp/out.txt")" || return 1
	holds "$(col share 1) + $(col share 2) + $(col share 3) > 0.999 && $(col share 1) + $(col share 2) + $(col share 3) < 1.001" || return 1
	holds "$(col dropped_pkts 1) + $(col dropped_pkts 2) + $(col dropped_pkts 3) == $(col dropped_pkts 4)" || return 1
	holds "$(col utilisation 4) > 0.98 && $(col drop_settled 4) > 0.3 && $(col lost_pkts 4) > 0" || return 1
	simulate share --flows 2 --cc fixed --rival cubic --seconds 2 --runs 3 --loss ge:1e-3:8 --stall 1e-4:1e-2 --jobs 3 --format csv || return 1
	b=$(sed 's/,[^,]*$//' "$tmp/out.txt")
	[ "$a" = "$b" ] || no "--jobs changes the result" || return 1
	simulate share --flows 1 --messages 10 --warm 2 --greet --size 64K --cc fixed --format csv || return 1
	holds "$(col messages 2) == 8 && $(col time_mean_s 2) > 0.0255 && $(col time_max_s 2) < 0.027" || return 1
	# opened anew after what it was taught, and at once in use
	simulate share --flows 1 --messages 1 --teach 8M --size 64K --format csv || return 1
	simulate share --flows 1 --cc fixed --at 1:rate=5e8 --seconds 2 --format json || return 1
	grep -q '^{"run":0,"flow":"sdr0","start_s":' "$tmp/out.txt" || no "$(cat "$tmp/out.txt")" || return 1
	simulate share --flows 1 --rival bbr --seconds 1 --series 0.5 || return 1
	[ "$(grep -cE '^ +[0-9.]+ +[01] ' "$tmp/out.txt")" = 4 ] || no "series: $(cat "$tmp/out.txt")"
}

bad_shares() {
	refused '--flows' share --flows 65 && refused '1 to 64 in all' share --flows 0 && refused '"vegas"' share --rival vegas &&
		refused '1 to 64 in all' share --flows 60 --rival cubic:5 && refused 'SECONDS:rate=BPS' share --at 5 &&
		refused 'comes before' share --at 5:rate=1e9 --at 4:rate=1e9 && refused 'ge:SHARE:BURST' share --loss ge:0.1 &&
		refused '--rtt' share --rtt 25e-3,-1 && refused '--cc' share --cc none && refused 'one run' share --series 1 --runs 2 &&
		refused '--incast' share --teach 1M --incast && refused '--mtu' share --mtu 500 && refused 'SECONDS:EVERY' share --stall 1 &&
		refused 'P:SECONDS' share --reorder 0.1 && refused '--jitter' share --jitter -1 && refused '--scheme' share --scheme none && refused 'no option' share --bogus && refused '--queue-bdp' share --queue-bdp -1
}

# A transfer that cannot succeed is an error with its reason, and the other cells are printed all the same.
failing() {
	timeout "$LIMIT" "$sim" message --scheme ideal,sr --size 64K --reverse-loss 0.9 --drop-packet 0.9 --cross 1e13:65536 --queue 64K --runs 1 --format csv \
		>"$tmp/out.txt" 2>"$tmp/err.txt"
	[ $? = 1 ] || no "exit status" || return 1
	[ "$(col scheme 1)" = ideal ] && [ "$(wc -l <"$tmp/out.txt")" = 2 ] || no "$(cat "$tmp/out.txt")" || return 1
	grep -qE '^sdr_sim: id 2 \(sr\): the (send|receive) failed: ' "$tmp/err.txt" || no "$(cat "$tmp/err.txt")"
}

all="same_seed_same_result nothing_lost_is_ideal parity_beats_timeouts streams allreduces bursts crowds weather narrow_paths
	bytes_are_right memory_and_speed traces batches formats bad_input failing several_paths shares bad_shares"
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
