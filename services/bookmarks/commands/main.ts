// `signalbox bookmarks <subcommand>`.
import type { SubcommandLoaders } from '../../platform/process/subcommand.ts';

export const subcommands: SubcommandLoaders = {
  import: async () => (await import('./import.ts')).importFile,
  export: async () => (await import('./export.ts')).exportFile,
};
