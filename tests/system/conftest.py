"""Real server processes."""

from serving import serve, server, wire

__all__ = ["serve", "server", "wire"]
