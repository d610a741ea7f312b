"""Who may ask, and what is refused: each with its status, and one line in the log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from harness.labeling.access import COOKIE, MOST_BYTES, Access
from harness.labeling.server import ServerSettings
from harness.labeling.source import FrozenSource
from harness.references.freeze import freeze
from harness.references.store import LabelStore
from tests.labeling.conftest import BIB, FACE, HERE, Connect, bibs, faces, put, read

TOKEN = "a-token-that-nobody-guesses"


def refused(response: Any, status: int, code: str, log: pytest.LogCaptureFixture) -> None:
    """The status, the body and exactly one log line."""
    assert response.status_code == status
    assert response.json()["error"] == code
    assert [record.getMessage().count("\n") for record in log.records if f" {status} {code}: " in record.message] == [0]


@pytest.mark.parametrize(
    "path",
    [
        "/photos/../../etc/passwd/full",
        "/photos/..%2f..%2fetc%2fpasswd/full",
        "/photos/%2e%2e/%2e%2e/full",
        "/photos/" + "A" * 64 + "/full",
        "/photos/" + "0" * 64 + "/full",
        "/photos/" + "0" * 63 + "%0a/full",
        "/api/photos/..%2f..%2fbib_ground_truth.json",
        "/api/photos/" + "0" * 64,
        "/labels/..%2f..%2fsecret",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/errors.py",
        "/runs/..%2f..%2fetc/report",
    ],
)
def test_paths_lead_nowhere_but_to_photos(client: TestClient, caplog: pytest.LogCaptureFixture, path: str) -> None:
    refused(client.get(path), 404, "not_found", caplog)


def test_a_photo_that_is_not_in_the_set_is_not_served_though_its_file_is_there(client: TestClient, root: Path) -> None:
    stranger = root / "photos" / f"{'0' * 64}.jpg"
    stranger.write_bytes(b"secret")
    assert client.get(f"/photos/{'0' * 64}/full").status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8600", "127.0.0.1.evil.example", "", "[::2]:8600"])
@pytest.mark.parametrize("path", ["/", "/api/progress", "/static/app.css"])
def test_a_foreign_host_is_refused(client: TestClient, caplog: pytest.LogCaptureFixture, host: str, path: str) -> None:
    refused(client.get(path, headers={"Host": host}), 421, "host", caplog)


@pytest.mark.parametrize("host", ["127.0.0.1:8600", "localhost:8600", "LOCALHOST", "[::1]:8600"])
def test_the_names_of_this_machine_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/api/alive", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Origin": "https://127.0.0.1:8600"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": HERE, "Sec-Fetch-Site": "cross-site"},
    ],
)
def test_a_write_from_elsewhere_is_refused_and_changes_nothing(
    client: TestClient, photo: str, caplog: pytest.LogCaptureFixture, headers: dict[str, str]
) -> None:
    before = read(client, photo)
    refused(put(client, photo, "bibs", bibs(BIB), **headers), 403, "cross_site", caplog)
    assert client.post("/api/freeze", json={"name": "x", "everything": True}, headers=headers).status_code == 403
    assert read(client, photo) == before


@pytest.mark.parametrize("headers", [{}, {"Origin": HERE}, {"Origin": HERE, "Sec-Fetch-Site": "same-origin"}])
def test_the_own_pages_and_programs_may_write(client: TestClient, photo: str, headers: dict[str, str]) -> None:
    assert put(client, photo, "bibs", bibs(BIB), **headers).status_code == 200


def test_a_form_of_another_site_cannot_write(client: TestClient, photo: str, caplog: pytest.LogCaptureFixture) -> None:
    sent = client.put(f"/api/photos/{photo}/bibs", content="{}", headers={"Content-Type": "text/plain"})
    refused(sent, 415, "not_json", caplog)


def test_a_body_that_is_not_json_is_refused(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    sent = client.post("/api/freeze", content="{bad", headers={"Content-Type": "application/json"})
    refused(sent, 422, "invalid", caplog)
    assert sent.json()["message"] == "the body is not JSON"


def test_an_oversized_body_is_refused_before_it_is_read(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    body = b'{"name": "' + b"x" * MOST_BYTES + b'"}'
    sent = client.post("/api/freeze", content=body, headers={"Content-Type": "application/json"})
    refused(sent, 413, "too_large", caplog)


def test_an_oversized_body_of_unknown_length_is_refused_too(
    client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    def chunks() -> Any:
        for _ in range(MOST_BYTES // 65536 + 1):
            yield b"x" * 65536

    sent = client.post("/api/freeze", content=chunks(), headers={"Content-Type": "application/json"})
    refused(sent, 413, "too_large", caplog)


@pytest.mark.parametrize("script", ["<script>alert(1)</script>", "Ada<b>", "a\x00b", "two\nlines", "\u202eevil"])
def test_a_script_in_a_name_or_tag_is_refused(
    client: TestClient, photo: str, caplog: pytest.LogCaptureFixture, script: str
) -> None:
    refused(put(client, photo, "faces", faces(FACE | {"identity": script})), 422, "invalid", caplog)
    assert put(client, photo, "bibs", bibs(BIB | {"tags": [script]})).status_code == 422
    assert put(client, photo, "bibs", bibs(BIB | {"number": script})).status_code == 422
    assert put(client, photo, "bibs/tags", {"tags": [script]}).status_code == 422
    assert client.post("/api/freeze", json={"name": script}).status_code == 422
    assert client.post("/api/freeze", json={"name": "x", "description": script}).status_code == 422


def test_a_stale_revision_is_refused(client: TestClient, photo: str, caplog: pytest.LogCaptureFixture) -> None:
    old = read(client, photo)["revision"]
    put(client, photo, "bibs", bibs(BIB))
    refused(put(client, photo, "bibs", bibs(), old), 409, "stale", caplog)


@pytest.mark.parametrize(
    ("if_match", "status", "code"),
    [
        (None, 428, "no_revision"),
        ("*", 400, "bad_request"),
        ("1.2.3", 400, "bad_request"),
        ('W/"1.2.3.4"', 400, "bad_request"),
        ('"999.999.999.999"', 409, "stale"),
    ],
)
def test_a_write_names_the_revision_that_it_is_based_on(
    client: TestClient, photo: str, caplog: pytest.LogCaptureFixture, if_match: str | None, status: int, code: str
) -> None:
    headers = {"If-Match": if_match} if if_match else {}
    refused(client.put(f"/api/photos/{photo}/bibs", json=bibs(BIB), headers=headers), status, code, caplog)


def test_a_frozen_set_can_be_looked_at_and_not_be_changed(
    connect: Connect, photo: str, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    freeze(LabelStore(root), "v1", everything=True)
    frozen = connect(FrozenSource(root, "v1"))
    before = {path: path.read_bytes() for path in (root / "frozen").rglob("*") if path.is_file()}
    assert frozen.get(f"/labels/{photo}").status_code == 200
    refused(put(frozen, photo, "bibs", bibs(BIB)), 403, "frozen", caplog)
    for what, body in [("faces", faces(FACE)), ("links", {"links": []}), ("split", {"split": "holdout"})]:
        assert put(frozen, photo, what, body).status_code == 403
    assert frozen.post("/api/freeze", json={"name": "v2", "everything": True}).status_code == 403
    assert frozen.post("/api/names/anonymous", json={}).status_code == 403
    assert {path: path.read_bytes() for path in (root / "frozen").rglob("*") if path.is_file()} == before


def test_a_name_that_is_frozen_is_taken(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    assert client.post("/api/freeze", json={"name": "v1", "everything": True}).status_code == 201
    refused(client.post("/api/freeze", json={"name": "v1", "everything": True}), 409, "taken", caplog)


def test_a_log_line_is_one_line_whatever_is_sent(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    client.get("/x%0aharness ui: all is well%1b[2J" + "y" * 5000)
    (line,) = [record.message for record in caplog.records if "refused" in record.message]
    assert line.isprintable()
    assert len(line) < 600


def test_every_answer_carries_the_headers_that_keep_a_page_to_itself(client: TestClient) -> None:
    for path in ("/", "/api/progress", "/static/app.css", "/nowhere", "/openapi.json"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers


class TestToken:
    """On an address that others can reach."""

    ACCESS = Access("192.0.2.7", TOKEN)

    def visit(self, connect: Connect) -> TestClient:
        client = connect(access=self.ACCESS)
        client.base_url = "http://192.0.2.7:8600"
        return client

    def test_it_is_asked_for(self, connect: Connect, caplog: pytest.LogCaptureFixture) -> None:
        client = self.visit(connect)
        refused(client.get("/api/progress"), 401, "token", caplog)
        for path in ("/", "/static/app.css", "/?token=wrong", "/?token=", "/openapi.json"):
            assert client.get(path).status_code == 401
        assert client.get("/", headers={"Authorization": "Bearer wrong"}).status_code == 401
        assert client.post("/api/freeze?token=" + TOKEN, json={"name": "x"}).status_code == 401

    def test_the_first_visit_turns_it_into_a_cookie(self, connect: Connect) -> None:
        client = self.visit(connect)
        first = client.get(f"/labels/?show=incomplete&token={TOKEN}")
        assert (first.status_code, first.headers["location"]) == (303, "/labels/?show=incomplete")
        assert re.search(rf"{COOKIE}=\S+; HttpOnly; Path=/; SameSite=strict", first.headers["set-cookie"])
        assert client.get("/labels/").status_code == 200

    def test_the_way_on_stays_on_this_server(self, connect: Connect) -> None:
        answer = self.visit(connect).get(f"http://192.0.2.7:8600//evil.example/?token={TOKEN}")
        assert answer.headers["location"].startswith("/evil.example")

    def test_programs_send_it_in_a_header(self, connect: Connect) -> None:
        client = self.visit(connect)
        assert client.get("/api/progress", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200

    def test_the_host_is_checked_all_the_same(self, connect: Connect) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": "evil.example"}
        assert self.visit(connect).get("/api/progress", headers=headers).status_code == 421

    def test_it_is_made_where_none_is_given_and_only_where_it_is_needed(self) -> None:
        assert ServerSettings(host="127.0.0.1").access().token is None
        made = [ServerSettings(host=host).access().token for host in ("0.0.0.0", "192.0.2.7", "::")]
        assert all(token and len(token) >= 32 for token in made)
        assert len(set(made)) == 3
        assert ServerSettings(host="0.0.0.0", token="mine").access().token == "mine"
        assert ServerSettings(host="127.0.0.1", token="mine").access().token == "mine"

    def test_on_all_addresses_only_addresses_and_own_names_are_hosts(self) -> None:
        access = Access("0.0.0.0", TOKEN)
        assert access.knows("192.0.2.7")
        assert access.knows("localhost")
        assert not access.knows("evil.example")
