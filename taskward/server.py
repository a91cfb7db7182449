"""The server: composition, and the only module that names everything. What an application author types.

Nothing starts by import: `running()` (or `start`) opens the store and starts the tree, and the WSGI
application answers 503 until then.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, overload

from gevent import socket
from gevent.pywsgi import WSGIServer

from taskward.domain.retry import RetryPolicy
from taskward.mcp.endpoint import Endpoint, Identity
from taskward.mcp.http import HttpEndpoint, NotRunning, WsgiApp
from taskward.mcp.security import LOOPBACK, HostPolicy
from taskward.mcp.tools import Isolation, Policy, ToolExecutor, Tools
from taskward.stores.clock import Clock, SystemClock
from taskward.stores.contract import Scope
from taskward.stores.location import open_backend
from taskward.supervision.attempts.executor import WorkExecutor
from taskward.supervision.attempts.instrument import Instrument, log_event
from taskward.supervision.attempts.tree import Settings, TaskSystem

DEFAULT_TTL_MS = 86_400_000

Fn = TypeVar("Fn", bound=Callable[..., Any])


class Server:
    """An MCP server whose tools can be durable tasks.

    Args:
        name: how it introduces itself.
        version: likewise.
        store: where tasks are kept: `"lmdb:///var/lib/app"`, `"lmdb:relative/dir"`, or `"memory:"` (volatile).
        scope: from the principal of a request to whose tasks it may see; `SHARED` shares them among all.
        instructions: what a model should know before it uses the tools.
        ttl_ms: how long a task is kept from its creation, in ms; `None` = for ever.
        allowed_hosts: `Host` and `Origin` names that are served; by default loopback names only.
        require_mcp_name: refuse a missing `Mcp-Name` header on `tasks/*`.
        executor: who runs the work; by default the registered tools.
        settings: limits and times, see `Settings`.
        instrument: hears what happens.
        clock: the time.
    """

    def __init__(  # noqa: PLR0913 - all but the name by keyword
        self,
        name: str,
        *,
        version: str = "0",
        store: str,
        scope: Scope,
        instructions: str | None = None,
        ttl_ms: int | None = DEFAULT_TTL_MS,
        allowed_hosts: Iterable[str] = LOOPBACK,
        require_mcp_name: bool = False,
        executor: WorkExecutor | None = None,
        settings: Settings | None = None,
        instrument: Instrument = log_event,
        clock: Clock | None = None,
    ) -> None:
        self.tools = Tools()
        self._identity = Identity(name=name, version=version, instructions=instructions)
        self._location = store
        self._scope = scope
        self._ttl_ms = ttl_ms
        self._executor = executor or ToolExecutor(self.tools)
        self._settings = settings or Settings()
        self._instrument = instrument
        self._clock = clock or SystemClock()
        self._system: TaskSystem | None = None
        self._endpoint: Endpoint | None = None
        self.wsgi: WsgiApp = HttpEndpoint(
            self._running_endpoint, hosts=HostPolicy(allowed_hosts), require_mcp_name=require_mcp_name
        )

    @overload
    def tool(self, fn: Fn, /) -> Fn: ...

    @overload
    def tool(
        self,
        *,
        name: str | None = None,
        task: Policy = "sync",
        retry: RetryPolicy | None = None,
        isolation: Isolation = "greenlet",
    ) -> Callable[[Fn], Fn]: ...

    def tool(self, fn: Any = None, **options: Any) -> Any:
        """Register a function as a tool; the function itself is given back unchanged.

        Args:
            fn: the function, when used as a bare decorator.
            options: as for `Tools.register`: `name`, `task` (`"sync"`, `"optional"`, `"required"`),
                `retry`, `isolation`.
        """

        def register(function: Fn) -> Fn:
            self.tools.register(function, **options)
            return function

        return register if fn is None else register(fn)

    @property
    def system(self) -> TaskSystem:
        """The running task system.

        Raises:
            NotRunning: there is none; the sentence says what to call.
        """
        if self.exit_reason is not None:
            raise NotRunning(f"The task system ended: {self.exit_reason}. Stop the server, and start it again.")
        if self._system is None or not self._system.running:
            raise NotRunning("The task system is not running. Serve inside `with server.running():`.")
        return self._system

    @property
    def exit_reason(self) -> object:
        """Why the tree ended by itself; `None` while it runs, before it is started and after it is stopped."""
        return None if self._system is None else self._system.exit_reason

    def start(self, *, open_wait_ms: int = 0) -> None:
        """Open the store and start the tree; unfinished tasks are recovered at once.

        Args:
            open_wait_ms: how long to wait for another holder of the store to let go, in ms.

        Raises:
            StoreBusy: another holder kept it; the sentence names it.
            StoreUnreadable: there is something else at that place; nothing of it was touched.
        """
        if self._system is not None:
            raise RuntimeError("this server is running already; stop it first")
        backend = open_backend(self._location, open_wait_ms=open_wait_ms)
        system = TaskSystem(
            backend,
            self._executor,
            scope=self._scope,
            settings=self._settings,
            instrument=self._instrument,
            clock=self._clock,
        )
        try:
            system.start()
        except BaseException:
            system.stop(drain_ms=0)
            raise
        self._system = system
        self._endpoint = Endpoint(self._identity, self.tools, system, ttl_ms=self._ttl_ms)

    def stop(self, *, drain_ms: int | None = None, shutdown_ms: int | None = None) -> None:
        """Stop the tree and close the store; interrupted attempts give their claims back and burn nothing.

        Args:
            drain_ms: how long to let attempts finish, in ms; by default `settings.drain_ms`.
            shutdown_ms: grace of those that do not, in ms; by default `settings.timing.shutdown_ms`.
        """
        system, self._system, self._endpoint = self._system, None, None
        if system is not None:
            system.stop(drain_ms=drain_ms, shutdown_ms=shutdown_ms)

    @contextmanager
    def running(self, *, open_wait_ms: int = 0, drain_ms: int | None = None) -> Iterator["Server"]:
        """Run the tree for the length of a `with` block."""
        self.start(open_wait_ms=open_wait_ms)
        try:
            yield self
        finally:
            self.stop(drain_ms=drain_ms)

    def wsgi_server(self, address: tuple[str, int], **options: Any) -> WSGIServer:
        """Give a gevent WSGI server for this application that answers without the delayed-ACK stall.

        Args:
            address: host and port; port 0 takes a free one.
            options: passed on to `gevent.pywsgi.WSGIServer`.
        """
        return WSGIServer(listener(address), self.wsgi, log=options.pop("log", None), **options)

    def _running_endpoint(self) -> Endpoint:
        system = self.system
        assert self._endpoint is not None, system
        return self._endpoint


def listener(address: tuple[str, int], *, backlog: int = 1024) -> socket.socket:
    """Give a listening gevent socket whose accepted connections send at once (they inherit TCP_NODELAY)."""
    listening = socket.socket(socket.AF_INET6 if ":" in address[0] else socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listening.bind(address)
    listening.listen(backlog)
    return listening
