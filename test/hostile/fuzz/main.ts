// `npm run fuzz -- [--files N] [--requests N] [--seed N]`: fuzzes imports of bookmark files, then every operation of every described service.
// Exit code 1: something was found.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { closeAll } from '../../support/end-of-run.ts';
import { fuzzFiles } from './files.ts';
import { fuzz } from './fuzz.ts';

const { values } = parseArgs({
  options: {
    files: { type: 'string', default: '2000' },
    requests: { type: 'string', default: '10000' },
    seed: { type: 'string', default: String(randomInt(2 ** 31)) },
  },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const [files, requests, seed] = [Number(values.files), Number(values.requests), Number(values.seed)];

try {
  say(`${files} bookmark files, seed ${seed}`);
  const lost = await fuzzFiles({ files, seed });
  for (const one of lost) say(`\nFOUND a file that loses a bookmark: ${one}`);
  say(`${requests} requests, seed ${seed}`);
  const startedAt = performance.now();
  const { findings, answers, accepted, deadLetters, memory } = await fuzz({ requests, seed, say });
  say(`${Math.round((performance.now() - startedAt) / 1000)} s; answers ${JSON.stringify(answers)}; deliveries accepted ${accepted}`);
  say(`MiB at a fifth, the half and the end: ${JSON.stringify(memory)}`);
  say(`dead letters by reason: ${JSON.stringify(deadLetters, null, 2)}`);
  for (const { what, count, example } of findings) say(`\nFOUND ${count} times: ${what}\n${example}`);
  say(`\n${findings.length + lost.length} findings`);
  if (findings.length + lost.length > 0) process.exitCode = 1;
} finally {
  await closeAll();
}
