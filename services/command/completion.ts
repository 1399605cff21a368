// Completion in a shell: `signalbox completion bash` prints a script, which asks `signalbox complete -- <words>` at each Tab.
import tab from '@bomb.sh/tab/commander';
import type { Command } from 'commander';

/** Whose completion is asked for: the word behind `signalbox complete --`, else undefined. */
export const completedWord = ([command, dashes, word]: readonly string[]): string | undefined => (command === 'complete' && dashes === '--' ? word : undefined);

/** @param words what the first argument of a command may be, by its name */
export function addCompletion(command: Command, words: Readonly<Record<string, readonly string[]>>): void {
  const { commands } = tab(command, { completionCommandName: 'completion' });
  for (const [name, choices] of Object.entries(words)) {
    const [argument] = commands.get(name)?.arguments.values() ?? [];
    if (argument) argument.handler = (complete) => choices.forEach((choice) => void complete(choice, ''));
  }
}
