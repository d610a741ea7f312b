"""A candidate's files are taken out of git as they are, and nothing of it is run or followed on the way."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import ConfigError, HarnessError
from harness.candidates.laying import read_file
from harness.candidates.trees import MOST_DIFF, Repository, change_between


def git(folder: Path, *words: str, given: bytes = b"") -> str:
    settings = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return (
        subprocess.run(["git", *settings, *words], cwd=folder, input=given, capture_output=True, check=True)
        .stdout.decode()
        .strip()
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "a.py").write_text("one\r\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "below").mkdir()
    (folder / "below" / "b.txt").write_text("$Id$ two")
    (folder / "link").symlink_to("below/b.txt")
    (folder / ".gitignore").write_text("ignored\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "one")
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_a_commit_is_laid_out_byte_by_byte(repository: Path, tmp_path: Path) -> None:
    tree = Repository(repository).lay_out_commit("main", tmp_path / "out")
    found = files(tmp_path / "out")
    assert found.keys() == {"a.py", "run.sh", "below/b.txt", "link", ".gitignore"}
    assert found["a.py"] == b"one\r\n"
    assert (tmp_path / "out" / "run.sh").stat().st_mode & 0o777 == 0o755
    assert str((tmp_path / "out" / "link").readlink()) == "below/b.txt"
    assert tree.commit == git(repository, "rev-parse", "HEAD")


def test_a_worktree_has_what_is_on_the_disk(repository: Path, tmp_path: Path) -> None:
    clean = Repository(repository).lay_out_worktree(tmp_path / "clean")
    assert clean.digest == Repository(repository).lay_out_commit("HEAD", tmp_path / "head").digest
    (repository / "new.py").write_text("new")
    (repository / "ignored").write_text("no")
    (repository / "below" / "b.txt").unlink()
    (repository / "a.py").write_text("edited")
    dirty = Repository(repository / "below").lay_out_worktree(tmp_path / "dirty")
    assert files(tmp_path / "dirty").keys() == {"a.py", "run.sh", ".gitignore", "new.py"}
    assert dirty.digest != clean.digest


def test_mode_path_and_content_are_in_the_digest(repository: Path, tmp_path: Path) -> None:
    digests = [Repository(repository).lay_out_worktree(tmp_path / "0").digest]
    (repository / "a.py").chmod(0o755)
    digests.append(Repository(repository).lay_out_worktree(tmp_path / "1").digest)
    (repository / "a.py").rename(repository / "c.py")
    digests.append(Repository(repository).lay_out_worktree(tmp_path / "2").digest)
    (repository / "c.py").write_text("x")
    digests.append(Repository(repository).lay_out_worktree(tmp_path / "3").digest)
    assert len(set(digests)) == 4


def test_no_hook_filter_monitor_or_attribute_of_the_repository_takes_part(repository: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    spy = tmp_path / "spy.sh"
    spy.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    spy.chmod(0o755)
    for name in ("post-checkout", "post-index-change", "fsmonitor-watchman", "reference-transaction"):
        hook = repository / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.symlink_to(spy)
    (repository / ".gitattributes").write_text("* filter=spy diff=spy export-subst\nbelow export-ignore\n")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "attributes")
    for key in (
        "filter.spy.smudge",
        "filter.spy.clean",
        "diff.spy.textconv",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
    ):
        git(repository, "config", key, str(spy))
    mark.unlink(missing_ok=True)
    own = Repository(repository)
    base = own.lay_out_commit("HEAD~1", tmp_path / "base")
    tree = own.lay_out_commit("HEAD", tmp_path / "out")
    own.lay_out_worktree(tmp_path / "disk")
    change = change_between(base, tree)
    assert not mark.exists()
    assert (tmp_path / "out" / "below" / "b.txt").read_text() == "$Id$ two"
    assert change.counted == "1 file changed, 2 insertions(+)"
    assert "+++ out/.gitattributes" in change.text


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "below/../../outside", ".."])
def test_a_link_that_leaves_the_tree_is_refused(repository: Path, tmp_path: Path, target: str) -> None:
    (repository / "bad").symlink_to(target)
    with pytest.raises(HarnessError, match=r"bad: a link to .*, which leaves the tree"):
        Repository(repository).lay_out_worktree(tmp_path / "disk")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "bad")
    with pytest.raises(HarnessError, match="leaves the tree"):
        Repository(repository).lay_out_commit("HEAD", tmp_path / "out")


@pytest.mark.parametrize("name", ["..", ".git", ".GIT"])
def test_a_tree_with_names_that_git_never_writes_is_refused(repository: Path, tmp_path: Path, name: str) -> None:
    blob = git(repository, "hash-object", "-w", "--stdin", given=b"x")
    inner = git(
        repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=_entry("100644", "x", blob)
    )
    outer = git(
        repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=_entry("40000", name, inner)
    )
    commit = git(repository, "commit-tree", outer, "-m", "odd")
    with pytest.raises(HarnessError, match="no name for a file of a tree"):
        Repository(repository).lay_out_commit(commit, tmp_path / "out")
    assert not (tmp_path / "x").exists()


def _entry(mode: str, name: str, blob: str) -> bytes:
    return f"{mode} {name}\0".encode() + bytes.fromhex(blob)


def _blob(folder: Path, content: bytes) -> str:
    return git(folder, "hash-object", "-w", "--stdin", given=content)


def _tree(folder: Path, *entries: bytes) -> str:
    return git(folder, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=b"".join(entries))


#: A link that leads to the top of the tree from three folders below it, so that more `..` after it leave the tree.
DEEP, OUT_OF_IT = "deep/deep/deep/link", "deep/deep/deep/link/../outside"


def _deep(folder: Path) -> bytes:
    """An entry with the folders of DEEP."""
    inner = _entry("120000", "link", _blob(folder, b"../../.."))
    for _ in range(3):
        inner = _entry("40000", "deep", _tree(folder, inner))
    return inner


def test_a_link_that_leaves_the_tree_through_another_is_refused(repository: Path, tmp_path: Path) -> None:
    tree = _tree(repository, _deep(repository), _entry("120000", "link", _blob(repository, OUT_OF_IT.encode())))
    commit = git(repository, "commit-tree", tree, "-m", "odd")
    with pytest.raises(HarnessError, match=r"link: a link to .*, which leaves the tree"):
        Repository(repository).lay_out_commit(commit, tmp_path / "out")


def test_nothing_is_written_through_a_link_that_is_a_folder_as_well(repository: Path, tmp_path: Path) -> None:
    """Git never makes such a tree. The link leads out of it, and the folder of the same name has something to write."""
    (tmp_path / "outside").mkdir()
    folder = _tree(repository, _entry("120000", "planted", _blob(repository, b"x")))
    link = _entry("120000", "z", _blob(repository, OUT_OF_IT.encode()))
    tree = _tree(repository, _deep(repository), link, _entry("40000", "z", folder))
    commit = git(repository, "commit-tree", tree, "-m", "odd")
    with pytest.raises(HarnessError, match="z: cannot be laid out"):
        Repository(repository).lay_out_commit(commit, tmp_path / "out")
    assert list((tmp_path / "outside").iterdir()) == []


@pytest.mark.parametrize("way", ["ext", "file"])
def test_an_object_that_is_not_there_is_fetched_by_no_program_of_the_repository(
    repository: Path, tmp_path: Path, way: str
) -> None:
    """Git fetches what a partial clone lacks; its config allows all transports, and names programs for them."""
    mark, blob = tmp_path / "mark", _blob(repository, b"gone")
    commit = git(repository, "commit-tree", _tree(repository, _entry("100644", "a", blob)), "-m", "partial")
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    url = {"ext": f"ext::sh -c touch% {mark}", "file": str(repository)}[way]
    settings = {
        "core.repositoryformatversion": "1",
        "extensions.partialClone": "origin",
        "protocol.allow": "always",
        f"protocol.{way}.allow": "always",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": f"touch {mark}; git-upload-pack",
        "remote.origin.url": url,
    }
    for key, value in settings.items():
        git(repository, "config", key, value)
    with pytest.raises(HarnessError, match="a: git does not have its content"):
        Repository(repository).lay_out_commit(commit, tmp_path / "out")
    assert not mark.exists()
    subprocess.run(["git", "cat-file", "-p", blob], cwd=repository, capture_output=True, check=False)
    assert mark.exists()  # which is what git itself does here


def test_a_repository_that_says_its_files_are_elsewhere_is_refused(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "labels.json").write_text("labels")
    git(repository, "config", "core.worktree", str(tmp_path))
    for folder in (repository, repository / "below"):
        with pytest.raises(ConfigError, match="says that its files are in"):
            Repository(folder)


def test_a_small_tree_of_billions_of_files_is_refused(repository: Path, tmp_path: Path) -> None:
    inner = _entry("100644", "f0", _blob(repository, b"x"))
    for depth in range(10):
        entries = [f"{_kind(depth)} {name}{depth}\0".encode() + inner[-20:] for name in "abcdefghij"]
        inner = _entry("40000", "t", _tree(repository, *entries))
    commit = git(repository, "commit-tree", _tree(repository, inner), "-m", "bomb")
    with pytest.raises(HarnessError, match="too large to be judged"):
        Repository(repository).lay_out_commit(commit, tmp_path / "out")


def _kind(depth: int) -> str:
    return "40000" if depth else "100644"


def test_content_beyond_the_limit_is_refused_before_git_unpacks_it(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.candidates.laying._MOST_BYTES", 1000)
    monkeypatch.setattr(Repository, "_contents", lambda *_: pytest.fail("the content was asked for"))
    (repository / "zeros").write_bytes(bytes(1001))
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "zeros")
    with pytest.raises(HarnessError, match="too large to be judged: expected at most"):
        Repository(repository).lay_out_commit("HEAD", tmp_path / "out")


def test_what_no_candidate_may_see_is_left_out_of_its_tree(repository: Path, tmp_path: Path) -> None:
    """Labels that the repository tracks."""
    (repository / "data" / "reference").mkdir(parents=True)
    (repository / "data" / "reference" / "bib_ground_truth.json").write_text("labels")
    (repository / "data" / "reference.py").write_text("code")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "labels")
    own = Repository(repository, ("data/reference", "store"))
    for tree in (own.lay_out_commit("HEAD", tmp_path / "a"), own.lay_out_worktree(tmp_path / "b")):
        assert tree.sealed == ("data/reference",)
        found = files(tree.folder)
        assert "data/reference.py" in found
        assert not [name for name in found if name.startswith("data/reference/")]


def test_a_folder_that_becomes_a_link_while_it_is_read_is_not_followed(repository: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "b.txt").write_text("labels")
    assert read_file(repository, "below/b.txt") is not None
    (repository / "below").rename(repository / "was")
    (repository / "below").symlink_to(secret)
    assert read_file(repository, "below/b.txt") is None


def test_a_large_change_is_cut(repository: Path, tmp_path: Path) -> None:
    own = Repository(repository)
    base = own.lay_out_commit("HEAD", tmp_path / "base")
    (repository / "large").write_text("x\n" * MOST_DIFF)
    change = change_between(base, own.lay_out_worktree(tmp_path / "candidate"))
    assert len(change.text) < MOST_DIFF + 100
    assert change.text.endswith("... and more")
    assert change.counted == f"1 file changed, {MOST_DIFF} insertions(+)"


def test_a_file_behind_a_link_of_the_worktree_is_refused(repository: Path, tmp_path: Path) -> None:
    """A tracked folder that was replaced by a link: git still lists the files in it."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "b.txt").write_text("labels")
    (repository / "below" / "b.txt").unlink()
    (repository / "below").rmdir()
    (repository / "below").symlink_to(secret)
    with pytest.raises(HarnessError, match="leaves the tree"):
        Repository(repository).lay_out_worktree(tmp_path / "disk")


def test_pipes_and_submodules(repository: Path, tmp_path: Path) -> None:
    os.mkfifo(repository / "pipe")
    found = Repository(repository).lay_out_worktree(tmp_path / "disk")  # git does not list it
    assert "pipe" not in files(tmp_path / "disk")
    (repository / "a.py").unlink()
    os.mkfifo(repository / "a.py")
    with pytest.raises(HarnessError, match="no plain file"):
        Repository(repository).lay_out_worktree(tmp_path / "again")
    (repository / "a.py").unlink()
    commit = git(repository, "rev-parse", "HEAD")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{commit},module")
    git(repository, "commit", "--quiet", "--message", "module")
    assert Repository(repository).lay_out_commit("HEAD", tmp_path / "module").left_out == ("module",)
    assert found.left_out == ()


@pytest.mark.parametrize("word", ["--upload-pack=x", "nothing", "HEAD:a.py", "-h"])
def test_what_is_no_commit_is_told(repository: Path, tmp_path: Path, word: str) -> None:
    with pytest.raises(ConfigError, match="no commit of"):
        Repository(repository).lay_out_commit(word, tmp_path / "out")
    with pytest.raises(ConfigError, match="no git repository here"):
        Repository(tmp_path)
