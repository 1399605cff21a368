// Keeps a session of the embedded broker open: opens one, waits until it is lost, opens the next.
import { createBackOff } from '../back-off.ts';
import { describeError } from '../../errors.ts';
import { type EmbeddedSession, openSession, type SessionParts } from './session.ts';

export type EmbeddedLinkParts = SessionParts & {
  up(session: EmbeddedSession): void;
  down(reason: string): void;
};

export function createEmbeddedLink(parts: EmbeddedLinkParts): { close(): Promise<void> } {
  const { log } = parts;
  const closing = new AbortController();

  async function keepOpen(): Promise<void> {
    let backOff = createBackOff();
    let lastFailure: string | null = null;
    while (!closing.signal.aborted) {
      try {
        const session = await openSession(parts);
        const over = AbortSignal.any([session.lost, closing.signal]);
        if (!over.aborted) {
          log.info('connected to the embedded broker');
          parts.up(session);
          lastFailure = null;
          backOff = createBackOff();
          await aborted(over);
        }
        if (session.lost.aborted) {
          log.warn({ reason: describeError(session.lost.reason) }, 'lost the embedded broker');
          parts.down(describeError(session.lost.reason));
        }
        await session.close();
      } catch (error) {
        const reason = describeError(error);
        // The same fault every five seconds is one line, not a flood.
        if (reason !== lastFailure) log.error({ reason }, 'cannot connect to the embedded broker; trying on');
        lastFailure = reason;
        parts.down(reason);
      }
      await backOff.pause(closing.signal);
    }
  }

  const kept = keepOpen();
  return {
    async close() {
      closing.abort();
      await kept;
    },
  };
}

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => (signal.aborted ? resolve() : signal.addEventListener('abort', () => resolve(), { once: true })));
