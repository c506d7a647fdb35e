"""`./run pages [FOLDER]`: every page that relaunch writes, opened in headless Chromium and looked over.

Each is made from hostile texts. What is checked: its script runs without an error, no text became markup, the search
finds, nothing was asked of a network, and no window is too narrow. Screenshots are left in FOLDER (build/pages).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

from relaunch.differential import page
from relaunch.differential.case import Case, Signature
from relaunch.differential.diff import Fault, Tally
from relaunch.differential.divergence import divergences
from relaunch.differential.examples import Example

ROOT = Path(__file__).resolve().parents[1]
HOSTILE = "</script></pre><img src=x onerror=\"document.title='owned'\">&amp;'\u2028\x1b[31m\ud800<!--<script>"
SIGNATURE: Signature = ("*fp32", f"tensordesc<fp16[64, 64],{HOSTILE}>", ("i32", ("fp16", "constexpr")))
WINDOWS = {"wide": (1300, 1600), "narrow": (500, 2400)}

# In front of all scripts, and behind them.
_BEFORE = "<script>const wrong = []; addEventListener('error', event => wrong.push(String(event.message)));</script>"
_BEHIND = """<script>{
const seen = () => [document.getElementById("shown").textContent, document.querySelectorAll("#rows td.tag").length];
const markup = document.querySelectorAll("img, [onerror], pre *, .rows td :not(details, summary, pre)").length;
const before = seen(), box = document.getElementById("words");
box.value = "UNexplained ONERROR"; box.dispatchEvent(new Event("input"));
const found = seen();
box.value = "no-such-word-anywhere"; box.dispatchEvent(new Event("input"));
document.documentElement.dataset.checked = JSON.stringify({wrong, before, found, nothing: seen(),
  title: document.title, markup,
  asked: performance.getEntriesByType("resource").length, scripts: document.scripts.length,
  width: document.documentElement.scrollWidth, inner: innerWidth});
}</script>"""


def hostile_tallies() -> list[Tally]:
    """Two dialects: one in which nothing differs, one with everything that a report can show."""
    quiet = Tally("triton-3.6-hip", (("*fp32", "i32"),), launches=700, rejections=200, nothing=40, seconds=1.5)
    loud = Tally("triton-3.0-cuda", (SIGNATURE, ()), [(("<b>i3",), f"no type '{HOSTILE}'")], 100_000, 20_000, 1000, 3)
    loud.wanted = 4000
    for number, entry in enumerate(divergences()):
        if "triton-3.0-cuda" in entry.dialects:
            loud.divergences[entry.id] = 10 ** (number % 5)
            loud.examples[entry.id] = case(f"example-{number}")
    did = {"events": [{"call": HOSTILE, "params": ["00ff"]}], "error": None}
    refused = {"events": [], "error": {"type": "ValueError", "text": HOSTILE}}
    loud.faults = [Fault(case(f"case-{i}"), did, refused, f"error: expected null, got {HOSTILE}", ()) for i in range(3)]
    return [quiet, loud]


def case(name: str) -> Case:
    """A call with a hostile argument."""
    call: dict[str, Any] = {"grid": [1, 1, 1], "stream": "0x0", "args": [{"str": HOSTILE}, None, 7]}
    return Case(name, "3.0.0", "cuda", SIGNATURE, call)


def write_diff(path: Path) -> None:
    """The page of `relaunch diff`."""
    tallies = hostile_tallies()
    quiet, loud = tallies
    did, refused = loud.faults[0].expected, loud.faults[0].actual
    shown = [Example(entry, one, did, refused) for entry, one in loud.examples.items()]
    shown += [Example("launches", case("plain"), did, did), Example("deaths", case("dead"), {"crash": True}, refused)]
    page.write(
        path,
        tallies,
        title=f"a diff of {HOSTILE}",
        examples={loud.dialect: shown, quiet.dialect: [Example("nothing", case("native"), None, refused)]},
        smallest=loud.faults[:1],
        commands={fault.case.id: f"relaunch replay 'x{HOSTILE}'" for fault in loud.faults},
    )


def write_audit(path: Path) -> None:
    """The page of `relaunch audit`."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "<img src=x onerror=alert(1)>")
        tree.mkdir()
        for name in ("a", "<b>UNEXPLAINED", "c&d\n"):
            Path(tree, f"{name}.ttir").write_text(f"// {HOSTILE!r}")
        done = subprocess.run(
            [sys.executable, "-m", "relaunch", "audit", tree.parent, "--html", path], capture_output=True, check=False
        )
        if done.returncode != 1:
            raise SystemExit(done.stderr.decode())


def chromium(url: str, window: tuple[int, int], *options: str) -> str:
    """What one run of the browser writes."""
    with tempfile.TemporaryDirectory() as profile:
        size = f"--window-size={window[0]},{window[1]}"
        fixed = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ]
        command = ["chromium", *fixed, f"--user-data-dir={profile}", size, *options, url]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout


def faults_of(path: Path, window: tuple[int, int], rows: int) -> Iterator[str]:
    """What is wrong with a page in a window of that size; it has so many rows, one at least that the search finds."""
    text = path.read_text("utf-8")
    copy = path.with_suffix(".checked.html")
    copy.write_text(text.replace("<head>", "<head>" + _BEFORE, 1).replace("</body>", _BEHIND + "</body>"), "utf-8")
    dumped = chromium(copy.as_uri(), window, "--dump-dom")
    copy.unlink()
    match = re.search(r'data-checked="([^"]*)"', dumped)
    if match is None:
        yield "its script did not come to its end"
        return
    seen = json.loads(unescape(match[1]))
    title = re.search("<title>(.*?)</title>", text, re.DOTALL)
    expected = {
        "wrong": [],
        "before": [f"{rows} of {rows} shown", rows],
        "nothing": ["0 of 0 shown", 0],
        "title": unescape(title[1]) if title else None,
        "markup": 0,
        "asked": 0,
        "scripts": 3,
        "inner": window[0],
        "width": window[0],
    }
    yield from (f"{name}: expected {one!r}, got {seen[name]!r}" for name, one in expected.items() if seen[name] != one)
    if not 0 < seen["found"][1] < rows:
        yield f"the search found {seen['found']} of {rows}"


def main(folder: Path) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for name, write in (("diff", write_diff), ("audit", write_audit)):
        path = (folder / f"{name}.html").resolve()
        write(path)
        rows = len(re.findall(r"^\[\d+,\d+,", path.read_text("utf-8"), re.MULTILINE))
        for width, window in WINDOWS.items():
            for fault in faults_of(path, window, rows):
                wrong += 1
                print(f"{path} in a {width} window: {fault}")
            for shade, setting in (("light", 1), ("dark", 0)):
                shot = f"--screenshot={folder.resolve() / f'{name}-{width}-{shade}.png'}"
                chromium(path.as_uri(), window, f"--blink-settings=preferredColorScheme={setting}", shot)
    print(f"{wrong} faults; pages and screenshots in {folder}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build/pages"))
