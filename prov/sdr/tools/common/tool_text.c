/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) the sdr authors. */
/*
 * Strings as CSV (RFC 4180) and as JSON (RFC 8259) have them: whatever is in a string, what is
 * printed is well formed and reads back as it was, but for bytes that are no UTF-8 in JSON, which
 * become question marks.
 */
#include <string.h>
#include "tool.h"

void tool_csv_text(FILE *f, const char *s)
{
	if (!strpbrk(s, ",\"\r\n") && *s != ' ' && !(*s && s[strlen(s) - 1] == ' ')) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

/* Bytes that are no UTF-8 do not get through: nothing in a file is trusted to be text. */
void tool_json_text(FILE *f, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	unsigned int more, i;

	fputc('"', f);
	for (; *p; p++) {
		more = *p >= 0xf0 && *p < 0xf5	 ? 3
		       : *p >= 0xe0 && *p < 0xf0 ? 2
		       : *p >= 0xc2 && *p < 0xe0 ? 1
						 : 0;
		for (i = 1; i <= more && (p[i] & 0xc0) == 0x80; i++)
			;
		if (*p == '"' || *p == '\\')
			fprintf(f, "\\%c", *p);
		else if (*p < ' ' || *p == 0x7f)
			fprintf(f, "\\u%04x", *p);
		else if (*p < 0x80)
			fputc(*p, f);
		else if (!more || i <= more || (*p == 0xe0 && p[1] < 0xa0) ||
			 (*p == 0xed && p[1] > 0x9f) || (*p == 0xf0 && p[1] < 0x90) ||
			 (*p == 0xf4 && p[1] > 0x8f))
			fputc('?', f);
		else {
			fwrite(p, 1, more + 1, f);
			p += more;
		}
	}
	fputc('"', f);
}
