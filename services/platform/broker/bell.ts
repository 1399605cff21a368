// A wait that a hint can cut short, and that no hint can slip past.

/** Waits for a ring, and hears one that came since the last reset. */
export function createBell(over: AbortSignal) {
  let isRung = false;
  let heard: (() => void) | null = null;
  const ring = () => {
    isRung = true;
    heard?.();
  };
  over.addEventListener('abort', ring, { once: true });
  return {
    ring,
    reset: () => void (isRung = over.aborted),
    async wait(mostMs: number): Promise<void> {
      if (isRung) return;
      const timer = setTimeout(() => heard?.(), mostMs);
      await new Promise<void>((resolve) => (heard = resolve));
      clearTimeout(timer);
    },
  };
}
