from typing import final

@final
class PyCUtensorMap:
    """Stand-in for Triton's class: a 128-byte tensor map at offset 128 of a 128-byte-aligned object."""

    def __new__(cls, map: bytes, /) -> PyCUtensorMap: ...

@final
class PyTDMDescriptor:
    """Stand-in for Triton's class: a descriptor of 48 or 80 bytes behind the object's header."""

    def __new__(cls, words: bytes, /) -> PyTDMDescriptor: ...

def compare(expected: bytes, got: bytes) -> str | None:
    """The first difference between two outcomes in canonical JSON, named, or None. A null among the
    params of an expected event is free. ValueError for text that is not JSON."""

def exchange_capsule(backend: str) -> object:
    """A class's `__dlpack_c_exchange_api__`: its tensors lie on that backend's kind of device, at the
    address that their attribute `answer` holds. ValueError for another backend."""
