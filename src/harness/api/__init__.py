"""The Python API: runs, scores, comparisons and reference sets as objects. docs/api.md lists what is public.

The functions take the same overrides as the command line, print nothing unless asked to, and raise a `HarnessError`
where the command line would say what is wrong. They can be called from a notebook, from any thread and again and again:
working folder, `sys.argv` and logging stay as they are.
"""

from __future__ import annotations

import json
import re
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.api.results import Comparison, References, Run, RunList
from harness.base.conf import shadow_words
from harness.base.errors import ConfigError, HarnessError
from harness.base.progress import silent, warn
from harness.runs.gate import Gate

if TYPE_CHECKING:
    from harness.spec import RunSpec
    from harness.tracking.store import OpenStore

__all__ = [
    "Comparison",
    "References",
    "Run",
    "RunList",
    "compare",
    "list_runs",
    "load_references",
    "load_run",
    "run",
    "score",
]

#: Hydra composes in global state, and figures are drawn with global settings: one call works at a time.
_WORKING = threading.RLock()


def run(*overrides: str, quiet: bool = True) -> Run:
    """Evaluate one configuration, judge it against the baseline and log it to MLflow, as `harness OVERRIDE...` does.

    A run that has been made before is found again, unless the overrides say `force=true`. A run of which some items
    failed is returned with `complete` false; a verdict never raises, `passed` tells it, also with `gate=strict`.
    Without `quiet`, progress and scorecards are printed.

    >>> import harness
    >>> run = harness.run("preset=fast")
    >>> run.complete, run.data.name
    (True, 'sample')
    >>> run.metrics["face/recall"] > 0.9
    True
    >>> len(run.to_pandas()[["name", "status", "face.detection_tp"]]) == len(run.items)
    True
    """
    from harness.config import build
    from harness.showing import in_name

    return _evaluated(lambda: build(_compose(overrides), in_name(overrides)), quiet)


def score(
    predictions: str | Path | Iterable[Mapping[str, Any]],
    *overrides: str,
    missing_is_empty: bool = False,
    images: str | Path | None = None,
    categories: Mapping[str, str] | None = None,
    quiet: bool = True,
) -> Run:
    """Score what another program predicted on a reference set, as `harness score PREDICTIONS` does.

    The predictions are a file, or one mapping a photo in the same form, as in
    `{"photo": "a.jpg", "faces": [{"x": 0.1, "y": 0.2, "w": 0.05, "h": 0.1, "score": 0.9}]}`. Photos without a
    prediction make the run incomplete, unless `missing_is_empty`. COCO results need `images`, the COCO file that has
    their images and categories; `categories` says what a category of another name is, as in `{"number plate": "bib"}`.

    >>> import harness
    >>> photos = harness.load_references().photos
    >>> faces = [{"x": 0.4, "y": 0.1, "w": 0.1, "h": 0.15, "score": 0.5}]
    >>> run = harness.score([{"photo": photo.name, "faces": faces} for photo in photos])
    >>> run.complete, "face/recall" in run.metrics, "bib/recall" in run.metrics
    (True, True, False)
    """
    with _as_file(predictions) as path:
        choices = {"missing_is_empty": missing_is_empty, "images": Path(images) if images else None}
        return _evaluated(lambda: _scoring(path, overrides, **choices, categories=categories), quiet)


def compare(run: Run | str, base: Run | str | None = None, *overrides: str) -> Comparison:
    """Judge a run against another one, or against the baseline of its data, as `harness compare` does.

    Both are runs, ids, beginnings of ids, names, or `latest`. Without overrides, the store is that of the runs.

    >>> import harness
    >>> fast = harness.run("preset=fast")
    >>> comparison = harness.compare(harness.run("preset=fast", "face.threshold=0.9"), fast)
    >>> [(change.key, change.after) for change in comparison.config]
    [('face.threshold', '0.9')]
    >>> list(comparison.to_pandas().columns)
    ['value', 'baseline', 'gain', 'gain_low', 'gain_high', 'unseen', 'needed', 'verdict']
    """
    from harness.cli.parsing import is_override
    from harness.judging import compare_stored
    from harness.tracking.finding import find_base, find_run, has_run, newest_run

    if isinstance(base, str) and is_override(base):
        overrides = (base, *overrides)
        base = None
    with _WORKING:
        config = _compose(overrides)
        gate = _gate(config)
        own = next((each.store for each in (run, base) if isinstance(each, Run)), None)
        store = own if own and not overrides else _store(config)
        some = newest_run(store) is not None
        for each in (run, base):
            if some and isinstance(each, Run) and not has_run(store, each.id):
                raise ConfigError(f"{each.id}: it is kept in another store than the one that is searched for both runs")
        chosen = find_run(store, run.id if isinstance(run, Run) else run)
        named = base.id if isinstance(base, Run) else base
        against = find_base(store, chosen) if named is None else find_run(store, named)
        comparison = compare_stored(store, gate, chosen, against, config.seed)
    return Comparison(chosen.run_id, against.run_id, _passes(gate, comparison.judgement), comparison)


def load_run(run: str, *overrides: str) -> Run:
    """A stored run by its id, the beginning of one, its name or `latest`, judged against the baseline of today.

    >>> import harness
    >>> made = harness.run("preset=fast")
    >>> harness.load_run(made.id[:8]).metrics == made.metrics
    True
    """
    from harness.judging import judge_shown, known_judgement
    from harness.tracking.catalog import find_baseline, load_to_judge
    from harness.tracking.finding import find_run

    with _WORKING:
        config = _compose(overrides)
        gate, store = _gate(config), _store(config)
        found = find_run(store, run)
        kept = load_to_judge(store, found)
        if found.sealed:  # another judgement would be another look
            judgement, against, kept = known_judgement(found), found.judged_against or None, kept.without_scores()
        else:
            if wrong := gate.unknown(card.declared for card in kept.cards.values()):
                raise ConfigError(wrong)
            baseline = find_baseline(store, kept.metadata.data_digest, kept.metadata.data_split)
            judgement = judge_shown(gate, kept, baseline, config.seed, found.run_id).judgement
            against = baseline.run_id
    return Run(found.run_id, judgement, against, _passes(gate, judgement), True, kept, store)


def list_runs(*overrides: str, limit: int | None = None) -> RunList:
    """The stored runs, newest first: all, or the last ones. A store that does not exist yet has none.

    >>> import harness
    >>> made = harness.run("preset=fast")
    >>> made.id in [each.run_id for each in harness.list_runs()]
    True
    """
    from harness.building import instantiate
    from harness.tracking.finding import list_runs as entries

    with _WORKING:
        store = instantiate(_compose(overrides), "tracking")
        return RunList(tuple(entries(store.open(), limit=limit)) if store.exists else ())


def load_references(*overrides: str) -> References:
    """The photos and labels that a run with the same overrides would be scored on.

    >>> import harness
    >>> references = harness.load_references("references=sample", "references.split=full")
    >>> references
    <harness.References sample (full): 24 photos, ...>
    >>> references.photos[0].labels.bibs[0].number
    '7'
    >>> set(references.to_pandas()["kind"]) == {"bib", "face", "link"}
    True
    """
    from harness.building import instantiate

    with _WORKING, silent():
        source = instantiate(_compose(overrides), "references")
        if not hasattr(source, "load"):
            raise ConfigError("references=off: there are no photos; choose references=sample, staging or frozen")
        found = source.load()
    return References(found.name, found.split, found.digest, found.photos)


def _evaluated(plan: Callable[[], RunSpec], quiet: bool) -> Run:
    from harness.evaluate import audit, evaluate

    with _WORKING, silent() if quiet else nullcontext():
        spec = plan()
        for shadow in spec.shadowed:
            warn(shadow_words(shadow))
        result = evaluate(spec)
        audit(spec, result)
        passed = _passes(spec.gate, result.judgement)
        store = spec.tracking.open()
    made = Run(result.run_id, result.judgement, result.baseline_id, passed, result.reused, result.run, store)
    if not quiet:
        print(made, flush=True)
    return made


def _scoring(path: Path, overrides: tuple[str, ...], **choices: Any) -> RunSpec:
    """The plan of a run on predictions from a file."""
    from harness.cli.score import refuse_pipeline
    from harness.config import build
    from harness.showing import in_name
    from harness.tasks.photos.prediction_files import PredictionsFile

    refuse_pipeline(overrides)
    return build(_compose(overrides), in_name(overrides), PredictionsFile.of(path, **choices))


@contextmanager
def _as_file(predictions: str | Path | Iterable[Mapping[str, Any]]) -> Iterator[Path]:
    """The predictions as a file. Its name is always the same, since it is part of the run; its folder is nobody's
    concern, and is left out of errors."""
    if isinstance(predictions, str | Path):
        yield Path(predictions)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "predictions.jsonl"
        with path.open("w", encoding="utf-8") as file:
            for number, each in enumerate(predictions, 1):
                if not isinstance(each, Mapping):
                    raise ConfigError(f"predictions: number {number} is {type(each).__name__}; expected a mapping")
                file.write(json.dumps(dict(each), ensure_ascii=False, default=_plain) + "\n")
        try:
            yield path
        except HarnessError as error:
            told = re.sub(rf"{re.escape(str(path))}:(\d+)", r"predictions: number \1", str(error))
            error.args = (told.replace(f"{folder}/", ""), *error.args[1:])
            raise


def _plain(value: Any) -> Any:
    """Numbers and arrays of numpy, and mappings inside, as JSON has them."""
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    raise ConfigError(f"predictions: {value!r} is {type(value).__name__}, which JSON does not have")


def _compose(overrides: tuple[str, ...]) -> Any:
    from harness.config import compose

    for each in overrides:
        if not isinstance(each, str):
            raise ConfigError(f"{each!r}: expected an override as text, such as 'preset=fast'")
    return compose(overrides)


def _gate(config: Any) -> Gate:
    from harness.building import instantiate

    gate: Gate = instantiate(config, "gate")
    return gate


def _passes(gate: Gate, judgement: Any) -> bool:
    """Whether a strict gate lets a run pass, whether or not this one is strict."""
    return not replace(gate, strict=True).fails(judgement)


def _store(config: Any) -> OpenStore:
    from harness.cli.runs import existing_store

    return existing_store(config).open()
