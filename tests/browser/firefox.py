"""Debian's Firefox without a driver program: it takes WebDriver's commands itself, over a local socket (Marionette)."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

#: Keys that are no characters, as WebDriver writes them.
_KEYS = {
    "Tab": "\ue004",
    "Enter": "\ue007",
    "Shift": "\ue008",
    "Control": "\ue009",
    "Alt": "\ue00a",
    "Escape": "\ue00c",
    "Space": " ",
    "PageUp": "\ue00e",
    "PageDown": "\ue00f",
    "ArrowLeft": "\ue012",
    "ArrowUp": "\ue013",
    "ArrowRight": "\ue014",
    "ArrowDown": "\ue015",
    "Delete": "\ue017",
}
_PREFERENCES = {
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "datareporting.policy.dataSubmissionEnabled": False,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "toolkit.telemetry.reportingpolicy.firstRun": False,
}
PATIENCE = 60.0


class Firefox:
    """One window. What goes wrong in it is a RuntimeError that says what."""

    def __init__(self, profile: Path, width: int = 1440, height: int = 900) -> None:
        path = os.environ.get("HARNESS_FIREFOX") or shutil.which("firefox-esr") or shutil.which("firefox")
        assert path, "no Firefox; scripts/test installs it"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        profile.mkdir()
        preferences = {**_PREFERENCES, "marionette.port": port}
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items())
        (profile / "user.js").write_text("".join(lines))
        size = ("--width", str(width), "--height", str(height))
        command = [path, "--marionette", "--headless", "--no-remote", "--profile", str(profile), *size]
        home = {**os.environ, "HOME": str(profile)}
        self._log = (profile / "firefox.log").open("w")
        self._process = subprocess.Popen(command, stdout=self._log, stderr=subprocess.STDOUT, env=home)
        self._socket = self._connected(port)
        self._sent = 0
        self._receive()  # it says hello
        self.command("WebDriver:NewSession", capabilities={})

    def _connected(self, port: int) -> socket.socket:
        end = time.monotonic() + PATIENCE
        while True:
            assert self._process.poll() is None, "Firefox did not start"
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
            except ConnectionRefusedError:
                assert time.monotonic() < end, "Firefox does not listen"
                time.sleep(0.1)

    def close(self) -> None:
        """End the browser."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(timeout=30)
        self._log.close()

    def command(self, name: str, **parameters: Any) -> Any:
        """Send a command; its result."""
        self._sent += 1
        message = json.dumps([0, self._sent, name, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, number, error, result = self._receive()
        assert number == self._sent
        if error:
            raise RuntimeError(f"{name}: {error['error']}: {error['message']}")
        return result

    def _receive(self) -> Any:
        length = b""
        while not length.endswith(b":"):
            length += self._read(1)
        return json.loads(self._read(int(length[:-1])))

    def _read(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            some = self._socket.recv(count - len(found))
            assert some, "Firefox has ended"
            found += some
        return found

    def goto(self, address: str) -> None:
        """Open a page."""
        self.command("WebDriver:Navigate", url=address)

    def run(self, script: str, *arguments: Any) -> Any:
        """What an expression comes to on the page; `arguments` are `arguments[0]` and so on."""
        return self.command("WebDriver:ExecuteScript", script=f"return ({script})", args=list(arguments))["value"]

    def wait(self, script: str, *arguments: Any) -> None:
        """Until an expression holds. A page that is being left answers with an error, and is asked again."""
        end, said = time.monotonic() + PATIENCE, ""
        while time.monotonic() < end:
            try:
                if self.run(script, *arguments):
                    return
            except RuntimeError as error:
                said = str(error)
            time.sleep(0.02)
        raise AssertionError(f"not so after {PATIENCE:g} s: {script} {arguments} {said}")

    def has_text(self, selector: str, text: str) -> None:
        """Wait until the first element has a text in it."""
        self.wait("document.querySelector(arguments[0])?.textContent.includes(arguments[1])", selector, text)

    def press(self, *keys: str) -> None:
        """Press keys, one after the other; `Shift+A` is two at once."""
        for key in keys:
            held = [_KEYS.get(part, part) for part in (key.split("+") if len(key) > 1 else [key])]
            downs = [{"type": "keyDown", "value": part} for part in held]
            ups = [{"type": "keyUp", "value": part} for part in reversed(held)]
            self._act({"type": "key", "id": "keyboard", "actions": [*downs, *ups]})

    def type(self, text: str) -> None:
        """Type a text."""
        self.press(*text)

    def click(self, selector: str) -> None:
        """Click the middle of an element."""
        middle = "(box => [box.x + box.width / 2, box.y + box.height / 2])(document.querySelector(arguments[0])"
        self.run("document.querySelector(arguments[0]).scrollIntoView({block: 'nearest'})", selector)
        x, y = self.run(f"{middle}.getBoundingClientRect())", selector)
        self.drag((x, y), (x, y))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the mouse at one place, and let go at another one."""
        to = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 20} for x, y in (start, end)]
        press: list[dict[str, Any]] = [{"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        self._act(
            {
                "type": "pointer",
                "id": "mouse",
                "parameters": {"pointerType": "mouse"},
                "actions": [to[0], press[0], to[1], press[1]],
            }
        )

    def _act(self, source: dict[str, Any]) -> None:
        self.command("WebDriver:PerformActions", actions=[source])
