"""What a store's URL names, without the packages that only some stores need."""

from typing import TYPE_CHECKING, Final

from opolyx_servicekit.settings import ServiceSettings

if TYPE_CHECKING:
    from opolyx_servicekit.redis_link import RedisLink

REDIS_SCHEMES: Final = ("redis://", "rediss://", "redis+cluster://", "rediss+cluster://")
"""How URLs of Redis begin: one server or a cluster, plain or with TLS."""


def is_redis(store_url: str) -> bool:
    """Whether the URL names a Redis."""
    return store_url.startswith(REDIS_SCHEMES)


async def open_redis(settings: ServiceSettings) -> "RedisLink":
    """Connect to the Redis of `settings.store_url`; see `RedisLink.open`.

    Raises:
        ValueError: the URL is none, this Redis may forget what it acknowledged or refuses us, or
            the package redis is missing, an extra as one machine needs no Redis.
        StoreUnavailable: it can't be reached.
    """
    try:
        from opolyx_servicekit.redis_link import RedisLink
    except ImportError as error:
        raise ValueError("a store on Redis needs the package redis (the extra `redis`)") from error
    return await RedisLink.open(
        settings.store_url,
        require_durable=settings.store_require_durable,
        replicas=settings.store_replicas,
    )
