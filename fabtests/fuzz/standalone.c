/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The main of a fuzz target where there is no libFuzzer: `make check` runs it.
 *
 *   fuzz_x [-n INPUTS] [-s SEED]   every valid input of the target, each of its truncations, each
 *                                  of its bits flipped, then INPUTS mutated and INPUTS random ones
 *   fuzz_x FILE...                 replays inputs (libFuzzer's crash files too)
 *   fuzz_x -w DIR                  writes the valid inputs as files: a corpus for libFuzzer
 *
 * Same seed, same inputs.  Each input ends where an unmapped page begins, so that reading behind it
 * is fatal in every build.  An input that kills the program is left in crash-<program> in the
 * working directory.
 */
#include "base/sdr_rand.h"
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef FUZZ_INPUTS
#define FUZZ_INPUTS 100000u /* of each kind, unless -n; slow targets have fewer */
#endif
#define FUZZ_RANDOM_MAX 256u /* bytes of most random inputs */
#define FUZZ_SEEDS_MAX	4096u
#ifndef FUZZ_FLIPS_MAX
#define FUZZ_FLIPS_MAX 512u /* leading bytes of a valid input whose bits are all flipped */
#endif
#ifndef FUZZ_CUT
#define FUZZ_CUT 1u /* bytes between two truncations of a valid input */
#endif

static uint8_t *fuzz_end; /* first byte of the unmapped page */
static size_t fuzz_len;	  /* of the input now running */
static unsigned long fuzz_runs;
static uint64_t fuzz_rng = 1;
static char fuzz_crash[256];

static uint32_t fuzz_rand(uint32_t below)
{
	uint64_t z = sdr_rand64(&fuzz_rng);

	return below ? (uint32_t)((z >> 32) * below >> 32) : 0;
}

static void fuzz_save(int sig)
{
	int fd = open(fuzz_crash, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd >= 0) {
		if (write(fd, fuzz_end - fuzz_len, fuzz_len) < 0)
			fuzz_crash[0] = 0;
		close(fd);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

static int fuzz_setup(const char *argv0)
{
	const char *name = strrchr(argv0, '/');
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (SDR_FUZZ_MAX + page - 1) / page * page;
	uint8_t *m;

	m = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (m == MAP_FAILED || mprotect(m + room, page, PROT_NONE)) {
		perror("mmap");
		return -1;
	}
	fuzz_end = m + room;
	snprintf(fuzz_crash, sizeof(fuzz_crash), "crash-%s", name ? name + 1 : argv0);
	signal(SIGABRT, fuzz_save);
	signal(SIGSEGV, fuzz_save);
	signal(SIGBUS, fuzz_save);
	return 0;
}

static void fuzz_run(const uint8_t *buf, size_t len)
{
	fuzz_len = len;
	memcpy(fuzz_end - len, buf, len);
	LLVMFuzzerTestOneInput(fuzz_end - len, len);
	fuzz_runs++;
}

/* One small change; returns the new length. */
static size_t fuzz_mutate(uint8_t *p, size_t len, unsigned int seeds)
{
	static const uint32_t odd[] = { 0,	     1,		  2,	      0x7f,	0x80,
					0xff,	     0x7fff,	  0xffff,     0xffffff, 0x7fffffff,
					0x80000000u, 0xfffffffeu, 0xffffffffu };
	static uint8_t other[SDR_FUZZ_MAX];
	uint32_t at = fuzz_rand((uint32_t)len), n, v, k;

	switch (fuzz_rand(7)) {
	case 0:
		return at;
	case 1: /* grow at the end */
		n = fuzz_rand(16) + 1;
		for (k = 0; k < n && len < SDR_FUZZ_MAX; k++)
			p[len++] = (uint8_t)fuzz_rand(256);
		return len;
	case 2: /* a number that breaks things, either byte order */
		v = odd[fuzz_rand(sizeof(odd) / sizeof(odd[0]))];
		if (fuzz_rand(2))
			v = __builtin_bswap32(v);
		n = 1u << fuzz_rand(3);
		for (k = 0; k < n && at + k < len; k++)
			p[at + k] = (uint8_t)(v >> 8 * k);
		return len;
	case 3: /* the same place of another valid input */
		n = (uint32_t)sdr_fuzz_seed(fuzz_rand(seeds), other);
		v = fuzz_rand(32) + 1;
		for (k = at; k < at + v && k < len && k < n; k++)
			p[k] = other[k];
		return len;
	case 4: /* remove or repeat some bytes in the middle */
		n = fuzz_rand(8) + 1;
		if (at + n > len || len + n > SDR_FUZZ_MAX)
			return len;
		if (fuzz_rand(2)) {
			memmove(p + at, p + at + n, len - at - n);
			return len - n;
		}
		memmove(p + at + n, p + at, len - at);
		return len + n;
	case 5:
		if (len)
			p[at] ^= (uint8_t)(1u << fuzz_rand(8));
		return len;
	default:
		if (len)
			p[at] = (uint8_t)fuzz_rand(256);
		return len;
	}
}

static void fuzz_all(unsigned int inputs)
{
	static uint8_t buf[SDR_FUZZ_MAX];
	unsigned int seeds = 0, i, k;
	size_t len, n;

	while (seeds < FUZZ_SEEDS_MAX && (len = sdr_fuzz_seed(seeds, buf)) > 0) {
		seeds++;
		for (n = 0; n <= len; n += FUZZ_CUT)
			fuzz_run(buf, n);
		for (n = 0; n < len * 8 && n < FUZZ_FLIPS_MAX * 8; n++) {
			buf[n / 8] ^= (uint8_t)(1u << n % 8);
			fuzz_run(buf, len);
			buf[n / 8] ^= (uint8_t)(1u << n % 8);
		}
	}
	for (i = 0; i < inputs && seeds; i++) {
		len = sdr_fuzz_seed(fuzz_rand(seeds), buf);
		for (k = fuzz_rand(4) + 1; k; k--)
			len = fuzz_mutate(buf, len, seeds);
		fuzz_run(buf, len);
	}
	for (i = 0; i < inputs; i++) {
		len = fuzz_rand(i % 64 ? FUZZ_RANDOM_MAX : SDR_FUZZ_MAX + 1);
		for (n = 0; n < len; n++)
			buf[n] = (uint8_t)fuzz_rand(256);
		fuzz_run(buf, len);
	}
	printf("%lu inputs, %u valid ones\n", fuzz_runs, seeds);
}

static int fuzz_replay(const char *path)
{
	static uint8_t buf[SDR_FUZZ_MAX];
	FILE *f = fopen(path, "rb");
	size_t len;

	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return -1;
	}
	len = fread(buf, 1, sizeof(buf), f);
	fclose(f);
	fuzz_run(buf, len);
	return 0;
}

static int fuzz_corpus(const char *dir)
{
	static uint8_t buf[SDR_FUZZ_MAX];
	char path[4096];
	unsigned int i;
	size_t len;
	FILE *f;

	for (i = 0; (len = sdr_fuzz_seed(i, buf)) > 0; i++) {
		snprintf(path, sizeof(path), "%s/%04u", dir, i);
		f = fopen(path, "wb");
		if (!f || fwrite(buf, 1, len, f) != len || fclose(f)) {
			fprintf(stderr, "%s: %s\n", path, strerror(errno));
			return -1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned int inputs = FUZZ_INPUTS;
	int o;

	if (fuzz_setup(argv[0]))
		return 1;
	while ((o = getopt(argc, argv, "n:s:w:")) != -1) {
		switch (o) {
		case 'n':
			inputs = (unsigned int)strtoul(optarg, NULL, 0);
			break;
		case 's':
			fuzz_rng = strtoull(optarg, NULL, 0);
			break;
		case 'w':
			return fuzz_corpus(optarg) ? 1 : 0;
		default:
			fprintf(stderr, "usage: %s [-n INPUTS] [-s SEED] [-w DIR] [FILE...]\n",
				argv[0]);
			return 2;
		}
	}
	if (optind == argc)
		fuzz_all(inputs);
	for (; optind < argc; optind++)
		if (fuzz_replay(argv[optind]))
			return 1;
	return 0;
}
