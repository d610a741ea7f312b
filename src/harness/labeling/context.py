"""What all routes share: the labels, their summary, the linker, the runs and the search for photos."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from fastapi import Depends, Path, Request
from pydantic import Field

from harness.base.errors import UnknownPhotoError
from harness.exploring.opened import OpenedRuns
from harness.labeling.answers import Photo
from harness.labeling.chores import Chores
from harness.labeling.history import RunHistory
from harness.labeling.leases import Leases
from harness.labeling.people.suspecting import SuspectQueue
from harness.labeling.people.workbench import Workbench
from harness.labeling.photo_state import photo_state
from harness.labeling.searching import PhotoSearch
from harness.labeling.source import LabelSource
from harness.labeling.summary import CrossChecks, Dimension, PhotoRow, Summaries, Summary
from harness.labeling.suspicions import Suspects, with_flags
from harness.pipeline.stages import Linker
from harness.references.cross_checks import Finding
from harness.references.flags import read_flags
from harness.references.start_list import StartList


@dataclass(frozen=True)
class Context:
    """One labelling server's things."""

    source: LabelSource
    linker: Linker
    history: RunHistory
    search: PhotoSearch
    #: Runs that are looked at photo by photo.
    opened: OpenedRuns
    #: Where MLflow's pages are; "" where nobody said.
    mlflow_url: str = ""
    #: What was asked for and takes longer than a page may.
    chores: Chores = field(default_factory=Chores)

    @cached_property
    def people(self) -> Workbench:
        """Faces grouped by who they may be."""
        return Workbench(self.source, self.search)

    @cached_property
    def people_suspects(self) -> SuspectQueue:
        """Labels about people to look at."""
        return SuspectQueue(self.source, self.people, self.cross_checks)

    @cached_property
    def _summaries(self) -> Summaries:
        return Summaries(self.source)

    @cached_property
    def _cross_checks(self) -> CrossChecks:
        return CrossChecks(self.source)

    @cached_property
    def leases(self) -> Leases:
        """Who has which photo open."""
        return Leases(self.source.root)

    def summary(self) -> Summary:
        """All photos as of now, in short."""
        return self._summaries.current()

    def cross_checks(self) -> tuple[Finding, ...]:
        """Labels that are hard to believe together, as of now; those that somebody has called right are not told."""
        settled = self.people.settled()
        return tuple(finding for finding in self._cross_checks.current() if finding.check not in settled)

    def suspects(self) -> Suspects:
        """What the last runs and agents hold against the labels as of now, by photo, as far as known."""
        contents = self.source.contents()
        found = self.history.current().suspicions.among(contents)
        return with_flags(found, read_flags(self.source.root), contents)

    def suspected(self, dimension: Dimension) -> frozenset[str]:
        """The photos with a suspect of a dimension; for links, of the boxes that could be linked."""
        return frozenset(
            photo
            for photo, found in self.suspects().items()
            if any(dimension in ("links", "persons", f"{suspect.kind}s") for suspect in found)
        )

    def photo(self, sha256: str) -> Photo:
        """One photo as of now."""
        suspects = self.suspects().get(sha256, ())
        return photo_state(self.source, self.linker, suspects, self.names_by_number(), sha256)

    def start_list(self) -> StartList:
        """Who is expected in the photos; a set that cannot be changed does not say."""
        return StartList() if self.source.read_only else self.source.writable().start_list()

    def names_by_number(self) -> dict[str, str]:
        """Whose number it is: as the labels say, else as the start list says."""
        return {**self.start_list().names_by_number, **self.summary().names_by_number}

    def row(self, sha256: str) -> PhotoRow:
        """One photo as of now, in short."""
        if (row := self.summary().by_hash.get(sha256)) is None:
            raise UnknownPhotoError(f"no photo {sha256}")
        return row


def _context(request: Request) -> Context:
    context = request.app.state.context
    assert isinstance(context, Context)
    return context


Shared = Annotated[Context, Depends(_context)]
#: The only name that a photo has in an address; anything else is not found.
Hash = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the photo's bytes")]
Position = Annotated[int, Path(ge=0, le=10_000)]
PageNumber = Annotated[int, Field(ge=1, le=1_000_000)]
