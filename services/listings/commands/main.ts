// `signalbox listings <subcommand>`: each is loaded when it is asked for.
import type { SubcommandLoaders } from '../../platform/process/subcommand.ts';

export const subcommands: SubcommandLoaders = {
  import: async () => (await import('./import.ts')).importListings,
};
