// Values of a chart: maps that are merged as Helm merges them, and looked into.

export type Values = Readonly<Record<string, unknown>>;

/** `{ a: { b: value } }` for the path `['a', 'b']`. */
export const nested = (path: readonly string[], value: unknown): Values => {
  const [first, ...rest] = path;
  if (first === undefined) throw new TypeError('a path has a first member');
  return { [first]: rest.length > 0 ? nested(rest, value) : value };
};

/** As Helm merges values: maps by key, everything else replaced. */
export function merged(...all: readonly Values[]): Values {
  const result: Record<string, unknown> = {};
  for (const values of all) {
    for (const [key, value] of Object.entries(values)) {
      const before = result[key];
      result[key] = isMap(before) && isMap(value) ? merged(before, value) : value;
    }
  }
  return result;
}

export const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every leaf of the values, with its path; empty maps and lists are leaves. */
export function leaves(values: Values, path: readonly string[] = []): { readonly path: readonly string[]; readonly value: unknown }[] {
  return Object.entries(values).flatMap(([key, value]) =>
    isMap(value) && Object.keys(value).length > 0 ? leaves(value, [...path, key]) : [{ path: [...path, key], value }],
  );
}
