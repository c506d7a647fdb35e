from collections.abc import Callable, Iterable, Iterator, Sequence
from os import PathLike
from typing import Any, Final, Literal, Protocol, TextIO, TypeAlias, TypedDict, final

from typing_extensions import Self

ARG_CONSTEXPR: Final = 0
ARG_KERNEL: Final = 1
ARG_TUPLE: Final = 2

@final
class PyKernelArg:
    """One entry of a signature: a constexpr, a kernel parameter or a tuple of entries."""

    def __init__(
        self,
        nested_tuple: Iterable[PyKernelArg] | None = None,
        type: int = 1,
        dtype: str | None = None,
        name: str | None = None,
        span: tuple[int, int] | None = None,
        value: Any = None,
        hint: str | None = None,
    ) -> None: ...
    @property
    def type(self) -> int: ...
    @property
    def nested_tuple(self) -> tuple[PyKernelArg, ...] | None: ...
    @property
    def dtype(self) -> str | None: ...
    @property
    def name(self) -> str | None: ...
    @property
    def span(self) -> tuple[int, int] | None: ...
    @property
    def value(self) -> Any: ...
    @property
    def hint(self) -> str | None: ...
    def dump(self) -> str: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Tree:
    """A whole signature: a sequence of PyKernelArg, and the text it was read from."""

    def __init__(self, parameters: Iterable[PyKernelArg], text: str = "") -> None: ...
    @property
    def text(self) -> str: ...
    def dump(self) -> str: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: int) -> PyKernelArg: ...
    def __iter__(self) -> Iterator[PyKernelArg]: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class _HasDataPtr(Protocol):
    def data_ptr(self) -> int: ...

_Address: TypeAlias = int | _HasDataPtr | None
_Scratch: TypeAlias = _Address | Callable[[tuple[int, int, int], int], _Address]

class _Parameter(TypedDict):
    name: str
    type: str
    hidden: bool
    slot_offset: int
    slot_size: int
    size: int
    alignment: int
    offset: int

class BindError(ValueError):
    """A signature, option or driver library that cannot be bound; the text names the parameter or option."""

@final
class TensorMap:
    """A CUDA tensor map: 128 bytes at a 128-byte-aligned address, zero or a copy of `source`; a writable buffer."""

    def __init__(self, source: bytes | bytearray | memoryview | TensorMap | None = None) -> None: ...
    @classmethod
    def encode(
        cls,
        *,
        data_type: int,
        address: int,
        dims: Sequence[int],
        strides: Sequence[int],
        box: Sequence[int],
        element_strides: Sequence[int] | None = None,
        interleave: int | None = 0,
        swizzle: int | None = 0,
        l2_promotion: int | None = 0,
        oob_fill: int | None = 0,
        driver: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
    ) -> TensorMap:
        """What cuTensorMapEncodeTiled makes of these: innermost dimension first, strides in bytes, one less than dims.

        Raises BindError for numbers that do not fit, RuntimeError where the driver refuses.
        """

    def __buffer__(self, flags: int, /) -> memoryview: ...
    @property
    def address(self) -> int:
        """Host address of the 128 bytes: where an encode call may write."""

    def tma_desc_cpu_ptr(self) -> int:
        """The address, as Triton 3.2 to 3.4 asks for it."""

DIALECTS: Final[tuple[str, ...]]
"""Every dialect's name, in order of release."""

@final
class Plan:
    """Where a dialect puts every parameter of a signature; what a Launcher with the same options does.

    No driver is opened. Raises what Launcher does: BindError, SignatureError, AssertionError (tensordesc_meta).
    """

    def __init__(
        self,
        tree: Tree | str,
        *,
        dialect: str,
        constants: Iterable[int] | None = None,
        tensordesc_meta: Sequence[Any] | None = None,
    ) -> None: ...
    @property
    def dialect(self) -> str: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def signature(self) -> str: ...
    @property
    def arguments(self) -> int:
        """How many Python arguments a launch takes."""

    @property
    def parameters(self) -> tuple[_Parameter, ...]:
        """Every kernel parameter, hidden ones last; slot_* in host bytes, the rest in the kernel's."""

    @property
    def slots(self) -> tuple[int, ...]:
        """Host bytes of every kernel parameter, hidden ones last."""

    @property
    def parameter_bytes(self) -> int:
        """End of the kernel's parameter space."""

    @property
    def hidden_version(self) -> int:
        """Of the section of hidden parameters: 0 none, 1 one scratch pointer, 2 two."""

@final
class Launcher:
    """One kernel bound to one signature, for any number of threads.

    `launcher(grid_x, grid_y, grid_z, stream, *args)` launches; the arguments are those that the legacy
    launcher of the dialect takes, constexpr ones included, tuples as sequences.

    tree: the signature, or its text. function: the kernel's handle; without one only `launch` can be called.
    num_warps, num_ctas, shared (bytes), cooperative, pdl, warp_size (lanes, HIP): as in the kernel's metadata.
    constants (to 3.2): indices of entries that the kernel has folded; their arguments are looked at and not passed.
    tensordesc_meta: one dict (or None) per descriptor, as in the kernel's metadata; a descriptor with one is passed by
    value, without taken apart. A call gives for each descriptor what it stands for in the dialect (the tensor map, or
    base, shape, strides ...) or, for all of them, one object with base, shape, strides, padding and, from 3.7 on,
    round_f32_to_tf32; with metadata of swizzle, elem_size, elem_type, block_size and fp4_padded it is encoded.
    global_scratch, profile_scratch: None, an address, an object with data_ptr(), or a callable of (grid, stream)
    that gives one of these at each launch, before the enter hook. driver: a library's path or name.
    strict: unsigned values out of range raise and are not masked. round_bf16: to nearest even, not truncated.
    binary: the file of the kernel, as bytes or a path: one that takes other parameters is refused, and so is
    such a function, where the CUDA driver has its parameters (12.4 and later).
    cluster: CTAs by dimension. To 3.5 those that num_ctas asks for, (num_ctas, 1, 1) where it is not given; later
    instead of num_ctas, and the grid then counts CTAs. preferred_cluster, scheduling, non_portable_cluster: CUDA.

    Raises BindError for what cannot be bound. Launch errors are the built-in types that the dialect raises:
    TypeError, OverflowError, ValueError (grid, inaccessible address), RuntimeError (the driver), SystemError
    (HIP to 3.6: kernel_metadata is no tuple; to 3.4: tma_desc_cpu_ptr() raised, which is the cause), for a descriptor
    object also AssertionError (its last stride is not 1), KeyError (its metadata is incomplete) and NotImplementedError
    (HIP metadata, im2col), and whatever an argument or hook raises. The constructor raises AssertionError where
    tensordesc_meta has not one entry per descriptor. Arguments count from 1 in messages.
    """

    def __init__(
        self,
        tree: Tree | str,
        *,
        dialect: str,
        function: int | None = None,
        name: str = "kernel",
        num_warps: int = 4,
        num_ctas: int = 1,
        shared: int = 0,
        cooperative: bool = False,
        pdl: bool = False,
        warp_size: int | None = None,
        tensordesc_meta: Sequence[Any] | None = None,
        global_scratch: _Scratch = None,
        profile_scratch: _Scratch = None,
        driver: str | bytes | PathLike[str] | PathLike[bytes] | None = None,
        strict: bool = False,
        round_bf16: bool = False,
        cluster: Sequence[int] | None = None,
        preferred_cluster: Sequence[int] | None = None,
        scheduling: Literal["default", "spread", "load_balancing"] | None = None,
        non_portable_cluster: bool = False,
        constants: Iterable[int] | None = None,
        binary: bytes | bytearray | memoryview | str | PathLike[str] | None = None,
    ) -> None: ...
    def __call__(self, grid_x: int, grid_y: int, grid_z: int, stream: int, /, *args: Any) -> None: ...
    def launch(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: int,
        kernel_metadata: Sequence[int],
        launch_metadata: Any,
        enter_hook: Callable[[Any], Any] | None,
        exit_hook: Callable[[Any], Any] | None,
        /,
        *args: Any,
    ) -> None:
        """A launch as Triton's own launchers take it; function and kernel_metadata win over the constructor's.

        kernel_metadata: a tuple of num_warps, num_ctas and shared, to 3.5 also of cluster_x, cluster_y and cluster_z.
        From 3.7 on any sequence will do.
        """

    @property
    def name(self) -> str: ...
    @property
    def dialect(self) -> str: ...
    @property
    def signature(self) -> str: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def slots(self) -> tuple[int, ...]:
        """Host bytes of every kernel parameter, hidden ones last."""

    @property
    def parameters(self) -> tuple[_Parameter, ...]:
        """Every kernel parameter, hidden ones last; slot_* in host bytes, the rest in the kernel's."""

class LaunchEntry:
    """entry(*args) is target.launch(*args) where the target is a Launcher, else target(*args).

    A call of a Launcher with keywords goes to `call_with_keywords`, which a class made from this one provides.
    """

    def __new__(cls, target: Launcher | Callable[..., Any], /, *args: Any) -> Self: ...
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
    def retarget(self, target: Launcher | Callable[..., Any], /) -> None:
        """Calls go to `target` from now on; one that is under way ends where it began."""

    @property
    def target(self) -> Launcher | Callable[..., Any]: ...

def set_hook_chain(type: type | None, /) -> None:
    """A hook of exactly this class whose `calls` is an empty list is not called: its `__call__` must do nothing but
    call those. None for no class. TypeError."""

FORMS: Final[tuple[str, ...]]

class SignatureError(ValueError):
    """A signature that cannot be read; str() shows it with a caret. The span is in bytes of UTF-8."""

    code: str
    message: str
    span: tuple[int, int]
    text: str

class _Diagnostic(TypedDict):
    code: str
    severity: Literal["error", "warning"]
    message: str
    span: tuple[int, int]
    line: int
    column: int
    caret: str

@final
class Signature:
    """One signature of a file; without parameters where it has errors."""

    @property
    def source(self) -> str: ...
    @property
    def form(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def ok(self) -> bool: ...
    @property
    def tree(self) -> Tree: ...
    @property
    def diagnostics(self) -> list[_Diagnostic]: ...
    def to_json(self) -> str: ...
    def to_python(self) -> str: ...
    def to_csv(self) -> str: ...

def parse(text: str, form: str = "auto") -> Tree: ...
def render_finding(text: str, code: str, message: str, span: tuple[int, int]) -> str:
    """`line:col: CODE message` and the caret, as SignatureError shows them; span in bytes of UTF-8."""

def read_signatures(content: bytes, path: str, form: str = "auto") -> list[Signature]: ...

EMITTED: Final[tuple[str, ...]]

@final
class MigrateSession:
    """One run of `relaunch migrate`. emit: one of EMITTED, or empty for the report.

    out and error are what sys.stdout and sys.stderr are: text streams with a `buffer` for bytes. fixing: '', 'show' (a
    diff of what can be mended) or 'apply' (a diff, then the change); the two fix_ methods then take the place of read.
    """

    def __init__(self, form: str, emit: str, out: TextIO, error: TextIO, fixing: str = "") -> None: ...
    def read(self, read: Callable[[int], bytes], path: str) -> None: ...
    def fix_file(self, name: bytes) -> None: ...
    def fix_input(self, content: bytes) -> None: ...
    def unreadable(self, path: str, reason: str) -> None: ...
    def finish(self) -> int: ...

class BinaryError(ValueError):
    """A binary whose kernels cannot be read; str() says where, what was expected and found, and what to do.

    fault: unknown_format, unsupported, truncated, malformed, contradictory, no_kernel, no_such_kernel or
    several_kernels. offset: bytes from the start. line: from 1, in text only.
    """

    fault: str
    offset: int
    line: int | None
    expected: str
    found: str
    kernel: str | None

class _KernelParameter(TypedDict):
    name: str | None
    kind: str | None
    offset: int
    size: int
    alignment: int | None
    hidden: bool

class _PlannedParameter(TypedDict):
    name: str | None
    type: str
    offset: int
    size: int
    hidden: bool

@final
class KernelParameters:
    """A kernel's own parameter table, as its binary has it."""

    @property
    def kernel(self) -> str: ...
    @property
    def format(self) -> Literal["cubin", "ptx", "hsaco", "amdgcn"]: ...
    @property
    def bytes(self) -> int:
        """Of the whole parameter block."""

    @property
    def base(self) -> int:
        """Where the block begins in its memory bank; alignments count from the bank's start."""

    @property
    def parameters(self) -> tuple[_KernelParameter, ...]:
        """In the order of a launch; hidden ones are filled by the runtime itself."""

@final
class Verification:
    """How a signature compares to a kernel."""

    @property
    def fits(self) -> bool: ...
    @property
    def dialect(self) -> str: ...
    @property
    def call(self) -> str:
        """`name(types)`."""

    @property
    def message(self) -> str:
        """What does not fit, in one line; empty where it fits."""

    @property
    def difference(self) -> int | None:
        """Index of the first parameter that differs in size or offset."""

    @property
    def layouts(self) -> str:
        """Both layouts side by side, the first difference marked."""

    @property
    def planned(self) -> tuple[_PlannedParameter, ...]: ...
    @property
    def found(self) -> tuple[_KernelParameter, ...]: ...
    @property
    def descriptors_by_value(self) -> tuple[bool, ...]:
        """For each descriptor of the signature, how it was compared."""

def read_kernels(content: bytes | bytearray | memoryview) -> list[KernelParameters]:
    """Every kernel of a cubin, PTX, AMDGPU code object or assembly, at least one. Raises BinaryError."""

def find_kernel(kernels: list[KernelParameters], name: str = "") -> KernelParameters:
    """The kernel of that name, or the only one where none is given. Raises BinaryError."""

def verify_kernel(
    kernel: KernelParameters,
    tree: Tree | str,
    *,
    dialect: str,
    constants: Iterable[int] | None = None,
    tensordesc_meta: Sequence[Any] | None = None,
) -> Verification:
    """Compare sizes and offsets of every parameter. Without tensordesc_meta every way to pass descriptors is tried.

    Raises BindError for what the dialect cannot launch, SignatureError, AssertionError (tensordesc_meta).
    """
