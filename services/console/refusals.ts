// How a refusal reads: a page for a browser, a problem document for a script.
import type { AskedRequest, RefusalForm, WrittenRefusal } from '../platform/http/refusals.ts';
import { problemDocuments } from '../platform/http/refusals.ts';
import type { Problem } from '../platform/problem.ts';
import type { Sessions } from './access/sessions.ts';
import { errorPage } from './error-page.ts';
import type { Locale } from './view/locale.ts';
import { htmlType, type Kit } from './visits.ts';

const wantsPage = ({ headers: { accept = '' } }: AskedRequest) => accept.includes('text/html');

export const createRefusals = (kit: Kit, sessions: Pick<Sessions, 'find'>, runbookUrl: string | undefined): RefusalForm => ({
  ...problemDocuments,
  async write(problem: Problem, asked: AskedRequest): Promise<WrittenRefusal | undefined> {
    if (!wantsPage(asked)) return undefined;
    const login = problem.members['login'];
    if (typeof login === 'string') return redirect(login);
    if (problem.status === 401 && (asked.method === 'GET' || asked.method === 'HEAD')) return redirect(`/login?to=${encodeURIComponent(asked.url)}`);
    // While the database is away the person is not known, and the page has no navigation.
    const found = await sessions.find(asked.headers).catch(() => undefined);
    const show = (locale: Locale) => errorPage(locale, problem, { ...asked, runbookUrl });
    return { mediaType: htmlType, ...(found ? kit.renderFor(found, asked.url, show) : kit.renderAlone(asked.headers, asked.url, show)) };
  },
});

const redirect = (path: string): WrittenRefusal => ({ status: 303, headers: { Location: path }, mediaType: 'text/plain', text: '' });
