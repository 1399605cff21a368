// Mocha loads this first: it closes the shared servers after the last test.
import { closeAll } from './end-of-run.ts';

/** Mocha finds it by this name. */
export const mochaGlobalTeardown = closeAll;
