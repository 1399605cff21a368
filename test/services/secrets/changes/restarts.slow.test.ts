// The change feed over kills: of processes in the middle of writes, of their clients' polls, and of the database.
import { expect } from 'chai';
import { migrate } from '../../../../services/platform/postgres/migrations.ts';
import { silentLog } from '../../../../services/platform/log.ts';
import { type PostgresServer, startPostgres } from '../../../support/postgres.ts';
import { type RunningProcess, startProcess } from '../../../support/processes.ts';
import { eventually } from '../../../support/wait.ts';
import { adminToken, manage, masterKeys, migrations, newApplication } from '../service.ts';
import { begin, follow, inWords, poll, told, type Told } from './feed.ts';

type Served = { readonly process: RunningProcess; readonly url: string };

describe('the change feed of two processes', () => {
  let server: PostgresServer;
  let databaseUrl: string;
  let writer: Served;
  let reader: Served;

  async function serve(): Promise<Served> {
    const env = {
      DATABASE_URL: databaseUrl,
      Management__AdminApiKey: adminToken,
      Encryption__MasterKeys: masterKeys,
      PORT: '0',
      METRICS_PORT: '0',
      APP_ENV: 'development',
    };
    const process = startProcess(['serve', 'secrets'], { env });
    return { process, url: `http://127.0.0.1:${(await process.waitForLine(/"port":(\d+),"msg":"listening"/))[1] ?? ''}` };
  }

  before(async () => {
    server = await startPostgres();
    databaseUrl = server.url;
    await migrate(databaseUrl, { schema: 'secrets', directory: migrations }, silentLog);
    [writer, reader] = await Promise.all([serve(), serve()]);
  });
  after(async () => {
    for (const { process } of [writer, reader]) await process.kill();
    await server.close();
  });

  it('has each write that was answered once, though the process that wrote is killed again and again', async () => {
    const { slug } = await newApplication(reader.url);
    const cursor = await begin(reader.url);
    const answered: string[] = [];
    const write = async (number: number) => {
      const made = await manage(writer.url, 'POST', `/${slug}/environments`, { name: `e ${number}` }).catch(() => undefined);
      if (made?.status === 201) answered.push(`environment.create ${slug} e-${number} *`);
    };
    for (const round of [0, 1, 2]) {
      const writes = Array.from({ length: 60 }, (_, number) => write(1000 * round + number));
      await eventually(() => answered.length > 20 * round + 5);
      await writer.process.kill();
      await Promise.all(writes);
      writer = await serve();
    }
    await manage(writer.url, 'POST', `/${slug}/environments`, { name: 'end' });
    const { changes } = await follow(reader.url, cursor, (seen) => inWords(seen).at(-1) === `environment.create ${slug} end *`);
    const seen = inWords(changes);
    expect(new Set(seen).size).to.equal(seen.length);
    expect(seen).to.include.members(answered);
    const { body } = await manage(reader.url, 'GET', `/${slug}/environments`);
    // Local was there before; what was committed without an answer is in it, too.
    expect(seen.length).to.equal([body].flat().length - 1);
  });

  it('goes on from a cursor at another process, and after a restart', async () => {
    const { slug } = await newApplication(writer.url);
    const cursor = await begin(writer.url);
    const polling = poll(writer.url, cursor).catch(() => undefined);
    await writer.process.kill();
    expect(await polling).to.equal(undefined);
    await manage(reader.url, 'POST', `/${slug}/rotate-key`);
    writer = await serve();
    for (const { url } of [writer, reader]) expect(inWords((await told(poll(url, cursor))).changes)).to.deep.equal([`application.rotate-key ${slug} * *`]);
  });

  it('ends waiting polls on SIGTERM with their cursor, and the process with 0', async () => {
    const cursor = await begin(writer.url);
    const polls = Array.from({ length: 20 }, () => told(poll(writer.url, cursor)));
    await told(poll(writer.url)); // the polls before it have arrived
    writer.process.signal('SIGTERM');
    for (const page of await Promise.all(polls)) expect(page).to.deep.equal({ cursor, changes: [] } satisfies Told);
    expect(await writer.process.exited).to.deep.equal({ code: 0, signal: null });
    writer = await serve();
  });

  it('answers 503 with Retry-After while the database is away, and goes on when it is back', async () => {
    const { slug } = await newApplication(writer.url);
    const cursor = await begin(reader.url);
    const polling = poll(reader.url, cursor);
    await told(poll(reader.url));
    await server.kill();
    const refused = await polling;
    expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([503, '5']);
    await server.start();
    await eventually(async () => expect((await manage(writer.url, 'POST', `/${slug}/rotate-key`)).status).to.equal(200));
    const { changes } = await eventually(() => told(poll(reader.url, cursor)));
    expect(inWords(changes)[0]).to.equal(`application.rotate-key ${slug} * *`);
  });
});
