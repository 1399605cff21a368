// `npm run test:postgres`: one Postgres for the edit loop, which test runs use by TEST_DATABASE_URL, until Ctrl-C.
import { once } from 'node:events';
import { startPostgres, unsafe } from './postgres.ts';

const server = await startPostgres({ settings: unsafe });
process.stdout.write(`export TEST_DATABASE_URL='${server.url}'\n`);
const ended = ['SIGINT', 'SIGTERM'].map((signal) => once(process, signal));
// Keeps the process running: waiting for a signal does not.
const holding = setInterval(() => undefined, 60_000);
await Promise.race(ended);
clearInterval(holding);
await server.close();
