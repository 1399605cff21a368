import { expect } from 'chai';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { listen } from '../../../services/platform/http/server.ts';
import {
  type ClientOptions,
  createConsumerClient,
  createManagementClient,
  InvalidAddress,
  InvalidCredential,
  InvalidName,
  NoAnswer,
  Refusal,
} from '../../../services/secrets/client.ts';
import { freePort } from '../../support/wait.ts';
import { adminToken, secretValue, useService } from './service.ts';

const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => Promise.reject(new Error('it did not fail')),
    (error: unknown) => error,
  );

describe('the client of the secrets service', () => {
  const running = useService();
  const management = () => createManagementClient({ baseUrl: running.url, credential: adminToken });
  const consumer = (credential: string) => createConsumerClient({ baseUrl: `${running.url}/`, credential });
  let count = 0;
  const newApplication = () => management().createApplication({ name: `client ${++count}` });

  it('creates, reads, updates, lists and deletes applications', async () => {
    const made = await management().createApplication({ name: 'Mill House', description: 'grinds' });
    expect(made).to.deep.include({ name: 'Mill House', slug: 'mill-house', description: 'grinds' });
    expect(made.createdAt).to.be.instanceOf(Date);
    const changed = await management().updateApplication('mill-house', { name: 'Mill' });
    expect(changed).to.deep.include({ name: 'Mill', description: null });
    expect(await management().application('mill-house')).to.deep.equal(changed);
    expect(await management().applications()).to.deep.include(changed);
    await management().deleteApplication('mill-house');
    const gone = await failureOf(management().application('mill-house'));
    expect(gone).to.be.instanceOf(Refusal).with.property('status', 404);
  });

  it('rotates a key', async () => {
    const { slug, plainApiKey } = await newApplication();
    const rotated = await management().rotateKey(slug);
    expect(await consumer(rotated.plainApiKey).configurations('local')).to.deep.equal([]);
    expect(await failureOf(consumer(plainApiKey).configurations('local'))).to.have.property('status', 401);
  });

  it('creates, lists and deletes environments', async () => {
    const { slug } = await newApplication();
    const staging = await management().createEnvironment(slug, { name: 'Staging' });
    expect((await management().environments(slug)).map((environment) => environment.slug)).to.have.members(['local', 'staging']);
    await management().deleteEnvironment(slug, staging.slug);
    expect(await management().environments(slug)).to.have.length(1);
  });

  it('sets secrets and reads them with the key of the application', async () => {
    const { slug, plainApiKey } = await newApplication();
    const made = await management().createSecret(slug, { name: 'token' });
    expect(made.requiredEnvironments).to.deep.equal([{ slug: 'local', name: 'Local', valueProvided: false }]);
    const notBefore = '2020-01-01T00:00:00.000Z';
    const [one, two] = [secretValue('one'), secretValue('two')];
    await management().setValues(slug, 'token', [{ environmentSlug: 'local', value: one }, { environmentSlug: 'local', value: two, notBefore }]); // prettier-ignore
    const [second, first] = await management().versions(slug, 'token', 'local');
    expect([first?.version, second?.version]).to.deep.equal([1, 2]);
    const read = await consumer(plainApiKey).secret('token', 'local');
    expect(read).to.deep.equal({
      name: 'token',
      value: two,
      properties: { enabled: true, expiresOn: null, notBefore: new Date(notBefore), version: 2, createdOn: second?.createdAt, updatedOn: null },
    });
    expect(await management().secret(slug, 'token')).to.deep.equal((await management().secrets(slug))[0]);
    await management().deleteSecret(slug, 'token');
    expect(await management().secrets(slug)).to.deep.equal([]);
  });

  it('keeps configuration', async () => {
    const { slug, plainApiKey } = await newApplication();
    const place = { environmentSlug: 'local', key: 'a:b' };
    await management().createConfiguration(slug, { ...place, value: '1', description: 'one' });
    expect(await management().updateConfiguration(slug, { ...place, value: '2' })).to.deep.include({ ...place, value: '2', description: 'one' });
    expect(await management().configurations(slug)).to.have.length(1);
    expect(await consumer(plainApiKey).configurations('local')).to.deep.equal([{ key: 'a:b', value: '2', label: 'local' }]);
    expect(await consumer(plainApiKey).configuration('a:b', 'local')).to.deep.equal({ key: 'a:b', value: '2', label: 'local' });
    await management().deleteConfiguration(slug, place);
    expect(await management().configurations(slug)).to.deep.equal([]);
  });

  for (const name of ['a/b', 'a b', '50%', '%2F', 'a?b#c', 'größe 🔑', '...', 'a\\b', '+']) {
    it(`reaches a secret named '${name}'`, async () => {
      const { slug, plainApiKey } = await newApplication();
      await management().createSecret(slug, { name });
      const value = secretValue(`the value of ${name}`);
      await management().setValues(slug, name, [{ environmentSlug: 'local', value }]);
      expect(await consumer(plainApiKey).secret(name, 'local')).to.deep.include({ name, value });
    });
  }

  for (const name of ['.', '..']) {
    it(`refuses '${name}', which a URL takes for a step`, () => {
      expect(() => management().deleteSecret('one', name)).to.throw(InvalidName, `must not be '${name}'`);
    });
  }

  it('turns a refusal into an error with its status and problem document', async () => {
    const { slug } = await newApplication();
    const invalid = await failureOf(management().createConfiguration(slug, { environmentSlug: 'local', key: '', value: '' }));
    if (!(invalid instanceof Refusal)) throw new TypeError('not a Refusal', { cause: invalid });
    expect(invalid.status).to.equal(400);
    expect(invalid.problem).to.deep.include({ status: 400, errors: { key: ['must not be empty'], value: ['must not be empty'] } });
    expect(invalid.message).to.equal('the secrets service answered 400 (Bad Request: key must not be empty; value must not be empty)');
    const refused = await failureOf(createManagementClient({ baseUrl: running.url, credential: 'wrong' }).applications());
    expect(refused)
      .to.be.instanceOf(Refusal)
      .with.property('message', 'the secrets service answered 401 (Unauthorized: The credential is missing or wrong. Send `Authorization: Bearer <value>`.)');
  });
});

type Answering = (request: IncomingMessage, response: ServerResponse, attempt: number) => void;

describe('the client of the secrets service, when it is not there', () => {
  const closings: (() => Promise<void>)[] = [];
  const key = 'key_hidden';
  const retryAfterMs = [1, 2];
  after(() => Promise.all(closings.map((close) => close())));

  /** Where every request is answered like that; its `requests` are counted. */
  async function start(answering: Answering) {
    const requests: IncomingMessage[] = [];
    const handler = (request: IncomingMessage, response: ServerResponse) => {
      requests.push(request);
      answering(request, response, requests.length);
    };
    const { port, close } = await listen(handler, { port: 0, host: '127.0.0.1', drainMs: 1 });
    closings.push(async () => close());
    const options: ClientOptions = { baseUrl: `http://127.0.0.1:${port}`, credential: key, retryAfterMs };
    return { requests, consumer: createConsumerClient(options), management: createManagementClient(options), options };
  }

  const json = (response: ServerResponse, status: number, body: unknown) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const empty = { items: [] };

  for (const status of [502, 503, 504]) {
    it(`asks again after ${status}`, async () => {
      const { consumer, requests } = await start((_, response, attempt) => json(response, attempt < 3 ? status : 200, empty));
      expect(await consumer.configurations('local')).to.deep.equal([]);
      expect(requests).to.have.length(3);
    });
  }

  it('asks again after a connection that broke, before or within the answer', async () => {
    const { consumer, requests } = await start((_, response, attempt) => {
      if (attempt === 1) response.destroy();
      else if (attempt === 2) response.writeHead(200, { 'content-length': 1000 }).write('{', () => response.destroy());
      else json(response, 200, empty);
    });
    expect(await consumer.configurations('local')).to.deep.equal([]);
    expect(requests).to.have.length(3);
  });

  it('gives up after the last wait, with the refusal', async () => {
    const { consumer, requests } = await start((_, response) => json(response, 503, { type: 'about:blank', title: 'Service Unavailable', status: 503 }));
    expect(await failureOf(consumer.configurations('local')))
      .to.be.instanceOf(Refusal)
      .with.property('status', 503);
    expect(requests).to.have.length(3);
  });

  for (const status of [400, 401, 404, 409, 429, 500]) {
    it(`does not ask again after ${status}`, async () => {
      const { consumer, requests } = await start((_, response) => json(response, status, {}));
      expect(await failureOf(consumer.configurations('local')))
        .to.be.instanceOf(Refusal)
        .with.property('status', status);
      expect(requests).to.have.length(1);
    });
  }

  it('never repeats a write', async () => {
    const { management, requests } = await start((_, response, attempt) => (attempt === 1 ? json(response, 503, {}) : response.destroy()));
    expect(await failureOf(management.rotateKey('one')))
      .to.be.instanceOf(Refusal)
      .with.property('status', 503);
    expect(await failureOf(management.rotateKey('one'))).to.be.instanceOf(NoAnswer);
    expect(await failureOf(management.deleteApplication('one'))).to.be.instanceOf(NoAnswer);
    expect(requests).to.have.length(3);
  });

  it('says why a service cannot be reached', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const failure = await failureOf(createConsumerClient({ baseUrl, credential: key, retryAfterMs }).configurations('local'));
    expect(failure)
      .to.be.instanceOf(NoAnswer)
      .with.property('message', `the secrets service at ${baseUrl} cannot be reached: nothing listens there (ECONNREFUSED)`);
  });

  it('waits no longer than its timeout, also within an answer', async () => {
    const { options, requests } = await start((_, response) => void response.writeHead(200).write('{'));
    const failure = await failureOf(createConsumerClient({ ...options, timeoutMs: 1000 }).configurations('local'));
    expect(failure)
      .to.be.instanceOf(NoAnswer)
      .with.property('message', `no answer from ${options.baseUrl} within 1000 ms; does a NetworkPolicy or firewall let this program through`);
    expect(requests).to.have.length(1);
  });

  it('ends when it is aborted, and asks nothing more', async () => {
    const stop = new AbortController();
    const stopped = new Error('stopped by the test');
    const { options } = await start((_, response, attempt) => (attempt === 1 ? json(response, 503, {}) : stop.abort(stopped)));
    const client = createConsumerClient({ ...options, signal: stop.signal });
    expect(await failureOf(client.configurations('local'))).to.equal(stopped);
    expect(await failureOf(client.configurations('local'))).to.equal(stopped);
  });

  it('ends when it is aborted between two attempts, too', async () => {
    const stop = new AbortController();
    const stopped = new Error('stopped by the test');
    const { options, requests } = await start((_, response) => json(response, 503, {}));
    const waits = Object.defineProperty<number[]>([], 0, {
      get() {
        setImmediate(() => stop.abort(stopped)); // it waits by then
        return 3_600_000;
      },
    });
    const client = createConsumerClient({ ...options, retryAfterMs: waits, signal: stop.signal });
    expect(await failureOf(client.configurations('local'))).to.equal(stopped);
    expect(requests).to.have.length(1);
  });

  it('follows no redirect, so that the key stays with its service', async () => {
    const other = await start((_, response) => json(response, 200, empty));
    const { consumer } = await start((_, response) => void response.writeHead(307, { location: `${other.options.baseUrl}/` }).end());
    expect(await failureOf(consumer.configurations('local')))
      .to.be.instanceOf(Refusal)
      .with.property('status', 307);
    expect(other.requests).to.have.length(0);
  });

  for (const [what, body] of Object.entries({ 'of another shape': { items: [{ key: 1 }] }, 'that is no JSON': undefined })) {
    it(`takes no answer ${what} for one of the service`, async () => {
      const { consumer, options } = await start((_, response) => json(response, 200, body));
      const failure = await failureOf(consumer.configurations('local'));
      expect(failure).to.be.instanceOf(NoAnswer).with.property('message', `the answer of ${options.baseUrl} is not one of the secrets service`);
    });
  }

  it('has no problem document where something else refused', async () => {
    const { consumer } = await start((_, response) => void response.writeHead(403).end('<html>no</html>'));
    expect(await failureOf(consumer.configurations('local'))).to.deep.include({ status: 403, problem: undefined });
  });

  it('shows its credential in no error and not by itself', async () => {
    const { consumer, management, options } = await start((_, response, attempt) => (attempt === 1 ? response.destroy() : json(response, 401, {})));
    const once = { ...options, retryAfterMs: [] };
    const failures = await Promise.all([failureOf(createConsumerClient(once).configurations('local')), failureOf(management.applications())]);
    expect(inspect([consumer, management, failures], { depth: 10, showHidden: true })).not.to.include(key);
  });

  it('refuses a credential or an address that fetch would refuse by showing it', () => {
    const create = (options: Partial<ClientOptions>) => createConsumerClient({ baseUrl: 'http://localhost', credential: key, ...options });
    for (const credential of ['', ' hidden', 'hidden\n', 'hid\nden', 'hidde\u0148']) {
      expect(() => create({ credential })).to.throw(InvalidCredential, /^the credential for the secrets service must be ASCII characters of one line$/);
    }
    for (const baseUrl of ['', 'hidden', 'ftp://hidden', 'http://user:hidden@host']) {
      expect(() => create({ baseUrl })).to.throw(
        InvalidAddress,
        /^the address of the secrets service must begin with http:\/\/ or https:\/\/ and hold no user$/,
      );
    }
  });
});
