"""What a candidate can see and use: real processes in a real sandbox, which try to get out of it or beyond a limit."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from textwrap import dedent

import pytest

from harness.base.errors import HarnessError
from harness.candidates import inside
from harness.candidates.rules import JudgeRules
from harness.candidates.sandbox import MOST_LOG, Ended, NoSandboxError, _Run, run_candidate
from harness.candidates.watching import Usage, end_descendants, family
from harness.candidates.world import Candidate, covered, outer_id

pytestmark = pytest.mark.slow
#: What stands for labels, a store, a repository: no byte of it may be found.
SECRET = "the-label-of-this-photo-is-417"
RULES = JudgeRules(seconds=20, memory_gb=0.5, processes=48, output_mb=4)
PATIENT = RULES.model_copy(update={"seconds": 120})

#: Looks into every file that it can reach for the secret, whose letters stand in PLACES' company the other way round.
SEARCH = """
import json, os
handles = [f for f in os.listdir("/proc/self/fd") if int(f) > 2]
found = [f for f in handles if os.path.exists("/proc/self/fd/" + f)]
seen, skipped = 0, ("/proc/sys", "/usr", "/lib", *PACKAGES)
processes = [p for p in os.listdir("/proc") if p.isdigit()]
for top in ["/", *(f"/proc/{p}/{way}" for p in processes for way in ("root", "cwd", "fd"))]:
    for folder, folders, files in os.walk(top):
        folders[:] = [f for f in folders if not os.path.join(folder, f).startswith(skipped)]
        for name in files:
            path = os.path.join(folder, name)
            if name.endswith((".py", ".so", ".pyc")) or not os.path.isfile(path):
                continue
            if name in ("photo_index.json", "looks.jsonl", "mlflow.db", "HEAD"):
                found.append(path)
            try:
                with open(path, "rb") as file:
                    content = file.read(1 << 20)
            except OSError:
                continue
            seen += 1
            if SECRET[::-1].encode() in content:
                found.append(path)
found += [p for p in PLACES if os.path.exists(p)]
open("/out/predictions.jsonl", "w").write(json.dumps([found, seen]))
"""

PRY = """
import ctypes, os
print(sorted(os.environ))
for name in ("environ", "mem", "maps", "auxv", "exe", "fd", "root", "cwd", "map_files"):
    try:
        path = "/proc/1/" + name
        if name in ("fd", "root", "cwd", "map_files"):
            os.listdir(path)
        elif name == "exe":
            os.readlink(path)
        else:
            open(path, "rb").read(1)
        print("REACHED", name)
    except OSError:
        pass
libc = ctypes.CDLL(None, use_errno=True)
print("ptrace", libc.ptrace(16, 1, 0, 0))
for number in (2, 15, 9):
    try:
        os.kill(1, number)
    except OSError:
        pass
print([p for p in os.listdir("/proc") if p.isdigit()], os.getuid(), os.path.exists("/sys/kernel"))
about = ("CapEff", "CapPrm", "CapBnd", "NoNewPrivs")
print([line for line in open("/proc/self/status") if line.startswith(about)])
open("/out/predictions.jsonl", "w").write("done")
"""

CONNECT = """
import socket
for family, address in ((2, ("127.0.0.1", PORT)), (2, ("192.0.2.1", 80)), (1, NAME)):
    try:
        socket.socket(family).connect(address)
        print("REACHED", address)
    except OSError as error:
        print(error)
"""

WRITE = """
import ctypes, os, sys
places = ("/candidate/x", "/photos/x", "/usr/x", "/x", "/etc/passwd", sys.prefix + "/x", "/dev/x")
for path in (*places, "/proc/sys/kernel/hostname", "/proc/sys/user/max_user_namespaces"):
    try:
        open(path, "w")
        print("WRITTEN", path)
    except OSError:
        pass
libc = ctypes.CDLL(None, use_errno=True)
tries = [libc.unshare(0x10000000), libc.unshare(0x20000), libc.setuid(0)]
tries += [libc.mount(b"x", b"/tmp", b"tmpfs", 0, None), libc.umount2(b"/photos", 2)]
print([*tries, libc.chroot(b"/tmp"), libc.sethostname(b"a", 1)])
"""

#: Kinds of sockets, and calls by their numbers on x86_64 and aarch64 (`shmget`, `io_uring_setup`, `bpf`).
CALLS = """
import concurrent.futures, ctypes, os, socket
made = []
for family in range(1, 46):
    for kind in (1, 2, 3, 5):
        try:
            made.append(socket.socket(family, kind).family)
        except OSError:
            pass
print("sockets", sorted({int(one) for one in made}))
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (29, 425, 321), "aarch64": (194, 425, 280)}[os.uname().machine]
print("calls", [libc.syscall(number, 0, 4096, 0o1600, 0, 0) for number in numbers], ctypes.get_errno())
x32 = libc.syscall(ctypes.c_long((1 << 30) + 41), 1, 1, 0) if os.uname().machine == "x86_64" else -1
print("x32", x32)
with concurrent.futures.ProcessPoolExecutor(2) as pool:
    print("pool", list(pool.map(abs, [-1, -2])), len(socket.socketpair()))
"""

FORKS = """
import os, signal
made = []
try:
    while True:
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGSTOP)
        made.append(child)
except OSError as error:
    os.write(1, f"{len(made)} {error.errno}".encode())
for child in made:
    os.kill(child, 9)
"""

ORDINARY = """
import ctypes, os
libc = ctypes.CDLL(None)
told = f"{os.getuid()} {sorted(os.listdir('/'))} {libc.unshare(0x10000000)}"
open("/out/predictions.jsonl", "w").write(told)
for name in ("environ", "mem", "root/etc"):
    try:
        print("REACHED", os.listdir("/proc/1/root") if "root" in name else open("/proc/1/" + name, "rb").read(1))
    except OSError as error:
        print(error)
"""

#: Programs that want more than they may have, and what they are told.
BOMBS = {
    "endless": ("while True: pass", "longer than 1.5 seconds"),
    "asleep": ("import os, time; os.fork(); os.getpid() == 1 or time.sleep(99)", "longer than 1.5 seconds"),
    "fork bomb": (
        """
        import os, signal
        signal.signal(15, signal.SIG_IGN)
        while True:
            try:
                os.fork()
            except OSError:
                pass
        """,
        "48 processes",
    ),
    "memory": ("x = []\nwhile True: x.append(bytearray(1 << 22))", "0.5 GB of memory"),
    "memory of many": (
        """
        import os, time
        for _ in range(4):
            if os.fork() == 0:
                x = bytearray(200 << 20)
                time.sleep(99)
        time.sleep(99)
        """,
        "0.5 GB of memory",
    ),
    "memory without a name": (
        """
        import os
        x = []
        while True:
            x.append(os.memfd_create("a"))
            os.write(x[-1], bytes(50 << 20))
        """,
        "0.5 GB of memory",
    ),
}

#: Set by a CI: then their absence is an error and no reason to skip.
REQUIRE_NAMESPACES = "HARNESS_REQUIRE_NAMESPACES"


@pytest.fixture(scope="module")
def _available() -> None:
    done = subprocess.run(["unshare", "-U", "true"], capture_output=True, check=False)
    if done.returncode and os.geteuid() != 0:
        assert not os.environ.get(REQUIRE_NAMESPACES), f"no user namespaces: {done.stderr.decode()}"
        pytest.skip("this system gives no user namespaces")


@pytest.fixture
def box(tmp_path: Path, _available: None) -> Iterator[Path]:
    """A folder with a candidate's tree and its photos."""
    for name in ("tree", "photos", "set"):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(0o755)
    (tmp_path / "photos" / "a.png").write_bytes(b"a photo")
    (tmp_path / "set" / "bib_ground_truth.json").write_text(SECRET)
    yield tmp_path
    assert not left_behind(tmp_path)


def name_of(folder: Path) -> str:
    """What the candidate of a folder is called among all processes of the machine."""
    return f"candidate_{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}.py"


def left_behind(folder: Path) -> list[str]:
    """Processes of the candidate of this folder that live."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and name_of(folder).encode() in (process / "cmdline").read_bytes():
                found.append(process.name)
        except OSError:
            continue
    return found


def run(
    box: Path, text: str, rules: JudgeRules = RULES, protected: bool = True, hidden: tuple[Path, ...] = ()
) -> Ended:
    (box / "tree" / name_of(box)).write_text(dedent(text))
    command = ("python", name_of(box), "{photos}", "{out}")
    return run_candidate(Candidate(box / "tree", box / "photos", command, rules, hidden), protected)


def told(ended: Ended) -> str:
    return ended.log.decode()


class TestWhatItSees:
    def test_its_tree_the_photos_and_a_file_to_write(self, box: Path) -> None:
        ended = run(
            box,
            "import os, sys\n"
            "assert os.getcwd() == '/candidate' and os.listdir(sys.argv[1]) == ['a.png']\n"
            "open(sys.argv[2], 'w').write(open(sys.argv[1] + '/a.png').read())\n",
        )
        assert (ended.limit, ended.wrong, ended.content) == ("", "", b"a photo"), told(ended)
        assert ended.cpu_seconds > 0
        assert ended.seconds > 0

    def test_nothing_else_of_the_disk(self, box: Path) -> None:
        """It walks all that it can reach, through /proc as well, and looks for the secret. It finds the one in its own
        tree, so that it does know how to look."""
        (box / "tree" / "control").write_text(SECRET)
        inherited = os.open(box / "set" / "bib_ground_truth.json", os.O_RDONLY)
        os.set_inheritable(inherited, True)
        places = [str(box / "set"), str(Path.cwd() / ".git"), str(Path.cwd() / "tests")]
        packages = sysconfig.get_path("purelib"), sysconfig.get_path("stdlib")
        try:
            known = f"PLACES, SECRET, PACKAGES = {places!r}, {SECRET[::-1]!r}, {packages!r}"
            ended = run(box, f"{known}\n{SEARCH}", PATIENT)
        finally:
            os.close(inherited)
        found, seen = json.loads(ended.content or b"[null, 0]")
        assert found, told(ended)
        assert {Path(path).name for path in found} == {"control"}
        assert seen > 100

    def test_nothing_of_process_1_or_of_the_callers_environment(
        self, box: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", SECRET)
        ended = run(box, PRY)
        said = told(ended)
        assert ended.content == b"done", said
        assert "REACHED" not in said
        assert "ptrace -1" in said
        assert "['1', '2'] 1000 False" in said
        assert said.count("0000000000000000") == 3
        assert r"NoNewPrivs:\t1" in said
        assert "['HOME', 'LANG', 'PATH', 'PYTHONDONTWRITEBYTECODE', 'PYTHONHASHSEED', 'PYTHONPATH']" in said

    def test_no_network_and_no_socket_of_the_host(self, box: Path) -> None:
        with socket.socket() as listening, socket.socket(socket.AF_UNIX) as abstract:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            name = f"\0judge-{os.getpid()}"
            abstract.bind(name)
            abstract.listen()
            port = listening.getsockname()[1]
            ended = run(box, f"PORT, NAME = {port}, {name!r}\n{CONNECT}")
        assert "REACHED" not in told(ended)
        assert told(ended).count("[Errno") == 3

    def test_no_socket_beyond_the_namespace_and_no_memory_that_no_process_has(self, box: Path) -> None:
        """Sockets of virtual machines (AF_VSOCK) reach past a network namespace, and SysV memory past the watcher. What
        ordinary programs need goes on."""
        said = told(run(box, CALLS))
        sockets = [int(one) for one in said.partition("sockets [")[2].partition("]")[0].split(",")]
        assert set(sockets) <= {socket.AF_UNIX, socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK}
        assert socket.AF_UNIX in sockets
        assert f"calls [-1, -1, -1] {errno.EPERM}" in said
        assert "x32 -1" in said
        assert "pool [1, 2] 2" in said

    def test_it_can_write_nothing_that_lasts_and_gain_no_privilege(self, box: Path) -> None:
        ended = run(box, WRITE)
        assert "WRITTEN" not in told(ended)
        assert "[-1, -1, -1, -1, -1, -1, -1]" in told(ended)
        left = sorted(path.name for path in box.rglob("*") if path.is_file())
        assert left == ["a.png", "bib_ground_truth.json", name_of(box)]

    def test_what_is_hidden_inside_of_what_it_needs_is_covered(self, box: Path) -> None:
        """A reference set or a store may lie below the interpreter's folder."""
        place = Path(sys.prefix) / f"judge-test-{os.getpid()}"
        place.mkdir()
        try:
            (place / "labels.json").write_text("labels")  # not the secret: another test may look for it meanwhile
            text = f"import os; print('found', os.listdir({str(place)!r}))"
            assert "found ['labels.json']" in told(run(box, text))
            assert "found []" in told(run(box, text, hidden=(place,)))
        finally:
            shutil.rmtree(place)

    def test_what_is_needed_and_hidden_at_once_is_refused(self) -> None:
        with pytest.raises(Exception, match="keep the two apart"):
            covered([Path(sys.prefix)], [os.path.realpath(sys.prefix)])

    def test_the_id_outside_is_nobodys(self) -> None:
        assert outer_id() != outer_id() or outer_id() > 1000


class TestLimits:
    """Each ends the whole sandbox, and nothing of it lives on."""

    @pytest.mark.parametrize(("text", "limit"), BOMBS.values(), ids=BOMBS)
    def test_a_limit_ends_it(self, box: Path, text: str, limit: str) -> None:
        seconds = 1.5 if "longer" in limit else 20
        started = time.monotonic()
        ended = run(box, text, RULES.model_copy(update={"seconds": seconds}))
        assert limit in ended.limit
        assert ended.limit or ended.wrong
        assert ended.content == b""
        assert time.monotonic() - started < 19
        assert ended.peak_memory < 2 * RULES.memory

    def test_a_machine_without_memory_ends_it_and_nothing_is_judged(
        self, box: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It may have memory that no process shows, or none of it: nobody can say, and no verdict follows from it."""
        monkeypatch.setattr("harness.candidates.sandbox._left", lambda: 1 << 20)
        with pytest.raises(HarnessError, match="ran out of memory while it ran: nothing was judged"):
            run(box, "import time; time.sleep(60)")

    def test_a_sandbox_that_was_ended_from_elsewhere_is_not_judged(
        self, box: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def end(self: _Run, root: int) -> Usage:
            for process in family(root)[1:]:
                with suppress(ProcessLookupError):  # it ended with the one before
                    os.kill(process, signal.SIGKILL)
            return Usage(0, 0)

        monkeypatch.setattr(_Run, "_usage", end)
        with pytest.raises(HarnessError, match=r"ended from elsewhere.*nothing was judged"):
            run(box, "import time; time.sleep(60)")

    def test_the_kernel_counts_its_processes_too(self, box: Path) -> None:
        """The watcher looks from time to time; the kernel refuses the process that is one too many."""
        ended = run(box, FORKS)
        assert told(ended) in ("47 11", "")  # where the watcher was faster, it says nothing
        assert told(ended) or "48 processes" in ended.limit

    def test_gigabytes_of_output(self, box: Path) -> None:
        ended = run(box, "f = open('/out/predictions.jsonl', 'wb')\nwhile True: f.write(bytes(1 << 20))")
        assert "more than 4 MB" in ended.limit
        ended = run(box, "import os\nn = 0\nwhile True:\n  n += 1; open(f'/tmp/{n}', 'wb').write(bytes(16 << 20))")
        assert "No space left" in told(ended)

    def test_gigabytes_of_words(self, box: Path) -> None:
        ended = run(box, "import sys\nfor _ in range(4000): sys.stdout.write('x' * 4096)")
        assert len(ended.log) == MOST_LOG

    @pytest.mark.parametrize(
        "text",
        [
            "os.symlink('/etc/passwd', out)",
            "os.mkfifo(out)",
            "os.mkdir(out)",
            "import socket; socket.socket(1).bind(out)",
            "os.symlink('/proc/1/environ', out)",
            "pass",
        ],
    )
    def test_only_a_plain_file_is_taken(self, box: Path, text: str) -> None:
        ended = run(box, f"import os; out = '/out/predictions.jsonl'; {text}")
        assert ended.wrong.startswith("its file of predictions ")
        assert ended.content == b""

    def test_a_crash_and_children_that_stay(self, box: Path) -> None:
        assert run(box, "raise SystemExit(3)").wrong == "it ended with exit code 3"
        assert run(box, "import os; os.kill(os.getpid(), 11)").wrong == "it ended with signal SIGSEGV"
        stay = (
            "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: time.sleep(99)\n  os._exit(0)\n"
        )
        ended = run(box, stay + "open('/out/predictions.jsonl', 'w').write('x')")
        assert ended.content == b"x"
        assert ended.seconds < 15

    def test_a_judge_that_is_killed_takes_its_candidate_along(self, box: Path) -> None:
        (box / "tree" / name_of(box)).write_text("import time; time.sleep(99)")
        code = (
            "from pathlib import Path; from harness.candidates.sandbox import run_candidate\n"
            "from harness.candidates.world import Candidate; from harness.candidates.rules import JudgeRules\n"
            f"box = Path({str(box)!r})\n"
            f"run_candidate(Candidate(box / 'tree', box / 'photos', ('python', {name_of(box)!r}), JudgeRules(), ()))"
        )
        judge = subprocess.Popen([sys.executable, "-c", code])
        deadline = time.monotonic() + 30
        while not left_behind(box) and time.monotonic() < deadline:
            time.sleep(0.05)
        judge.kill()
        judge.wait()
        while left_behind(box) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not left_behind(box)


@pytest.mark.parametrize("root", [0, 1, -1])
def test_what_all_processes_come_from_is_never_ended(root: int) -> None:
    with pytest.raises(ValueError, match="all processes of the machine"):
        end_descendants(root)


def test_a_limit_that_is_reached_before_the_first_process_is_known(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bystander = subprocess.Popen(["sleep", "300"])
    slow = box / "slow.py"
    slow.write_text("import time; time.sleep(300)")
    monkeypatch.setattr(inside, "__file__", str(slow))
    monkeypatch.setattr("harness.candidates.sandbox.PATIENCE", 1.0)
    try:
        ended = run(box, "pass", RULES.model_copy(update={"seconds": 0.3}))
        assert "longer than 0.3" in ended.limit
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_system_without_namespaces_is_told(box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here: one that does not map the id of the candidate."""
    monkeypatch.setattr("harness.candidates.world.outer_id", lambda: 4294967295)
    if os.geteuid() != 0:
        pytest.skip("only root maps another id")
    with pytest.raises(NoSandboxError, match="map of users"):
        run(box, "pass")


def test_without_a_sandbox_limits_hold_all_the_same(box: Path) -> None:
    ended = run(box, "import sys; open(sys.argv[2], 'w').write('x')", protected=False)
    assert ended.content == b"x"
    slow = RULES.model_copy(update={"seconds": 1.0})
    ended = run(
        box, "import os, time\nos.fork(); os.setsid() if os.getpid() % 1 else 0\ntime.sleep(99)", slow, protected=False
    )
    assert "longer than 1 seconds" in ended.limit


@pytest.mark.skipif(os.geteuid() != 0 or not Path("/usr/bin/python3").exists(), reason="needs root and a system Python")
def test_an_ordinary_user_has_the_same_sandbox(box: Path) -> None:
    """The first process as somebody who is not root: mapped to the candidate alone, without a second id."""
    (box / "tree" / name_of(box)).write_text(dedent(ORDINARY))
    root = box / "root"
    root.mkdir()
    for path in (*box.parents, box):  # another user has to get there
        if path.stat().st_uid == os.geteuid() and len(path.parts) > 2:
            path.chmod(path.stat().st_mode | 0o011)
    os.chown(root, 65534, 65534)
    plan = Candidate(box / "tree", box / "photos", ("/usr/bin/python3", name_of(box)), RULES, ()).plan(root, True)
    shown = [bind for bind in plan["binds"] if bind[0].startswith(("/usr", "/lib", "/bin", "/sbin", str(box)))]
    reading, writing = os.pipe()
    log, logging = os.pipe()
    plan |= {"outer": None, "binds": shown, "links": [link for link in plan["links"] if link[0].count("/") == 1]}
    plan |= {"report": writing, "log": logging}
    script = box / "inside.py"
    shutil.copy(inside.__file__, script)
    script.chmod(0o644)
    done = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-I", "-S", str(script)],
        input=json.dumps(plan).encode(),
        pass_fds=(writing, logging),
        capture_output=True,
        check=False,
    )
    os.close(writing)
    os.close(logging)
    said = os.read(reading, 1 << 16).split(b"\n")
    assert done.returncode == 0, (done.stderr, said)
    assert json.loads(said[1])["ended"] == 0, os.read(log, 9999)
    uid, names = said[2].decode().split(" ", 1)
    assert uid == "1000"
    assert "'set'" not in names
    assert names.endswith("-1")
    assert b"REACHED" not in os.read(log, 9999)
