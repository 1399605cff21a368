"""Reads the secrets and the configuration of one application in one environment."""

import os
from typing import Any
from urllib.parse import quote, urlencode

from .last_known import LastKnown
from .request import Credential, RequestFailed, Service, with_retries

__all__ = ["RequestFailed", "Secrets"]


class Secrets:
    """The client of one application and environment, for any number of threads.

    url: where the secrets service is. Default: SIGNALBOX_SECRETS_URL.
    key: the key of the application. Default: SIGNALBOX_APPLICATION_KEY, or what is in the file of SIGNALBOX_APPLICATION_KEY_FILE.
    key_file: a file with the key, or with the token of the pod's ServiceAccount; it is read for each request.
    timeout: seconds for the connection, and for each part of the answer.
    attempts: how often a read is tried that the service could not answer.
    ttl: seconds for which a value is served without a request.
    stale: seconds after that for which it is still served while the service is unavailable.
    file: a file that keeps the last known values in plain text, readable by its owner, for a start while the service is unavailable.
    """

    def __init__(
        self,
        environment: str,
        *,
        url: str | None = None,
        key: str | None = None,
        key_file: str | None = None,
        timeout: float = 10,
        attempts: int = 5,
        ttl: float = 60,
        stale: float = 3600,
        file: str | None = None,
    ) -> None:
        if not environment:
            raise TypeError("environment must be the slug of an environment")
        # An option goes before both variables.
        if key is None and key_file is None:
            key = os.environ.get("SIGNALBOX_APPLICATION_KEY") or None
            key_file = os.environ.get("SIGNALBOX_APPLICATION_KEY_FILE") or None
        self._environment, self._timeout, self._attempts = environment, timeout, attempts
        self._service = Service("url", url or os.environ.get("SIGNALBOX_SECRETS_URL"), "SIGNALBOX_SECRETS_URL")
        self._credential = Credential("key", key, key_file, "SIGNALBOX_APPLICATION_KEY")
        self._last_known = LastKnown(ttl, stale, file, f"{self._service.url} {environment}")

    def get(self, name: str) -> str:
        """The newest active value of a secret."""
        return self._read(f"secret {name}", lambda: self._get(f"secrets/{quote(name, safe='')}")["value"])

    def all(self, prefix: str = "") -> dict[str, str]:
        """Every secret that is served in the environment, or those whose names begin with `prefix`: name → value."""
        values = self._read("secrets", self._get_all)
        return {name: value for name, value in values.items() if name.startswith(prefix)}

    def configuration(self) -> dict[str, str]:
        """The configuration entries of the environment: key → value."""
        items = self._read("configuration", lambda: self._get("configurations")["items"])
        return {item["key"]: item["value"] for item in items}

    def _read(self, name: str, load: Any) -> Any:
        def checked() -> Any:
            try:
                return load()
            except (KeyError, TypeError):
                raise RequestFailed(f"the answer of {self._service.url} is not one of the secrets service", 200) from None

        return self._last_known.read(name, lambda again: with_retries(checked, self._attempts if again else 1))

    def _get(self, path: str, **query: str) -> Any:
        headers = {"X-Api-Key": self._credential.read()}
        return self._service.get_json(f"/api/consumer/{path}", urlencode({"environment": self._environment, **query}), headers, self._timeout)

    def _get_all(self) -> dict[str, str]:
        found: dict[str, str] = {}
        after: str | None = ""
        while after is not None:
            page = self._get("secrets", values="true", after=after)
            found.update({item["name"]: item["value"] for item in page["items"]})
            after = page["next"]
        return found
