// The `signalbox` command as a process: its output, the words that it is called with, and its exit code.
import { createCommand } from './command/command.ts';
import { addCompletion, completedWord } from './command/completion.ts';
import { brokerActions, spoolActions } from './command/on-call.ts';
import { deployables } from './command/deployables.ts';
import { hasCode } from './platform/errors.ts';
import { addSubcommands } from './command/subcommands.ts';

const { names, workerNames } = deployables;
const writeError = (text: string) => void process.stderr.write(`${text}\n`);

// Without a listener the event would end the process; the callback of each write has its error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

let isPrinted = true;
const print = (text: string) =>
  void process.stdout.write(text, (error) => {
    if (!error || !isPrinted) return;
    isPrinted = false;
    // `signalbox migrate | head`: the work goes on when its output is not read.
    if (hasCode(error, 'EPIPE')) return;
    writeError(`standard output cannot be written: ${error.message}`);
    process.once('exit', () => {
      if (process.exitCode === undefined || process.exitCode === 0) process.exitCode = 1;
    });
  });

const parts = { environment: process.env, print, writeError };
const command = createCommand(parts);

/** Commands of the link digest that work without its name. */
const isShort = ['token', 'hash-password'].includes(process.argv[2] ?? '');
const argv = isShort ? [...process.argv.slice(0, 2), 'digest', ...process.argv.slice(2)] : process.argv;
// `signalbox help secrets run`: commander's own help knows the first word only.
if (argv[2] === 'help' && argv.length > 3) {
  argv.splice(2, 1);
  argv.push('--help');
}

const completed = completedWord(argv.slice(2));
for (const [word, { summary, load }] of Object.entries(deployables.withSubcommands)) {
  const parent = command.command(word).description(summary);
  if (word !== (completed ?? argv[2])) continue;
  const { subcommands } = await load();
  await addSubcommands(parent, subcommands, { ...parts, words: completed === undefined ? argv.slice(3) : [] });
}
addCompletion(command, { serve: names, migrate: names, credentials: names, worker: workerNames, brokers: brokerActions, spool: spoolActions });

if (argv.some((word) => word === '--help' || word === '-h')) {
  const { addHelp } = await import('./command/help.ts');
  await addHelp(command, argv[2] === 'worker' ? workerNames.filter((name) => name === argv[3] || !workerNames.includes(argv[3] ?? '')) : []);
}

try {
  await command.parseAsync(argv);
} catch (error) {
  writeError(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
}
