"""Who may talk to the endpoint at all: the Host and Origin checks against DNS rebinding.

The safe default serves loopback names only; an application behind a real name says so.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
ANY = "*"


class HostPolicy:
    """Which `Host` and `Origin` headers are served.

    Args:
        allowed_hosts: host names without port; `("*",)` switches both checks off. Default: loopback names.
    """

    def __init__(self, allowed_hosts: Iterable[str] = LOOPBACK) -> None:
        self._hosts = frozenset(host.lower() for host in allowed_hosts)

    def refusal(self, host: str | None, origin: str | None) -> tuple[str, str] | None:
        """Judge the two headers.

        Returns:
            `None` if they may pass, else an HTTP status line and a sentence.
        """
        if ANY in self._hosts:
            return None
        if origin is not None and self._origin_name(origin) not in self._hosts:
            return "403 Forbidden", "This Origin is not served. Add its host to allowed_hosts if it should be."
        if host is None or self._name(host) not in self._hosts:
            return "421 Misdirected Request", "This Host is not served. Add it to allowed_hosts if it should be."
        return None

    def _origin_name(self, origin: str) -> str | None:
        try:
            return self._name(urlsplit(origin).netloc)
        except ValueError:  # it is no URL
            return None

    @staticmethod
    def _name(netloc: str) -> str:
        name, colon, port = netloc.lower().rpartition(":")
        return name if colon and port.isdigit() else netloc.lower()
