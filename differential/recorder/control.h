/* The recorder's own entry points. Both recording drivers (libcuda.so.1 and libamdhip64.so) export
 * them beside the driver's symbols; each driver keeps its own journal. All are thread-safe. */
#ifndef RELAUNCH_RECORDER_CONTROL_H
#define RELAUNCH_RECORDER_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

enum { RELAUNCH_RECORDER_RECORD = 0, RELAUNCH_RECORDER_NULL = 1 };

/* Forgets every event, slot, failure, version and context, and records again (mode 0). */
void relaunch_recorder_reset(void);

/* Bytes of each parameter of the launches to come, hidden ones last. Until they are set, a launch
 * is recorded with "params": null, because nothing else says how much may be read. */
void relaunch_recorder_set_slots(const uint32_t* bytes, size_t count);

/* From now on, for good, every function got from a module has a handle of its own, and a launch of
 * a cubin's function is recorded with the sizes of its parameter table where no slots are set. */
void relaunch_recorder_own_handles(void);

/* The same sizes for one function, whose module has no table that is read here. */
void relaunch_recorder_set_function_slots(uint64_t function, const uint32_t* bytes, size_t count);

/* Makes the nth call (from 0, counted from now) of a driver function return `status`. The call is
 * still recorded. A version suffix is not part of the name: cuMemAlloc, not cuMemAlloc_v2. */
void relaunch_recorder_fail(const char* function, uint32_t nth, int status);

/* What cuDriverGetVersion or hipDriverGetVersion gives, 12010 for CUDA 12.1; 0 gives the recorder's
 * own again, as does a reset. */
void relaunch_recorder_driver_version(int version);

/* Bytes of shared memory that every function has of its own; 0 after a reset. */
void relaunch_recorder_static_shared(int bytes);

/* No thread has a current context until it sets one. */
void relaunch_recorder_no_context(void);

/* From now on every call of a driver function is listed, recorded or not; a reset ends it. */
void relaunch_recorder_list_calls(void);

/* The names of the listed calls in order as a JSON array. The text is valid until
 * relaunch_recorder_reset. */
const char* relaunch_recorder_calls(void);

/* RELAUNCH_RECORDER_RECORD, or RELAUNCH_RECORDER_NULL: answer as ever and record nothing. */
void relaunch_recorder_mode(int mode);

/* Appends one JSON object (a hook or an intake) among the driver's own events. */
void relaunch_recorder_note(const char* event_json);

/* All events so far as a JSON array. The text is valid until relaunch_recorder_reset. */
const char* relaunch_recorder_events(void);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
