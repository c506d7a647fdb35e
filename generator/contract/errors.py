"""Every error of a dialect that is not the caller's own: at which step, when, its type and its texts.

Words in braces stand for what varies. Texts of conversions are CPython 3.11's; other versions reword some of them.
Sources: the frozen facts; recorded calls in tests/golden, each of whose errors is one of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from relaunch.generator.facts import Facts, Step

NOT_AN_INT = "'{type}' object cannot be interpreted as an integer"
NOT_REAL = "must be real number, not {type}"
NO_DATA_PTR = "Pointer argument must be either uint64 or have data_ptr method"
NOT_64_BIT = "data_ptr method of Pointer object must return 64-bit int"
AFTER_LAUNCH = "; raised after the launch"

# The numbers in the text of an address that the device cannot reach.
_PLACES = {"original": " (at {index})", "flattened": " (at {index})", "none": "", "undefined": " (at {any number})"}


@dataclass(frozen=True)
class Refusal:
    """One error of one subject (a type, a part of the call). `about` are the kinds of argument that it needs, any of
    them; empty: every call can meet it.
    """

    step: Step
    subject: str
    when: str
    type: str
    texts: tuple[str, ...]
    about: frozenset[str] = frozenset()


_Refused = tuple[str, str, tuple[str, ...]]  # when, type, texts

_BEYOND_LONG = ("an int beyond a C long", "OverflowError", ("Python int too large to convert to C long",))
_NO_INDEX = ("no int, no `__index__`", "TypeError", (NOT_AN_INT,))
_NO_NUMBER = ("no number", "TypeError", (NOT_REAL,))
_BEYOND_DOUBLE = ("an int beyond a double", "OverflowError", ("int too large to convert to float",))
_NO_INT = ("no int", "TypeError", ("an integer is required",))
_TOO_BIG = ("an int out of range", "OverflowError", ("int too big to convert",))


def _out_of_range(kind: str) -> _Refused:
    texts = (f"{kind} is less than minimum", f"{kind} is greater than maximum")
    return "an int out of range", "OverflowError", texts


# What each way of conversion raises, by its name: when, type, texts.
CONVERSIONS: Mapping[str, tuple[_Refused, ...]] = {
    "b": (_out_of_range("unsigned byte integer"), _BEYOND_LONG, _NO_INDEX),
    "B": (_NO_INDEX,),
    "h": (_out_of_range("signed short integer"), _BEYOND_LONG, _NO_INDEX),
    "H": (_NO_INDEX,),
    "i": (_out_of_range("signed integer"), _BEYOND_LONG, _NO_INDEX),
    "I": (_NO_INDEX,),
    "l": (_BEYOND_LONG, _NO_INDEX),
    "L": (_TOO_BIG, _NO_INDEX),
    "K": (("no int", "TypeError", ("argument {place} must be int, not {type}",)),),
    "f": (_NO_NUMBER, _BEYOND_DOUBLE),
    "d": (_NO_NUMBER, _BEYOND_DOUBLE),
    "PyLong_AsLong": (_BEYOND_LONG, _NO_INDEX),
    "PyLong_AsLongLong": (_TOO_BIG, _NO_INDEX),
    "PyLong_AsUnsignedLong": (
        ("a negative int", "OverflowError", ("can't convert negative value to unsigned int",)),
        ("2^64 or more", "OverflowError", ("Python int too large to convert to C unsigned long",)),
        _NO_INT,
    ),
    "PyLong_AsUnsignedLongLong": (
        ("a negative int", "OverflowError", ("can't convert negative int to unsigned",)),
        ("2^64 or more", "OverflowError", ("int too big to convert",)),
        _NO_INT,
    ),
    "PyFloat_AsDouble": (_NO_NUMBER, _BEYOND_DOUBLE),
}


def refusals(found: Facts) -> list[Refusal]:
    """The errors of a dialect in the order of its steps."""
    every = [
        *_context(found),
        *_call(found),
        *_scalars(found),
        *_tuples(found),
        *_metadata(found),
        *_pointers(found),
        *_descriptors(found),
        *_launch(found),
    ]
    return sorted(every, key=lambda refusal: found.steps.index(refusal.step))


def _context(found: Facts) -> Iterator[Refusal]:
    if found.ensures_context:
        text = found.driver_error.replace("%s", "{reason}")
        yield Refusal(Step.CONTEXT, "context", "cannot be made current; raised at the end", "RuntimeError", (text,))


def _call(found: Facts) -> Iterator[Refusal]:
    if not found.native:
        text = "function takes exactly {expected} arguments ({given} given)"
        yield Refusal(Step.ARGUMENTS, "call", "another number of positional arguments", "TypeError", (text,))
    for refused in CONVERSIONS["i"]:
        yield Refusal(Step.ARGUMENTS, "grid dimension", *refused)
    for refused in CONVERSIONS["K"]:
        yield Refusal(Step.ARGUMENTS, "stream, function", *refused)


def _scalars(found: Facts) -> Iterator[Refusal]:
    step = Step.FLAT_ARGUMENTS if found.native else Step.ARGUMENTS
    for name, one in found.types.items():
        for refused in CONVERSIONS.get(one.format, ()):
            yield Refusal(step, name, *refused, frozenset({name}))
    packed = Step.PACKING in found.steps
    if packed or found.native:
        when = "a finite value of 65520 or more" + (AFTER_LAUNCH if packed else "")
        text = "float too large to pack with e format"
        yield Refusal(Step.PACKING if packed else step, "fp16", when, "OverflowError", (text,), frozenset({"fp16"}))


def _tuples(found: Facts) -> Iterator[Refusal]:
    about = frozenset({"tuple"})
    if found.native:
        text = "Expected kernel_args to be a sequence or iterable"
        yield Refusal(Step.FLAT_ARGUMENTS, "tuple", "not iterable", "TypeError", (text,), about)
    elif found.tuples:
        text = "argument {place} must be {expected}-item sequence, not {type}"
        yield Refusal(Step.ARGUMENTS, "tuple", "no sequence", "TypeError", (text,), about)
        text = "argument {place} must be sequence of length {expected}, not {given}"
        yield Refusal(Step.ARGUMENTS, "tuple", "another length", "TypeError", (text,), about)


def _metadata(found: Facts) -> Iterator[Refusal]:
    count, subject = len(found.metadata.elements), "kernel_metadata"
    if found.metadata.error:
        yield Refusal(Step.METADATA, subject, "anything wrong", "TypeError", (found.metadata.error,))
        return
    if found.metadata.any_sequence:
        text = f"argument {{place}} must be {count}-item sequence, not {{type}}"
        yield Refusal(Step.METADATA, subject, "no sequence", "TypeError", (text,))
        text = f"argument {{place}} must be sequence of length {count}, not {{given}}"
    else:
        text = "new style getargs format but argument is not a tuple"
        yield Refusal(Step.METADATA, subject, "no tuple", "SystemError", (text,))
        text = f"function takes exactly {count} arguments ({{given}} given)"
    yield Refusal(Step.METADATA, subject, "another length", "TypeError", (text,))
    for refused in CONVERSIONS["i"]:
        yield Refusal(Step.METADATA, f"element of {subject}", *refused)


def _pointers(found: Facts) -> Iterator[Refusal]:
    rules = found.pointers
    step = Step.FLAT_ARGUMENTS if found.native else Step.POINTERS
    about = frozenset() if found.scratch else frozenset({"pointer"})
    texts = ("can't convert negative int to unsigned", "int too big to convert")
    late = "; raised at the next int or float, else after the launch" if found.native else AFTER_LAUNCH
    wanted: list[_Refused] = [(f"an int below 0 or from 2^64 on{late}", "OverflowError", texts)]
    if rules.missing != "dies":
        late = AFTER_LAUNCH if rules.missing == "launched as 0" else ""
        wanted.append((f"no `data_ptr`{late}", "TypeError", (NO_DATA_PTR,)))
    if rules.raising == "replaced":
        wanted.append(("`data_ptr()` raises", "TypeError", (NO_DATA_PTR,)))
    wanted.append(("`data_ptr()` gives no int", "TypeError", (NOT_64_BIT,)))
    text = f"Pointer argument{_PLACES[rules.index]} cannot be accessed from Triton (cpu tensor?)"
    wanted.append(("the query answers invalid value", "ValueError", (text,)))
    if rules.other_status == "raised":
        text = found.driver_error.replace("%s", "{reason}")
        wanted.append(("the query fails otherwise", "RuntimeError", (text,)))
    for refused in wanted:
        yield Refusal(step, "pointer", *refused, about)


def _descriptors(found: Facts) -> Iterator[Refusal]:
    source = found.descriptor.source
    if source is None or source.how == "unchecked" or (source.how == "type" and found.backend == "hip"):
        return
    call, at = f"{source.member}()", source.alignment
    if source.how == "method":
        wanted = [
            (f"no `{source.member}`", "TypeError", f"{call} method does not exist"),
            (f"`{call}` raises", "SystemError", "Internal Python error!"),
            (f"`{call}` gives no int", "TypeError", f"{call} must return 64-bit int"),
            (f"`{call}` gives 0", "ValueError", f"received NULL ptr from {call}"),
            ("misaligned", "ValueError", f"{call} must be {at}-byte aligned"),
        ]
    else:
        text = f"{source.c_type} must be aligned to {at}B, but got (&map) mod {at} = {{rest}}"
        wanted = [
            ("another type", "TypeError", f"object must be of type {source.member}, got {{type}}"),
            ("misaligned", "ValueError", text),
        ]
    step = Step.FLAT_ARGUMENTS if found.native else Step.DESCRIPTORS
    for when, kind, text in wanted:
        yield Refusal(step, "descriptor", when, kind, (text,), frozenset({"descriptor"}))


def _launch(found: Facts) -> Iterator[Refusal]:
    text = found.driver_error.replace("%s", "{reason}").replace("%d", "{code}")
    if found.launch.non_portable:
        late = "" if found.launch.stops_at_failure else AFTER_LAUNCH
        yield Refusal(Step.LAUNCH, "cluster of 16", f"refused{late}", "RuntimeError", (text,))
    if "hipDrvLaunchKernelEx" in found.module.optional:
        missing = "missing hipDrvLaunchKernelEx symbol; please update HIP runtime"
        yield Refusal(Step.LAUNCH, "num_ctas > 1", "not known to the runtime", "RuntimeError", (missing,))
    yield Refusal(Step.LAUNCH, "launch", "refused by the driver", "RuntimeError", (text,))
