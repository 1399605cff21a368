// Completion in a shell: `signalbox completion bash` prints a script, which runs `signalbox complete -- <words>` at each Tab.
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/** The word to complete the arguments of, behind `signalbox complete --`; undefined when this is no completion. */
export const completedWord = ([command, dashes, word]: readonly string[]): string | undefined => (command === 'complete' && dashes === '--' ? word : undefined);

/** @param words the choices for the first argument of a command, by its name */
export function addCompletion(command: Command, words: Readonly<Record<string, readonly string[]>>): void {
  const { commands } = tab(command, { completionCommandName: 'completion' });
  for (const [name, choices] of Object.entries(words)) {
    const [argument] = commands.get(name)?.arguments.values() ?? [];
    if (argument) argument.handler = (complete) => choices.forEach((choice) => void complete(choice, ''));
  }
  command.commands.find((one) => one.name() === 'completion')?.hook('preAction', makeRepeatable);
}

/** A script that declares its constants `readonly` prints errors when a shell evaluates it a second time. The library prints by `console.log` only. */
function makeRepeatable(): void {
  const { log } = console;
  Object.assign(console, { log: (script: string) => log(script.replaceAll(/^readonly /gm, '')) });
}
