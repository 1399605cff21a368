// Rules that hold for every set of values: of objects, of their variables, of Helm's output.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { helm, render } from './chart.ts';
import { containersOf, keyOf, ofKind, podsOf } from './manifests.ts';
import { commandsOf, notes } from './notes.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

describeWith(helm, 'every value set', () => {
  for (const [name, values] of sets) {
    it(`renders ${name}: every object once, no Secret, no namespace but the release's`, async () => {
      const manifests = await render(values);
      expect(manifests.map(keyOf)).to.have.length.above(0);
      expect(new Set(manifests.map(keyOf)).size, manifests.map(keyOf).join(', ')).to.equal(manifests.length);
      expect(ofKind(manifests, 'Secret')).to.deep.equal([]);
      expect(manifests.filter(({ metadata }) => (metadata.namespace ?? 'signalbox') !== 'signalbox')).to.deep.equal([]);
    });

    it(`gives no container a variable twice, or one without a value, with ${name}`, async () => {
      for (const { owner, pod } of podsOf(await render(values))) {
        for (const { env = [] } of containersOf(pod)) {
          const names = env.map((variable) => variable.name);
          expect(new Set(names).size, `${keyOf(owner)}: ${names.join()}`).to.equal(names.length);
          expect(env.filter(({ value, valueFrom }) => !valueFrom && !value).map((variable) => variable.name)).to.deep.equal([]);
        }
      }
    });

    if (name.includes(',')) continue;
    it(`names nothing in NOTES.txt that is not there, and its namespace, with ${name}`, async () => {
      const text = await notes(values, 'signalbox');
      expect(text).not.to.contain('<no value>');
      for (const command of commandsOf(text)) expect(command).to.match(/--namespace signalbox\b/);
      const installed = (await render(values)).map(keyOf);
      for (const [, service = ''] of text.matchAll(/service\/(\S+)/g)) expect(installed).to.include(`Service/${service}`);
    });
  }
});
