// The bound of the relay benchmark: node:http, one HMAC, one confirmed publish, and nothing else. Arguments: AMQP URL, secret, exchange.
import { createHmac, createSecretKey, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'amqplib';

const [amqpUrl = '', secret = '', exchange = ''] = process.argv.slice(2);
const key = createSecretKey(secret, 'utf8');
const connection = await connect(amqpUrl, { noDelay: true });
const channel = await connection.createConfirmChannel();

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const body = Buffer.concat(chunks);
    const given = Buffer.from(String(request.headers['x-hub-signature-256']).slice(7), 'hex');
    const expected = createHmac('sha256', key).update(body).digest();
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return void response.writeHead(401).end();
    const messageId = randomUUID();
    channel.publish(exchange, '', body, { persistent: true, mandatory: true, messageId, priority: 5, contentType: 'application/json' }, (error) => {
      response.writeHead(error === null ? 202 : 400, { 'Content-Type': 'application/json' }).end(`{"id":"${messageId}"}`);
    });
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
