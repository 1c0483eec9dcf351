"""Cards and VIP that were earned count in the next game: frozen at its start, paid by tenants."""

import asyncio
from pathlib import Path

import pytest

from opolyx_progression.cards import BONUS_BP, Rarity, best_bonuses
from opolyx_progression.games import Scheme
from opolyx_progression.rpc.convert import delivery_of
from opolyx_sdk import AsyncClient, BotRunner, RoomOptions, SteadyBot, Update
from opolyx_sdk.board import SQUARES, SquareKind
from opolyx_sdk.events import RentCharged
from opolyx_server.embedded import DATABASE, EmbeddedServer
from support_progression import finished_fact, finished_game, open_store, person

EARLIER_GAMES = 80


class Onlooker(SteadyBot):
    """Plays steadily and keeps the rents."""

    def __init__(self) -> None:
        super().__init__()
        self.rents: list[RentCharged] = []

    def on_update(self, update: Update) -> None:
        self.rents += [one for one in update.events if isinstance(one, RentCharged)]


async def earn(data: Path, player_id: str) -> dict[int, int]:
    """Many games won, before facts have numbers; the best bonus of each square."""
    async with open_store(data / DATABASE) as store:
        for number in range(EARLIER_GAMES):
            game = finished_game(
                person(player_id, 1),
                person("p_other", 2),
                game_id=f"earlier{number}",
                ruleset="classic@guide",
                scheme=Scheme.WINNER,
            )
            await store.apply([delivery_of(finished_fact(0, game))], now_ms=1)
        return best_bonuses(await store.cards(player_id))


@pytest.mark.rule("RENT-5", "XP-6")
@pytest.mark.timeout(120)
async def test_rent_5_earned_cards_are_shown_at_the_table_and_raise_the_rent(
    tmp_path: Path,
) -> None:
    async with EmbeddedServer(tmp_path) as server, AsyncClient(server.address) as client:
        login = await client.create_guest("Ada")
    player_id = login.account.player_id
    bonuses = await earn(tmp_path, player_id)
    assert len(bonuses) > 20

    onlooker = Onlooker()
    async with (
        EmbeddedServer(tmp_path, seed="cards") as server,
        AsyncClient(server.address, token=login.token.jwt) as ada,
        AsyncClient(server.address) as bo,
        AsyncClient(server.address, token=server.operator_token()) as operator,
    ):
        await operator.set_vip(player_id, True, reason="test")
        await bo.create_guest("Bo")
        room = await ada.create_room("classic@full", 2, options=RoomOptions(round_cap=40))
        await bo.join_room(code=room.code)
        owned = await bo.cards(player_id)  # whoever is in the room can see what others bring
        game_id = await ada.start_game(room.room_id)
        async with bo.watch(game_id) as game:
            mine, other = game.info.seats
        await asyncio.gather(
            BotRunner(ada, SteadyBot).play(game_id),
            BotRunner(bo, lambda: onlooker).play(game_id),
        )

    assert bonuses == {card.square: card.bonus_bp for card in mine.cards}
    assert {card.square for card in owned} == set(bonuses)
    assert ((), False) == (other.cards, other.vip)
    assert mine.vip
    assert max(bonuses.values()) <= BONUS_BP[Rarity.LEGENDARY] == 3300
    raised = [rent for rent in onlooker.rents if rent.card_bp]
    assert raised
    for rent in onlooker.rents:
        expected = bonuses.get(rent.square, 0) if rent.owner == mine.seat else 0
        assert expected == rent.card_bp
    assert all(_is_raised(rent) for rent in raised)


def _is_raised(rent: RentCharged) -> bool:
    """Whether the rent is one that the property can have, raised by just this card."""
    square = SQUARES[rent.square]
    plain = [*square.rents, 2 * square.rents[0]]
    if square.kind is SquareKind.UTILITY:
        plain = [pips * one for pips in range(2, 16) for one in square.rents]
    return rent.amount in [one * (10_000 + rent.card_bp) // 10_000 for one in plain]
