// The behaviour that all direct sources have in common: which requests are refused, what is kept of the others, and how another source is added.
import { request as httpRequest } from 'node:http';
import { expect } from 'chai';
import { z } from 'zod';
import { silentLog } from '../../../../services/platform/log.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { parseRules } from '../../../../services/webhook-intake/notifications/rules.ts';
import { lineAt } from '../../../../services/webhook-intake/sources/source.ts';
import { sharedToken, signature, type Source } from '../../../../services/webhook-intake/sources/source.ts';
import * as sources from '../../../../services/webhook-intake/sources/sources.ts';
import { exchange, head, statusesOf } from '../../../hostile/raw.ts';
import { createConformance } from '../dashboard/conformance.ts';
import { tokens } from '../dashboard/ground.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { comparable, credential, type Ground, post, secrets, startBystander, startIntake } from './ground.ts';
import { samples } from './samples.ts';

const { codacy, dockerhub, healthchecks, sentry, uptimerobot, vercel } = sources;
const [secret] = secrets;
const token = { 'X-Source-Token': secret };
const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const mebibyte = 1_048_576;

describe('receiving of direct sources', () => {
  let database: IntakeDatabase;
  let ground: Ground;
  const statusOf = async (sent: Promise<{ status: number }>) => (await sent).status;
  const idOf = ({ text }: { text: string }) => z.object({ id: z.string() }).parse(JSON.parse(text)).id;
  const at = (source: Source) => `${ground.url}/${source.name}`;
  const event = async () => {
    const rows = await database.rows<{ event: string; source: string; deliveryId: string; headers: object }>(
      'select event, source, delivery_id as "deliveryId", headers from events',
    );
    return rows[0];
  };

  before(async () => {
    database = await createIntakeDatabase();
    ground = await startIntake(database.pool, Object.values(sources));
  });
  after(async () => {
    await ground.close();
    await database.close();
  });
  afterEach(() => database.empty());

  it('answers 404 where a source has no secret, whatever is asked', async () => {
    const without = await startIntake(database.pool, [codacy]);
    for (const { source, body } of samples.filter((one) => one.source !== codacy)) {
      for (const method of ['POST', 'GET']) {
        const text = JSON.stringify(body);
        const reply = await post(`${without.url}/${source.name}`, { method, body: text, headers: credential(source, secret, text) });
        expect(reply.status, `${method} ${source.name}`).to.equal(404);
      }
    }
    expect(await statusOf(post(`${without.url}/codacy`, { body: '{}', headers: token }))).to.equal(202);
    await without.close();
  });

  it('takes the shared token in the query too, and from one place only', async () => {
    const send = (query: string, headers = {}) => statusOf(post(at(dockerhub), { body: '{}', query, headers }));
    expect(await send(`?token=${secret}`)).to.equal(202);
    expect(await send(`?a=1&token=${secret}`)).to.equal(202);
    for (const query of ['?token=', '?token=wrong', `?Token=${secret}`, `?token=${secret}&token=${secret}`, `?token=wrong&token=${secret}`])
      expect(await send(query), query).to.equal(401);
    expect(await send(`?token=${secret}`, token)).to.equal(401);
    expect(await send('?token=wrong', token)).to.equal(401);
  });

  it('refuses a credential that is given twice, for every source, and when both are right', async () => {
    for (const { source, body } of samples) {
      const text = JSON.stringify(body);
      const credentials = Object.entries(credential(source, secret, text)).map(([name, value]) => `${name}: ${value}`);
      const lines = ['Host: x', 'Connection: close', 'Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`];
      const ask = async (...more: readonly string[]) =>
        statusesOf(await exchange(ground.port, head(`POST /${source.name} HTTP/1.1`, ...lines, ...more) + text));
      expect(await ask(...credentials, ...credentials), source.name).to.deep.equal([401]);
      expect(await ask(...credentials), source.name).to.deep.equal([202]);
    }
  });

  it('looks at a token before it looks at the body', async () => {
    for (const headers of [{ 'Content-Type': 'text/plain' }, {}, { 'Content-Encoding': 'gzip' }])
      expect(await statusOf(post(at(dockerhub), { body: 'x'.repeat(mebibyte + 1), headers: { ...headers, 'X-Source-Token': 'wrong' } }))).to.equal(401);
  });

  it('answers 405 to other methods where the source has a secret', async () => {
    const { status, headers } = await post(at(vercel), { method: 'GET', body: '' });
    expect([status, headers['allow']]).to.deep.equal([405, 'POST']);
  });

  it('answers 415 to other media types, and to a form where the source sends none', async () => {
    for (const type of ['text/plain', 'application/xml', form['Content-Type']])
      expect(await statusOf(post(at(codacy), { body: '{}', headers: { ...token, 'Content-Type': type } })), type).to.equal(415);
    for (const type of ['application/json; charset=utf-8', 'application/vnd.codacy+json'])
      expect(await statusOf(post(at(codacy), { body: JSON.stringify({ type }), headers: { ...token, 'Content-Type': type } })), type).to.equal(202);
  });

  it('takes a body of 1 MiB, and answers 413 to one byte more, announced or not', async () => {
    const ofSize = (bytes: number) => JSON.stringify({ x: 'x'.repeat(bytes - 8) });
    expect(await statusOf(post(at(codacy), { body: ofSize(mebibyte), headers: token }))).to.equal(202);
    expect(await statusOf(post(at(codacy), { body: ofSize(mebibyte + 1), headers: token }))).to.equal(413);
    expect(await streamed(`${ground.url}/codacy`, ofSize(mebibyte + 1))).to.equal(413);
    expect(await streamed(`${ground.url}/codacy`, ofSize(mebibyte))).to.equal(202);
  });

  /** Posts a body without announcing its length. */
  const streamed = (url: string, body: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = httpRequest(url, { method: 'POST', headers: { ...token, 'Content-Type': 'application/json' } }, (reply) => {
        reply.resume();
        resolve(reply.statusCode);
      });
      asked.on('error', reject);
      for (let from = 0; from < body.length; from += 65_536) asked.write(body.slice(from, from + 65_536));
      asked.end();
    });

  it('answers 413 to more values than it parses, and 400 to what is no UTF-8', async () => {
    expect(await statusOf(post(at(codacy), { body: `{"x":[${'0,'.repeat(100_001)}0]}`, headers: token }))).to.equal(413);
    expect(await statusOf(post(at(codacy), { body: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), headers: token }))).to.equal(400);
    expect(await database.count('events')).to.equal(0);
  });

  it('takes a form where the source sends forms, and shows its members as JSON', async () => {
    const body = 'monitorID=77001&monitorFriendlyName=Signals+%26+more&alertType=1&alertDateTime=1767225600&monitorURL=https%3A%2F%2Fsignals.example';
    const reply = await post(at(uptimerobot), { body, query: `?token=${secret}`, headers: form });
    expect(reply.status).to.equal(202);
    expect(await event()).to.deep.include({ source: 'uptimerobot', event: 'down', deliveryId: '77001 1 1767225600' });
    const shown = await fetch(`${ground.url}/api/v1/events/${idOf(reply)}`, { headers: { Authorization: `token ${tokens[0]}` } });
    const { payload } = z.object({ payload: z.record(z.string(), z.string()) }).parse(await shown.json());
    expect(payload).to.deep.include({ monitorFriendlyName: 'Signals & more', alertType: '1' });
    // The same alert as JSON is the same alert.
    const asJson = await post(at(uptimerobot), { body: JSON.stringify({ monitorID: 77001, alertType: 1, alertDateTime: 1767225600 }), headers: token });
    expect(JSON.parse(asJson.text)).to.deep.equal({ id: idOf(reply), duplicate: true });
  });

  it('answers 400 to a form without members, with a malformed escape, and with what is no UTF-8', async () => {
    for (const body of ['', 'alertType=1&monitorURL=%', 'alertType=%zz', 'alertType=%ff', Buffer.from([0x61, 0x3d, 0xff])])
      expect(await statusOf(post(at(uptimerobot), { body, headers: { ...form, ...token } })), String(body)).to.equal(400);
    expect(await database.count('events')).to.equal(0);
  });

  it('reads every member of a form, and answers 413 to more than it parses', async () => {
    const members = (count: number) => Array.from({ length: count }, (_, at) => `${at.toString(36)}=`);
    const send = async (count: number) =>
      statusOf(
        post(at(uptimerobot), {
          body: [...members(count - 3), 'monitorID=77001', 'alertType=1', 'alertDateTime=1767225600'].join('&'),
          headers: { ...form, ...token },
        }),
      );
    expect(await send(100_001)).to.equal(413);
    expect(await database.count('events')).to.equal(0);
    expect(await send(100_000)).to.equal(202);
    expect(await event()).to.deep.include({ event: 'down', deliveryId: '77001 1 1767225600' });
  });

  it('keeps the headers that the source reads, and never a credential', async () => {
    const body = '{"action":"created"}';
    const read = { 'Sentry-Hook-Resource': 'issue', 'Request-ID': 'r-1', 'Sentry-Hook-Timestamp': String(Math.floor(Date.now() / 1000)) };
    await post(at(sentry), { body, headers: { ...credential(sentry, secret, body), ...read, Cookie: 'a=b' } });
    await post(at(healthchecks), { body: '{}', query: `?token=${secret}` });
    const rows = await database.rows<{ headers: object }>('select headers from events order by source desc');
    const usual = { 'Content-Type': 'application/json', 'User-Agent': 'node' };
    expect(rows.map((row) => row.headers)).to.deep.equal([{ ...usual, ...read }, usual]);
  });

  it('stores what no column holds as it came: NUL, halves of surrogate pairs, very long texts', async () => {
    const body = `{"code":"a\\u0000b","status":"\\ud83d","time":"${'9'.repeat(3000)}","name":"\\u0000"}`;
    expect(await statusOf(post(at(healthchecks), { body, headers: token }))).to.equal(202);
    const long = { push_data: { pushed_at: 1, tag: 't'.repeat(400) }, repository: { repo_name: 'r'.repeat(400) } };
    const first = await post(at(dockerhub), { body: JSON.stringify(long), headers: token });
    const again = await post(at(dockerhub), { body: JSON.stringify({ ...long, more: 1 }), headers: token });
    expect([idOf(first), first.status]).to.deep.equal([idOf(again), 202]);
    const rows = await database.rows<{ event: string; length: number }>('select event, length(delivery_id) as length from events order by source');
    expect(rows).to.deep.equal([
      { event: 'push', length: 71 },
      { event: '\ufffd', length: 71 },
    ]);
  });

  it('tells deliveries apart whose numbers are larger than it can read exactly', async () => {
    for (const id of ['9007199254740993', '9007199254740992', '1e400', '2e400']) {
      const reply = await post(at(uptimerobot), { body: `{"monitorID":${id},"alertDateTime":1,"alertType":1}`, headers: token });
      expect(JSON.parse(reply.text), id).to.deep.include({ duplicate: false });
    }
    expect(await database.count('events')).to.equal(4);
  });

  it('never calls the callback_url of an image', async () => {
    const bystander = await startBystander();
    const { body = {} } = samples.find(({ source }) => source === dockerhub) ?? {};
    const reply = await post(at(dockerhub), { body: JSON.stringify({ ...body, callback_url: bystander.url }), headers: token });
    expect([reply.status, bystander.calls()]).to.deep.equal([202, 0]);
    expect(JSON.stringify(dockerhub.notice({ ...body, callback_url: bystander.url }, () => undefined))).not.to.include(bystander.url);
    await bystander.close();
  });

  it('writes notices to the outbox in the same request, for every source, and once', async () => {
    const rules = parseRules(
      'rules: [{ name: operators, when: { minimumScore: 4 }, smtp: [ada@example.org] }, { name: alarms, when: { minimumScore: 8 }, push: [alerts] }]',
    );
    const telling = await startIntake(database.pool, Object.values(sources), { rules });
    for (const { source, body, headers = {}, score, notice } of samples) {
      const text = JSON.stringify(body);
      const send = () => post(`${telling.url}/${source.name}`, { body: text, headers: { ...headers, ...credential(source, secret, text) } });
      expect([(await send()).status, (await send()).status, (await post(`${telling.url}/${source.name}`, { body: text })).status]).to.deep.equal([
        202, 202, 401,
      ]);
      const told = 'select rule, outbox.title, text, url from outbox join events on events.id = event_id where source = $1 order by rule desc';
      expect(await database.rows(told, [source.name]), source.name).to.deep.equal([
        { rule: 'operators', ...notice },
        ...(score >= 8 ? [{ rule: 'alarms', ...notice }] : []),
      ]);
    }
    await telling.close();
  });

  it('tells by onStored what is new, once it is in the log', async () => {
    const counts: Promise<number>[] = [];
    const telling = await startIntake(database.pool, [codacy], { onStored: () => counts.push(database.count('events')) });
    for (const body of ['{}', '{}', '{"a":1}']) await post(`${telling.url}/codacy`, { body, headers: token });
    expect(await Promise.all(counts)).to.deep.equal([1, 2]);
    await telling.close();
  });

  it('answers 503 with Retry-After while Postgres is away, and 401 before that', async () => {
    const away = createPool('postgres://nobody@127.0.0.1:1/nothing', { schema: 'intake', log: silentLog });
    const broken = await startIntake(away, Object.values(sources));
    for (const { source, body } of samples) {
      const text = JSON.stringify(body);
      const { status, headers } = await post(`${broken.url}/${source.name}`, { body: text, headers: credential(source, secret, text) });
      expect([status, Number(headers['retry-after']) > 0], source.name).to.deep.equal([503, true]);
      expect(await statusOf(post(`${broken.url}/${source.name}`, { body: text })), source.name).to.equal(401);
    }
    await broken.close();
    await away.close();
  });

  it('answers as the API description says', async () => {
    const conforms = createConformance(ground.openapi);
    for (const { source, body } of samples) {
      const text = JSON.stringify(body);
      for (const sent of [
        { body: text, headers: credential(source, secret, text) },
        { body: text },
        { body: '{', headers: credential(source, secret, '{') },
        { body: text, headers: { ...credential(source, secret, text), 'Content-Type': 'text/plain' } },
      ]) {
        const { status, headers, text: answered } = await post(at(source), sent);
        conforms(`/${source.name}`, 'post', { status, mediaType: headers['content-type'] ?? '', body: JSON.parse(answered) });
      }
    }
  });

  it('serves an eleventh source by its adapter alone', async () => {
    const signalling: Source = {
      name: 'signalling',
      vendor: 'The signalling system',
      verification: signature('X-Signal-Signature', { algorithm: 'sha1' }),
      example: { body: { signal: 'clear', number: 7 } },
      read: ({ payload }) => ({ event: lineAt(payload, 'signal'), key: [lineAt(payload, 'number')], isFailure: false }),
      notice: (payload) => ({ title: `Signal ${lineAt(payload, 'signal') ?? ''}`, text: '', url: null }),
    };
    const points: Source = { ...signalling, name: 'points', verification: sharedToken };
    const more = await startIntake(database.pool, [...Object.values(sources), signalling, points]);
    const body = '{"signal":"clear","number":7}';
    for (const source of [signalling, points]) {
      const send = (headers = {}) => post(`${more.url}/${source.name}`, { body, headers });
      expect(await statusOf(send())).to.equal(401);
      expect(await statusOf(send(credential(source, secret, body)))).to.equal(202);
      expect(JSON.parse((await send(credential(source, secret, body))).text)).to.deep.include({ duplicate: true });
      expect(Object(more.openapi)).to.have.nested.property(`paths./${source.name}.post`);
    }
    expect(await database.rows('select source, event, delivery_id as key from events order by source')).to.deep.equal([
      { source: 'points', event: 'clear', key: '7' },
      { source: 'signalling', event: 'clear', key: '7' },
    ]);
    await more.close();
  });

  describe('deliveries that differ in unsigned headers', () => {
    const send = async (source: Source, body: object, headers: Readonly<Record<string, string>> = {}) => {
      const text = JSON.stringify(body);
      const reply = await post(`${ground.url}/${source.name}`, { body: text, headers: { ...credential(source, secrets[0], text), ...headers } });
      return z.object({ duplicate: z.boolean() }).parse(JSON.parse(reply.text)).duplicate;
    };

    it('of Sentry are one: its request id and time are not signed', async () => {
      const body = { action: 'created', data: { issue: { id: 'sentry-1' } } };
      expect(await send(sources.sentry, body, { 'Request-ID': 'one' })).to.equal(false);
      expect(await send(sources.sentry, body, { 'Request-ID': 'another' })).to.equal(true);
    });

    it('of Snyk and Codacy are one: the id of a delivery is not signed, nor the name of its event', async () => {
      const body = { newIssues: [], project: { id: 'p-9' } };
      expect(await send(sources.snyk, body, { 'X-Snyk-Transport-ID': 'one', 'X-Snyk-Event': 'project_snapshot/v0' })).to.equal(false);
      expect(await send(sources.snyk, body, { 'X-Snyk-Transport-ID': 'another', 'X-Snyk-Event': 'ping/v0' })).to.equal(true);
      const analysed = { event: 'commit.analyzed', commitSha: 'c0de', status: 'failed' };
      expect(await send(sources.codacy, analysed, { 'X-Codacy-Delivery': 'one' })).to.equal(false);
      expect(await send(sources.codacy, analysed, { 'X-Codacy-Delivery': 'another' })).to.equal(true);
    });

    it('of Sentry are refused when their time is five minutes from now, or missing', async () => {
      const body = '{"action":"created"}';
      const { 'Sentry-Hook-Timestamp': _, ...signed } = credential(sentry, secret, body);
      const ask = (headers: Readonly<Record<string, string>>) => post(at(sentry), { body, headers });
      for (const seconds of [-330, 330]) {
        const reply = await ask(credential(sentry, secret, body, Date.now() + seconds * 1000));
        expect([reply.status, reply.text.includes('clocks')], String(seconds)).to.deep.equal([401, true]);
      }
      const missing = await ask(signed);
      const wrong = await ask({ ...signed, 'Sentry-Hook-Signature': '0'.repeat(64), 'Sentry-Hook-Timestamp': '1' });
      expect(missing.status).to.equal(401);
      expect(comparable(missing)).to.deep.equal(comparable(wrong));
      for (const time of ['soon', '', '1e9', '-5', '99999999999999'])
        expect(await statusOf(ask({ ...signed, 'Sentry-Hook-Timestamp': time })), time).to.equal(401);
      expect(await database.count('events')).to.equal(0);
    });

    it('of UptimeRobot are two: down and up within a second', async () => {
      const body = { monitorID: 5, alertDateTime: 1_767_225_660 };
      expect([await send(sources.uptimerobot, { ...body, alertType: 1 }), await send(sources.uptimerobot, { ...body, alertType: 2 })]).to.deep.equal([
        false,
        false,
      ]);
    });

    it('of AppVeyor are two: a build that failed again', async () => {
      const body = (finished: string) => ({ eventName: 'build_failure', eventData: { buildId: 9, status: 'failed', finished } });
      expect([await send(sources.appveyor, body('8:00')), await send(sources.appveyor, body('9:00'))]).to.deep.equal([false, false]);
      expect(await database.rows('select distinct score from events')).to.deep.equal([{ score: 8 }]);
    });

    it('of Codacy have a signature, or the token of older ones', async () => {
      const body = JSON.stringify({ commit: { data: { uuid: 'abc' }, results: { fixed_count: 1, new_count: 3 } } });
      const url = `${ground.url}/codacy`;
      const withToken = await post(url, { body, query: `?token=${secrets[1]}` });
      expect(withToken.status).to.equal(202);
      expect((await post(url, { body, headers: { 'X-Source-Token': secrets[0] } })).status).to.equal(202);
      const refusals = [
        await post(url, { body }),
        await post(url, { body, query: '?token=wrong' }),
        await post(url, { body, headers: { 'X-Codacy-Signature': 'sha256=' } }),
      ];
      // A wrong signature is not mended by a right token.
      refusals.push(await post(url, { body, query: `?token=${secrets[0]}`, headers: { 'X-Codacy-Signature': `sha256=${'0'.repeat(64)}` } }));
      expect(refusals.map(({ status }) => status)).to.deep.equal([401, 401, 401, 401]);
    });
  });
});
