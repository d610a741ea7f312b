"""From the pieces of text of a photo to its bib numbers, and for every other piece the rule that dropped it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from harness.base.checks import Share
from harness.pipeline.bibs.formats import BibFormat, is_year
from harness.pipeline.bibs.readings import Reading
from harness.pipeline.bibs.torsos import Torso
from harness.pipeline.bibs.voting import Sighting, beyond, covers, elect, merge, same_line, voters_on, without_rivals
from harness.types import Box, DroppedText, FaceBox

#: The rules in the order in which a text meets them; of several of one place the last is told.
_STAGES = ("torso", "clearance", "format", "lone_char_score", "min_char_score", "vote", "rival_share", "partial")
_FEWEST_DIGITS = 2
#: What stands for characters that cannot be read.
UNREAD = "?"
#: How likely one more character beside a number has to be for the number to be a part of a longer one.
_HIDDEN = 0.55
#: Shorter texts are seen on clocks and banners, too: they are numbers only on somebody whose face was found.
_SHORTEST_ALONE = 3


@dataclass(frozen=True)
class NumberRule:
    """How sure a number has to be, by the votes for each of its characters.

    A lone digit is easily seen in anything, and has to be surer. A torso whose number is not as sure as `sure` is
    worth a closer look. Text that comes nearer than `clearance`, in heights of it, to the edge of the picture may be
    cut off.
    """

    min_char_score: Share
    lone_char_score: Share
    sure: Share
    clearance: Share

    def limit(self, text: str) -> tuple[str, float]:
        """The rule that a number has to pass, and what it asks for."""
        lone = len(text) == 1 and self.lone_char_score > self.min_char_score
        return ("lone_char_score", self.lone_char_score) if lone else ("min_char_score", self.min_char_score)


@dataclass
class Found:
    """What was seen of the text of one photo so far."""

    rule: NumberRule
    format: BibFormat
    torso: Torso
    guided: float
    faces: Sequence[FaceBox]
    sightings: list[Sighting] = field(default_factory=list)
    #: Whether nobody who was found has a number, so that somebody was missed.
    missed: bool = False
    _unread: list[DroppedText] = field(default_factory=list)
    #: Texts that reach the edge of a look, and on whose torso.
    _at_edge: list[tuple[int, Box]] = field(default_factory=list)
    _dropped: list[DroppedText] = field(default_factory=list)

    def may_be_read(self, box: Box, line: Box, cut: str, aspect: float) -> bool:
        """Whether a text may be a number on somebody; if not, that is noted. `line` is the text turned upright."""
        if cut == "edge":
            self._unread.append(_drop(box, "", "clearance"))
            wearer = self.torso.wearer(self.faces, line, aspect)
            self._at_edge += [] if wearer is None else [(wearer, box)]
        elif not self.may_hang(line, aspect):
            self._unread.append(_drop(box, "", "torso"))
        else:
            return True
        return False

    def may_hang(self, box: Box, aspect: float) -> bool:
        """Whether a text may hang on somebody, by its place and its height."""
        if self.guided == 0 or self.torso.wearer(self.faces, box, aspect) is not None:
            return True
        return self.guided < 1 and self.torso.somebody(self.faces, box, self.missed)

    def add(self, sighting: Sighting, line: Box, aspect: float) -> None:
        """A piece of text that was read: as numbers where the readings are some, and whose they would be."""
        wearer = self.torso.wearer(self.faces, line, aspect) if self.guided else None
        readings = (self.format.number(reading) or reading for reading in sighting.readings)
        mine = tuple(replace(r, wearer=wearer, height=line.h) for r in readings)
        # Whoever cuts a bib out of a photo leaves its number whole, and hardly any paper beside it.
        whole = self.torso.close_up(self.faces, line) and _surest(mine).whole_at(sighting.cut)
        self.sightings.append(replace(sighting, readings=mine, cut="" if whole else sighting.cut))

    def unsure(self) -> list[int]:
        """The faces without a sure number on their torso."""
        sure = {n.wearer for n in self.numbers() if n.weakest >= self.rule.sure and UNREAD not in n.text}
        return [wearer for wearer in range(len(self.faces)) if wearer not in sure]

    def cut_off(self) -> list[int]:
        """The faces without a sure number on whose torso a text reaches the edge of every look that has shown it."""
        whole = [sighting.box for sighting in self.sightings]
        unseen = {wearer for wearer, box in self._at_edge if not any(same_line(box, other) for other in whole)}
        return sorted(unseen.intersection(self.unsure())) if unseen else []

    def nothing(self) -> bool:
        """Whether no whole number was found, and no part of one on somebody whose face was: what the frame or an arm
        hides there is not seen in a smaller picture either."""
        return all(
            UNREAD in number.text and not (self.faces and number.wearer is not None) for number in self.numbers()
        )

    def numbers(self) -> tuple[Reading, ...]:
        """The numbers of the photo, those of which a part cannot be seen with a `?` in its place."""
        self._dropped = list(self._unread)
        whole = [sighting for sighting in self.sightings if not sighting.cut]
        elected = elect((r for s in whole for r in s.readings if self.format.fits(r.text)), whole)
        weighed = [self._weighed(number) for number in elected]
        accepted = [number for number in weighed if self._passes(number)]
        merged = merge(accepted)
        self._note("vote", accepted, merged)
        numbers = without_rivals(merged, self.torso.rival_share, self.rule.sure)
        self._note("rival_share", merged, numbers)
        seen = [self._with_hidden(number, whole) for number in numbers]
        failed = [number for number in weighed if number not in accepted]
        told = tuple(number for number in seen if UNREAD not in number.text)
        parts = [*(number for number in seen if UNREAD in number.text), *self._partials(accepted, failed)]
        known = {number.wearer for number in told}
        kept = tuple(number for number in parts if number.wearer not in known)
        self._note("partial", parts, kept)
        return (*told, *kept)

    def _weighed(self, number: Reading) -> Reading:
        """A number with all that speaks against it: that it hangs on nobody, that it is on no start list."""
        alone = self.guided if number.wearer is None else 0.0
        prior = (1 - alone) * self.format.prior(number.text)
        return replace(number, char_scores=tuple(score * prior for score in number.char_scores))

    def _passes(self, number: Reading) -> bool:
        short = len(number.text) < _SHORTEST_ALONE or is_year(number.text)
        if self.guided and number.wearer is None and short:
            self._dropped.append(_drop(number.box, number.text, "torso"))
            return False
        rule, limit = self.rule.limit(number.text)
        if number.weakest < limit:
            self._dropped.append(_drop(number.box, number.text, rule, number.weakest, limit))
            return False
        return True

    def _note(self, rule: str, before: Sequence[Reading], after: Sequence[Reading]) -> None:
        for number in before:
            if number not in after:
                best = max((n for n in after if covers(n.box, number.box)), key=lambda n: n.score, default=None)
                self._dropped.append(_drop(number.box, number.text, rule, number.score, best.score if best else None))

    def _with_hidden(self, number: Reading, sightings: Sequence[Sighting]) -> Reading:
        """A number as a part of a longer one where there is one more character beside it that nobody can tell."""
        before, after = beyond(number, voters_on(number.box, sightings), self.format.fits)
        if number.wearer is None or max(before, after) < _HIDDEN:
            return number
        return partial_number(number, "left" if before >= after else "right")

    def _partials(self, accepted: Sequence[Reading], failed: Sequence[Reading]) -> Iterator[Reading]:
        """What is left of numbers of which one end cannot be told, or is cut off by the frame of the photo."""
        taken = [number.box for number in accepted]
        cut = [(s.cut, _surest(s.readings)) for s in self.sightings if s.cut]
        left = [part for number in failed for part in self._halves(number)]
        left += [(side, self._weighed(reading)) for side, reading in cut]
        for side, part in sorted(left, key=lambda item: -item[1].score):
            digits = sum(character.isdecimal() for character in part.text)
            told = part.text.isalnum() and digits >= _FEWEST_DIGITS and bool(part.text.strip("0"))
            legible = told and part.weakest >= self.rule.sure and self.format.may_be_part(part.text, side)
            if part.wearer is not None and legible and not any(covers(part.box, box) for box in taken):
                taken.append(part.box)
                yield partial_number(part, side)

    def _halves(self, number: Reading) -> Iterator[tuple[str, Reading]]:
        """A number without its first, and without its last character, where that is the one that is not sure."""
        if number.char_scores[0] < self.rule.min_char_score:
            yield "left", number.without(1)
        if number.char_scores[-1] < self.rule.min_char_score:
            yield "right", number.without(-1)

    def dropped(self, numbers: Sequence[Reading]) -> tuple[DroppedText, ...]:
        """For each place with text that became no whole number, what was read there and the last rule that it met; in
        the place of a number only what it was elected over. `numbers` are those of the photo."""
        whole = [number for number in numbers if UNREAD not in number.text]
        told = [_drop(number.box, number.text, "partial") for number in numbers if UNREAD in number.text]
        told += self._dropped
        told += [_drop(s.box, _surest(s.readings).text, "format") for s in self.sightings if not self._numeric(s)]
        kept: list[DroppedText] = []
        for text in sorted(told, key=lambda text: -_STAGES.index(text.rule)):
            runner_up = text.rule == "vote" and all(text.text != number.text for number in whole)
            beside = any(covers(text, number.box) for number in whole)
            if (runner_up or not beside) and not any(covers(text, other) for other in kept):
                kept.append(text)
        return tuple(kept)

    def _numeric(self, sighting: Sighting) -> bool:
        return any(self.format.fits(reading.text) for reading in sighting.readings)

    def made_a_difference(self) -> dict[str, int]:
        """How many texts each rule has dropped that can be switched off."""
        count = {rule: sum(text.rule == rule for text in self._dropped) for rule in ("rival_share", "torso")}
        return {"torso.rival_share": count["rival_share"], "guided": count["torso"]} if self.guided else {}


def partial_number(number: Reading, side: str) -> Reading:
    """A number with a `?` for what cannot be seen at one side of it, which is as sure as the rest."""
    sure = (number.score,)
    if side == "left":
        return replace(number, text=f"{UNREAD}{number.text}", char_scores=sure + number.char_scores)
    return replace(number, text=f"{number.text}{UNREAD}", char_scores=number.char_scores + sure)


def covered_number(number: Reading, side: str, sure: float) -> Reading:
    """A number with a `?` for what is hidden at one side, also for the character beside that where it is not sure."""
    first, end = (1, 0) if side == "left" else (-1, -1)
    told = len(number.text) <= _FEWEST_DIGITS or number.char_scores[end] >= sure
    return partial_number(number if told else number.without(first), side)


def _surest(readings: Sequence[Reading]) -> Reading:
    return max(readings, key=lambda reading: reading.score)


def _drop(box: Box, text: str, rule: str, value: float | None = None, limit: float | None = None) -> DroppedText:
    return DroppedText(x=box.x, y=box.y, w=box.w, h=box.h, text=text, rule=rule, value=value, limit=limit)
