// Why a spooled delivery is given up, and what a person can do about it: the words of the log.
export type Refusal = { readonly reason: string; readonly toDo: string };

/** @param what is wrong with what was found: it will be the same at every look */
export const corrupt = (what: string): Refusal => ({ reason: `corrupt: ${what}`, toDo: 'redeliver it from the forge, then delete what is kept here' });

/** @param how to have it tried again */
export const refusedByAll = (tries: number, how: string): Refusal => ({
  reason: `refused by every connection in ${tries} tries`,
  toDo: `mostly it is too large: let the broker take larger messages, then ${how}`,
});
