"""The page in a browser: make test-browser. Some of each kind of page, at two widths, light and dark: nothing in the console, nothing fetched from
elsewhere, nothing wider than the window, a hint where a table is wider than its place, text that can be read, and everything that can be clicked
reached by the Tab key.

`python3 browser.py` makes the screenshots that the README shows, of the same collection.
"""
import json
import os
import pathlib
import re
import shutil
import sys

import pytest
from commanding import Command, Server   # Before the collection, beside whose helpers is another conftest

import collection   # isort: skip

PLAYWRIGHT = "playwright==1.65.2"
SCREENSHOTS = pathlib.Path(__file__).resolve().parent.parent / "screenshots"
WIDTHS, SCHEMES = (1280, 360), ("light", "dark")
SHOTS = [("light", 1280, "overview"), ("light", 1280, "compare"), ("dark", 360, "tensor"), ("dark", 360, "duplicates")]   # Without absolute paths

# Run in the environment that has playwright: it looks at each address and prints what is wrong with it, as JSON lines.
LOOK = r"""
import json, re, sys
from playwright.sync_api import sync_playwright

MOST = 4   # Pages of a kind: addresses that are alike but for numbers
STATE = re.compile(r"[?&]([a-z]+\.)?(sort|from)=")   # Of a table. Such pages are looked at, but the links in them have no end
start, chromium, widths, schemes, shots = json.loads(sys.argv[1])

CONTRAST = '''() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true})
  const parse = text => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data] }
  const light = rgb => { const [r, g, b] = rgb.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
                         return 0.2126 * r + 0.7152 * g + 0.0722 * b }
  const back = element => { for (let e = element; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c.slice(0, 3) }
                            return [255, 255, 255] }
  const found = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  let count = 0
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement
    if (!texts.currentNode.data.trim() || element.closest('title') || !element.getClientRects().length) continue
    const style = getComputedStyle(element), color = parse(style.color)
    const [a, b] = [light(color.slice(0, 3)), light(back(element))]
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
    count++
    if (ratio < 4.5 || color[3] !== 255) found.push([texts.currentNode.data.trim().slice(0, 40), ratio])
    if (element.getBoundingClientRect().height && parseFloat(style.fontSize) < 12) found.push([texts.currentNode.data.trim().slice(0, 40), style.fontSize])
  }
  return [count, found]
}'''
LINKS = "[...document.querySelectorAll('a[href]')].map(a => a.href)"
OPEN = "document.querySelectorAll('details').forEach(e => { e.open = true })"   # By hand they open one at a time
CLICKABLE = '[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex=\'0\']")].filter(e => e.getClientRects().length).length'
HINTS = '''[...document.querySelectorAll('.scroll')].filter(e => {
  const hint = e.parentElement.querySelector('.hint'), seen = getComputedStyle(hint).visibility === 'visible' && hint.getBoundingClientRect().height > 10
  return e.scrollWidth > e.clientWidth + 1 ? !seen : seen }).map(e => e.getAttribute('aria-label'))'''
UNNAMED = '''[...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, svg:not([aria-hidden=true]), [role=region]')].filter(e =>
  !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label'))).map(e => e.outerHTML.slice(0, 100))'''

with sync_playwright() as player:
    browser = player.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    for scheme in schemes:
        for width in widths:
            context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
            page = context.new_page()
            wrong, seen, left, kinds = [], set(), [start], {}
            page.on("console", lambda message: wrong.append("console: " + message.text))
            page.on("pageerror", lambda error: wrong.append("error: " + str(error)))
            page.on("request", lambda request: None if request.url.startswith(("data:", start.partition("/-/")[0] + "/")) else wrong.append("asked: " + request.url))
            while left:
                address = left.pop()
                kind = re.sub(r"[^/?&=]*[0-9][^/?&=]*", "N", re.sub(r"(sort|from)=[^&]*", r"\1=", address))
                if address in seen or kinds.get(kind, 0) == MOST:
                    continue
                seen.add(address)
                kinds[kind] = kinds.get(kind, 0) + 1
                response = page.goto(address)
                page.evaluate(OPEN)
                if response.status != 200:
                    wrong.append(f"status {response.status}")
                if page.evaluate("document.documentElement.scrollWidth") > width:
                    wrong.append("wider than the window")
                page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")   # Hints follow the layout
                wrong += ["no hint, or one too many: " + label for label in page.evaluate(HINTS)]
                texts, unreadable = page.evaluate(CONTRAST)
                wrong += [f"hard to read: {text}: {how}" for text, how in unreadable]
                wrong += ["without a name: " + html for html in page.evaluate(UNNAMED)]
                keys, clickable = [], page.evaluate(CLICKABLE)
                if len(seen) % 8 == 1 and clickable < 800:
                    for _ in range(clickable):
                        page.keyboard.press("Tab")
                        keys.append(page.evaluate("document.activeElement === document.body ? null : [document.activeElement.outerHTML.slice(0, 200),"
                                                  " getComputedStyle(document.activeElement).outlineStyle]"))
                    wrong += ["not reached by Tab"] * (None in keys) + ["no outline: " + key[0] for key in keys if key and key[1] == "none"]
                    page.keyboard.press("Tab")
                    if page.evaluate("document.activeElement !== document.body && !document.activeElement.matches('.skip')"):
                        wrong.append("more is reached by Tab than can be clicked")
                print(json.dumps([scheme, width, address, texts, len(keys), wrong]))
                wrong.clear()
                if not STATE.search(address):
                    left += [link.partition("#")[0] for link in page.evaluate(LINKS) if "/-/ztensor" in link and "&as=" not in link and "?as=" not in link]
            for path, name in [shot[2:] for shot in shots if shot[:2] == [scheme, width]]:
                page.goto(start + path)
                page.set_viewport_size({"width": width, "height": 780})
                page.screenshot(path=f"{name}-{width}-{scheme}.png")
            context.close()
    browser.close()
"""


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    return Command(tmp_path_factory.mktemp("browser"), more=[PLAYWRIGHT], name="browser")


def look(command, widths=WIDTHS, schemes=SCHEMES, shots=()):
    collection.make(command.directory / "models", hole=False)
    with Server(command, "models", "--db", "models.db") as server:
        def number(path):
            return int(re.search(r"/model/(\d+)\"", server.get(f"/-/ztensor/models/models?path={path}")[2])[1])

        steps, quantized = [number(f"{collection.RUN}/step-{step}/model") for step in collection.STEPS[-2:]], number("gguf/tiny-llama-Q5_0")
        tensor = re.search(r'href="[^"]*(/model/\d+/\d+)">blk\.0\.ffn_down\.weight<', server.get(f"/-/ztensor/models/model/{quantized}")[2])[1]
        pages = {"overview": "", "tensor": tensor, "compare": f"/compare?a={steps[0]}&b={steps[1]}", "duplicates": "/duplicates"}
        said = command.python_code(LOOK, json.dumps([server.host + "/-/ztensor/models", shutil.which("chromium"), widths, schemes,
                                                     [(scheme, width, pages[name], str(SCREENSHOTS / name)) for scheme, width, name in shots]]))
    return [json.loads(line) for line in said.splitlines()]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page(command, width, scheme):
    shutil.rmtree(command.directory / "models", ignore_errors=True)
    found = look(command, [width], [scheme])
    assert [(address, wrong) for _, _, address, _, _, wrong in found if wrong] == []
    print(f"{width} {scheme}: {len(found)} pages, {sum(row[3] for row in found)} texts, {sum(row[4] for row in found)} stops of the Tab key")
    assert len(found) > 50 and sum(row[3] for row in found) > 5000 and sum(row[4] for row in found) > 200


if __name__ == "__main__":
    import tempfile

    SCREENSHOTS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        made = Command(pathlib.Path(directory), more=[PLAYWRIGHT], name="browser")
        sys.exit([row for row in look(made, WIDTHS, SCHEMES, SHOTS) if row[-1]] or 0)
