import { expect } from 'chai';
import { type KeyedSpec, SecretApplicationSpec } from '../../../services/operator/contract.ts';
import {
  type Contents,
  decideKey,
  type KeySecret,
  planContents,
  rotatesInMs,
  type Observed,
  type Wanted,
} from '../../../services/operator/secret-applications/reconcile.ts';

const now = new Date('2026-11-23T12:00:00Z');
const apiKeySecretRef = { name: 'key', key: 'k' };
const spec = (more: object = {}): KeyedSpec => ({ ...SecretApplicationSpec.parse({ applicationName: 'Shop', apiKeySecretRef, ...more }), apiKeySecretRef });
const keySecret = (more: Partial<KeySecret> = {}): KeySecret => ({
  owner: 'SecretApplication/shop',
  apiKey: 'key_x',
  rotatedAt: now,
  formerKey: undefined,
  ...more,
});
const observed = (more: Partial<Observed> = {}): Observed => ({
  secretOwner: 'SecretApplication/shop',
  owner: 'prod/shop/shop',
  mayAdopt: true,
  application: { id: '1', owner: 'prod/shop/shop' },
  keySecret: keySecret(),
  isKeyAccepted: true,
  ...more,
});

describe('the key of a SecretApplication', () => {
  const fresh = { application: undefined, keySecret: undefined, isKeyAccepted: false };
  for (const [says, more, has, step] of [
    ['stays while it is accepted', {}, {}, 'keep'],
    ['comes with a new application', {}, fresh, 'create'],
    ['comes with an application that was deleted in the service', {}, { application: undefined, isKeyAccepted: false }, 'create'],
    ['is rotated when the service refuses it', {}, { isKeyAccepted: false }, 'rotate'],
    ['is rotated when its Secret is gone', {}, { keySecret: undefined, isKeyAccepted: false }, 'rotate'],
    ['is rotated when its Secret is empty', {}, { keySecret: keySecret({ apiKey: undefined }), isKeyAccepted: false }, 'rotate'],
    ['is rotated after a crash while the application was made', {}, { keySecret: undefined, isKeyAccepted: false }, 'rotate'],
    ['is replaced when its time has come', { rotateEvery: '1h' }, { keySecret: keySecret({ rotatedAt: new Date(now.getTime() - 3_600_000) }) }, 'replace'],
    [
      'is not replaced while it is being replaced',
      { rotateEvery: '1h' },
      { keySecret: keySecret({ rotatedAt: new Date(now.getTime() - 3_600_000), formerKey: '1' }) },
      'keep',
    ],
    ['is rotated while it is being replaced when the service refuses it', {}, { keySecret: keySecret({ formerKey: '1' }), isKeyAccepted: false }, 'rotate'],
    [
      'is not replaced for another owner',
      { rotateEvery: '1s' },
      { application: { id: '1', owner: 'prod/other/shop' }, keySecret: keySecret({ rotatedAt: undefined }) },
      'refuse',
    ],
    ['stays until then', { rotateEvery: '1h' }, { keySecret: keySecret({ rotatedAt: new Date(now.getTime() - 3_599_000) }) }, 'keep'],
    ['is not taken from an application without an owner', {}, { ...fresh, application: { id: '2' } }, 'refuse'],
    ['is taken from it with existing: Adopt', { existing: 'Adopt' }, { ...fresh, application: { id: '2' } }, 'adopt'],
    ['is not taken from it in a namespace that may not adopt', { existing: 'Adopt' }, { ...fresh, application: { id: '2' }, mayAdopt: false }, 'refuse'],
    ['is not taken from an application in the place of ours that has no owner', {}, { application: { id: '2' } }, 'refuse'],
    ['is not written into a Secret of another owner', { existing: 'Adopt' }, { keySecret: keySecret({ owner: undefined }) }, 'refuse'],
    ['is not taken from another owner', { existing: 'Adopt' }, { application: { id: '1', owner: 'prod/other/shop' } }, 'refuse'],
    ['needs a name that makes a slug', { applicationName: '!!!' }, {}, 'refuse'],
  ] as const)
    it(says, () => expect(decideKey(spec(more), observed(has), now)).to.have.property('step', step));

  it('is due at once when the time of its rotation is unknown', () => expect(rotatesInMs(spec({ rotateEvery: '1h30m' }), undefined, now)).to.equal(0));
});

describe('the spec of a SecretApplication without a key', () => {
  const parse = (more: object) => SecretApplicationSpec.safeParse({ applicationName: 'Shop', serviceAccounts: ['web'], ...more });

  it('is read', () => expect(parse({}).success).to.equal(true));

  // An object of before the rule would be written without end: only a key tells that a value is there, or when it was replaced.
  for (const [member, value] of [
    ['secretValues', [{ environment: 'local', secret: 's', valueFrom: { secretKeyRef: apiKeySecretRef } }]],
    ['rotateEvery', '1h'],
    ['rollout', [{ kind: 'Deployment', name: 'shop' }]],
  ] as const)
    it(`is refused with ${member}`, () => {
      expect(parse({ [member]: value }).error?.issues).to.have.nested.property('[0].message', `${member} goes with apiKeySecretRef`);
      expect(parse({ [member]: value, apiKeySecretRef }).success).to.equal(true);
    });
});

describe('the contents of an application', () => {
  const wanted: Wanted = { description: undefined, environments: [], prune: false, configuration: [], secretValues: [], accounts: [], unread: [] };
  const contents: Contents = { name: 'Shop', description: null, environments: ['local'], configuration: [], secrets: [], values: [], accounts: [] };
  const plan = (want: Partial<Wanted>, have: Partial<Contents> = {}) => planContents({ ...wanted, ...want }, { ...contents, ...have }, 'ours');
  const entry = { environment: 'local', key: 'a', value: '1' };

  it('are left alone when all is there', () => {
    const have = {
      environments: ['local', 'staging'],
      configuration: [{ ...entry, description: 'ours' }],
      secrets: ['s'],
      values: [{ environment: 'local', secret: 's', value: 'v' }],
    };
    const want = { environments: ['Staging'], configuration: [entry], secretValues: [{ environment: 'local', secret: 's', value: 'v' }] };
    expect(plan(want, have)).to.deep.equal([]);
  });

  it('are made in an order in which each finds what it needs', () => {
    const want = { environments: ['Staging'], configuration: [entry], secretValues: [{ environment: 'staging', secret: 's', value: 'v' }] };
    expect(plan(want).map((action) => action.do)).to.deep.equal(['create-environment', 'create-configuration', 'create-secret', 'set-value']);
  });

  it('have one environment of two names that are one slug', () => {
    expect(plan({ environments: ['Staging', 'staging'] })).to.deep.equal([{ do: 'create-environment', name: 'Staging' }]);
  });

  it('lose environments with prune only, and local never', () => {
    const have = { environments: ['local', 'old'] };
    expect(plan({}, have)).to.deep.equal([]);
    expect(plan({ prune: true }, have)).to.deep.equal([{ do: 'delete-environment', slug: 'old' }]);
  });

  it('lose entries of ours that are taken out, not those of others, and not those whose ConfigMap is away', () => {
    const configuration = [
      { ...entry, key: 'taken out', description: 'ours' },
      { ...entry, key: 'of others', description: null },
      { ...entry, key: 'unread', description: 'ours' },
    ];
    expect(plan({ unread: [{ environment: 'local', key: 'unread' }] }, { configuration })).to.deep.equal([
      { do: 'delete-configuration', environment: 'local', key: 'taken out' },
    ]);
  });

  it('have the ServiceAccounts of the object, and no other one of its namespace', () => {
    const have = { accounts: ['taken-out', 'web'] };
    expect(plan({ accounts: ['web', 'new'] }, have)).to.deep.equal([
      { do: 'unbind-account', account: 'taken-out' },
      { do: 'bind-account', account: 'new' },
    ]);
    expect(plan({ accounts: undefined }, have)).to.deep.equal([]);
  });

  it('take over an entry of another description, and change a description only when one is given', () => {
    expect(plan({ configuration: [entry] }, { configuration: [{ ...entry, description: 'by hand' }] })).to.have.length(1);
    expect(plan({}, { description: 'theirs' })).to.deep.equal([]);
    expect(plan({ description: 'new' }, { description: 'theirs' })).to.deep.equal([{ do: 'describe', name: 'Shop', description: 'new' }]);
  });
});
