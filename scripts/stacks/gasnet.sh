#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# GASNet-EX, or GASNet 1.32, with ofi-conduit: its own tests, built.  The list of providers is fixed
# when GASNet-EX is configured (--with-ofi-provider=sdr), so there is a build of it for each column;
# 1.32 takes what FI_PROVIDER names, and both columns the same folder.  Without sshd on this host,
# GASNET_SSH_CMD names what starts a command in its place.
#
# usage: gasnet.sh --sdr DIR [--tcp DIR] [OPTION]...
#   --sdr DIR    the built folder ofi-conduit, configured for sdr (make tests-seq has been run in it)
#   --tcp DIR    the same, configured for tcp; without it, there is no such column

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "sdr tcp" "$@"
build=${option[sdr]:-}
[ -n "$build" ] && [ -d "$build" ] || stack_missing "no GASNet: give --sdr DIR, the built folder ofi-conduit, configured for sdr"
[ -n "${option[tcp]:-}" ] || columns=sdr
stack_begin "GASNet, ofi-conduit of $build"

# One host's ranks are neighbours over the provider, too, not in shared memory of GASNet's own.
export GASNET_SUPERNODE_MAXSIZE=1
# What GASNet's own harness gives them (tests/upcr-harness); it does not run testexit, testmpi is of another
# conduit, and testtools of none.
declare -A args=(
	[testcoll]="200" [testcollperf]="-szfactor 4 16384 2 50 0" [testcore1]="1000" [testhsl]="0" [testlarge]="100 2097152"
	[testlogGP]="1000 8 65536" [testmemset]="100 2097152" [testqueue]="1 256 262144" [testrand]="1024" [testvis]="50"
	[testvisperf]="-maxdata 131072 -maxcontig 512 10"
)
left_out=" testexit testmpi testtools "

one() { # TEST
	local dir=${option[$over]} runner words
	runner=$(find "$dir" -maxdepth 2 -name 'gasnetrun_ofi' -perm -u+x | head -n 1)
	[ -n "$runner" ] || { echo "no gasnetrun_ofi in $dir"; return 1; }
	read -ra words <<<"${args[$1]:-}"
	if [ "$1" = testenv ]; then
		export GASNET_DUMMY="GASNet dummy value"
		words=(GASNet is "Global Address Space Networking")
	fi
	stack_run "$runner" -n "$np" "$dir/$1" "${words[@]}"
}
count_gasnet() { # a test that goes wrong says ERROR and may go on
	if [ "$2" = 0 ] && ! grep -q 'ERROR' "$1"; then echo 1 0; else echo 0 1; fi
}
found=
for program in "$build"/test*; do
	[ -f "$program" ] && [ -x "$program" ] && [[ $left_out != *" $(basename "$program") "* ]] || continue
	found=1
	stack_case "$(basename "$program")" count_gasnet one "$(basename "$program")"
done
[ -n "$found" ] || stack_missing "no tests in $build: make tests-seq tests-par there"
stack_end
