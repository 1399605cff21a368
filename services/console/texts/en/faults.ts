// What the services say of entries is English already.
export const faults: readonly (readonly [RegExp, string])[] = [];
