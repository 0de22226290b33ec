#include "dftracer/value.h"

struct slice
dft_text(struct arena *a, const struct dft_record *rec, struct dft_token t, enum json_kind kind)
{
	const struct slice raw = dft_token_text(rec, t);

	if (kind == JSON_ESCAPED || kind == JSON_BAD_STRING)
		return json_unescape(a, raw);
	/* what is no string is ASCII */
	return kind == JSON_STRING ? textscan_slice(raw.p, raw.n) : raw;
}

struct value
dft_integer_value(const struct dft_record *rec, struct dft_token t, bool minus)
{
	const struct dft_token digits = { t.at + minus, t.n - minus };
	uint64_t v;

	if (!dft_digits(rec, digits, &v) || (minus && v > (uint64_t)1 << 63))
		return dft_json_value(dft_token_text(rec, t));
	return minus ? (struct value){ .type = VALUE_I64, .i64 = (int64_t)-v } : value_u64(v);
}

struct value
dft_not_finite_value(struct slice s)
{
	const bool sign = *s.p == '-' || *s.p == '+';
	const double v = (s.p[sign] | 0x20) == 'n' ? (double)__builtin_nan("") : (double)__builtin_inf();

	return (struct value){ .type = VALUE_F64, .f64 = *s.p == '-' && v == v ? -v : v };
}
