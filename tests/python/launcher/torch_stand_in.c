/* What relaunch uses of torch, in one shared object with the SONAME libtorch_cpu.so that is also
 * the extension module `torch_stand_in`: a type `TensorBase` whose objects point to a C++ tensor
 * (here an int64_t[2] of address and device), DLPack's C exchange on it, the two functions of
 * torch's stable C interface, and the two that turn tensors into handles and back.
 *
 *   TensorBase(address, device)   device in torch's numbers: 0 is the CPU, 1 CUDA
 *   counts() -> (exchanges, addresses, handles that are out)
 *   pretend(what)   "": nothing; "elsewhere": handles of another tensor; "twice": two places look
 *                   like the tensor; "other address": the functions say another address than the
 *                   exchange; "failing": they fail; "raising": no handle can be made */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  PyObject_HEAD int64_t* tensor;
  int64_t* other;
} TensorBase;

struct View { /* DLTensor */
  void* address;
  int32_t device, id, ndim;
  uint32_t type;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};

struct Table { /* DLPackExchangeAPI */
  uint32_t major, minor;
  const void *previous, *allocate, *own, *make;
  int (*view)(void* object, struct View* out);
  const void* stream;
};

static char pretended[16];
static long exchanges, addresses, handles;

static int pretends(const char* what) { return strcmp(pretended, what) == 0; }

static int view(void* object, struct View* out) {
  const int64_t* tensor = ((TensorBase*)object)->tensor;
  memset(out, 0, sizeof *out);
  out->address = (void*)tensor[0];
  out->device = tensor[1] == 0 ? 1 : 2;
  ++exchanges;
  return 0;
}

static struct Table table = {1, 3, NULL, NULL, NULL, NULL, view, NULL};

int32_t aoti_torch_get_device_type(int64_t** tensor, int32_t* type) {
  *type = (int32_t)(*tensor)[1];
  return 0;
}

int32_t aoti_torch_get_data_ptr(int64_t** tensor, void** address) {
  ++addresses;
  if (pretends("failing")) {
    PyErr_SetString(PyExc_RuntimeError, "left behind");
    return 1;
  }
  *address = (void*)((*tensor)[0] + (pretends("other address") ? 16 : 0));
  return 0;
}

static int64_t elsewhere[2];

static PyObject* make_handle(PyObject* self, PyObject* object) {
  (void)self;
  if (pretends("raising")) return PyErr_Format(PyExc_RuntimeError, "no handle");
  int64_t** handle = malloc(sizeof *handle);
  *handle = pretends("elsewhere") ? elsewhere : ((TensorBase*)object)->tensor;
  ++handles;
  return PyCapsule_New(handle, NULL, NULL);
}

static PyObject* take_handle(PyObject* self, PyObject* capsule) {
  (void)self;
  free(PyCapsule_GetPointer(capsule, NULL));
  --handles;
  Py_RETURN_NONE;
}

static PyObject* pretend(PyObject* self, PyObject* what) {
  (void)self;
  strncpy(pretended, PyUnicode_AsUTF8(what), sizeof pretended - 1);
  Py_RETURN_NONE;
}

static PyObject* counts(PyObject* self, PyObject* unused) {
  (void)self, (void)unused;
  return Py_BuildValue("(lll)", exchanges, addresses, handles);
}

static int init(PyObject* object, PyObject* args, PyObject* keywords) {
  (void)keywords;
  TensorBase* self = (TensorBase*)object;
  long long address = 0, device = 1;
  if (!PyArg_ParseTuple(args, "L|L", &address, &device)) return -1;
  self->tensor = malloc(2 * sizeof *self->tensor);
  self->tensor[0] = address;
  self->tensor[1] = device;
  self->other = pretends("twice") ? self->tensor : NULL;
  return 0;
}

static void dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  free(((TensorBase*)object)->tensor);
  type->tp_free(object);
  Py_DECREF(type);
}

static PyObject* data_ptr(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyLong_FromLongLong(((TensorBase*)self)->tensor[0]);
}

static PyMethodDef methods[] = {{"data_ptr", data_ptr, METH_NOARGS, "The address."},
                                {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, PyType_GenericNew},
                              {Py_tp_init, init},
                              {Py_tp_dealloc, dealloc},
                              {Py_tp_methods, methods},
                              {0, NULL}};

static PyType_Spec spec = {"torch_stand_in.TensorBase", sizeof(TensorBase), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

static PyMethodDef functions[] = {
    {"unsafe_alloc_void_ptr_from_tensor", make_handle, METH_O, "A handle."},
    {"alloc_tensor_by_stealing_from_void_ptr", take_handle, METH_O, "Frees a handle."},
    {"pretend", pretend, METH_O, "See above."},
    {"counts", counts, METH_NOARGS, "See above."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "torch_stand_in", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_torch_stand_in(void) {
  PyObject* module = PyModule_Create(&definition);
  PyObject* type = PyType_FromSpec(&spec);
  PyObject* capsule = PyCapsule_New(&table, "dlpack_exchange_api", NULL);
  int failed = module == NULL || type == NULL || capsule == NULL ||
               PyObject_SetAttrString(type, "__dlpack_c_exchange_api__", capsule) < 0 ||
               PyObject_SetAttrString(module, "TensorBase", type) < 0;
  Py_XDECREF(capsule);
  Py_XDECREF(type);
  if (!failed) return module;
  Py_XDECREF(module);
  return NULL;
}
