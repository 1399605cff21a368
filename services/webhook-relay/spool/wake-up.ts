// A pause between rounds that can be cut short.

export type WakeUp = {
  /** Ends the pause, or, between pauses, the next one before it begins. */
  wake(): void;
  pause(ms: number): Promise<void>;
};

export function createWakeUp(stopping: AbortSignal): WakeUp {
  let woken = false;
  let end: (() => void) | undefined;
  const wake = () => {
    woken = true;
    end?.();
  };
  stopping.addEventListener('abort', wake, { once: true });
  return {
    wake,
    async pause(ms) {
      if (!woken && !stopping.aborted) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      woken = false;
      end = undefined;
    },
  };
}
