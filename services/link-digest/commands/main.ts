// `signalbox digest <subcommand>`.
import type { SubcommandLoaders } from '../../platform/process/subcommand.ts';

export const subcommands: SubcommandLoaders = {
  evaluate: async () => (await import('./evaluate.ts')).evaluateExtraction,
  token: async () => (await import('./token.ts')).token,
  'hash-password': async () => (await import('./hash-password.ts')).hashPasswordCommand,
};
