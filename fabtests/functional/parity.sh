#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Parity over sockets: verified transfers under every scheme, code, decoder and sizes of codewords, with
# little and with much loss, and what the statistics say of them: that parity is what (k, m) promised, that
# it repairs, that nothing is sent where it cannot help.  What a transfer costs in time is sdr_ct's matter.
#
#   parity.sh [CASE...]      names of cases, default all

. "$(dirname "$0")/cases.sh"

schemes="auto hybrid sr sr_rto sr_nack ec ec_sr"
mtu=4096
export LC_ALL=C

# pair OPTIONS... : a whole transfer under the settings in force; statistics in $tmp/stats.client and .server.
pair() {
	local p
	p=$(free_port)
	rm -f "$tmp"/stats.*
	FI_SDR_STATS=$tmp/stats.server server_at server "$p" &&
		FI_SDR_STATS=$tmp/stats.client client_at client "$p" "$@" && both_end_well client server
}

# value NAME [SIDE] : of the endpoint's sum.
value() {
	local v
	v=$(grep '"peer":"total"' "$tmp/stats.${2:-client}" | grep -o "\"$1\":[0-9]*" | head -n 1)
	[ -n "$v" ] || { no "$1 is not in the statistics of the ${2:-client}"; echo -1; return 1; }
	echo "${v#*:}"
}

# is NAME OPERATOR NUMBER [SIDE], as in [ ]
is() {
	local v
	v=$(value "$1" "${4:-client}") || return 1
	test "$v" "$2" "$3" || no "${4:-client}: $1 is $v, not $2 $3"
}

bytes() { # 64k -> 65536
	case $1 in
	*k) echo $((${1%k} << 10)) ;;
	*m) echo $((${1%m} << 20)) ;;
	*) echo "$1" ;;
	esac
}

# ---- every scheme --------------------------------------------------------------------------------

scheme() { # NAME
	export FI_SDR_RELIABILITY=$1
	pair -S 0,8,5000,64k,1000001,3m -I 1 || { no "without faults"; return 1; }
	export FI_SDR_FAULT=drop=0.02,seed=2
	pair -m msg -S 8,5000,64k,1000001,3m -I 2 || { no "drop=0.02"; return 1; }
	export FI_SDR_FAULT=drop=0.02,burst=3,dup=0.01,reorder=0.02,corrupt=0.005,seed=3
	pair -m write -S 8,5000,64k,1000001,3m -I 2 || no "$FI_SDR_FAULT, writes"
}

# Nearly a third of everything is lost, control included, in each direction.
third_lost() { # NAME
	export FI_SDR_RELIABILITY=$1 FI_SDR_FAULT=drop=0.3,seed=4
	pair -S 8,5000,64k,1m -I 1 -W 0
}

# ---- codes -----------------------------------------------------------------------------------------

ks=(1 2 10 32 64 128)
ms=(1 2 4 8 16)
chunks=("$mtu" 16k 64k 256k)
codes=(mds xor)
decoders=(row chunk)
coded=(ec ec_sr)

# One k with every m; over all k each two values of any two settings meet.
codes_k() { # INDEX
	local i=$1 j s
	export FI_SDR_MTU=$mtu FI_SDR_EC_K=${ks[$i]} FI_SDR_FAULT=drop=0.02,dup=0.005,reorder=0.01,seed=5
	for j in 0 1 2 3 4; do
		export FI_SDR_EC_M=${ms[$j]} FI_SDR_CHUNK_SIZE=${chunks[$(((i + j) % 4))]} \
			FI_SDR_EC_CODE=${codes[$(((i + j / 2) % 2))]} FI_SDR_EC_DECODE=${decoders[$(((i / 2 + j) % 2))]} \
			FI_SDR_RELIABILITY=${coded[$(((i + j / 3) % 2))]}
		s="$FI_SDR_RELIABILITY $FI_SDR_EC_CODE ($FI_SDR_EC_K,$FI_SDR_EC_M) chunk $FI_SDR_CHUNK_SIZE $FI_SDR_EC_DECODE"
		echo "$s"
		pair -S 1,5000,64k,1000001,3m -I 1 -W 0 && is parity_tx -gt 0 && is parity_tx -gt 0 server ||
			{ no "$s"; return 1; }
	done
	rm -f "$tmp/why"
}

# Several segments, many submessages.
long() {
	export FI_SDR_RELIABILITY=ec FI_SDR_FAULT=drop=0.001,seed=6
	pair -S 150000001 -I 1 -W 0 && is chunks_fec -gt 0
}

# ---- what the statistics say ------------------------------------------------------------------------

# A path that loses nothing by itself: no more than the sockets hold.
clean_path() { export FI_SDR_MTU=$mtu FI_SDR_CC=fixed FI_SDR_RATE=400mbit; }

nothing_repaired() {
	is repair_tx -eq 0 && is chunks_fec -eq 0 && is chunks_rtx -eq 0 && is rtx_rack -eq 0 && is rtx_nack -eq 0 &&
		is rtx_rto -eq 0
}

# promised CODE K M CHUNK SIZE : packets of parity of a message, from the geometry of sdr_code.h.  That is m/k of the
# data and at most two chunks per submessage more: m/k is rounded up, and the last chunk of the data may be short.
promised() {
	local k=$2 m=$3 chunk pkts cp chunks subs kmax rows n
	chunk=$(bytes "$4")
	pkts=$((($(bytes "$5") + mtu - 1) / mtu))
	cp=$((chunk / mtu))
	[ $cp -le $pkts ] || cp=$pkts
	chunks=$(((pkts + cp - 1) / cp))
	subs=$(((chunks + k - 1) / k))
	kmax=$(((chunks + subs - 1) / subs))
	rows=$(((kmax * m + k - 1) / k))
	[ "$1" = mds ] || [ $rows -le $kmax ] || rows=$kmax
	n=$((rows * subs * cp))
	[ $(((n - 2 * subs * cp) * k)) -le $((pkts * m)) ] ||
		{ no "the check's own arithmetic: $n packets for $*"; return 1; }
	echo $n
}

# Without loss: so much parity with the data as k and m say, none on demand, nothing decoded.  Parity follows the
# data and ends when they are acknowledged: never more than promised, and all of it where the round trip is
# longer than that takes, unless the machine stops for as long (then once more).
overhead() {
	local line code k m chunk size n want
	clean_path
	export FI_SDR_RELIABILITY=ec FI_SDR_FAULT=delay=40ms
	while read -r code k m chunk size n; do
		export FI_SDR_EC_CODE=$code FI_SDR_EC_K=$k FI_SDR_EC_M=$m FI_SDR_CHUNK_SIZE=$chunk
		line="$code ($k,$m), chunk $chunk, message $size"
		want=$(promised "$code" "$k" "$m" "$chunk" "$size") || return 1
		# those known without arithmetic check it
		[ "$n" = - ] || [ "$want" = "$n" ] || { no "$line: promised $want packets, known $n"; return 1; }
		for _ in 1 2 3; do
			pair -o -S "$size" -I 1 -W 0 && is parity_tx -le "$want" && nothing_repaired || { no "$line"; return 1; }
			[ "$(value parity_tx)" -lt "$want" ] || break
		done
		is parity_tx -eq "$want" || { no "$line"; return 1; }
	done <<-END
	mds 32 8 64k 4m 256
	xor 32 8 64k 4m 256
	mds 10 1 16k 3m -
	mds 32 8 64k 1000001 -
	xor 10 4 4096 1000001 -
	mds 128 16 4096 2m 64
	mds 4 2 256k 5000 2
	mds 1 1 64k 64k 16
	END
}

# Losses are repaired by parity, and each chunk is counted once, whichever way it came.
decoded() { # SCHEME CODE DECODER DROP
	local total=0 s
	export FI_SDR_MTU=$mtu FI_SDR_CHUNK_SIZE=64k FI_SDR_RELIABILITY=$1 FI_SDR_EC_CODE=$2 FI_SDR_EC_DECODE=$3 \
		FI_SDR_FAULT=drop=$4,seed=7
	pair -o -S 64k,1000001,4m -I 4 -W 1 && is chunks_fec -gt 0 || return 1
	for s in 64k 1000001 4m; do
		total=$((total + 5 * (($(bytes $s) + 65535) / 65536)))
	done
	[ $(($(value chunks_direct) + $(value chunks_fec) + $(value chunks_rtx))) = $total ] ||
		no "direct $(value chunks_direct) + decoded $(value chunks_fec) + sent again $(value chunks_rtx) is not $total"
}
decoded_row() { decoded ec mds row 0.02; }
decoded_chunk() { decoded ec mds chunk 0.005; }
decoded_xor() { decoded ec xor row 0.02; }
decoded_ec_sr() { decoded ec_sr mds row 0.02; }

# More than the parity that went along can repair: more of it (ec), or the data again (ec_sr).
on_demand() {
	export FI_SDR_RELIABILITY=ec FI_SDR_EC_K=32 FI_SDR_EC_M=1 FI_SDR_FAULT=drop=0.1,seed=8
	pair -o -S 4m -I 3 -W 0 && is repair_tx -gt 0 && is chunks_fec -gt 0 || return 1
	export FI_SDR_RELIABILITY=ec_sr
	pair -o -S 4m -I 3 -W 0 && is repair_tx -eq 0 && is chunks_rtx -gt 0
}

# Selective repeat sends no parity whatever is lost, and counts every chunk too.
sr_has_none() {
	local s
	export FI_SDR_CHUNK_SIZE=64k FI_SDR_FAULT=drop=0.02,seed=9
	for s in sr sr_nack sr_rto; do
		export FI_SDR_RELIABILITY=$s
		pair -o -S 4m -I 4 -W 0 && is parity_tx -eq 0 && is repair_tx -eq 0 && is chunks_fec -eq 0 &&
			is chunks_rtx -gt 0 || { no "$s"; return 1; }
		[ $(($(value chunks_direct) + $(value chunks_rtx))) = 256 ] || { no "$s: not 256 chunks"; return 1; }
	done
}

# ---- what auto and hybrid choose ---------------------------------------------------------------------

# Neither loss nor distance: nothing to save.
auto_near() {
	export FI_SDR_RELIABILITY=auto
	pair -S 8,64k,1m,16m -I 3 && is parity_tx -eq 0 && is choice_parity -eq 0 && is parity_tx -eq 0 server
}

# Far, and nothing lost: little is spent for what is not known yet.
auto_clean() {
	clean_path
	export FI_SDR_RELIABILITY=auto FI_SDR_FAULT=delay=12.5ms
	pair -o -S 8m -I 6 -W 0 && nothing_repaired && is parity_tx -lt $((6 * 2048 / 50))
}

# Far and lossy: parity, within what it may cost, and it repairs.
far_lossy() { # SCHEME
	clean_path
	export FI_SDR_RELIABILITY=$1 FI_SDR_FAULT=delay=12.5ms,drop=0.01,seed=10
	pair -o -S 1m -I 24 -W 8 && is choice_parity -gt 0 && is parity_tx -gt 0 && is chunks_fec -gt 0 &&
		is parity_tx -le $((32 * (256 / 4 + 16))) || return 1	# a quarter, and a chunk of rounding
	export FI_SDR_MAX_OVERHEAD=0
	pair -o -S 1m -I 8 -W 0 && is parity_tx -eq 0 && is repair_tx -eq 0 && is choice_parity -eq 0
}
auto_far_lossy() { far_lossy auto; }
hybrid_far_lossy() { far_lossy hybrid; }

# ---- both sides ---------------------------------------------------------------------------------------

# Each sends as it likes; what it takes is another matter.
sides_differ() {
	local p
	p=$(free_port)
	export FI_SDR_FAULT=drop=0.02,seed=11
	FI_SDR_RELIABILITY=ec FI_SDR_EC_K=1 FI_SDR_EC_M=1 FI_SDR_STATS=$tmp/stats.server server_at server "$p" || return 1
	FI_SDR_RELIABILITY=sr FI_SDR_CHUNK_SIZE=16k FI_SDR_STATS=$tmp/stats.client client_at client "$p" \
		-S 8,5000,64k,1000001,3m -I 2 && both_end_well client server || return 1
	is parity_tx -eq 0 && is chunks_rtx -gt 0 && is chunks_fec -eq 0 && is parity_tx -gt 0 server &&
		is chunks_fec -gt 0 server
}

# The smaller packet counts, and the geometry follows from it.
mtu_differs() {
	local p
	p=$(free_port)
	export FI_SDR_RELIABILITY=ec FI_SDR_EC_K=10 FI_SDR_EC_M=4 FI_SDR_FAULT=drop=0.02,seed=12
	FI_SDR_MTU=1024 server_at server "$p" &&
		FI_SDR_STATS=$tmp/stats.client client_at client "$p" -S 8,5000,64k,1000001,3m -I 2 &&
		both_end_well client server && is chunks_fec -gt 0
}

# Less room for parity than is in flight: later, or without, but whole.
little_scratch() {
	export FI_SDR_RELIABILITY=ec FI_SDR_EC_SCRATCH=1m FI_SDR_CHUNK_SIZE=16k FI_SDR_FAULT=drop=0.02,seed=13
	pair -S 64k,1000001,32m -I 1 -W 0
}

all=
for s in $schemes; do
	eval "scheme_$s() { scheme $s; }; third_lost_$s() { third_lost $s; }"
	all="$all scheme_$s third_lost_$s"
done
for i in ${!ks[*]}; do
	eval "codes_k${ks[$i]}() { codes_k $i; }"
	all="$all codes_k${ks[$i]}"
done
all="$all long overhead decoded_row decoded_chunk decoded_xor decoded_ec_sr on_demand sr_has_none auto_near auto_clean
	auto_far_lossy hybrid_far_lossy sides_differ mtu_differs little_scratch"
# SDR_TEST_BRIEF: what differs in threads and calls, for a build that looks for races; not in numbers.
[ -z "${SDR_TEST_BRIEF:-}" ] ||
	all="scheme_auto third_lost_auto scheme_sr_nack scheme_ec codes_k10 on_demand auto_far_lossy sides_differ little_scratch"
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
