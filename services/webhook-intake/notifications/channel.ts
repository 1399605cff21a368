// A channel of notifications: its settings, the recipients that a rule may name, and how it sends one message.
import { z } from 'zod';
import { type Environment, readSettings, type Settings, type Values } from '../../platform/config/config.ts';
import type { BackOffRange } from '../../platform/time.ts';
import type { StoredEvent } from './store.ts';
import type { Content } from './templates.ts';

export type OutgoingMessage = Content & {
  /** The same at every attempt. */
  readonly id: string;
  readonly recipient: string;
  /** The event itself, for a channel that sends events; undefined once its retention is over. */
  readonly event?: StoredEvent | undefined;
};

/**
 * `refused`: this message failed for good. `retry`: this message failed, another attempt may succeed. `unavailable`: every message would fail now.
 * `reason` is for the log and the outbox. `retryAfterMs` is the pause that the receiver asks for.
 */
export type SendOutcome = 'sent' | { readonly kind: 'refused' | 'retry' | 'unavailable'; readonly reason: string; readonly retryAfterMs?: number | undefined };

export type ChannelSender = {
  readonly channel: string;
  /** Each event is sent whole, however many there are. Other channels send notices, up to the hourly cap of a recipient. */
  readonly sendsEvents?: true;
  /** The back-off between attempts of one message, and the age at which it is given up. */
  readonly retries?: { readonly pause: BackOffRange; readonly giveUpAfterMs: number };
  /** Never rejects; answers well within the lease of a message. */
  send(message: OutgoingMessage): Promise<SendOutcome>;
};

/** A channel with its settings read. */
export type ConfiguredChannel = {
  readonly name: string;
  /** Faults of the settings; `isNamed`: a rule names the channel. */
  readonly faults: (isNamed: boolean) => readonly string[];
  /** Undefined where the settings name no server. */
  readonly open: () => ChannelSender | undefined;
};

export type Channel = {
  /** The member of a rule that holds its recipients. */
  readonly name: string;
  readonly settings: Settings;
  readonly recipients: z.ZodType<string[]>;
  /** @throws ConfigError with every fault */
  readonly read: (environment: Environment) => ConfiguredChannel;
};

type Declaration<S extends Settings> = {
  readonly name: string;
  readonly settings: S;
  readonly recipient: z.ZodType<string>;
  /** The word for several recipients in a fault. */
  readonly plural: string;
  readonly faults: (values: Values<S>, isNamed: boolean) => readonly string[];
  readonly open: (values: Values<S>) => ChannelSender | undefined;
};

export const createChannel = <S extends Settings>({ name, settings, recipient, plural, faults, open }: Declaration<S>): Channel => ({
  name,
  settings,
  recipients: z.array(recipient, { error: 'must be a list' }).max(100, `must have at most 100 ${plural}`).default([]),
  read(environment) {
    const values = readSettings(environment, settings);
    return { name, faults: (isNamed) => faults(values, isNamed), open: () => open(values) };
  },
});
