/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the fuzz targets share.  A target gets any bytes, gives them to a parser, and
 * holds the parser to more than that it survives: what it took, formatted and parsed
 * again, is the same.
 *
 * Built with -fsanitize=fuzzer,address,undefined (clang; llvm.org/docs/LibFuzzer.html).
 */
#ifndef CTCP_FUZZ_H
#define CTCP_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_PARTS 8

/* The input as text: lines without their ends, each in memory of its own size. */
struct fuzz_text {
	size_t n;
	char *part[FUZZ_PARTS];		/* those that are not there are "" */
};

void fuzz_split(struct fuzz_text *t, const uint8_t *data, size_t size);
void fuzz_free(struct fuzz_text *t);

/* Ends the program, which libFuzzer takes for a finding, with both values. */
void fuzz_same(const char *what, const char *was, const char *is);
void fuzz_true(const char *what, int is, const char *of);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
