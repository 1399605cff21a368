// Looking up a name in a table whose keys may end or begin with `*`.

type Pattern<T> = { readonly prefix: string; readonly suffix: string; readonly value: T };

/** An exact key wins, then the pattern with the most letters. */
export function createPatternLookup<T>(entries: readonly (readonly [pattern: string, value: T])[]): (name: string) => T | undefined {
  const exact = new Map<string, T>();
  const patterns: Pattern<T>[] = [];
  for (const [pattern, value] of entries) {
    if (pattern.endsWith('*')) patterns.push({ prefix: pattern.slice(0, -1), suffix: '', value });
    else if (pattern.startsWith('*')) patterns.push({ prefix: '', suffix: pattern.slice(1), value });
    else exact.set(pattern, value);
  }
  const letters = ({ prefix, suffix }: Pattern<T>) => prefix.length + suffix.length;
  patterns.sort((one, other) => letters(other) - letters(one));
  return (name) => exact.get(name) ?? patterns.find(({ prefix, suffix }) => name.startsWith(prefix) && name.endsWith(suffix))?.value;
}
