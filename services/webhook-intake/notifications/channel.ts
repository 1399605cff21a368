// What a channel of notifications does with one message, and what may come of it.
import type { Content } from './templates.ts';
import type { Channel } from './rules.ts';

export type OutgoingMessage = Content & {
  /** The same at every attempt. */
  readonly id: string;
  readonly recipient: string;
};

/**
 * `refused`: for good, it is of no use to try this message again. `retry`: this message now. `unavailable`: the channel, whatever the message.
 * Of all but `sent` a reason for the operator.
 */
export type SendOutcome = 'sent' | { readonly kind: 'refused' | 'retry' | 'unavailable'; readonly reason: string };

export type ChannelSender = {
  readonly channel: Channel;
  /** Never rejects; answers well within the lease of a message. */
  send(message: OutgoingMessage): Promise<SendOutcome>;
};
