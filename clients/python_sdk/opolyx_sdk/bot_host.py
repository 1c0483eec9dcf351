"""A bot that offers itself for seats, and plays every game that it gets."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing

from opolyx_sdk.bots import Bot
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.offers import BotOffer, BotSeated
from opolyx_sdk.runner import BotRunner, GameReport, first_error

_log = logging.getLogger(__name__)


class BotHost:
    """Offers a bot, and plays its games on one stream until it is told to withdraw.

    Outages are bridged: the offer is made again and games go on. A game that can't be played ends
    with its report; the others go on.
    """

    def __init__(
        self,
        client: AsyncClient,
        make_bot: Callable[[], Bot],
        offer: BotOffer | None = None,
        *,
        budget_s: float = 5.0,
        strict: bool = False,
        on_seated: Callable[[BotSeated], None] | None = None,
        on_report: Callable[[GameReport], None] | None = None,
    ) -> None:
        """Describe the bot.

        Args:
            client: acts for a bot account (`create_bot_token`).
            make_bot: makes the bot of a game.
            offer: what it plays, and how much at once; all rulesets, one game when absent.
            budget_s: as for `BotRunner`.
            strict: as for `BotRunner`: the first failure ends everything.
            on_seated: told of each game that begins.
            on_report: told of each game that has ended.

        Raises:
            TypeError: `make_bot` makes no bots.
        """
        self._runner = BotRunner(client, make_bot, budget_s=budget_s, strict=strict)
        self._client = client
        self._offer = offer or BotOffer()
        self._on_seated = on_seated
        self._on_report = on_report
        self._playing: set[str] = set()
        self._listening: asyncio.Task[None] | None = None
        self._withdrawn = False

    async def run(self, games: int | None = None) -> None:
        """Play until `withdraw` is called, or until `games` games have begun; all are played out.

        Raises:
            BotError: the bot failed, and the host is strict.
            RequestError: the server doesn't take the offer, or the token was revoked.
            ConnectionLost: an outage lasted for longer than the client's patience.
            Exception: whatever `on_seated` or `on_report` raises.
        """
        if self._withdrawn:
            return
        try:
            async with asyncio.TaskGroup() as group:
                self._listening = group.create_task(self._listen(group, games))
        except* Exception as errors:
            raise first_error(errors) from None
        finally:
            self._listening = None

    def withdraw(self) -> None:
        """Take no more games; `run` returns once those that run are over."""
        self._withdrawn = True
        if self._listening is not None:
            self._listening.cancel()

    async def _listen(self, group: asyncio.TaskGroup, games: int | None) -> None:
        begun = 0
        async with aclosing(self._client.offer_bot(self._offer)) as offering:
            async for news in offering:
                if not isinstance(news, BotSeated) or news.game_id in self._playing:
                    continue
                if len(self._playing) >= self._offer.max_games:
                    _log.warning("seated in %s beyond what was offered", news.game_id)
                    continue
                self._playing.add(news.game_id)
                group.create_task(self._play(news), name="opolyx-bot-game")
                begun += 1
                if begun == games:
                    return

    async def _play(self, seated: BotSeated) -> None:
        if self._on_seated is not None:
            self._on_seated(seated)
        try:
            report = await self._runner.report(seated.game_id)
        finally:
            self._playing.discard(seated.game_id)
        if self._on_report is not None:
            self._on_report(report)
