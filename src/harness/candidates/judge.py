"""Judging a candidate, from its files to a line in the ledger: laid out, run where it sees photos alone, scored by a
process that has none of its code, and held against the base and against all candidates before it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import harness
from harness.base.cache import cache_dir
from harness.base.conf import conf_dir
from harness.base.disk import write_atomically
from harness.base.errors import ConfigError, HarnessError
from harness.base.scratch import scratch
from harness.base.texts import one_line
from harness.candidates.asking import Setting, ask_scores, ask_setting
from harness.candidates.deciding import decide, failed
from harness.candidates.rules import JudgeRules, judges_people
from harness.candidates.sandbox import Ended, NoSandboxError, run_candidate
from harness.candidates.scorer import Question, Scored
from harness.candidates.trees import Change, Repository, Tree, change_between
from harness.candidates.tries import Answer, Cost, Tries, Try
from harness.candidates.world import Candidate, has_harness

#: What a run without a sandbox leaves open.
OPEN = (
    "it runs as you: it can read labels, the store and every file of yours, reach the network, change files and talk "
    "to other processes; only its time, its memory and the size of its files are limited"
)
#: A hypothesis is for people to read.
_LONGEST_HYPOTHESIS = 2000

#: Which constraints some values break, in words; the second are the intervals of the values.
Broken = Callable[[Mapping[str, float], Mapping[str, Mapping[str, Any]]], list[str]]


@dataclass(frozen=True)
class Contest:
    """What the candidates of a study are judged by: all of it comes from the person who wrote the experiment file, and
    nothing from a candidate. `overrides` are those of the data, the scoring and the gate; `definition` is a digest of
    the experiment."""

    study: str
    folder: Path
    overrides: tuple[str, ...]
    metric: str
    sign: int
    seed: int
    rules: JudgeRules
    command: tuple[str, ...]
    definition: str
    broken: Broken


@dataclass(frozen=True)
class Entry:
    """What somebody wants to have judged: a commit or the folder of a worktree, beside which base, and why. Without a
    base it is that of the study, and else HEAD."""

    candidate: str
    base: str | None = None
    hypothesis: str = ""
    protected: bool = True
    holdout: bool = False


def judge_candidate(contest: Contest, entry: Entry, folder: Path) -> tuple[Try, bool]:
    """Judge a candidate of the repository of a folder; says whether it was judged before, and the answer is that one.
    Raises where there is nothing to judge, or where it cannot be done safely."""
    if len(entry.hypothesis) > _LONGEST_HYPOTHESIS:
        raise ConfigError(f"--hypothesis: expected at most {_LONGEST_HYPOTHESIS} characters")
    setting = ask_setting(contest.overrides, contest.metric, entry.holdout, judges_people(contest.command))
    hidden = _hidden(contest, setting, folder)
    with scratch() as place:
        base, candidate = _laid_out(entry, entry.base or contest.rules.base or "HEAD", folder, place, hidden)
        if base.digest == candidate.digest:
            raise ConfigError(f"{candidate.name}: has the files of its base {base.name}; there is nothing to judge")
        return _Judge(contest, entry, setting, place, hidden).judge(base, candidate)


def _laid_out(entry: Entry, base: str, folder: Path, place: Path, hidden: tuple[Path, ...]) -> tuple[Tree, Tree]:
    worktree, top = Path(folder, entry.candidate), Repository(folder).top
    if worktree.is_dir():
        sealed = {*_below(top, hidden), *_below(Repository(worktree).top, hidden)}
        own = Repository(worktree, tuple(sealed))
        candidate = own.lay_out_worktree(place / "candidate")
        return own.lay_out_commit(base, place / "base"), candidate
    repository = Repository(folder, _below(top, hidden))
    candidate = repository.lay_out_commit(entry.candidate, place / "candidate")
    return repository.lay_out_commit(base, place / "base"), candidate


def _below(top: Path, hidden: tuple[Path, ...]) -> tuple[str, ...]:
    """What is hidden and lies in a tree, by its path there: a repository may track labels and photos."""
    whole = Path(os.path.realpath(top))
    inside = [place for one in hidden if (place := Path(os.path.realpath(one))).is_relative_to(whole)]
    return tuple(place.relative_to(whole).as_posix() for place in inside if place != whole)


def _hidden(contest: Contest, setting: Setting, folder: Path) -> tuple[Path, ...]:
    """What no candidate may see, wherever it lies."""
    store = (Path(setting.store),) if setting.store else ()
    photos = {Path(photo).parents[1] for photo in list(setting.photos.values())[:1]}
    return (Path(setting.root), *photos, *store, contest.folder, cache_dir(), Repository(folder).top)


@dataclass(frozen=True)
class _Judge:
    contest: Contest
    entry: Entry
    setting: Setting
    place: Path
    hidden: tuple[Path, ...]

    @property
    def tries(self) -> Tries:
        return Tries(self.contest.folder)

    def judge(self, base: Tree, candidate: Tree) -> tuple[Try, bool]:
        key = self._key(candidate, base.digest)
        if (known := self.tries.find(key)) is not None:
            return known, True
        change = change_between(base, candidate)
        self._copy_photos(self.setting.photos, self.place / "photos")
        self._copy_photos(self.setting.selfies, self.place / "selfies")
        with self.tries.alone():
            if (known := self.tries.find(key)) is not None:  # somebody else has judged it meanwhile
                return known, True
            base_file = self._base_predictions(base)
            new = self._judged(key, base, candidate, base_file, change)
            self.tries.append(new)
        return new, False

    def _judged(self, key: str, base: Tree, candidate: Tree, base_file: Path, change: Change) -> Try:
        ended = self._run(candidate)
        file = self.place / "predictions.jsonl"
        file.write_bytes(ended.content)
        before = self.tries.read()
        # What a program says about the holdout's photos is for nobody.
        wrong = ended.wrong and ended.wrong + ("" if self.entry.holdout else _said(ended))
        decision, scored = failed(ended.limit, wrong), None
        if decision is None:
            scored = ask_scores(self._question(base_file, file, before))
            decision = decide(self.contest.metric, scored, self.contest.broken(scored.values, scored.intervals))
        new = self._try(len(before) + 1, key, base, candidate, ended, change)
        new = replace(new, answer=decision[0], reason=decision[1])
        if scored is not None and not scored.bad:
            new = self._with_scores(new, scored)
        if not self.entry.holdout:  # of a look at the holdout nothing is kept but what is told
            _keep(self.contest.folder / "judged" / key[:16], ended, change)
        return new

    def _try(self, number: int, key: str, base: Tree, candidate: Tree, ended: Ended, change: Change) -> Try:
        return Try(
            number=number,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            key=key,
            tree=candidate.digest,
            parent=base.digest,
            candidate=candidate.commit or candidate.name,
            base=base.commit,
            answer=Answer.CANNOT_TELL,
            reason="",
            hypothesis=self.entry.hypothesis.encode(errors="backslashreplace").decode(),
            split=self.setting.split,
            protected=self.entry.protected,
            limit=ended.limit,
            cost=Cost(round(ended.seconds, 3), round(ended.cpu_seconds, 3), ended.peak_memory),
            changed=change.counted,
            notes=tuple(self._notes(candidate)),
            predictions=""
            if self.entry.holdout or _personal(ended.content)
            else hashlib.sha256(ended.content).hexdigest(),
        )

    def _notes(self, candidate: Tree) -> Iterator[str]:
        """What whoever reads the answer has to know."""
        if candidate.left_out:
            yield f"submodules are not fetched: {', '.join(candidate.left_out)}"
        if candidate.sealed:
            yield f"left out, as no candidate may see it: {', '.join(map(one_line, candidate.sealed))}"
        if not candidate.commit and Path(self.setting.root).resolve().is_relative_to(candidate.source.resolve()):
            yield f"the labels lie in its own folder, {self.setting.root}: whoever wrote the code could change them"
        if not self.entry.protected:
            yield f"UNPROTECTED: {OPEN}"

    def _with_scores(self, new: Try, scored: Scored) -> Try:
        return replace(
            new,
            metrics=scored.metrics,
            standing=scored.standing,
            tries=scored.tries,
            level=scored.level,
            look=scored.look,
            sides=scored.sides,
            base_sides=scored.base_sides,
        )

    def _question(self, base: Path, candidate: Path, before: list[Try]) -> Question:
        """Candidates beside a base that answers as this one does are counted together, whatever its text."""
        scored = [each for each in before if each.sides is not None and each.base_sides is not None]
        return Question(
            overrides=self.contest.overrides,
            metric=self.contest.metric,
            sign=self.contest.sign,
            base=str(base),
            candidate=str(candidate),
            seed=self.contest.seed,
            study=self.contest.study,
            before=tuple((each.sides, each.base_sides) for each in scored if each.sides and each.base_sides),
            bases=tuple(first["baseline"] for each in before if (first := each.objective) and each.sides is None),
            holdout=self.entry.holdout,
        )

    def _run(self, tree: Tree) -> Ended:
        contest = self.contest
        selfies = self.place / "selfies" if judges_people(contest.command) else None
        photos = self.place / "photos"
        candidate = Candidate(tree.folder, photos, contest.command, contest.rules, self.hidden, selfies)
        try:
            return run_candidate(candidate, self.entry.protected)
        except NoSandboxError as error:
            raise NoSandboxError(
                f"this system gives no namespaces to shut a candidate in ({error}). Without them {OPEN}. "
                "--unprotected judges it all the same, and marks the answer"
            ) from error

    def _base_predictions(self, base: Tree) -> Path:
        """What the base predicts, in the same sandbox: made once, and checked by its digest whenever it is used. With
        embeddings, which are kept nowhere, it is made each time."""
        kept = self.contest.folder / "judged" / f"base-{self._key(base, '')[:16]}.jsonl"
        if not self.entry.holdout and kept.is_file():
            digest, _, content = kept.read_bytes().partition(b"\n")
            if hashlib.sha256(content).hexdigest().encode() == digest:
                return self._written(content)
        ended = self._run(base)
        if ended.limit or ended.wrong:
            raise HarnessError(f"the base {base.name} cannot be judged: {ended.limit or ended.wrong}{_said(ended)}")
        if not self.entry.holdout and not _personal(ended.content):
            kept.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256(ended.content).hexdigest().encode()
            write_atomically(kept, digest + b"\n" + ended.content)
        return self._written(ended.content)

    def _written(self, content: bytes) -> Path:
        path = self.place / "base.jsonl"
        path.write_bytes(content)
        return path

    def _copy_photos(self, photos: Mapping[str, str], folder: Path) -> None:
        """These photos and no other file, under names and times that tell nothing."""
        folder.mkdir(mode=0o755)
        for sha256, path in photos.items():
            target = folder / f"{sha256}{Path(path).suffix.lower()}"
            try:
                shutil.copyfile(path, target)
            except OSError as error:
                raise HarnessError(f"{path}: cannot be read: {error.strerror}") from error
            target.chmod(0o444)
            os.utime(target, (0, 0))

    def _key(self, tree: Tree, base: str) -> str:
        """All that an answer depends on."""
        contest, entry = self.contest, self.entry
        rules = contest.rules.model_dump(mode="json", exclude={"base"})
        installed = sorted({f"{each.name}=={each.version}" for each in distributions()})
        parts = {
            "trees": [tree.digest, base, has_harness(tree.folder)],
            "terms": [contest.definition, contest.command, rules, entry.protected],
            "data": [self.setting.digest, self.setting.split],
            "code": [sys.version, platform.machine(), installed, _own_digest()],
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _own_digest() -> str:
    """A digest of the harness that judges, and whose pipeline a candidate without one of its own uses."""
    total = hashlib.sha256()
    for root, pattern in ((Path(harness.__file__).parent, "*.py"), (conf_dir(), "*.yaml")):
        for path in sorted(root.rglob(pattern)):
            total.update(f"{path.relative_to(root)}\0".encode() + path.read_bytes())
    return total.hexdigest()


def _keep(folder: Path, ended: Ended, change: Change) -> None:
    """What a candidate wrote and changed, beside the ledger, for people to look at; never an embedding."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = {"log.txt": printable(ended.log).encode(), "change.diff": change.text.encode()}
    if not _personal(ended.content):
        kept["predictions.jsonl"] = ended.content
    for name, content in kept.items():
        write_atomically(folder / name, content)


def _personal(content: bytes) -> bool:
    """Whether predictions have embeddings."""
    return b'"embedding"' in content


def _said(ended: Ended) -> str:
    """The last line that a program has printed, as the end of a sentence about how it ended."""
    lines = [line for line in printable(ended.log[-4000:]).splitlines() if line.strip()]
    return f"; it said: {one_line(lines[-1])[-300:]}" if lines else ""


def printable(content: bytes) -> str:
    """Text from a candidate that can be shown: what controls a terminal is escaped."""
    text = content.decode(errors="backslashreplace")
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode() for c in text)


def told(found: Try, repeated: bool) -> str:
    """An answer in a terminal."""
    again = " (judged before; this is the answer of then)" if repeated else ""
    unprotected = "" if found.protected else ", UNPROTECTED"
    lines = [f"{found.answer}{unprotected}{again}: {found.reason}", f"  try {found.number}: {found.candidate[:40]}"]
    lines[-1] += f" beside {found.base[:12]}; {found.changed or 'no line changed'}"
    if (first := found.objective) is not None:
        low, high = first["low"], first["high"]
        sure = f" [{low:+.4f}, {high:+.4f}]" if low is not None and high is not None else ""
        lines.append(
            f"  {first['metric']}: {first['baseline']:.4f} -> {first['candidate']:.4f}, {first['gain']:+.4f}{sure}"
        )
        lines += [f"  {found.standing}"] if found.standing else []
    cost = found.cost
    lines.append(
        f"  cost: {cost.seconds:.1f} s, {cost.cpu_seconds:.1f} s of processors, {cost.peak_memory / (1 << 20):.0f} MB"
    )
    lines += [f"  {text}" for text in (found.look, *found.notes) if text]
    return "\n".join(lines)
