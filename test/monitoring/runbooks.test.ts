// Runbooks: each has the same sections, and commands that run unchanged.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { helm, render } from '../charts/chart.ts';
import { podsOf } from '../charts/manifests.ts';
import { describeWith } from '../support/need.ts';
import { runbooks } from './shipped.ts';

const sections = ['What it means', 'Is something lost', 'What to look at', 'What to do'];
const blocksOf = (text: string) => [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block = '']) => block);
const commandsOf = (block: string) => block.split(/\n|; |\| |\$\(/).map((line) => line.trim());

const faults: readonly (readonly [about: string, isIn: (block: string) => boolean])[] = [
  ['a placeholder, which the shell reads as a file', (block) => /<[a-z-]+>|…/.test(block.replaceAll(/"[^"\n]*"|'[^'\n]*'/g, ''))],
  ['a port-forward, which stays behind and may not stand yet', (block) => block.includes('port-forward')],
  ['a search of the last lines only: a busy relay writes a hundred a second', (block) => /--tail=\d+[^|\n]*\| *grep/.test(block)],
  [
    'a kubectl without its namespace',
    (block) => commandsOf(block).some((line) => line.startsWith('kubectl ') && !/ (-n [a-z]|--all-namespaces|--raw )/.test(line)),
  ],
];

describe('runbooks', () => {
  for (const path of runbooks) {
    const name = basename(path, '.md');
    const text = readFileSync(path, 'utf8');
    describe(name, () => {
      it('has the sections of all, and leads to the others', () => {
        const [title, , navigation] = text.split('\n');
        expect(title).to.equal(`# ${name}`);
        expect(navigation).to.contain('[Runbooks](../README.md)').and.to.contain('[When it rings](../../docs/on-call.md)');
        expect([...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading)).to.deep.equal(sections);
      });

      it('says what is lost, and whether pods may be restarted', () => {
        const [, answer = ''] = /^## Is something lost\n\n(.*)$/m.exec(text) ?? [];
        expect(answer).to.match(/^[A-Z].*\. Restarting pods: .*\.$/);
      });

      it('has commands that run as they stand', () => {
        for (const block of blocksOf(text)) {
          execFileSync('bash', ['-n'], { input: block });
          for (const [about, isIn] of faults) expect(isIn(block), `${about}:\n${block}`).to.equal(false);
        }
      });
    });
  }

  describeWith(helm, 'beside the chart', () => {
    it('select by labels that pods have', async () => {
      // The pod of `helm test` is an object of the chart and has its labels.
      const pods = podsOf(await render({ backup: { enabled: true }, services: { mail: { enabled: true } } })).filter(({ owner }) => owner.kind !== 'Pod');
      const known = new Set(pods.flatMap(({ pod }) => Object.entries(pod.metadata?.labels ?? {}).map((label) => label.join('='))));
      const selectors = runbooks.flatMap((path) => [...readFileSync(path, 'utf8').matchAll(/ -l (app\.\S*)/g)].map(([, selector = '']) => selector));
      expect(selectors).to.not.be.empty;
      expect(selectors.filter((one) => !known.has(one) && one !== 'app.kubernetes.io/name=signalbox-operator')).to.deep.equal([]);
    });

    it('name workloads that the chart has', async () => {
      const objects = await render({ monitoring: { serviceMonitor: { enabled: true } }, backup: { enabled: true }, services: { mail: { enabled: true } } });
      const known = new Set(objects.map(({ kind, metadata }) => `${kind.toLowerCase()}/${metadata.name}`));
      const kinds: Record<string, string> = { deploy: 'deployment' };
      const named = runbooks.flatMap((path) =>
        blocksOf(readFileSync(path, 'utf8')).flatMap((block) =>
          [...block.matchAll(/\b(deploy|deployment|service|statefulset|cronjob)[/ ](signalbox-[a-z-]+)/g)].map(
            ([, kind = '', object = '']) => `${kinds[kind] ?? kind}/${object}`,
          ),
        ),
      );
      expect(named).to.not.be.empty;
      expect(named.filter((one) => !known.has(one) && !one.startsWith('deployment/signalbox-operator'))).to.deep.equal([]);
    });
  });
});
