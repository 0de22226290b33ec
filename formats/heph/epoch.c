#include "heph/epoch.h"

#include "heph/finding.h"
#include "heph/packet.h"
#include "heph/state.h"

/* The epoch, and the times that count from it. */

/* Reports times that came before the epoch and do not fit behind it. */
static void
check_earlier(struct heph_state *st)
{
	const struct finding_tally *const t = &st->epoch.latest;

	if (t->count > 0 && t->now > UINT64_MAX - st->epoch.ns)
		finding_add(st->r->findings, &heph_rules[HEPH_RULE_TIME_OVERFLOW], t->offset, t->record,
		            "time %" PRIu64 ", the latest before the epoch %" PRIu64 " was set", t->now,
		            st->epoch.ns);
}

/* The first epoch of this input. */
static void
learn_epoch(struct heph_state *st, const struct heph_packet *k, const char *value)
{
	struct trace *const trace = st->r->trace;

	st->epoch.known = true;
	st->epoch.ns = load_u64(value, true);
	check_earlier(st);
	trace->epoch_known = true;
	trace->epoch_ns = st->epoch.ns;
}

void
heph_epoch_set(struct heph_state *st, const struct heph_packet *k, const char *value)
{
	const uint64_t size = (uint64_t)(k->end - value);

	if (size != HEPH_EPOCH_SIZE)
		heph_finding_add(st, HEPH_RULE_EPOCH_SIZE, k, value, "the value has %" PRIu64 " byte%s", size,
		                 size == 1 ? "" : "s");
	else if (!st->epoch.known)
		learn_epoch(st, k, value);
	else if (load_u64(value, true) != st->epoch.ns)
		heph_finding_add(st, HEPH_RULE_EPOCH_CHANGED, k, value,
		                 "%" PRIu64 " after %" PRIu64 "; the first is used", load_u64(value, true),
		                 st->epoch.ns);
}

void
heph_epoch_check(struct heph_state *st, const struct heph_packet *k)
{
	const uint64_t latest = k->start > k->stop ? k->start : k->stop;

	if (k->stop < k->start)
		heph_finding_add(st, HEPH_RULE_END_BEFORE_START, k, k->p + 32,
		                 "end %" PRIu64 ", start %" PRIu64, k->stop, k->start);
	if (!st->epoch.known) {
		if (st->epoch.latest.count == 0 || latest > st->epoch.latest.now)
			st->epoch.latest = (struct finding_tally){
				.count = 1, .offset = k->offset, .record = k->ordinal, .now = latest
			};
	} else if (latest > UINT64_MAX - st->epoch.ns) {
		heph_finding_add(st, HEPH_RULE_TIME_OVERFLOW, k, k->p + (latest == k->start ? 24 : 32),
		                 "time %" PRIu64 ", epoch %" PRIu64, latest, st->epoch.ns);
	}
}
