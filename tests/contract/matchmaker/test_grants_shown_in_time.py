"""How many are asked for at once, whose rooms are shown what they bring."""

import asyncio
from collections.abc import Mapping, Sequence

from opolyx_matchmaker.grants import NO_GRANT, SeatGrant
from opolyx_matchmaker.peers import PlayerGrant
from support_lobby import DictEngine, Grants, Process, open_store, player, settle, wish

MOST: int = 100


class SlowGrants(Grants):
    """Answers when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = asyncio.Event()

    async def grants(self, player_ids: Sequence[str]) -> Mapping[str, PlayerGrant]:
        """The same card for everybody."""
        self.asked += 1
        await self.answers.wait()
        return {who: PlayerGrant(SeatGrant(cards=((1, 500),))) for who in player_ids}


async def test_who_joins_again_and_again_is_asked_for_once_at_a_time() -> None:
    async with open_store() as store:
        progression = SlowGrants()
        process = Process(store, DictEngine(), progression)
        ada = player("ada")
        room = await process.lobby.create(ada, wish())
        for _ in range(20):
            await process.lobby.join(ada, room.room_id, "", b"")
        await settle()
        assert 1 == progression.asked

        progression.answers.set()
        await settle()

        assert ((1, 500),) == (await process.lobby.get(room.room_id)).seats[0].grant.cards
        await process.lobby.join(ada, room.room_id, "", b"")
        await settle()
        assert 2 == progression.asked
        await process.die()


async def test_past_the_bound_one_joins_and_is_not_shown() -> None:
    async with open_store() as store:
        progression = SlowGrants()
        process = Process(store, DictEngine(), progression)
        rooms = [
            await process.lobby.create(player(f"host{number}"), wish()) for number in range(MOST)
        ]
        late = player("late")

        joined, seat = await process.lobby.join(late, rooms[0].room_id, "", b"")
        progression.answers.set()
        for _ in range(10):
            await settle()

        assert (1, MOST) == (seat, progression.asked)
        shown = [seat.grant for seat in (await process.lobby.get(joined.room_id)).seats]
        assert [SeatGrant(cards=((1, 500),)), NO_GRANT] == shown
        await process.die()
