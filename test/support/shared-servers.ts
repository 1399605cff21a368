// One server of a kind for all processes of a run: the first that asks has it started, in the process that they were forked from.
import type { ChildProcess } from 'node:child_process';

/** URLs by what they lead to. */
type Urls = Readonly<Record<string, string>>;
type Question = { readonly wanted: string };
type Answer = Question & { readonly urls?: Urls; readonly failure?: string };

export type SharedServer<Name extends string = string> = { readonly pid: number; readonly urls: Readonly<Record<Name, string>> };

/** In the process of `run.ts`. Each is started at most once. */
export function createSharedServers(start: Readonly<Record<string, () => Promise<SharedServer>>>) {
  const started = new Map<string, Promise<SharedServer>>();

  async function answer({ wanted }: Question): Promise<Answer> {
    const server = started.get(wanted) ?? start[wanted]?.() ?? Promise.reject(new Error(`no server is called ${wanted}`));
    started.set(wanted, server);
    return server.then(
      ({ urls }) => ({ wanted, urls }),
      (error: unknown) => ({ wanted, failure: String(error) }),
    );
  }

  return {
    /** The servers that a file asked for and that could be started. */
    async running(): Promise<readonly { readonly name: string; readonly pid: number }[]> {
      const all = await Promise.allSettled([...started].map(async ([name, server]) => ({ name, pid: (await server).pid })));
      return all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    },
    answerTo(child: ChildProcess): void {
      child.on('message', (question: Question) => void answer(question).then((answer) => child.connected && child.send(answer)));
    },
  };
}

/** In a process that `run.ts` has forked; undefined in any other. */
export function askForServer(wanted: string): Promise<Urls> | undefined {
  if (!process.env['TEST_PROCESS'] || !process.send) return undefined;
  const { promise, resolve, reject } = Promise.withResolvers<Urls>();
  process.on('message', function hear(answer: Answer) {
    if (answer.wanted !== wanted) return;
    process.off('message', hear);
    if (answer.urls) resolve(answer.urls);
    else reject(new Error(answer.failure));
  });
  process.send({ wanted } satisfies Question);
  return promise;
}
