#ifndef PERFETTO_FIELDS_H
#define PERFETTO_FIELDS_H

/* Numbers of fields, as in Perfetto's protos/perfetto/trace (trace_packet.proto, track_event/, ...). */

/* Trace */
#define TRACE_PACKET 1

/* TracePacket */
#define PACKET_CLOCK_SNAPSHOT 6
#define PACKET_TIMESTAMP 8
#define PACKET_SEQUENCE 10
#define PACKET_TRACK_EVENT 11
#define PACKET_INTERNED 12
#define PACKET_FLAGS 13
#define PACKET_TRACK 60
#define PACKET_PERF_SAMPLE 66
#define PACKET_FIRST 87
#define PACKET_ATTRIBUTES 126
#define FLAG_CLEARED 1 /* interned data begins anew */
#define FLAG_NEEDED 2  /* the packet refers to interned data */

/* TrackDescriptor */
#define TRACK_UUID 1
#define TRACK_NAME 2
#define TRACK_PROCESS_INFO 3
#define TRACK_THREAD_INFO 4
#define TRACK_PARENT 5
#define TRACK_COUNTER 8
#define TRACK_RANK 12
#define TRACK_MERGE 15
#define MERGE_NONE 2
#define TRACK_PROCESS_ORDER 19
#define TRACK_THREAD_ORDER 20
#define ORDER_EXPLICIT 1

/* ProcessDescriptor, ThreadDescriptor, CounterDescriptor */
#define PROCESS_PID 1
#define PROCESS_NAME 6
#define PROCESS_LABELS 8
#define THREAD_PID 1
#define THREAD_TID 2
#define THREAD_NAME 5
#define COUNTER_UNIT 3
#define COUNTER_UNIT_NAME 6
#define UNIT_NS 1
#define UNIT_COUNT 2
#define UNIT_BYTES 3

/* TrackEvent */
#define EVENT_CATEGORY_IIDS 3
#define EVENT_ANNOTATIONS 4
#define EVENT_LEGACY 6
#define EVENT_TYPE 9
#define EVENT_NAME_IID 10
#define EVENT_TRACK 11
#define EVENT_CATEGORIES 22
#define EVENT_NAME 23
#define EVENT_COUNTER_VALUE 30
#define EVENT_DOUBLE_VALUE 44
#define EVENT_CALLSTACK_IID 56
#define TYPE_NONE 0
#define TYPE_BEGIN 1
#define TYPE_END 2
#define TYPE_INSTANT 3
#define TYPE_COUNTER 4

/* LegacyEvent */
#define LEGACY_PHASE 2
#define LEGACY_ID 6
#define LEGACY_ENCLOSING 12

/* DebugAnnotation */
#define ANNOTATION_NAME_IID 1
#define ANNOTATION_BOOL 2
#define ANNOTATION_UINT 3
#define ANNOTATION_INT 4
#define ANNOTATION_DOUBLE 5
#define ANNOTATION_STRING 6
#define ANNOTATION_POINTER 7
#define ANNOTATION_NAME 10
#define ANNOTATION_ENTRIES 11
#define ANNOTATION_VALUES 12
#define ANNOTATION_STRING_IID 17

/* InternedData */
#define INTERNED_CATEGORIES 1
#define INTERNED_NAMES 2
#define INTERNED_KEYS 3
#define INTERNED_FUNCTIONS 5
#define INTERNED_FRAMES 6
#define INTERNED_CALLSTACKS 7
#define INTERNED_STRINGS 29

/* ClockSnapshot, Clock, and ids of clocks */
#define SNAPSHOT_CLOCKS 1
#define CLOCK_ID 1
#define CLOCK_TIME 2
#define PERFETTO_CLOCK_REALTIME 1
#define PERFETTO_CLOCK_MONOTONIC 3
#define PERFETTO_CLOCK_TRACE 11

/* TraceAttributes */
#define ATTRIBUTE 1
#define ATTRIBUTE_KEY 1
#define ATTRIBUTE_LONG 2
#define ATTRIBUTE_STRING 3

/* PerfSample, Frame, Callstack, InternedString */
#define SAMPLE_CPU 1
#define SAMPLE_PID 2
#define SAMPLE_TID 3
#define SAMPLE_CALLSTACK 4
#define ENTRY_IID 1
#define ENTRY_TEXT 2
#define FRAME_FUNCTION 2
#define CALLSTACK_FRAMES 2

#endif
