// The type of a scenario, and the namespaces, image and address that it gets.
import { type Evidence, gatherEvidence } from './evidence.ts';
import type { Tags } from './image.ts';
import { createInstallation, type HelmProgram, type Installation } from './installation.ts';

export type Stage = {
  readonly tags: Tags;
  readonly ingressAddress: string;
  /** A namespace of the scenario's own with nothing installed yet; removed when the scenario has ended. */
  prepare(program?: HelmProgram): Promise<Installation>;
  /** Registers work for the end of the scenario, before its namespaces are deleted: removing what it added outside of them. */
  afterwards(work: () => Promise<unknown>): void;
};

export type Scenario = {
  readonly name: string;
  /** A sentence that is true when it passes. */
  readonly proves: string;
  /** Nodes that the cluster must have. Default: one. */
  readonly nodes?: number;
  /** Throws when it is not. */
  run(stage: Stage): Promise<void>;
};

export type StageParts = { readonly name: string; readonly tags: Tags; readonly ingressAddress: string; readonly keep: boolean };

/** The part of a stage that the runner uses. */
export type StageControl = {
  /** @returns a folder for each namespace that was prepared */
  keepEvidence(): Promise<string[]>;
  close(): Promise<void>;
};

export function createStage({ name, tags, ingressAddress, keep }: StageParts): Stage & StageControl {
  const installations: Installation[] = [];
  const evidence: Evidence[] = [];
  const last: (() => Promise<unknown>)[] = [];
  return {
    tags,
    ingressAddress,
    prepare: async (program = 'helm') => {
      const namespace = `signalbox-test-${name}-${Date.now().toString(36).slice(-5)}${installations.length === 0 ? '' : `-${installations.length}`}`;
      const installation = await createInstallation({ namespace, tag: tags.first, ingressAddress, program });
      installations.push(installation);
      evidence.push(await gatherEvidence(installation.kubectl));
      return installation;
    },
    afterwards: (work) => void last.push(work),
    keepEvidence: () => Promise.all(evidence.map((each) => each.keep())),
    close: async () => {
      for (const each of evidence) await each.close();
      if (keep) return;
      try {
        for (const work of last) await work();
      } finally {
        for (const installation of installations) await installation.remove();
      }
    },
  };
}
