"""Quick match as callers see it."""

from collections.abc import AsyncIterator
from typing import Any

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx_matchmaker.queue import MatchQueue
from opolyx_matchmaker.rpc.stream_check import StreamCheck
from opolyx_matchmaker.watch import StreamLimit
from opolyx_servicekit.access import current_principal


class QuickMatchHandlers:
    """The RPC of quick match; mixed into the servicer."""

    _queue: MatchQueue
    _streams: StreamLimit
    _check: StreamCheck
    _check_seconds: float

    async def QuickMatch(
        self, request: pb.QuickMatchRequest, context: Any
    ) -> AsyncIterator[pb.QuickMatchResponse]:
        """Look for a game; the search ends with the stream."""
        caller = current_principal()
        queue = self._queue
        ticket = await queue.ticket(caller, request.ruleset, request.seats, request.allow_bots)
        with (
            self._streams.stream(caller.subject),
            queue.searching(caller, ticket, request.nonce) as search,
        ):
            waiting, window = pb.Waiting(players=1), 0
            yield pb.QuickMatchResponse(waiting=waiting)
            while True:
                news = await search.next(self._check_seconds)
                self._check.check(caller)
                if news is None:
                    continue
                if news.game_id:
                    found = pb.Found(game_id=news.game_id, seat=news.seat)
                    yield pb.QuickMatchResponse(found=found)
                    return
                if news.window > window:
                    window = news.window
                    yield pb.QuickMatchResponse(widened=pb.Widened(window=window))
                waiting = pb.Waiting(players=news.players, waited_ms=news.waited_ms)
                yield pb.QuickMatchResponse(waiting=waiting)
