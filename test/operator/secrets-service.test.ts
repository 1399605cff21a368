// The meaning of errors of the secrets client for a condition.
import { expect } from 'chai';
import { createSecretsService, serviceFailure, unlessMissing } from '../../services/operator/secrets-service.ts';
import { NoAnswer, Refusal } from '../../services/secrets/client.ts';

const { signal } = new AbortController();
const service = createSecretsService({ baseUrl: 'http://127.0.0.1:1', adminKey: 'administrator' });

function thrownBy(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe('serviceFailure', () => {
  it('is KeyRefused for a key that no header can hold', () => {
    const error = thrownBy(() => service.consumer('not\na key', signal));
    expect(serviceFailure(error)).to.deep.include({ reason: 'KeyRefused' });
  });

  it('is ValueRefused for a name that no URL can hold', () => {
    const error = thrownBy(() => unlessMissing(service.consumer('key', signal).secret('..', 'local')));
    expect(serviceFailure(error)).to.deep.include({ reason: 'ValueRefused' });
  });

  it('is nothing for an error of our own program', () => {
    expect(serviceFailure(new TypeError("Cannot read properties of undefined (reading 'value')"))).to.equal(undefined);
  });

  it('follows the status of a refusal', () => {
    const reasonOf = (status: number) => serviceFailure(new Refusal(status, undefined))?.reason;
    expect([401, 403, 404, 409, 429, 503].map(reasonOf)).to.deep.equal([
      ...['KeyRefused', 'KeyRefused', 'NotFound', 'ValueRefused', 'ServiceUnavailable', 'ServiceUnavailable'],
    ]);
    expect(serviceFailure(new NoAnswer('silent'))?.reason).to.equal('ServiceUnavailable');
  });
});
