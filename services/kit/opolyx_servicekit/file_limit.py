"""How many files and connections the process may have open."""

import resource

import structlog

_log = structlog.get_logger(__name__)

_OTHERS = 256
"""Files that are open beside connections: the store's, libraries, logs."""


def raise_file_limit(most_connections: int) -> None:
    """Take all that the system allows, as the usual 1,024 is used up by a thousand strangers.

    Says so if that is less than `most_connections` need: whoever fills them would keep the store
    from opening its files too.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
            soft = hard
        except (OSError, ValueError) as error:  # the kernel's own bound may be lower
            _log.warning("file_limit_not_raised", soft=soft, hard=hard, error=str(error))
    if soft != resource.RLIM_INFINITY and soft < most_connections + _OTHERS:
        _log.warning("file_limit_low", limit=soft, most_connections=most_connections)
