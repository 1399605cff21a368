// `signalbox secrets <subcommand>`: each is loaded when it is asked for, since `run` stands in front of every start of a program.
import type { SubcommandLoaders } from '../../platform/process/subcommand.ts';

export const subcommands: SubcommandLoaders = {
  run: async () => (await import('./run.ts')).run,
  'import-env': async () => (await import('./import-env.ts')).importEnv,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  rewrap: async () => (await import('./rewrap.ts')).rewrap,
  audit: async () => (await import('./audit.ts')).audit,
};
