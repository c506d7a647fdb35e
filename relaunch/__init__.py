"""One precompiled GPU kernel launcher in place of C code generated per signature."""
