"""What needs the rules on this machine: verification, later the simulator. Extra `local`."""

from opolyx_sdk.errors import MissingExtra

try:
    import opolyx_rules  # noqa: F401 - only asked whether it is there
except ModuleNotFoundError as error:
    raise MissingExtra("the rules are not installed: pip install 'opolyx-sdk[local]'") from error
