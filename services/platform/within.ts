// Waits for work that may hang, and no longer than is worth it.

/** What the work comes to, or what `late` returns or throws when it has not settled in `ms`; the work itself goes on. */
export async function within<T>(work: Promise<T>, ms: number, late: () => T): Promise<T> {
  const lateness = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => lateness.resolve(undefined), ms);
  try {
    return await Promise.race([work, lateness.promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
