// A process of `npm test`: runs the file of each message from `run.ts`; after an empty one, or when that has ended, it closes the shared servers.
import Mocha from 'mocha';
import { inspect } from 'node:util';
import { requireDescribed, watchAnswers } from './described-answers.ts';
import { closeAll } from './end-of-run.ts';
import { countLine, Reporter, summaryLine } from './reporter.ts';

const patienceMs = 10_000;
// Mocha finds `--color` or `--no-color` among the arguments by itself.
const [, , , grep] = process.argv;
/** A failed test may leave open what it began; its file has failed by that, or runs again. */
let hasFailed = false;

watchAnswers();
process.on('message', (message: string | object) => {
  if (typeof message !== 'string') return; // about a server that this process has asked for
  if (message) void run(message);
  else process.disconnect();
});
process.once('disconnect', () => void end());

async function run(file: string): Promise<void> {
  const mocha = new Mocha({
    reporter: Reporter,
    timeout: 120_000,
    slow: 2000,
    rootHooks: { afterEach: requireDescribed },
    ...(grep === undefined ? {} : { grep }),
  });
  mocha.addFile(file);
  try {
    await mocha.loadFilesAsync();
    // Otherwise its listeners to the process stay, file after file.
    mocha.run((failures) => {
      hasFailed ||= failures > 0;
      mocha.dispose();
    });
  } catch (error) {
    say(summaryLine, inspect(error), countLine({ passed: 0, failed: 1, skipped: 0 }));
  }
}

async function end(): Promise<void> {
  try {
    await closeAll();
  } catch (error) {
    say(summaryLine, inspect(error));
    process.exitCode = 1;
  }
  // Fires only if something else holds the process.
  setTimeout(() => {
    if (hasFailed) process.exit();
    say(summaryLine, `after the last test there are still open: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  }, patienceMs).unref();
}

function say(...lines: readonly string[]): void {
  for (const line of lines) process.stdout.write(`${line}\n`);
}
