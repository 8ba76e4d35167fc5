"""A server of one model that is this process's own: `mdmgen serve` on a private socket."""

import http.client
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import weakref
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from ._program import Error, UsageError, failure, program

WINDOWS = sys.platform == "win32"


class Server:
    """The server, from its start to end(). It ends with this process too, whatever ends that: its standard input
    is a pipe that only this process holds. A child that this process forks may ask it, and cannot end it.
    """

    def __init__(self, arguments: list[str]) -> None:
        path = program()
        self._folder = private_folder()
        self._key = ""
        listen = f"unix:{self._folder}/socket"
        if WINDOWS:  # Its Python has no Unix sockets.
            self._key = secrets.token_urlsafe()
            Path(self._folder, "key").write_text(self._key)
            listen = "127.0.0.1:0"
            arguments = [*arguments, f"--key-file={Path(self._folder, 'key')}"]
        self._process = subprocess.Popen(
            [path, "serve", f"--listen={listen}", "--set", "attached=true", "--verbosity=normal", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            # An interrupt in a terminal or a notebook is for this process alone.
            start_new_session=not WINDOWS,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self._process.stdin and self._process.stderr
        self.end = weakref.finalize(self, end, self._process, self._folder, os.getpid())
        running.add(self)
        self._lines: deque[str] = deque(maxlen=20)
        address: deque[str] = deque()
        started = threading.Event()
        threading.Thread(
            target=follow, args=(self._process.stderr, self._lines, address, started), name="mdmgen", daemon=True
        ).start()
        try:
            started.wait()
        except BaseException:
            self.end()
            raise
        if not address:
            status = self._process.wait()
            self.end()
            raise failure(self._lines, status)
        self._address = address[0]
        if WINDOWS:
            shutil.rmtree(self._folder)  # The server has read the key.

    def post(self, path: str, body: dict[str, Any]) -> Any:
        """The answer to a request."""
        with self._ask(path, body) as response:
            return json.loads(response.read())

    def stream(self, path: str, body: dict[str, Any]) -> Generator[dict[str, Any], None, None]:
        """The events of an answer. The request is cancelled where they are not read to the end."""
        with self._ask(path, body) as response:
            for line in response:
                if not line.startswith(b"data: "):
                    continue
                if (data := line.removeprefix(b"data: ").strip()) == b"[DONE]":
                    return
                event = json.loads(data)
                if "error" in event:
                    raise Error(event["error"]["message"])
                yield event
            raise self._gone()

    @contextmanager
    def _ask(self, path: str, body: dict[str, Any]) -> Generator[http.client.HTTPResponse, None, None]:
        """The answer by a connection of its own, which neither threads nor forks share. Its end cancels the request."""
        connection = UnixConnection(self._address) if not WINDOWS else http.client.HTTPConnection(self._address)
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}
        try:
            connection.request("POST", path, json.dumps(body, allow_nan=False), headers)
            with connection.getresponse() as response:
                if response.status != 200:
                    raise refusal(path, response)
                yield response
        except (OSError, http.client.HTTPException) as fault:
            raise self._gone() from fault
        finally:
            connection.close()

    def _gone(self) -> Error:
        if not self.end.alive:
            return Error("the model is closed")
        return Error("the server has ended" + (": " + self._lines[-1] if self._lines else ""))


def refusal(path: str, response: http.client.HTTPResponse) -> Error:
    """The error of an answer."""
    text = response.read().decode(errors="replace")
    try:
        line = json.loads(text)["error"]["message"]
    except (ValueError, KeyError, TypeError):
        line = f"{path}: {text.strip()}"
    return (UsageError if response.status < 429 else Error)(line, response.status)


class UnixConnection(http.client.HTTPConnection):
    """A connection by a Unix socket."""

    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self._path)


def private_folder() -> str:
    """A new folder of this user alone, whose name leaves room for a socket's: paths of sockets have some 100 bytes."""
    parent = tempfile.gettempdir()
    if not WINDOWS and len(os.fsencode(parent)) > 70:
        parent = "/tmp"
    return tempfile.mkdtemp(prefix="mdmgen-", dir=parent)


def follow(stderr: IO[bytes], lines: deque[str], address: deque[str], started: threading.Event) -> None:
    """Reads what the server writes: where it listens, its log, and its last words."""
    with stderr:
        for raw in stderr:
            line = raw.decode(errors="replace").strip()
            if not address and line.startswith("mdmgen: serving ") and " on " in line:
                address.append(line.rpartition(" on ")[2].removeprefix("unix:").removeprefix("http://"))
                started.set()
            elif not line.startswith("time="):
                lines.append(line)
    started.set()


def end(process: subprocess.Popen[bytes], folder: str, owner: int) -> None:
    """Ends a server, unless this is a fork of the process that started it."""
    if os.getpid() != owner:
        return
    assert process.stdin
    process.stdin.close()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)


running: "weakref.WeakSet[Server]" = weakref.WeakSet()


def forked() -> None:
    """In a fork: lets go of the pipes that keep the parent's servers alive."""
    for server in running:
        process = server._process
        if process.stdin:
            process.stdin.close()
        process.returncode = 0  # No child of this process: there is nothing to wait for.


if not WINDOWS:
    os.register_at_fork(after_in_child=forked)
