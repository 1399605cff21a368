// The thread that parses one mail and ends. It is given its bytes and the pattern of links, and nothing else; it says when it begins.
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';
import { begins, parseAlertMail } from './parser.ts';

const { raw, linkPattern } = z.object({ raw: z.instanceof(Uint8Array), linkPattern: z.instanceof(RegExp) }).parse(workerData);
parentPort?.postMessage(begins);
parentPort?.postMessage(await parseAlertMail(raw, linkPattern));
