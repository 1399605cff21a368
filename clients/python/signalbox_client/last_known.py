"""The values that were read last: served without a request while they are fresh, and for a bounded time while the service is unavailable."""

import json
import os
import tempfile
import threading
import time
import warnings
from typing import Any, Callable

from .request import RequestFailed, pause_after


class LastKnown:
    """Several threads may read at the same time."""

    def __init__(self, ttl: float, stale: float, file: str | None, source: str) -> None:
        self._ttl, self._stale, self._file, self._source = ttl, stale, file, source
        self._lock = threading.Lock()
        self._entries: dict[str, tuple[Any, float]] = _load(file, source) if file is not None else {}
        # While the service is unavailable, no stale value waits for it before this time.
        self._tries_again_at = 0.0
        self._failures = 0

    def read(self, name: str, load: Callable[[bool], Any]) -> Any:
        """`load` is told whether to try again; with a stale value in its place it tries only once."""
        known = self._known(name)
        if known is not None and (known[1] or time.time() < self._tries_again_at):
            return known[0]
        try:
            value = load(known is None)
        except RequestFailed as failure:
            if known is not None and (failure.is_transient or not failure.is_of_service):
                self._failures += 1
                self._tries_again_at = time.time() + pause_after(self._failures, failure)
                return known[0]
            self._forget(name, failure)
            raise
        self._failures = 0
        with self._lock:
            self._entries[name] = (value, time.time())
            self._save()
        return value

    def _known(self, name: str) -> tuple[Any, bool] | None:
        """The value, and whether it is fresh. A clock that was set back makes no value fresh for longer."""
        entry = self._entries.get(name)
        if entry is None:
            return None
        age = time.time() - entry[1]
        return (entry[0], age < self._ttl) if 0 <= age < self._ttl + self._stale else None

    def _forget(self, name: str, failure: RequestFailed) -> None:
        """A value that the service refuses is not served from here either; a key that it refuses ends all values."""
        if not failure.is_of_service or failure.status not in (401, 403, 404):
            return
        with self._lock:
            if failure.status == 404:
                self._entries.pop(name, None)
            else:
                self._entries.clear()
            self._save()

    def _save(self) -> None:
        """A failed write is a warning: the value itself was read."""
        if self._file is None:
            return
        entries = {name: {"value": value, "readAt": read_at} for name, (value, read_at) in self._entries.items()}
        draft = None
        try:
            # Made with mode 0600.
            descriptor, draft = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(self._file)))
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump({"source": self._source, "entries": entries}, file)
            os.replace(draft, self._file)
        except OSError as error:
            if draft is not None and os.path.exists(draft):
                os.unlink(draft)
            warnings.warn(f"the file of the last known values was not written: {error.strerror}", RuntimeWarning, stacklevel=4)


def _load(path: str, source: str) -> dict[str, tuple[Any, float]]:
    """A file with the values of another service or environment, or one that is not ours, has no values for us."""
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return {}
    if os.name == "posix" and mode & 0o077:
        raise PermissionError(f"{path} can be read by others: chmod 600 {path}")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        kept = json.loads(text)
        if kept["source"] != source:
            return {}
        return {name: (entry["value"], float(entry["readAt"])) for name, entry in kept["entries"].items()}
    except (ValueError, TypeError, KeyError, AttributeError):
        return {}
