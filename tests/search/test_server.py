"""An agent at work: the SDK's own client drives `harness mcp`, a process of its own, and runs into its limits."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from bench.soak.agents import Agent, agent_at, soak_agents
from mcp.shared.exceptions import MCPError
from mcp.types import ImageContent

from harness.base.errors import ConflictError
from harness.cli.new import TEMPLATES
from harness.evaluate import evaluate
from harness.references.flags import FILE as FLAGS
from harness.references.flags import read_flags
from harness.search import verbs
from harness.search.proposal import FILE as PRESET
from harness.search.searchable import trial_spec
from harness.tracking.finding import list_runs
from harness.tracking.store import LocalStore
from tests.conftest import QUICK
from tests.search.conftest import WriteExperiment, digest_of

pytestmark = pytest.mark.slow

HYPOTHESIS = "bibs that hang low are out of reach"
#: Lanes end soon after a test.
LANES = {"HARNESS_LANE_SECONDS": "15"}


def with_agent(desk: Path, script: Callable[[Agent], Awaitable[None]], **environment: str) -> Agent:
    """Run a script against a server that works on the desk."""
    kept: list[Agent] = []

    async def main() -> None:
        async with agent_at(desk, "agent", {**LANES, **environment}, "low_bibs") as (agent, _):
            kept.append(agent)
            await script(agent)

    anyio.run(main)
    (desk / ".agent.pid").unlink()
    return kept[0]


def test_an_agent_drives_a_whole_search_and_hits_the_budget(write_experiment: WriteExperiment, desk: Path) -> None:
    write_experiment(budget={"trials": 4, "minutes": 10})

    async def script(agent: Agent) -> None:
        space = await agent.ask("describe_space")
        assert [item["key"] for item in space["parameters"]] == ["link.max_drop"]
        assert "below its wearer's face" in space["parameters"][0]["meaning"]
        assert (space["budget"]["begun"], space["budget"]["trials_left"]) == (False, 4)
        assert "has not been begun" in await agent.refused("get_baseline")
        begun = await agent.ask("begin_study")
        assert begun["photos"] == 8
        asked = await agent.ask("ask")
        baseline = await agent.ask("get_baseline")
        assert baseline["base"]["metrics"]["link/f1"] < 0.6
        assert baseline["pinned"] is None

        mine = 2.5 if asked["params"] != {"link.max_drop": 2.5} else 3.0
        tried = await agent.ask("run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": mine})
        assert (tried["state"], tried["values"], tried["proposed_by"]) == ("complete", {"link/f1": 1.0}, "agent")
        again = await agent.ask("run_trial", hypothesis=f"{HYPOTHESIS}, again", params={"link.max_drop": mine})
        assert again["duplicate_of"] == tried["trial"]
        await agent.ask("run_trial", hypothesis=HYPOTHESIS, trial=asked["trial"])

        compared = await agent.ask("compare_trials", trial=tried["trial"])
        assert compared["verdict"] == "IMPROVED"
        assert compared["config"] == {"link.max_drop": ["1.7", str(mine)]}
        assert len(compared["photos"]) == 5
        assert "1 link found" in (await agent.ask("explain_trial", trial=tried["trial"]))["text"]
        assert (await agent.ask("get_trial", trial=tried["trial"]))["hypothesis"] == HYPOTHESIS

        assert (await agent.ask("budget_status"))["trials_left"] == 2
        searched = await agent.ask("start_search")
        assert searched["budget"]["closed_because"] == "the budget of 4 trials is spent"
        words = await agent.refused("run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": 9.9})
        assert "9.9 is not one of 1.6, 2.0, 2.5, 3.0, 4.0" in words
        tried_points = (await agent.ask("leaderboard", limit=100))["trials"]
        left = {1.6, 2.0, 2.5, 3.0, 4.0} - {item["params"]["link.max_drop"] for item in tried_points}
        for value in left:
            words = await agent.refused("run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": value})
            assert "the budget of 4 trials is spent" in words
        assert "the budget of 4 trials is spent" in await agent.refused("ask")

        board = await agent.ask("leaderboard")
        assert board["best"]["values"] == {"link/f1": 1.0}
        assert board["holdout_peeks"] == 0
        proposal = await agent.ask("propose_preset")
        assert proposal["path"] == "experiments/low_bibs/proposed_preset.yaml"
        assert "max_drop: " in proposal["text"]

    with_agent(desk, script)
    assert {item.study for item in list_runs(LocalStore(str(desk / "mlruns"), "harness").open())} == {"low_bibs"}
    assert {path.name for path in desk.iterdir()} == {"experiments", "mlruns"}
    preset = desk / "experiments" / "low_bibs" / PRESET
    preset.write_text(preset.read_text().replace("max_drop: ", "max_drop: 1"))
    with pytest.raises(ConflictError, match=r"proposed_preset.yaml: has changed since trial \d was proposed"):
        verbs.confirm("low_bibs")


def test_why_photos_fail_and_what_would_mend_them(write_experiment: WriteExperiment, desk: Path, race: Path) -> None:
    write_experiment()
    verbs.begin("low_bibs")

    async def script(agent: Agent) -> None:
        found = await agent.ask("list_failures", limit=2)
        assert (found["objective"], found["total"], found["shown"]) == ("link/f1", 5, 2)
        first = found["failures"][0]
        assert first["mistakes"][0]["kind"] == "missed_link"
        assert first["counts"] == "1 missed, 0 invented"
        job = (await agent.answer("list_failures", limit=2))["job"]
        await agent.wait(job)
        shown = await agent.call("job_status", job=job)
        pictures = [part for part in shown.content if isinstance(part, ImageContent)]
        assert len(pictures) == 4  # of each photo the mistake, and the whole
        others = await agent.ask("list_failures", limit=4, cursor=found["next_cursor"])
        names = [each["photo"] for each in (*found["failures"], *others["failures"])]
        assert len(set(names)) == 5
        assert others["next_cursor"] == ""
        numbers = await agent.ask("list_failures", objective="number/f1")
        assert numbers["total"] == 0  # every number is read: only links fail here
        assert (await agent.ask("list_failures", person=first["people"][0]))["total"] == 1
        assert (await agent.ask("list_failures", cause="misread"))["total"] == 0
        assert "counts no errors on photos one by one" in await agent.refused("list_failures", objective="runtime/x")

        mended = await agent.ask("what_if", photo=first["photo"], params={"link.max_drop": 2.5})
        assert (mended["before"]["errors"], mended["after"]["errors"], mended["gain"]) == (1.0, 0.0, 1.0)
        assert mended["milliseconds"] < 1000
        nearest = await agent.ask("smallest_change", photo=first["sha256"][:12])
        assert nearest["nearest"]["parameter"] == "link.max_drop"
        assert nearest["nearest"]["value"] == 2.5  # 2.0 is too near, by the picture that was drawn
        assert nearest["elsewhere"].startswith("breaks 0 photos and mends 5; link/f1 0.5455 -> 1.0000")
        assert (await agent.ask("budget_status"))["trials"] == 0  # none of it costs a trial

        told = await agent.ask("flag_label", photo=first["photo"], what="bib", why="nobody can read this number")
        assert "the photo counts as before" in told["told"]
        words = (await agent.ask("flag_label", photo=first["photo"], what="bib", why="as I said, unreadable"))["told"]
        assert "somebody has doubted it before" in words

    with_agent(desk, script)
    (flag,) = read_flags(race)
    assert (flag.by, flag.study, flag.kind) == ("agent agent", "low_bibs", "bib")
    (race / FLAGS).unlink()  # labels are otherwise what they were: the fixture checks


def test_calls_that_are_repeated_and_jobs_that_are_stopped(write_experiment: WriteExperiment, desk: Path) -> None:
    write_experiment(budget={"trials": 5, "minutes": 10})
    notes: list[tuple[float, float | None, str | None]] = []

    async def noted(progress: float, total: float | None, message: str | None) -> None:
        notes.append((progress, total, message))

    async def script(agent: Agent) -> None:
        jobs = {(await agent.answer("begin_study", key="mine"))["job"] for _ in range(2)}
        job = jobs.pop()
        assert not jobs
        while (await agent.answer("job_status", job=job))["status"] in ("queued", "running"):
            await agent.client.call_tool("job_status", {"study": "low_bibs", "job": job}, progress_callback=noted)
        first = await agent.answer("run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": 2.0}, key="one")
        words = await agent.refused("run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": 4.0}, key="one")
        assert "the key 'one' was used before, for other arguments" in words
        assert (await agent.wait(first["job"]))["trial"] == 0
        assert "there is no job 'nope'" in await agent.refused("job_status", job="nope")
        assert "there is no job '../../x'" in await agent.refused("job_status", job="../../x")

        async with agent_at(desk, "other", LANES, "low_bibs") as (other, _):
            assert "only its own caller may stop it" in await other.refused("cancel_job", job=first["job"])
        limited = await agent.ask("start_search", trials=1)
        assert limited["budget"]["trials"] == 2
        assert "either trials, or more than one worker" in await agent.refused("start_search", trials=1, workers=2)
        search = await agent.answer("start_search")
        await agent.answer("cancel_job", job=search["job"])
        assert (await agent.finished(search["job"]))["status"] in ("cancelled", "done")
        assert (await agent.ask("budget_status"))["closed_because"] in (None, "the budget of 5 trials is spent")
        listed = await agent.client.read_resource("harness://studies/low_bibs/jobs")
        kinds = [each["kind"] for each in json.loads(listed.contents[0].text)]  # type: ignore[union-attr]
        assert kinds.count("begin_study") == 1

    with_agent(desk, script)
    (desk / ".other.pid").unlink()
    assert notes
    assert all(total == 8 and words and "photos" in words for _, total, words in notes)


def test_what_belongs_to_a_person_stays_with_them(write_experiment: WriteExperiment, desk: Path) -> None:
    path = write_experiment(budget={"trials": 2, "minutes": 10})
    verbs.try_point("low_bibs", HYPOTHESIS, {"link.max_drop": 1.6})
    text = path.read_text()

    async def spent(agent: Agent) -> None:
        path.write_text(text.replace("trials: 2", "trials: 200"))  # in the file alone it changes nothing
        assert (await agent.ask("budget_status"))["trials_budget"] == 2
        await agent.ask("run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": 2.0})
        for tool, more in (("start_search", {"trials": 400}), ("start_search", {}), ("ask", {})):
            assert "the budget of 2 trials is spent" in await agent.refused(tool, **more)
        words = await agent.refused("run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": 2.5})
        assert "the budget of 2 trials is spent" in words
        path.write_text(text.replace("budget:", "study: fresh\nbudget:"))
        assert "its file calls the study fresh" in await agent.refused("start_search")
        path.write_text(text)
        (desk / "experiments" / "fresh.yaml").write_text(text.replace("trials: 2", "trials: 200"))
        words = await agent.refused("begin_study", study="fresh")
        assert "study fresh is the same search as low_bibs" in words
        assert "trial 0 does not beat the base" in await agent.refused("propose_preset", trial=0)

    async def cancelled(agent: Agent) -> None:
        cancelled = "the search was cancelled; it goes on with --resume"
        for tool in ("start_search", "ask"):
            assert cancelled in await agent.refused(tool)
        words = await agent.refused("run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": 2.5})
        assert cancelled in words
        assert (await agent.ask("budget_status"))["closed_because"] == cancelled
        tools = {tool.name: json.dumps(tool.input_schema) for tool in (await agent.client.list_tools()).tools}
        assert not [name for name, schema in tools.items() if "resume" in schema or "minutes" in schema]

    with_agent(desk, spent)
    verbs.prepare("low_bibs", trials=9)
    verbs.cancel("low_bibs")
    with_agent(desk, cancelled)


def test_edited_code_and_an_edited_config_are_conflicts_in_words(
    write_experiment: WriteExperiment, desk: Path, race: Path
) -> None:
    path = desk / write_experiment(
        base=["references=staging", f"references.root={race}", "preset=fast", *QUICK, "link=my_links"],
        space={"link.reach": [1.0, 2.0, 3.0, 4.0, 5.0]},
    )
    code, config = desk / "my_links.py", desk / "conf" / "link" / "my_links.yaml"
    config.parent.mkdir(parents=True)
    for file in (code, config):
        shutil.copy(TEMPLATES / "link" / file.name, file)
    changed = "has changed since it was begun"

    @contextmanager
    def edited(file: Path, before: str, after: str) -> Iterator[None]:
        text = file.read_text()
        assert before in text
        file.write_text(text.replace(before, after))
        yield
        file.write_text(text)

    async def script(agent: Agent) -> None:
        async def tried(reach: float) -> str:
            return await agent.ended("run_trial", hypothesis=HYPOTHESIS, params={"link.reach": reach})

        assert not await tried(2.0)  # by a process that has loaded the code, and works on what follows, too
        with edited(code, "free and distance <= self.reach", "free"):
            assert f"the code of the pipeline or of its scoring, or a package that it uses, {changed}" in await tried(
                3.0
            )
            assert changed in await agent.refused("start_search")
        with edited(config, "reach: 5.0", "reach: 4.5"):
            assert f"a config file that its base or its space names {changed}" in await tried(3.0)
        assert not await tried(3.0)
        with edited(path, "link/f1", "number/f1"):
            assert "its objectives changed since it was begun" in await agent.refused("budget_status")

    with_agent(desk, script)


@contextmanager
def evil_module(folder: Path) -> Iterator[Path]:
    """A module beside the conf folder that leaves a mark where it is imported."""
    mark = folder / "imported"
    (folder / "evil.py").write_text(f"from pathlib import Path\nPath({str(mark)!r}).touch()\nclass Evil: ...\n")
    yield mark
    assert not mark.exists(), "code was imported by describing a file"


HOSTILE: dict[str, dict[str, Any]] = {
    "target": {"base": ["bib._target_=os.system"]},
    "resolver": {"base": ["+x=${oc.env:SECRET}"]},
    "environment": {"base": ["note=${oc.env:SECRET}"]},
    "chosen": {"base": ["preset=${oc.env:SECRET}"]},
    "space_target": {"space": {"face._target_": ["evil.Evil"]}},
    "space_value": {"space": {"link.max_drop": ["${oc.env:SECRET}", "x"]}},
    "backend": {"base": ["face=evil"], "space": {"face.threshold": [0.5, 0.6]}},
    "shadowed": {"base": ["face=scrfd", "preset=balanced"], "space": {"face.nope.deep": [0.5, 0.6]}},
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_experiment_is_described_without_running_it(
    name: str, write_experiment: WriteExperiment, desk: Path
) -> None:
    write_experiment(name, **{"objectives": {"link/f1": "maximize"}, **HOSTILE[name]})
    group = desk / "conf" / "face"
    group.mkdir(parents=True)
    for choice in ("evil", "yunet"):  # the second one takes the place of the harness's own
        (group / f"{choice}.yaml").write_text("_target_: evil.Evil\nthreshold: ${oc.env:SECRET}\n")

    async def script(agent: Agent) -> None:
        for tool in ("describe_space", "budget_status"):
            result = await agent.call(tool, study=name)
            assert "hunter2" not in str(result)
        assert "hunter2" not in str(await agent.client.call_tool("list_studies", {}))
        for address in ("harness://studies", f"harness://studies/{name}", "harness://parameters"):
            try:
                found = str(await agent.client.read_resource(address))
            except MCPError as error:  # a refusal is a good answer, too
                found = str(error)
            assert "hunter2" not in found

    with evil_module(desk):
        with_agent(desk, script, SECRET="hunter2")


def test_the_holdout_cannot_be_reached(write_experiment: WriteExperiment, desk: Path, race: Path) -> None:
    write_experiment(budget={"trials": 2, "minutes": 10})
    write_experiment("peeking", split="holdout")
    write_experiment("whole", base=["references=staging", f"references.root={race}", "references.split=full", *QUICK])
    verbs.try_point("low_bibs", HYPOTHESIS, {"link.max_drop": 2.5})
    experiment = verbs.open_study("low_bibs").experiment
    held_out = evaluate(trial_spec(experiment, {}, {"references.split": "holdout"})).run_id
    index = json.loads((race / "photo_index.json").read_text())["photos"]
    hidden = {sha256: record["names"][0] for sha256, record in index.items() if record["split"] == "holdout"}
    sha256, name = next(iter(hidden.items()))

    async def script(agent: Agent) -> None:
        for photo in (sha256, sha256[:12], name, f"../photos/{sha256}.jpg", held_out):
            for tool, more in (
                ("what_if", {"params": {"link.max_drop": 3.0}}),
                ("smallest_change", {}),
                ("flag_label", {"what": "bib", "why": "a label that I cannot see"}),
            ):
                assert "no photo of this search" in await agent.refused(tool, photo=photo, **more)
        assert "not one of this list" in await agent.refused("list_failures", cursor=sha256[:16])
        for study in ("peeking", "whole"):
            words = await agent.refused("begin_study", study=study)
            assert "iteration split alone" in words or "not for a search to set" in words
        read: list[tuple[str, dict[str, Any]]] = [
            ("describe_space", {}),
            ("get_baseline", {}),
            ("leaderboard", {}),
            ("get_trial", {"trial": 0}),
            ("compare_trials", {"trial": 0}),
            ("explain_trial", {"trial": 0}),
            ("list_failures", {"limit": 8}),
            ("list_failures", {"limit": 8, "objective": "face/f1"}),
        ]
        seen = [json.dumps(await agent.ask(tool, **more)) for tool, more in read]
        for address in ("harness://studies", "harness://studies/low_bibs", "harness://studies/low_bibs/jobs"):
            seen.append(str(await agent.client.read_resource(address)))
        del hidden[sha256]  # of which the agent has spoken itself, so that its jobs have its words
        for text in seen:
            assert not [each for pair in hidden.items() for each in pair if each in text]
        for each in (await agent.client.list_tools()).tools:
            assert "run_id" not in json.dumps(each.input_schema)

    with_agent(desk, script)
    assert not (race / FLAGS).exists()
    # No look was spent but for the run above, and nothing of the set has changed.
    assert held_out in {item.run_id for item in list_runs(LocalStore(str(desk / "mlruns"), "harness").open())}


def test_what_an_agent_must_not_do_is_refused_or_does_not_exist(
    write_experiment: WriteExperiment, desk: Path, tmp_path: Path
) -> None:
    write_experiment(budget={"trials": 2, "minutes": 10})
    write_experiment("seeds", space={"seed": [1, 2, 3]})
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text((desk / "experiments" / "low_bibs.yaml").read_text())
    before = digest_of(desk / "experiments")

    async def script(agent: Agent) -> None:
        tools = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        forbidden = ("delete", "clean", "remove", "freeze", "label", "import", "pin", "confirm", "write", "tell")
        assert not [name for name in tools if name.startswith(forbidden) or name in ("baseline", "set_baseline")]
        reading = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
        acting = {"begin_study", "start_search", "ask", "run_trial", "give_back_trial", "cancel_job"}
        assert reading == set(tools) - acting - {"propose_preset", "flag_label", "judge"}
        for name in tools:
            annotations = tools[name].annotations
            assert annotations is not None
            assert annotations.open_world_hint is False
            assert name in reading or annotations.destructive_hint is False
            assert tools[name].output_schema is not None

        words = await agent.refused("run_trial", hypothesis=HYPOTHESIS, params={"seed": 7})
        assert "seed: not searchable: luck is not a parameter. Call describe_space" in words
        for params in ({"face._target_": "os.system"}, {"link.max_drop": "${oc.env:HOME}"}, {"+x": 1.0}):
            words = await agent.refused("run_trial", hypothesis=HYPOTHESIS, params=params)
            assert "not a point of the space" in words or "not searchable" in words
            assert os.environ.get("HOME", "?") not in words
        for study in ("../elsewhere", str(elsewhere), "low_bibs/../low_bibs", "experiments/low_bibs.yaml", "", "nope"):
            for tool in ("describe_space", "start_search", "propose_preset", "begin_study"):
                assert "expected the name of an experiment" in await agent.refused(tool, study=study)
        assert "hypothesis" in await agent.refused("run_trial", params={"link.max_drop": 3.0})
        assert "hypothesis" in await agent.refused("run_trial", hypothesis="why not", params={"link.max_drop": 3.0})
        assert "delete_run" in await agent.refused("delete_run")
        prompt = await agent.client.get_prompt("start", {"study": "low_bibs"})
        assert "There are 2 trials left" in str(prompt.messages[0].content)
        meanings = await agent.client.read_resource("harness://parameters")
        assert "below its wearer's face" in meanings.contents[0].text  # type: ignore[union-attr]

    with_agent(desk, script)
    assert digest_of(desk / "experiments") == before
    words = "space.seed: not searchable"

    async def begin(agent: Agent) -> None:
        assert words in await agent.refused("begin_study", study="seeds")

    with_agent(desk, begin)


def test_a_study_is_driven_while_another_reads_and_processes_are_killed(desk: Path, race: Path) -> None:
    """The slice of `scripts/soak agents`."""
    # Numbers of this race have no letters, so that photos fail, and the tools that ask why have something to tell.
    base = ("references=staging", f"references.root={race}", "preset=fast", "bib_format=letter_digits", *QUICK)
    wrong = soak_agents(desk / "driven", 4, 0, base, idle=15)
    (race / FLAGS).unlink(missing_ok=True)  # the driver has doubted a label
    # A busy machine may make a call slow, which the soak itself tells; whatever else is wrong is wrong everywhere.
    assert not [text for text in wrong if " took " not in text]


def test_without_experiments_the_server_does_not_start(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.__main__ import run

    (desk / "experiments").rmdir()
    assert run(["mcp"]) == 2
    assert "no experiments/ in" in capsys.readouterr().err
