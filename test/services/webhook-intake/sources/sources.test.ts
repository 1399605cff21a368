// Each direct source: what is stored of a good delivery, and that nothing is of any other.
import { expect } from 'chai';
import { z } from 'zod';
import { createIntakeDatabase, type IntakeDatabase } from '../intake-database.ts';
import type { Source } from '../../../../services/webhook-intake/sources/source.ts';
import * as sources from '../../../../services/webhook-intake/sources/sources.ts';
import { comparable, credential, type Ground, post, secrets, startIntake } from './ground.ts';
import { samples } from './samples.ts';

/** The time of the samples. */
const sentAt = 1_767_225_600_000;

const Answer = z.strictObject({ id: z.uuid(), duplicate: z.boolean() });
const answerOf = ({ status, text }: { status: number; text: string }) => ({ status, ...Answer.parse(JSON.parse(text)) });

describe('direct sources', () => {
  let database: IntakeDatabase;
  let ground: Ground;

  before(async () => {
    database = await createIntakeDatabase();
    ground = await startIntake(database.pool, Object.values(sources), { clock: () => new Date(sentAt) });
  });
  after(async () => {
    await ground.close();
    await database.close();
  });
  afterEach(() => database.empty());

  it('are ten, and each has a sample', () => {
    const names = ['deepsource', 'sonarcloud', 'snyk', 'sentry', 'vercel', 'codacy', 'appveyor', 'dockerhub', 'healthchecks', 'uptimerobot'];
    expect(samples.map(({ source }) => source.name)).to.deep.equal(names);
    expect(Object.values(sources).map(({ name }) => name)).to.have.members(names);
  });

  const { deepsource, sentry, snyk, vercel, appveyor, uptimerobot } = sources;
  const others: readonly (readonly [source: Source, body: object, title: string, isFailure: boolean, resource?: string])[] = [
    [
      deepsource,
      { type: 'analysis_run.updated', data: { object: { status: 'TIMEOUT', repository: { name: 'signals' } } } },
      'analysis_run.updated signals',
      true,
    ],
    [sentry, { action: 'created', data: { comment: 'Which lamp?' } }, 'Which lamp?', false, 'comment'],
    [sentry, { action: 'created', data: { installation: { app: { slug: 'lamps' } } } }, 'lamps', false, 'installation'],
    [sentry, { action: 'triggered', data: { issue: { title: 'TypeError' } } }, 'TypeError', true, 'activity_alert'],
    [sentry, { action: 'root_cause_started', data: {} }, 'seer', false, 'seer'],
    [vercel, { type: 'firewall.attack', payload: {} }, 'firewall.attack', true],
    [vercel, { type: 'alerts.triggered', payload: {} }, 'alerts.triggered', true],
    [vercel, { type: 'domain.renewal-failed', payload: {} }, 'domain.renewal-failed', true],
    [vercel, { type: 'project.renamed', payload: { project: { name: 'signals' } } }, 'project.renamed', false],
    [snyk, { event: {} }, 'platform_event/v0', false, 'platform_event/v0'],
    [appveyor, { eventName: 'deployment_failure', eventData: { projectName: 'signals' } }, 'signals deployment_failure', true],
    [uptimerobot, { monitorFriendlyName: 'Signals', alertType: '3' }, 'Signals has a certificate that expires soon', true],
    [uptimerobot, { monitorFriendlyName: 'Signals', alertType: 4, alertTypeFriendlyName: 'Domain expiry' }, 'Signals has an alert: Domain expiry', true],
  ];
  for (const [source, payload, title, isFailure, resource] of others) {
    it(`of ${source.vendor} tell also: ${title}`, () => {
      const header = () => resource;
      expect(source.notice(payload, header).title).to.match(new RegExp(`${title.replace('?', '\\?')}$`));
      expect(source.read({ payload, header }).isFailure).to.equal(isFailure);
    });
  }

  for (const { source, body, headers = {}, notice, ...expected } of samples) {
    const text = JSON.stringify(body);
    const url = () => `${ground.url}/${source.name}`;
    const send = (secret: string, sent = text) => post(url(), { body: sent, headers: { ...headers, ...credential(source, secret, sent, sentAt) } });

    describe(`POST /${source.name}`, () => {
      it('stores a good delivery with its payload, and answers 202 with its id', async () => {
        const { status, id, duplicate } = answerOf(await send(secrets[0]));
        expect([status, duplicate]).to.deep.equal([202, false]);
        const rows = await database.rows(
          `select e.id, source, event, action, repository, number, sender, sender_class, delivery_id as "deliveryId", hook_id, target_id, score,
             is_core_function, bytes, headers, body
           from events e join event_payloads p on p.event_id = e.id and p.received_at = e.received_at`,
        );
        expect(rows).to.deep.equal([
          {
            id,
            source: source.name,
            action: null,
            repository: null,
            ...expected,
            number: null,
            sender: null,
            sender_class: null,
            hook_id: '0',
            target_id: '0',
            is_core_function: false,
            bytes: Buffer.byteLength(text),
            headers: { 'Content-Type': 'application/json', 'User-Agent': 'node', ...headers },
            body: Buffer.from(text),
          },
        ]);
      });

      it('takes every secret of the list', async () => {
        expect((await send(secrets[1])).status).to.equal(202);
      });

      it('tells what happened in a notification', () => {
        expect(source.notice(body, () => undefined)).to.deep.equal(notice);
      });

      it('answers a missing and a wrong credential byte for byte the same with 401, and stores nothing', async () => {
        const without = await post(url(), { body: text, headers });
        const wrong = await send('another-secret');
        expect(without.status).to.equal(401);
        expect(without.headers['www-authenticate']).to.be.a('string');
        expect(comparable(wrong)).to.deep.equal(comparable(without));
        if (source.verification.by === 'signature') {
          const ofAnother = { ...headers, ...credential(source, secrets[0], text) };
          expect(comparable(await post(url(), { body: `${text} `, headers: ofAnother }))).to.deep.equal(comparable(without));
        }
        expect(await database.count('events')).to.equal(0);
        expect(await database.count('delivery_keys')).to.equal(0);
      });

      it('answers the same delivery again with 202, the id of the first and duplicate true, and stores nothing more', async () => {
        const first = answerOf(await send(secrets[0]));
        const again = answerOf(await send(secrets[1]));
        expect(again).to.deep.equal({ status: 202, id: first.id, duplicate: true });
        expect([await database.count('events'), await database.count('event_payloads')]).to.deep.equal([1, 1]);
        const buckets = await database.rows('select source, event, received, duplicates from statistics_buckets');
        expect(buckets).to.deep.equal([{ source: source.name, event: expected.event, received: 1, duplicates: 1 }]);
      });

      it('stores one of many that come at once, and answers all with its id', async () => {
        const answers = (await Promise.all(Array.from({ length: 12 }, () => send(secrets[0])))).map(answerOf);
        expect(new Set(answers.map(({ id }) => id)).size).to.equal(1);
        expect(answers.filter(({ duplicate }) => !duplicate)).to.have.length(1);
        expect(await database.count('events')).to.equal(1);
      });

      it('answers 400 to a body that is no JSON object, and stores nothing', async () => {
        for (const malformed of ['', '{', `${text}}`, '[]', 'null', '"text"', `\ufeff${text}`]) {
          const { status, headers: answered } = await send(secrets[0], malformed);
          expect([status, answered['content-type']?.split(';')[0]], malformed).to.deep.equal([400, 'application/problem+json']);
        }
        expect(await database.count('events')).to.equal(0);
      });

      it('stores an object without any of the members it reads, known by its bytes', async () => {
        const sendBare = (bare: string) => post(url(), { body: bare, headers: credential(source, secrets[0], bare, sentAt) });
        const answers = [answerOf(await sendBare('{}')), answerOf(await sendBare('{}')), answerOf(await sendBare('{ }'))];
        expect(answers.map(({ duplicate }) => duplicate)).to.deep.equal([false, true, false]);
        expect(source.notice({}, () => undefined).title).to.match(/\w/);
      });
    });
  }
});
