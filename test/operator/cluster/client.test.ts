import { expect } from 'chai';
import { readMetadata } from '../../../services/operator/cluster/client.ts';
import { annotations } from '../../../services/operator/contract.ts';
import { secretResource } from '../../../services/operator/secrets.ts';

describe('readMetadata', () => {
  it('keeps of labels and annotations only those of the operator, since others may be large', () => {
    const large = 'x'.repeat(262_144);
    const metadata = { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-11-29T00:00:00Z' };
    const written = { ...metadata, labels: { large }, annotations: { [annotations.owner]: 'SyncedSecret/a', large }, managedFields: [{ large }] };
    const read = readMetadata({ metadata: written, data: { large } }, secretResource);
    expect(read).to.deep.equal({ apiVersion: 'v1', kind: 'Secret', metadata: { ...metadata, annotations: { [annotations.owner]: 'SyncedSecret/a' } } });
  });
});
