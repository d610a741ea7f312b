"""An agent at work: the SDK's own client drives `harness mcp`, a process of its own, and runs into its limits."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.types import CallToolResult

from harness.evaluate import evaluate
from harness.search import verbs
from harness.search.searchable import trial_spec
from harness.tracking.finding import list_runs
from harness.tracking.store import LocalStore
from tests.search.conftest import WriteExperiment, digest_of

pytestmark = pytest.mark.slow

Call = Callable[..., Awaitable[Any]]
HYPOTHESIS = "bibs that hang low are out of reach"


def with_agent(desk: Path, script: Callable[[Client], Awaitable[None]]) -> None:
    """Run a script against a server that works on the desk."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "harness", "mcp"], cwd=desk, env={**os.environ}
    )

    async def main() -> None:
        async with Client(parameters) as client:
            await script(client)

    anyio.run(main)


async def ask(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool that must answer."""
    result = await client.call_tool(tool, {"study": "low_bibs", **arguments})
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> str:
    """Call a tool that must refuse; gives its words."""
    result = await client.call_tool(tool, {"study": "low_bibs", **arguments})
    assert isinstance(result, CallToolResult)
    assert result.is_error, result.structured_content
    return " ".join(getattr(part, "text", "") for part in result.content)


def test_an_agent_drives_a_whole_search_and_hits_the_budget(write_experiment: WriteExperiment, desk: Path) -> None:
    write_experiment(budget={"trials": 4, "minutes": 10})

    async def script(client: Client) -> None:
        space = await ask(client, "describe_space")
        assert [item["key"] for item in space["parameters"]] == ["link.max_drop"]
        assert "has not been begun: harness search" in await refused(client, "get_baseline")
        asked = await ask(client, "ask")
        baseline = await ask(client, "get_baseline")
        assert baseline["base"]["metrics"]["link/f1"] < 0.6
        assert baseline["pinned"] is None
        failures = await client.call_tool(
            "list_failures", {"study": "low_bibs", "run_id": baseline["base"]["run_id"], "limit": 2}
        )
        assert isinstance(failures, CallToolResult)
        assert [part.type for part in failures.content] == ["text", "image", "image"]
        assert failures.structured_content is not None
        assert failures.structured_content["failures"][0]["counts"] == {"link": "1 missed, 0 invented"}

        mine = 2.5 if asked["params"] != {"link.max_drop": 2.5} else 3.0
        tried = await ask(client, "run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": mine})
        assert (tried["state"], tried["values"], tried["proposed_by"]) == ("complete", {"link/f1": 1.0}, "agent")
        again = await ask(client, "run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": mine})
        assert (again["duplicate_of"], again["run_id"]) == (tried["trial"], tried["run_id"])
        await ask(client, "run_trial", hypothesis=HYPOTHESIS, trial=asked["trial"])

        compared = await ask(client, "compare_runs", candidate=tried["run_id"])
        assert compared["verdict"] == "IMPROVED"
        assert compared["config"] == {"link.max_drop": ["1.7", str(mine)]}
        assert len(compared["photos"]) == 5
        assert "1 link found" in (await ask(client, "explain_run", run_id=tried["run_id"]))["text"]
        assert (await ask(client, "get_run", run_id=tried["run_id"]))["note"] == HYPOTHESIS

        started = await ask(client, "start_search", workers=1)
        assert started["budget"]["trials_left"] == 2
        for _ in range(240):
            budget = await ask(client, "budget_status")
            if budget["closed_because"] and not budget["trials_under_way"]:
                break
            await anyio.sleep(0.5)
        assert budget["closed_because"] == "the budget of 4 trials is spent"
        words = await refused(client, "run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": 9.9})
        assert "9.9 is not one of 1.6, 2.0, 2.5, 3.0, 4.0" in words
        tried_points = (await ask(client, "leaderboard", limit=100))["trials"]
        left = {1.6, 2.0, 2.5, 3.0, 4.0} - {item["params"]["link.max_drop"] for item in tried_points}
        for value in left:
            words = await refused(client, "run_trial", hypothesis=HYPOTHESIS, params={"link.max_drop": value})
            assert "the budget of 4 trials is spent. Call leaderboard" in words
        assert "the budget of 4 trials is spent" in await refused(client, "ask")
        assert "the budget of 4 trials is spent" in await refused(client, "start_search", trials=400)

        board = await ask(client, "leaderboard")
        assert board["best"]["values"] == {"link/f1": 1.0}
        assert board["holdout_peeks"] == 0
        proposal = await ask(client, "propose_preset")
        assert proposal["path"] == "experiments/low_bibs/proposed_preset.yaml"
        assert "max_drop: " in proposal["text"]

    with_agent(desk, script)
    assert {item.study for item in list_runs(LocalStore(str(desk / "mlruns"), "harness").open())} == {"low_bibs"}
    assert {path.name for path in desk.iterdir()} == {"experiments", "mlruns"}


def test_what_an_agent_must_not_do_is_refused_or_does_not_exist(
    write_experiment: WriteExperiment, desk: Path, race: Path, tmp_path: Path
) -> None:
    write_experiment(budget={"trials": 2, "minutes": 10})
    write_experiment("seeds", space={"seed": [1, 2, 3]})
    write_experiment("peeking", split="holdout")
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text((desk / "experiments" / "low_bibs.yaml").read_text())
    verbs.try_point("low_bibs", HYPOTHESIS, {"link.max_drop": 2.5})
    experiment = verbs.open_study("low_bibs").experiment
    held_out = evaluate(trial_spec(experiment, {}, {"references.split": "holdout"})).run_id
    before = digest_of(desk / "experiments")

    async def script(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        forbidden = ("delete", "clean", "remove", "freeze", "label", "import", "pin", "confirm", "write", "tell")
        assert not [name for name in tools if name.startswith(forbidden) or name in ("baseline", "set_baseline")]
        reading = {name for name, tool in tools.items() if tool.annotations and tool.annotations.read_only_hint}
        assert reading == set(tools) - {"start_search", "ask", "run_trial", "cancel", "propose_preset"}
        for name in tools:
            annotations = tools[name].annotations
            assert annotations is not None
            assert annotations.open_world_hint is False
            assert name in reading or annotations.destructive_hint is False
            assert tools[name].output_schema is not None

        words = await refused(client, "run_trial", hypothesis=HYPOTHESIS, params={"seed": 7})
        assert "seed: not searchable: luck is not a parameter. Call describe_space" in words
        words = await refused(client, "start_search", study="seeds")
        assert "space.seed: not searchable" in words
        assert "split: holdout: a search sees the iteration split alone" in await refused(
            client, "start_search", study="peeking"
        )
        for tool in ("get_run", "explain_run", "list_failures"):
            assert "its scores are sealed" in await refused(client, tool, run_id=held_out)
        assert "its scores are sealed" in await refused(client, "compare_runs", candidate=held_out)
        for study in ("../elsewhere", str(elsewhere), "low_bibs/../low_bibs", "experiments/low_bibs.yaml", "", "nope"):
            for tool in ("describe_space", "start_search", "propose_preset", "cancel"):
                assert "expected the name of an experiment" in await refused(client, tool, study=study)
        assert "hypothesis" in await refused(client, "run_trial", params={"link.max_drop": 3.0})
        assert "hypothesis" in await refused(client, "run_trial", hypothesis="why not", params={"link.max_drop": 3.0})
        assert "cannot be read" in await refused(client, "get_run", run_id="0" * 32)
        assert "delete_run" in await refused(client, "delete_run", run_id=held_out)

    with_agent(desk, script)
    assert digest_of(desk / "experiments") == before
    assert held_out in {item.run_id for item in list_runs(LocalStore(str(desk / "mlruns"), "harness").open())}


def test_without_experiments_the_server_does_not_start(desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from harness.__main__ import run

    (desk / "experiments").rmdir()
    assert run(["mcp"]) == 2
    assert "no experiments/ in" in capsys.readouterr().err
