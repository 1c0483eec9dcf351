"""How commands print what a server said."""

import json
from dataclasses import dataclass

import pytest

from opolyx_sdk.cli.connection import Connection
from opolyx_sdk.cli.output import print_json, print_table, shown_time
from opolyx_sdk.cli.profile import why
from opolyx_sdk.enums import Rank, TermKind, ZeroReason
from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.profiles import Award, AwardTerm


@dataclass(frozen=True)
class Thing:
    rank: Rank
    parts: tuple[int, ...]


def award(*terms: AwardTerm, zero: ZeroReason = ZeroReason.UNSPECIFIED) -> Award:
    xp = sum(term.xp for term in terms)
    return Award("g", 0, "p", xp, terms, zero, "classic@full", 1, 0, 1, ())


def test_a_pipe_gets_tabs(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("rank", "name"), [(1, "[b]Ada[/b]"), (2, "Bo")], numbers=("rank",))

    assert "rank\tname\n1\t[b]Ada[/b]\n2\tBo\n" == capsys.readouterr().out


def test_a_terminal_gets_a_table(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")

    print_table(("rank", "name"), [(1, "[b]Ada[/b]"), (20, "Bo")], numbers=("rank",))

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) > 4
    assert any("   1 │ [b]Ada[/b]" in line for line in lines)


@pytest.mark.parametrize("color", ["", "1"])
def test_a_cell_stays_one_cell_whatever_is_in_it(
    color: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if color:
        monkeypatch.setenv("FORCE_COLOR", color)
        monkeypatch.setenv("TERM", "dumb")

    print_table(("reason",), [("one\ttwo\r\nthree\x1b[2J四",)])

    printed = capsys.readouterr().out
    assert r"one\ttwo\r\nthree\x1b[2J四" in printed
    assert "\x1b[2J" not in printed


def test_json_names_enumerations(capsys: pytest.CaptureFixture[str]) -> None:
    print_json(thing=Thing(Rank.TYCOON, (1, 2)), things=[Thing(Rank.LEGEND, ())])

    assert {
        "thing": {"rank": "tycoon", "parts": [1, 2]},
        "things": [{"rank": "legend", "parts": []}],
    } == json.loads(capsys.readouterr().out)


def test_times_are_utc_to_the_second() -> None:
    assert "2023-11-14 22:13:20Z" == shown_time(1_700_000_000_999)


@pytest.mark.parametrize("unix_ms", [1 << 62, -(1 << 62)])
def test_times_of_no_calendar_are_shown_as_they_came(unix_ms: int) -> None:
    assert f"{unix_ms} ms" == shown_time(unix_ms)


def test_an_award_is_explained_by_its_terms_or_its_zero() -> None:
    halved = award(AwardTerm(TermKind.PLACE, 200), AwardTerm(TermKind.FEW_PEOPLE, -100))

    assert "place +200, few people -100" == why(halved)
    reasons = {why(award(zero=reason)) for reason in ZeroReason if reason}
    assert len(ZeroReason) - 1 == len(reasons - {""})


@pytest.mark.parametrize("token", [None, "", " \n", "a b", "ä.b.c", "a..b", "a\nb"])
def test_what_can_be_no_token_is_refused_before_anybody_is_asked(token: str | None) -> None:
    with pytest.raises(OpolyxError) as refused:
        Connection(token=token).client()

    assert not token or not token.strip() or token not in str(refused.value)


def test_a_connection_never_shows_its_token() -> None:
    connection = Connection(token="secret.secret.secret")

    assert "secret" not in repr(connection)
    assert "secret" not in repr(Connection(token=" secret.secret.secret\n").client())
