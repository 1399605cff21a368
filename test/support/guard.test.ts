import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { isAlive } from './guard.ts';
import { eventually } from './wait.ts';

const Started = z.object({ pid: z.int(), directory: z.string() });

describe('the guard', () => {
  for (const signal of ['SIGKILL', 'SIGTERM', 'SIGINT'] as const) {
    it(`ends what a run had started and removes its folders when ${signal} ends the run`, async () => {
      const run = spawn(process.execPath, [join(import.meta.dirname, 'fixtures/guarded-process.ts')], { stdio: ['ignore', 'pipe', 'inherit'] });
      const [line] = z.tuple([z.string()]).parse(await once(createInterface({ input: run.stdout }), 'line'));
      const { pid, directory } = Started.parse(JSON.parse(line));
      expect(isAlive(pid)).to.equal(true);
      expect(existsSync(directory)).to.equal(true);
      run.kill(signal);
      await eventually(() => !isAlive(pid));
      await eventually(() => !existsSync(directory));
    });
  }
});
