#ifndef OVNI_STATE_STATE_H
#define OVNI_STATE_STATE_H

/*
 * Private header of the state checker (interface: ovni.h).
 *
 *   check.c    actions of event codes; the checks of one event in their order, and those at the end
 *   thread.c   threads: life cycle, CPUs, flushes, progress, bursts
 *   stack.c    stacks of states; marks, counters
 *   task.c     types, tasks and bodies; worksharings
 */

#include "ovni/ovni.h"

/* ---- actions of codes ---- */

struct state_event;

enum state_action {
	STATE_NO_ACTION,
	STATE_CREATE, /* life cycle, task */
	STATE_EXECUTE,
	STATE_PAUSE,
	STATE_RESUME,
	STATE_END,
	STATE_COOL, /* life cycle */
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
	STATE_BEGIN /* worksharing, ended by STATE_END */
};

enum state_needs { STATE_NEEDS_ANY, STATE_NEEDS_ACTIVE, STATE_NEEDS_RUNNING };

#define STATE_NO_FIELD 255 /* the payload has no such field */

struct state_code {
	const struct class *cls; /* NULL: not resolved yet */
	void (*check)(const struct state_event *x);
	struct slice value_text; /* number of the state: "13.3" */
	struct slice value_name; /* its name; p NULL: it has no fixed name */
	uint32_t value;          /* equal for codes of equal value_text */
	uint8_t action, needs;
	uint8_t model;      /* in state_checker.models; 0: none */
	uint8_t stack;      /* in state_checker.stack_names; 0: none */
	int8_t move;        /* 1: pushes, -1: pops, 0: neither */
	uint8_t fixed_size; /* bytes of the payload's fields of fixed size */
	bool checked;       /* the vocabulary has keywords for it */
	bool refused;       /* ovniemu does not know it */
	bool on_cpu;        /* requires that the kernel has not switched the thread out */
	bool label;         /* its states are labels of task types */
	bool repeat_error;  /* must not push the innermost state again */
	bool open_error;    /* must be closed at the end */
	bool model_off;     /* no stream requires its model */
	bool reported;      /* as refused, or of a model that is off */
	uint8_t at_task, at_type, at_body, at_cpu, at_tid, at_value, at_mark; /* offsets in the payload */
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
#define STATE_CPU_UNKNOWN (UINT32_MAX - 2) /* not declared, or the CPUs of the loom are unknown */

struct state_thread {
	uint64_t first;  /* clock of its first event */
	uint64_t flush;  /* clock at which its flush began */
	uint64_t burst;  /* clock of its last burst event */
	uint32_t stream; /* in order of paths */
	uint32_t process, loom;
	uint32_t scope;    /* of its tasks: the process, or the thread itself if the process is unknown */
	uint32_t cpu;      /* in ovni_system.cpus, or STATE_CPU_... */
	uint32_t progress; /* two bits for each model */
	int32_t pid, tid;
	uint8_t life;                 /* enum state_life */
	uint8_t nbursts, slow_bursts; /* of the current hundred */
	bool flushing;
	bool out;            /* the kernel switched it out */
	bool needs_reported; /* until its life changes */
	bool out_reported;   /* until `out` changes */
};

struct state_cpu {
	uint32_t running; /* threads */
	uint32_t latest;  /* thread that began to run last */
};

/* ---- stacks: lists in one pool ---- */

#define STATE_MAX_DEPTH 512 /* the limit of ovniemu */
#define STATE_MAX_ENTRIES (512U << 10)
#define STATE_MAX_STACKS (256U << 10)

/* Numbers of the stacks of a thread. */
#define STATE_STACK_NAMES 64   /* below: stacks of the vocabulary, from 1 */
#define STATE_STACK_MARKS 64   /* of mark type 0; 100 of them */
#define STATE_STACK_BODIES 176 /* of the tasks of model 0 */
#define STATE_MAX_MODELS 16

struct state_entry {
	uint64_t value, offset; /* offset: of the event that pushed it */
	uint32_t below;         /* in entries; TABLE_NONE: the last */
	uint32_t cls : 31;      /* of that event */
	uint32_t body : 1;      /* a task's body, not only a state */
};

struct state_stack {
	uint32_t thread;
	uint32_t top; /* in entries, or TABLE_NONE */
	uint16_t depth;
	uint8_t id;
	uint32_t beyond; /* pushed beyond a limit: as many pops are not checked */
};

/* ---- types, tasks, bodies: one table ---- */

#define STATE_MAX_UNITS (1U << 20)

enum state_unit_kind { STATE_UNIT_TYPE = 1, STATE_UNIT_TASK, STATE_UNIT_BODY };

enum state_body { STATE_BODY_CREATED, STATE_BODY_RUNNING, STATE_BODY_PAUSED, STATE_BODY_ENDED };

struct state_unit {
	uint64_t key;         /* 0: evicted */
	uint32_t label;       /* type, task: hash of its text; evicted: the next evicted unit + 1 */
	uint32_t thread : 24; /* that runs it */
	uint32_t state : 4;   /* enum state_body */
	uint32_t parallel : 1;
};

struct state_units {
	struct state_unit *units; /* in order of arrival */
	struct table64 index;     /* key -> units */
	uint32_t n, cap;
	uint32_t max;  /* STATE_MAX_UNITS, but in tests */
	uint32_t free; /* the first evicted unit + 1; 0: none */
	bool evicted;  /* units were lost */
	bool full;     /* eviction gains too little to be repeated */
};

/* ---- the checker ---- */

struct state_checker {
	struct ovni_system *system;
	struct state_code *codes; /* by index of the class */
	uint32_t ncodes;
	struct slice models[STATE_MAX_MODELS], stack_names[STATE_STACK_NAMES]; /* of the vocabulary, from 1 */
	uint32_t nmodels, nstack_names;
	uint8_t kernel;          /* number of the stack "kernel" */
	struct tabletext values; /* value_text -> value */

	struct state_thread *threads;
	uint32_t nthreads, threads_cap;
	struct table64 by_tid; /* process << 32 | tid; or STATE_BY_LOOM | loom << 32 | tid */
	struct state_cpu *cpus;
	uint32_t ncpus;
	struct table64 cpu_index; /* loom << 32 | index */

	struct state_entry *entries;
	uint32_t nentries, entries_cap;
	uint32_t free_entry; /* list of free entries, linked by `below` */
	struct state_stack *stacks;
	uint32_t nstacks, stacks_cap;
	struct table64 stack_index; /* thread << 8 | id */

	struct state_units units;
	struct table64 label_numbers; /* model << 32 | number that ovniemu gives it -> hash of the label */
};

#define STATE_BY_LOOM ((uint64_t)1 << 63)

/* An event and its context. */
struct state_event {
	struct state_checker *checker;
	struct ovni_stream *stream;
	struct reader *r;
	const struct event *e;
	struct state_code *code;
	uint32_t thread;      /* in checker->threads, which may move */
	struct slice payload; /* p NULL: none */
	bool jumbo;
	bool too_large; /* a jumbo event whose data was dropped */
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

/* Returns the code of the event, for messages. */
static inline const char *state_name(const struct state_event *x)
{
	return x->code->cls->name.p; /* ended by a NUL */
}

/* ---- check.c ---- */

#define state_report(x, rule, ...)                                                                           \
	finding_add((x)->r->findings, &ovni_rules[rule], (x)->e->offset, 0, __VA_ARGS__)

/* Return whether the payload has n bytes (not exact: or more); whether the event is a jumbo event.  If not,
 * report OVNI_RULE_PAYLOAD_REFUSED, except for a payload that was dropped. */
bool state_has_payload(const struct state_event *x, uint32_t n, bool exact);
bool state_is_jumbo(const struct state_event *x);

/* Returns the number at this offset of the payload; 0: the payload has no such field. */
uint32_t state_u32(const struct state_event *x, uint8_t offset);
void state_no_memory(const struct state_event *x);
void state_limit(const struct state_event *x, const char *what, uint32_t max);

/* ---- thread.c ---- */

/* Sets x->thread.  Returns false if the thread cannot be tracked. */
bool state_find_thread(struct state_event *x);
void state_check_life(const struct state_event *x);
void state_check_affinity(const struct state_event *x);
void state_check_flush(const struct state_event *x);
void state_check_progress(const struct state_event *x);
void state_check_burst(const struct state_event *x);

/* ---- stack.c ---- */

/* body: see state_entry; quiet: reports nothing. */
void state_push(const struct state_event *x, uint8_t id, uint64_t value, bool body, bool quiet);

/* Pops the value and all above it.  Returns the number of popped values; 0: the value is not on the stack. */
uint32_t state_pop(const struct state_event *x, uint8_t id, uint64_t value, bool quiet);
const struct state_entry *state_top(const struct state_checker *c, uint32_t thread, uint8_t id);

void state_check_stack(const struct state_event *x);
void state_check_mark(const struct state_event *x);
void state_check_counters(const struct state_event *x);

/* ---- task.c ---- */

void state_check_task(const struct state_event *x);
void state_check_worksharing(const struct state_event *x);

/* Returns the index of the unit with this key, or TABLE_NONE. */
uint32_t state_unit_find(const struct state_units *t, uint64_t key);

/* Adds a new key; returns TABLE_NONE if the table is full (state_units_are_full()), or on OOM. */
uint32_t state_unit_add(struct state_units *t, uint64_t key);
bool state_units_are_full(const struct state_units *t);

/* Evicts normal tasks and bodies that have ended, and counts them.  Returns false on OOM. */
bool state_units_evict(struct state_units *t, uint32_t *evicted);
void state_units_free(struct state_units *t);

#endif
