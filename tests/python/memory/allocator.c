/* Loaded in front of the C library: its allocator, which refuses a call on demand and counts the
 * blocks in use.
 *
 *   refuse_arm(source, nth, lasting): from now on the nth call (from 0) that asks for memory is
 * refused, and all behind it too if `lasting`. Only calls of that source count: the C library's, or
 * Python's three domains, whose hooks ask refuse_now(REFUSE_PYTHON) themselves. refuse_disarm()
 * ends it and returns how many calls were refused. */
#define _GNU_SOURCE
#include "allocator.h"

#include <errno.h>
#include <stdint.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* memory);

static volatile int armed_source; /* 0: none */
static volatile int lasts;
static volatile long calls_left;
static volatile long refused;
static volatile long blocks;

void refuse_arm(int source, long nth, int lasting) {
  calls_left = nth;
  lasts = lasting;
  refused = 0;
  armed_source = source;
}

long refuse_disarm(void) {
  armed_source = 0;
  return refused;
}

int refuse_now(int source) {
  if (armed_source != source) return 0;
  if (calls_left > 0) {
    --calls_left;
    return 0;
  }
  if (refused != 0 && !lasts) return 0;
  ++refused;
  errno = ENOMEM;
  return 1;
}

long blocks_in_use(void) { return blocks; }

void* malloc(size_t size) {
  if (refuse_now(REFUSE_C)) return NULL;
  void* memory = __libc_malloc(size);
  blocks += memory != NULL;
  return memory;
}

void* calloc(size_t count, size_t size) {
  if (refuse_now(REFUSE_C)) return NULL;
  void* memory = __libc_calloc(count, size);
  blocks += memory != NULL;
  return memory;
}

void* realloc(void* old, size_t size) {
  if (refuse_now(REFUSE_C)) return NULL;
  void* memory = __libc_realloc(old, size);
  blocks += (old == NULL && memory != NULL) - (old != NULL && memory == NULL && size == 0);
  return memory;
}

void* memalign(size_t alignment, size_t size) {
  if (refuse_now(REFUSE_C)) return NULL;
  void* memory = __libc_memalign(alignment, size);
  blocks += memory != NULL;
  return memory;
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** memory, size_t alignment, size_t size) {
  void* made = memalign(alignment, size);
  if (made == NULL) return ENOMEM;
  *memory = made;
  return 0;
}

void free(void* memory) {
  blocks -= memory != NULL;
  __libc_free(memory);
}
