"""The tokens of a scripted server: unsigned, but of the form that clients read."""

import base64
import json

from opolyx_sdk.accounts import Token
from opolyx_sdk.errors import Failure


class TokenBook:
    """Makes tokens, and knows which are no longer good."""

    def __init__(self, life_s: float) -> None:
        self._life_s = life_s
        self._made = 0
        self._problems: dict[str, str] = {}

    def make(self, now_ms: int) -> Token:
        """A new token."""
        self._made += 1
        number = f"t{self._made}"
        expires_s = now_ms / 1000 + self._life_s
        claims = json.dumps({"iat": now_ms / 1000, "exp": expires_s, "jti": number}).encode()
        jwt = f"scripted.{base64.urlsafe_b64encode(claims).rstrip(b'=').decode()}.{number}"
        self._problems[jwt] = ""
        return Token(jwt, number, round(expires_s * 1000))

    def problem_of(self, jwt: str) -> str:
        """Why the token is not good: a word, or nothing. Tokens made elsewhere are good."""
        return self._problems.setdefault(jwt, "")

    def spoil(self, problem: str) -> None:
        """Let every token made or seen so far have this problem."""
        self._problems = dict.fromkeys(self._problems, problem)


def bad_token(problem: str) -> Failure:
    """What a call with a bad token gets."""
    return Failure(
        "UNAUTHENTICATED",
        f"token is {problem}",
        reason="TOKEN",
        domain="opolyx.identity",
        metadata={"problem": problem},
    )
