"""Durable, supervised, fenced tasks for MCP tools."""
