"""Grading of annotations: two passes, three similarities, trainers' overrides, one grade."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scoring.grading import Annotation, GradeReport, GradingRules, Override, grade
from harness.scoring.uncertainty import statistic_interval

HERE = (0.0, 0.0, 100.0, 100.0)
THERE = (500.0, 500.0, 100.0, 100.0)
FAR = (900.0, 900.0, 50.0, 50.0)


def note(id: str, box: tuple[float, float, float, float] = HERE, label: str = "car", **attributes: str) -> Annotation:
    return Annotation(id, label, box, attributes)


def one_image(
    truth: Sequence[Annotation],
    student: Sequence[Annotation],
    rules: GradingRules | None = None,
    overrides: Sequence[Override] = (),
) -> GradeReport:
    return grade({"a.jpg": truth}, {"a.jpg": student}, rules, overrides)


def walk_through(overrides: Sequence[Override] = ()) -> GradeReport:
    """Two matches, one missed, one extra."""
    return one_image(
        [note("g1", color="blue"), note("g2", THERE, color="green"), note("g3", FAR)],
        [
            note("s1", (0.0, 0.0, 95.0, 100.0), color="blue"),
            note("s2", (500.0, 500.0, 90.0, 100.0), color="greem"),
            note("s3", (300.0, 0.0, 50.0, 50.0)),
        ],
        GradingRules(attributes={"car": ["color"]}),
        overrides,
    )


class TestWalkThrough:
    def test_the_worked_example_comes_out(self) -> None:
        report = walk_through()
        first, second = report.images[0].matched
        assert (first.iou, first.label_similarity, first.attribute_similarity) == pytest.approx((0.95, 1.0, 1.0))
        assert (second.iou, second.label_similarity, second.attribute_similarity) == pytest.approx((0.90, 1.0, 0.80))
        assert first.original_score == pytest.approx(96.5, abs=1e-9)
        assert second.original_score == pytest.approx(90.0, abs=1e-9)
        assert (report.matched, report.missed, report.extra) == (2, 1, 1)
        assert report.quality == pytest.approx(93.25, abs=1e-9)
        assert 100 * report.f_beta == pytest.approx(66.67, abs=0.005)
        assert report.overall == pytest.approx(79.96, abs=0.005)
        assert round(report.overall) == 80

    def test_who_was_missed_and_who_is_extra_is_named(self) -> None:
        (image,) = walk_through().images
        assert [(m.ground_truth, m.student) for m in image.matched] == [("g1", "s1"), ("g2", "s2")]
        assert (image.missed, image.extra) == (("g3",), ("s3",))

    def test_matches_are_shown_as_the_list_that_they_are(self) -> None:
        matched = walk_through().images[0].matched
        assert repr(matched) == repr(list(matched))
        assert (len(matched), matched[-1], matched[1:]) == (2, list(matched)[1], [list(matched)[1]])

    def test_the_report_reads_back_as_it_was_written(self) -> None:
        report = walk_through([Override("a.jpg", "g2", 50, "box is off", "kim")])
        written = json.loads(json.dumps(report.to_dict()))
        assert GradeReport.from_dict(written) == report
        assert written["overall"] == report.overall
        assert written["images"][0]["matched"][1]["final_score"] == 50
        assert written["images"][0]["matched"][1]["original_score"] == pytest.approx(90.0)


class TestPairing:
    RULES = GradingRules(match_key="no")

    def test_a_key_wins_over_a_better_overlap(self) -> None:
        truth = [note("g1", HERE, no="1"), note("g2", THERE, no="2")]
        student = [note("s1", HERE, no="2"), note("s2", THERE, no="1")]
        (image,) = one_image(truth, student, self.RULES).images
        assert [(m.ground_truth, m.student, m.by_key, m.iou) for m in image.matched] == [
            ("g1", "s2", True, 0.0),
            ("g2", "s1", True, 0.0),
        ]

    def test_without_a_rule_keys_say_nothing(self) -> None:
        report = one_image([Annotation("g1", "car", HERE, key="1")], [Annotation("s1", "car", FAR, key="1")])
        assert (report.matched, report.missed, report.extra) == (0, 1, 1)

    def test_the_key_field_goes_before_the_attribute(self) -> None:
        truth = [Annotation("g1", "car", HERE, {"no": "1"}, key="7")]
        student = [note("s1", FAR, no="1"), Annotation("s2", "car", THERE, key="7")]
        (image,) = one_image(truth, student, self.RULES).images
        assert [(m.ground_truth, m.student) for m in image.matched] == [("g1", "s2")]

    def test_what_keys_leave_is_paired_for_the_best_whole(self) -> None:
        """Greedy would pair g1 with s1, its best overlap, and leave g2 with the poor s2."""
        truth = [note("g0", FAR, no="5"), note("g1", (10.0, 0, 100, 20)), note("g2", (-30.0, 0, 100, 20))]
        student = [note("s0", HERE, no="5"), note("s1", (0.0, 0, 100, 20)), note("s2", (45.0, 0, 100, 20))]
        (image,) = one_image(truth, student, self.RULES).images
        assert [(m.ground_truth, m.student, m.by_key) for m in image.matched] == [
            ("g0", "s0", True),
            ("g1", "s2", False),
            ("g2", "s1", False),
        ]

    def test_duplicate_keys_pair_best_overlap_first_and_are_reported(self) -> None:
        truth = [note("g1", HERE, no="1"), note("g2", THERE, no="2")]
        student = [note("s1", (50.0, 0, 100, 100), no="1"), note("s2", (5.0, 0, 100, 100), no="1"), note("s3", FAR)]
        (image,) = one_image(truth, student, self.RULES).images
        assert [(m.ground_truth, m.student) for m in image.matched] == [("g1", "s2")]
        assert image.duplicate_keys == ("1",)
        assert image.extra == ("s1", "s3")

    def test_blank_keys_are_no_keys(self) -> None:
        truth, student = [note("g1", HERE, no="")], [note("s1", FAR, no=""), note("s2", HERE, no=" ")]
        (image,) = one_image(truth, student, self.RULES).images
        assert [(m.ground_truth, m.student, m.by_key) for m in image.matched] == [("g1", "s2", False)]
        assert image.duplicate_keys == ()

    def test_a_pair_of_the_second_pass_needs_more_than_the_floor(self) -> None:
        truth, student = [note("g1", (0, 0, 100, 100))], [note("s1", (0, 0, 50, 100))]
        assert one_image(truth, student, GradingRules(min_iou=0.5)).matched == 0
        assert one_image(truth, student, GradingRules(min_iou=0.4)).matched == 1

    def test_images_of_one_side_only_are_all_missed_or_all_extra(self) -> None:
        report = grade({"a.jpg": [note("1"), note("2", FAR)]}, {"b.jpg": [note("1")]})
        assert [(i.image, i.missed, i.extra) for i in report.images] == [
            ("a.jpg", ("1", "2"), ()),
            ("b.jpg", (), ("1",)),
        ]


class TestSimilarity:
    @pytest.mark.parametrize(("typed", "expected"), [("car", 1.0), ("cat", 2 / 3), ("Car", 2 / 3), ("", 0.0)])
    def test_a_typo_in_the_label_costs_its_share(self, typed: str, expected: float) -> None:
        (match,) = one_image([note("g")], [note("s", label=typed)]).images[0].matched
        assert match.label_similarity == pytest.approx(expected)
        assert match.original_score == pytest.approx(70 + 15 * expected + 15)

    def test_case_can_be_ignored(self) -> None:
        rules = GradingRules(attributes={"CAR": ["color"]}, ignore_case=True)
        (match,) = one_image([note("g", color="Red")], [note("s", label="Car", color="rED")], rules).images[0].matched
        assert (match.label_similarity, match.attribute_similarity) == (1.0, 1.0)

    @pytest.mark.parametrize(
        ("truth", "student", "expected"),
        [
            ({"color": "red", "side": "left"}, {"color": "red", "side": "left"}, 1.0),
            ({"color": "red", "side": "left"}, {"color": "red"}, 0.5),
            ({"color": "red"}, {"color": "red", "side": "left"}, 0.5),
            ({"color": "red"}, {"color": "red"}, 1.0),
            ({}, {}, 1.0),
            ({"color": "red", "other": "x"}, {"color": "rod", "other": "y"}, (2 / 3 + 1) / 2),
        ],
    )
    def test_attributes_are_averaged_over_those_that_the_label_defines(
        self, truth: dict[str, str], student: dict[str, str], expected: float
    ) -> None:
        rules = GradingRules(attributes={"car": ["color", "side"]})
        report = one_image([Annotation("g", "car", HERE, truth)], [Annotation("s", "car", HERE, student)], rules)
        (match,) = report.images[0].matched
        assert match.attribute_similarity == pytest.approx(expected)

    def test_the_ground_truths_label_says_which_attributes_count(self) -> None:
        rules = GradingRules(attributes={"bus": ["line"]})
        truth, student = [note("g", label="bus", line="7")], [note("s", label="car", line="7")]
        assert one_image(truth, student, rules).images[0].matched[0].attribute_similarity == 1.0
        assert one_image(student, truth, rules).images[0].matched[0].attribute_similarity == 1.0
        other = [note("s", label="car", line="8")]
        assert one_image(truth, other, rules).images[0].matched[0].attribute_similarity == 0.0
        assert one_image(other, truth, rules).images[0].matched[0].attribute_similarity == 1.0


def test_only_labels_that_are_alike_but_for_their_case_share_attributes() -> None:
    rules = GradingRules(attributes={"bus": ["line"], "Car": ["color"]}, ignore_case=True)
    assert [list(rules.compared(label)) for label in ("car", "BUS", "tram")] == [["color"], ["line"], []]
    assert GradingRules(attributes={"Car": ["color"]}).compared("car") == ()


def test_a_report_as_plain_values_has_every_total() -> None:
    report = walk_through()
    kept = report.to_dict()
    totals = ("matched", "missed", "extra", "overridden", "quality", "precision", "recall", "f_beta", "overall")
    assert {name: kept[name] for name in totals} == {name: getattr(report, name) for name in totals}


class TestOverrides:
    @pytest.mark.parametrize("score", [0, 100])
    def test_an_override_may_be_all_or_nothing(self, score: float) -> None:
        report = walk_through([Override("a.jpg", "g1", score, "as agreed", "kim")])
        assert report.images[0].matched[0].final_score == score

    def test_an_override_replaces_the_score_and_both_are_kept(self) -> None:
        word = Override("a.jpg", "g1", 40, "wrong car", "kim")
        report = walk_through([word])
        first = report.images[0].matched[0]
        assert first.original_score == pytest.approx(96.5)
        assert (first.final_score, first.override) == (40, word)
        assert report.quality == pytest.approx((40 + 90) / 2)
        assert report.overridden == 1

    @pytest.mark.parametrize("score", [-0.5, 100.5, float("nan")])
    def test_a_score_out_of_range_is_refused_by_name(self, score: float) -> None:
        with pytest.raises(ValueError, match=r"'kim' for image 'a.jpg', annotation 'g1': score .* from 0 to 100"):
            walk_through([Override("a.jpg", "g1", score, "", "kim")])

    @pytest.mark.parametrize(("image", "annotation"), [("b.jpg", "g1"), ("a.jpg", "g9"), ("a.jpg", "s1")])
    def test_an_unknown_annotation_is_refused_by_name(self, image: str, annotation: str) -> None:
        with pytest.raises(ValueError, match=f"image '{image}', annotation '{annotation}': there is no such"):
            walk_through([Override(image, annotation, 50, "", "kim")])

    def test_a_missed_annotation_has_no_score_to_replace(self) -> None:
        with pytest.raises(ValueError, match="annotation 'g3': the annotation is missed"):
            walk_through([Override("a.jpg", "g3", 50, "", "kim")])

    def test_two_words_on_one_match_are_refused(self) -> None:
        with pytest.raises(ValueError, match=r"'lee' .*'g1': there is another one for it, by 'kim'"):
            walk_through([Override("a.jpg", "g1", 50, "", "kim"), Override("a.jpg", "g1", 60, "", "lee")])


class TestGrade:
    def test_without_a_match_quality_and_grade_are_zero(self) -> None:
        report = one_image([note("g", HERE)], [note("s", FAR)])
        assert (report.quality, report.f_beta, report.overall) == (0.0, 0.0, 0.0)
        assert report.metrics() == {
            "grade/overall": 0.0,
            "grade/f_beta": 0.0,
            "grade/precision": 0.0,
            "grade/recall": 0.0,
            "grade/matched": 0.0,
            "grade/missed": 1.0,
            "grade/extra": 1.0,
            "grade/overridden": 0.0,
            "grade/images": 1.0,
        }

    def test_where_there_is_nothing_to_grade_no_rate_is_logged(self) -> None:
        report = grade({"a.jpg": []}, {"b.jpg": []})
        assert set(report.metrics()) == {f"grade/{n}" for n in ("matched", "missed", "extra", "overridden", "images")}
        assert report.intervals() == {}

    def test_extra_annotations_cost_more_than_missed_ones(self) -> None:
        missing = one_image([note("g"), note("g2", FAR)], [note("s")])
        guessing = one_image([note("g")], [note("s"), note("s2", FAR)])
        assert missing.f_beta == pytest.approx(1.25 / (1.25 + 0.25))
        assert guessing.f_beta == pytest.approx(1.25 / (1.25 + 1))

    def test_weights_beta_and_blend_are_rules(self) -> None:
        rules = GradingRules(iou_weight=50, label_weight=50, attribute_weight=0, beta=1, blend=0.8)
        report = one_image([note("g"), note("g2", FAR)], [note("s", label="cat")], rules)
        assert report.quality == pytest.approx(50 + 50 * 2 / 3)
        assert report.f_beta == pytest.approx(2 / 3)
        assert report.overall == pytest.approx(0.8 * report.quality + 0.2 * 100 * 2 / 3)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"iou_weight": 80.0}, "weights .* add up to 100"),
            ({"iou_weight": 110.0, "label_weight": -25.0}, "weights .* not negative"),
            ({"iou_weight": float("nan")}, "weights"),
            ({"beta": 0.0}, "beta 0.0: expected a number above 0"),
            ({"blend": 1.5}, "blend 1.5: expected a number from 0 to 1"),
            ({"min_iou": 1.0}, "min_iou 1.0: expected"),
        ],
    )
    def test_rules_that_say_nothing_are_refused(self, wrong: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            GradingRules(**wrong)

    def test_precision_and_recall_are_shares_of_what_was_drawn_and_of_what_was_asked_for(self) -> None:
        report = one_image([note("g"), note("g2", FAR)], [note("s"), note("s2", THERE), note("s3", (300, 0, 9, 9))])
        assert (report.precision, report.recall) == (1 / 3, 1 / 2)
        assert report.metrics()["grade/precision"] == 1 / 3

    def test_images_without_a_match_say_nothing_about_quality(self) -> None:
        truth = {str(n): [note("g")] for n in range(4)}
        report = grade(truth, {"0": [note("s")]})
        quality, completeness = report.intervals()["grade/quality"], report.intervals()["grade/f_beta"]
        assert quality.low == pytest.approx(2.5)
        assert (quality.high, quality.n_eff, quality.groups) == (100.0, 1, 1)
        assert (completeness.groups, completeness.few_groups) == (4, True)

    def test_intervals_hold_the_grade_and_go_by_leaving_out_images(self) -> None:
        truth = {str(n): [note("g"), note("g2", THERE)] for n in range(30)}
        work = {str(n): [note("s", (n * 3.0, 0, 100, 100))] for n in range(30)}
        report = grade(truth, work)
        found = report.intervals()
        assert set(found) == {"grade/overall", "grade/quality", "grade/f_beta"}
        assert found["grade/overall"].low < report.overall < found["grade/overall"].high
        assert found["grade/quality"].low < report.quality < found["grade/quality"].high
        assert found["grade/f_beta"].low < report.f_beta < found["grade/f_beta"].high
        assert {interval.groups for interval in found.values()} == {30}
        without = [grade({k: truth[k] for k in truth if k != n}, {k: work[k] for k in work if k != n}) for n in truth]
        below = np.array([1 + 0.25 / 1.25] * 30)  # one match and one miss an image, with a beta of a half
        values = np.array([each.overall for each in without]) / 100
        overall = statistic_interval(report.overall / 100, values, below, np.arange(30)).scaled(100)
        assert (overall.low, overall.high) == pytest.approx((found["grade/overall"].low, found["grade/overall"].high))


class TestBadInput:
    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            (Annotation("s", "car", (0, 0, -1, 1)), "expected finite"),
            (Annotation("s", "car", (0, 0, 1, -1)), "expected finite"),
            (Annotation("s", "car", (float("nan"), 0, 1, 1)), "expected finite"),
            (Annotation("s", "car", (0, 0, 1)), "expected x, y, w, h"),  # type: ignore[arg-type]
            (Annotation("s", None, HERE), "label None; expected a string"),  # type: ignore[arg-type]
            (Annotation("s", "car", HERE, {"n": 3}), "attribute 3; expected a string"),  # type: ignore[dict-item]
        ],
    )
    def test_a_broken_annotation_is_refused_by_name(self, wrong: Annotation, message: str) -> None:
        with pytest.raises(ValueError, match=f"image 'a.jpg', student annotation 's': .*{message}"):
            one_image([note("g")], [wrong], GradingRules(attributes={"car": ["n"]}))

    def test_the_image_of_a_broken_annotation_is_named_also_where_it_is_the_first_of_its_image(self) -> None:
        work = {"a.jpg": [note("s")], "b.jpg": [note("s", (0, 0, -1, 1))]}
        with pytest.raises(ValueError, match=r"image 'b.jpg', student annotation 's': box"):
            grade({}, work)

    def test_a_key_that_is_no_text_is_refused_by_name(self) -> None:
        wrong = Annotation("s", "car", HERE, key=3)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"image 'a.jpg', student annotation 's': key 3; expected a string"):
            one_image([note("g")], [note("first"), wrong], GradingRules(match_key="no"))

    @pytest.mark.parametrize("box", [(0, 0, 0, 1), (0, 0, 1, 0), (-5, -5, 1, 1)])
    def test_a_box_without_an_area_or_outside_the_image_is_none_the_worse(self, box: Any) -> None:
        report = one_image([note("g")], [note("s", box)])
        assert (report.matched, report.extra) == (0, 1)

    def test_an_id_that_stands_twice_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"image 'a.jpg', ground-truth annotation 'g': the id stands twice"):
            one_image([note("g"), note("g", FAR)], [])
        with pytest.raises(ValueError, match=r"image 'b.jpg', student annotation 's': the id stands twice"):
            grade({}, {"a.jpg": [note("s")], "b.jpg": [note("other"), note("s"), note("s", FAR)]})


boxes = st.tuples(*[st.sampled_from([0.0, 10.0, 20.0])] * 2, *[st.sampled_from([20.0, 30.0])] * 2)
notes = st.lists(st.tuples(st.sampled_from(["car", "cat", "bus"]), boxes, st.sampled_from([None, "1", "2"])))


def side(prefix: str, drawn: Sequence[tuple[str, Any, str | None]]) -> list[Annotation]:
    return [Annotation(f"{prefix}{n}", label, box, key=key) for n, (label, box, key) in enumerate(drawn[:4])]


class TestProperties:
    @given(st.lists(st.tuples(notes, notes), min_size=1, max_size=3), st.booleans())
    @settings(max_examples=150)
    def test_every_annotation_is_accounted_for_once(self, drawn: Any, keyed: bool) -> None:
        truth = {str(n): side("g", a) for n, (a, _) in enumerate(drawn)}
        work = {str(n): side("s", b) for n, (_, b) in enumerate(drawn)}
        report = grade(truth, work, GradingRules(match_key="key" if keyed else None))
        for image in report.images:
            of_truth = [m.ground_truth for m in image.matched] + list(image.missed)
            of_work = [m.student for m in image.matched] + list(image.extra)
            assert sorted(of_truth) == sorted(a.id for a in truth[image.image])
            assert sorted(of_work) == sorted(a.id for a in work[image.image])
            assert all(m.iou > 0 or m.by_key for m in image.matched)
        assert 0 <= report.overall <= 100
        assert GradeReport.from_dict(json.loads(json.dumps(report.to_dict()))) == report

    @given(notes, notes)
    @settings(max_examples=100)
    def test_the_second_pass_leaves_no_better_whole(self, first: Any, second: Any) -> None:
        truth, work = side("g", first), side("s", second)
        report = one_image(truth, work)
        found = sum(match.iou for match in report.images[0].matched)
        few, many = sorted([truth, work], key=len)
        values = [[one_iou(a, b) for b in many] for a in few]
        best = max(sum(values[i][j] for i, j in enumerate(p)) for p in permutations(range(len(many)), len(few)))
        assert found == pytest.approx(best, abs=1e-9)

    @given(notes)
    def test_the_ground_truth_itself_gets_full_marks(self, drawn: Any) -> None:
        report = one_image(side("g", drawn), side("s", drawn))
        assert report.overall == pytest.approx(100.0 if drawn else 0.0)


def one_iou(a: Annotation, b: Annotation) -> float:
    width = min(a.box[0] + a.box[2], b.box[0] + b.box[2]) - max(a.box[0], b.box[0])
    height = min(a.box[1] + a.box[3], b.box[1] + b.box[3]) - max(a.box[1], b.box[1])
    common = max(width, 0) * max(height, 0)
    return common / (a.box[2] * a.box[3] + b.box[2] * b.box[3] - common)


@pytest.mark.parametrize("blend", [0.0, 1.0])
def test_a_grade_may_be_all_quality_or_all_completeness(blend: float) -> None:
    rules = GradingRules(blend=blend)
    report = one_image([note("g1"), note("g2", THERE)], [note("s1")], rules)
    assert report.overall == pytest.approx(report.quality if blend else 100 * report.f_beta)
