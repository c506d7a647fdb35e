/* What only C can time of a launch on a device: the floor, the pieces, and the walk that makes the
 * instruction cache cold. A shared object for ctypes.PyDLL, compiled on the spot.
 *
 * floor_open comes first. Times are nanoseconds; a negative one is minus the driver's status. */
#include <Python.h>
#include <cuda.h>
#include <dlfcn.h>
#include <stdint.h>
#include <time.h>

#define MOST_PARAMETERS 4096

/* A chain of jumps, one to each 64-byte line of 2 MiB: more than a core's instruction caches hold.
 */
extern void floor_walk(void);
#if defined(__x86_64__)
#define JUMP "jmp 1f\n"
#elif defined(__aarch64__)
#define JUMP "b 1f\n"
#else
#error "floor_walk is written for x86-64 and AArch64"
#endif
__asm__(
    ".text\n.balign 64\n.globl floor_walk\n.type floor_walk, @function\nfloor_walk:\n"
    ".rept 32768\n" JUMP ".balign 64\n1:\n.endr\nret\n.size floor_walk, . - floor_walk\n");

static struct {
  CUresult (*launch)(const CUlaunchConfig*, CUfunction, void**, void**);
  CUresult (*query)(void*, CUpointer_attribute, CUdeviceptr);
  CUresult (*context)(CUcontext*);
} driver;

static uint64_t values[MOST_PARAMETERS];
static void* parameters[MOST_PARAMETERS];

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* 0, or 1 where the library or one of its functions cannot be had. */
int floor_open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) return 1;
  *(void**)&driver.launch = dlsym(library, "cuLaunchKernelEx");
  *(void**)&driver.query = dlsym(library, "cuPointerGetAttribute");
  *(void**)&driver.context = dlsym(library, "cuCtxGetCurrent");
  for (int i = 0; i < MOST_PARAMETERS; ++i) parameters[i] = &values[i];
  return driver.launch == NULL || driver.query == NULL || driver.context == NULL;
}

static CUresult launch(void* function) {
  CUlaunchConfig config = {0};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128;
  config.blockDimY = config.blockDimZ = 1;
  return driver.launch(&config, (CUfunction)function, parameters, NULL);
}

/* `turns` launches, one after the other: the time of all. */
int64_t floor_burst(void* function, long turns) {
  const int64_t begin = now();
  for (long i = 0; i < turns; ++i) {
    const CUresult status = launch(function);
    if (status != CUDA_SUCCESS) return -(int64_t)status;
  }
  return now() - begin;
}

/* `turns` launches, each timed behind a walk. */
int64_t floor_cold(void* function, long turns, int64_t* times) {
  for (long i = 0; i < turns; ++i) {
    floor_walk();
    const int64_t begin = now();
    const CUresult status = launch(function);
    times[i] = now() - begin;
    if (status != CUDA_SUCCESS) return -(int64_t)status;
  }
  return 0;
}

/* The pieces, called `turns` times each with the interpreter's lock held: the time of all. */
int64_t piece_data_ptr(PyObject* tensor, long turns) {
  PyObject* name = PyUnicode_InternFromString("data_ptr");
  const int64_t begin = now();
  for (long i = 0; i < turns; ++i) {
    PyObject* address = PyObject_VectorcallMethod(name, &tensor, 1, NULL);
    if (address == NULL) return -1;
    Py_DECREF(address);
  }
  const int64_t taken = now() - begin;
  Py_DECREF(name);
  return taken;
}

int64_t piece_pointer_query(uint64_t address, long turns) {
  const int64_t begin = now();
  for (long i = 0; i < turns; ++i) {
    CUdeviceptr found = 0;
    const CUresult status =
        driver.query(&found, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, (CUdeviceptr)address);
    if (status != CUDA_SUCCESS) return -(int64_t)status;
  }
  return now() - begin;
}

int64_t piece_lock(long turns) {
  const int64_t begin = now();
  for (long i = 0; i < turns; ++i) {
    PyThreadState* state = PyEval_SaveThread();
    PyEval_RestoreThread(state);
  }
  return now() - begin;
}

int64_t piece_context(long turns) {
  const int64_t begin = now();
  for (long i = 0; i < turns; ++i) {
    CUcontext context = NULL;
    const CUresult status = driver.context(&context);
    if (status != CUDA_SUCCESS) return -(int64_t)status;
  }
  return now() - begin;
}

/* A tensor's address by its type's DLPack C exchange table; -1 where it has none. */
int64_t piece_dlpack(PyObject* tensor, long turns) {
  struct {
    uint64_t version;
    void *previous, *allocate, *own, *make;
    int (*view)(void*, void*);
  }* table = NULL;
  uint64_t view[6] = {0};
  PyObject* capsule =
      PyObject_GetAttrString((PyObject*)Py_TYPE(tensor), "__dlpack_c_exchange_api__");
  if (capsule != NULL) table = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
  Py_XDECREF(capsule);
  PyErr_Clear();
  if (table == NULL || table->view == NULL) return -1;
  const int64_t begin = now();
  for (long i = 0; i < turns; ++i) {
    if (table->view(tensor, view) != 0) {
      PyErr_Clear();
      return -1;
    }
  }
  return now() - begin;
}

/* The address and the kind of device of a torch tensor, given as a handle of torch's stable C
 * interface; -1 where there is no such torch. */
int64_t piece_torch(void* handle, long turns) {
  void* library = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
  int32_t (*type)(void*, int32_t*) = NULL;
  int32_t (*address)(void*, void**) = NULL;
  if (library == NULL) return -1;
  *(void**)&type = dlsym(library, "aoti_torch_get_device_type");
  *(void**)&address = dlsym(library, "aoti_torch_get_data_ptr");
  if (type == NULL || address == NULL) return -1;
  const int64_t begin = now();
  for (long i = 0; i < turns; ++i) {
    int32_t device = 0;
    void* found = NULL;
    if (type(handle, &device) != 0 || address(handle, &found) != 0) return -1;
  }
  return now() - begin;
}

int64_t piece_clock(long turns) {
  const int64_t begin = now();
  volatile int64_t read = 0;
  for (long i = 0; i < turns; ++i) read = now();
  (void)read;
  return now() - begin;
}
