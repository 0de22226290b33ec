/* Numbers of values: from texts, as integers, and compared across numeric types. */
#include "model/number.h"

#include <math.h>

#include "base/numbers.h"
#include "json/number.h"
#include "json/token.h"
#include "model/value.h"

bool value_number(struct slice text, struct value *v)
{
	enum json_kind kind;
	uint64_t u;
	double d;

	if (text.n > DECIMAL_TEXT_MAX || !json_is_number(text, &kind))
		return false;
	const bool negative = *text.p == '-';
	const bool whole = json_digits_any(text.p + negative, text.n - negative, &u);
	if (whole && !negative)
		*v = (struct value){ .type = VALUE_U64, .u64 = u };
	else if (whole && u <= (uint64_t)INT64_MAX + 1)
		*v = (struct value){ .type = VALUE_I64, .i64 = (int64_t)(0 - u) };
	else if (decimal_read_f64(text, &d))
		*v = (struct value){ .type = VALUE_F64, .f64 = d };
	return true;
}

enum value_fit value_integer(const struct value *v, int64_t *to)
{
	double d = v->f64;

	switch ((enum value_type)v->type) {
	case VALUE_BOOL:
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
	case VALUE_ADDRESS:
		*to = v->u64 > INT64_MAX ? INT64_MAX : v->i64;
		return v->u64 > INT64_MAX ? VALUE_LIMITED : VALUE_EXACT;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		*to = v->i64;
		return VALUE_EXACT;
	case VALUE_JSON:
		if (!json_double(value_text(v), &d))
			return VALUE_NO_NUMBER;
		break;
	case VALUE_F32:
	case VALUE_F64:
		break;
	default:
		return VALUE_NO_NUMBER;
	}
	const double nearest = nearbyint(d);
	const bool fits = nearest >= -0x1p63 && nearest < 0x1p63;
	*to = fits ? (int64_t)nearest : d > 0 ? INT64_MAX : INT64_MIN;
	if (!fits)
		return isnan(d) ? VALUE_NAN : VALUE_LIMITED;
	return nearest < d || nearest > d ? VALUE_ROUNDED : VALUE_EXACT;
}

/* A number as sign and magnitude, or as a double. */
struct number {
	bool real, negative;
	uint64_t size;     /* of an integer, without its sign */
	long double value; /* exact for integers, too, where it has 64 bits */
};

static bool number_of(const struct value *v, struct number *n)
{
	*n = (struct number){ .real = false };
	switch ((enum value_type)v->type) {
	case VALUE_U8:
	case VALUE_U16:
	case VALUE_U32:
	case VALUE_U64:
	case VALUE_ADDRESS:
		n->size = v->u64;
		n->value = v->u64;
		return true;
	case VALUE_I8:
	case VALUE_I16:
	case VALUE_I32:
	case VALUE_I64:
		n->negative = v->i64 < 0;
		n->size = v->i64 < 0 ? -(uint64_t)v->i64 : (uint64_t)v->i64;
		n->value = v->i64;
		return true;
	case VALUE_F32:
	case VALUE_F64:
		n->real = true;
		n->value = v->f64;
		return v->f64 == v->f64;
	default:
		return false;
	}
}

bool value_order(const struct value *a, const struct value *b, int *order)
{
	struct number x, y;

	if (!number_of(a, &x) || !number_of(b, &y))
		return false;
	if (x.real || y.real)
		*order = ORDER(x.value, y.value);
	else if (x.negative != y.negative)
		*order = x.negative ? -1 : 1;
	else
		*order = ORDER(x.size, y.size) * (x.negative ? -1 : 1);
	return true;
}
