#include "dftracer/facts.h"
#include "dftracer/report.h"

/* The hashes of a record. */

/* In any form.  NULL: it has no name, and cannot get one. */
static const struct dft_name *
look_up(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a, uint64_t pid)
{
	struct dft_hash h;
	struct quoted q;

	if (!dft_hash_read(rec, a->value, (enum json_kind)a->kind, &h)) {
		if (a->role != DFT_ROLE_CWD) /* which may as well be the path itself */
			dft_report(st, DFT_RULE_BAD_HASH, rec, rec->p + a->value.at,
			           "%s is %s, expected an integer of 64 bits or 16 hexadecimal digits",
			           st->keys.keys[a->number].text.p,
			           quoted(&q, dft_token_text(rec, a->value)));
		return NULL;
	}
	if (h.text && !h.none)
		dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_place_of(rec), dft_token_text(rec, a->value));
	return dft_name_use(st, rec, dft_hash_kind_of((enum dft_role)a->role), h, pid);
}

/* The same for digits; those that were defined are cached. */
static inline const struct dft_name *
look_up_digits(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a, uint64_t pid)
{
	struct dft_names *const n = &st->sh->names;
	struct dft_recent_hash key;

	if ((!rec->clean && (a->kind != JSON_STRING || a->value.n != DFT_HEX_DIGITS)) ||
	    !dft_recent_key(rec, a, pid, &key))
		return look_up(st, rec, a, pid);
	struct dft_recent_hash *const recent = dft_recent(n, &key);
	if (dft_recent_is(recent, &key)) {
		if ((key.form & DFT_RECENT_NUMBER) == 0)
			dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_place_of(rec),
			              dft_token_text(rec, a->value));
		return &n->names[recent->name - 1];
	}
	const struct dft_name *const e = look_up(st, rec, a, pid);
	if (e != NULL && e->source == DFT_MET) {
		*recent = key;
		recent->name = (uint32_t)(e - n->names) + 1;
	}
	return e;
}

/* True if a record before this one defines it. */
static bool
check_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a, uint64_t pid,
           struct slice *name)
{
	const struct dft_name *const e = look_up_digits(st, rec, a, pid);

	*name = e != NULL ? (struct slice){ e->text, e->n, e->flags } : (struct slice){ NULL, 0, 0 };
	return e != NULL && e->source == DFT_MET;
}

/* The process that was found by this very hash knows what it stands for. */
static void
check_host_hash(struct dft_state *st, const struct dft_record *rec, const struct dft_arg *a,
                const struct dft_facts *f, struct slice *name)
{
	struct dft_process *const p = f->process;
	const bool same = p != NULL && p == st->sh->processes.last;

	if (same && p->host_name.p != NULL && p->host_known == st->sh->names.hosts_defined) {
		if (a->kind == JSON_STRING)
			dft_tally_add(st, DFT_HASHES_AS_TEXT, dft_place_of(rec),
			              dft_token_text(rec, a->value));
		*name = p->host_name;
	} else if (check_hash(st, rec, a, f->pid, name) && same) {
		p->host_known = st->sh->names.hosts_defined;
		p->host_name = *name;
	}
}

void
dft_check_hashes(struct dft_state *st, const struct dft_record *rec, struct dft_facts *f)
{
	struct slice beyond; /* names that are not remembered */

	/* metadata of later versions name their host by a hash too: no use, the record that defines it does
	 * so itself */
	if (f->phase == DFT_PHASE_METADATA)
		return;
	for (uint64_t left = rec->hashes; left != 0; left &= left - 1) {
		const struct dft_arg *const a = &rec->args[__builtin_ctzll(left)];
		struct slice *const name = f->nnames < DFT_NAMES ? &f->names[f->nnames++] : &beyond;
		if (a->role == DFT_ROLE_HHASH)
			check_host_hash(st, rec, a, f, name);
		else
			check_hash(st, rec, a, f->pid, name);
	}
	if ((rec->special[DFT_ROLE_HOSTNAME] | rec->special[DFT_ROLE_FNAME]) != 0)
		dft_tally_add(st, DFT_NAMES_AS_TEXT, dft_place_of(rec), slice_of(NULL, 0));
}
