#!/usr/bin/env python3
"""Opens the report of every committed run, and its pictures, in headless Chromium.

    scripts/report_check.py                    check
    scripts/report_check.py --screenshots DIR  check, and keep what it looked like

On a desk and on a phone, light and dark, with JavaScript and without: nothing is asked of the network, nothing is said on the
console, the page does not scroll sideways, no text leaves its drawing or lies on another one, none is tiny, every figure is drawn
once and its data open with a click. A run in which every text is hostile is reported and opened as well. Needs cargo, and python3
with venv and pip; Playwright comes from PyPI into a virtual environment that is thrown away, Chromium from apt where it is missing.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

import packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = ["playwright==1.65.2"]
WIDTHS = {"phone": 390, "tablet": 820, "desk": 1280}
# Schemes of colours, and whether JavaScript is on. A page that is the same in both needs no third look in the dark.
WAYS = [("light", True), ("dark", True), ("light", False)]
SMALLEST = 9.0
HOSTILE = "<script>alert(1)</script>\"><img src=x onerror=alert(2)>'&amp;\u0000\u000b\ufffe]]>"

# What the page itself can tell of how it is laid out: texts of one drawing that overlap, leave it or are tiny.
LAYOUT = """
smallest => {
  const faults = [];
  const shown = element => element.getClientRects().length > 0;
  for (const drawing of document.querySelectorAll('svg')) {
    if (!shown(drawing)) continue;
    const name = drawing.closest('figure')?.id ?? 'the drawing', frame = drawing.getBoundingClientRect();
    const scale = frame.width / drawing.viewBox.baseVal.width;
    const texts = [...drawing.querySelectorAll('text')].filter(text => text.textContent.trim() !== '');
    if (texts.length < 4) faults.push(`${name}: hardly any text`);
    const boxes = texts.map(text => {
      const box = text.getBoundingClientRect(), leans = (text.getAttribute('transform') ?? '').includes('rotate');
      const size = parseFloat(getComputedStyle(text).fontSize) * scale;
      return {words: text.textContent, box, leans, size};
    });
    for (const {words, box, size} of boxes) {
      if (size < smallest) faults.push(`${name}: "${words}" is ${size.toFixed(1)} px high`);
      if (box.left < frame.left - 2 || box.right > frame.right + 2 || box.top < frame.top - 2 || box.bottom > frame.bottom + 2)
        faults.push(`${name}: "${words}" leaves the drawing`);
    }
    const upright = boxes.filter(({leans}) => !leans);
    for (let one = 0; one < upright.length; one++) for (let other = one + 1; other < upright.length; other++) {
      const a = upright[one].box, b = upright[other].box;
      const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (wide > 1 && high > 0.35 * Math.min(a.height, b.height))
        faults.push(`${name}: "${upright[one].words}" lies on "${upright[other].words}"`);
    }
  }
  for (const figure of document.querySelectorAll('figure')) {
    const drawn = [...figure.querySelectorAll('svg')].filter(shown).length;
    if (drawn !== 1) faults.push(`${figure.id} is drawn ${drawn} times`);
    if (figure.querySelectorAll('details').length !== 1) faults.push(`${figure.id} has not its data one click away`);
  }
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) faults.push(`the page is ${root.scrollWidth} wide on ${root.clientWidth}`);
  if (document.querySelectorAll('script').length) faults.push('there is a script');
  const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
  for (const id of new Set(ids)) if (ids.filter(other => other === id).length > 1) faults.push(`two elements have the id ${id}`);
  return faults;
}
"""


def main():
    if not packages.are_there():
        sys.exit(packages.rerun_with(REQUIREMENTS))
    parser = argparse.ArgumentParser()
    parser.add_argument("--screenshots", type=pathlib.Path)
    parser.add_argument("runs", nargs="*", type=pathlib.Path)
    arguments = parser.parse_args()
    packages.build_votebench(ROOT)
    runs = arguments.runs or sorted(path.parent for path in (ROOT / "results").glob("*/results.json"))
    if not runs:
        sys.exit("report_check.py: no run is committed")
    faults = contrasts()
    with tempfile.TemporaryDirectory() as folder, Browser(arguments.screenshots) as browser:
        folder = pathlib.Path(folder)
        page, pictures = folder / "report.html", folder / "pictures"
        report(*runs, "--html", page, "--svg", pictures)
        faults += browser.check(page, "report", WIDTHS, WAYS)
        figures = browser.opened
        count = len(list(pictures.iterdir()))
        for picture in sorted(pictures.iterdir()):
            xml.etree.ElementTree.parse(picture)
            faults += browser.check(picture, picture.stem, {"desk": 1280}, WAYS[:2])
        bad = [hostile(run, folder / f"hostile-{run.name}") for run in runs]
        report(*bad, "--html", folder / "hostile.html", "--svg", folder / "hostile")
        # For names that are far too long no drawing has room: what is held against them is what they run, load and do to the page.
        found = browser.check(folder / "hostile.html", None, WIDTHS, WAYS[:1])
        faults += [fault for fault in found if "lies on" not in fault and "leaves the drawing" not in fault]
        for picture in (folder / "hostile").iterdir():
            xml.etree.ElementTree.parse(picture)
    if faults:
        sys.exit("\n".join(dict.fromkeys(faults)))
    print(f"{len(runs)} runs: {figures} figures with their data, {count} pictures: nothing loaded, nothing hidden")


def report(*words):
    subprocess.run([packages.votebench(ROOT), "report", *words], check=True)


class Browser:
    """Chromium, and what it has seen."""

    def __init__(self, screenshots):
        self.screenshots, self.opened = screenshots, 0

    def __enter__(self):
        from playwright.sync_api import sync_playwright

        self.playwright = sync_playwright().start()
        self.chromium = self.playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        return self

    def __exit__(self, *_):
        self.chromium.close()
        self.playwright.stop()

    def check(self, file, name, widths, ways):
        faults = []
        for device, width in widths.items():
            for scheme, scripts in ways:
                where = f"{file.name}, {device}, {scheme}, {'with' if scripts else 'without'} JavaScript: "
                found = self.open(file, name, device, width, scheme, scripts)
                faults += [where + fault for fault in found]
        return faults

    def open(self, file, name, device, width, scheme, scripts):
        faults = []
        context = self.chromium.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts,
            device_scale_factor=2 if width < 500 else 1,
        )
        page = context.new_page()
        page.on("console", lambda message: faults.append(f"the console says: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"an error: {error}"))
        page.on("dialog", lambda dialog: (faults.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url != file.as_uri() and faults.append(f"asks for {request.url}"))
        page.goto(file.as_uri())
        faults += page.evaluate(LAYOUT, SMALLEST)
        if self.screenshots and name and scripts:
            self.screenshots.mkdir(parents=True, exist_ok=True)
            picture = self.screenshots / f"{name}-{device}-{scheme}.png"
            # A drawing that is a document of its own has no body, whose height `full_page` would wait for.
            if file.suffix == ".svg":
                page.locator("svg").first.screenshot(path=picture)
            else:
                page.screenshot(path=picture, full_page=True)
        for summary in page.locator("figure summary").all():
            summary.click()
        tables = page.locator("figure details table")
        hidden = [place for place in range(tables.count()) if not tables.nth(place).is_visible()]
        if hidden:
            faults.append(f"{len(hidden)} data tables do not open")
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            faults.append("the page scrolls sideways with its data open")
        self.opened = max(self.opened, tables.count())
        context.close()
        return faults


def chromium():
    """Chromium's program; where there is none, apt's."""
    for attempt in range(2):
        for name in ["chromium", "chromium-browser", "google-chrome"]:
            if found := shutil.which(name):
                return found
        if attempt == 0:
            root = [] if os.getuid() == 0 else ["sudo"]
            subprocess.run([*root, "apt-get", "update", "-qq"], check=True)
            subprocess.run([*root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], check=True)
    sys.exit("report_check.py: there is no chromium, and apt has none")


def hostile(run, folder):
    """A copy of the run in which every text that is free to say anything is hostile."""
    results = json.loads((run / "results.json").read_text())
    for one in results["measurements"]:
        # A first word stays, so that a row is still found by what it is called.
        one["protocol"] += HOSTILE
        one["reason"] = HOSTILE
        if one["kind"] == "rate" and one["status"] == "ok":
            one["unfit"] = HOSTILE
        for setting in ["codec", "transport"]:
            if setting in one.get("settings", {}):
                one["settings"][setting] += HOSTILE
        if one.get("verdict"):
            one["verdict"]["against"] += HOSTILE
    results["conditions"].update(fit=False, reasons=[HOSTILE])
    for name in ["cpu", "kernel", "hypervisor"]:
        results["machine"][name] = HOSTILE
    results["source"]["rustc"] = HOSTILE
    folder.mkdir()
    (folder / "results.json").write_text(json.dumps(results))
    for file in run.iterdir():
        if file.name != "results.json":
            shutil.copy(file, folder)
    return folder


def contrasts():
    """Whether each text's colour stands out from what it stands on, as WCAG asks of texts (4.5 to 1)."""
    theme = (ROOT / "src/report/plot/theme.css").read_text()
    faults = []
    for scheme, block in zip(["light", "dark"], re.findall(r":root\{([^}]*)\}", theme), strict=True):
        colours = dict(re.findall(r"--(\w+):(#\w+)", block))
        for text in ["ink", "muted", "warn", "row"]:
            for ground in ["paper", "page"]:
                one, other = sorted(luminance(colours[name]) for name in [text, ground])
                if (other + 0.05) / (one + 0.05) < 4.5:
                    faults.append(f"{scheme}: {text} on {ground} has too little contrast")
        for line in [f"s{number}" for number in range(9)]:
            one, other = sorted(luminance(colours[name]) for name in [line, "paper"])
            if (other + 0.05) / (one + 0.05) < 3:
                faults.append(f"{scheme}: {line} on paper has too little contrast for a line")
    return faults


def luminance(colour):
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at:at + 2], 16) / 255 for at in [0, 2, 4]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


if __name__ == "__main__":
    main()
