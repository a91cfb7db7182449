"""What a tool's body may do while it runs: the context that it is handed.

Tools are written against `TaskContext`. It holds nothing of the request: no transport, token,
headers or request id. What stands behind it differs: an attempt, or a plain call.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from taskward.domain.errors import TaskwardError
from taskward.domain.event import ELICITATION, SAMPLING
from taskward.domain.json_value import JsonObject


class InputRefused(TaskwardError):
    """The question cannot be asked."""


class InputNotDeclared(InputRefused):
    """The client did not declare that it can answer this kind of question.

    Attributes:
        kind: the kind, e.g. `elicitation.form`.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(f"The client did not declare that it can answer {kind}; the task may not ask it.")
        self.kind = kind


class TooManyParked(InputRefused):
    """Too many attempts wait for their users already (max_parked). Try again later."""


class ContextClosed(TaskwardError):
    """This context belongs to an attempt that is over. Do not keep it."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the user did with a question; declining and cancelling are answers, not errors.

    Attributes:
        action: `accept`, `decline` or `cancel`.
        content: the filled-in form, if accepted.
    """

    action: str
    content: Mapping[str, Any] = field(default_factory=dict)

    @property
    def accepted(self) -> bool:
        """Whether the user filled in the form."""
        return self.action == "accept"


class TaskContext(ABC):
    """A tool's way to its user and its task."""

    @property
    @abstractmethod
    def task_id(self) -> str | None:
        """The task's id; `None` in a plain call."""

    @property
    @abstractmethod
    def attempt(self) -> int:
        """Which attempt this is, from 1."""

    @property
    def idempotency_key(self) -> str | None:
        """Equal in all attempts of a task: the key by which external effects are made once."""
        return self.task_id

    @property
    @abstractmethod
    def cancelled(self) -> bool:
        """Whether this body was asked to stop."""

    @abstractmethod
    def progress(self, message: str) -> None:
        """Say how far the work is, in one sentence for a person."""

    @abstractmethod
    def sleep(self, seconds: float) -> None:
        """Wait, and stop waiting at once when asked to stop."""

    @abstractmethod
    def await_inputs(self, requests: Mapping[str, JsonObject]) -> Mapping[str, Any]:
        """Ask the client several things at once and wait for all the raw responses.

        Args:
            requests: `{"method": …, "params": …}` as in SEP-2663, each under a key that names the
                question for the task's life; after a crash the same key gets the kept answer.

        Raises:
            InputRefused: a question cannot be asked; the sentence says why.
        """

    def await_input(self, key: str, request: JsonObject) -> Any:
        """Ask the client one thing and wait for its raw response; see `await_inputs`."""
        return self.await_inputs({key: request})[key]

    def elicit_all(self, questions: Mapping[str, tuple[str, JsonObject]]) -> dict[str, Answer]:
        """Ask the user to fill in several forms at once, and wait for all the answers.

        Args:
            questions: message and schema by key, each as for `elicit`.

        Raises:
            InputRefused: a question cannot be asked; the sentence says why.
        """
        requests = {key: _form(message, schema) for key, (message, schema) in questions.items()}
        return {key: _answer(response) for key, response in self.await_inputs(requests).items()}

    def elicit(self, key: str, message: str, schema: JsonObject) -> Answer:
        """Ask the user to fill in a form, and wait for the answer.

        Args:
            key: names the question for the task's life.
            message: what the user reads.
            schema: a flat JSON Schema object of primitive properties.

        Raises:
            InputRefused: the question cannot be asked; the sentence says why.
        """
        return _answer(self.await_input(key, _form(message, schema)))

    def sample(self, key: str, params: JsonObject) -> JsonObject:
        """Ask the client's model (`sampling/createMessage`), and wait for its message.

        Raises:
            InputRefused: the question cannot be asked; the sentence says why.
        """
        response: JsonObject = self.await_input(key, {"method": SAMPLING, "params": params})
        return response


def _form(message: str, schema: JsonObject) -> JsonObject:
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": ELICITATION, "params": params}


def _answer(response: JsonObject) -> Answer:
    return Answer(response["action"], response.get("content") or {})
