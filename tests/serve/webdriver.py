"""A browser for tests: headless Chromium by chromedriver, over WebDriver's HTTP, with the standard library."""

import base64
import collections
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--hide-scrollbars"]
START_S = 60
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class DriverError(Exception):
    """What WebDriver refused."""


def missing():
    """The program that is not installed; empty if both are there."""
    return next((p for p in ("chromedriver", "chromium") if shutil.which(p) is None), "")


class Driver:
    """One chromedriver process, for several browsers."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="mrclab-browser-", ignore_cleanup_errors=True)
        self.process = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, cwd=self.folder.name, start_new_session=True)
        self.port = self._port()

    def _port(self):
        for line in self.process.stdout:
            if "successfully on port " in line:
                return int(line.rsplit("on port ", 1)[1].rstrip(".\n"))
        raise DriverError("chromedriver has not started")

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {"Content-Type": "application/json"},
                                         method=method)
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise DriverError(json.load(error)["value"]["message"]) from None

    def cpu_seconds(self):
        """CPU time of its browsers so far: a measure that other programs on the machine do not disturb."""
        parents, spent = {}, {}
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    words = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(entry)], spent[int(entry)] = int(words[1]), int(words[11]) + int(words[12])

        def is_ours(pid):
            while pid in parents and pid != self.process.pid:
                pid = parents[pid]
            return pid == self.process.pid

        return sum(ticks for pid, ticks in spent.items() if is_ours(pid)) / os.sysconf("SC_CLK_TCK")

    def close(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()
        self.folder.cleanup()


def palette(counts):
    """256 of these colours, and the place of the nearest for each. The commonest, and of those that are no accident
    of an edge the ones that are least like them: a colour of a legend is small."""
    def far(a, b):
        return sum((x - y) ** 2 for x, y in zip(a, b))

    kept = [colour for colour, _ in counts.most_common(200)]
    others = {c: min(far(c, k) for k in kept) for c, n in counts.items() if n >= 12 and c not in kept}
    while others and len(kept) < 256:
        kept.append(max(others, key=others.get))
        others = {c: min(d, far(c, kept[-1])) for c, d in others.items() if c != kept[-1]}
    return kept, {c: min(range(len(kept)), key=lambda i, c=c: far(kept[i], c)) for c in counts}


def with_few_colours(png):
    """A screenshot with at most 256 colours: a third of its size."""
    width, height, depth, kind = struct.unpack(">IIBB", png[16:26])
    assert depth == 8 and kind in (2, 6)
    size, data, at = {2: 3, 6: 4}[kind], b"", 8
    while at < len(png):
        length, name = struct.unpack(">I4s", png[at:at + 8])
        if name == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    data, stride, rows, above = zlib.decompress(data), width * size, [], bytearray(width * size)
    for y in range(height):
        filter_, line = data[y * (stride + 1)], bytearray(data[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        for i in range(stride if filter_ else 0):
            a, b, c = line[i - size] if i >= size else 0, above[i], above[i - size] if i >= size else 0
            p = a + b - c
            paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            line[i] = line[i] + (0, a, b, (a + b) // 2, paeth)[filter_] & 255
        rows.append([tuple(line[i:i + 3]) for i in range(0, stride, size)])
        above = line
    counts = collections.Counter(pixel for row in rows for pixel in row)
    kept, index = palette(counts)
    body = zlib.compress(b"".join(b"\0" + bytes(index[pixel] for pixel in row) for row in rows), 9)

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    return (png[:8] + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", bytes(x for colour in kept for x in colour)) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


class Reader:
    """A WebSocket client that plays a session and reads everything: a page without the work of a browser."""

    def __init__(self, link):
        url = urllib.parse.urlsplit(link)
        token = urllib.parse.parse_qs(url.query)["token"][0]
        self.socket = socket.create_connection((url.hostname, url.port), timeout=START_S)
        self.data = b""
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f"GET /live?token={token} HTTP/1.1\r\nHost: {url.netloc}\r\nOrigin: http://{url.netloc}\r\n"
                            f"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
                            "Sec-WebSocket-Version: 13\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.data:
            self._more()
        self.data = self.data.partition(b"\r\n\r\n")[2]

    def _more(self):
        more = self.socket.recv(1 << 20)
        if not more:
            raise OSError("the server has closed the connection")
        self.data += more

    def _take(self, count):
        while len(self.data) < count:
            self._more()
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def say(self, command):
        text, mask = json.dumps(command).encode(), os.urandom(4)
        assert len(text) < 126
        self.socket.sendall(bytes([0x81, 0x80 | len(text)]) + mask + bytes(c ^ mask[i % 4] for i, c in enumerate(text)))

    def read_until(self, fits):
        """Reads on until a JSON message for which `fits` is true."""
        text, is_text = b"", False
        while True:
            kind, length = self._take(2)
            if length >= 126:
                length = int.from_bytes(self._take({126: 2, 127: 8}[length]), "big")
            is_text = kind & 15 == 1 or kind & 15 == 0 and is_text  # 0: more of the message before
            text = (text if kind & 15 == 0 else b"") + self._take(length)
            if is_text and kind & 0x80 and fits(json.loads(text)):
                return

    def close(self):
        self.socket.close()


class Browser:
    """One Chromium with a profile of its own, and one window in it, which is used again and again."""

    def __init__(self, driver, flags=()):
        self.driver = driver
        self.profile = tempfile.mkdtemp(dir=driver.folder.name)
        options = {"args": FLAGS + [f"--user-data-dir={self.profile}", *flags]}
        session = driver.call("POST", "/session", {"capabilities": {"alwaysMatch": {"goog:chromeOptions": options}}})
        self.path = f"/session/{session['sessionId']}"
        self.look_like(1280, 720)

    def look_like(self, width, height, dark=False):
        """A screen of this size; below 500 pixels a phone's."""
        phone = width < 500
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.devtools("Emulation.setEmulatedMedia", features=features)
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, mobile=phone,
                      deviceScaleFactor=2 if phone else 1)
        self.devtools("Emulation.setTouchEmulationEnabled", enabled=phone)

    def devtools(self, command, **parameters):
        return self.driver.call("POST", self.path + "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def go(self, url):
        self.driver.call("POST", self.path + "/url", {"url": url})

    def run(self, script, *arguments):
        """The value of a function's body."""
        return self.driver.call("POST", self.path + "/execute/sync", {"script": script, "args": list(arguments)})

    def wait(self, condition, seconds=60):
        """Until an expression is true; returns its value."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if value := self.run(f"return {condition}"):
                return value
            time.sleep(0.05)
        raise DriverError(f"{seconds} s without {condition}")

    def _element(self, selector):
        found = self.driver.call("POST", self.path + "/element", {"using": "css selector", "value": selector})
        return found[ELEMENT]

    def click(self, selector):
        self.driver.call("POST", f"{self.path}/element/{self._element(selector)}/click", {})

    def keys(self, text):
        """Typed where the focus is."""
        actions = [{"type": kind, "value": key} for key in text for kind in ("keyDown", "keyUp")]
        self.driver.call("POST", self.path + "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def pointer(self, x, y, button=0):
        moves = [{"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}, {"type": "pointerDown", "button": button},
                 {"type": "pointerUp", "button": button}]
        self.driver.call("POST", self.path + "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": moves}]})

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.driver.call("GET", self.path + "/screenshot")))

    def close(self):
        self.driver.call("DELETE", self.path)
