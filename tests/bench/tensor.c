/* A tensor as a launcher sees torch's: data_ptr(), and DLPack's C exchange table (dlpack.h 1.3) on
 * its type as `__dlpack_c_exchange_api__`, a capsule named "dlpack_exchange_api".
 *
 *   Tensor(address: int, device: int = 2)   one float32 of an unowned address; 2 is kDLCUDA
 *   nothing(*arguments)                     does nothing: what is left is the interpreter's call
 *
 * The entries of the table that own or make tensors raise NotImplementedError. Built on demand as
 * the module bench_tensor. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>

struct Version {
  uint32_t major, minor;
};

struct Device {
  int32_t type, id;
};

struct View { /* DLTensor */
  void* address;
  struct Device device;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};

struct Table { /* DLPackExchangeAPI */
  struct Version version;
  const void* previous;
  int (*allocate)(void* prototype, void** out, void* context, void* set_error);
  int (*own)(void* object, void** out);
  int (*make)(void* owned, void** out);
  int (*view)(void* object, struct View* out);
  int (*stream)(int32_t device, int32_t id, void** out);
};

typedef struct {
  PyObject_HEAD unsigned long long address;
  int64_t shape, stride;
  int32_t device;
} Tensor;

static int refuse(void) {
  PyErr_SetString(PyExc_NotImplementedError, "a bench_tensor.Tensor is only looked at");
  return -1;
}
static int allocate(void* prototype, void** out, void* context, void* set_error) {
  (void)prototype, (void)out, (void)context, (void)set_error;
  return refuse();
}
static int own(void* object, void** out) {
  (void)object, (void)out;
  return refuse();
}
static int view(void* object, struct View* out) {
  Tensor* self = object;
  out->address = (void*)(uintptr_t)self->address;
  out->device.type = self->device;
  out->device.id = 0;
  out->ndim = 1;
  out->code = 2; /* kDLFloat */
  out->bits = 32;
  out->lanes = 1;
  out->shape = &self->shape;
  out->strides = &self->stride;
  out->byte_offset = 0;
  return 0;
}
static int stream(int32_t device, int32_t id, void** out) {
  (void)device, (void)id;
  *out = NULL;
  return 0;
}

static struct Table table = {{1, 3}, NULL, allocate, own, own, view, stream};

static int init(PyObject* object, PyObject* args, PyObject* keywords) {
  static char* names[] = {"address", "device", NULL};
  Tensor* self = (Tensor*)object;
  self->shape = self->stride = 1;
  self->device = 2;
  return PyArg_ParseTupleAndKeywords(args, keywords, "K|i", names, &self->address, &self->device) -
         1;
}

static PyObject* data_ptr(PyObject* self, PyObject* unused) {
  (void)unused;
  return PyLong_FromUnsignedLongLong(((Tensor*)self)->address);
}

static PyMethodDef methods[] = {{"data_ptr", data_ptr, METH_NOARGS, "The address."},
                                {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, PyType_GenericNew}, {Py_tp_init, init}, {Py_tp_methods, methods}, {0, NULL}};

static PyType_Spec spec = {"bench_tensor.Tensor", sizeof(Tensor), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

static PyObject* nothing(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  (void)self, (void)arguments, (void)count;
  Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"nothing", (PyCFunction)(void (*)(void))nothing, METH_FASTCALL, "Takes anything."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "bench_tensor", NULL, -1, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_bench_tensor(void) {
  PyObject* module = PyModule_Create(&definition);
  PyObject* type = PyType_FromSpec(&spec);
  PyObject* capsule = PyCapsule_New(&table, "dlpack_exchange_api", NULL);
  int failed = module == NULL || type == NULL || capsule == NULL ||
               PyObject_SetAttrString(type, "__dlpack_c_exchange_api__", capsule) < 0 ||
               PyObject_SetAttrString(module, "Tensor", type) < 0;
  Py_XDECREF(capsule);
  Py_XDECREF(type);
  if (!failed) return module;
  Py_XDECREF(module);
  return NULL;
}
