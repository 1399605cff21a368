// What a scenario is given, and what it does with it.
import { createInstallation, type HelmProgram, type Installation } from './installation.ts';
import type { Tags } from './image.ts';
import type { Kubectl } from './kubectl.ts';

export type Stage = {
  readonly tags: Tags;
  readonly ingressAddress: string;
  /** A namespace of the scenario's own with nothing installed yet; removed when the scenario has ended. */
  prepare(program?: HelmProgram): Promise<Installation>;
  /** Those of what was prepared so far. */
  readonly namespaces: readonly Kubectl[];
};

export type Scenario = {
  readonly name: string;
  /** A sentence that is true when it passes. */
  readonly proves: string;
  /** Throws when it is not. */
  run(stage: Stage): Promise<void>;
};

export type StageParts = { readonly name: string; readonly tags: Tags; readonly ingressAddress: string; readonly keep: boolean };

export function createStage({ name, tags, ingressAddress, keep }: StageParts): Stage & { close(): Promise<void> } {
  const installations: Installation[] = [];
  const namespaces: Kubectl[] = [];
  return {
    tags,
    ingressAddress,
    namespaces,
    prepare: async (program = 'helm') => {
      const namespace = `signalbox-test-${name}-${Date.now().toString(36).slice(-5)}${installations.length === 0 ? '' : `-${installations.length}`}`;
      const installation = await createInstallation({ namespace, tag: tags.first, ingressAddress, program });
      installations.push(installation);
      namespaces.push(installation.kubectl);
      return installation;
    },
    close: async () => {
      if (!keep) for (const installation of installations) await installation.remove();
    },
  };
}
