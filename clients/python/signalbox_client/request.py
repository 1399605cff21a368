"""A GET request for JSON with a timeout, and retries with back-off. No error holds a credential, a header or a value."""

import email.utils
import http.client
import json
import random
import re
import socket
import ssl
import time
from typing import Any, Callable, TypeVar
from urllib.parse import SplitResult, urlsplit

T = TypeVar("T")

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0


class RequestFailed(Exception):
    """The service refused the request, or gave no answer."""

    def __init__(self, message: str, status: int | None = None, retry_after: float | None = None, is_of_service: bool = False) -> None:
        super().__init__(message)
        #: None where no whole answer came: no connection, a timeout, a connection that broke off.
        self.status = status
        #: Seconds, from the answer's Retry-After.
        self.retry_after = retry_after
        #: Whether the answer is in the service's own form: a proxy before it says 403 or 404 of its own, while the service is away.
        self.is_of_service = is_of_service

    @property
    def is_transient(self) -> bool:
        """Whether the same request may succeed later: the service is unavailable, or limits requests."""
        return self.status in (None, 429, 502, 503, 504)


class Credential:
    """A text, or a file that is read for each request: Kubernetes replaces the token of a pod while the program runs."""

    def __init__(self, name: str, value: str | None, file: str | None, variable: str | None = None) -> None:
        if value is None and file is None:
            raise TypeError(f"{name} is missing" + (f": give it, or set {variable} or {variable}_FILE" if variable else ""))
        if value is not None and file is not None:
            raise TypeError(f"give {name} or the file that holds it, and not both")
        self._name, self._value, self._file = name, value, file

    def read(self) -> str:
        if self._file is None:
            text = self._value or ""
        else:
            with open(self._file, encoding="utf-8") as file:
                text = file.read()
        # The error of http.client would quote a text that no header can hold.
        if not re.fullmatch(r"[\x20-\x7e]+", text.strip()):
            raise ValueError(f"{self._name} is empty, or has characters that no header can hold")
        return text.strip()


class Service:
    """Sends GET requests to the service at an address; `close` ends one that is under way and refuses further ones."""

    def __init__(self, name: str, url: str | None, variable: str | None = None) -> None:
        if not url and variable:
            raise TypeError(f"{name} is missing: give it, or set {variable}")
        parts = _address_in(url or "")
        if parts is None:
            raise TypeError(f"{name} must be an http or https address without a user")
        self._parts = parts
        self.url = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._connection: http.client.HTTPConnection | None = None
        self.is_closed = False

    def get_json(self, path: str, query: str, headers: dict[str, str], timeout: float) -> Any:
        """`timeout` is the time for the connection, and for each part of the answer."""
        # A query can hold what logs should not.
        said = f"GET {self.url}{path}"
        answer, reason = self._send(f"{self._parts.path.rstrip('/')}{path}?{query}", headers, timeout)
        # Outside of the handler: an exception of http.client keeps what it has read of the answer.
        if answer is None:
            raise RequestFailed(f"{said}: {reason}")
        response, body = answer
        if response.status != 200:
            detail = _detail_of(response, body)
            message = f"{said}: {response.status}" + (f": {detail}" if detail else "")
            raise RequestFailed(message, response.status, _retry_after(response.headers.get("Retry-After")), _is_problem(response))
        found, value = _parse(body)
        if not found:
            raise RequestFailed(f"{said}: the answer is not JSON", response.status)
        return value

    def _send(self, target: str, headers: dict[str, str], timeout: float) -> tuple[tuple[http.client.HTTPResponse, bytes] | None, str]:
        connection = self._connect(timeout)
        try:
            self._connection = connection
            connection.connect()
            # `close` has seen no socket if it was called before.
            if self.is_closed:
                return None, "closed"
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            return (response, response.read()), ""
        except TimeoutError:
            return None, f"timed out after {timeout} s"
        except (OSError, http.client.HTTPException) as error:
            return None, f"{type(error).__name__}: {error.strerror}" if isinstance(error, OSError) and error.strerror else type(error).__name__
        finally:
            connection.close()

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=timeout)
        return http.client.HTTPSConnection(host, port, timeout=timeout, context=self._tls)

    def close(self) -> None:
        self.is_closed = True
        sock = self._connection.sock if self._connection else None
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It has ended already.


def _address_in(url: str) -> SplitResult | None:
    """None where it is no http(s) address, or holds a user. The parser's own exception would show it."""
    try:
        parts = urlsplit(url)
        # The port is parsed when it is asked for.
        is_address = parts.scheme in ("http", "https") and parts.hostname and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        return None
    return parts if is_address else None


def _parse(body: bytes) -> tuple[bool, Any]:
    # The parser's own exception has the answer in it.
    try:
        return True, json.loads(body)
    except ValueError:
        return False, None


def _is_problem(response: http.client.HTTPResponse) -> bool:
    return response.headers.get("Content-Type", "").startswith("application/problem+json")


def _detail_of(response: http.client.HTTPResponse, body: bytes) -> str:
    """The reason in the service's own words, where it gives one."""
    if not _is_problem(response):
        return ""
    _, problem = _parse(body)
    parts = [problem.get("title"), problem.get("detail")] if isinstance(problem, dict) else []
    return ": ".join(part for part in parts if isinstance(part, str))


def _retry_after(header: str | None) -> float | None:
    """Seconds, or a date."""
    if header is None:
        return None
    if header.isdecimal():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


def pause_after(attempt: int, failure: RequestFailed) -> float:
    """Seconds: what the service asks for, else doubled with each attempt. They differ by a third, so that many clients do not return as one."""
    wanted = failure.retry_after if failure.retry_after is not None else FIRST_PAUSE * 2 ** min(attempt - 1, 10)
    return min(wanted, LONGEST_PAUSE) * (1 + random.random() / 3)


def with_retries(
    work: Callable[[], T], attempts: float, pause: Callable[[float], object] = time.sleep, on_retry: Callable[[RequestFailed], None] | None = None
) -> T:
    """Raises the last failure, or at once one that is not transient."""
    attempt = 1
    while True:
        try:
            return work()
        except RequestFailed as failure:
            if not failure.is_transient or attempt >= attempts:
                raise
            if on_retry is not None:
                on_retry(failure)
            seconds = pause_after(attempt, failure)
        attempt += 1
        pause(seconds)
