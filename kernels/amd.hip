// Kernels for AMD's GPUs that take what the 3.6 HIP dialect passes, its two hidden parameters last.
// Compiled without HIP's headers or device library; nothing runs them here: their metadata is read.

#define GLOBAL __attribute__((global))

namespace {

__attribute__((device)) unsigned place() {
  constexpr unsigned kThreads = 256;
  return __builtin_amdgcn_workgroup_id_x() * kThreads + __builtin_amdgcn_workitem_id_x();
}

}  // namespace

// *fp32, *fp32, *fp32, i32
extern "C" GLOBAL void vector_add(const float* x, const float* y, float* out, int n,
                                  void* /*global_scratch*/, void* /*profile_scratch*/) {
  const unsigned i = place();
  if (i < static_cast<unsigned>(n)) out[i] = x[i] + y[i];
}

// *fp64, i8, u16, i32, u64, fp16, fp32, fp64, u1
extern "C" GLOBAL void scalars(double* out, signed char a, unsigned short b, int c, unsigned long d,
                               _Float16 e, float f, double g, bool flag, void* /*global_scratch*/,
                               void* /*profile_scratch*/) {
  if (place() != 0) return;
  *out = flag ? static_cast<double>(a) + b + c + static_cast<double>(d)
              : static_cast<double>(e) + f + g;
}

// (*fp32, (*fp32, fp32)), i32
extern "C" GLOBAL void pair(const float* x, float* out, float factor, int n,
                            void* /*global_scratch*/, void* /*profile_scratch*/) {
  const unsigned i = place();
  if (i < static_cast<unsigned>(n)) out[i] = x[i] * factor;
}
