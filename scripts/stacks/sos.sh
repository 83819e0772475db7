#!/usr/bin/env bash
# shellcheck disable=SC2317  # functions are called by name (lib.sh)
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Sandia OpenSHMEM: its own tests, built.  It needs FI_ATOMIC of a provider.
#
# usage: sos.sh --prefix PREFIX --tests DIR [OPTION]...
#   --prefix PREFIX   SOS is there (oshrun), configured with a libfabric that loads sdr; scalable and basic
#                     registration are two builds of it (--enable-ofi-mr=basic): run this once for each
#   --tests DIR       the folder of its tests, configured for that PREFIX (make check is run there)

. "$(dirname "$(readlink -f "$0")")/lib.sh"
stack_options "prefix tests" "$@"
prefix=${option[prefix]:-}
tests=${option[tests]:-}
if [ -z "$prefix" ] || ! [ -x "$prefix/bin/oshrun" ]; then
	stack_missing "no Sandia OpenSHMEM: give --prefix PREFIX (oshrun is in PREFIX/bin)"
fi
[ -e "$tests/Makefile" ] || stack_missing "no tests: give --tests DIR, where SOS's tests are configured"
export PATH=$prefix/bin:$PATH LD_LIBRARY_PATH=$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
stack_begin "Sandia OpenSHMEM of $prefix"
fi_info -p sdr -t FI_EP_RDM -c 'FI_RMA|FI_ATOMIC' >/dev/null 2>&1 || echo "sdr has no FI_ATOMIC: it will be refused"

suite() {
	timeout -s KILL $((limit * 100)) "${jail[@]}" make -C "$tests" -k check NPROCS="$np" \
		TEST_RUNNER="$prefix/bin/oshrun -np $np"
}
stack_case "make check, $np processes" count_automake suite
stack_end
