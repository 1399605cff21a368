// The services' messages are English already.
export const faults: readonly (readonly [RegExp, string])[] = [];
