// The topology of the queue of mails.
import { expect } from 'chai';
import { ingestTopology } from '../../../../services/link-digest/ingest/queue.ts';

describe('ingestTopology', () => {
  it('waits longer before each retry, and has as many as it is asked for', () => {
    expect(ingestTopology(3).queues.map(({ retryDelaysMs }) => retryDelaysMs)).to.deep.equal([[1000, 6000, 36_000]]);
    expect(ingestTopology(0).queues.map(({ retryDelaysMs }) => retryDelaysMs)).to.deep.equal([[]]);
  });
});
