/* relaunch without Python: the text of a signature to a tree, a tree to a bound launcher, a
 * launcher to launches. C11 and later; relaunch.hpp is the same for C++20.
 *
 * Status. A function that can fail returns a relaunch_status and leaves its outputs alone when it
 * does. relaunch_last_error() then has the words: they belong to the calling thread and stay until
 * the next failure in it. Nothing is launched by a launch that fails. No C++ exception leaves the
 * library.
 *
 * Structs begin with their size, which the caller sets to sizeof, and zero in any other field means
 * "not given". Later releases only append fields: a library takes the structs of its own release
 * and of earlier ones, and of later ones as long as what it does not know is zero.
 *
 * Threads. Trees and launchers never change once made: any number of threads may use one at once.
 * Freeing one while another thread uses it is the caller's fault. */
#ifndef RELAUNCH_RELAUNCH_H
#define RELAUNCH_RELAUNCH_H

/* NOLINTBEGIN(modernize-*): this is C. */
#include <stddef.h>
#include <stdint.h>

/* Grows with every incompatible change; the library's SONAME ends in it. */
#define RELAUNCH_ABI_VERSION 1

#if defined(__GNUC__)
#define RELAUNCH_API __attribute__((visibility("default")))
#else
#define RELAUNCH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum relaunch_status {
  RELAUNCH_OK = 0,
  RELAUNCH_ERROR_ARGUMENT = 1,  /* null, a struct of unknown size, a wrong count */
  RELAUNCH_ERROR_SIGNATURE = 2, /* the text cannot be read: code and span say what and where */
  RELAUNCH_ERROR_BIND = 3,      /* a signature or option that cannot be launched */
  RELAUNCH_ERROR_LIBRARY = 4,   /* the driver library cannot be opened or is none */
  RELAUNCH_ERROR_GRID = 5,      /* a grid dimension out of range */
  RELAUNCH_ERROR_DRIVER = 6,    /* the driver refused: driver_status says why */
  RELAUNCH_ERROR_MEMORY = 7,    /* out of host memory */
  RELAUNCH_ERROR_INTERNAL = 8   /* a fault of this library */
} relaunch_status;

/* Cluster scheduling policies. */
typedef enum relaunch_scheduling {
  RELAUNCH_SCHEDULING_UNSET = 0, /* what the dialect does */
  RELAUNCH_SCHEDULING_DEFAULT = 1,
  RELAUNCH_SCHEDULING_SPREAD = 2,
  RELAUNCH_SCHEDULING_LOAD_BALANCING = 3
} relaunch_scheduling;

typedef struct relaunch_tree relaunch_tree;         /* a parsed signature */
typedef struct relaunch_launcher relaunch_launcher; /* a plan bound to a driver */

/* RELAUNCH_ABI_VERSION of the library that was loaded. */
RELAUNCH_API uint32_t relaunch_abi_version(void);

/* The last failure in this thread. Texts are never null. */
typedef struct relaunch_error {
  uint32_t size;
  relaunch_status status; /* RELAUNCH_OK: nothing has failed in this thread */
  const char* message;
  const char* code;  /* "RL010": of RELAUNCH_ERROR_SIGNATURE, else "" */
  size_t span_begin; /* bytes of the signature's text, end one past the last */
  size_t span_end;
  int32_t driver_status; /* the driver's own code; 0 where it is not the driver's error */
  uint32_t reserved;
} relaunch_error;

RELAUNCH_API relaunch_status relaunch_last_error(relaunch_error* error);

/* Reads a signature in any form that `relaunch migrate` reads: "*fp32, i32, constexpr", dicts,
 * JSON. `length` is in bytes. The tree is freed by relaunch_tree_free, which takes null too. */
RELAUNCH_API relaunch_status relaunch_parse(const char* text, size_t length, relaunch_tree** tree);
RELAUNCH_API void relaunch_tree_free(relaunch_tree* tree);

/* The signature as one canonical line, which lives as long as the tree. Null for null. */
RELAUNCH_API const char* relaunch_tree_text(const relaunch_tree* tree);

/* How a kernel is launched; the options of Python's relaunch.Launcher. */
typedef struct relaunch_options {
  uint32_t size;
  uint32_t scheduling; /* a relaunch_scheduling */
  const char* dialect; /* "triton-3.6-cuda"; the one option that must be given */
  const char* name;    /* of the kernel, for messages; "kernel" */
  const char* driver;  /* path or name of the driver library; the dialect's own */
  void* function;      /* CUfunction or hipFunction_t; may come with each launch instead */
  int32_t num_warps;   /* 4 */
  int32_t num_ctas;    /* 1 */
  int32_t shared;      /* dynamic shared memory in bytes */
  int32_t warp_size;   /* in lanes; the dialect's */
  uint32_t cluster[3]; /* in CTAs. All zero: (num_ctas, 1, 1). To 3.5 beside num_ctas, and every
                          dimension of the grid is taken times it; later instead of num_ctas, and
                          the grid then counts CTAs */
  uint32_t preferred_cluster[3];
  int32_t cooperative; /* these four: zero is no, anything else yes */
  int32_t pdl;         /* programmatic dependent launch */
  int32_t non_portable_cluster;
  int32_t tensordesc_meta; /* tensordesc entries are passed as tensor maps, not taken apart */
} relaunch_options;

/* Makes the plan, opens the driver library (no driver function is called) and makes the launch
 * attributes. The tree may be freed afterwards; the launcher by relaunch_launcher_free, which takes
 * null too. */
RELAUNCH_API relaunch_status relaunch_bind(const relaunch_tree* tree,
                                           const relaunch_options* options,
                                           relaunch_launcher** launcher);
RELAUNCH_API void relaunch_launcher_free(relaunch_launcher* launcher);

/* What a launcher was bound to. Texts live as long as the launcher. */
typedef struct relaunch_plan {
  uint32_t size;
  uint32_t parameter_count; /* of the kernel, hidden ones included, which are last */
  uint32_t argument_count;  /* of these, how many a launch is given */
  uint32_t packed_bytes;    /* what relaunch_launch_packed takes */
  uint32_t kernel_bytes;    /* end of the kernel's parameter space */
  uint32_t reserved;
  const char* dialect;
  const char* name;
  const char* signature; /* the types: "*fp32, i32, (i32, *fp16)" */
} relaunch_plan;

RELAUNCH_API relaunch_status relaunch_describe(const relaunch_launcher* launcher,
                                               relaunch_plan* plan);

/* One parameter of the kernel. Texts live as long as the launcher. */
typedef struct relaunch_parameter {
  uint32_t size;
  uint32_t hidden;      /* 1: filled by the launch, not among its arguments */
  const char* name;     /* "" where the signature gives none */
  const char* type;     /* canonical: "*fp32", "i32", "nvTmaDesc" */
  uint32_t position;    /* in the flattened signature from 1, constexpr counted; 0 if hidden */
  uint32_t slot_offset; /* in bytes, in what relaunch_launch_packed takes */
  uint32_t slot_size;
  uint32_t kernel_offset; /* in bytes, in the kernel's parameter space */
  uint32_t kernel_size;
  uint32_t kernel_alignment;
} relaunch_parameter;

RELAUNCH_API relaunch_status relaunch_describe_parameter(const relaunch_launcher* launcher,
                                                         size_t index,
                                                         relaunch_parameter* parameter);

/* Makes the primary context of device 0 current in this thread if no context is. Launches take the
 * current context as it is, like cuLaunchKernelEx. Does nothing on HIP. */
RELAUNCH_API relaunch_status relaunch_ensure_context(const relaunch_launcher* launcher);

/* Where one launch goes. */
typedef struct relaunch_launch_config {
  uint32_t size;
  uint32_t grid[3]; /* blocks, or clusters where num_ctas is not 1; a zero launches nothing */
  void* stream;     /* CUstream or hipStream_t; the default stream */
  void* function;   /* the one of the options */
  uint64_t global_scratch; /* device addresses for hidden parameters; null */
  uint64_t profile_scratch;
} relaunch_launch_config;

/* Launches with one pointer per argument, in the order of the flattened signature without its
 * constexpr entries: to kernel_size bytes each, as cuLaunchKernel's kernelParams. Hidden parameters
 * are appended. Allocates nothing; the stack holds one pointer per parameter. */
RELAUNCH_API relaunch_status relaunch_launch(const relaunch_launcher* launcher,
                                             const relaunch_launch_config* config,
                                             void* const* arguments, size_t count);

/* The same with all arguments in one block of exactly packed_bytes bytes, each at its slot_offset.
 * The block is aligned to 8 bytes, or to 64 where a parameter's alignment is 64. */
RELAUNCH_API relaunch_status relaunch_launch_packed(const relaunch_launcher* launcher,
                                                    const relaunch_launch_config* config,
                                                    const void* packed, size_t bytes);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(modernize-*) */

#endif
