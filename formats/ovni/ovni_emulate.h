#ifndef OVNI_EMULATE_H
#define OVNI_EMULATE_H

#include "ovni/ovni_state.h"

/*
 * The group of rules "state": what the emulator of ovni refuses.  Threads live
 * and die, hold CPUs, open and close states on their stacks; tasks are made
 * from types and run as bodies.  The events of all streams come here in order
 * of time; what each of them does is told by the words that the vocabulary has
 * for the reader (schemas/ovni.yaml says which).
 *
 * After a broken rule the state becomes what the event wanted, so that one
 * fault is said once.  All tables have bounds (OVNI_EMU_...).
 */

/* ---- what a code does ---- */

enum emu_role {
	EMU_PLAIN, /* a state of a stack, or nothing */
	EMU_LIFE,
	EMU_AFFINITY,
	EMU_FLUSH,
	EMU_MARK,
	EMU_PROGRESS,
	EMU_TASK,
	EMU_WORKSHARING,
	EMU_COUNTERS
};

enum emu_step {
	EMU_NO_STEP,
	EMU_CREATE, /* lifecycle, task */
	EMU_EXECUTE,
	EMU_PAUSE,
	EMU_RESUME,
	EMU_END,
	EMU_COOL, /* lifecycle */
	EMU_WARM,
	EMU_CREATE_PARALLEL, /* task */
	EMU_TYPE,
	EMU_SELF, /* affinity */
	EMU_REMOTE,
	EMU_OPEN, /* flush */
	EMU_CLOSE,
	EMU_SET, /* mark */
	EMU_PUSH,
	EMU_POP,
	EMU_PROGRESSING, /* progress */
	EMU_RESTING,
	EMU_ABSORBING,
	EMU_BEGIN /* worksharing; its end is EMU_END */
};

enum emu_needs { EMU_ANY, EMU_ACTIVE, EMU_RUNNING };

#define EMU_NOWHERE 255 /* the payload has no such field */

struct emu_act {
	const struct class *cls; /* NULL: not yet looked at */
	struct slice value_text; /* the state: "13.3" */
	struct slice value_name; /* what people call it; p NULL: it has no fixed name */
	uint32_t value;
	uint8_t role, step, needs;
	uint8_t model; /* number of the model's word; 0: none */
	uint8_t stack; /* number of the stack's word; 0: none */
	int8_t move;   /* 1: pushes, -1: pops, 0: neither */
	uint8_t least; /* bytes of the payload's fields of fixed size */
	bool checked;  /* the vocabulary has words about it */
	bool refused;  /* the emulator knows no such event */
	bool on_cpu, jumbo, label, repeat_error, open_error;
	bool model_off; /* no stream requires its model */
	bool said;      /* refused, or of a model that is off: once for each code */
	uint8_t at_task, at_type, at_body, at_cpu, at_tid, at_value, at_mark; /* places in the payload */
};

/* ---- threads ---- */

enum emu_life { EMU_UNKNOWN, EMU_IS_RUNNING, EMU_IS_PAUSED, EMU_IS_COOLING, EMU_IS_WARMING, EMU_IS_DEAD };

#define EMU_CPU_NONE UINT32_MAX
#define EMU_CPU_VIRTUAL (UINT32_MAX - 1)
#define EMU_CPU_UNKNOWN (UINT32_MAX - 2) /* the loom's CPUs are not known, or there is none of that index */

struct emu_thread {
	uint64_t first;  /* clock of its first event */
	uint64_t flush;  /* clock at which its flush began */
	uint32_t stream; /* in order of paths */
	uint32_t process, loom;
	uint32_t scope;    /* of its tasks: the process, or itself where that is not known */
	uint32_t cpu;      /* in ovni_shared.cpus, or EMU_CPU_... */
	uint32_t progress; /* two bits for each model */
	int32_t pid, tid;
	uint8_t life; /* enum emu_life */
	bool flushing;
	bool out;                  /* the kernel took it off its CPU */
	bool said_needs, said_out; /* once for each turn of its life, of its being out */
};

struct emu_cpu {
	uint32_t running; /* threads */
	uint32_t who;     /* the one that came last */
};

/* ---- stacks: lists in one pool ---- */

#define EMU_DEPTH 512 /* the emulator's own bound */
#define OVNI_EMU_ENTRIES (512U << 10)
#define OVNI_EMU_STACKS (256U << 10)
#define EMU_STACK_NAMES 64   /* told by the vocabulary: 1 .. 63 */
#define EMU_STACK_MARKS 64   /* of mark type 0; 100 of them */
#define EMU_STACK_BODIES 176 /* of the tasks of model 0 */
#define EMU_MODELS 16

struct emu_entry {
	uint64_t value, offset;
	uint32_t below;    /* in entries; TABLE_NONE: the last */
	uint32_t cls : 31; /* what pushed it */
	uint32_t body : 1; /* a task's body, not a state alone */
};

struct emu_stack {
	uint32_t thread;
	uint32_t top; /* in entries, or TABLE_NONE */
	uint16_t depth;
	uint8_t id;
	uint32_t over; /* pushed beyond a bound: so many pops are not looked at */
};

/* ---- types, tasks, bodies: one table ---- */

#define OVNI_EMU_UNITS (1U << 20)

enum emu_unit_kind { EMU_UNIT_TYPE = 1, EMU_UNIT_TASK, EMU_UNIT_BODY };
enum emu_body { EMU_BODY_CREATED, EMU_BODY_RUNNING, EMU_BODY_PAUSED, EMU_BODY_DEAD };

struct emu_unit {
	uint64_t key; /* 0: forgotten */
	uint32_t
	    label; /* of a type or task: the hash of its text; of one that is forgotten: the next such, + 1 */
	uint32_t thread : 24; /* that runs it */
	uint32_t state : 4;   /* enum emu_body */
	uint32_t parallel : 1;
};

struct emu_units {
	struct emu_unit *units; /* in order of arrival */
	uint32_t *slots;        /* index + 1; 0: empty */
	uint32_t n, cap;
	uint32_t most; /* OVNI_EMU_UNITS but in tests */
	uint32_t mask;
	uint32_t free; /* the first forgotten one, + 1; 0: none */
	bool forgot;   /* not all that was added is known still */
	bool full;     /* some could not be added */
	uint64_t seed;
};

/* ---- all of it ---- */

struct ovni_emulator {
	struct emu_act *acts; /* by index of the class */
	uint32_t nacts;
	struct slice models[EMU_MODELS], stacks_names[EMU_STACK_NAMES]; /* words; the vocabulary keeps them */
	uint32_t nmodels, nstack_names;
	uint8_t kernel; /* number of the stack named so */
	struct tabletext values;
	uint32_t nvalues;

	struct emu_thread *threads;
	uint32_t nthreads, threads_cap;
	struct table64 by_tid; /* process << 32 | tid; or EMU_BY_LOOM | loom << 32 | tid */
	struct emu_cpu *cpus;
	uint32_t ncpus;
	struct table64 cpu_index; /* loom << 32 | index */

	struct emu_entry *entries;
	uint32_t nentries, entries_cap, free_entry; /* free ones are a list too */
	struct emu_stack *stacks;
	uint32_t nstacks, stacks_cap;
	struct table64 stack_index; /* thread << 8 | id */

	struct emu_units units;
	bool failed; /* no memory */
};

/* One event on its way through the rules. */
struct emu_step_of {
	struct ovni_state *st;
	struct ovni_shared *sh;
	struct ovni_emulator *em;
	const struct event *e;
	struct emu_act *act;
	uint32_t thread;          /* in em->threads, which may move */
	struct slice payload;     /* p NULL: none */
	bool has_jumbo, left_out; /* left_out: a jumbo too large to be kept */
};

static inline struct emu_thread *
emu_thread(const struct emu_step_of *x)
{
	return &x->em->threads[x->thread];
}

void emu_say(const struct emu_step_of *x, enum ovni_rule rule, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Says OVNI_RULE_PAYLOAD_REFUSED and answers false unless the payload has n bytes (at least n if not exact).
 */
bool emu_payload(const struct emu_step_of *x, uint32_t n, bool exact);
uint32_t emu_u32(const struct emu_step_of *x, uint8_t place); /* 0 where the payload has no such field */

/* ---- ovni_emulate_act.c ---- */
struct emu_act *emu_act_of(struct ovni_emulator *em, const struct ovni_shared *sh, const struct class *cls);

/* ---- ovni_emulate_thread.c ---- */
bool emu_thread_of(struct emu_step_of *x); /* sets x->thread; false: it cannot be kept */
void emu_life(const struct emu_step_of *x);
void emu_affinity(const struct emu_step_of *x);
void emu_flush(const struct emu_step_of *x);
void emu_progress(const struct emu_step_of *x);
bool emu_is_active(const struct emu_thread *t);

/* ---- ovni_emulate_stack.c ---- */
void emu_push(const struct emu_step_of *x, uint8_t id, uint64_t value, bool body, bool quiet);
/* How many it took away: none, if nothing of that value was there. */
uint32_t emu_pop(const struct emu_step_of *x, uint8_t id, uint64_t value, bool quiet);
const struct emu_entry *emu_top(const struct ovni_emulator *em, uint32_t thread,
                                uint8_t id); /* NULL: empty */
void emu_mark(const struct emu_step_of *x);

/* ---- ovni_emulate_task.c ---- */
void emu_task(const struct emu_step_of *x);
void emu_worksharing(const struct emu_step_of *x);
void emu_counters(const struct emu_step_of *x);

/* ---- ovni_emulate_units.c ---- */
/* The index, or TABLE_NONE. */
uint32_t emu_unit_find(const struct emu_units *t, uint64_t key);
/* One more, that is not there; TABLE_NONE: there are as many as may be (emu_units_are_full()), or there is no
 * memory. */
uint32_t emu_unit_add(struct emu_units *t, uint64_t key);
bool emu_units_are_full(const struct emu_units *t);
/* Forgets plain tasks and bodies that have ended; how many. */
uint32_t emu_units_forget(struct emu_units *t);
void emu_units_free(struct emu_units *t);

/* ---- ovni_emulate_end.c ---- */
void emu_check_end(struct reader *r, struct ovni_emulator *em);

#endif
