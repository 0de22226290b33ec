#ifndef OVNI_STATE_STATE_H
#define OVNI_STATE_STATE_H

#include "ovni/state/check.h"

/* What the parts of the state checker share. */

/* ---- what a code does ---- */

enum state_role {
	STATE_ROLE_STACK, /* a state of a stack, or nothing */
	STATE_ROLE_LIFE,
	STATE_ROLE_AFFINITY,
	STATE_ROLE_FLUSH,
	STATE_ROLE_MARK,
	STATE_ROLE_PROGRESS,
	STATE_ROLE_TASK,
	STATE_ROLE_WORKSHARING,
	STATE_ROLE_COUNTERS,
	STATE_ROLE_BURST
};

enum state_action {
	STATE_NO_ACTION,
	STATE_CREATE, /* lifecycle, task */
	STATE_EXECUTE,
	STATE_PAUSE,
	STATE_RESUME,
	STATE_END,
	STATE_COOL, /* lifecycle */
	STATE_WARM,
	STATE_CREATE_PARALLEL, /* task */
	STATE_TYPE,
	STATE_SELF, /* affinity */
	STATE_REMOTE,
	STATE_OPEN, /* flush */
	STATE_CLOSE,
	STATE_SET, /* mark */
	STATE_PUSH,
	STATE_POP,
	STATE_PROGRESSING, /* progress */
	STATE_RESTING,
	STATE_ABSORBING,
	STATE_BEGIN /* worksharing; its end is STATE_END */
};

enum state_needs { STATE_NEEDS_ANY, STATE_NEEDS_ACTIVE, STATE_NEEDS_RUNNING };

#define STATE_NOWHERE 255 /* the payload has no such field */

struct state_code {
	const struct class *cls; /* NULL: not yet looked at */
	struct slice value_text; /* the state: "13.3" */
	struct slice value_name; /* what people call it; p NULL: it has no fixed name */
	uint32_t value;
	uint8_t role, action, needs;
	uint8_t model; /* number of the model's word; 0: none */
	uint8_t stack; /* number of the stack's word; 0: none */
	int8_t move;   /* 1: pushes, -1: pops, 0: neither */
	uint8_t least; /* bytes of the payload's fields of fixed size */
	bool checked;  /* the vocabulary has words about it */
	bool refused;  /* ovniemu does not know it */
	bool on_cpu, label, repeat_error, open_error;
	bool model_off; /* no stream requires its model */
	bool reported;  /* refused, or of a model that is off: once for each code */
	uint8_t at_task, at_type, at_body, at_cpu, at_tid, at_value, at_mark; /* places in the payload */
};

/* ---- threads ---- */

enum state_life {
	STATE_THREAD_NEW,
	STATE_THREAD_RUNNING,
	STATE_THREAD_PAUSED,
	STATE_THREAD_COOLING,
	STATE_THREAD_WARMING,
	STATE_THREAD_ENDED
};

#define STATE_CPU_NONE UINT32_MAX
#define STATE_CPU_VIRTUAL (UINT32_MAX - 1)

#define STATE_CPU_UNKNOWN                                                                                    \
	(UINT32_MAX - 2) /* the loom's CPUs are not known, or there is none of that index                    \
	                  */

struct state_thread {
	uint64_t first;  /* clock of its first event */
	uint64_t flush;  /* clock at which its flush began */
	uint64_t burst;  /* clock of its last burst event */
	uint32_t stream; /* in order of paths */
	uint32_t process, loom;
	uint32_t scope;    /* of its tasks: the process, or itself where that is not known */
	uint32_t cpu;      /* in ovni_system.cpus, or STATE_CPU_... */
	uint32_t progress; /* two bits for each model */
	int32_t pid, tid;
	uint8_t life;                 /* enum state_life */
	uint8_t nbursts, slow_bursts; /* of the present hundred */
	bool flushing;
	bool out;                          /* the kernel took it off its CPU */
	bool needs_reported, out_reported; /* once until its life, or being out, changes */
};

struct state_cpu {
	uint32_t running; /* threads */
	uint32_t who;     /* the one that came last */
};

/* ---- stacks: lists in one pool ---- */

#define STATE_MAX_DEPTH 512 /* that of ovniemu */
#define STATE_MAX_ENTRIES (512U << 10)
#define STATE_MAX_STACKS (256U << 10)
#define STATE_STACK_NAMES 64   /* words of the vocabulary: 1 .. 63 */
#define STATE_STACK_MARKS 64   /* of mark type 0; 100 of them */
#define STATE_STACK_BODIES 176 /* of the tasks of model 0 */
#define STATE_MAX_MODELS 16

struct state_entry {
	uint64_t value, offset;
	uint32_t below;    /* in entries; TABLE_NONE: the last */
	uint32_t cls : 31; /* what pushed it */
	uint32_t body : 1; /* a task's body, not a state alone */
};

struct state_stack {
	uint32_t thread;
	uint32_t top; /* in entries, or TABLE_NONE */
	uint16_t depth;
	uint8_t id;
	uint32_t over; /* pushed beyond a bound: so many pops are not checked */
};

/* ---- types, tasks, bodies: one table ---- */

#define STATE_MAX_UNITS (1U << 20)

enum state_unit_kind { STATE_UNIT_TYPE = 1, STATE_UNIT_TASK, STATE_UNIT_BODY };

enum state_body { STATE_BODY_CREATED, STATE_BODY_RUNNING, STATE_BODY_PAUSED, STATE_BODY_ENDED };

struct state_unit {
	uint64_t key;   /* 0: evicted */
	uint32_t label; /* of a type or task: the hash of its text; of an evicted one: the next such, + 1 */
	uint32_t thread : 24; /* that runs it */
	uint32_t state : 4;   /* enum state_body */
	uint32_t parallel : 1;
};

struct state_units {
	struct state_unit *units; /* in order of arrival */
	struct table64 index;     /* key -> units */
	uint32_t n, cap;
	uint32_t most; /* STATE_MAX_UNITS but in tests */
	uint32_t free; /* the first evicted one, + 1; 0: none */
	bool evicted;  /* not all that was added is still there */
	bool full;     /* some could not be added */
};

/* ---- all of it ---- */

struct state_checker {
	struct ovni_system *system;
	struct state_code *codes; /* by index of the class */
	uint32_t ncodes;
	struct slice models[STATE_MAX_MODELS], stack_names[STATE_STACK_NAMES]; /* words, of the vocabulary */
	uint32_t nmodels, nstack_names;
	uint8_t kernel; /* number of the stack named so */
	struct tabletext values;
	uint32_t nvalues;

	struct state_thread *threads;
	uint32_t nthreads, threads_cap;
	struct table64 by_tid; /* process << 32 | tid; or STATE_BY_LOOM | loom << 32 | tid */
	struct state_cpu *cpus;
	uint32_t ncpus;
	struct table64 cpu_index; /* loom << 32 | index */

	struct state_entry *entries;
	uint32_t nentries, entries_cap, free_entry; /* free ones are a list too */
	struct state_stack *stacks;
	uint32_t nstacks, stacks_cap;
	struct table64 stack_index; /* thread << 8 | id */

	struct state_units units;
	struct table64 label_numbers; /* model << 32 | number that ovniemu gives it -> hash of the label */
	uint32_t nlabels;
};

/* One event, and what it is checked with. */
struct state_event {
	struct state_checker *checker;
	struct ovni_stream *stream;
	struct reader *r;
	const struct event *e;
	struct state_code *code;
	uint32_t thread;       /* in checker->threads, which may move */
	struct slice payload;  /* p NULL: none */
	bool jumbo, too_large; /* too_large: a jumbo event whose data was dropped */
};

static inline struct state_thread *state_thread(const struct state_event *x)
{
	return &x->checker->threads[x->thread];
}

static inline bool state_is_active(const struct state_thread *t)
{
	return t->life == STATE_THREAD_RUNNING || t->life == STATE_THREAD_COOLING ||
	       t->life == STATE_THREAD_WARMING;
}

/* The code of the event, for messages. */
static inline const char *state_name(const struct state_event *x)
{
	return x->code->cls->name.p; /* ended by a NUL */
}

/* ---- state_event.c ---- */
void state_report(const struct state_event *x, enum ovni_rule rule, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Reports OVNI_RULE_PAYLOAD_REFUSED and answers false unless the payload has n bytes (at least n if not
 * exact). */
bool state_has_payload(const struct state_event *x, uint32_t n, bool exact);
bool state_is_jumbo(const struct state_event *x);               /* likewise, unless it is a jumbo event */
uint32_t state_u32(const struct state_event *x, uint8_t place); /* 0 where the payload has no such field */
void state_no_memory(const struct state_event *x);
void state_limit(const struct state_event *x, const char *what, uint32_t most);

/* ---- state_code.c ---- */
struct state_code *state_code_of(struct state_checker *c, const struct class *cls); /* NULL: no memory */

/* ---- state_thread.c ---- */
bool state_find_thread(struct state_event *x); /* sets x->thread; false: it cannot be tracked */
void state_check_life(const struct state_event *x);
void state_check_flush(const struct state_event *x);
void state_check_progress(const struct state_event *x);
void state_check_burst(const struct state_event *x);

/* ---- state_cpu.c ---- */
#define STATE_BY_LOOM ((uint64_t)1 << 63)

void state_check_affinity(const struct state_event *x);

/* ---- state_stack.c ---- */
void state_push(const struct state_event *x, uint8_t id, uint64_t value, bool body, bool quiet);

/* How many it took away: none, if nothing of that value was there. */
uint32_t state_pop(const struct state_event *x, uint8_t id, uint64_t value, bool quiet);

/* NULL: empty */
const struct state_entry *state_top(const struct state_checker *c, uint32_t thread, uint8_t id);

/* ---- state_mark.c ---- */
void state_check_mark(const struct state_event *x);
void state_check_counters(const struct state_event *x);

/* ---- state_task.c ---- */
void state_check_task(const struct state_event *x);
void state_check_worksharing(const struct state_event *x);

/* ---- state_label.c ---- */

/* A new label of a task type; hash tells it from others. */
void state_check_label(const struct state_event *x, struct slice label, uint32_t hash);

/* ---- state_units.c ---- */

/* The index, or TABLE_NONE. */
uint32_t state_unit_find(const struct state_units *t, uint64_t key);

/* One more, that is not there; TABLE_NONE: there are as many as may be (state_units_are_full()), or there is
 * no memory. */
uint32_t state_unit_add(struct state_units *t, uint64_t key);
bool state_units_are_full(const struct state_units *t);

/* Evicts normal tasks and bodies that have ended, and counts them.  false: no memory. */
bool state_units_evict(struct state_units *t, uint32_t *evicted);
void state_units_free(struct state_units *t);

#endif
