"""The figures of a device as an SVG plot."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from relaunch.commands.bench.figures import UnfitError

POINTERS = {"dlpack": "tensors", "object": "plain objects with data_ptr()"}


def pyplot() -> Any:
    """matplotlib's pyplot, drawing to files. Raises UnfitError where it cannot be imported."""
    try:
        importlib.import_module("matplotlib").use("svg")
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise UnfitError(f"--svg needs matplotlib ({error}): pip install matplotlib") from error


def draw(figures: Sequence[Mapping[str, Any]], about: Mapping[str, str], path: Path) -> None:
    """Warm medians over the number of arguments, a line for each launcher, a panel for each kind of pointers."""
    drawn = [figure for figure in figures if figure["cache"] == "warm"]
    library = pyplot()
    chart, panels = library.subplots(1, len(POINTERS), figsize=(11, 4.5), sharey=True, layout="constrained")
    for panel, (pointers, title) in zip(panels, POINTERS.items(), strict=True):
        for what in dict.fromkeys(figure["what"] for figure in drawn):
            kinds = (pointers, "none")  # a launch without arguments belongs to both panels
            own = sorted((f["size"], f["median"]) for f in drawn if f["what"] == what and f["pointers"] in kinds)
            if own:
                places, values = zip(*own, strict=True)
                style = {"color": "black", "linestyle": "--"} if what == "floor" else {"marker": "o", "markersize": 3}
                panel.plot(places, [value / 1000 for value in values], label=what, **style)
        panel.set_title(title)
        panel.set_xlabel("arguments")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("µs per launch, median")
    panels[0].set_ylim(bottom=0)
    panels[0].legend(fontsize="small")
    chart.suptitle(", ".join(about[key] for key in ("device", "driver", "tensors") if key in about))
    chart.savefig(path)
    library.close(chart)
