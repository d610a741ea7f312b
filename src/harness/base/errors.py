"""One small tree of errors that are the user's to mend; each knows the exit code it ends a command with.

A message says what was expected, what came and what to do, and is shown without a traceback. Anything else that is
raised is a bug in the harness and keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class HarnessError(Exception):
    """Something outside the code is wrong: input, configuration, environment."""

    exit_code = 1
    #: Whether the user has been told already, as the jobs of a sweep do when they fail.
    shown = False


class ConfigError(HarnessError):
    """The command line or a config file asks for something that does not exist."""

    exit_code = 2


class MissingPackageError(HarnessError):
    """Packages of an extra are needed that are not installed; `missing` has the modules by what needs them."""

    exit_code = 2

    def __init__(self, message: str, missing: Mapping[str, Sequence[str]] | None = None) -> None:
        super().__init__(message)
        self.missing = dict(missing or {})  # a process that is told by another has the message alone


class ReferenceSetError(HarnessError):
    """A reference set cannot be used as it is."""


class UnknownPhotoError(ReferenceSetError):
    """A photo is asked for that the set does not have."""


class InvalidEditError(ReferenceSetError):
    """An edit does not fit the labels that it is about."""


class NameTakenError(ReferenceSetError):
    """A frozen set of this name exists, and frozen sets never change."""


class StaleRevisionError(ReferenceSetError):
    """A save was based on labels that somebody has changed since. Both versions come with it, for a choice."""

    exit_code = 4

    def __init__(self, message: str, *, photo: str, yours: object, theirs: object) -> None:
        super().__init__(message)
        self.photo = photo
        self.yours = yours
        self.theirs = theirs


class StaleCodeError(HarnessError):
    """A source file was edited after this process had loaded it: what it says is not what runs."""

    exit_code = 4


class WeightsError(HarnessError):
    """A backend's weights are missing or are not the ones that the config names."""


class PhotoError(HarnessError):
    """One photo cannot be read, or what a backend says about it cannot be scored; the run goes on without it and ends
    INCOMPLETE."""


class QueryError(HarnessError):
    """What somebody searches with cannot be searched for: a picture that cannot be read or shows no face that can be
    compared, or no whole number."""

    exit_code = 2


class PredictionsError(HarnessError):
    """A file of predictions cannot be scored as it is."""

    exit_code = 2


class ConfidenceError(HarnessError):
    """The files of the confidence post-operation cannot be used as they are."""


class TableError(HarnessError):
    """Ground truth, extractions or PDF files of the table evaluation cannot be used as they are."""


class GradingError(HarnessError):
    """Annotations, overrides or images of a submission cannot be graded as they are."""


class IncompleteError(HarnessError):
    """The run was logged, but some of its items could not be evaluated."""


class BudgetError(HarnessError):
    """The budget of a search is spent, or its space is exhausted."""

    exit_code = 3


class ConflictError(HarnessError):
    """What is asked for does not fit what a search has recorded."""

    exit_code = 4


class NotBegunError(ConflictError):
    """A search is asked about that nobody has begun."""


class CrashError(HarnessError):
    """A worker of a search or of a sweep has died."""

    exit_code = 5


class GateError(HarnessError):
    """The run was logged, and a strict gate does not let it pass."""


class SealedError(HarnessError):
    """The scores of a run on a holdout are asked for, which are sealed; or a look at a holdout cannot be counted."""


class AuditError(HarnessError):
    """The run was logged, but an answer that it took from the stage cache comes out otherwise when computed anew."""

    exit_code = 6


class PendingError(HarnessError):
    """A run was made and the store did not take it: all of it is kept on disk, to be logged later."""

    exit_code = 7


class UndecidedError(HarnessError):
    """A candidate was judged, and it cannot be told whether it is better. The command ends with this code, and tells
    the answer as any other."""

    exit_code = 8
