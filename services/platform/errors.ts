// Readings of a caught value: its code, one line for a person, an Error.

/** The `code` that Node, Postgres and AMQP put on their errors: `ENOENT`, `23505`, 404 … */
export function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' || typeof error.code === 'number' ? String(error.code) : undefined;
}

export const hasCode = (error: unknown, ...codes: readonly string[]): boolean => codes.includes(codeOf(error) ?? '');

/** One line. A refused connection to a name with several addresses has an empty message of its own. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0]);
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}

export const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
