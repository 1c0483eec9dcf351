"""A refusal reads as a sentence, also with a reason that only the server gives."""

from opolyx_rules.reasons import NAMES, NOT_ENOUGH_CASH, Refusal

_STALE_DECISION = 37


def test_refusal_names_rule_sentence_and_numbers() -> None:
    refusal = Refusal(NOT_ENOUGH_CASH, "BUY-1", (("price", 600), ("cash", 500)))

    assert "BUY-1: too little cash (price=600, cash=500)" == str(refusal)


def test_refusal_of_the_server_still_has_a_text() -> None:
    assert _STALE_DECISION not in NAMES
    assert "CLOCK-2: reason 37" == str(Refusal(_STALE_DECISION, "CLOCK-2"))
