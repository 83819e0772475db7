#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Draws the evaluation of the SDR paper anew, from the model (sdr_model) and from the real transport in virtual time
# (sdr_sim), in one picture where both exist, from the SDK on this machine (sdr_perf --sdk), and what is ours besides.
# Checks what is there, builds what is not; the figures themselves are scripts/figures/: figures.py asks and computes,
# NAME.gp draws.

set -u
. "$(dirname "$0")/lib.sh"

HERE=$SRC/scripts/figures
OUT=$SRC/figures BUILD_GIVEN='' ONLY='' SEED=1 INSTALL=1
ARGS=()

usage() {
	cat <<-END
	usage: scripts/figures.sh [options]
	  --quick         few runs a point and coarse grids: 2 minutes instead of half an hour
	  --only A,B      these figures only
	  --list          the names of all figures
	  --out DIR       where they go (default figures/)
	  --build DIR     take the programs from this build directory, made or not yet (default build/)
	  --jobs N        simulations at a time (default: the CPUs, here $JOBS)
	  --seed N        of everything random (default 1)
	  --docs          also renew the pictures of the README, in docs/figures/
	  --no-install    do not install packages; stop if one is missing
	  -h, --help      this text
	For each figure: NAME.svg, NAME.csv with the numbers, a caption in index.html that says what was computed how.
	END
}

while [ $# -gt 0 ]; do
	case $1 in
	--quick) ARGS+=(--quick) ;;
	--only) ONLY=${2:?} ; shift ;;
	--list) PYTHONDONTWRITEBYTECODE=1 exec python3 "$HERE/figures.py" --list ;;
	--out) OUT=${2:?} ; shift ;;
	--build) BUILD_GIVEN=${2:?} ; shift ;;
	--jobs) JOBS=${2:?} ; shift ;;
	--seed) SEED=${2:?} ; shift ;;
	--docs) ARGS+=(--docs "$SRC/docs/figures") ;;
	--no-install) INSTALL=0 ;;
	-h | --help) usage; exit 0 ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done
whole() { # OPTION VALUE LEAST
	if ! [[ $2 =~ ^[0-9]{1,15}$ ]] || [ "$2" -lt "$3" ]; then
		echo "figures.sh: $1 $2: not a whole number from $3 on" >&2
		exit 2
	fi
}
whole --jobs "$JOBS" 1
whole --seed "$SEED" 0

[ -z "$BUILD_GIVEN" ] || BUILD=$(mkdir -p "$BUILD_GIVEN" && cd "$BUILD_GIVEN" && pwd) || die "cannot use $BUILD_GIVEN"
# A gnuplot of any package will do; where something was built before, there is what building needs.
command -v gnuplot >/dev/null && PKGS_FIGURES=''
[ ! -f "$BUILD/Makefile" ] || PKGS_BUILD=python3
if [ $INSTALL = 1 ]; then
	# shellcheck disable=SC2086
	packages_install $PKGS_BUILD $PKGS_FIGURES
else
	# shellcheck disable=SC2086
	missing=$(packages_missing $PKGS_BUILD $PKGS_FIGURES | tr '\n' ' ')
	[ -z "$missing" ] || die "missing packages: $missing"
fi
if [ -n "$ONLY" ]; then
	names=" $(PYTHONDONTWRITEBYTECODE=1 python3 "$HERE/figures.py" --list | awk '{ printf "%s ", $1 }')"
	for f in ${ONLY//,/ }; do
		case $names in *" $f "*) ;; *) echo "figures.sh: there is no figure \"$f\" (figures:$names)" >&2; exit 2 ;; esac
	done
	ARGS+=(--only "$ONLY")
fi
LOGS=$BUILD/logs
mkdir -p "$LOGS" "$OUT" || die "cannot write to $LOGS and $OUT"

# Only these five programs; a directory that is configured stays as it is.
programs() {
	cd "$BUILD" || return 1
	if [ ! -f Makefile ]; then
		autogen && "$SRC/configure" && : >.configured || return 1
	fi
	make -j"$(nproc)" sdr_model sdr_sim sdr_perf sdr_fec_bench sdr_rx_bench
}
say "building what draws (log: $LOGS/figures-build.log)"
if ! (programs) >"$LOGS/figures-build.log" 2>&1 </dev/null; then
	tail -n 30 "$LOGS/figures-build.log" >&2
	die "the build failed; the whole log: $LOGS/figures-build.log"
fi
say "drawing"
PYTHONDONTWRITEBYTECODE=1 python3 "$HERE/figures.py" --build "$BUILD" --out "$OUT" --jobs "$JOBS" --seed "$SEED" "${ARGS[@]}" ||
	die "not all figures could be drawn"
say "done"
