#include "parquet/thrift.h"

void
thrift_varint(struct text *t, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		text_char(t, (char)(v | 0x80));
	text_char(t, (char)v);
}

static void
zigzag(struct text *t, int64_t v)
{
	thrift_varint(t, (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0));
}

static void
head(struct thrift *t, int id, enum thrift_type type)
{
	int *const last = &t->last[t->depth];
	const int step = id - *last;

	if (step > 0 && step <= 15) {
		text_char(t->to, (char)(step << 4 | (int)type));
	} else {
		text_char(t->to, (char)type);
		zigzag(t->to, id);
	}
	*last = id;
}

void
thrift_i32(struct thrift *t, int id, int32_t v)
{
	head(t, id, THRIFT_I32);
	zigzag(t->to, v);
}

void
thrift_i64(struct thrift *t, int id, int64_t v)
{
	head(t, id, THRIFT_I64);
	zigzag(t->to, v);
}

void
thrift_bool(struct thrift *t, int id, bool v)
{
	head(t, id, v ? THRIFT_TRUE : THRIFT_FALSE);
}

void
thrift_text(struct thrift *t, int id, struct slice s)
{
	head(t, id, THRIFT_BINARY);
	thrift_add_text(t, s);
}

void
thrift_struct(struct thrift *t, int id)
{
	head(t, id, THRIFT_STRUCT);
	thrift_add_struct(t);
}

void
thrift_end(struct thrift *t)
{
	text_char(t->to, 0);
	if (t->depth > 0)
		t->depth--;
}

void
thrift_list(struct thrift *t, int id, enum thrift_type of, uint32_t n)
{
	head(t, id, THRIFT_LIST);
	if (n < 15) {
		text_char(t->to, (char)(n << 4 | of));
	} else {
		text_char(t->to, (char)(0xf0 | of));
		thrift_varint(t->to, n);
	}
}

void
thrift_add_i32(struct thrift *t, int32_t v)
{
	zigzag(t->to, v);
}

void
thrift_add_text(struct thrift *t, struct slice s)
{
	thrift_varint(t->to, s.n);
	text_add(t->to, s.p, s.n);
}

void
thrift_add_struct(struct thrift *t)
{
	t->last[++t->depth] = 0;
}
