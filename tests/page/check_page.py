#!/usr/bin/env python3
"""Opens the tour's page in headless Chromium, as wide as a desk's screen and as a phone's, in light
and dark: all techniques are there, all pictures are drawn and have text, nothing sticks out, text
can be read on its ground, and no script fails.  check_page.py FOLDER with tour.html and tour.json.
Exit code 77 without Chromium."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# In the page: what a reader would see of it, sent to the page around it.
PROBE = """<script>addEventListener("load", () => {
const seen = element => { const box = element.getBoundingClientRect(); return box.width * box.height > 0; };
const named = element => (element.getAttribute("aria-label") || "").length > 10;
const pictures = [...document.querySelectorAll("svg,[role=img]")];
const style = getComputedStyle(document.body);
parent.postMessage(JSON.stringify({
  headings: [...document.querySelectorAll("h2")].filter(seen).map(h => h.textContent),
  links: [...document.querySelectorAll("a")].map(a => [a.textContent,
    document.querySelector(a.getAttribute("href")).querySelector("h2").textContent]),
  pictures: pictures.length, unseen: pictures.filter(p => !seen(p)).length,
  unnamed: pictures.filter(p => !named(p)).length,
  width: document.documentElement.scrollWidth, screen: innerWidth,
  ground: style.backgroundColor, ink: style.color}), "*"); });</script>"""

AROUND = """<!DOCTYPE html><meta charset=utf-8><pre id=probe></pre>
<script>addEventListener("message", m => document.querySelector("#probe").textContent = m.data);</script>
<iframe src="%s" style="border:0;width:%dpx;height:900px"></iframe>"""

failed = False


def check(condition, *what):
    global failed
    if not condition:
        failed = True
        print("wrong:", *what)


def browser():
    for name in ("chromium", "chromium-browser", "google-chrome", "chrome"):
        if path := shutil.which(name):
            return path
    print("skipped: no chromium here, and this test opens the page in it")
    sys.exit(77)


def open_page(chromium, page, work, dark=False):
    """The DOM once the page is loaded, and what its console said."""
    scheme = ["--blink-settings=preferredColorScheme=0", "--force-dark-mode"] if dark else []
    run = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={work}/profile",
         "--enable-logging=stderr", "--window-size=1600,1000", "--virtual-time-budget=5000",
         *scheme, "--dump-dom", page.as_uri()],
        capture_output=True, text=True, timeout=300, check=True)
    return run.stdout, re.findall(r"CONSOLE.*", run.stderr)


def brightness(colour):
    """The relative luminance of WCAG 2 of "rgb(r, g, b)"."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def check_view(chromium, work, titles, width, dark):
    view = f"{'dark' if dark else 'light'}, {width} pixels:"
    around = work / f"around{width}{dark}.html"
    around.write_text(AROUND % ("probed.html", width))
    dom, said = open_page(chromium, around, work, dark)
    check(not said, view, "the console says", said)
    probe = re.search(r'<pre id="probe">(.+?)</pre>', dom)
    check(probe, view, "the page sent nothing")
    if not probe:
        return
    probe = json.loads(probe[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    check(probe["screen"] == width, view, "the screen is", probe["screen"])
    check(probe["headings"][1:] == titles, view, "headings", probe["headings"])
    for text, leads_to in probe["links"]:
        check(leads_to.endswith(": " + text), view, "the link", text, "leads to", leads_to)
    check(len(probe["links"]) == len(titles), view, len(probe["links"]), "links")
    check(probe["pictures"] >= 3 * len(titles), view, probe["pictures"], "pictures")
    check(probe["unseen"] == 0 and probe["unnamed"] == 0, view, "pictures without size or text", probe)
    check(probe["width"] <= width, view, "the page is", probe["width"], "pixels wide")
    ground, ink = brightness(probe["ground"]), brightness(probe["ink"])
    check((ground < ink) == dark, view, "ground", probe["ground"], "ink", probe["ink"])
    contrast = (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05)
    check(contrast >= 7, view, "contrast", contrast)


def main():
    chromium = browser()
    folder = pathlib.Path(sys.argv[1]).resolve()
    facts = json.loads((folder / "tour.json").read_text())
    titles = [f"{table['model']}: {row['name']}" for table in facts["techniques"]
              for row in table["techniques"]]
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        # A script that fails must show, or this test would see none.
        (work / "faulty.html").write_text("<script>throw new Error('planted')</script>")
        _, said = open_page(chromium, work / "faulty.html", work)
        check(any("planted" in line for line in said), "a planted script error was not seen", said)

        dom, said = open_page(chromium, folder / "tour.html", work)
        check(not said, "the console says", said)
        for title in titles:
            check(f"<h2>{title}</h2>" in dom, "not in the DOM:", title)
        page = (folder / "tour.html").read_text()
        (work / "probed.html").write_text(page.replace("</body>", PROBE + "</body>"))
        for width in (1280, 360):
            for dark in (False, True):
                check_view(chromium, work, titles, width, dark)
    sys.exit(failed)


main()
