// The bound of the latency benchmark behind its publish: one insert of each message into the log `bound.events`, a transaction of its own, four at a time.
// Arguments: the database's URL, and for a queue of RabbitMQ the AMQP URL and the queue; without them the queue is the table `bound.queue`.
import { connect } from 'amqplib';
import pg from 'pg';
import { messageHeaders } from '../../../services/webhook-relay/contract.ts';

const [databaseUrl = '', amqpUrl, queue = ''] = process.argv.slice(2);
const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });

async function insertFromRabbitmq(url: string): Promise<void> {
  const channel = await (await connect(url, { noDelay: true })).createChannel();
  await channel.prefetch(200);
  await channel.consume(queue, (message) => {
    if (!message) return;
    const { headers } = message.properties;
    const values = [headers?.[messageHeaders.deliveryId], JSON.stringify(headers), message.content];
    const text = 'insert into bound.events (delivery_id, headers, body) values ($1, $2, $3)';
    void pool.query({ name: 'insert', text, values }).then(() => channel.ack(message));
  });
}

async function insertFromPostgres(): Promise<void> {
  const listener = new pg.Client({ connectionString: databaseUrl });
  const text = `
    with taken as (
      delete from bound.queue where id = (select id from bound.queue order by id for update skip locked limit 1) returning headers, body
    ) insert into bound.events (delivery_id, headers, body) select headers ->> '${messageHeaders.deliveryId}', headers, body from taken`;
  // Each row has a notification of its own. A take skips rows that another has locked, and may find none in its snapshot.
  const takeOne = async () => {
    while ((await pool.query({ name: 'take', text })).rowCount === 0);
  };
  listener.on('notification', () => void takeOne());
  await listener.connect();
  await listener.query('listen bound');
}

await (amqpUrl === undefined ? insertFromPostgres() : insertFromRabbitmq(amqpUrl));
process.stdout.write('0\n');
