// The end of a channel or a connection.
import type { EventEmitter } from 'node:events';
import type { Channel } from 'amqplib';

/** Resolves when it is closed: amqplib's promise never settles where the connection ends before the server answers. */
export const whenClosed = (closing: Promise<unknown>, one: EventEmitter): Promise<unknown> =>
  Promise.race([new Promise((resolve) => one.once('close', resolve)), closing]).catch(() => undefined); // it was closed already

export const closeChannel = (channel: Channel): Promise<unknown> => whenClosed(channel.close(), channel);
