// The chart under the linters of both Helm versions.
import { expect } from 'chai';
import { describeWith } from '../support/need.ts';
import { runTool } from '../support/tools.ts';
import { chart, helm } from './chart.ts';
import { valueSets } from './value-sets.ts';

const sets = await valueSets();

describeWith(helm, 'helm lint --strict', () => {
  for (const program of ['helm', 'helm3'] as const) {
    for (const name of ['the defaults', 'everything on', 'servers outside']) {
      it(`finds nothing in ${name} (${program})`, async () => {
        const { code, stdout, stderr } = await runTool(program, ['lint', '--strict', '--values', '-', chart], { input: JSON.stringify(sets.get(name)) });
        expect(code, stdout + stderr).to.equal(0);
        // An icon is for charts in a public catalogue.
        expect(stdout.split('\n').filter((line) => /^\[(INFO|WARNING|ERROR)\]/.test(line) && !line.includes('icon is recommended'))).to.deep.equal([]);
      });
    }
  }
});
