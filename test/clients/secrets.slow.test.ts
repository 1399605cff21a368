// Both client packages, installed as users do, read secrets of a real service, and go on while it is unavailable.
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { manage, newApplication, putSecret, secretValue, type TestApplication, useService } from '../services/secrets/service.ts';
import { temporaryDirectory } from '../support/guard.ts';
import { describeWith } from '../support/need.ts';
import { eventually } from '../support/wait.ts';
import { type Front, startFront } from './front.ts';
import { clients, type Failure, type Options, type Program } from './packages.ts';
import * as programs from './programs.ts';

const hourMs = 3_600_000;
const problem = { 'Content-Type': 'application/problem+json' };
const html = { 'Content-Type': 'text/html' };
const unavailable = { status: 503, headers: { 'Retry-After': '0' } };

for (const { name, need, install, optionsOf } of clients(programs)) {
  describeWith(need, `${name} reads secrets`, function () {
    this.timeout(300_000);
    const server = useService();
    let front: Front;
    let start: Awaited<ReturnType<typeof install>>;
    let program: Program;
    let application: TestApplication;
    let value: string;

    const open = (options: Options = {}) =>
      program.ask('open', optionsOf({ environment: 'local', url: front.url, key: application.key, ttlMs: 0, ...options }));
    const get = (secret = 'db-password') => program.ask('get', secret);
    const put = (secret: string, item: string) => putSecret(server.url, application.slug, secret, { value: item });
    const failureOf = (answer: unknown): Failure => {
      expect(answer).to.have.property('failed');
      return answer as Failure;
    };

    before(async () => {
      start = await install();
      front = await startFront(server.url);
    });
    after(() => front?.close());
    beforeEach(async () => {
      front.meet('pass');
      application = await newApplication(server.url);
      value = secretValue('a password');
      await put('db-password', value);
      program = start();
      front.takeAsked();
    });
    afterEach(async () => {
      await program.kill();
      // The key of the application, and what it reads, are in no error whatever happened.
      expect(program.errors).not.to.contain(value).and.not.to.contain(application.key);
    });

    it('one, all, by prefix, and the configuration', async () => {
      const [odd, other] = ['smtp/pässword 100%', secretValue('another password')];
      await put(odd, other);
      await manage(server.url, 'POST', `/${application.slug}/configurations`, { environmentSlug: 'local', key: 'Http:Timeout', value: '30' });
      await open();
      expect(await get()).to.equal(value);
      expect(await get(odd)).to.equal(other);
      expect(await program.ask('all', '')).to.deep.equal({ 'db-password': value, [odd]: other });
      expect(await program.ask('all', 'smtp/')).to.deep.equal({ [odd]: other });
      expect(await program.ask('configuration')).to.deep.equal({ 'Http:Timeout': '30' });
    });

    it('all of several pages', async () => {
      // A page ends at 2 MiB.
      const names = Array.from({ length: 34 }, (_, index) => `s${index}`);
      const long = secretValue('a long value').padEnd(64 * 1024, '.');
      for (const secret of names) await put(secret, long);
      await open();
      expect(await program.ask('all', 's')).to.deep.equal(Object.fromEntries(names.map((secret) => [secret, long])));
      expect(front.takeAsked()).to.have.length(2);
    });

    it('from the environment variables, if no options are given', async () => {
      await program.kill();
      program = start({ SIGNALBOX_SECRETS_URL: front.url, SIGNALBOX_APPLICATION_KEY: application.key });
      await program.ask('open', { environment: 'local' });
      expect(await get()).to.equal(value);
    });

    it('once while the value is fresh', async () => {
      await open({ ttlMs: hourMs });
      expect(await get()).to.equal(value);
      await put('db-password', secretValue('a newer password'));
      expect(await get()).to.equal(value);
      expect(front.takeAsked()).to.have.length(1);
    });

    it('with the key that its file has now', async () => {
      const keyFile = join(temporaryDirectory('key'), 'key');
      writeFileSync(keyFile, `${application.key}\n`);
      await open({ key: undefined, keyFile });
      expect(await get()).to.equal(value);
      const rotated = await manage(server.url, 'POST', `/${application.slug}/rotate-key`);
      writeFileSync(keyFile, String(Reflect.get(Object(rotated.body), 'plainApiKey')));
      expect(await get()).to.equal(value);
    });

    it('again after 503, as late as the service asks', async () => {
      await open();
      front.meet({ status: 503, headers: { 'Retry-After': '1' } });
      const answer = get();
      await eventually(() => front.openRequests === 0 && front.takeAsked().length === 1);
      const from = performance.now();
      front.meet('pass');
      expect(await answer).to.equal(value);
      const [second] = front.takeAsked();
      expect((second?.at ?? 0) - from).to.be.above(800);
    });

    for (const [reason, fate] of Object.entries({ '429': { ...unavailable, status: 429 }, 'a lost connection': 'drop', 'no answer in time': 'hang' } as const))
      it(`as often as it may after ${reason}`, async () => {
        await open({ attempts: 2, timeoutMs: 1000 });
        // The first request of a process takes longer.
        await get('none');
        front.takeAsked();
        front.meet(fate);
        expect(failureOf(await get())).to.include({ failed: 'RequestFailed', status: reason === '429' ? 429 : null });
        expect(front.takeAsked()).to.have.length(2);
      });

    for (const status of [401, 403, 404, 500])
      it(`once after ${status}`, async () => {
        await open();
        front.meet({ status, headers: { 'Retry-After': '0' } });
        expect(failureOf(await get())).to.include({ failed: 'RequestFailed', status });
        expect(front.takeAsked()).to.have.length(1);
      });

    it('and says what the service says', async () => {
      await open();
      expect(failureOf(await get('none')).message).to.contain(`GET ${front.url}/api/consumer/secrets/none: 404: Not Found`);
    });

    it('without following a redirect, which could lead the key elsewhere', async () => {
      const elsewhere = await startFront(server.url);
      await open();
      front.meet({ status: 307, headers: { Location: `${elsewhere.url}/api/consumer/secrets/db-password?environment=local` } });
      expect(failureOf(await get())).to.include({ status: 307 });
      expect(elsewhere.takeAsked()).to.deep.equal([]);
      await elsewhere.close();
    });

    describe('while the service is unavailable', () => {
      it('as it last was, after one try and then without waiting', async () => {
        await open();
        await get();
        front.takeAsked();
        front.meet({ status: 503, headers: { 'Retry-After': '30' } });
        expect([await get(), await get(), await get()]).to.deep.equal([value, value, value]);
        expect(front.takeAsked()).to.have.length(1);
      });

      it('as it is again, once the service is back', async () => {
        await open();
        await get();
        front.meet('drop');
        expect(await get()).to.equal(value);
        const newer = secretValue('a newer password');
        await put('db-password', newer);
        front.meet('pass');
        await eventually(async () => expect(await get()).to.equal(newer));
      });

      it('for a bounded time', async () => {
        await open({ staleMs: 500, attempts: 1 });
        await get();
        front.meet(unavailable);
        const answer = await eventually(async () => {
          const found = await get();
          return found !== value && found;
        });
        expect(failureOf(answer)).to.include({ status: 503 });
      });

      it('fails for a secret that was never read', async () => {
        await open({ attempts: 1 });
        await get();
        front.meet(unavailable);
        expect(failureOf(await get('other'))).to.include({ status: 503 });
      });
    });

    for (const [reason, fate] of [
      ['404 of a proxy', { status: 404, headers: html, body: '<html>' }],
      ['403 of a proxy', { status: 403, headers: html, body: '<html>' }],
      ['the page of a login', { status: 302, headers: { Location: 'https://login.example.test/' } }],
      ['a page instead of an answer', { status: 200, headers: html, body: '<html>' }],
      ['the JSON of another server', { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"status":"ok"}' }],
    ] as const)
      it(`as it last was while there is ${reason}`, async () => {
        await open({ attempts: 1 });
        await get();
        front.meet(fate);
        expect(await get()).to.equal(value);
        front.meet(unavailable);
        expect(await get()).to.equal(value);
      });

    it('nothing of another server, which is a failure', async () => {
      await open({ attempts: 1 });
      for (const body of ['{}', 'null', '[]', '{"status":"ok"}']) {
        front.meet({ status: 200, headers: { 'Content-Type': 'application/json' }, body });
        for (const [order, ...names] of [['get', 'db-password'], ['all', ''], ['configuration']] as const)
          expect(failureOf(await program.ask(order, ...names)).message, `${order} ${body}`).to.contain('not one of the secrets service');
      }
    });

    it('nothing that the service has refused since', async () => {
      const other = secretValue('another password');
      await put('other', other);
      await open({ attempts: 1 });
      await get();
      await get('other');
      front.meet({ status: 404, headers: problem });
      expect(failureOf(await get())).to.include({ status: 404 });
      front.meet(unavailable);
      expect(failureOf(await get())).to.include({ status: 503 });
      expect(await get('other')).to.equal(other);
      front.meet({ status: 401, headers: problem });
      await eventually(async () => expect(await get('other')).to.include({ status: 401 }));
      front.meet(unavailable);
      expect(failureOf(await get('other'))).to.include({ status: 503 });
    });

    describe('with a file of the last known values', () => {
      let file: string;
      beforeEach(() => {
        file = join(temporaryDirectory('values'), 'values.json');
      });
      /** As after a restart of the program, while the service is unavailable. */
      async function restart(options: Options = {}): Promise<void> {
        await program.kill();
        front.meet(unavailable);
        program = start();
        await open({ file, attempts: 1, ...options });
      }

      it('over a restart; only its owner can read it', async () => {
        await open({ file });
        await get();
        await program.ask('all', '');
        expect(statSync(file).mode & 0o777).to.equal(0o600);
        await restart();
        expect(await get()).to.equal(value);
        expect(await program.ask('all', 'db-')).to.deep.equal({ 'db-password': value });
      });

      it('of this environment and service alone', async () => {
        await open({ file });
        await get();
        await restart({ environment: 'production' });
        expect(failureOf(await get())).to.include({ status: 503 });
      });

      it('nothing of one that others can read', async () => {
        await open({ file });
        await get();
        chmodSync(file, 0o644);
        await program.kill();
        program = start();
        const opened = await open({ file });
        expect(failureOf(opened ?? (await get())).message).to.contain(`${file} can be read by others`);
      });

      it('nothing of one that is broken', async () => {
        writeFileSync(file, `{"source": "${value}`, { mode: 0o600 });
        await open({ file });
        expect(await get()).to.equal(value);
        expect(JSON.parse(readFileSync(file, 'utf8'))).to.have.nested.property('entries.secret db-password.value', value);
      });

      it('even if it cannot be written', async () => {
        await open({ file: join(file, 'none/values.json') });
        expect(await get()).to.equal(value);
        await eventually(() => program.errors.includes('the file of the last known values was not written'));
      });
    });

    it('and shows neither the key nor a value in what it prints', async () => {
      await open();
      await get();
      expect(await program.ask('inspect'))
        .not.to.contain(value)
        .and.not.to.contain(application.key);
      front.meet({ status: 200, headers: { 'Content-Type': 'application/json' }, body: `{"name": "db-password", "value": "${value}" oh` });
      const broken = failureOf(await get('never read before'));
      expect(broken.message).to.contain('the answer is not JSON').and.not.to.contain(value).and.not.to.contain(application.key);
    });

    it('and refuses keys and addresses that cannot be sent, without showing them', async () => {
      await open({ key: `${application.key}\nX-Other: 1` });
      expect(failureOf(await get()).message)
        .to.contain('no header can hold')
        .and.not.to.contain(application.key);
      await open({ key: '' });
      expect(failureOf(await get()).message).to.contain('key is empty');
      expect(failureOf(await open({ url: `http://me:${application.key}@127.0.0.1` })).message)
        .to.contain('url must be an http or https address without a user')
        .and.not.to.contain(application.key);
      for (const url of ['secrets', 'http://127.0.0.1:99999', 'http://127.0.0.1:x', 'http://[127.0.0.1'])
        expect(failureOf(await open({ url })).message, url).to.contain('url must be');
      expect(failureOf(await open({ key: undefined })).message).to.contain('key is missing: give it, or set SIGNALBOX_APPLICATION_KEY or');
      expect(failureOf(await open({ url: undefined })).message).to.contain('url is missing: give it, or set SIGNALBOX_SECRETS_URL');
      expect(failureOf(await open({ keyFile: 'key' })).message).to.contain('give key or the file that holds it, and not both');
      expect(failureOf(await open({ environment: '' })).message).to.contain('environment must be');
      expect(front.takeAsked()).to.deep.equal([]);
    });
  });
}
