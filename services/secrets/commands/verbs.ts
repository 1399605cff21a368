// `signalbox secrets <verb>`.
import type { Verb } from '../../platform/verb.ts';
import { audit } from './audit.ts';
import { backup } from './backup.ts';
import { importEnv } from './import-env.ts';
import { restore } from './restore.ts';
import { rewrap } from './rewrap.ts';
import { run } from './run.ts';

export const verbs: Readonly<Record<string, Verb>> = { run, 'import-env': importEnv, backup, restore, rewrap, audit };
