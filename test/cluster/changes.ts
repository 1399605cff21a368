// Pods and endpoints in one line each: what a failed request is held against.
import type { ContainerStatus } from './pod-logs.ts';

/** `metadata` is absent in what a watch says about itself. */
export type ChangedPod = {
  readonly metadata?: { readonly name?: string; readonly deletionTimestamp?: string };
  readonly status: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
};

export type EndpointSlice = {
  readonly metadata?: { readonly name?: string };
  readonly endpoints?: readonly { readonly addresses: readonly string[]; readonly conditions: Readonly<Record<string, boolean>> }[];
};

export function describePod({ metadata, status }: ChangedPod): string {
  const containers = (status.containerStatuses ?? []).map(
    ({ name, restartCount, ready, state }) => `${name}#${restartCount} ${Object.keys(state ?? {}).join()}${ready ? ' ready' : ''}`,
  );
  return [status.phase, status.podIP, metadata?.deletionTimestamp && `ends by ${metadata.deletionTimestamp}`, ...containers].filter(Boolean).join(', ');
}

export function describeEndpoints({ endpoints }: EndpointSlice): string {
  const each = (endpoints ?? []).map(({ addresses, conditions }) => {
    const held = Object.entries(conditions).filter(([, holds]) => holds);
    return `${addresses.join()} ${held.map(([condition]) => condition).join('+')}`;
  });
  return each.join(', ') || 'none';
}
