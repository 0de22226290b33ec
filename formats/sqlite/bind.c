#include <math.h>

#include "base/decimal.h"
#include "base/utf8.h"
#include "sqlite/state.h"

/* ---- texts and integers ---- */

static bool
is_text(struct slice s)
{
	if ((s.flags & SLICE_JSON) != 0 || s.n == 0)
		return true;
	return memchr(s.p, '\0', s.n) == NULL && ((s.flags & SLICE_UTF8) != 0 || utf8_valid(s.p, s.n));
}

/* The parameter for a column of the row that is being bound. */
static int
parameter(const struct sqlite_state *st, enum sqlite_table table, int column)
{
	return st->groups[table].n * st->groups[table].columns + column;
}

/* Copied if the row may wait for others. */
static void
bind_bytes(struct sqlite_state *st, enum sqlite_table table, int column, struct slice s, bool text)
{
	sqlite3_stmt *const to = st->insert[table];
	const int at = parameter(st, table, column);
	const char *const p = s.n > 0 ? s.p : "";

	if (sqlite_failed(st))
		return;
	st->groups[table].bytes += s.n;
	const sqlite3_destructor_type whose =
	    sqlite_group_is_full(&st->groups[table]) ? SQLITE_STATIC : SQLITE_TRANSIENT;
	sqlite_took(st, text ? sqlite3_bind_text64(to, at, p, s.n, whose, SQLITE_UTF8)
	                     : sqlite3_bind_blob64(to, at, p, s.n, whose));
}

void
sqlite_bind_text(struct sqlite_state *st, enum sqlite_table table, int column, struct slice s)
{
	bind_bytes(st, table, column, s, is_text(s));
}

void
sqlite_bind_i64(struct sqlite_state *st, enum sqlite_table table, int column, int64_t v)
{
	if (!sqlite_failed(st))
		sqlite_took(st, sqlite3_bind_int64(st->insert[table], parameter(st, table, column), v));
}

void
sqlite_bind_null(struct sqlite_state *st, enum sqlite_table table, int column)
{
	if (!sqlite_failed(st))
		sqlite_took(st, sqlite3_bind_null(st->insert[table], parameter(st, table, column)));
}

static void
bind_copy(struct sqlite_state *st, enum sqlite_table table, int column, const char *p, size_t n)
{
	if (!sqlite_failed(st))
		sqlite_took(st, sqlite3_bind_text64(st->insert[table], parameter(st, table, column), p, n,
		                                    SQLITE_TRANSIENT, SQLITE_UTF8));
}

void
sqlite_bind_u64(struct sqlite_state *st, enum sqlite_table table, int column, uint64_t v)
{
	char digits[DECIMAL_U64_MAX];

	if (v <= INT64_MAX)
		sqlite_bind_i64(st, table, column, (int64_t)v);
	else
		bind_copy(st, table, column, digits, (size_t)(decimal_u64(digits, v) - digits));
}

/* ---- values of fields ---- */

static void
lose(struct sqlite_place at, enum sqlite_loss loss, uint32_t count)
{
	if (count > 0)
		ledger_add(at.ledger, &sqlite_losses[loss], at.offset, count);
}

static void
bind_real(struct sqlite_state *st, struct sqlite_place at, double v)
{
	if (isnan(v)) {
		lose(at, SQLITE_LOSS_NOT_A_NUMBER, 1);
		sqlite_bind_text(st, at.table, at.column, SLICE_LIT("NaN"));
	} else if (!sqlite_failed(st)) {
		sqlite_took(st,
		            sqlite3_bind_double(st->insert[at.table], parameter(st, at.table, at.column), v));
	}
}

static void
bind_address(struct sqlite_state *st, struct sqlite_place at, uint64_t v)
{
	char digits[DECIMAL_HEX_MAX];

	bind_copy(st, at.table, at.column, digits, (size_t)(decimal_hex(digits, v) - digits));
}

static void
bind_json(struct sqlite_state *st, struct sqlite_place at, const struct value *v)
{
	struct fields_json_lost lost = { .bad_text = 0 };

	text_clear(&st->scratch);
	fields_json_value(&st->scratch, v, &lost);
	st->no_memory |= st->scratch.failed;
	lose(at, SQLITE_LOSS_BAD_TEXT, lost.bad_text);
	lose(at, SQLITE_LOSS_NOT_A_NUMBER, lost.not_a_number);
	lose(at, SQLITE_LOSS_TOO_DEEP, lost.too_deep);
	sqlite_bind_text(st, at.table, at.column, slice_of(st->scratch.p, st->scratch.n));
}

void
sqlite_bind_value(struct sqlite_state *st, struct sqlite_place at, const struct value *v)
{
	switch ((enum value_type)v->type) {
	case VALUE_NONE:
		sqlite_bind_null(st, at.table, at.column);
		break;
	case VALUE_BOOL:
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
		sqlite_bind_u64(st, at.table, at.column, v->u64);
		break;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		sqlite_bind_i64(st, at.table, at.column, v->i64);
		break;
	case VALUE_F32:
	case VALUE_F64:
		bind_real(st, at, v->f64);
		break;
	case VALUE_ADDRESS:
		bind_address(st, at, v->u64);
		break;
	case VALUE_STRING:
		sqlite_bind_text(st, at.table, at.column, value_text(v));
		break;
	case VALUE_BYTES:
		bind_bytes(st, at.table, at.column, value_text(v), false);
		break;
	case VALUE_LIST:
	case VALUE_MAP:
	case VALUE_JSON:
		bind_json(st, at, v);
		break;
	}
}

/* ---- the table of strings ---- */

int64_t
sqlite_string(struct sqlite_state *st, struct slice s)
{
	struct sqlite_strings *const all = &st->strings;
	const uint32_t known = tabletext_get(&all->ids, s);

	if (known != TABLE_NONE)
		return known;
	const int64_t id = ++all->last;
	sqlite_bind_i64(st, TABLE_STRING, 1, id);
	sqlite_bind_text(st, TABLE_STRING, 2, s);
	(void)sqlite_insert(st, TABLE_STRING);
	if (all->ids.used < SQLITE_STRINGS && all->arena.used < SQLITE_STRING_BYTES && id < TABLE_NONE) {
		const struct slice copy = arena_copy(&all->arena, s);
		st->no_memory |= copy.p == NULL || !tabletext_put(&all->ids, copy, (uint32_t)id);
	}
	return id;
}
