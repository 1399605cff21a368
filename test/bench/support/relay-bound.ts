// The bounds of the relay benchmark: node:http, one HMAC, JSON.parse, one confirmed publish, and nothing else. Arguments: URL of the broker, secret, exchange,
// and `with headers` or `without headers`: either the message that consumers rely on, in which constants stand for what the relay computes, or its bytes alone.
// In Postgres the queue is the table `bound.queue`: a publish is an insert and a notification.
import { createHmac, createSecretKey, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Options } from 'amqplib';
import pg from 'pg';
import { messageHeaders } from '../../../services/webhook-relay/contract.ts';

const [brokerUrl = '', secret = '', exchange = '', form = ''] = process.argv.slice(2);
const isPlain = form === 'without headers';
const key = createSecretKey(secret, 'utf8');
const publish = await (brokerUrl.startsWith('amqp') ? publisherToRabbitmq() : publisherToPostgres());

type Publish = (body: Buffer, properties: Options.Publish, published: (isPublished: boolean) => void) => void;

async function publisherToRabbitmq(): Promise<Publish> {
  const channel = await (await connect(brokerUrl, { noDelay: true })).createConfirmChannel();
  return (body, properties, published) =>
    channel.publish(exchange, '', body, { ...properties, persistent: true, mandatory: true }, (error) => published(error === null));
}

async function publisherToPostgres(): Promise<Publish> {
  const pool = new pg.Pool({ connectionString: brokerUrl });
  const text = 'with queued as (insert into bound.queue (headers, body) values ($1, $2)) select pg_notify($3, $4)';
  return (body, { headers }, published) =>
    void pool.query({ name: 'publish', text, values: [JSON.stringify(headers), body, 'bound', ''] }).then(
      () => published(true),
      () => published(false),
    );
}

type Payload = { readonly action?: string; readonly sender?: { readonly login?: string }; readonly installation?: { readonly id?: number } };

const constants = {
  [messageHeaders.forge]: 'github',
  [messageHeaders.forgeId]: 'github.com',
  [messageHeaders.senderClass]: 'person',
  [messageHeaders.isCoreFunction]: 'true',
  [messageHeaders.relayVersion]: '0.0.0',
  [messageHeaders.scoreDescription]: 'pull_request.opened by octocat: base 7 +1, person ×1',
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
};

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const given = Buffer.from(String(request.headers['x-hub-signature-256']).slice(7), 'hex');
    const expected = createHmac('sha256', key).update(body).digest();
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return void response.writeHead(401).end();
    const { action, sender, installation } = JSON.parse(body.toString()) as Payload;
    const messageId = randomUUID();
    const now = new Date();
    const headers = isPlain
      ? undefined
      : {
          [messageHeaders.deliveryId]: request.headers['x-github-delivery'],
          [messageHeaders.hookId]: request.headers['x-github-hook-id'],
          [messageHeaders.targetId]: request.headers['x-github-hook-installation-target-id'],
          [messageHeaders.targetType]: request.headers['x-github-hook-installation-target-type'],
          [messageHeaders.event]: request.headers['x-github-event'],
          [messageHeaders.originalEvent]: request.headers['x-github-event'],
          [messageHeaders.receivedAt]: now.toISOString(),
          [messageHeaders.action]: action,
          [messageHeaders.originalAction]: action,
          [messageHeaders.sender]: sender?.login,
          [messageHeaders.installationId]: String(installation?.id ?? ''),
          ...constants,
        };
    const properties = { messageId, type: 'pull_request', priority: 7, timestamp: Math.floor(now.getTime() / 1000), contentType: 'application/json', headers };
    publish(body, properties, (isPublished) =>
      response.writeHead(isPublished ? 202 : 400, { 'Content-Type': 'application/json' }).end(`{"id":"${messageId}"}`),
    );
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
