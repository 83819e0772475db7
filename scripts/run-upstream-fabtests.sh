#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Runs libfabric's own tests, an installed fabtests 1.17 or 2.x, over sdr and over tcp, and prints for
# both how many passed, failed, were not run (the provider lacks what they need) and were excluded
# (sdr.exclude), and the names of those that failed or that pass over tcp alone.
#
# usage: run-upstream-fabtests.sh [OPTION]... DIR
#   DIR                where fabtests is installed (DIR/bin/runfabtests.sh)
#   --set LIST         sets of runfabtests.sh, with commas between: quick (default), all, unit, functional,
#                      short, standard, ...; none: no set
#   --ubertest LIST    cases of fi_ubertest: quick (default), all, verify, none; or files
#   --faults SPEC      FI_SDR_FAULT of the runs over sdr, e.g. drop=0.01; tcp runs clean.  Tests that hang
#                      when a datagram is lost are excluded as well (faults.exclude)
#   --libfabric DIR    libfabric is there (default: DIR/lib of fabtests, where it has one, else the system's)
#   --only PROVIDER    only sdr, or only tcp
#   --hidden           over sdr without sdr.exclude: which of its lines hide a test that passes
#   --bar              fails, too, when tcp passes more than sdr does
#   --timeout N        seconds for one test (120, the default of runfabtests.sh)
#   --keep DIR         what the tests printed
#   --help
#
# FI_PROVIDER_PATH says where the provider is; without it, the build tree that this script lies in, or
# where libfabric looks by itself.  The tests run in a network and process namespace of their own with
# nothing but loopback, since runfabtests.sh kills every process whose name begins with fi_ when one of
# them takes too long.
#
# Exit status: 0 no test failed over sdr, 1 one did (or a bar was missed), 2 usage, 77 it cannot run here.

set -u
self=$(readlink -f "$0")
here=$(dirname "$self")

usage() { sed -n '/^# usage/,/^#   --help/s/^# \{0,1\}//p' "$self"; }
no() { echo "run-upstream-fabtests.sh: $*" >&2; exit 77; }
wrong() { echo "run-upstream-fabtests.sh: $*" >&2; usage >&2; exit 2; }

sets=quick uber=quick faults='' lib='' only='' hidden='' bar='' limit=120 keep='' dir=''
while [ $# -gt 0 ]; do
	case $1 in
	--set | --ubertest | --faults | --libfabric | --only | --timeout | --keep)
		[ $# -gt 1 ] || wrong "$1 wants a value"
		case $1 in
		--set) sets=$2 ;;
		--ubertest) uber=$2 ;;
		--faults) faults=$2 ;;
		--libfabric) lib=$2 ;;
		--only) only=$2 ;;
		--timeout) limit=$2 ;;
		--keep) keep=$2 ;;
		esac
		shift ;;
	--hidden) hidden=1 ;;
	--bar) bar=1 ;;
	--help | -h) usage; exit 0 ;;
	-*) wrong "no option $1" ;;
	*) [ -z "$dir" ] || wrong "more than one DIR"; dir=$1 ;;
	esac
	shift
done
[ -n "$dir" ] || wrong "DIR is missing"
case $only in '' | sdr | tcp) ;; *) wrong "--only sdr, or --only tcp" ;; esac
[ -x "$dir/bin/runfabtests.sh" ] || no "no $dir/bin/runfabtests.sh: build libfabric's fabtests with --prefix=$dir and install it"
dir=$(cd "$dir" && pwd)
for configs in "$here/../fabtests/test_configs/sdr" "$here/test_configs/sdr" ''; do
	[ -e "$configs/sdr.exclude" ] && break
done
[ -n "$configs" ] || no "the folder test_configs/sdr is not beside this script"
configs=$(cd "$configs" && pwd)

if [ -z "${FI_PROVIDER_PATH:-}" ] && [ -e "$here/../build/.libs/libsdr-fi.so" ]; then
	FI_PROVIDER_PATH=$(cd "$here/../build/.libs" && pwd)
	export FI_PROVIDER_PATH
fi
[ -n "$lib" ] || { [ -e "$dir/lib/libfabric.so.1" ] && lib=$dir; }
[ -z "$lib" ] || export LD_LIBRARY_PATH=$lib/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
[ -z "$lib" ] || PATH=$lib/bin:$PATH
export PATH=$dir/bin:$PATH IPATH_NO_BACKTRACE=1
unset FI_SDR_FAULT FI_PROVIDER

# ---- alone with a loopback of our own --------------------------------------------------------

if [ -z "${SDR_FABTESTS_INSIDE:-}" ]; then
	jail=(unshare --net --pid --fork --kill-child --mount-proc)
	[ "$(id -u)" = 0 ] || jail=(unshare --user --map-root-user "${jail[@]:1}")
	"${jail[@]}" true 2>/dev/null || no "no namespaces here: ${jail[*]} fails"
	command -v fi_info >/dev/null || no "no fi_info: install libfabric-bin, or say --libfabric DIR"
	fi_info -p sdr >/dev/null 2>&1 || no "fi_info -p sdr finds nothing: set FI_PROVIDER_PATH to the folder of libsdr-fi.so"
	[ -z "$keep" ] || { mkdir -p "$keep" && keep=$(cd "$keep" && pwd); } || exit 2
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/sdr-fabtests.XXXXXX") || exit 2
	trap 'rm -rf "$tmp"' EXIT
	args=(--set "$sets" --ubertest "$uber" --faults "$faults" --only "$only" --timeout "$limit"
		--keep "${keep:-$tmp}" ${hidden:+--hidden} ${bar:+--bar} ${lib:+--libfabric "$lib"} "$dir")
	(cd "$tmp" && SDR_FABTESTS_INSIDE=1 "${jail[@]}" bash "$self" "${args[@]}")
	exit $?
fi
ip link set lo up || exit 77

# runfabtests.sh starts a test in a shell and a timeout, and kills only the shell where the other side failed: a
# server left behind keeps the port, and the tests that come after fail with it.  So the test ends with its shell.
# shellcheck disable=SC2016
mkdir timeout && printf '#!/bin/sh\nn=$1\nshift\nset -- setpriv --pdeathsig KILL "$@"\nexec setpriv --pdeathsig KILL %s "$n" "$@"\n' \
	"$(command -v timeout)" >timeout/timeout && chmod +x timeout/timeout || exit 77

# ---- one run ---------------------------------------------------------------------------------

bad=0 sdr_total=0 tcp_total=0
columns='%-22s %-4s %-12s %6s %6s %7s %8s %7s\n'
# shellcheck disable=SC2059 # the format is ours
printf "$columns" tests over faults passed failed 'not run' excluded seconds

row() { # TESTS PROVIDER FAULTS PASSED FAILED NOTRUN EXCLUDED SECONDS
	# shellcheck disable=SC2059
	printf "$columns" "$@"
	if [ "$2" = sdr ]; then
		sdr_total=$((sdr_total + ${4/\?/0}))
		{ [ "$5" = 0 ] && [ "$4" -gt 0 ]; } || bad=1
	else
		tcp_total=$((tcp_total + ${4/\?/0}))
	fi
}

env_of() { # PROVIDER: what its run is impaired by
	unset FI_SDR_FAULT
	impaired=-
	if [ "$1" = sdr ] && [ -n "$faults" ]; then
		export FI_SDR_FAULT=$faults
		impaired=$faults
	fi
}

# What runfabtests.sh says of itself; nothing of it where it ended early.
total() { awk -v what="$1" '$1 == "#" && $2 == "Total" && $3 == what { n = $4 } END { print n == "" ? "?" : n }' "$2"; }

results() { # RESULT LOG: names of the tests with that result
	awk -v want="$1" '/^- name:/ { sub(/^- name: */, ""); sub(/ -p ".*/, ""); n = $0 }
		/^  result:/ && $2 == want { print n }' "$2"
}

run_set() { # SET PROVIDER
	local log=$keep/$1-$2.log start=$SECONDS exclude=()
	env_of "$2"
	[ "$2" = tcp ] || [ -n "$hidden" ] || exclude=(-f "$configs/sdr.exclude" ${faults:+-f "$configs/faults.exclude"})
	PATH=$PWD/timeout:$PATH runfabtests.sh -vv -T "$limit" -t "$1" "${exclude[@]}" -p "$dir/bin" "$2" >"$log" 2>&1 </dev/null
	row "$1" "$2" "$impaired" "$(total Pass "$log")" "$(total Fail "$log")" \
		"$(results Notrun "$log" | wc -l)" "$(results Excluded "$log" | wc -l)" $((SECONDS - start))
	results Fail "$log" | sed "s/^/   failed over $2: /"
	[ "$2" = tcp ] || [ -z "$hidden" ] || hides "$log"
	[ "$2" = sdr ] || [ -n "$only" ] || tcp_alone "$keep/$1-sdr.log" "$log"
}

tcp_alone() { # LOG-OF-SDR LOG-OF-TCP
	local name result
	while IFS= read -r name; do
		for result in Notrun Excluded; do
			results $result "$1" | grep -qxF -e "$name" && echo "   passes over tcp, $result over sdr: $name"
		done
	done < <(results Pass "$2")
}

# Lines of the exclude file that match a test which passed.
hides() { # LOG
	local pattern name
	while read -r name; do
		while IFS= read -r pattern; do
			[[ -z $pattern || $pattern == '#'* ]] && continue
			[[ $name =~ $pattern ]] && { echo "   hidden by '$pattern': $name"; bad=1; }
		done <"$configs/sdr.exclude"
	done < <(results Pass "$1")
}

count() { awk -v what="$1" -F: '$1 ~ "^" what " *$" { n = $2 + 0 } END { print n + 0 }' "$2"; }

run_uber() { # CASES PROVIDER
	local file=$configs/$1.test log start=$SECONDS server
	[ -e "$file" ] || file=$1
	[ -e "$file" ] || wrong "no cases $1"
	log=$keep/ubertest-$(basename "$file" .test)-$2.log
	sed "s/prov_name: *sdr/prov_name: $2/" "$file" >"$keep/cases-$2.test"
	env_of "$2"
	fi_ubertest -x >"$log.server" 2>&1 </dev/null &
	server=$!
	sleep 1
	# its exit status is that of the last case; one that ended early has no sums
	timeout -k 5 $((limit * 30)) fi_ubertest -u "$keep/cases-$2.test" 127.0.0.1 >"$log" 2>&1 </dev/null
	grep -q '^Success:' "$log" || echo "ERROR : 1 (ended early)" >>"$log"
	kill -9 $server 2>/dev/null
	wait $server 2>/dev/null
	row "ubertest $(basename "$file" .test)" "$2" "$impaired" "$(grep -c '^Ending test.*Success' "$log")" \
		$(($(count ERROR "$log") + $(count EIO "$log") + $(count ENOSYS "$log"))) \
		"$(count ENODATA "$log")" - $((SECONDS - start))
}

echo "# libfabric $(fi_info --version | sed -n 's/^libfabric: //p'), fabtests of $dir" >&2
for s in ${sets//,/ }; do
	[ "$s" = none ] && continue
	for p in ${only:-sdr tcp}; do run_set "$s" "$p"; done
done
for s in ${uber//,/ }; do
	[ "$s" = none ] && continue
	for p in ${only:-sdr tcp}; do run_uber "$s" "$p"; done
done
[ -n "$only" ] || echo "passed: sdr $sdr_total, tcp $tcp_total"
if [ -n "$bar" ] && [ -z "$only" ] && [ "$sdr_total" -lt "$tcp_total" ]; then bad=1; fi
exit $bad
