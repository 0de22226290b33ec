#include "model/event_traits.h"
#include "sqlite/state.h"

/* One event becomes a row of its table, one for each series of a counter, and its fields rows of arg. */

static void
lose(struct ledger *ledger, enum sqlite_loss loss, const struct event *e)
{
	ledger_add(ledger, &sqlite_losses[loss], e->offset, 1);
}

/* ---- columns that several tables have ---- */

static void
bind_time(struct sqlite_state *st, enum sqlite_table table, int column, const struct event *e,
          struct ledger *ledger)
{
	const bool too_large = !st->signed_time && e->ts > INT64_MAX;

	if (too_large)
		lose(ledger, SQLITE_LOSS_TIME_TOO_LARGE, e);
	sqlite_bind_i64(st, table, column, too_large ? INT64_MAX : (int64_t)e->ts);
}

static const struct track *
base_of(const struct track *k)
{
	return k->lane > 0 ? k->parent : k;
}

/* name, category, process, thread, in the columns from `column` on. */
static void
bind_what(struct sqlite_state *st, enum sqlite_table table, int column, const struct event *e)
{
	const struct sqlite_class *const cls = e->cls->declared;
	const struct track *const base = base_of(e->track);

	sqlite_bind_i64(st, table, column, sqlite_string(st, e->name));
	sqlite_bind_i64(st, table, column + 1, cls->category);
	sqlite_bind_i64(st, table, column + 2, (int64_t)track_process(base)->index + 1);
	if (base->parent != NULL)
		sqlite_bind_i64(st, table, column + 3, (int64_t)base->index + 1);
	else
		sqlite_bind_null(st, table, column + 3);
}

static void
put_arg(struct sqlite_state *st, int64_t event, const struct field *f, const struct event *e,
        struct ledger *ledger)
{
	sqlite_bind_i64(st, TABLE_ARG, 1, event);
	sqlite_bind_i64(st, TABLE_ARG, 2, sqlite_string(st, f->name));
	sqlite_bind_value(st, (struct sqlite_place){ TABLE_ARG, 3, ledger, e->offset }, &f->value);
	(void)sqlite_insert(st, TABLE_ARG);
}

static void
put_args(struct sqlite_state *st, int64_t event, const struct batch *b, const struct event *e,
         struct ledger *ledger)
{
	const struct field *const fields = b->fields + e->first_field;

	for (uint32_t i = 0; i < e->nfields; i++)
		put_arg(st, event, &fields[i], e, ledger);
}

/* ---- spans ---- */

/* Times in the order of unsigned numbers. */
static uint64_t
ordered(const struct sqlite_state *st, uint64_t ts)
{
	return ts ^ (uint64_t)st->signed_time << 63;
}

static struct parents_found
find_parent(struct sqlite_state *st, const struct event *e, int64_t id, struct ledger *ledger)
{
	const uint64_t start = ordered(st, e->ts), left = UINT64_MAX - start;
	struct parents_found found = { .id = 0 };

	if ((e->flags & EVENT_ASYNC) != 0)
		return found;
	st->no_memory |= !parents_next(&st->parents, base_of(e->track)->index, start,
	                               e->dur > left ? UINT64_MAX : start + e->dur, id, &found);
	if (found.forgotten)
		lose(ledger, SQLITE_LOSS_PARENT_FORGOTTEN, e);
	return found;
}

static void
put_span(struct sqlite_state *st, const struct batch *b, const struct event *e, struct ledger *ledger)
{
	const int64_t id = ++st->last;
	const struct parents_found parent = find_parent(st, e, id, ledger);

	sqlite_bind_i64(st, TABLE_SPAN, 1, id);
	sqlite_bind_text(st, TABLE_SPAN, 2,
	                 (e->flags & EVENT_ASYNC) != 0 ? SLICE_LIT("async") : SLICE_LIT("span"));
	bind_time(st, TABLE_SPAN, 3, e, ledger);
	if (e->dur > INT64_MAX)
		lose(ledger, SQLITE_LOSS_TIME_TOO_LARGE, e);
	sqlite_bind_i64(st, TABLE_SPAN, 4, e->dur > INT64_MAX ? INT64_MAX : (int64_t)e->dur);
	bind_what(st, TABLE_SPAN, 5, e);
	sqlite_bind_i64(st, TABLE_SPAN, 9, e->track->lane);
	if (parent.id != 0)
		sqlite_bind_i64(st, TABLE_SPAN, 10, parent.id);
	else
		sqlite_bind_null(st, TABLE_SPAN, 10);
	sqlite_bind_i64(st, TABLE_SPAN, 11, parent.depth);
	sqlite_bind_u64(st, TABLE_SPAN, 12, e->offset);
	(void)sqlite_insert(st, TABLE_SPAN);
	put_args(st, id, b, e, ledger);
}

/* ---- the others ---- */

static void
put_instant(struct sqlite_state *st, const struct batch *b, const struct event *e, struct ledger *ledger)
{
	const int64_t id = ++st->last;

	sqlite_bind_i64(st, TABLE_INSTANT, 1, id);
	bind_time(st, TABLE_INSTANT, 2, e, ledger);
	bind_what(st, TABLE_INSTANT, 3, e);
	sqlite_bind_u64(st, TABLE_INSTANT, 7, e->offset);
	(void)sqlite_insert(st, TABLE_INSTANT);
	put_args(st, id, b, e, ledger);
}

/* series: NULL: it has none. */
static void
put_series(struct sqlite_state *st, const struct event *e, const struct field *series, struct ledger *ledger)
{
	sqlite_bind_i64(st, TABLE_COUNTER, 1, ++st->last);
	bind_time(st, TABLE_COUNTER, 2, e, ledger);
	bind_what(st, TABLE_COUNTER, 3, e);
	if (series != NULL) {
		sqlite_bind_i64(st, TABLE_COUNTER, 7, sqlite_string(st, series->name));
		sqlite_bind_value(st, (struct sqlite_place){ TABLE_COUNTER, 8, ledger, e->offset },
		                  &series->value);
	} else {
		sqlite_bind_null(st, TABLE_COUNTER, 7);
		sqlite_bind_null(st, TABLE_COUNTER, 8);
	}
	sqlite_bind_u64(st, TABLE_COUNTER, 9, e->offset);
	(void)sqlite_insert(st, TABLE_COUNTER);
}

static bool
is_number(const struct field *f)
{
	return f->value.type >= VALUE_U8 && f->value.type <= VALUE_F64;
}

/* Fields that are no numbers belong to the row of its first series. */
static void
put_counter(struct sqlite_state *st, const struct batch *b, const struct event *e, struct ledger *ledger)
{
	const struct field *const fields = b->fields + e->first_field;
	const int64_t first = st->last + 1;

	for (uint32_t i = 0; i < e->nfields; i++)
		if (is_number(&fields[i]))
			put_series(st, e, &fields[i], ledger);
	if (st->last < first)
		put_series(st, e, NULL, ledger);
	for (uint32_t i = 0; i < e->nfields; i++)
		if (!is_number(&fields[i]))
			put_arg(st, first, &fields[i], e, ledger);
}

static void
put_flow(struct sqlite_state *st, const struct batch *b, const struct event *e, struct ledger *ledger)
{
	const int64_t id = ++st->last;

	sqlite_bind_i64(st, TABLE_FLOW, 1, id);
	sqlite_bind_text(st, TABLE_FLOW, 2,
	                 e->phase == PHASE_FLOW_OUT ? SLICE_LIT("flow_out")
	                 : event_is_step(e)         ? SLICE_LIT("flow_step")
	                                            : SLICE_LIT("flow_in"));
	bind_time(st, TABLE_FLOW, 3, e, ledger);
	sqlite_bind_u64(st, TABLE_FLOW, 4, e->dur);
	bind_what(st, TABLE_FLOW, 5, e);
	sqlite_bind_u64(st, TABLE_FLOW, 9, e->offset);
	(void)sqlite_insert(st, TABLE_FLOW);
	put_args(st, id, b, e, ledger);
}

void
sqlite_event(struct sqlite_state *st, const struct batch *b, const struct event *e, struct ledger *ledger)
{
	switch ((enum phase)e->phase) {
	case PHASE_SPAN:
		put_span(st, b, e, ledger);
		break;
	case PHASE_COUNTER:
		put_counter(st, b, e, ledger);
		break;
	case PHASE_FLOW_OUT:
	case PHASE_FLOW_IN:
		put_flow(st, b, e, ledger);
		break;
	case PHASE_BEGIN: /* these two are paired before they get here */
	case PHASE_END:
	case PHASE_INSTANT:
		put_instant(st, b, e, ledger);
		break;
	case PHASE_STRUCTURE: /* not asked for */
		break;
	}
}
