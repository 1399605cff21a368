// Commands of the pages that send a credential: its setting is a list, of which a request takes one.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';

const root = join(import.meta.dirname, '../..');
const pages = globSync(['README.md', 'docs/*.md', 'k8s/runbooks/*.md'], { cwd: root });
const textOf = (page: string) => readFileSync(join(root, page), 'utf8');
const lists = [...textOf('docs/settings.md').matchAll(/^\| `(\w+)` \| comma-separated secrets/gm)].map(([, name = '']) => name);

/** Uses of it that would send all of a list. */
const wholes = (text: string) =>
  lists.flatMap((name) =>
    [...text.matchAll(new RegExp(`\\$${name}\\b|\\$\\{${name}\\}|=\\$\\([^)]*\\.data\\.${name}\\}' \\| base64 -d\\)`, 'g'))].map(([use]) => use),
  );

describe('commands of the pages that send a credential', () => {
  it('take the first of a list', () => {
    expect(lists).to.include.members(['Intake__AccessTokens', 'Broker__AuthToken']);
    for (const page of pages) expect(wholes(textOf(page)), page).to.deep.equal([]);
  });

  it('would be found, did they send the whole list', () => {
    const secret = `token=$(kubectl get secret some -o jsonpath='{.data.Broker__AuthToken}' | base64 -d)`;
    expect(wholes(`"token $Intake__AccessTokens" "\${Intake__AccessTokens%%,*}"\n${secret}`)).to.have.length(2);
  });
});
