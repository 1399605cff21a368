// One AMQP connection that reconnects by itself; amqplib's recovery does the waiting and the trying again.
import type { Socket } from 'node:net';
import type { ChannelModel } from 'amqplib';
import { describeError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { withTimeout } from '../../time.ts';
import { parseBrokerUrl } from '../environment.ts';
import { createConnectFailures, failurePause } from '../outcomes.ts';
import { whenClosed } from './closing.ts';

const connectTimeoutMs = 5000;
const closeTimeoutMs = 2000;
/** A server that is silent for twice as long is gone, also one that hangs. */
const heartbeatSeconds = '5';

type AmqpConnectionParts = {
  readonly url: string;
  /** How the server's own tools show this connection. */
  readonly connectionName: string;
  /** Runs on every new connection before it counts as one; a rejection closes it, and it is tried again later. */
  prepare(model: ChannelModel): Promise<void>;
  /** Also when the server reads from it again. */
  onConnected?(): void;
  /** Also when the server reads nothing more from it: a memory or disk alarm blocks a connection that publishes. */
  onDisconnected?(reason: string): void;
  readonly log: Log;
};

export type AmqpConnection = ReturnType<typeof createAmqpConnection>;

export function createAmqpConnection(parts: AmqpConnectionParts) {
  const { log } = parts;
  let model: ChannelModel | null = null;
  let isPrepared = false;
  /** The one that `reconnect` closed last: each message that times out on it asks for that. */
  let dropped: ChannelModel | null = null;
  const failures = createConnectFailures(log, 'connecting to the broker failed, retrying');
  let isClosing = false;

  const setup = async (opened: ChannelModel) => {
    model = opened;
    opened.on('error', (error) => log.debug({ error }, 'amqp connection error'));
    opened.on('blocked', (reason) => parts.onDisconnected?.(`blocked by the server: ${reason}`));
    opened.on('unblocked', () => parts.onConnected?.());
    writeTogether(opened);
    await parts.prepare(opened);
  };

  const lost = (reason: string) => {
    model = null;
    isPrepared = false;
    parts.onDisconnected?.(reason);
  };

  const failed = (error: Error) => {
    if (isClosing) return; // the attempt that was under way
    const reason = describeRefusal(error, parts.url);
    failures.failed(reason);
    lost(reason);
  };

  const recovery = { initialDelay: failurePause.firstMs, maxDelay: failurePause.longestMs, jitter: 0.3, waitForConnect: false, setup };
  const clientProperties = { connection_name: parts.connectionName };
  const socket = { timeout: connectTimeoutMs, noDelay: true, keepAlive: true, clientProperties };
  // Loaded here: it takes some MiB, and a process whose queues are in Postgres does without it.
  const connecting = import('amqplib').then(({ connect }) => connect(withHeartbeat(parts.url), { ...socket, recovery }));
  const recovering = connecting.then((connection) => {
    connection.on('connect', () => {
      isPrepared = true;
      failures.connected();
      log.info('connected to the broker');
      parts.onConnected?.();
    });
    connection.on('connect-failed', failed);
    connection.on('disconnect', (error) => {
      log.warn({ reason: describeError(error) }, 'lost the broker connection, reconnecting');
      lost(describeError(error));
    });
    connection.on('error', (error) => lost(describeError(error)));
    return connection;
  });

  return {
    /** Null while it is not connected. */
    get model() {
      return isPrepared ? model : null;
    },
    /** Drops the connection, so that a new one declares everything again. */
    reconnect(reason: string): void {
      const broken = model;
      // Not at once: when the connection is what was lost, amqplib closes its channels first and says so next.
      setImmediate(() => {
        if (isClosing || !broken || broken !== model || broken === dropped) return;
        dropped = broken;
        log.warn({ reason }, 'reconnecting to the broker');
        void closeInTime(broken, broken);
      });
    },
    async close(): Promise<void> {
      isClosing = true;
      await closeInTime(await recovering, model);
    },
  };
}

// amqplib expected another frame than the server's refusal, and tells neither what it says nor why.
function describeRefusal(error: Error, url: string): string {
  const reason = describeError(error);
  if (!reason.startsWith('Expected ConnectionOpenOk; got <ConnectionClose')) return reason;
  return `the server does not open the virtual host "${parseBrokerUrl(url).virtualHost}": it does not exist there, or this user may not use it`;
}

function withHeartbeat(url: string): string {
  const withDefault = new URL(url);
  if (!withDefault.searchParams.has('heartbeat')) withDefault.searchParams.set('heartbeat', heartbeatSeconds);
  return withDefault.href;
}

/** Writes of one turn of the event loop reach the socket together: amqplib writes each message by itself, and a system call costs as much as encoding it. */
function writeTogether(model: ChannelModel): void {
  const stream = streamOf(model);
  if (!stream) return;
  const write = stream.write.bind(stream);
  let isCorked = false;
  stream.write = (chunk: Buffer) => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      process.nextTick(() => {
        isCorked = false;
        stream.uncork();
      });
    }
    return write(chunk);
  };
}

/** `as` because the stream is not in amqplib's types. */
const streamOf = (model: ChannelModel) => (model.connection as { readonly stream?: Pick<Socket, 'write' | 'cork' | 'uncork' | 'destroy'> }).stream;

async function closeInTime(connection: Pick<ChannelModel, 'close'>, model: ChannelModel | null): Promise<void> {
  const closing = model ? whenClosed(connection.close(), model) : connection.close();
  await withTimeout(closing, closeTimeoutMs, () => destroySocket(model));
  await closing;
}

// amqplib waits for the server's goodbye for as long as heartbeats allow, and has no public way to stop waiting.
// Destroying the stream makes amqplib report the connection as closed.
function destroySocket(model: ChannelModel | null): void {
  if (model) streamOf(model)?.destroy(new Error('the server did not answer the closing of the connection'));
}
