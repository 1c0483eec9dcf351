"""A scripted server for the tests of your own frontend or bot: real gRPC, no opolyx server.

```python
from opolyx_sdk import Client
from opolyx_sdk.actions import Buy, DeclinePurchase
from opolyx_sdk.enums import Phase, RefusalReason
from opolyx_sdk.events import DiceRolled
from opolyx_sdk.testing import Accept, Refuse, ScriptedServer, awaited, with_player

with ScriptedServer() as server:
    game = server.game("g1", seats=("Ada", "Bruno"))
    game.update(
        DiceRolled(seat=0, die1=2, die2=4, third=0),
        view=with_player(game.view, 0, position=6),
        awaits=[awaited(0, Phase.BUY, Buy(), DeclinePurchase())],
    )
    game.answer_next(Refuse(RefusalReason.NOT_ENOUGH_CASH), Accept())
    with Client(server.address) as client, client.play("g1") as table:
        ...  # what your program does with it
    assert [Buy(), DeclinePurchase()] == [one.action for one in game.commands]
```

The server knows no rule: it says what you let it say. It keeps the wire's promises, so that what
works with it works with ours: updates are numbered and resumed, digests are right, the same command
sent again gets its first answer. And it fails when you want it to: streams are cut, answers
lost, tokens revoked, hints sent that no server should send.
"""

from opolyx_sdk.testing.answers import Accept, Answer, Refuse, RetryAfter, Silence
from opolyx_sdk.testing.scripted_game import ScriptedGame
from opolyx_sdk.testing.scripted_server import Call, ScriptedServer
from opolyx_sdk.testing.tables import (
    Awaited,
    awaited,
    opening_view,
    with_player,
    with_property,
    with_turn,
)

__all__ = [
    "Accept",
    "Answer",
    "Awaited",
    "Call",
    "Refuse",
    "RetryAfter",
    "ScriptedGame",
    "ScriptedServer",
    "Silence",
    "awaited",
    "opening_view",
    "with_player",
    "with_property",
    "with_turn",
]
