"""An agent has its commits judged through the MCP server: as a job, beside the base that a person has chosen."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from bench.soak.agents import Agent, agent_at

from tests.candidates.desk import COMMAND, SCRIPT, make_desk

pytestmark = pytest.mark.slow
HYPOTHESIS = "numbers from 500 on can be read"


def test_a_commit_is_judged_as_a_job(tmp_path: Path) -> None:
    (tmp_path / "desk").mkdir()
    desk = make_desk(tmp_path / "desk")
    desk.experiment("scripts", judge={"command": COMMAND, "seconds": 120})
    desk.experiment("trials_only", judge=None, space={"link.max_drop": [1.0, 2.0]}, budget={"trials": 1, "minutes": 1})
    base = desk.git("rev-parse", "HEAD")
    desk.experiment("pinned", judge={"command": COMMAND, "seconds": 120, "base": base})
    better = desk.commit({"predict.py": SCRIPT.replace("HARD = 500", "HARD = 1000")})

    async def script(agent: Agent) -> None:
        found = await agent.ask("judge", commit=better, hypothesis=HYPOTHESIS)
        assert found["answer"] == "KEEP"
        assert (found["split"], found["protected"], found["hypothesis"]) == ("iteration", True, HYPOTHESIS)
        assert "sides" not in found
        again = await agent.ask("judge", commit=better, hypothesis=HYPOTHESIS, key="again")
        assert (again["number"], again["repeated"]) == (found["number"], True)
        for commit in ("main", "--output=x", str(tmp_path), "../desk-workshop", "HEAD"):
            assert await agent.refused("judge", commit=commit, hypothesis=HYPOTHESIS)
        schema = next(t.input_schema for t in (await agent.client.list_tools()).tools if t.name == "judge")
        assert set(schema["properties"]) == {"study", "commit", "hypothesis", "key"}
        words = await agent.refused("judge", study="trials_only", commit=better, hypothesis=HYPOTHESIS)
        assert "judges no code" in words

        desk.git("reset", "--quiet", "--hard", better)  # whoever commits there moves HEAD, and no base that is pinned
        words = await agent.refused("judge", commit=better, hypothesis=HYPOTHESIS, key="moved")
        assert "has the files of its base" in words
        begun = await agent.answer("judge", study="pinned", commit=better, hypothesis=HYPOTHESIS)
        pinned = (await agent.finished(begun["job"], study="pinned"))["result"]
        assert (pinned["answer"], pinned["base"]) == ("KEEP", base)

    async def main() -> None:
        async with agent_at(desk.folder, "agent", {"HARNESS_LANE_SECONDS": "5"}, "scripts") as (agent, _):
            await script(agent)

    anyio.run(main)
    assert (desk.folder / "experiments/scripts/tries.html").exists()
