/* The report for programs: JSON, comma-separated values, and stacks with two columns.  Integers are exact. */
#include "stats/change/change.h"

#include <inttypes.h>
#include <math.h>

#include "base/numbers.h"
#include "json/out.h"
#include "output/text_visible.h"

/* The numbers of a side, in the order of reports. */
enum { NUMBERS = 7, NUMBER_SELF = 2, NUMBER_BYTES = 6 };
static const struct {
	const char *name;
	int metric; /* enum change_metric; -1: not judged */
} numbers[NUMBERS] = { { "count", -1 },   { "total_ns", CHANGE_TOTAL },
	               { "self_ns", -1 }, { "p50_ns", CHANGE_P50 },
	               { "p90_ns", -1 },  { "p99_ns", CHANGE_P99 },
	               { "bytes", -1 } };

static unsigned __int128 number_of(const struct change_values *v, unsigned i)
{
	const unsigned __int128 all[NUMBERS] = {
		v->count, v->total, v->self, v->p50, v->p90, v->p99, v->bytes
	};

	return all[i];
}

static bool has_number(const struct change *c, const struct change_pair *p, unsigned i)
{
	return (i != NUMBER_SELF || !p->async) && (i != NUMBER_BYTES || change_has_bytes(c));
}

static void put_difference(struct text *t, unsigned __int128 old, unsigned __int128 new)
{
	if (new < old)
		text_char(t, '-');
	text_u128(t, new < old ? old - new : new - old);
}

/* ---- JSON ---- */

/* A ratio; null where it is not finite or not known. */
static void put_f64(struct json_out *o, const char *key, double v)
{
	if (isfinite(v))
		json_out_f64(o, key, v);
	else
		json_out_null(o, key);
}

static void put_number(struct json_out *o, const struct change_pair *p, unsigned i)
{
	const struct change_values *const a = &p->sides[CHANGE_OLD], *const b = &p->sides[CHANGE_NEW];
	const unsigned __int128 old = number_of(a, i), new = number_of(b, i);

	json_out_begin(o, numbers[i].name, "{");
	if (a->there)
		text_u128(json_out_value(o, "old"), old);
	else
		json_out_null(o, "old");
	if (b->there)
		text_u128(json_out_value(o, "new"), new);
	else
		json_out_null(o, "new");
	if (a->there && b->there) {
		put_difference(json_out_value(o, "difference"), old, new);
		put_f64(o, "ratio", change_ratio(old, new));
	}
	if (numbers[i].metric >= 0) {
		const struct change_number *const n = &p->numbers[numbers[i].metric];
		if (!isnan(n->low)) {
			put_f64(o, "ratio_low", n->low);
			put_f64(o, "ratio_high", n->high);
		}
		if (!isnan(n->p))
			json_out_f64(o, "p", n->p);
		if (!isnan(n->low) || !isnan(n->p))
			json_out_bool(o, "beyond_noise", n->slower || n->faster);
	}
	json_out_end(o, "}");
}

static void put_side(struct json_out *o, const struct change_view *v, int side)
{
	json_out_space(o, "\n ");
	json_out_begin(o, side == CHANGE_OLD ? "old" : "new", "[");
	for (size_t i = 0; i < v->change->sides[side].nruns; i++)
		json_out_slice(o, NULL, slice_str(v->paths[side][i]));
	json_out_end(o, "]");
}

bool change_json(struct text *t, const struct change_view *v, const char *tool)
{
	const struct change *const c = v->change;
	const struct stats *const s = &c->sides[CHANGE_OLD].joint;
	struct json_out o = { .t = t };

	json_out_begin(&o, NULL, "{");
	json_out_string(&o, "tool", tool);
	put_side(&o, v, CHANGE_OLD);
	put_side(&o, v, CHANGE_NEW);
	json_out_space(&o, "\n ");
	json_out_begin(&o, "floors", "{");
	json_out_f64(&o, "change", c->floors.change);
	json_out_u64(&o, "time_ns", c->floors.time);
	json_out_u64(&o, "count", c->floors.count);
	json_out_end(&o, "}");
	json_out_string(&o, "noise", c->by_runs ? "runs" : "spans");
	json_out_u64(&o, "coarse", s->pool.coarse + c->sides[CHANGE_NEW].joint.pool.coarse);
	json_out_begin(&o, "verdicts", "{");
	for (int i = 0; i < CHANGE_VERDICTS; i++)
		json_out_u64(&o, change_verdict_name((enum change_verdict)i), c->verdicts[i]);
	json_out_end(&o, "}");
	json_out_space(&o, "\n ");
	json_out_begin(&o, "groups", "[");
	for (uint32_t i = 0; i < c->n; i++) {
		const struct change_pair *const p = &c->pairs[i];
		json_out_space(&o, "\n  ");
		json_out_begin(&o, NULL, "{");
		json_out_string(&o, "verdict", change_verdict_name(p->verdict));
		json_out_string(&o, "kind", p->async ? "async" : "span");
		for (unsigned k = 0; k < stats_count_keys(s); k++)
			json_out_slice(&o, stats_key_name(s, k), p->keys[k]);
		for (unsigned k = 0; k < NUMBERS; k++)
			if (has_number(c, p, k))
				put_number(&o, p, k);
		json_out_end(&o, "}");
	}
	json_out_end(&o, "]\n}\n");
	return !t->failed;
}

/* ---- CSV ---- */

static void put_csv_ratio(struct text *t, double v)
{
	char digits[DECIMAL_F64_MAX];

	text_char(t, ',');
	if (isfinite(v))
		text_add(t, digits, (size_t)(decimal_f64(digits, v) - digits));
}

static void put_csv_number(struct text *t, const struct change *c, const struct change_pair *p, unsigned i)
{
	const bool known = has_number(c, p, i);
	const struct change_values *const a = &p->sides[CHANGE_OLD], *const b = &p->sides[CHANGE_NEW];
	const unsigned __int128 old = number_of(a, i), new = number_of(b, i);
	const bool both = a->there && b->there && known;

	text_char(t, ',');
	if (a->there && known)
		text_u128(t, old);
	text_char(t, ',');
	if (b->there && known)
		text_u128(t, new);
	text_char(t, ',');
	if (both)
		put_difference(t, old, new);
	put_csv_ratio(t, both ? change_ratio(old, new) : NAN);
	if (numbers[i].metric < 0)
		return;
	const struct change_number *const n = &p->numbers[numbers[i].metric];
	put_csv_ratio(t, n->low);
	put_csv_ratio(t, n->high);
	put_csv_ratio(t, n->p);
}

bool change_csv(struct text *t, const struct change_view *v)
{
	const struct change *const c = v->change;
	const struct stats *const s = &c->sides[CHANGE_OLD].joint;

	text_str(t, "verdict,kind");
	for (unsigned i = 0; i < stats_count_keys(s); i++) {
		text_char(t, ',');
		text_csv_cell(t, slice_str(stats_key_name(s, i)));
	}
	for (unsigned i = 0; i < NUMBERS; i++) {
		const char *const n = numbers[i].name;
		text_printf(t, ",old_%s,new_%s,difference_%s,ratio_%s", n, n, n, n);
		if (numbers[i].metric >= 0)
			text_printf(t, ",ratio_low_%s,ratio_high_%s,p_%s", n, n, n);
	}
	text_char(t, '\n');
	for (uint32_t i = 0; i < c->n; i++) {
		const struct change_pair *const p = &c->pairs[i];
		text_printf(t, "%s,%s", change_verdict_name(p->verdict), p->async ? "async" : "span");
		for (unsigned k = 0; k < stats_count_keys(s); k++) {
			text_char(t, ',');
			text_csv_cell(t, p->keys[k]);
		}
		for (unsigned k = 0; k < NUMBERS; k++)
			put_csv_number(t, c, p, k);
		text_char(t, '\n');
	}
	return !t->failed;
}

/* ---- folded stacks ---- */

bool change_folded(struct text *t, const struct change_view *v)
{
	const struct change *const c = v->change;
	const unsigned keys = stats_count_keys(&c->sides[CHANGE_OLD].joint);
	const bool by_default = c->sides[CHANGE_OLD].joint.by.n == 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct change_pair *const p = &c->pairs[i];
		const size_t start = t->n;
		if (p->async || (p->sides[CHANGE_OLD].self == 0 && p->sides[CHANGE_NEW].self == 0))
			continue;
		/* The category is the outer frame of the name. */
		for (unsigned k = 0; k < keys; k++) {
			if (k > 0)
				text_char(t, ';');
			const size_t from = t->n;
			text_visible(t, p->keys[by_default ? keys - 1 - k : k], 0);
			for (size_t at = from; at < t->n && !t->failed; at++)
				t->p[at] = t->p[at] == ';' ? ':' : t->p[at];
		}
		if (t->n == start)
			text_char(t, '-');
		text_char(t, ' ');
		text_u128(t, p->sides[CHANGE_OLD].self);
		text_char(t, ' ');
		text_u128(t, p->sides[CHANGE_NEW].self);
		text_char(t, '\n');
	}
	return !t->failed;
}
