// Says how far a long command is: a line a second, and one at its end.

export type Progress = {
  expect(total: number): void;
  add(count: number): void;
  end(): void;
};

const everyMs = 1000;

/** @param what for instance `versions moved` */
export function createProgress(what: string, say: (line: string) => void): Progress {
  const startedAtMs = performance.now();
  let saidAtMs = startedAtMs;
  let expected: number | undefined;
  let done = 0;
  const line = () => {
    const seconds = (performance.now() - startedAtMs) / 1000;
    const of = expected === undefined ? '' : ` of ${expected}`;
    return `${done}${of} ${what} in ${seconds.toFixed(1)} s (${Math.round(done / Math.max(seconds, 0.001))} a second)`;
  };
  return {
    expect(total) {
      expected = total;
    },
    add(count) {
      done += count;
      if (performance.now() - saidAtMs < everyMs) return;
      saidAtMs = performance.now();
      say(line());
    },
    end: () => say(line()),
  };
}
