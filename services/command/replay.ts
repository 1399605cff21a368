// `signalbox replay`: takes stored events through the notification rules and the typed tables once more.
import { z } from 'zod';
import { ReplayPlan, ReplayRun } from '../webhook-intake/dashboard/contract.ts';
import { numberText } from './figures.ts';
import type { Installation } from './installation.ts';

/** Members of the request; those that are texts choose its events. */
export type Replay = Readonly<Record<string, string | boolean>> & { readonly minScore?: string; readonly notify: boolean; readonly dryRun: boolean };

const answers = z.union([ReplayRun, ReplayPlan]);

/** @throws Error in words when the intake cannot be asked, or refuses */
export async function replay(installation: Installation, { minScore, ...others }: Replay, print: (text: string) => void): Promise<void> {
  const body = { ...others, ...(minScore !== undefined && { minScore: Number(minScore) }) };
  const answer = await installation.ask('webhook-intake', { method: 'POST', path: '/api/v1/events/replay', body }, answers);
  if ('runId' in answer) return print(`run ${answer.runId} replays ${eventsText(answer.count)}\n`);
  const more = answer.count > answer.ids.length ? ['…'] : [];
  print([`${eventsText(answer.count)} would be replayed`, ...answer.ids, ...more].map((line) => `${line}\n`).join(''));
}

const eventsText = (count: number): string => (count === 1 ? '1 event' : `${numberText(count)} events`);
