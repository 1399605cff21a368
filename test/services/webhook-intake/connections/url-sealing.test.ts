// The stored form of a broker's URL.
import { expect } from 'chai';
import { SealBroken } from '../../../../services/platform/seal.ts';
import { createUrlSealing, type UrlSealing } from '../../../../services/webhook-intake/connections/url-sealing.ts';

const url = 'amqps://worker:correct-horse-battery@broker.example.test/production';

async function sealingOf(databaseUrl = 'postgres://intake:one-password@127.0.0.1/signalbox', queue = 'forge'): Promise<UrlSealing> {
  const sealing = await createUrlSealing(databaseUrl, queue);
  if (!sealing) throw new Error('there is a password');
  return sealing;
}

describe('a sealed broker URL', () => {
  let sealing: UrlSealing;
  before(async () => (sealing = await sealingOf()));

  it('opens under the same password, wherever the database is by now', async () => {
    const moved = await sealingOf('postgres://other:one-password@elsewhere.example.test:6432/renamed?sslmode=require');
    expect(moved.fingerprint(url)).to.deep.equal(sealing.fingerprint(url));
    expect(moved.open(sealing.seal(url), sealing.fingerprint(url))).to.equal(url);
  });

  it('is another one each time, with the same fingerprint', () => {
    expect(sealing.seal(url).equals(sealing.seal(url))).to.equal(false);
    expect(sealing.fingerprint(url).equals(sealing.fingerprint(url))).to.equal(true);
    expect(sealing.fingerprint(url).equals(sealing.fingerprint(`${url}2`))).to.equal(false);
  });

  it('neither opens nor is known under another password', async () => {
    const other = await sealingOf('postgres://intake:another-password@127.0.0.1/signalbox');
    expect(other.fingerprint(url).equals(sealing.fingerprint(url))).to.equal(false);
    expect(() => other.open(sealing.seal(url), sealing.fingerprint(url))).to.throw(SealBroken);
  });

  it('does not open in the row of another queue or of another URL', async () => {
    const otherQueue = await sealingOf(undefined, 'forge-database');
    expect(() => otherQueue.open(sealing.seal(url), sealing.fingerprint(url))).to.throw(SealBroken);
    expect(() => sealing.open(sealing.seal(url), sealing.fingerprint('amqp://127.0.0.1'))).to.throw(SealBroken);
  });

  it('does not open when a byte is changed or missing', () => {
    const sealed = sealing.seal(url);
    const mark = sealing.fingerprint(url);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      expect(() => sealing.open(changed, mark), `byte ${at}`).to.throw(SealBroken);
      expect(() => sealing.open(sealed.subarray(0, at), mark), `${at} bytes`).to.throw(SealBroken);
    }
  });

  for (const databaseUrl of ['postgres://intake@127.0.0.1/signalbox', 'postgres://127.0.0.1/signalbox', 'postgresql:///signalbox?host=/run/postgresql'])
    it(`cannot be made where ${databaseUrl} has no password`, async () => expect(await createUrlSealing(databaseUrl, 'forge')).to.equal(undefined));
});
