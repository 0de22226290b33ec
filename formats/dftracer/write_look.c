#include "dftracer/write_look.h"

#include "dftracer/parse.h"

static bool
prepare(struct dfw_look *x)
{
	if (!x->ready)
		x->ready = dft_record_init(&x->rec) && dft_keys_init(&x->keys);
	return x->ready;
}

static bool
top_is(const struct dft_record *rec, enum dft_top which, const char *text)
{
	return dft_top_kind(rec, which) != JSON_ABSENT && slice_is(dft_top_text(rec, which), text);
}

static bool
arg_is(const struct dft_record *rec, enum dft_role role, const char *text)
{
	const struct dft_arg *const a = dft_arg_of(rec, role);

	return a != NULL && slice_is(dft_token_text(rec, a->value), text);
}

static enum dfw_kind
kind_of(const struct dft_record *rec)
{
	if (!(top_is(rec, DFT_PH, "M") || top_is(rec, DFT_PH, "m") || top_is(rec, DFT_PH, "4") ||
	      top_is(rec, DFT_PH, "H") || top_is(rec, DFT_PH, "h")))
		return DFW_CALL;
	if (top_is(rec, DFT_NAME, "HH") || top_is(rec, DFT_NAME, "FH") || top_is(rec, DFT_NAME, "SH"))
		return DFW_HASH;
	if (top_is(rec, DFT_NAME, "thread_name"))
		return DFW_THREAD_NAME;
	if (top_is(rec, DFT_NAME, "EH"))
		return DFW_ENTITY;
	if (top_is(rec, DFT_NAME, "ET"))
		return DFW_ENTITY_TYPE;
	if (top_is(rec, DFT_NAME, "ER"))
		return DFW_ENTITY_RELATION;
	return top_is(rec, DFT_NAME, "CM") && arg_is(rec, DFT_ROLE_NAME, "time_metric") ? DFW_TIME_METRIC
	                                                                                : DFW_OF_PROCESS;
}

/* A pid or tid, quoted or not; a negative one as two's complement. */
static bool
number_of(const struct dft_record *rec, enum dft_top which, uint64_t *v)
{
	const struct slice s =
	    dft_top_kind(rec, which) != JSON_ABSENT ? dft_top_text(rec, which) : slice_of(NULL, 0);
	const bool minus = s.n > 0 && *s.p == '-';

	if (s.n <= minus || !json_digits_any(s.p + minus, s.n - minus, v))
		return false;
	*v = minus ? -*v : *v;
	return true;
}

bool
dfw_look_at(struct dfw_look *x, struct slice bytes)
{
	struct dft_record *const rec = &x->rec;

	if (!prepare(x) || !dft_parse(rec, &x->keys, bytes.p, bytes.p + bytes.n))
		return false;
	x->kind = kind_of(rec);
	x->has_pid = number_of(rec, DFT_PID, &x->pid);
	x->has_tid = number_of(rec, DFT_TID, &x->tid);
	const struct dft_arg *const hash = dft_arg_of(rec, DFT_ROLE_HHASH);
	const struct dft_arg *const name = dft_arg_of(rec, DFT_ROLE_HOSTNAME);
	const struct dft_arg *const a = hash != NULL ? hash : name;
	x->host = a != NULL ? dft_token_text(rec, a->value) : slice_of(NULL, 0);
	return true;
}

/* ---- time units ---- */

static uint64_t
key_of(uint64_t pid, struct slice host)
{
	return hash_bytes(host.p, host.n, hash_u64(pid, hash_seed()));
}

/* Records that do not say their host are of the first process of their pid. */
bool
dfw_look_metric(struct dfw_look *x)
{
	static const struct {
		const char *name;
		uint32_t ns;
	} units[] = { { "NS", 1 }, { "US", 1000 }, { "MS", 1000000 }, { "SEC", 1000000000 } };
	const uint64_t any = key_of(x->pid, slice_of("", 0));
	const bool first = table64_get(&x->units, any) == TABLE_NONE;

	for (size_t i = 0; x->has_pid && i < sizeof units / sizeof units[0]; i++)
		if (arg_is(&x->rec, DFT_ROLE_VALUE, units[i].name))
			return table64_put(&x->units, key_of(x->pid, x->host), units[i].ns) &&
			       (!first || table64_put(&x->units, any, units[i].ns));
	return true;
}

uint64_t
dfw_look_unit(const struct dfw_look *x)
{
	uint32_t ns = x->has_pid ? table64_get(&x->units, key_of(x->pid, x->host)) : TABLE_NONE;

	if (ns == TABLE_NONE && x->has_pid)
		ns = table64_get(&x->units, key_of(x->pid, slice_of("", 0)));
	return ns == TABLE_NONE ? 1000 : ns;
}

void
dfw_look_free(struct dfw_look *x)
{
	if (x->ready) {
		dft_record_free(&x->rec);
		dft_keys_free(&x->keys);
	}
	table64_free(&x->units);
}
