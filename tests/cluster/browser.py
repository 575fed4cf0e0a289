"""A headless Chromium, spoken to by the DevTools protocol over a pipe: nothing but Python and the browser is needed."""

import base64
import fcntl
import itertools
import json
import os
import select
import shutil
import subprocess
import time

import harness

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "headless_shell")
HIGH = 20  # descriptors from here on are nobody's

# What has text of its own, and whose contrast with what it stands on is less than it takes to be read (WCAG 2, AA).
CONTRAST = """
(() => {
  const channels = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((each) => each / 255)
    .map((each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4))
    .reduce((sum, each, i) => sum + each * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const back = channels(getComputedStyle(at).backgroundColor);
      if (back.length === 3 || back[3] === 1) return back;
    }
    return [255, 255, 255];
  };
  const found = [];
  let looked = 0;
  for (const element of document.querySelectorAll('body *')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!hasText || !element.getClientRects().length) continue;
    looked += 1;
    const [a, b] = [luminance(channels(getComputedStyle(element).color)), luminance(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) found.push(`${element.tagName} ${element.id || element.className} "${element.textContent.slice(0, 30)}": ${ratio.toFixed(2)}`);
  }
  return {looked, found};
})()
"""

# How many different colours a canvas has: an empty one has one.
COLOURS = """
((id) => {
  const canvas = document.getElementById(id);
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Map();
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i + 3] !== 255) continue;
    const colour = '#' + [0, 1, 2].map((at) => pixels[i + at].toString(16).padStart(2, '0')).join('');
    seen.set(colour, (seen.get(colour) || 0) + 1);
  }
  return Object.fromEntries(seen);
})
"""


def program():
    """Where it is; None if there is none."""
    return next((found for found in map(shutil.which, PROGRAMS) if found), None)


def unfit():
    """Why pages cannot be looked at here; None if they can."""
    return None if program() else "needs a headless browser (Debian's package chromium)"


class Browser:
    """One tab. Ended with the case, with all of its processes."""

    def __init__(self, case):
        to_browser, ours_out = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, HIGH) for end in os.pipe()]
        ours_in, from_browser = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, HIGH) for end in os.pipe()]
        self.write, self.read = ours_out, ours_in
        self.unread = b""
        self.numbers = itertools.count(1)
        self.errors = []  # what scripts threw, and what the browser complains of

        def begin():
            harness.end_with_parent()
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
             "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "--remote-debugging-pipe",
             f"--user-data-dir={case.folder / 'browser'}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=begin,
            pass_fds=(3, 4), start_new_session=True)
        os.close(to_browser)
        os.close(from_browser)
        case.addCleanup(self.end)
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """What the browser answers; an error of its own fails."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        limit = time.monotonic() + harness.PATIENCE
        while time.monotonic() < limit:
            answer = self._next(limit)
            if answer and answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
        raise TimeoutError(f"the browser does not answer {method}")

    def _next(self, limit):
        while b"\0" not in self.unread:
            if not select.select([self.read], [], [], max(0, limit - time.monotonic()))[0]:
                return None
            came = os.read(self.read, 1 << 20)
            if not came:
                raise RuntimeError("the browser has ended")
            self.unread += came
        message, self.unread = self.unread.split(b"\0", 1)
        message = json.loads(message)
        self._note(message.get("method"), message.get("params", {}))
        return message

    def _note(self, method, parameters):
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(parameters["exceptionDetails"]))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "assert"):
            self.errors.append(json.dumps(parameters["args"]))

    def look(self, width, height, scheme="light", ratio=1):
        """How large the window is, and which colours its user prefers."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio,
                  mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address):
        """Shows the page there, and waits until it is loaded."""
        answer = self.call("Page.navigate", url=address)
        if "errorText" in answer:
            raise RuntimeError(f"{address}: {answer['errorText']}")
        harness.wait_for(lambda: self.value(f"location.href === {json.dumps(address)} && document.readyState === 'complete'"))

    def value(self, expression):
        """Of an expression in the page, or of the promise that it gives."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def picture(self, file, quality=80):
        """The whole page, as long as it is, as WebP."""
        answer = self.call("Page.captureScreenshot", format="webp", quality=quality, captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(answer["data"]))

    def end(self):
        for descriptor in (self.write, self.read):
            os.close(descriptor)
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
        self.process.wait()
