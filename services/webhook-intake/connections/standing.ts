// How things stand with one consumed connection: whether it is configured, since when it is not, when it was reachable last.

/** How long ago things were. */
export type Ages = {
  /** Null while it is configured. */
  readonly removedForMs: number | null;
  readonly unreachableForMs: number;
};

export type Standing = {
  readonly isConfigured: boolean;
  setConfigured(isConfigured: boolean): void;
  /** To be called every now and then. */
  look(): void;
  ages(): Ages;
  /** Removed, and unreachable for too long, though this process has tried for `leastTryMs`. */
  isHopeless(leastTryMs: number): boolean;
};

export type StandingParts = {
  readonly clock: () => number;
  readonly isConnected: () => boolean;
  /** How long a removed connection may be unreachable. */
  readonly unreachableMs: number;
};

export function createStanding({ clock, isConnected, unreachableMs }: StandingParts, { removedForMs, unreachableForMs }: Ages): Standing {
  const openedMs = clock();
  let removedMs = removedForMs === null ? undefined : openedMs - removedForMs;
  let lastReachableMs = openedMs - unreachableForMs;

  function look(): void {
    if (isConnected()) lastReachableMs = clock();
  }

  return {
    get isConfigured() {
      return removedMs === undefined;
    },
    setConfigured(isConfigured) {
      removedMs = isConfigured ? undefined : (removedMs ?? clock());
    },
    look,
    ages() {
      look();
      return { removedForMs: removedMs === undefined ? null : clock() - removedMs, unreachableForMs: clock() - lastReachableMs };
    },
    isHopeless(leastTryMs) {
      look();
      if (removedMs === undefined || clock() - openedMs < leastTryMs) return false;
      // While no worker ran nobody tried, so the time begins with what was seen last, the removal among it.
      return clock() - Math.max(lastReachableMs, removedMs) >= unreachableMs;
    },
  };
}
