"""A private room's game is for those who are in it, unless its creator says otherwise."""

import pytest

from support_matchmaker import Peers, Running


@pytest.mark.parametrize(
    ("public", "options", "watchable"),
    [
        (False, {}, False),
        (False, {"watchable": True}, True),
        (True, {}, None),
        (True, {"watchable": False}, False),
    ],
)
async def test_only_public_games_are_watched_unless_it_is_said(
    mm: Running, peers: Peers, public: bool, options: dict[str, bool], watchable: bool | None
) -> None:
    guest = await mm.guest()
    room = await mm.create(guest, public=public, options=options)
    await mm.add_bot(guest, room)

    made = peers.engine.games[await mm.start(guest, room)].options

    told = made.watchable if made.HasField("watchable") else None
    assert watchable == told
