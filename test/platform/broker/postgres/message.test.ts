import { expect } from 'chai';
import { toDelivery, toStored } from '../../../../services/platform/broker/postgres/message.ts';

describe('a message as the embedded broker keeps it', () => {
  const headers = { 'x-action': 'a\0b', 'x-sender': '\ud800', 'x-event': 'issues' };
  const message = { id: '1', type: 'issues', body: Buffer.from([0, 255]), contentType: 'application/json', priority: 5, timestamp: new Date(0), headers };

  it('holds nothing that jsonb refuses', () => {
    expect(JSON.stringify(toStored(message, 1))).not.to.match(/\\u(0000|d[89a-f])/);
  });

  it('comes back as it was', () => {
    expect(toDelivery({ data: toStored(message, 1), retryCount: 0 })).to.deep.include({ headers, body: message.body, attempt: 1 });
  });
});
