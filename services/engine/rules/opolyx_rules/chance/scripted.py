"""Chance that tests write."""

from opolyx_rules.chance.source import DICE, LABELS, THIRD_DIE
from opolyx_rules.reasons import InvariantError


class ScriptedChance:
    """Chance for tests: scripted values by label, then zeros or an error.

    Args:
        dice: Faces of the white dice in the order rolled, 1..6.
        third: Faces of the third die: 0..5 as drawn (1, 2, 3, bus, X, X).
        other: Values of other streams by label.
    """

    __slots__ = ("_scripts",)

    def __init__(
        self,
        dice: list[int] | None = None,
        third: list[int] | None = None,
        other: dict[int, list[int]] | None = None,
    ) -> None:
        self._scripts: dict[int, list[int]] = {label: [] for label in range(len(LABELS))}
        self._scripts[DICE] = [face - 1 for face in dice or []]
        self._scripts[THIRD_DIE] = list(third or [])
        for label, values in (other or {}).items():
            self._scripts[label] = list(values)

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`.

        Raises:
            InvariantError: The script of a die has ended; other streams give 0 then.
        """
        script = self._scripts[label]
        if script:
            value = script.pop(0)
            if not 0 <= value < sides:
                raise InvariantError(f"the script's {value} is outside 0..{sides - 1}")
            return value
        if label in (DICE, THIRD_DIE):
            raise InvariantError(f"the script of {LABELS[label].decode()} has ended")
        return 0
