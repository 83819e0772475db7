#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# The examples (fabtests/examples/) do what they say, clean and with losses.
# Exit status 1 if a case failed.
#
#   examples.sh [CASE...]    names of cases, default all

. "$(dirname "$0")/cases.sh"

host=127.0.0.1	# they meet over IPv4
port=$((20000 + $$ % 12000))
faults="drop=0.02,dup=0.01,reorder=0.01,seed=3"

# Both sides of an example; $tmp/recv.txt has what the receiver said.
both() { # PROGRAM ARGUMENTS...
	local program=$1
	shift
	port=$((port + 1))
	spawn recv "$build/$program" recv "$host" $port "$@" && spawn send "$build/$program" send "$host" $port "$@" &&
		await send && await recv
}
says() { grep -q "$2" "$tmp/$1.txt" || no "$1 did not say \"$2\""; }

nack_clean() { both ex_nack 4 && says recv "received 4 messages of 3145728 bytes, all right"; }
nack_losses() {
	export EX_FAULT=$faults
	both ex_nack 4 && says recv "all right" && ! says send "messages, 0 chunks again" 2>/dev/null
}
stream_clean() { both ex_stream && says recv "used"; }
stream_losses() { EX_FAULT=drop=0.01,seed=3 both ex_stream && says recv "used 1[0-9][0-9] of 200"; }
ep_clean() { both ex_ep 4 && says recv "received 4 messages of 3145728 bytes, all right"; }
ep_losses() {
	export FI_SDR_FAULT=$faults
	both ex_ep 4 && says recv "all right"
}
# Most blocks before the end: one at least, or the look shows nothing.
front_clean() { both ex_front && says recv "used [1-9][0-9]* of 48 blocks .* all right"; }
front_losses() {
	export FI_SDR_FAULT=$faults
	both ex_front && says recv "used [1-9][0-9]* of 48 blocks .* all right"
}
put_clean() { both ex_put && says recv "all 64 blocks are there after .* all right"; }
put_losses() {
	export FI_SDR_FAULT=drop=0.005,dup=0.01,seed=3
	both ex_put && says recv "all 64 blocks are there after [0-9]* rounds and [1-9][0-9]* holes, all right"
}
fec_losses() { spawn fec "$build/ex_fec" 0.03 && await fec && says fec "the message is whole"; }
# More than the code bears is said, and nothing wrong is handed out.
fec_too_many() {
	spawn fec "$build/ex_fec" 0.5 && ! await fec && says fec "codewords lost more than 8 packets"
}

all="nack_clean nack_losses stream_clean stream_losses ep_clean ep_losses front_clean front_losses put_clean put_losses fec_losses fec_too_many"
# shellcheck disable=SC2086
[ $# -gt 0 ] || set -- $all
for c; do
	run_case "$c" "$c"
done
verdict
