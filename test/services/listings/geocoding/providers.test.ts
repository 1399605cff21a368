// Nominatim and Google as their documentation describes them, answers and refusals, and servers that do otherwise.
import { expect } from 'chai';
import { createProvider, type ProviderOptions } from '../../../../services/listings/geocoding/providers.ts';
import { Secret } from '../../../../services/platform/config/secret.ts';
import { type Behaviour, type Geocoder, google, nominatim, silence, startGeocoder, status } from './geocoders.ts';

const place = { address: '12 The Elms, Dublin 4, d04 x285', eircode: 'D04 X285' };
const dublin = { lat: '53.3331', lon: '-6.2489' };

describe('geocoders', () => {
  let server: Geocoder;
  before(async () => (server = await startGeocoder(silence)));
  after(() => server.close());
  beforeEach(() => void server.asked.splice(0));

  const running = new AbortController().signal;
  const provider = (options: Partial<ProviderOptions>) => {
    const made = createProvider({ provider: 'nominatim', baseUrl: server.url, apiKey: undefined, timeoutMs: 2000, ...options });
    if (!made) throw new TypeError('there is a provider');
    return made;
  };
  const answerOf = (behaviour: Behaviour, options: Partial<ProviderOptions> = {}) => {
    server.behave(behaviour);
    return provider(options).locate(place, running);
  };

  describe('none', () => {
    it('has no server to ask', () => {
      expect(createProvider({ provider: 'none', baseUrl: server.url, apiKey: undefined })).to.equal(undefined);
    });
  });

  describe('nominatim', () => {
    it('is asked /search for the address within Ireland, without the eircode, by a user agent of our own', async () => {
      await answerOf(nominatim(() => dublin));
      const [asked] = server.asked;
      expect(asked?.path).to.equal('/search');
      expect(asked?.query).to.deep.equal({ q: '12 The Elms, Dublin 4', format: 'jsonv2', limit: '1', countrycodes: 'ie' });
      expect(asked?.userAgent).to.match(/^Signalbox\/\d+\.\d+\.\d+ /);
    });

    it('is found below a path of its server, with or without a slash at its end', async () => {
      for (const baseUrl of [`${server.url}/geo`, `${server.url}/geo/`])
        await answerOf(
          nominatim(() => dublin),
          { baseUrl },
        );
      expect(server.asked.map(({ path }) => path)).to.deep.equal(['/geo/search', '/geo/search']);
    });

    it('is asked at most once a second; the public server unless another is given', () => {
      expect(provider({}).intervalMs).to.equal(1000);
    });

    it('answers coordinates as text', async () => {
      expect(await answerOf(nominatim(() => dublin))).to.deep.equal({ kind: 'found', latitude: 53.3331, longitude: -6.2489 });
    });

    it('answers an empty array for what it does not know, and 400 for what it cannot read', async () => {
      expect(await answerOf(nominatim(() => undefined))).to.deep.equal({ kind: 'missing' });
      expect(await answerOf(() => ({ status: 400, body: '{"error":{"code":400,"message":"Nothing to search for."}}' }))).to.deep.equal({ kind: 'missing' });
    });
  });

  describe('google', () => {
    const options = { provider: 'google', apiKey: new Secret('key of the tests') } as const;

    it('is asked /maps/api/geocode/json for address and eircode within Ireland, with its key', async () => {
      await answerOf(google('OK', [{ lat: 53.3, lng: -6.2 }]), options);
      const [asked] = server.asked;
      expect(asked?.path).to.equal('/maps/api/geocode/json');
      expect(asked?.query).to.deep.equal({ address: '12 The Elms, Dublin 4, D04 X285', components: 'country:IE', key: 'key of the tests' });
    });

    it('answers OK with coordinates', async () => {
      expect(await answerOf(google('OK', [{ lat: 53.3, lng: -6.2 }]), options)).to.deep.equal({ kind: 'found', latitude: 53.3, longitude: -6.2 });
    });

    it('does not know a place when it answers ZERO_RESULTS, INVALID_REQUEST, or the country', async () => {
      const country = google('OK', [{ lat: 53.1, lng: -7.7, types: ['country', 'political'] }]);
      for (const behaviour of [google('ZERO_RESULTS'), google('INVALID_REQUEST'), country])
        expect(await answerOf(behaviour, options)).to.deep.equal({ kind: 'missing' });
    });

    for (const word of ['OVER_QUERY_LIMIT', 'OVER_DAILY_LIMIT', 'REQUEST_DENIED']) {
      it(`refuses by ${word}, with status 200`, async () => {
        expect(await answerOf(google(word), options)).to.deep.equal({ kind: 'refused', reason: word, retryAfterMs: 0 });
      });
    }

    it('fails by UNKNOWN_ERROR', async () => {
      expect(await answerOf(google('UNKNOWN_ERROR'), options)).to.deep.equal({ kind: 'failed', reason: 'UNKNOWN_ERROR' });
    });
  });

  describe('either', () => {
    it('refuses by 429, 401, 403 and every other status below 500, with Retry-After in seconds or as a date', async () => {
      for (const code of [401, 403, 404, 429])
        expect(await answerOf(status(code))).to.deep.equal({ kind: 'refused', reason: `status ${code}`, retryAfterMs: 0 });
      expect(await answerOf(status(429, { 'Retry-After': '120' }))).to.deep.include({ kind: 'refused', retryAfterMs: 120_000 });
      expect(await answerOf(status(503, { 'Retry-After': '5' }))).to.deep.include({ kind: 'refused', retryAfterMs: 5000 });
      const dated = await answerOf(status(429, { 'Retry-After': new Date(Date.now() + 600_000).toUTCString() }));
      expect(dated.kind === 'refused' && dated.retryAfterMs).to.be.within(590_000, 600_000);
    });

    it('is believed for a day at most, and not at all when Retry-After is no time to come', async () => {
      expect(await answerOf(status(429, { 'Retry-After': '99999999' }))).to.deep.include({ retryAfterMs: 86_400_000 });
      for (const value of ['soon', '-5', 'Sun, 15 Mar 2020 12:00:00 GMT', ''])
        expect(await answerOf(status(429, { 'Retry-After': value }))).to.deep.include({ retryAfterMs: 0 });
    });

    it('fails by every status from 500', async () => {
      for (const code of [500, 502, 503, 504]) expect(await answerOf(status(code))).to.deep.equal({ kind: 'failed', reason: `status ${code}` });
    });

    it('fails by an answer that is not as documented', async () => {
      const answers = ['<html>Sign in</html>', '', 'null', '{"status":7}', '[{"lat":"far","lon":"away"}]', '[{"lat":"91","lon":"0"}]', '[{}]'];
      for (const body of answers) expect(await answerOf(() => ({ body }))).to.deep.equal({ kind: 'failed', reason: 'an answer that is not as documented' });
    });

    it('fails when it is silent, or falls silent in its answer, in the time it has', async () => {
      expect(await answerOf(silence, { timeoutMs: 200 })).to.deep.equal({ kind: 'failed', reason: 'no answer in 200 ms' });
      const half: Behaviour = (_, response) => void response.writeHead(200, { 'Content-Type': 'application/json' }).write('[');
      expect(await answerOf(half, { timeoutMs: 200 })).to.deep.equal({ kind: 'failed', reason: 'no answer in 200 ms' });
    });

    it('fails when it breaks the connection, is not there, or answers without end', async () => {
      const broken = await answerOf((_, response) => void response.socket?.destroy());
      expect(broken.kind).to.equal('failed');
      const nobody = await provider({ baseUrl: 'http://127.0.0.1:1' }).locate(place, running);
      expect(nobody.kind).to.equal('failed');
      expect(await answerOf(() => ({ body: ' '.repeat(1_100_000) }))).to.deep.equal({ kind: 'failed', reason: 'answer larger than 1048576 bytes' });
    });

    it('is not followed to another place, where its key would go', async () => {
      const redirect = status(302, { Location: `${server.url}/elsewhere` });
      expect(await answerOf(redirect, { provider: 'google', apiKey: new Secret('key of the tests') })).to.deep.include({
        kind: 'refused',
        reason: 'status 302',
      });
      expect(server.asked).to.have.length(1);
    });

    it('says nothing of its key when it fails', async () => {
      const answers = [await answerOf(status(500), { provider: 'google', apiKey: new Secret('key-of-tests') })];
      answers.push(await provider({ provider: 'google', apiKey: new Secret('key-of-tests'), baseUrl: 'http://127.0.0.1:1' }).locate(place, running));
      expect(JSON.stringify(answers)).not.to.include('key-of-tests');
    });

    it('is given up when the process stops', async () => {
      const stop = new AbortController();
      server.behave(() => {
        stop.abort();
        return undefined;
      });
      expect(await provider({ timeoutMs: 30_000 }).locate(place, stop.signal)).to.deep.equal({ kind: 'failed', reason: 'interrupted' });
    });
  });
});
