// The help of every command, read off the objects that print it.
import { expect } from 'chai';
import type { Command } from 'commander';
import { createWhole } from './whole.ts';

/** Commands that do something, with all their words. */
const commandsOf = (command: Command, words: readonly string[] = []): { words: string; command: Command }[] =>
  command.commands.flatMap((one) => {
    const all = [...words, one.name()];
    const inner = commandsOf(one, all);
    return inner.length > 0 && one.name() !== 'worker' ? inner : [{ words: all.join(' '), command: one }, ...inner];
  });

function helpOf(command: Command): string {
  let help = '';
  command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp();
  return help;
}

describe('the help of', () => {
  let whole: Command;
  before(async () => {
    whole = await createWhole();
  });
  const each = (look: (command: Command, words: string) => void) => () => {
    const all = commandsOf(whole);
    expect(all.map(({ words }) => words)).to.include.members([
      'serve',
      'worker cleanup',
      'trace',
      'queues',
      'doctor',
      'secrets run',
      'digest dead-letters',
      'listings import',
    ]);
    for (const { words, command } of all) look(command, words);
  };

  it(
    'every command says in one plain line what it does, and not what it reads',
    each((command, words) => {
      expect(command.description(), words)
        .to.match(/^[A-Za-z][^\n]{9,139}$/)
        .and.not.match(/\breads [A-Z]|_FILE/);
    }),
  );

  it(
    'every command lists what it reads of the environment',
    each((command, words) => expect(helpOf(command), words).to.match(/^Environment( \(each also as NAME_FILE\))?:/m)),
  );

  it(
    'every command has two examples of itself',
    each((command, words) => {
      const examples = helpOf(command)
        .split('\n')
        .filter((line) => new RegExp(`^ {2}.*signalbox ${words}( |$)`).test(line));
      expect(examples.length, words).to.be.at.least(2);
    }),
  );

  it(
    'every command describes its options, and marks those that are required',
    each((command, words) => {
      for (const { flags, description, mandatory } of command.options) {
        expect(description, `${words} ${flags}`).not.to.equal('');
        expect(description.endsWith('(required)'), `${words} ${flags}`).to.equal(mandatory);
      }
    }),
  );
});

describe('signalbox up', () => {
  async function refusalOf(...words: readonly string[]): Promise<string> {
    const up = (await createWhole()).commands.find((one) => one.name() === 'up');
    let error = '';
    up?.exitOverride().configureOutput({ writeErr: (text) => void (error += text) });
    await up?.parseAsync(words, { from: 'user' }).catch(() => undefined);
    return error.split('\n', 1)[0] ?? '';
  }

  it('refuses a base with too few ports above it, before anything is made', async () => {
    expect(await refusalOf('--port-base', '65529')).to.equal(
      "error: option '--port-base <port>' argument '65529' is invalid. must be a port number with 7 more above it",
    );
  });

  it('refuses a file in place of the data folder', async () => {
    expect(await refusalOf('--data', import.meta.filename)).to.match(/^error: option '--data <folder>' .* must be a folder$/);
  });
});
