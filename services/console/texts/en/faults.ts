// The services' messages on entries are English already.
export const faults: readonly (readonly [RegExp, string])[] = [];
