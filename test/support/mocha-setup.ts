// Mocha loads this first: it closes the shared servers after the last test, and names what tests left open.
import { closeAll } from './end-of-run.ts';

const patienceMs = 10_000;

/** Mocha finds it by this name. */
export async function mochaGlobalTeardown(): Promise<void> {
  await closeAll();
  // Fires only if something else holds the process.
  setTimeout(() => {
    process.stderr.write(`after the last test there are still open: ${process.getActiveResourcesInfo().join(', ')}\n`);
    // Mocha sets the code of its count on exit; this comes after it.
    process.on('exit', () => (process.exitCode = 1));
    process.exit();
  }, patienceMs).unref();
}
