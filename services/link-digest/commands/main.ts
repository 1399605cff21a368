// `signalbox digest <subcommand>`.
import type { SubcommandLoaders } from '../../platform/process/subcommand.ts';
import { queueSettings, storingSettings } from '../config.ts';

export const subcommands: SubcommandLoaders = {
  evaluate: async () => (await import('./evaluate.ts')).evaluateExtraction,
  token: async () => (await import('./token.ts')).token,
  'hash-password': async () => (await import('./hash-password.ts')).hashPasswordCommand,
  replay: async () => (await import('./replay.ts')).createReplay(storingSettings),
  'dead-letters': async () => (await import('./dead-letters.ts')).createDeadLetters(queueSettings),
};
