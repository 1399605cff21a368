// Where each service listens on a laptop: one port after another from the base.

/** Above the base, in this order; a service that is not built yet keeps its place. */
const order = ['webhook-relay', 'webhook-intake', 'link-digest', 'secrets', 'bookmarks', 'listings'] as const;

/** Base 0 is any free port. */
export function portOf(name: string, base: number): number {
  if (base === 0) return 0;
  const place = order.findIndex((one) => one === name);
  if (place === -1) throw new TypeError(`${name} has no place among the laptop's ports`);
  return base + 1 + place;
}
