// What went wrong, in one line for a person.

/** A refused connection to a name with several addresses has an empty message of its own. */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describeError(error.errors[0]);
  if (error instanceof Error) return error.message || error.name;
  return String(error);
}
