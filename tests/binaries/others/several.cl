typedef struct { char bytes[48]; } Wide;
__kernel void mix(uchar a, __global float* restrict p, Wide w, ushort h, __local int* scratch) {
  uint i = __builtin_amdgcn_workitem_id_x();
  scratch[i] = a;
  p[i] = w.bytes[3] + h + scratch[0] + *(const __constant uchar*)__builtin_amdgcn_implicitarg_ptr();
}
__kernel void none(void) {}
__kernel void second(__global long* out, double d, char c) { out[0] = d + c; }
