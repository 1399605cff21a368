// Installed packages are the reviewed ones: exact versions, contents by hash, and no install script of a package that is not listed with its reason.
import { expect } from 'chai';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');

type Package = { readonly dependencies?: Readonly<Record<string, string>>; readonly devDependencies?: Readonly<Record<string, string>> };
type Component = {
  readonly name: string;
  readonly version: string;
  readonly hashes?: readonly unknown[];
  readonly properties: readonly { readonly name: string }[];
};
type Locked = {
  readonly version: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
};

const own: Package & { readonly allowScripts: Readonly<Record<string, boolean>> } = JSON.parse(read('package.json'));
const lockedIn = (file: string) => {
  const { packages }: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(read(file));
  return Object.entries(packages).filter(([path]) => path !== '');
};
const locked = lockedIn('package-lock.json');
const nameOf = (path: string) => path.replace(/^.*node_modules\//, '');

describe('supply chain', () => {
  it('has exact versions in package.json', () => {
    const ranges = Object.entries({ ...own.dependencies, ...own.devDependencies }).filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version));
    expect(ranges).to.deep.equal([]);
  });

  it('has a hash of each package, and none from elsewhere than the registry', () => {
    expect(locked.length).to.be.above(100);
    const all = [...locked, ...lockedIn('scripts/minify/package-lock.json')];
    expect(all.filter(([, { integrity = '' }]) => !/^sha512-[\w+/]{86}==$/.test(integrity)).map(([path]) => path)).to.deep.equal([]);
    expect(all.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).to.deep.equal([]);
  });

  it('lists each package with an install script, and docs/security.md gives the reason', () => {
    const scripted = locked.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => nameOf(path));
    expect(scripted.sort()).to.deep.equal(Object.keys(own.allowScripts).sort());
    const rows = new Map(
      [...read('docs/security.md').matchAll(/^ *\| `([^`|]+)` \| (runs|does not run) \| [^|]+ \|$/gm)].map(([, name = '', runs]) => [name, runs]),
    );
    expect(Object.fromEntries(rows)).to.deep.equal(
      Object.fromEntries(Object.entries(own.allowScripts).map(([name, runs]) => [name, runs ? 'runs' : 'does not run'])),
    );
  });

  it('runs no install script for what is in the image', () => {
    const inImage = new Set(locked.filter(([, { dev }]) => !dev).map(([path]) => nameOf(path)));
    expect(Object.entries(own.allowScripts).filter(([name, runs]) => runs && inImage.has(name))).to.deep.equal([]);
    expect(read('Dockerfile')).to.contain('npm ci --omit=dev --ignore-scripts');
    expect(read('Dockerfile').match(/npm ci .*/g)).to.satisfy((calls: string[]) => calls.every((call) => call.includes('--ignore-scripts')));
  });

  it('has the same Node in the image and in development', () => {
    expect(read('Dockerfile')).to.contain(`ARG NODE_IMAGE=docker.io/library/node:${own.devDependencies?.['node']}-slim\n`);
  });

  it('has a bill of materials that tells what is in the image', () => {
    const bill = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 2 ** 26 });
    const { bomFormat, components }: { readonly bomFormat: string; readonly components: readonly Component[] } = JSON.parse(bill);
    expect(bomFormat).to.equal('CycloneDX');
    expect(components.filter(({ hashes = [] }) => hashes.length === 0)).to.deep.equal([]);
    const shipped = components.filter(({ properties }) => !properties.some(({ name }) => name === 'cdx:npm:package:development'));
    const installed = locked.filter(([, { dev }]) => !dev).map(([path, { version }]) => `${nameOf(path)}@${version}`);
    expect(new Set(shipped.map(({ name, version }) => `${name}@${version}`))).to.deep.equal(new Set(installed));
    expect(installed).to.include.members(Object.entries(own.dependencies ?? {}).map((pair) => pair.join('@')));
  });
});
