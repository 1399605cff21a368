// `npm run fuzz -- [--requests N] [--seed N]`: fuzzes every operation of every described service. Exit code 1: something was found.
import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import { closeAll } from '../../support/end-of-run.ts';
import { fuzz } from './fuzz.ts';

const { values } = parseArgs({ options: { requests: { type: 'string', default: '10000' }, seed: { type: 'string', default: String(randomInt(2 ** 31)) } } });
const say = (line: string) => void process.stdout.write(`${line}\n`);
const [requests, seed] = [Number(values.requests), Number(values.seed)];

say(`${requests} requests, seed ${seed}`);
try {
  const startedAt = performance.now();
  const { findings, answers, accepted, deadLetters, memory } = await fuzz({ requests, seed, say });
  say(`${Math.round((performance.now() - startedAt) / 1000)} s; answers ${JSON.stringify(answers)}; deliveries accepted ${accepted}`);
  say(`MiB at a fifth, the half and the end: ${JSON.stringify(memory)}`);
  say(`dead letters by reason: ${JSON.stringify(deadLetters, null, 2)}`);
  for (const { what, count, example } of findings) say(`\nFOUND ${count} times: ${what}\n${example}`);
  say(`\n${findings.length} findings`);
  if (findings.length > 0) process.exitCode = 1;
} finally {
  await closeAll();
}
