"""The demonstration: a real server process, a real client, a real SIGKILL."""
