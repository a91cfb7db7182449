"""A real server process for each test that asks for one."""

from serving import serve, server, wire

__all__ = ["serve", "server", "wire"]
