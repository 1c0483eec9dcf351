"""Why an action was not taken."""

from collections.abc import Mapping
from dataclasses import dataclass

from opolyx_sdk.enums import RefusalReason


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an action was refused."""

    reason: RefusalReason
    """The kind of reason."""

    rule_id: str
    """Id of the rule that refuses, for instance "BUILD-2"; see the rule book."""

    message: str
    """A sentence in English for a developer; for players, render from reason and numbers."""

    numbers: Mapping[str, int]
    """The numbers behind the refusal by name, for instance cash and price, in k."""

    def __str__(self) -> str:
        """The reason, the rule and the numbers, for a developer."""
        numbers = ", ".join(f"{name} {value}" for name, value in sorted(self.numbers.items()))
        text = self.message or self.reason.name.lower()
        details = ", ".join(part for part in (self.rule_id, numbers) if part)
        return f"{text} ({details})" if details else text
