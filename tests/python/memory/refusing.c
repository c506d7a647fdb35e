/* Calls made while memory is refused: the extension over the allocator that is loaded in front of
 * the C library. */
#include <Python.h>

#include "allocator.h"

#define DOMAINS 3

static PyMemAllocatorEx originals[DOMAINS];
static long python_blocks;

static void* counted(void* memory) {
  python_blocks += memory != NULL;
  return memory;
}

static void* python_malloc(void* context, size_t size) {
  const PyMemAllocatorEx* original = context;
  return refuse_now(REFUSE_PYTHON) ? NULL : counted(original->malloc(original->ctx, size));
}

static void* python_calloc(void* context, size_t count, size_t size) {
  const PyMemAllocatorEx* original = context;
  return refuse_now(REFUSE_PYTHON) ? NULL : counted(original->calloc(original->ctx, count, size));
}

static void* python_realloc(void* context, void* old, size_t size) {
  const PyMemAllocatorEx* original = context;
  if (refuse_now(REFUSE_PYTHON)) return NULL;
  void* memory = original->realloc(original->ctx, old, size);
  return old == NULL ? counted(memory) : memory;
}

static void python_free(void* context, void* memory) {
  const PyMemAllocatorEx* original = context;
  python_blocks -= memory != NULL;
  original->free(original->ctx, memory);
}

static void hook_domains(void) {
  const PyMemAllocatorDomain domains[DOMAINS] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM,
                                                 PYMEM_DOMAIN_OBJ};
  for (int i = 0; i < DOMAINS; ++i) {
    PyMem_GetAllocator(domains[i], &originals[i]);
    PyMemAllocatorEx hook = {&originals[i], python_malloc, python_calloc, python_realloc,
                             python_free};
    PyMem_SetAllocator(domains[i], &hook);
  }
}

/* call(source, nth, lasting, function, args, kwargs): the result, or what was raised. Nothing of
 * Python's is asked for between the arming and the call. `refused()` says afterwards how many calls
 * of the allocator were refused. */
static long last_refused;

static PyObject* call(PyObject* self, PyObject* args) {
  int source, lasting;
  long nth;
  PyObject *function, *given, *named;
  (void)self;
  if (!PyArg_ParseTuple(args, "ilpOO!O!", &source, &nth, &lasting, &function, &PyTuple_Type, &given,
                        &PyDict_Type, &named)) {
    return NULL;
  }
  if (PyDict_GET_SIZE(named) == 0) named = NULL;
  refuse_arm(source, nth, lasting);
  PyObject* result = PyObject_Call(function, given, named);
  last_refused = refuse_disarm();
  return result;
}

static PyObject* refused(PyObject* self, PyObject* args) {
  (void)self;
  (void)args;
  return PyLong_FromLong(last_refused);
}

/* Blocks of Python's domains and of the C library that are in use, the latter with those of the
 * former. */
static PyObject* blocks(PyObject* self, PyObject* args) {
  (void)self;
  (void)args;
  const long python = python_blocks;
  const long all = blocks_in_use();
  return Py_BuildValue("ll", python, all);
}

static PyMethodDef methods[] = {
    {"call", call, METH_VARARGS, NULL},
    {"refused", refused, METH_NOARGS, NULL},
    {"blocks", blocks, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "refusing", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_refusing(void) {
  hook_domains();
  return PyModule_Create(&module);
}
