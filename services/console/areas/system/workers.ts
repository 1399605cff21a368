// Workers: their state, a start, and the runs of each.
import { z } from 'zod';
import type { VNode } from '../../view/elements.ts';
import type { AnswerOf } from '../../../platform/http/wire.ts';
import { queryChoice } from '../../../platform/schema.ts';
import { JobName, RunStatus, WorkerRun, WorkerState } from '../../../webhook-intake/contract.ts';
import { action, noFields, page, pageRows, type Visit } from '../../pages.ts';
import { pathOf } from '../../upstream/client.ts';
import { filterForm } from '../../view/filters.ts';
import { actionButton, actionsFormElement, type Column, rowLink, table } from '../../view/lists.ts';
import type { Locale } from '../../view/locale.ts';
import { pager, withQuery } from '../../view/pager.ts';
import { pageHead, section } from '../../view/shell.ts';
import { empty, filteredEmpty } from '../../view/states.ts';
import { badge, brief, quiet, said, time, type Tone } from '../../view/texts.ts';
import { systemTabs } from './tabs.ts';

const path = '/system/workers';
const WorkerStates = z.object({ items: z.array(WorkerState) });
const Runs = z.object({ items: z.array(WorkerRun), next: z.string().nullable() });
type Worker = AnswerOf<typeof WorkerState>;
type Run = AnswerOf<typeof WorkerRun>;

const tones: Readonly<Record<Run['status'], Tone>> = { accepted: 'info', running: 'info', succeeded: 'good', failed: 'bad' };
const stateOf = ({ t: { system } }: Locale, { status }: Run) => badge(tones[status], system.workers.states[status]);

const list = page({
  path,
  area: 'system',
  query: z.object({ worker: queryChoice(JobName).optional(), status: queryChoice(RunStatus).optional(), after: z.string().optional() }),
  async show(visit) {
    const { locale, ask, query } = visit;
    const { system } = locale.t;
    const intake = ask('intake');
    const [{ items: workers }, { items, next }] = await Promise.all([
      intake.get('/api/v1/workers', WorkerStates),
      intake.get('/api/v1/workers/runs', Runs, { ...query, limit: pageRows }),
    ]);
    const isFiltered = query.worker !== undefined || query.status !== undefined;
    const { worker, status } = query;
    const filters = [
      { kind: 'choice', name: 'worker', label: system.workers.worker, options: JobName.options.map((value) => ({ value, label: value })) },
      { kind: 'choice', name: 'status', label: system.state, options: RunStatus.options.map((value) => ({ value, label: system.workers.states[value] })) },
    ] as const;
    return {
      title: system.workers.title,
      body: [
        pageHead({ title: system.workers.title, lead: system.workers.lead }),
        systemTabs(visit, 'workers'),
        query.after === undefined && !isFiltered ? workerTable(visit, workers) : null,
        section(
          system.workers.runs,
          filterForm(locale, { path, query: { worker, status }, filters }),
          items.length > 0 ? runTable(locale, items) : isFiltered ? filteredEmpty(locale, path) : empty({ title: system.workers.noRuns }),
          items.length > 0 ? pager(locale, { path, query, shown: items.length, next }) : null,
        ),
        actionsFormElement(),
      ],
    };
  },
});

/** The page of the runs of one worker. */
export const workerPath = (worker: string) => withQuery(path, { worker });

export function workerTable({ locale, may }: Visit, workers: readonly Worker[]): VNode {
  const { system } = locale.t;
  const columns: readonly Column<Worker>[] = [
    { label: system.workers.worker, kind: 'main', cell: ({ worker }) => rowLink(workerPath(worker), worker) },
    { label: system.workers.running, kind: 'number', cell: ({ running }) => locale.format.number(running) },
    { label: system.workers.lastRun, cell: ({ lastRun }) => (lastRun ? [stateOf(locale, lastRun), ' ', time(locale, lastRun.startedAt)] : '') },
    { label: system.workers.processed, kind: 'number', cell: ({ lastRun }) => (lastRun ? locale.format.number(lastRun.processed) : '') },
    { label: system.fault, kind: 'minor', cell: ({ lastRun }) => brief(said(locale, lastRun?.error ?? null)) },
    ...(may('system', 'editor') ? [{ label: system.actions, kind: 'actions', cell: startButton(locale) } as const] : []),
  ];
  return table({ caption: system.workers.title, columns, items: workers, idOf: ({ worker }) => worker });
}

const startButton =
  ({ t: { system } }: Locale) =>
  ({ worker }: Worker): VNode =>
    actionButton({ path: `${path}/${worker}/run`, label: system.workers.start, inPlace: 'stay' });

function runTable(locale: Locale, runs: readonly Run[]): VNode {
  const { system } = locale.t;
  const columns: readonly Column<Run>[] = [
    { label: system.workers.worker, kind: 'main', cell: ({ worker }) => worker },
    { label: system.state, cell: (run) => stateOf(locale, run) },
    { label: system.workers.began, cell: ({ startedAt }) => time(locale, startedAt) },
    { label: system.workers.took, kind: 'number', cell: (run) => tookOf(locale, run) },
    { label: system.workers.processed, kind: 'number', cell: ({ processed }) => locale.format.number(processed) },
    { label: system.workers.failed, kind: 'number', cell: ({ failed }) => locale.format.number(failed) },
    { label: system.fault, cell: ({ error }) => brief(said(locale, error)) },
  ];
  return table({ caption: system.workers.runs, columns, items: runs, idOf: ({ runId }) => runId });
}

const tookOf = ({ format, t: { system } }: Locale, { startedAt, finishedAt }: Run) =>
  startedAt === null || finishedAt === null
    ? quiet('–')
    : system.workers.seconds(format.number(Math.round((Date.parse(finishedAt) - Date.parse(startedAt)) / 100) / 10));

const start = action({
  path: '/system/workers/{name}/run',
  area: 'system',
  params: z.object({ name: z.string() }),
  form: noFields,
  async run({ params: { name }, locale, ask }) {
    await ask('intake').send({ method: 'POST', path: pathOf`/api/v1/workers/${name}/run` }, z.unknown());
    const { workers } = locale.t.system;
    return { message: workers.started(name), link: { href: workerPath(name), label: workers.showRun }, target: name };
  },
});

export const workerPages = [list, start];
