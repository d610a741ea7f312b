"""The scorecards of identity, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.scoring.boxes import Ints
from harness.scoring.cards import Counted, Declaration, ItemCounts
from harness.scoring.clusters import ClusterScorecard
from harness.scoring.finding import FindScorecard, FindTally, headline, tally_finding
from harness.scoring.grouping_point import GroupingPoint
from harness.scoring.people import Tallied
from harness.scoring.people_clusters import tally_clusters
from harness.scoring.searching import Operating, Search
from harness.scoring.selfies import SelfieScorecard, SelfieTally, tally_selfies
from harness.scoring.verification import VerifyScorecard, VerifyTally, tally_verification

DECLARED: tuple[Declaration, ...] = (
    FindScorecard.DECLARED,
    SelfieScorecard.DECLARED,
    VerifyScorecard.DECLARED,
    ClusterScorecard.DECLARED,
)


@dataclass(frozen=True)
class Grouped:
    """The cluster of each found face, -1 for one that is not enrolled; the pairs of faces that labels say are one
    person's, or two people's; the clusters that the people of each fold are judged by; and the thresholds of all."""

    clusters: Ints
    must: Ints
    cannot: Ints
    by_fold: tuple[Ints, ...]
    point: GroupingPoint


@dataclass(frozen=True)
class IdentityScores:
    """The scorecards person by person, and the operating point that they were made at."""

    find: FindTally
    selfie: SelfieTally
    verify: VerifyTally
    cluster: Tallied
    operating: Operating
    grouping: GroupingPoint

    @property
    def parts(self) -> tuple[Tallied, ...]:
        """All of them."""
        return self.find, self.selfie, self.verify, self.cluster

    @property
    def cards(self) -> dict[str, ItemCounts]:
        """The counts person by person, by scorecard."""
        return {part.counts.declared.name: part.counts for part in self.parts}

    def counted(self) -> dict[str, Counted]:
        """The scorecards over all people, each with its figures."""
        return {part.counts.declared.name: part.counted() for part in self.parts}

    @property
    def headline(self) -> str:
        """What the run comes to, in one sentence."""
        return headline(self.find.counted())

    @property
    def metrics(self) -> dict[str, float]:
        """The thresholds of a search and of clusters."""
        both = {"identity/threshold": self.operating.whole, "identity/cluster_threshold": self.grouping.whole}
        return {name: value for name, value in both.items() if value < float("inf")}

    @property
    def operating_words(self) -> str:
        """At which similarity faces are taken for one person, and what that rests on."""
        point = self.operating
        strangers = max(point.strangers)
        told = (
            f"A face comes back from a similarity of {point.whole:.3f} on ({point.source}; "
            f"target FPIR {point.target:g}, {strangers} searches by strangers)."
            if point.whole < float("inf")
            else "Nobody searched as a stranger, so that there is no threshold and no face comes back."
        )
        unsure = f" An FPIR below 1/{strangers} cannot be measured." if strangers and not point.measurable else ""
        return told + unsure

    @property
    def grouping_words(self) -> str:
        """From which average similarity on faces are grouped, and what that rests on."""
        point = self.grouping
        if point.whole == float("inf"):
            return "Nobody searched as a stranger, so that there is no threshold and no faces are grouped."
        people = f", {point.people:,} people with several faces" if point.people else ""
        return f"Faces are grouped from an average similarity of {point.whole:.3f} on ({point.source}{people})."

    def tags(self, model: str) -> Mapping[str, str]:
        """The threshold with what it was set for: it means nothing with another model or on another set."""
        point = self.operating
        return {
            "identity.threshold": f"{point.whole:.6f}",
            "identity.threshold.source": point.source,
            "identity.threshold.fpir": f"{point.target:g}",
            "identity.threshold.strangers": str(max(point.strangers)),
            "identity.threshold.measurable": str(point.measurable).lower(),
            "identity.cluster_threshold": f"{self.grouping.whole:.6f}",
            "identity.cluster_threshold.source": self.grouping.source,
            "identity.cluster_threshold.people": str(self.grouping.people),
            "identity.model": model,
        }


def score(search: Search, operating: Operating, points: tuple[Operating, ...], grouped: Grouped) -> IdentityScores:
    """Every scorecard of identity."""
    return IdentityScores(
        find=tally_finding(search, operating),
        selfie=tally_selfies(search, operating, points),
        verify=tally_verification(search.evidence),
        cluster=tally_clusters(search.evidence, grouped.clusters, grouped.must, grouped.cannot, grouped.by_fold),
        operating=operating,
        grouping=grouped.point,
    )
