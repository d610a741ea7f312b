"""What a judge asks for: the command that makes predictions, what it may spend, and how its answer is weighed."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.base.checks import Positive

#: What the words of a command stand for: the folder of the photos, the file that the predictions go to, and the folder
#: of the selfies. A command that asks for selfies writes embeddings, and is judged by who finds their photos.
PHOTOS, OUT, SELFIES = "{photos}", "{out}", "{selfies}"
_MEGABYTE = 1 << 20


class JudgeRules(BaseModel):
    """The section `judge` of an experiment file. Without a `command` it is `harness predict` of the candidate, with the
    overrides of `base` that are about the pipeline. `base` is the commit that candidates are judged beside, so that it
    does not move with the repository. `memory_gb` is for all processes together."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: Annotated[tuple[str, ...], Field(min_length=1)] | None = None
    base: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")] | None = None
    seconds: Positive = 900
    memory_gb: Positive = 4
    processes: Annotated[int, Field(ge=1)] = 256
    output_mb: Annotated[int, Field(ge=1, le=4096)] = 64

    @model_validator(mode="after")
    def _names_its_places(self) -> JudgeRules:
        for place in (PHOTOS, OUT):
            if self.command is not None and not any(place in word for word in self.command):
                raise ValueError(f"command: expected a word with {place}")
        return self

    @property
    def memory(self) -> int:
        """Bytes of memory, for all processes together."""
        return int(self.memory_gb * 1024 * _MEGABYTE)

    @property
    def output(self) -> int:
        """Bytes of output."""
        return self.output_mb * _MEGABYTE


def default_command(base: tuple[str, ...], *, people: bool = False) -> tuple[str, ...]:
    """`harness predict`, with the overrides that are about the pipeline. There is no cache that it could see. Where
    `people` are what it is judged by, it is asked for embeddings."""
    kept = [word for word in base if word.partition("=")[0].split(".")[0] in PIPELINE]
    embeddings = ("--embeddings", "--selfies", SELFIES) if people else ()
    return ("python", "-m", "harness", "predict", PHOTOS, OUT, *embeddings, *kept, "cache=off")


def judges_people(command: tuple[str, ...]) -> bool:
    """Whether a command is shown selfies."""
    return any(SELFIES in word for word in command)


def is_scoring(override: str) -> bool:
    """Whether an override says how predictions are scored, and nothing of how they are made."""
    key = override.partition("=")[0]
    return key.split(".")[0] not in PIPELINE or key.startswith(_SEARCHING)


#: The groups of the config that a candidate's predictions come from.
PIPELINE = frozenset({"preset", "bib_format", "bib", "face", "link", "identity"})
#: Of these, how faces are searched and grouped, which scoring does.
_SEARCHING = ("identity.gallery", "identity.fpir", "identity.clustering.")
