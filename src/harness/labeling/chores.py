"""Work that takes longer than a page may: done aside, one piece after the other, and told on the pages meanwhile."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.base.errors import HarnessError
from harness.base.progress import watched
from harness.labeling.refusals import log

#: So many pieces of work are remembered after they have ended, and for so many seconds pages of all runs tell of them.
_KEPT, _SECONDS_TOLD = 20, 300.0


@dataclass
class Chore:
    """A piece of work. `told` says what is being done, and in the end what was; `problem` why it could not be."""

    told: str
    running: bool = True
    problem: str = ""
    done: int = 0
    total: int = 0
    ended: float = 0.0

    def _progress(self, done: int, total: int) -> None:
        self.done, self.total = done, total


class Chores:
    """The work that somebody has asked for, by what it is about."""

    def __init__(self) -> None:
        self._lock, self._one_by_one = threading.Lock(), threading.Lock()
        self._known: OrderedDict[str, Chore] = OrderedDict()

    def get(self, name: str) -> Chore | None:
        """How it is with a piece of work at this moment; None where nobody has asked for it. A page asks before it
        looks at what the work changes: then what has ended is to be seen."""
        chore = self._known.get(name)
        return replace(chore) if chore else None

    def recent(self, begins: str) -> list[Chore]:
        """The same for all whose names begin so, the newest first: those under way, and those that have just ended."""
        with self._lock:
            named = [replace(chore) for name, chore in self._known.items() if name.startswith(begins)]
        now = time.monotonic()
        return [chore for chore in reversed(named) if chore.running or now - chore.ended < _SECONDS_TOLD]

    def start(self, name: str, told: str, work: Callable[[], str]) -> None:
        """Do it aside, unless this very piece is under way. What `work` returns is told in the end; a HarnessError is
        its problem."""
        with self._lock:
            if (known := self._known.get(name)) is not None and known.running:
                return
            chore = self._known[name] = Chore(told)
            self._known.move_to_end(name)
            for old in [each for each, it in self._known.items() if not it.running][:-_KEPT]:
                del self._known[old]
        threading.Thread(target=self._do, args=(chore, work), name=name, daemon=True).start()

    def _do(self, chore: Chore, work: Callable[[], str]) -> None:
        try:
            with self._one_by_one, watched(chore._progress):
                chore.told = work()
        except HarnessError as error:
            chore.problem = str(error)
        except Exception as error:  # noqa: BLE001 - a thread has nobody above it: it is logged, and told on the page
            log.exception("%s: failed", chore.told)
            chore.problem = f"this is a bug in the harness: {type(error).__name__}: {error}"
        finally:
            chore.ended, chore.running = time.monotonic(), False
