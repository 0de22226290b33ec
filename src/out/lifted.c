/* Columns of --column: their names and types, the values of events for them, and conversion to their types.
 * The options are a list that starts with the last one. */
#include "out/lifted.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numbers.h"
#include "base/scan.h"
#include "output/text_json.h"

/* ---- options ---- */

static const struct {
	const char *name;
	enum lifted_type type;
} types[] = {
	{ "int", LIFTED_INT },   { "float", LIFTED_FLOAT }, { "bool", LIFTED_BOOL },
	{ "text", LIFTED_TEXT }, { "json", LIFTED_JSON },
};

/* Splits NAME[:TYPE]; *n: the bytes of the name.  Returns false if there is no such type. */
static bool split_arg(const char *arg, size_t *n, enum lifted_type *type)
{
	const char *const colon = strrchr(arg, ':');

	*n = colon != NULL ? (size_t)(colon - arg) : strlen(arg);
	*type = LIFTED_TEXT;
	for (size_t i = 0; colon != NULL && i < COUNT_OF(types); i++)
		if (strcmp(colon + 1, types[i].name) == 0) {
			*type = types[i].type;
			return true;
		}
	return colon == NULL;
}

const char *lifted_mistake(const char *arg)
{
	enum lifted_type type;
	size_t n;

	if (!split_arg(arg, &n, &type))
		return "takes NAME or NAME:TYPE, TYPE one of int, float, bool, text, json";
	if (n == 0)
		return "takes the name of an argument";
	if (n > LIFTED_NAME)
		return "takes a name of 255 bytes at most";
	if (!utf8_valid(arg, n))
		return "takes a name in UTF-8";
	return NULL;
}

static bool same_name(const char *arg, size_t n, const char *name)
{
	return strlen(name) == n && strncasecmp(arg, name, n) == 0;
}

bool lifted_is(const char *arg, const char *name)
{
	enum lifted_type type;
	size_t n;

	return split_arg(arg, &n, &type) && same_name(arg, n, name);
}

static void add_column(struct lifted *l, const char *arg)
{
	struct lifted_column *const to = &l->columns[l->n];
	enum lifted_type type;
	size_t n;

	if (l->n == LIFTED_MAX || !split_arg(arg, &n, &type))
		return;
	for (uint32_t i = 0; i < l->n; i++)
		if (same_name(arg, n, l->columns[i].name))
			return;
	memcpy(to->name, arg, n);
	to->name[n] = '\0';
	to->size = (uint32_t)n;
	to->type = type;
	l->n++;
}

/* Adds columns in the order of the list, and reverses them. */
void lifted_open(struct lifted *l, const struct option_value *options)
{
	for (const struct option_value *o = options; o != NULL; o = o->next)
		if (strcmp(o->name, "column") == 0 && lifted_mistake(o->value) == NULL)
			add_column(l, o->value);
	for (uint32_t i = 0, k = l->n; i + 1 < k; i++, k--) {
		const struct lifted_column c = l->columns[i];
		l->columns[i] = l->columns[k - 1];
		l->columns[k - 1] = c;
	}
}

/* ---- events ---- */

/* Sets a flag of all threads, which is mostly set already. */
static void set_flag(atomic_bool *flag)
{
	if (!atomic_load_explicit(flag, memory_order_relaxed))
		atomic_store_explicit(flag, true, memory_order_relaxed);
}

const struct value *lifted_find(struct lifted *l, uint32_t i, const struct batch *b, const struct event *e,
                                struct path_value *member)
{
	const struct value *const v =
	    field_value(b->fields + e->first_field, e->nfields, lifted_name(&l->columns[i]), member);

	set_flag(&l->searched);
	if (v != NULL)
		set_flag(&l->found[i]);
	return v != NULL && v->type != VALUE_NONE ? v : NULL;
}

uint32_t lifted_empty(const struct lifted *l)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < l->n && l->searched; i++)
		n += !l->found[i];
	return n;
}

/* ---- values ---- */

static bool is_unsigned(const struct value *v)
{
	return (v->type >= VALUE_U8 && v->type <= VALUE_U64) || v->type == VALUE_BOOL ||
	       v->type == VALUE_ADDRESS;
}

static bool is_signed(const struct value *v)
{
	return v->type >= VALUE_I8 && v->type <= VALUE_I64;
}

#define NUMBER_TEXT 64 /* longer texts are not read as numbers */

/* Copies the text of a number, NUL-terminated.  Returns false for text and JSON of other characters. */
static bool number_text(const struct value *v, char buffer[NUMBER_TEXT])
{
	if ((v->type != VALUE_STRING && v->type != VALUE_JSON) || v->count == 0 || v->count >= NUMBER_TEXT)
		return false;
	for (uint32_t i = 0; i < v->count; i++)
		if (strchr("+-0123456789.eE", v->p[i]) == NULL || v->p[i] == '\0')
			return false;
	memcpy(buffer, v->p, v->count);
	buffer[v->count] = '\0';
	return true;
}

static bool is_integer_text(const char *s)
{
	s += *s == '-';
	return *s != '\0' && strspn(s, "0123456789") == strlen(s);
}

static bool to_i64(const struct value *v, int64_t *out)
{
	char buffer[NUMBER_TEXT], again[DECIMAL_I64_MAX + 1];

	if (is_unsigned(v) || is_signed(v)) {
		*out = v->i64;
		return is_signed(v) || v->u64 <= INT64_MAX;
	}
	if (v->type == VALUE_F32 || v->type == VALUE_F64) {
		if (!(v->f64 >= -0x1p63 && v->f64 < 0x1p63) || v->f64 != floor(v->f64))
			return false;
		*out = (int64_t)v->f64;
		return true;
	}
	if (!number_text(v, buffer) || !is_integer_text(buffer))
		return false;
	*out = strtoll(buffer, NULL, 10);
	*decimal_i64(again, *out) = '\0';
	return strcmp(again, buffer) == 0; /* false if too large, or in another form: "007" */
}

/* Whether the digits of an integer differ from those of the double that they were read as. */
static bool rounds(const char *digits, double f)
{
	char again[320];

	digits += *digits == '-';
	digits += strspn(digits, "0");
	snprintf(again, sizeof again, "%.0f", fabs(f));
	return strcmp(f != 0 ? again : "", digits) != 0;
}

static bool to_f64(const struct value *v, double *out, bool *rounded)
{
	char buffer[NUMBER_TEXT], *end;

	if (is_unsigned(v)) {
		*out = (double)v->u64;
		*rounded = *out >= 0x1p64 || (uint64_t)*out != v->u64;
	} else if (is_signed(v)) {
		*out = (double)v->i64;
		*rounded = *out >= 0x1p63 || (int64_t)*out != v->i64;
	} else if (v->type == VALUE_F32 || v->type == VALUE_F64) {
		*out = v->f64;
	} else if (number_text(v, buffer)) {
		*out = strtod(buffer, &end);
		*rounded = is_integer_text(buffer) && rounds(buffer, *out);
		return *end == '\0' && isfinite(*out);
	} else {
		return false;
	}
	return true;
}

static bool to_bool(const struct value *v, int64_t *out)
{
	if (v->type == VALUE_JSON) {
		*out = v->count == 4 && memcmp(v->p, "true", 4) == 0;
		return *out != 0 || (v->count == 5 && memcmp(v->p, "false", 5) == 0);
	}
	return v->type >= VALUE_BOOL && v->type <= VALUE_I64 && to_i64(v, out) && (*out == 0 || *out == 1);
}

bool lifted_number(enum lifted_type type, const struct value *v, struct lifted_number *out)
{
	*out = (struct lifted_number){ .rounded = false };
	if (type == LIFTED_FLOAT)
		return to_f64(v, &out->f, &out->rounded);
	return type == LIFTED_BOOL ? to_bool(v, &out->i) : to_i64(v, &out->i);
}

void lifted_text(enum lifted_type type, const struct value *v, struct text *t, struct fields_json_lost *lost)
{
	if (type == LIFTED_TEXT && v->type == VALUE_STRING)
		lost->bad_text += text_utf8(t, value_text(v)) > 0;
	else if (type == LIFTED_TEXT && v->type >= VALUE_U8 && v->type <= VALUE_I64)
		(void)fields_json_as_is(t, v);
	else
		fields_json_value(t, v, lost);
}
