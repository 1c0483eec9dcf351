"""Games of people, played by the first thing that leads to a wanted kind of prompt."""

from typing import Any

from opolyx.engine.v1 import decision_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from support_engine import Caller, Engine, awaited

_KINDS = {
    decision_pb2.PHASE_BUY: ("decline_purchase",),
    decision_pb2.PHASE_AUCTION: ("pass_bid",),
    decision_pb2.PHASE_PAYMENT: ("pay_debt", "mortgage", "declare_bankruptcy"),
}


async def until_phase(engine: Engine, game_id: str, phase: decision_pb2.Phase.ValueType) -> None:
    """Play the game up to a prompt of a phase: buy for payments, decline for auctions."""
    reader = await engine.caller("p_r")
    for number in range(2_000):
        snapshot = await reader.game(game_id)
        assert pb.GAME_STATE_RUNNING == snapshot.state
        decision = awaited(snapshot.decisions)
        if decision.phase == phase:
            return
        wanted = _KINDS.get(decision.phase, ("roll",))
        if phase == decision_pb2.PHASE_PAYMENT:
            wanted = ("buy", *wanted)
        action = next(
            (
                one
                for kind in wanted
                for one in decision.legal_actions
                if one.WhichOneof("kind") == kind
            ),
            decision.legal_actions[0],
        )
        mover = Caller(reader.channel, engine.token(f"p_{decision.seat}"))
        kind: Any = action.WhichOneof("kind")
        await mover.submit(
            game_id, f"c{number}", decision.decision_id, **{kind: getattr(action, kind)}
        )
    raise AssertionError(f"no {phase} in 2,000 moves")
