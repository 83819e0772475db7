/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * The file that remembers paths: from process to process, of several at once, and what is not one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <dirent.h>
#include <unistd.h>
#include <cmocka.h>
#include "rel/path/sdr_path_codec.h"
#include "fi/sdr_cache.h"
#include "fi/sdr_paths.h"
#include "fi/sdr_wait.h"

#define MS   1000000ull
#define RATE 125000000ull

static char dir[64], name[128];

static int setup(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "/tmp/sdr-cache-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(name, sizeof(name), "%s/paths", dir);
	return 0;
}

/* What lies there is all that may. */
static int teardown(void **state)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	uint32_t n = 0;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d)))
		n += e->d_name[0] != '.';
	closedir(d);
	assert_in_range(n, 0, 1);
	(void)(unlink(name) && rmdir(name));
	assert_int_equal(rmdir(dir), 0);
	return 0;
}

static struct sdr_path_ends ends(uint8_t host)
{
	struct sdr_path_ends e;

	memset(&e, 0, sizeof(e));
	e.host.len = 2;
	e.host.b[1] = host;
	return e;
}

static void tell(struct sdr_path_mem *m, uint8_t host, uint64_t rate)
{
	struct sdr_path_facts f = { .rate_Bps = rate, .rtt_ns = 25 * MS };
	struct sdr_path_ends e = ends(host);

	sdr_path_mem_tell(m, &e, sdr_mono_ns(), &f);
}

static uint64_t ask(struct sdr_path_mem *m, uint8_t host)
{
	struct sdr_path_ends e = ends(host);
	struct sdr_path_facts f;
	uint64_t age;

	return sdr_path_mem_ask(m, &e, sdr_mono_ns(), sdr_mono_ns(), &f, &age) ? f.rate_Bps : 0;
}

/* Another process: fn must be true there. */
static void elsewhere(bool (*fn)(void))
{
	int status = -1;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(fn() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- processes ------------------------------------------------------------------------------- */

static bool learns_one(void)
{
	struct sdr_paths *p = sdr_paths_get(name);

	tell(sdr_paths_mem(p), 1, RATE);
	sdr_paths_put(p);
	return true;
}

static bool knows_one_learns_two(void)
{
	struct sdr_paths *p = sdr_paths_get(name);
	bool ok = ask(sdr_paths_mem(p), 1) == RATE && !ask(sdr_paths_mem(p), 2);

	tell(sdr_paths_mem(p), 2, 2 * RATE);
	sdr_paths_put(p);
	return ok;
}

/* It does not close what it opened. */
static bool learns_three_and_exits(void)
{
	struct sdr_paths *p = sdr_paths_get(name);

	tell(sdr_paths_mem(p), 3, 3 * RATE);
	sdr_paths_exit();
	return true;
}

static void cache__from_process_to_process(void **state)
{
	struct sdr_paths *p;
	struct stat st;

	(void)state;
	elsewhere(learns_one);
	assert_int_equal(stat(name, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	elsewhere(knows_one_learns_two);
	elsewhere(learns_three_and_exits);
	p = sdr_paths_get(name);
	for (uint8_t i = 1; i <= 3; i++)
		assert_int_equal(ask(sdr_paths_mem(p), i), i * RATE);
	sdr_paths_put(p);
}

/* Two that have read the same write one after the other: none of it is lost. */
static void cache__of_two_at_once(void **state)
{
	struct sdr_path_mem *a = sdr_path_mem_new(1), *b = sdr_path_mem_new(2),
			    *c = sdr_path_mem_new(3);

	(void)state;
	tell(a, 1, RATE);
	tell(b, 2, 2 * RATE);
	assert_int_equal(sdr_cache_write(name, a), 0);
	assert_int_equal(sdr_cache_write(name, b), 0);
	assert_int_equal(sdr_cache_read(name, c), 0);
	assert_true(ask(c, 1) == RATE && ask(c, 2) == 2 * RATE);
	sdr_path_mem_free(a);
	sdr_path_mem_free(b);
	sdr_path_mem_free(c);
}

/* Domains of a process have one, until another file is meant; it outlives them. */
static void paths__one_a_process(void **state)
{
	struct sdr_paths *a = sdr_paths_get(""), *b = sdr_paths_get("-"), *c = sdr_paths_get(name);

	(void)state;
	assert_ptr_equal(a, b);
	assert_ptr_not_equal(a, c);
	tell(sdr_paths_mem(a), 1, RATE);
	sdr_paths_put(a);
	sdr_paths_put(b);
	sdr_paths_put(c);
	/* nothing was told that would be worth a file */
	assert_int_equal(access(name, F_OK), -1);
	a = sdr_paths_get("");
	assert_int_equal(ask(sdr_paths_mem(a), 1), RATE);
	sdr_paths_put(a);
	sdr_paths_put(NULL);
	assert_null(sdr_paths_mem(NULL));
}

/* ---- what is no cache ------------------------------------------------------------------------ */

static void put_file(const void *p, size_t len, mode_t mode)
{
	FILE *f = fopen(name, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(name, mode), 0);
}

static size_t get_file(uint8_t *p, size_t len)
{
	FILE *f = fopen(name, "r");
	size_t n;

	assert_non_null(f);
	n = fread(p, 1, len, f);
	fclose(f);
	return n;
}

/* Reading and writing refuse it, and it stays what it is. */
static void refused(const void *p, size_t len, mode_t mode)
{
	static uint8_t now[SDR_PATH_CODEC_MAX];
	struct sdr_path_mem *m = sdr_path_mem_new(1);

	put_file(p, len, mode);
	assert_true(sdr_cache_read(name, m) < 0);
	assert_int_equal(sdr_path_mem_count(m), 0);
	tell(m, 1, RATE);
	assert_true(sdr_cache_write(name, m) < 0);
	assert_int_equal(get_file(now, sizeof(now)), len);
	assert_memory_equal(now, p, len);
	sdr_path_mem_free(m);
}

static void cache__another_file_is_left_alone(void **state)
{
	static uint8_t good[SDR_PATH_CODEC_MAX];
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	size_t len;

	(void)state;
	refused("precious", 8, 0600);
	tell(m, 1, RATE);
	len = sdr_path_encode(m, sdr_mono_ns(), 1800000000, good, sizeof(good));
	good[8]++; /* version */
	refused(good, len, 0600);
	good[8]--;
	refused(good, len, 0620); /* others write it */
	refused(good, len, 0602);
	sdr_path_mem_free(m);
}

static void cache__what_is_no_file(void **state)
{
	struct sdr_path_mem *m = sdr_path_mem_new(1);
	char other[160];

	(void)state;
	tell(m, 1, RATE);
	assert_int_equal(mkdir(name, 0700), 0);
	assert_true(sdr_cache_read(name, m) < 0 && sdr_cache_write(name, m) < 0);
	assert_int_equal(rmdir(name), 0);
	assert_int_equal(mkfifo(name, 0600), 0);
	assert_true(sdr_cache_read(name, m) < 0 && sdr_cache_write(name, m) < 0);
	assert_int_equal(unlink(name), 0);
	assert_int_equal(symlink("/nowhere", name), 0);
	assert_true(sdr_cache_read(name, m) < 0 && sdr_cache_write(name, m) < 0);
	assert_int_equal(unlink(name), 0);
	snprintf(other, sizeof(other), "%s/none/paths", dir);
	assert_int_equal(sdr_cache_read(other, m), 0);
	assert_true(sdr_cache_write(other, m) < 0);
	sdr_path_mem_free(m);
}

/* Cut short, a bit wrong, endless: begun anew. */
static void cache__a_damaged_one_is_replaced(void **state)
{
	static uint8_t good[SDR_PATH_CODEC_MAX], bad[SDR_PATH_CODEC_MAX + 4096];
	struct sdr_path_mem *m = sdr_path_mem_new(1), *r;
	size_t len;

	(void)state;
	tell(m, 1, RATE);
	len = sdr_path_encode(m, sdr_mono_ns(), 1800000000, good, sizeof(good));
	for (uint32_t i = 0; i < 4; i++) {
		memcpy(bad, good, len);
		bad[len - 1] ^= i == 1;
		put_file(bad, i == 0 ? len - 1 : i == 2 ? sizeof(bad) : i == 3 ? 0 : len, 0600);
		r = sdr_path_mem_new(2);
		assert_int_equal(sdr_cache_read(name, r), 0);
		assert_int_equal(sdr_path_mem_count(r), 0);
		tell(r, 2, RATE);
		assert_int_equal(sdr_cache_write(name, r), 0);
		sdr_path_mem_free(r);
		r = sdr_path_mem_new(2);
		assert_int_equal(sdr_cache_read(name, r), 0);
		assert_int_equal(ask(r, 2), RATE);
		sdr_path_mem_free(r);
	}
	sdr_path_mem_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(cache__from_process_to_process, setup, teardown),
		cmocka_unit_test_setup_teardown(cache__of_two_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(paths__one_a_process, setup, teardown),
		cmocka_unit_test_setup_teardown(cache__another_file_is_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(cache__what_is_no_file, setup, teardown),
		cmocka_unit_test_setup_teardown(cache__a_damaged_one_is_replaced, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
