#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) the sdr authors.
#
# Reads the sources and says what is wrong with them, without building anything:
#   columns     no line of C above 100 columns (a tab is 8), but for one whose string is that long
#   format      clang-format, with .clang-format
#   shell       shellcheck of every shell script, warnings and errors
#   cppcheck    scripts/cppcheck.suppress says what is not asked for, and why
#   clang-tidy  .clang-tidy says the same; the product alone (prov/), for it is the slow one
#               (its analyzer follows a function through 100,000 states, not 225,000: half the time)
#
# usage: lint.sh [CHECK...]	(all of them by default; some ten minutes of a processor, of which
#	clang-tidy has most and cppcheck 2)
#
# Prints "ok - CHECK" or "not ok - CHECK" behind what it found; the step "lint" of test.sh.

set -u
cd "$(dirname "$0")/.." || exit 1
JOBS=$(nproc 2>/dev/null || echo 2)

# files PATTERN... : the tracked files; in a tarball, those of its folders.
files() {
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git ls-files -- "$@"
	else
		local p
		for p in "$@"; do
			find prov include fabtests scripts .ci autogen.sh -path "$p" -type f
		done
	fi | sort -u
}

sources() { files '*.[ch]'; }

# A string cannot be broken (it would not be found by a search): what a line is judged by is what is
# left without its strings.  Tables of numbers that a program wrote are between clang-format's marks.
columns() {
	sources | xargs awk '
	FNR == 1 { off = 0 }
	/clang-format off/ { off = 1 }
	/clang-format on/ { off = 0 }
	{
		line = ""
		n = split($0, part, "\t")
		for (i = 1; i < n; i++)
			line = sprintf("%s%s%*s", line, part[i], 8 - length(line part[i]) % 8, "")
		line = line part[n]
		gsub(/[\200-\277]/, "", line)	# UTF-8 counts by character
		rest = line
		gsub(/"([^"\\]|\\.)*"/, "\"\"", rest)
		if (off || length(line) <= 100)
			next
		if (length(rest) > 100 || rest == line) {
			printf "%s:%d: %d columns\n", FILENAME, FNR, length(line)
			bad = 1
		}
	}
	END { exit bad }'
}

format() { sources | xargs clang-format --dry-run --Werror; }

shell() { files '*.sh' '.ci/run' | xargs shellcheck -S warning -f gcc; }

cppcheck_() {
	cppcheck -j "$JOBS" --quiet --std=c11 --enable=warning,performance,portability \
		--inline-suppr --suppressions-list=scripts/cppcheck.suppress --error-exitcode=1 \
		--template='{file}:{line}: {severity}: {message} [{id}]' \
		-Iinclude -Iprov/sdr -Ifabtests -D__linux__ -D__x86_64__ \
		-D__ORDER_LITTLE_ENDIAN__=1234 -D__ORDER_BIG_ENDIAN__=4321 -D__BYTE_ORDER__=1234 \
		prov include fabtests 2>&1 | awk '!seen[$0]++'
	return "${PIPESTATUS[0]}"
}

# With the flags of Makefile.am, assertions, and verbs whether or not this machine has the library.
tidy() {
	# shellcheck disable=SC2016  # for the shell that xargs starts
	files 'prov/*.c' | xargs -P "$JOBS" -n 8 sh -c 'clang-tidy --quiet "$@" -- \
		-std=gnu11 -D_GNU_SOURCE -Iinclude -Iprov/sdr -DPACKAGE_VERSION=\"lint\" \
		-Xclang -analyzer-config -Xclang max-nodes=100000 \
		-DSDR_HAVE_VERBS=1 -DSDR_HAVE_MLX5DV=1 -DSDR_ASSERTS=1 2>&1' lint | grep -v ' warnings\{0,1\} generated\.$'
	return "${PIPESTATUS[1]}"
}

failed=0
[ $# -gt 0 ] || set -- columns format shell cppcheck clang-tidy
for check; do
	case $check in
	columns | format | shell) run=$check ;;
	cppcheck) run=cppcheck_ ;;
	clang-tidy) run=tidy ;;
	*) echo "lint.sh: there is no check \"$check\"" >&2; exit 2 ;;
	esac
	if $run; then
		echo "ok - $check"
	else
		echo "not ok - $check"
		failed=1
	fi
done
exit $failed
