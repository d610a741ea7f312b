"""Search for better parameters within a budget, as an experiment file describes it.

  harness search STUDY                    search, or go on with a search, until the budget is spent
  harness search describe STUDY           the parameters, the objectives and the budget
  harness search leaderboard STUDY        the best trials so far
  harness search status STUDY             what is left of the budget
  harness search ask STUDY                the sampler's next point, for you to run
  harness search tell STUDY TRIAL RUN     enter the MLflow run of that point
  harness search try STUDY KEY=VALUE ...  run a point of your own (or the number of a trial that was asked for)
  harness search cancel STUDY [TRIAL]     stop the search, or give back a trial that was asked for
  harness search propose STUDY [TRIAL]    write the best trial as a preset file, if its gain is not chance; or another
  harness search confirm STUDY            does the gain hold up on the holdout?

STUDY is an experiment file, or the name of one: in experiments/, or else among those that the harness comes with.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from harness.base.conf import shown_path
from harness.base.errors import ConfigError, CrashError, HarnessError
from harness.base.extras import need
from harness.base.texts import COMMAND, meant
from harness.cli.terminal import name_shadows, show_json

if TYPE_CHECKING:
    from harness.search.holdout import Confirmation
    from harness.search.views import SpaceView, TrialView

NAME = "search"
HELP = "search for better parameters within a budget"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", metavar="STUDY|VERB", help="an experiment, or one of the verbs above")
    # Called as other commands call theirs, so that KEY=VALUE may also follow an option.
    parser.add_argument("overrides", nargs="*", default=[], metavar="ARGUMENT", help="what the verb takes")
    parser.add_argument("--trials", type=int, metavar="N", help="budget of the study in trials, over all its runs")
    parser.add_argument("--minutes", type=float, metavar="M", help="budget of the study in minutes of work")
    parser.add_argument("--workers", type=int, default=1, metavar="W", help="processes side by side (default: 1)")
    parser.add_argument("--resume", action="store_true", help="go on with a search that was cancelled")
    parser.add_argument("--hypothesis", default="", metavar="TEXT", help="what you expect of a point of your own")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    """Do what is asked; whatever is not the user's to mend ends with exit code 5."""
    need(NAME, "optuna")
    try:
        verb = _VERBS.get(arguments.what)
        return _search(arguments) if verb is None else verb(arguments)
    except (HarnessError, BrokenPipeError):  # a reader that has seen enough is no crash
        raise
    except Exception as error:
        traceback.print_exc(file=sys.stderr)
        raise CrashError(f"the search has crashed: {type(error).__name__}: {error}") from error


def _search(arguments: argparse.Namespace) -> int:
    from harness.search import leaderboard, verbs
    from harness.search.experiment import experiment_names, experiment_path
    from harness.search.searchable import trial_config

    names = experiment_names()
    known = arguments.what.endswith((".yaml", ".yml")) or arguments.what in names
    if known and arguments.overrides:
        file = shown_path(experiment_path(arguments.what))
        raise ConfigError(
            f"{arguments.overrides[0]}: a search takes no overrides; what all of its trials share belongs to `base` in "
            f"the experiment file: copy {file} to experiments/ under another name and add it there"
        )
    if not known:
        raise ConfigError(
            f"{arguments.what}: expected an experiment file, an experiment ({', '.join(names)}), "
            f"or a verb ({', '.join(_VERBS)}){meant(arguments.what, [*names, *_VERBS])}"
        )
    if arguments.workers < 1:
        raise ConfigError("--workers: expected at least 1")
    ledger = verbs.prepare(arguments.what, arguments.trials, arguments.minutes, arguments.resume)
    name_shadows(trial_config(ledger.experiment, {}))
    view = verbs.run(arguments.what, arguments.workers)
    if arguments.json:
        show_json(verbs.plain(view))
    else:
        print(leaderboard.text(view))
        if path := verbs.page(arguments.what):
            print(f"\nPage of the study: {path}")
        if view.worth_proposing and (path := verbs.proposed(arguments.what)):
            print(f"\nProposed preset: {path}\nDoes it hold up?  {COMMAND} search confirm {view.study}")
    if view.cold_rerun.startswith("DIFFERS"):
        raise HarnessError(f"the best trial has other results without the cache: {view.cold_rerun}")
    return 0


def _describe(arguments: argparse.Namespace) -> int:
    from harness.search import leaderboard, verbs
    from harness.search.experiment import experiment_path

    (study,) = _taken(arguments, "STUDY")
    view, path = verbs.describe(study), experiment_path(study)
    budget = leaderboard.budget_text(view.budget)
    _show(arguments, view, lambda: f"{_space_text(view)}\n{budget}\nFile: {shown_path(path)}")
    return 0


def _leaderboard(arguments: argparse.Namespace) -> int:
    from harness.search import leaderboard, verbs

    (study,) = _taken(arguments, "STUDY")
    view = verbs.board(study)
    _show(arguments, view, lambda: leaderboard.text(view))
    return 0


def _status(arguments: argparse.Namespace) -> int:
    from harness.search import leaderboard, verbs

    (study,) = _taken(arguments, "STUDY")
    view = verbs.status(study)
    _show(arguments, view, lambda: leaderboard.budget_text(view))
    return 0


def _ask(arguments: argparse.Namespace) -> int:
    from harness.search import verbs

    (study,) = _taken(arguments, "STUDY")
    view = verbs.ask(study)
    settings = " ".join([*verbs.open_study(study).experiment.base, *view.overrides])
    run_it = f"run it:   {COMMAND} {settings}"
    tell_it = f"tell it:  {COMMAND} search tell {study} {view.trial} RUN"
    _show(arguments, view, lambda: f"trial {view.trial}: {' '.join(view.overrides)}\n{run_it}\n{tell_it}")
    return 0


def _tell(arguments: argparse.Namespace) -> int:
    from harness.search import verbs

    study, trial, run_id = _taken(arguments, "STUDY", "TRIAL", "RUN")
    view = verbs.tell(study, _number(trial), run_id)
    _show(arguments, view, lambda: _trial_text(view))
    return 0


def _try(arguments: argparse.Namespace) -> int:
    import yaml

    from harness.search import verbs

    if len(arguments.overrides) < 2:
        raise ConfigError("expected: harness search try STUDY KEY=VALUE ..., or STUDY TRIAL")
    study, *given = arguments.overrides
    if len(given) == 1 and given[0].isdigit():
        view = verbs.try_point(study, arguments.hypothesis, trial=int(given[0]))
    else:
        pairs = [item.partition("=") for item in given]
        if wrong := [key for key, sign, _ in pairs if not sign]:
            raise ConfigError(f"{wrong[0]}: expected KEY=VALUE")
        params = {key: yaml.safe_load(value) for key, _, value in pairs}
        view = verbs.try_point(study, arguments.hypothesis, params)
    _show(arguments, view, lambda: _trial_text(view))
    return 0 if view.state == "complete" else 1


def _cancel(arguments: argparse.Namespace) -> int:
    from harness.search import leaderboard, verbs

    study, *trial = _taken(arguments, "STUDY", optional="TRIAL")
    view = verbs.cancel(study, _number(trial[0]) if trial else None)
    _show(arguments, view, lambda: leaderboard.budget_text(view))
    return 0


def _propose(arguments: argparse.Namespace) -> int:
    from harness.search import verbs

    study, *trial = _taken(arguments, "STUDY", optional="TRIAL")
    # A person who names a trial has a reason to; the preset's header says how little its gain may mean.
    path, view = verbs.propose(study, _number(trial[0]) if trial else None, insist=bool(trial))
    if arguments.json:
        show_json({"path": str(path), "trial": verbs.plain(view)})
    else:
        print(f"{path}\n\n{path.read_text()}")
    return 0


def _confirm(arguments: argparse.Namespace) -> int:
    from harness.search import verbs
    from harness.search.holdout import Standing

    (study,) = _taken(arguments, "STUDY")
    answer = verbs.confirm(study)
    if arguments.json:
        show_json(verbs.plain(answer))
    else:
        print(_confirmation_text(answer))
    return 1 if answer.peek.standing == Standing.FAILS else 0


_VERBS: dict[str, Callable[[argparse.Namespace], int]] = {
    "describe": _describe,
    "leaderboard": _leaderboard,
    "status": _status,
    "ask": _ask,
    "tell": _tell,
    "try": _try,
    "cancel": _cancel,
    "propose": _propose,
    "confirm": _confirm,
}


def _taken(arguments: argparse.Namespace, *names: str, optional: str = "") -> Sequence[str]:
    """The arguments of a verb, as many as it takes."""
    given = arguments.overrides
    if not len(names) <= len(given) <= len(names) + bool(optional):
        tail = f" [{optional}]" if optional else ""
        raise ConfigError(f"expected: harness search {arguments.what} {' '.join(names)}{tail}")
    return list(given)


def _number(text: str) -> int:
    if not text.isdigit():
        raise ConfigError(f"{text}: expected the number of a trial")
    return int(text)


def _show(arguments: argparse.Namespace, view: Any, text: Callable[[], str]) -> None:
    from harness.search import verbs

    if arguments.json:
        show_json(verbs.plain(view))
    else:
        print(text())


def _space_text(view: SpaceView) -> str:
    width = max(len(parameter.key) for parameter in view.parameters)
    lines = [f"{view.study}: {view.description}", f"base: {' '.join(view.base) or 'the defaults'}", ""]
    for parameter in view.parameters:
        base = "" if parameter.base is None else f"   (base: {parameter.base})"
        when = "".join(f"   when {key} is {' or '.join(map(str, values))}" for key, values in parameter.when.items())
        lines.append(f"  {parameter.key:<{width}}  {parameter.allowed}{base}{when}")
    goals = ", ".join(f"{direction} {metric}" for metric, direction in view.objectives.items())
    limits = "".join(
        f"; {metric} {name.replace('_', ' ')} {value:g}"
        for metric, limit in view.constraints.items()
        for name, value in limit.items()
    )
    count = "no end of points" if view.points is None else f"at most {view.points:,} points"
    return "\n".join([*lines, "", f"{goals}{limits}   ({count}, sampler {view.sampler}, split {view.split})"])


def _trial_text(view: TrialView) -> str:
    values = ", ".join(f"{name} {value:.4f}" for name, value in view.values.items())
    known = " (tried before; answered from the ledger)" if view.duplicate_of is not None else ""
    parts = [f"trial {view.trial}: {view.state}{known}", values or view.reason, f"MLflow run {view.run_id}"]
    return "\n".join(filter(None, parts))


def _confirmation_text(answer: Confirmation) -> str:
    peek = answer.peek
    again = f"Confirmed before, on {peek.at}; this is the recorded answer.\n" if answer.repeated else ""
    return (
        f"{again}Trial {peek.trial} of {answer.study} on {peek.data}: {peek.told}\n{peek.words}.\n"
        f"Gate over all metrics: {peek.verdict}. MLflow runs: base {peek.base_run}, trial {peek.trial_run}\n"
        f"Holdout: {peek.look}; asked {answer.peeks} time{'' if answer.peeks == 1 else 's'} by this study."
    )
