"""The wire: JSON-RPC, tools, the Tasks extension, over WSGI. Keeps no state."""
