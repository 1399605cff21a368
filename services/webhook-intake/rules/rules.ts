// Which notification rules an event matches. Where rules are read from, and the channels, are not this file's business.
import type { LoggedEvent } from '../forge-worker/event.ts';

export type Rule = {
  /** Names it in the outbox; unique. */
  readonly name: string;
  /** Each of these that is given must fit; a rule without any fits every event. */
  readonly source?: string;
  readonly event?: string;
  readonly action?: string;
  readonly minimumScore?: number;
  readonly senderClass?: string;
  readonly channels: readonly string[];
};

export type MatchedRule = { readonly rule: string; readonly channels: readonly string[] };
type Subject = Pick<LoggedEvent, 'source' | 'event' | 'action' | 'score' | 'senderClass'>;
export type MatchingRules = (event: Subject) => readonly MatchedRule[];

export function createMatchingRules(rules: readonly Rule[]): MatchingRules {
  const named = rules.map((rule) => ({ rule, matched: { rule: rule.name, channels: rule.channels } }));
  return (event) => named.filter(({ rule }) => fits(rule, event)).map(({ matched }) => matched);
}

function fits(rule: Rule, event: Subject): boolean {
  const isSame = (wanted: string | undefined, found: string | null) => wanted === undefined || wanted === found;
  return (
    isSame(rule.source, event.source) &&
    isSame(rule.event, event.event) &&
    isSame(rule.action, event.action) &&
    isSame(rule.senderClass, event.senderClass) &&
    (rule.minimumScore === undefined || event.score >= rule.minimumScore)
  );
}
