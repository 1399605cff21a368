// How a refusal reads: a page for a browser, a problem document for a script.
import type { AskedRequest, RefusalForm, WrittenRefusal } from '../platform/http/refusals.ts';
import { problemDocuments } from '../platform/http/refusals.ts';
import { type Problem, toDocument } from '../platform/problem.ts';
import type { Sessions } from './access/sessions.ts';
import { errorPage, sentenceOf } from './error-page.ts';
import type { Entered } from './store.ts';
import type { Locale } from './view/locale.ts';
import { htmlType, type Kit } from './visits.ts';

const wantsPage = ({ headers: { accept = '' } }: AskedRequest) => accept.includes('text/html');
/** The script shows the detail to the person. */
const isOfScript = ({ headers: { accept } }: AskedRequest) => accept === 'application/json';

export const createRefusals = (kit: Kit, sessions: Pick<Sessions, 'find'>, runbookUrl: string | undefined): RefusalForm => ({
  ...problemDocuments,
  async write(problem: Problem, asked: AskedRequest): Promise<WrittenRefusal | undefined> {
    // While the database is away the person is not known: a page has no navigation then.
    const find = () => sessions.find(asked.headers).catch(() => undefined);
    if (isOfScript(asked)) return forScript(kit, problem, await find());
    if (!wantsPage(asked)) return undefined;
    const login = problem.members['login'];
    if (typeof login === 'string') return redirect(login);
    if (problem.status === 401 && (asked.method === 'GET' || asked.method === 'HEAD')) return redirect(`/login?to=${encodeURIComponent(asked.url)}`);
    const found = await find();
    const show = (locale: Locale) => errorPage(locale, problem, { ...asked, runbookUrl });
    const { status, page } = found ? kit.renderFor(found, asked.url, show) : kit.renderAlone(asked, show);
    return { status, mediaType: htmlType, text: page.toString() };
  },
});

const redirect = (path: string): WrittenRefusal => ({ status: 303, headers: { Location: path }, mediaType: 'text/plain', text: '' });

/** In the language of the person, where one is logged in. */
function forScript(kit: Kit, problem: Problem, found: Entered | undefined): WrittenRefusal | undefined {
  if (!found) return undefined;
  const detail = sentenceOf(kit.localeOf(found.person), problem);
  return { mediaType: problemDocuments.mediaType, text: JSON.stringify({ ...toDocument(problem), detail }) };
}
