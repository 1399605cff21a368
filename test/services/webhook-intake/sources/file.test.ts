// Direct sources that a file declares: what may stand in it, and deliveries to them over HTTP with a real database.
import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../../../services/platform/config/config.ts';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { signStandard } from '../../../../services/platform/http/standard-webhooks.ts';
import { readServiceConfig } from '../../../../services/webhook-intake/config.ts';
import { readSourcesFile } from '../../../../services/webhook-intake/sources/file.ts';
import { temporaryDirectory } from '../../../support/guard.ts';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import { type Ground, post, type Reply, startIntake } from './ground.ts';

const secret = 'a-secret-of-the-sender';
const now = 1_767_225_600;
const file = join(temporaryDirectory('sources-file'), 'sources.yaml');

async function read(text: string, environment: Readonly<Record<string, string>> = { SECRETS: secret }) {
  await writeFile(file, text);
  return readSourcesFile(file, environment, ['sentry', 'signalbox']);
}
async function faultsOf(text: string, environment?: Readonly<Record<string, string>>): Promise<readonly string[]> {
  try {
    await read(text, environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map((fault) => fault.replace(`Sources__File (${file}): `, ''));
    throw error;
  }
  return [];
}
const source = (members: string) => `sources: [{ name: shop, secretsFrom: SECRETS, ${members} }]`;

describe('the file of sources', () => {
  it('names each place that cannot be used, what was expected there and what came', async () => {
    const cases: readonly (readonly [text: string, ...faults: readonly string[]])[] = [
      ['', 'the file must be a map, not null'],
      ['- 1', 'the file must be a map, not [1]'],
      ['sources: shop', 'sources must be a list, not "shop"'],
      ['sources: [{}]', 'sources[0].name is required', 'sources[0].verification is required'],
      [
        source('verification: { by: hmca }'),
        'sources[0].verification.by must be a map whose member by is one of hmac, standard-webhooks, token, basic, not "hmca"',
      ],
      [
        source('verification: { by: hmac, header: X-Sign, algorithm: md5 }'),
        'sources[0].verification.algorithm must be one of sha1, sha256, sha512, not "md5"',
      ],
      [source('verification: { by: hmac, header: X Sign }'), 'sources[0].verification.header must be the name of a header, not "X Sign"'],
      [
        source('verification: { by: hmac, header: X-Sign, signed: "{time}" }'),
        'sources[0].verification.signed must have {body} once',
        'sources[0].verification.time is required where signed has {time}',
      ],
      [source('verification: { by: hmac, header: X-Sign, signed: "{time}.{body}" }'), 'sources[0].verification.time is required where signed has {time}'],
      [
        source('verification: { by: hmac, header: X-Sign, signed: "{bodies}{body}" }'),
        'sources[0].verification.signed must be text with {body}, {time} and {header:NAME}, not "{bodies}{body}"',
      ],
      [source('verification: { by: token, key: x }'), 'sources[0].verification has members that are not known: key'],
      [
        source('verification: { by: token }, event: type'),
        'sources[0].event must be a JSON pointer such as /data/id, or a map of header or value, or a list of them, not "type"',
      ],
      [
        source('verification: { by: token }, key: { header: Authorization }'),
        'sources[0].key must be a JSON pointer such as /data/id, or a map of header or value, or a list of them, not {"header":"Authorization"}',
      ],
      [source('verification: { by: token }, evnet: /type'), 'sources[0] has members that are not known: evnet'],
      [
        'sources: [{ name: Shop, secretsFrom: SECRETS, verification: { by: token } }]',
        'sources[0].name must be a name of up to 40 small letters, digits and -, with a letter first, not "Shop"',
      ],
    ];
    for (const [text, ...faults] of cases) expect(await faultsOf(text), text).to.deep.equal(faults);
  });

  it('is refused when it is no YAML or is not there, by name', async () => {
    expect(await faultsOf('sources: [')).to.have.length(1);
    expect((await faultsOf('sources: ['))[0]).to.match(/is not YAML at line \d/);
    const missing = { DATABASE_URL: 'postgres://host/db', Intake__AccessTokens: 'a-token-of-some-length', Sources__File: '/not/there.yaml' };
    const error: unknown = await readServiceConfig(missing).catch((failure: unknown) => failure);
    expect(String(error)).to.include('Sources__File (/not/there.yaml): cannot be read (ENOENT)');
  });

  it('may not name a source that is built in, a path of the service, or one source twice', async () => {
    const named = (...names: readonly string[]) =>
      `sources: [${names.map((name) => `{ name: ${name}, secretsFrom: SECRETS, verification: { by: token } }`).join(', ')}]`;
    for (const name of ['sentry', 'signalbox', 'api', 'health', 'swagger'])
      expect(await faultsOf(named(name)), name).to.deep.equal([`sources[0].name must not be that of a source that is built in, or reserved, not "${name}"`]);
    expect(await faultsOf(named('shop', 'shop'))).to.deep.equal(['sources[1].name must be that of one source only, not "shop"']);
  });

  it('names environment variables with secrets, or has secrets of its own, and never both', async () => {
    const both = 'sources[0] must have secretsFrom, the name of an environment variable, or else secrets, a list';
    expect(await faultsOf('sources: [{ name: shop, verification: { by: token } }]')).to.deep.equal([both]);
    expect(await faultsOf(source('secrets: [x], verification: { by: token }'))).to.deep.equal([both]);
    const [own] = await read(`sources: [{ name: shop, secrets: [${secret}, another-secret-of-it], verification: { by: token } }]`, {});
    expect(own?.secrets.map((one) => one.reveal())).to.deep.equal([secret, 'another-secret-of-it']);
    const [named] = await read(source('verification: { by: token }'), { SECRETS: `${secret},another-secret-of-it` });
    expect(named?.secrets).to.have.length(2);
  });

  it('never shows a secret in a fault, and refuses one that can be guessed', async () => {
    expect(await faultsOf(source('verification: { by: token }'), {})).to.deep.equal(['sources[0].secretsFrom names SECRETS, which is required and not set']);
    expect(await faultsOf(source('verification: { by: token }'), { SECRETS: 'guess' })).to.deep.equal([
      'sources[0].secretsFrom names SECRETS, which must have at least 16 characters in each value',
    ]);
    expect(await faultsOf(`sources: [{ name: shop, secrets: [guess], verification: { by: token } }]`)).to.deep.equal([
      'sources[0].secrets must have at least 16 characters in each value',
    ]);
    expect(await faultsOf(source('verification: { by: basic }'))).to.deep.equal(['sources[0].secretsFrom must have user:password in each value']);
    expect(await faultsOf(source('verification: { by: standard-webhooks }'), { SECRETS: 'whsec_not base64 at all' })).to.deep.equal([
      'sources[0].secretsFrom names SECRETS, which must have base64 of at least 12 bytes after whsec_; not so entry 1',
    ]);
  });

  it('adds its sources to those that are built in', async () => {
    await writeFile(file, source('verification: { by: token }'));
    const environment = { DATABASE_URL: 'postgres://host/db', Intake__AccessTokens: 'a-token-of-some-length', SECRETS: secret, Sources__File: file };
    const config = await readServiceConfig({ ...environment, Sources__SentrySecrets: 'a-secret-of-sentry', Events__Secret: 'a-secret-of-our-own' });
    expect(config.sources.map(({ source: { name } }) => name)).to.deep.equal(['sentry', 'signalbox', 'shop']);
  });
});

describe('sources of a file', () => {
  let database: IntakeDatabase;
  let ground: Ground;
  const hmac = (
    content: string,
    { algorithm = 'sha256', encoding = 'hex', key = secret }: { algorithm?: string; encoding?: 'hex' | 'base64'; key?: string } = {},
  ) => createHmac(algorithm, key).update(content).digest(encoding);
  const send = (name: string, body: string, headers: Readonly<Record<string, string>>, query = '') => post(`${ground.url}/${name}`, { body, headers, query });
  const duplicateOf = ({ status, text }: Reply): unknown => (status === 202 ? Object(JSON.parse(text)).duplicate : status);
  const stored = () =>
    database.rows<{ event: string; action: string; repository: string; key: string; score: number; headers: object }>(
      'select event, action, repository, delivery_id as key, score, headers from events order by stored_at, id',
    );

  before(async () => {
    database = await createIntakeDatabase();
    const sources = await read(
      `
sources:
  - name: shop
    label: The shop
    secretsFrom: SECRETS
    verification:
      by: hmac
      header: Shop-Signature
      prefix: v1=
      separator: ','
      signed: '{time}.{body}'
      time: { header: Shop-Signature, prefix: t= }
    event: /type
    action: /data/object/status
    repository: /data/object/repository
    key: /id
    title: [/type, /data/object/name]
    text: /data/lines/0/text
    url: /data/object/url
    failure: { at: /data/object/status, is: [FAILED, lost] }
  - name: chat
    secretsFrom: SECRETS
    verification:
      by: hmac
      header: X-Chat-Signature
      algorithm: sha512
      encoding: base64
      signed: 'v0:{header:X-Chat-Id}:{time}:{body}'
      time: { header: X-Chat-Time, toleranceSeconds: 60 }
    event: { header: X-Chat-Event }
    key: { header: X-Chat-Id }
  - name: unsigned-key
    secretsFrom: SECRETS
    verification: { by: hmac, header: X-Sign }
    event: { value: build }
    key: [{ header: X-Id }, /a~1b/~0c/1]
  - name: standard
    secretsFrom: SECRETS
    verification: { by: standard-webhooks }
    event: /type
  - name: lists
    secretsFrom: SECRETS
    verification: { by: token }
    event: /0/kind
    failure: { at: /0/ok, is: ['false'] }
  - name: lab
    secretsFrom: SECRETS
    verification: { by: token, header: X-Lab-Token }
    takesForms: true
    event: [{ header: X-Lab-Event }, /kind]
  - name: bearer
    secretsFrom: SECRETS
    verification: { by: token, header: Authorization, prefix: 'Bearer ', inQuery: true }
  - name: basic
    secretsFrom: BASIC
    verification: { by: basic }
  - name: asks-first
    secretsFrom: SECRETS
    verification: { by: hmac, header: X-Sign, encoding: base64url }
    handshake: { at: { query: hub.challenge } }
  - name: asks-in-body
    secretsFrom: SECRETS
    verification: { by: token, inQuery: true }
    takesForms: true
    takesText: true
    handshake: { at: /challenge, member: challenge }
    event: /payload/kind
    title: /payload/items/1/name
`,
      { SECRETS: secret, BASIC: 'station:a long pass:word' },
    );
    ground = await startIntake(database.pool, [], { sources, clock: () => new Date(now * 1000) });
  });
  after(async () => {
    await ground.close();
    await database.close();
  });
  afterEach(() => database.empty());

  it('verify a timestamped HMAC whose time and signatures share a header, and read members by pointers', async () => {
    const body = JSON.stringify({
      id: 'evt_1',
      type: 'order.lost',
      data: { object: { status: 'lost', name: 'Lamp', repository: 'me/mine' }, lines: [{ text: 'x' }] },
    });
    const signed = (time: number, key = secret) => `t=${time},v1=${'0'.repeat(64)},v1=${hmac(`${time}.${body}`, { key })},v0=abc`;
    const first = await send('shop', body, { 'Shop-Signature': signed(now - 200) });
    expect([first.status, duplicateOf(first), duplicateOf(await send('shop', body, { 'Shop-Signature': signed(now) }))]).to.deep.equal([202, false, true]);
    expect(await stored()).to.deep.equal([
      {
        event: 'order.lost',
        action: 'lost',
        repository: 'me/mine',
        key: 'evt_1',
        score: 8,
        headers: { 'Content-Type': 'application/json', 'User-Agent': 'node' },
      },
    ]);
    for (const wrong of [
      '',
      signed(now, 'another-secret-at-all'),
      signed(now).replace(`t=${now}`, `t=${now - 1}`),
      `v1=${hmac(`${now}.${body}`)}`,
      `t=,v1=${hmac(`.${body}`)}`,
      hmac(`${now}.${body}`),
    ])
      expect((await send('shop', body, { 'Shop-Signature': wrong })).status, wrong).to.equal(401);
    for (const late of [now - 301, now + 301]) {
      const { status, text } = await send('shop', body, { 'Shop-Signature': signed(late) });
      expect([status, text.includes('clocks')]).to.deep.equal([401, true]);
    }
  });

  it('verify an HMAC over a header, a time in any usual form and the body, in base64', async () => {
    const times = [String(now), String(now * 1000), new Date(now * 1000).toISOString()];
    for (const [index, time] of times.entries()) {
      const signature = hmac(`v0:m-${index}:${time}:{}`, { algorithm: 'sha512', encoding: 'base64' });
      const headers = { 'X-Chat-Signature': signature, 'X-Chat-Time': time, 'X-Chat-Id': `m-${index}`, 'X-Chat-Event': 'said' };
      expect(duplicateOf(await send('chat', '{}', headers)), time).to.equal(false);
      expect((await send('chat', '{}', { ...headers, 'X-Chat-Id': 'm-9' })).status).to.equal(401);
    }
    expect((await stored()).map(({ event, key }) => [event, key])).to.deep.equal([0, 1, 2].map((index) => ['said', `m-${index}`]));
    const old = hmac(`v0:m:${now - 61}:{}`, { algorithm: 'sha512', encoding: 'base64' });
    expect((await send('chat', '{}', { 'X-Chat-Signature': old, 'X-Chat-Time': String(now - 61), 'X-Chat-Id': 'm' })).status).to.equal(401);
  });

  it('take the same body under another unsigned key for a duplicate, and escape pointers as RFC 6901 has it', async () => {
    const body = '{"a/b":{"~c":["x","y"]}}';
    const headers = { 'X-Sign': hmac(body) };
    expect(duplicateOf(await send('unsigned-key', body, { ...headers, 'X-Id': '1' }))).to.equal(false);
    expect(duplicateOf(await send('unsigned-key', body, { ...headers, 'X-Id': '2' }))).to.equal(true);
    expect((await stored()).map(({ event, key }) => [event, key])).to.deep.equal([['build', '1 y']]);
  });

  it('verify Standard Webhooks as our own signer makes them, with the id as key', async () => {
    const body = '{"type":"lamp.lit"}';
    const signed = (id: string, timestamp = now) => signStandard([new Secret('unknown to us'), new Secret(secret)], { id, timestamp, body });
    expect(duplicateOf(await send('standard', body, signed('msg_1')))).to.equal(false);
    expect(duplicateOf(await send('standard', body, signed('msg_1', now + 5)))).to.equal(true);
    expect(duplicateOf(await send('standard', body, signed('msg_2')))).to.equal(false);
    expect((await send('standard', body, signed('msg_3', now - 301))).status).to.equal(401);
    expect((await send('standard', `${body} `, signed('msg_3'))).status).to.equal(401);
    expect((await send('standard', body, {})).status).to.equal(401);
    expect((await stored()).map(({ event, key }) => [event, key])).to.deep.equal([
      ['lamp.lit', 'msg_1'],
      ['lamp.lit', 'msg_2'],
    ]);
  });

  it('verify the same under the header names of Svix, with its id as key', async () => {
    const body = '{"type":"lamp.lit"}';
    const signed = (id: string, timestamp = now) =>
      Object.fromEntries(
        Object.entries(signStandard([new Secret(secret)], { id, timestamp, body })).map(([name, value]) => [name.replace('webhook-', 'svix-'), value]),
      );
    expect(duplicateOf(await send('standard', body, signed('msg_1')))).to.equal(false);
    expect(duplicateOf(await send('standard', body, signed('msg_1', now + 5)))).to.equal(true);
    expect(duplicateOf(await send('standard', body, signed('msg_2')))).to.equal(false);
    expect((await send('standard', body, { ...signed('msg_3'), 'webhook-id': 'msg_4' })).status).to.equal(401);
    expect((await send('standard', body, signed('msg_3', now - 301))).status).to.equal(401);
    expect((await stored()).map(({ key }) => key)).to.deep.equal(['msg_1', 'msg_2']);
  });

  it('take a list of events as one delivery, and read its elements', async () => {
    const body = '[{"kind":"opened"},{"kind":"bounced"}]';
    expect(duplicateOf(await send('lists', body, { 'X-Source-Token': secret }))).to.equal(false);
    expect(duplicateOf(await send('lists', body, { 'X-Source-Token': secret }))).to.equal(true);
    expect((await stored()).map(({ event }) => event)).to.deep.equal(['opened']);
  });

  it('tell a failure by a member that is true or false', async () => {
    for (const ok of [true, false]) await send('lists', JSON.stringify([{ kind: 'build', ok }]), { 'X-Source-Token': secret });
    expect((await stored()).map(({ score }) => score)).to.deep.equal([4, 8]);
  });

  it('say in a refusal which setting has the secrets', async () => {
    expect((await send('lists', '[]', {})).text).to.include('X-Source-Token: <secret of Sources__File>');
    expect((await send('standard', '{}', {})).text).to.include('webhook-signature: <signature by a secret of Sources__File>');
  });

  it('check a token in a header, take forms if they say so, and know a delivery without a key by its bytes', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    expect(duplicateOf(await send('lab', '{"kind":"push"}', { 'X-Lab-Token': secret }))).to.equal(false);
    expect(duplicateOf(await send('lab', '{"kind":"push"}', { 'X-Lab-Token': secret }))).to.equal(true);
    expect(duplicateOf(await send('lab', 'kind=tag', { 'X-Lab-Token': secret, ...form }))).to.equal(false);
    expect(duplicateOf(await send('lab', '{}', { 'X-Lab-Token': secret, 'X-Lab-Event': 'hook' }))).to.equal(false);
    for (const [headers, query] of [
      [{ 'X-Lab-Token': 'wrong' }, ''],
      [{}, ''],
      [{}, `?token=${secret}`],
      [{ 'X-Source-Token': secret }, ''],
    ] as const)
      expect((await send('lab', '{}', headers, query)).status).to.equal(401);
    expect((await stored()).map(({ event }) => event)).to.deep.equal(['push', 'tag', 'hook']);
    expect(JSON.stringify(await stored())).not.to.include(secret);
    expect((await send('bearer', 'kind=tag', { Authorization: `Bearer ${secret}`, ...form })).status).to.equal(415);
  });

  it('check a token behind its scheme or in the query, and user and password', async () => {
    for (const authorization of [`Bearer ${secret}`, `bearer ${secret}`])
      expect((await send('bearer', '{}', { Authorization: authorization })).status).to.equal(202);
    expect((await send('bearer', '{}', {}, `?token=${secret}`)).status).to.equal(202);
    for (const authorization of [secret, `Basic ${secret}`, 'Bearer', `Bearer ${secret}x`])
      expect((await send('bearer', '{}', { Authorization: authorization })).status, authorization).to.equal(401);
    expect((await send('bearer', '{}', { Authorization: `Bearer ${secret}` }, `?token=${secret}`)).status).to.equal(401);
    const basic = (text: string) => ({ Authorization: `Basic ${Buffer.from(text).toString('base64')}` });
    expect((await send('basic', '{}', basic('station:a long pass:word'))).status).to.equal(202);
    for (const wrong of ['station:wrong', 'station', ':a long pass:word', '']) expect((await send('basic', '{}', basic(wrong))).status, wrong).to.equal(401);
    const { status, headers } = await send('basic', '{}', {});
    expect([status, headers['www-authenticate']]).to.deep.equal([401, 'Basic realm="signalbox"']);
  });

  it('are refused as the built-in ones are: other types, methods, bodies that are no object', async () => {
    const token = { 'X-Lab-Token': secret };
    expect((await send('lab', 'x', { ...token, 'Content-Type': 'text/plain' })).status).to.equal(415);
    for (const body of ['', '{', 'null', '7']) expect((await send('lab', body, token)).status, body).to.equal(400);
    expect((await send('lab', `{"x":"${'x'.repeat(1_048_576)}"}`, token)).status).to.equal(413);
    expect((await post(`${ground.url}/lab`, { body: '', method: 'GET', headers: token })).status).to.equal(405);
    expect(await stored()).to.deep.equal([]);
  });

  it('answer a sender that asks before it delivers', async () => {
    const ask = (path: string, method: 'GET' | 'HEAD') => post(`${ground.url}/${path}`, { body: '', method });
    const answered = ({ status, text, headers }: Reply) => [status, text, headers['content-type']?.split(';')[0]];
    expect(answered(await ask('asks-first?hub.mode=subscribe&hub.challenge=%3Cb%3E7', 'GET'))).to.deep.equal([200, '<b>7', 'text/plain']);
    const { status, headers } = await ask('asks-first', 'HEAD');
    expect([status, headers['x-content-type-options']]).to.deep.equal([200, 'nosniff']);
    expect((await ask('asks-in-body', 'GET')).status).to.equal(401);
    expect((await ask(`asks-in-body?token=${secret}`, 'HEAD')).status).to.equal(200);
    const question = '{"challenge":"7","kind":"verification"}';
    expect((await send('asks-in-body', question, {})).status).to.equal(401);
    expect(answered(await send('asks-in-body', question, {}, `?token=${secret}`))).to.deep.equal([200, '{"challenge":"7"}', 'application/json']);
    expect(await stored()).to.deep.equal([]);
  });

  it('read JSON that a text holds, as in a form, and JSON that comes as text', async () => {
    const inner = JSON.stringify({ kind: 'clicked', items: [{}, { name: 'Lamp' }] });
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    await send('asks-in-body', `payload=${encodeURIComponent(inner)}`, form, `?token=${secret}`);
    await send('asks-in-body', JSON.stringify({ payload: inner }), { 'Content-Type': 'text/plain; charset=UTF-8' }, `?token=${secret}`);
    await send('asks-in-body', JSON.stringify({ payload: '{"kind":' }), {}, `?token=${secret}`);
    expect((await stored()).map(({ event }) => event)).to.deep.equal(['clicked', 'clicked', 'unknown']);
  });

  it('verify an HMAC in base64url', async () => {
    const signature = createHmac('sha256', secret).update('{"a":11}').digest('base64url');
    expect(signature).to.match(/[_-]/);
    for (const padding of ['', '=']) expect((await send('asks-first', '{"a":11}', { 'X-Sign': `${signature}${padding}` })).status).to.equal(202);
    expect((await send('asks-first', '{}', { 'X-Sign': signature })).status).to.equal(401);
  });

  it('are in the API description of the service', () => {
    for (const name of ['shop', 'chat', 'unsigned-key', 'standard', 'lab', 'bearer', 'basic'])
      expect(ground.openapi).to.have.nested.property(`paths./${name}.post`);
  });
});
