// Who waits for room, in the order of asking, each until its time is over.
export type WaitingLine = {
  readonly size: number;
  /** From the front, as long as there is room. @returns whether nobody waits any more */
  admit(): boolean;
  /** @returns whether it was admitted, and the way to leave before */
  wait(applicant: Applicant): { readonly admitted: Promise<boolean>; leave(): void };
};

export type Applicant = {
  readonly fits: () => boolean;
  readonly take: () => void;
  readonly waitMs: number;
};

type Waiting = { readonly fits: () => boolean; readonly settle: (isAdmitted: boolean) => void };

/** @param left called when one gave up: those behind it may be smaller */
export function createWaitingLine(left: () => void): WaitingLine {
  const line = new Set<Waiting>();
  return {
    get size() {
      return line.size;
    },
    admit() {
      for (const waiting of line) {
        if (!waiting.fits()) return false;
        waiting.settle(true);
      }
      return true;
    },
    wait({ fits, take, waitMs }) {
      const admission = Promise.withResolvers<boolean>();
      const waiting: Waiting = {
        fits,
        settle(isAdmitted) {
          clearTimeout(timer);
          if (!line.delete(waiting)) return;
          if (isAdmitted) take();
          admission.resolve(isAdmitted);
          if (!isAdmitted) left();
        },
      };
      const timer = setTimeout(() => waiting.settle(false), waitMs);
      line.add(waiting);
      return { admitted: admission.promise, leave: () => waiting.settle(false) };
    },
  };
}
