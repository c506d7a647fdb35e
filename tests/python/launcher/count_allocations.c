/* Loaded in front of the C library: counts calls of its allocator while told to.
 *
 *   count_allocations(1) begins, count_allocations(0) ends and returns how many there were */
#define _GNU_SOURCE
#include <stddef.h>

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* memory, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);

static volatile int counting;
static volatile long counted;

long count_allocations(int on) {
  const long found = counted;
  counted = 0;
  counting = on;
  return found;
}

void* malloc(size_t size) {
  counted += counting;
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  counted += counting;
  return __libc_calloc(count, size);
}
void* realloc(void* memory, size_t size) {
  counted += counting;
  return __libc_realloc(memory, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  counted += counting;
  return __libc_memalign(alignment, size);
}
