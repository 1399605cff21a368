"""Follows the event log of the webhook intake from a cursor on, in the order of storing."""

import math
import threading
from typing import Any, Callable, Iterator, Mapping
from urllib.parse import urlencode

from .request import Credential, RequestFailed, Service, with_retries

__all__ = ["Events", "RequestFailed"]


class Events:
    """An iterator over events, each a dict with the members of the API description. It is for one thread; another one may call `close`.

    url: where the intake is, without `/api/v1`.
    token: one of `Intake__AccessTokens`; token_file: a file with it, which is read for each request.
    filter: which events come, by the parameters of `GET /api/v1/events`; all unless given.
    cursor: where to resume; None begins with what is stored from now on.
    save_cursor: keeps the cursor. It is called once all events before it were handled, which is when the loop asks for another one:
        a program that stops in between gets some of them again, and misses none.
    wait: seconds for which the service holds a request while there is no event, up to 60.
    timeout: seconds for an answer beyond that.
    on_retry: called before each pause: the service is unavailable, and is asked again until it is there.

    Raises RequestFailed where the service refuses: 401 for the token, 410 for a cursor of a database that was restored to an earlier state.
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        token_file: str | None = None,
        filter: Mapping[str, str] | None = None,
        cursor: str | None = None,
        save_cursor: Callable[[str], object] | None = None,
        wait: int = 25,
        timeout: float = 10,
        on_retry: Callable[[RequestFailed], None] | None = None,
    ) -> None:
        self._service = Service("url", url)
        self._credential = Credential("token", token, token_file)
        self._filter, self._cursor, self._save_cursor = dict(filter or {}), cursor, save_cursor
        self._wait, self._timeout, self._on_retry = wait, timeout, on_retry
        self._closed = threading.Event()
        self._events = self._follow()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return self

    def __next__(self) -> dict[str, Any]:
        return next(self._events)

    def close(self) -> None:
        """Ends the iteration, without an error; a request under way is broken off."""
        self._closed.set()
        self._service.close()

    def _follow(self) -> Iterator[dict[str, Any]]:
        try:
            if self._cursor is None:
                self._keep(self._ask({"limit": 1})["newest"])
            while True:
                page = self._ask({**self._filter, "before": self._cursor, "wait": self._wait, "limit": 200})
                for event in page["items"]:
                    if self._closed.is_set():
                        return
                    yield event
                if page["newest"] != self._cursor:
                    self._keep(page["newest"])
        except _Closed:
            return

    def _keep(self, cursor: str) -> None:
        self._cursor = cursor
        if self._save_cursor is not None:
            self._save_cursor(cursor)

    def _ask(self, query: Mapping[str, Any]) -> Any:
        def work() -> Any:
            if self._closed.is_set():
                raise _Closed
            headers = {"Authorization": f"token {self._credential.read()}"}
            try:
                return self._service.get_json("/api/v1/events", urlencode(query), headers, self._timeout + query.get("wait", 0))
            except RequestFailed:
                # `close` broke the request off: no retry follows.
                if self._closed.is_set():
                    raise _Closed from None
                raise

        return with_retries(work, math.inf, self._closed.wait, self._on_retry)


class _Closed(Exception):
    """The iteration was ended."""
