/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * MPI_Alltoall, so many times: prints the mean time of one as a number, seconds.  The first, in
 * which ranks connect, does not count.
 *
 * alltoall BYTES ROUNDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int bytes, rounds, rank, ranks, bad = 0;
	double begin = 0;
	char *tx, *rx;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	bytes = argc > 2 ? atoi(argv[1]) : 1;
	rounds = argc > 2 ? atoi(argv[2]) : 1;
	tx = malloc((size_t)bytes * (size_t)ranks);
	rx = malloc((size_t)bytes * (size_t)ranks);
	if (!tx || !rx)
		MPI_Abort(MPI_COMM_WORLD, 1);
	memset(tx, rank, (size_t)bytes * (size_t)ranks);
	for (int i = -1; i < rounds; i++) {
		if (!i) {
			MPI_Barrier(MPI_COMM_WORLD);
			begin = MPI_Wtime();
		}
		MPI_Alltoall(tx, bytes, MPI_BYTE, rx, bytes, MPI_BYTE, MPI_COMM_WORLD);
		for (int k = 0; k < ranks; k++)
			bad += rx[(size_t)k * (size_t)bytes] != (char)k;
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("%.6f\n", (MPI_Wtime() - begin) / rounds);
	MPI_Finalize();
	free(tx);
	free(rx);
	return bad != 0;
}
