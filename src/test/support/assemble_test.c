/* The assembler of samples: each kind of word, offsets of findings, and lines in error messages. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "test/support/samples.h"

static bool assemble_text(struct samples_of *all, const char *text)
{
	char path[] = "/tmp/sampleXXXXXX";
	const int fd = mkstemp(path);
	FILE *const f = fd >= 0 ? fdopen(fd, "w") : NULL;

	cr_assert_not_null(f);
	fputs(text, f);
	fclose(f);
	*all = (struct samples_of){ .n = 0 };
	const bool ok = samples_assemble(all, "x", path);
	unlink(path);
	return ok;
}

static void expect_made(const char *text, const void *p, size_t n)
{
	char whole[2000];
	struct samples_of all;

	snprintf(whole, sizeof whole, "sample bad/a exit 1\n%s", text);
	cr_assert(assemble_text(&all, whole), "%s", text);
	const struct sample_file *const f = &all.list[0].files[0];
	cr_expect(f->n == n && memcmp(f->p, p, n) == 0, "%s: %zu bytes", text, f->n);
	samples_free(&all);
}

#define MAKES(text, bytes) expect_made(text, bytes, sizeof(bytes) - 1)

Test(assemble, words_write_their_bytes)
{
	MAKES("7f 00 # comment 11\nff", "\x7f\0\xff");
	MAKES("\"a\\0\\x7f\\\"#{\"", "a\0\x7f\"#{");
	MAKES("'{\"a\\n\"}'", "{\"a\\n\"}");
	MAKES("u8 1 u16 2 u24 3 u32 -1 big u16 2 u64 258",
	      "\1\2\0\3\0\0\xff\xff\xff\xff\0\2\0\0\0\0\0\0\1\2");
	MAKES("f32 1.5 big f64 -0", "\0\0\xc0\x3f\x80\0\0\0\0\0\0\0");
	MAKES("varint 300 varint -1", "\xac\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\1");
	MAKES("len16 \"abc\" len8 { 00 01 }", "\3\0abc\2\0\1");
	MAKES("lenv { 01 lenv \"ab\" } lenv { repeat 128 { } 07 }", "\4\1\2ab\1\7");
	MAKES("after 1 { lenv { repeat 128 { 07 } } cut 127 }", "\1\7");
	MAKES("zlib \"a\"", "\x78\1\x4b\4\0\0\x62\0\x62");
	MAKES("ff { 01 big size32 02 }", "\xff\1\0\0\0\6\2");
	MAKES("repeat 3 i { u8 i*2+1 } cut 1", "\1\3");
	MAKES("first 2 { \"abcd\" } after 3 \"abcd\"", "abd");
	MAKES("| {\"a\":`20 repeat 2 { \"x\" }`}\n> ]", "{\"a\": xx}\n]");
}

Test(assemble, macros_and_numbers)
{
	MAKES("def f a b { u8 $a+1 $b } f 1 \"x\" f 2 { 05 }", "\2x\3\5");
	MAKES("def in n { u8 $n } def out n { in $n*2 repeat 2 { in $n } } out 3", "\6\3\3");
	MAKES("def line k { > k=`$k`\n} let n 7 line n line \"n\" line w line 2 line n*2",
	      "k=7k=nk=wk=2k=14");
	MAKES("def one { 01 } def twice what { $what $what } twice one", "\1\1");
	MAKES("def f { 01 } def g { def f { 02 } } f g f", "\1\2");
}

Test(assemble, offsets_of_findings)
{
	struct samples_of all;

	cr_assert(assemble_text(&all, "suffix .bin\n def start { 00 }\n"
	                              "sample good/b .gz\n"
	                              "folder c\n file a/x 01 file b/x\n"
	                              "sample bad/a exit 1 records 3 dialect d\n"
	                              "ff !2:late 01 gzip-stored { 02 !1:early 03 } !3:y/other"));
	cr_assert_eq(all.n, 3);
	cr_expect_str_eq(all.list[0].files[0].name, "good/b.gz");
	cr_expect_eq(all.list[0].exit_status, -1);
	cr_expect(all.list[1].nfiles == 2 && all.list[1].files[0].n == 1 && all.list[1].files[1].n == 0);
	cr_expect_str_eq(all.list[1].files[1].name, "c/b/x");
	const struct sample *const s = &all.list[2];
	cr_expect_str_eq(s->files[0].name, "bad/a.bin");
	cr_expect(s->exit_status == 1 && s->records == 3 && strcmp(s->dialect, "d") == 0);
	cr_assert_eq(s->nfindings, 3);
	cr_expect_str_eq(s->findings[0].rule, "x/early");
	cr_expect_eq(s->findings[0].offset, 4);
	cr_expect_str_eq(s->findings[1].rule, "x/late");
	cr_expect_eq(s->findings[1].offset, 2);
	cr_expect_str_eq(s->findings[2].rule, "y/other");
	cr_expect_eq(s->findings[2].offset, 5);
	samples_free(&all);
}

Test(assemble, errors_with_lines)
{
	static const char *const wrong[] = {
		"sample a\nwords",
		"sample a\n{ 00",
		"sample a\n\"abc",
		"sample a\nu8",
		"sample a\nu8 1x",
		"sample a\nu8 $x",
		"sample a\n$x",
		"sample a\n!",
		"sample a\n\"\\q\"",
		"sample a\ncut 1",
		"sample a\nfirst 2 { 00 }",
		"sample a\n| `00",
		"sample a\ndef f { f } f",
		"sample a exits 1",
		"sample a\n}",
		"include nowhere.inc",
		"def ab { }",
	};
	struct samples_of all;

	cr_redirect_stderr();
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		cr_expect(!assemble_text(&all, wrong[i]), "%s", wrong[i]);
		samples_free(&all);
	}
}
