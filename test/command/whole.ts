// The `signalbox` command with all its subcommands and their help, as tests read it.
import type { Command } from 'commander';
import { createCommand } from '../../services/command/command.ts';
import { deployables } from '../../services/command/deployables.ts';
import { addHelp } from '../../services/command/help.ts';
import { addSubcommands } from '../../services/command/subcommands.ts';

const ignore = () => undefined;

export async function createWhole(): Promise<Command> {
  const parts = { environment: {}, print: ignore, writeError: ignore };
  const command = createCommand(parts);
  for (const [word, { summary, load }] of Object.entries(deployables.withSubcommands))
    await addSubcommands(command.command(word).description(summary), (await load()).subcommands, { ...parts, words: [] });
  await addHelp(command, deployables.workerNames);
  return command;
}
