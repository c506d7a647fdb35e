/* Reads a signature, binds it and launches it once:
 *
 *   launch DRIVER SIGNATURE GRID_X VALUE...
 *   launch DRIVER --load FILE KERNEL SIGNATURE GRID_X VALUE...
 *
 * DRIVER is the path or name of a CUDA driver: libcuda.so.1, or a recording driver, which gets by
 * without a kernel. There is a VALUE for every argument of the kernel: an integer, a number, an
 * address, or @N for N bytes of device memory filled with zeros, which are shown after the launch.
 * Prints the plan, and what a recording driver was asked. Exit 0 launched, 1 refused, 2 wrong use.
 */
#include <relaunch/relaunch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define MOST_PARAMETERS 128
#define SHOWN_BYTES 16

typedef struct argument {
  relaunch_parameter parameter;
  union {
    uint64_t bits; /* little-endian: the low bytes are the narrower integer */
    float single;
    double wide;
  } value;
  size_t buffer; /* bytes of device memory, 0 for none */
} argument;

static int refused(const char* what) {
  relaunch_error error = {.size = sizeof error};
  relaunch_last_error(&error);
  fprintf(stderr, "launch: %s: %s\n", what, error.message);
  if (error.status == RELAUNCH_ERROR_SIGNATURE) {
    fprintf(stderr, "%s at bytes %zu to %zu\n", error.code, error.span_begin, error.span_end);
  }
  return 1;
}

/* 0, or -1 where the word is no value of the parameter. */
static int read_value(const cuda_driver* driver, const char* word, argument* out) {
  const char* const type = out->parameter.type;
  char* end = NULL;
  if (word[0] == '@' && type[0] == '*') {
    out->buffer = strtoull(word + 1, &end, 0);
    if (*end != '\0' || driver->allocate(&out->value.bits, out->buffer) != 0) return -1;
    return driver->fill(out->value.bits, 0, out->buffer) == 0 ? 0 : -1;
  }
  if (strcmp(type, "fp32") == 0) {
    out->value.single = strtof(word, &end);
  } else if (strcmp(type, "fp64") == 0) {
    out->value.wide = strtod(word, &end);
  } else { /* an fp16 by its bits */
    out->value.bits = word[0] == '-' ? (uint64_t)strtoll(word, &end, 0) : strtoull(word, &end, 0);
  }
  return *word == '\0' || *end != '\0' ? -1 : 0;
}

static void show_buffer(const cuda_driver* driver, const argument* shown) {
  unsigned char bytes[SHOWN_BYTES];
  const size_t size = shown->buffer < SHOWN_BYTES ? shown->buffer : SHOWN_BYTES;
  if (driver->copy_to_host(bytes, shown->value.bits, size) != 0) return;
  printf("%s:", shown->parameter.name);
  for (size_t i = 0; i < size; ++i) printf(" %02x", bytes[i]);
  printf("\n");
}

/* Describes the plan into `arguments`, hidden ones too, and prints it. 0, or an exit status. */
static int show_plan(const relaunch_launcher* launcher, relaunch_plan* plan, argument* arguments) {
  if (relaunch_describe(launcher, plan) != RELAUNCH_OK) return refused("describe");
  printf("%s(%s) for %s: %u parameters, %u bytes\n", plan->name, plan->signature, plan->dialect,
         plan->parameter_count, plan->kernel_bytes);
  if (plan->parameter_count > MOST_PARAMETERS) return 2;
  for (uint32_t i = 0; i < plan->parameter_count; ++i) {
    relaunch_parameter* const p = &arguments[i].parameter;
    p->size = sizeof *p;
    if (relaunch_describe_parameter(launcher, i, p) != RELAUNCH_OK) return refused("describe");
    printf("  %-16s %-8s offset %3u, %u bytes\n", p->name, p->type, p->kernel_offset,
           p->kernel_size);
  }
  return 0;
}

static int launch(const relaunch_launcher* launcher, const cuda_driver* driver, void* function,
                  char** words, size_t count) {
  argument arguments[MOST_PARAMETERS] = {0};
  void* values[MOST_PARAMETERS];
  uint32_t sizes[MOST_PARAMETERS];
  relaunch_plan plan = {.size = sizeof plan};
  const int wrong = show_plan(launcher, &plan, arguments);
  if (wrong != 0 || count - 1 > MOST_PARAMETERS) return wrong != 0 ? wrong : 2;
  for (uint32_t i = 0; i < plan.argument_count && i < count - 1; ++i) {
    if (read_value(driver, words[1 + i], &arguments[i]) != 0) {
      fprintf(stderr, "launch: '%s' is no %s\n", words[1 + i], arguments[i].parameter.type);
      return 2;
    }
  }
  for (uint32_t i = 0; i < MOST_PARAMETERS; ++i) {
    values[i] = &arguments[i].value;
    sizes[i] = arguments[i].parameter.slot_size;
  }
  if (driver->record_sizes != NULL) driver->record_sizes(sizes, plan.parameter_count);

  const uint32_t blocks = (uint32_t)strtoul(words[0], NULL, 0);
  const relaunch_launch_config config = {
      .size = sizeof config, .grid = {blocks, 1, 1}, .function = function};
  if (relaunch_launch(launcher, &config, values, count - 1) != RELAUNCH_OK) {
    return refused("launch");
  }
  const int status = driver->synchronize();
  printf("launched %u blocks, status %d\n", blocks, status);
  for (uint32_t i = 0; i < plan.argument_count; ++i) {
    if (arguments[i].buffer != 0) show_buffer(driver, &arguments[i]);
  }
  if (driver->recorded != NULL) printf("%s\n", driver->recorded());
  return status == 0 ? 0 : 1;
}

int main(int count, char** words) {
  const int loads = count > 3 && strcmp(words[2], "--load") == 0;
  const int at = loads ? 5 : 2; /* the signature */
  if (count < at + 2) {
    fprintf(stderr, "usage: launch DRIVER [--load FILE KERNEL] SIGNATURE GRID_X VALUE...\n");
    return 2;
  }
  cuda_driver driver = {0};
  if (open_driver(&driver, words[1]) != 0 || driver.init(0) != 0) return 2;

  relaunch_tree* tree = NULL;
  if (relaunch_parse(words[at], strlen(words[at]), &tree) != RELAUNCH_OK) return refused("parse");
  const relaunch_options options = {.size = sizeof options,
                                    .dialect = "triton-3.6-cuda",
                                    .driver = words[1],
                                    .name = loads ? words[4] : "kernel"};
  relaunch_launcher* launcher = NULL;
  const relaunch_status status = relaunch_bind(tree, &options, &launcher);
  relaunch_tree_free(tree);
  if (status != RELAUNCH_OK) return refused("bind");

  void* function = (void*)0xf00;
  int code = 2;
  if (relaunch_ensure_context(launcher) != RELAUNCH_OK) {
    code = refused("context");
  } else if (!loads || load_kernel(&driver, words[3], words[4], &function) == 0) {
    code = launch(launcher, &driver, function, words + at + 1, (size_t)(count - at - 1));
  }
  relaunch_launcher_free(launcher);
  return code;
}
