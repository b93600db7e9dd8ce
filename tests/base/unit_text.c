/* SPDX-License-Identifier: MIT */
/* unit_text.c - bounded text: every cut is a terminated prefix of the whole; strings are quoted according to RFC
 * 8259. */
#include "../support/support.h"

#include "base/text.h"

static void put_all(struct text *t)
{
	text_put(t, "one %d ", 1);
	text_put(t, "%s", "");
	text_put_quoted(t, "a\"b\n");
	text_put(t, " %zu", (size_t)12345);
}

TEST(text_is_cut_at_the_end_of_its_room)
{
	static const char whole[] = "one 1 \"a\\\"b\\u000a\" 12345";

	for (size_t room = 0; room <= sizeof(whole) + 3; room++) {
		char out[64];
		struct text t;

		memset(out, 'x', sizeof(out));
		text_open(&t, room ? out : NULL, room);
		put_all(&t);
		assert_int_equal(t.wanted, strlen(whole));
		if (room) {
			const size_t kept = room > t.wanted ? t.wanted : room - 1;

			assert_memory_equal(out, whole, kept);
			assert_int_equal(out[kept], 0);
		}
		for (size_t i = room; i < sizeof(out); i++)
			assert_int_equal(out[i], 'x');
	}
}

static void quoted(const char *string, const char *expected)
{
	char out[256];
	struct text t;

	text_open(&t, out, sizeof(out));
	text_put_quoted(&t, string);
	assert_string_equal(out, expected);
}

TEST(strings_are_quoted)
{
	quoted("", "\"\"");
	quoted("plain %s", "\"plain %s\"");
	quoted("\"\\/", "\"\\\"\\\\/\"");
	quoted("\x01\t\x1f\x7f", "\"\\u0001\\u0009\\u001f\\u007f\"");
	/* UTF-8 of two, three and four bytes, at the limits. */
	quoted("\xc2\x80\xdf\xbf", "\"\xc2\x80\xdf\xbf\"");
	quoted("\xe0\xa0\x80\xed\x9f\xbf", "\"\xe0\xa0\x80\xed\x9f\xbf\"");
	quoted("\xee\x80\x80\xef\xbf\xbf", "\"\xee\x80\x80\xef\xbf\xbf\"");
	quoted("\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\"");
}

TEST(invalid_utf8_is_replaced)
{
	quoted("\x80", "\"\\ufffd\"");
	/* Too long, a surrogate, beyond the last character. */
	quoted("\xc0\x80", "\"\\ufffd\\ufffd\"");
	quoted("\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"");
	quoted("\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	quoted("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
	quoted("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
	/* Cut short, by the end or by another character. */
	quoted("\xc3", "\"\\ufffd\"");
	quoted("\xe2\x82", "\"\\ufffd\\ufffd\"");
	quoted("\xf0\x9f\x98", "\"\\ufffd\\ufffd\\ufffd\"");
	quoted("\xe2\x82"
	       "a",
	       "\"\\ufffd\\ufffda\"");
}

RUN_TESTS()
