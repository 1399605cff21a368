// The chart under the linters of both Helm versions, and what Chart.yaml tells of it.
import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describeWith } from '../support/need.ts';
import { runTool } from '../support/tools.ts';
import { merged } from '../support/values.ts';
import { chart, helm, render, someImage } from './chart.ts';
import { containersOf, podsOf } from './manifests.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();
const operator = join(chart, '../signalbox-operator');

type Described = {
  readonly version: string;
  readonly home: string;
  readonly sources: readonly string[];
  readonly icon: string;
  readonly maintainers: readonly { readonly url: string }[];
  readonly annotations: Readonly<Record<string, string>>;
};

describeWith(helm, 'helm lint --strict', () => {
  for (const program of ['helm', 'helm3'] as const) {
    for (const name of ['the defaults', 'everything on', 'servers outside']) {
      it(`finds nothing in ${name} (${program})`, async () => {
        const { code, stdout, stderr } = await runTool(program, ['lint', '--strict', '--values', '-', chart], {
          input: JSON.stringify(merged(someImage, sets.get(name) ?? {})),
        });
        expect(code, stdout + stderr).to.equal(0);
        expect(stdout.split('\n').filter((line) => /^\[(INFO|WARNING|ERROR)\]/.test(line))).to.deep.equal([]);
      });
    }
  }
});

describeWith(helm, 'Chart.yaml', () => {
  const read = (file: string) => readFile(join(chart, '../..', file), 'utf8');
  const described = async (name: string) => parse(await read(`charts/${name}/Chart.yaml`)) as Described;
  const names = ['signalbox', 'signalbox-operator'];

  it('has the address of package.json wherever it has one, and an icon that is there', async () => {
    const { homepage }: { readonly homepage: string } = JSON.parse(await read('package.json'));
    for (const name of names) {
      const { home, sources, maintainers, icon } = await described(name);
      expect([home, ...sources, ...maintainers.map(({ url }) => url)]).to.deep.equal([homepage, homepage, homepage]);
      expect(await read(icon.replace(`${homepage}/raw/main/`, ''))).to.match(/^<svg /);
    }
  });

  it('tells a catalogue which images there are, and of a version below 1 that it is one', async () => {
    const rendered = {
      signalbox: await render({ redis: { enabled: true }, backup: { enabled: true } }),
      'signalbox-operator': await render({}, { folder: operator }),
    };
    for (const [name, manifests] of Object.entries(rendered)) {
      const { version, annotations } = await described(name);
      const images: { readonly image: string }[] = parse(annotations['artifacthub.io/images'] ?? '');
      const used = podsOf(manifests).flatMap(({ pod }) => containersOf(pod).map(({ image }) => image));
      expect(images.map(({ image }) => image)).to.have.members([...new Set(used)]);
      expect(annotations['artifacthub.io/prerelease']).to.equal(String(version.startsWith('0.')));
    }
  });
});
