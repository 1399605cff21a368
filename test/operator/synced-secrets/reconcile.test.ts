import { expect } from 'chai';
import { annotations, SyncedSecretSpec } from '../../../services/operator/contract.ts';
import { compose, contentHash, planTarget, sourcesOf, type Target } from '../../../services/operator/synced-secrets/reconcile.ts';
import { TemplateError } from '../../../services/operator/synced-secrets/template.ts';

const now = new Date('2026-11-23T12:00:00Z');
const spec = (more: object) => SyncedSecretSpec.parse({ applicationRef: { name: 'shop' }, environment: 'production', ...more });
const base64 = (text: string) => Buffer.from(text).toString('base64');
const read = { secrets: new Map([['password', { value: 'hidden', version: 3 }]]), configuration: new Map([['Http:Timeout', '30']]) };

describe('what a SyncedSecret writes', () => {
  it('is composed of secrets, entries and templates', () => {
    const data = [
      { key: 'A', secret: 'password' },
      { key: 'B', configuration: 'Http:Timeout' },
    ];
    const sources = sourcesOf(spec({ data, template: { c: '{{ secret password }}/{{ configuration Http:Timeout }}' } }));
    expect(compose(sources, read)).to.deep.equal({ data: { A: base64('hidden'), B: base64('30'), c: base64('hidden/30') } });
  });

  it('is nothing while one of them is missing: values that belong together change together', () => {
    const sources = sourcesOf(
      spec({
        data: [
          { key: 'A', secret: 'password' },
          { key: 'B', secret: 'absent' },
        ],
        template: { c: '{{ configuration gone }}' },
      }),
    );
    expect(compose(sources, read)).to.deep.equal({ missing: ['absent', 'configuration gone'] });
  });

  it('is decoded where the service holds bytes in base64, whatever its line breaks, and refused where it is none', () => {
    const bytes = Buffer.from([0, 255, 128, 10, 7]);
    const with64 = (value: string) =>
      compose(sourcesOf(spec({ data: [{ key: 'store.p12', secret: 'a', decode: 'Base64' }] })), { ...read, secrets: new Map([['a', { value, version: 1 }]]) });
    for (const value of [
      bytes.toString('base64'),
      `${bytes.toString('base64').slice(0, 4)}\n${bytes.toString('base64').slice(4)}\n`,
      bytes.toString('base64').replace(/=+$/, ''),
    ])
      expect(with64(value)).to.deep.equal({ data: { 'store.p12': bytes.toString('base64') } });
    for (const value of ['not base64!', 'YQ==YQ==', 'a']) expect(with64(value)).to.deep.equal({ undecodable: ['store.p12'] });
  });

  it('is refused where it names more than a thousand secrets', () => {
    const naming = (count: number) => () =>
      sourcesOf(spec({ template: { k: Array.from({ length: count }, (_, number) => `{{secret s${number}}}`).join('') } }));
    expect(naming(1000)).not.to.throw();
    expect(naming(1001)).to.throw('name 1001 secrets, more than 1000');
  });

  it('is summed before it is filled, and nothing above 1 MiB', () => {
    const large = { ...read, secrets: new Map([['a', { value: 'ä'.repeat(32_000), version: 1 }]]) };
    const times = (count: number) => compose(sourcesOf(spec({ template: { k: '{{secret a}}'.repeat(count) } })), large);
    expect(times(1500)).to.deep.equal({ bytes: 1500 * 64_000 });
    expect(times(17)).to.deep.equal({ bytes: 17 * 64_000 });
    expect(times(16)).to.have.property('data');
  });

  it('refuses a key that stands in data and in template', () => {
    expect(() => sourcesOf(spec({ data: [{ key: 'A', secret: 'password' }], template: { A: '' } }))).to.throw(
      TemplateError,
      'A stands in data and in template',
    );
  });

  it('has a hash that depends on content alone, and on a salt', () => {
    const hash = contentHash({ A: '1', B: '2' }, 'salt');
    expect(contentHash({ B: '2', A: '1' }, 'salt')).to.equal(hash);
    expect(contentHash({ A: '1', B: '2' }, 'other')).not.to.equal(hash);
    expect(contentHash({ A: '2', B: '1' }, 'salt')).not.to.equal(hash);
  });
});

describe('the target of a SyncedSecret', () => {
  const wished = {
    data: { A: base64('1') },
    mergePolicy: 'Replace' as const,
    hash: 'h1',
    labels: { team: 'a' },
    annotations: {},
    ownerReference: { uid: 'u' },
  };
  const target: Target = {
    resourceVersion: '7',
    data: wished.data,
    labels: { team: 'a', other: 'x' },
    annotations: { [annotations.contentHash]: 'h1', theirs: 'y' },
    isOwnedBy: true,
  };

  it('is left alone when it is as it should be, with labels and annotations of others', () => {
    expect(planTarget(target, wished, now)).to.equal(undefined);
  });

  it('loses keys that are not wanted, at the version that was seen', () => {
    const patch = planTarget({ ...target, data: { ...target.data, more: 'x' } }, wished, now);
    expect(patch).to.deep.include({ data: { A: base64('1'), more: null } });
    expect(patch).to.have.nested.property('metadata.resourceVersion', '7');
    expect(patch).not.to.have.nested.property(`metadata.annotations.${annotations.contentChangedAt.replaceAll('.', '\\.')}`);
  });

  it('is stamped with the time when the content is another', () => {
    const patch = planTarget(target, { ...wished, data: { A: base64('2') }, hash: 'h2' }, now);
    expect(patch)
      .to.have.property('metadata')
      .that.has.property('annotations')
      .that.includes({
        [annotations.contentHash]: 'h2',
        [annotations.contentChangedAt]: now.toISOString(),
      });
  });

  it('loses keys of other writers, and keeps them with mergePolicy: Merge', () => {
    const more = { ...target, data: { ...target.data, B: base64('theirs') } };
    expect(planTarget(more, wished, now))
      .to.have.property('data')
      .that.deep.equals({ A: base64('1'), B: null });
    expect(planTarget(more, { ...wished, mergePolicy: 'Merge' }, now)).to.equal(undefined);
  });

  it('gets and loses its owner with the deletion policy', () => {
    expect(planTarget({ ...target, isOwnedBy: false }, wished, now))
      .to.have.nested.property('metadata.ownerReferences')
      .with.length(1);
    expect(planTarget(target, { ...wished, ownerReference: undefined }, now))
      .to.have.nested.property('metadata.ownerReferences')
      .with.length(0);
  });
});
