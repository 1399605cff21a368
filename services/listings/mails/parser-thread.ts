// The thread that parses alert mails, one after the other. It gets their bytes and the pattern of links, and nothing else.
import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { serveParser } from '../../platform/mail/parser-thread.ts';
import { parseAlertMail } from './parser.ts';

const linkPattern = z.instanceof(RegExp).parse(workerData);
serveParser((raw) => parseAlertMail(raw, linkPattern));
