// Random numbers of a run: the same for the same seed, though what they are used for happens at other moments.

export type Random = {
  /** A whole number from 0 to below `end`. */
  below(end: number): number;
  /** @throws TypeError for an empty list */
  pick<T>(from: readonly T[]): T;
};

/** Mulberry32. @param name gives each user of the seed numbers of its own */
export function createRandom(seed: number, name: string): Random {
  let state = [...name].reduce((sum, letter) => Math.imul(sum, 31) + letter.charCodeAt(0), seed);
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number) => Math.floor(next() * end);
  return {
    below,
    pick(from) {
      const chosen = from[below(from.length)];
      if (chosen === undefined) throw new TypeError('there is nothing to pick from');
      return chosen;
    },
  };
}
