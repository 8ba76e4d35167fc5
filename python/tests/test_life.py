"""A server lives as long as the process that started it, whatever ends that."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import mdmgen

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes are ended by signals here")


def python(script: str) -> subprocess.Popen[str]:
    """A process of Python whose first line of output is the server's process id."""
    env = {**os.environ, "PYTHONPATH": str(Path(mdmgen.__file__).parents[1])}
    command = [sys.executable, "-W", "error::ResourceWarning", "-c", textwrap.dedent(script)]
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A process whose parent has gone is reaped by init, where there is one.
    stat = Path(f"/proc/{pid}/stat")
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"


def wait_for_end(pid: int) -> None:
    for _ in range(100):
        if not lives(pid):
            return
        time.sleep(0.1)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the server outlives its parent")


START = """
import os, sys, time, mdmgen
m = mdmgen.load(offline=True)
print(m._server._process.pid, m._server._folder, flush=True)
"""


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_dies_with_a_parent_that_is_killed(end: signal.Signals) -> None:
    with python(START + "time.sleep(60)") as parent:
        assert parent.stdout
        pid, folder = parent.stdout.readline().split()
        assert lives(int(pid)) and Path(folder).stat().st_mode & 0o777 == 0o700
        parent.send_signal(end)
        wait_for_end(int(pid))
        assert not Path(folder).exists()


def test_dies_with_a_parent_that_forgets_it() -> None:
    with python(START) as parent:
        assert parent.stdout and parent.stderr
        pid, folder = parent.stdout.readline().split()
        wait_for_end(int(pid))
        assert parent.stderr.read() == "" and not Path(folder).exists()


def test_dies_with_its_parent_beside_a_fork() -> None:
    """A fork holds what its parent had open, and not the pipe."""
    with python(START + "if os.fork() == 0:\n    time.sleep(60)\nelse:\n    time.sleep(60)") as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline().split()[0])
        children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        if not children.exists():
            parent.kill()
            pytest.skip("the system does not list children")
        while len(forks := set(children.read_text().split()) - {str(pid)}) == 0:
            time.sleep(0.05)
        parent.kill()
        wait_for_end(pid)
        for fork in forks:
            os.kill(int(fork), signal.SIGKILL)


def test_a_fork_asks_and_does_not_end_it() -> None:
    script = """
    ids = next(m.generate(length=8, seed=1)).ids
    if os.fork() == 0:
        assert next(m.generate(length=8, seed=1)).ids == ids
        m.close()
        del m
        sys.exit(0)
    assert os.wait()[1] == 0
    assert next(m.generate(length=8, seed=1)).ids == ids
    m.close()
    print("closed")
    """
    out, err = python(START + textwrap.dedent(script)).communicate(timeout=60)
    assert out.splitlines()[-1] == "closed" and err == ""


def test_an_interrupt_is_for_python_alone() -> None:
    """As in a notebook, whose kernel interrupts its whole group."""
    script = """
    os.setpgid(0, 0)
    import signal
    signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell's background job ignores it.
    try:
        for _ in m.generate(length=64, n=8, seed=1, frames=True):
            os.killpg(0, signal.SIGINT)
    except KeyboardInterrupt:
        print(len(next(m.generate(length=8, seed=1)).ids))
    """
    out, err = python(START + textwrap.dedent(script)).communicate(timeout=60)
    assert out.splitlines()[-1:] == ["8"], err


def test_the_end_of_a_server_is_an_error() -> None:
    with mdmgen.load(offline=True) as m:
        m._server._process.kill()
        m._server._process.wait()
        with pytest.raises(mdmgen.Error, match="^the server has ended"):
            next(m.generate())


def test_on_localhost_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, whose Python has no Unix sockets."""
    monkeypatch.setattr("mdmgen._server.WINDOWS", True)
    with mdmgen.load(offline=True) as m:
        host, _, port = m._server._address.partition(":")
        assert host == "127.0.0.1" and int(port) > 0 and not Path(m._server._folder).exists()
        assert len(next(m.generate(length=4, seed=1)).ids) == 4
        m._server._key = "another"
        with pytest.raises(mdmgen.UsageError) as refused:
            next(m.generate())
        assert refused.value.status == 401
