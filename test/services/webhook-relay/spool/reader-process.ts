// A process that replays a spool and has not the rights of root: `reader-process.ts <directory>`. Its log and what it publishes go to standard output.
import { writeSync } from 'node:fs';
import { createLog } from '../../../../services/platform/log.ts';
import { createPool } from '../../../../services/platform/postgres/pool.ts';
import { startReplica } from './fixtures.ts';

const [directory = ''] = process.argv.slice(2);
const log = createLog({ level: 'info', name: 'reader', destination: { write: (line) => void writeSync(1, line) } });
const database = createPool('postgres://nobody:x@127.0.0.1:1/none', { schema: 'relay', log });
if (process.getuid?.() === 0) process.setuid?.(Number(process.env['READER_UID']));
startReplica({
  directory,
  database,
  log,
  intervalMs: 50,
  publish: async ({ id }) => {
    writeSync(1, `${JSON.stringify({ published: id })}\n`);
    return 'published';
  },
});
