// The section of runbooks on what to do: it has commands, and everything that they name exists.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import type { Command } from 'commander';
import { parse } from 'yaml';
import { z } from 'zod';
import { createBookmarkPages } from '../../services/console/areas/bookmarks/bookmarks.ts';
import { deadLetterPages } from '../../services/console/areas/system/dead-letters.ts';
import { notificationPages } from '../../services/console/areas/system/notifications.ts';
import { systemPages } from '../../services/console/areas/system/system.ts';
import { createWhole } from '../command/whole.ts';
import { runbooks } from './shipped.ts';

const root = join(import.meta.dirname, '../..');
const pages = runbooks.map((path) => ({ name: basename(path, '.md'), text: readFileSync(path, 'utf8') }));
const blocksOf = (text: string) => [...text.matchAll(/^ *```sh\n(.*?)^ *```$/gms)].map(([, block = '']) => block);
const toDoOf = (text: string) => text.slice(text.indexOf('\n## What to do\n'));

const Values = z.record(z.string(), z.unknown());
const readYaml = (path: string) => Values.parse(parse(readFileSync(join(root, path), 'utf8')));
const readNames = (path: string) => z.array(z.string()).parse(JSON.parse(readFileSync(join(root, path), 'utf8')));

/** The words of each `signalbox …` in a text: behind kubectl's `--`, alone, or in a command of `sh -c`. */
function callsOf(text: string): string[][] {
  return [...text.matchAll(/(?:^|-- |["'`]|; )signalbox ((?:"[^"]*"|[^\n;`"])*)/gm)].map(([, words = '']) => [...(words.match(/"[^"]*"|'[^']*'|\S+/g) ?? [])]);
}

/** Why commander would refuse the words; undefined when it would not. */
function faultOf(command: Command, words: readonly string[]): string | undefined {
  const operands: string[] = [];
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? '';
    if (!word.startsWith('--')) {
      const inner = operands.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
      if (inner) return faultOf(inner, words.slice(index + 1));
      operands.push(word);
      continue;
    }
    const option = command.options.find(({ long }) => long === word);
    if (!option) return `${command.name()} has no option ${word}`;
    if (option.required) index += 1;
  }
  const known = command.registeredArguments;
  if (operands.length > known.length && known.at(-1)?.variadic !== true) return `${command.name()} takes no ${operands[known.length] ?? ''}`;
  const [first] = known;
  const choices = first?.argChoices;
  return choices && operands[0] !== undefined && !choices.includes(operands[0]) ? `${command.name()} knows no ${operands[0]}` : undefined;
}

describe('what runbooks say to do', () => {
  for (const { name, text } of pages)
    it(`${name} has a command for it`, () => {
      expect(blocksOf(toDoOf(text))).not.to.deep.equal([]);
    });

  it('calls commands of the program that exist, with options and operands that they take', async () => {
    const whole = await createWhole();
    const calls = pages.flatMap(({ name, text }) => callsOf(text).map((words) => ({ name, words })));
    expect(calls.length).to.be.above(50);
    expect(calls.flatMap(({ name, words }) => faultOf(whole, words)?.concat(` (${name})`) ?? [])).to.deep.equal([]);
    // The check itself finds faults.
    expect(faultOf(whole, ['queue'])).to.equal('signalbox takes no queue');
    expect(faultOf(whole, ['spool', 'retry', '--all'])).to.equal('spool has no option --all');
    expect(faultOf(whole, ['brokers', 'raise'])).to.equal('brokers knows no raise');
  });

  it('sets values that the charts have', () => {
    const charts = { signalbox: readYaml('charts/signalbox/values.yaml'), 'signalbox-operator': readYaml('charts/signalbox-operator/values.yaml') };
    const settings = readNames('services/command/setting-names.json');
    const set = pages.flatMap(({ name, text }) =>
      [...text.matchAll(/helm [^\n]*? charts\/(\S+) ([^\n]*)/g)].flatMap(([, chart = '', rest = '']) =>
        [...rest.matchAll(/--set ([^=\s]+)=/g)].map(([, path = '']) => ({ name, chart, path })),
      ),
    );
    expect(set.length).to.be.above(25);
    const isThere = (chart: string, path: string) => hasValue(charts[chart === 'signalbox' ? 'signalbox' : 'signalbox-operator'], path, settings);
    expect(set.filter(({ chart, path }) => !isThere(chart, path))).to.deep.equal([]);
    for (const wrong of ['services.webhook-relay.limit', 'services.webhook-relay.settings.Forge__MaxBytes', 'services.relay.replicas', 'postgres.cpu'])
      expect(isThere('signalbox', wrong), wrong).to.equal(false);
  });

  it('searches logs for words that the services write', () => {
    const sources = readdirSync(join(root, 'services'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
    const all = sources.map((path) => readFileSync(join(root, 'services', path), 'utf8')).join('\n');
    const searched = pages.flatMap(({ name, text }) =>
      [...text.matchAll(/ logs [^\n]*\| grep '([a-zA-Z][^'"|\\]*)'/g)].map(([, words = '']) => ({ name, words })),
    );
    expect(searched.length).to.be.above(15);
    expect(searched.filter(({ words }) => !all.includes(words))).to.deep.equal([]);
  });

  it('names settings, metrics, routes and pages that exist', () => {
    const sources = readdirSync(join(root, 'services'), { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'));
    const metrics = new Set(sources.flatMap((path) => readFileSync(join(root, 'services', path), 'utf8').match(/\bsignalbox_[a-z_]+/g) ?? []));
    const settings = new Set(readNames('services/command/setting-names.json'));
    const consolePages = new Set([...systemPages, ...deadLetterPages, ...notificationPages, ...createBookmarkPages()].map(({ path }) => path));
    const unknown = pages.flatMap(({ name, text }) => [
      ...(text.match(/\bsignalbox_[a-z_]+/g) ?? []).filter((metric) => !metrics.has(metric)).map((metric) => `${name}: ${metric}`),
      ...(text.match(/\b[A-Z][A-Za-z]+__[A-Z]\w+/g) ?? []).filter((setting) => !settings.has(setting)).map((setting) => `${name}: ${setting}`),
      ...routesOf(text)
        .filter((route) => !isRoute(route))
        .map(({ method, path }) => `${name}: ${method} ${path}`),
      ...[...text.matchAll(/In the console: `([^`]+)`/g)]
        .filter(([, path = '']) => !consolePages.has(path as `/${string}`))
        .map(([, path = '']) => `${name}: ${path}`),
    ]);
    expect(unknown).to.deep.equal([]);
  });
});

/** A service and a worker have what `defaults` have; settings, parameters and labels have names of their own. */
function hasValue(chart: unknown, path: string, settings: readonly string[]): boolean {
  const [head, ...rest] = path.split('.');
  const values = Values.parse(chart);
  const [service = '', ...below] = rest;
  if (head !== 'services') return walk(values, [head ?? '', ...rest], settings);
  const own = Values.parse(values['services'])[service];
  const defaults = Values.parse(values['defaults']);
  if (own === undefined) return false;
  const [workers, worker = '', ...ofWorker] = below;
  if (workers !== 'workers') return walk(own, below, settings) || walk(defaults, below, settings);
  const isWorker = walk(own, ['workers', worker], settings);
  return isWorker && [defaults['worker'], defaults].some((one) => walk(one, ofWorker, settings));
}

const free = ['labels', 'parameters', 'limits', 'requests', 'extraConfiguration'];
function walk(value: unknown, [name, ...rest]: readonly string[], settings: readonly string[]): boolean {
  if (name === undefined) return true;
  if (name === 'settings') return rest.length === 1 && (settings.includes(rest[0] ?? '') || /^BROKER_(LIMIT|URL)_\d+$/.test(rest[0] ?? ''));
  const known = Values.safeParse(value);
  if (!known.success || !Object.hasOwn(known.data, name)) return false;
  return free.includes(name) || walk(known.data[name], rest, settings);
}

type Route = { readonly service: string; readonly method: string; readonly path: string };

/** Requests of `node -e` in the pod of a service. */
const routesOf = (text: string): Route[] =>
  [...text.matchAll(/(?:service|deploy)\/signalbox-([a-z-]+) -- node -e '[^\n]*?fetch\(`http:\/\/127\.0\.0\.1:8080([^`?]*)[^`]*`([^\n]*)/g)].map(
    ([, service = '', path = '', rest = '']) => ({
      service,
      path,
      method: /method: `([A-Z]+)`/.exec(rest)?.[1] ?? 'GET',
    }),
  );

const Description = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
function isRoute({ service, method, path }: Route): boolean {
  const { paths } = Description.parse(JSON.parse(readFileSync(join(root, `docs/openapi/${service}.json`), 'utf8')));
  return Object.entries(paths).some(
    ([template, methods]) => new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`, 'i').test(path) && Object.hasOwn(methods, method.toLowerCase()),
  );
}
