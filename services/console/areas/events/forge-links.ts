// The pages of the forge that an event is about, as its payload names them.
import { memberAt, objectAt, textAt } from '../../../platform/json.ts';
import { safeUrl } from '../../view/texts.ts';

type ForgeLink = { readonly label: string; readonly url: string };

/** In this order: the thing itself first, then where it is. */
const subjects = [
  'workflow_run',
  'workflow_job',
  'check_run',
  'comment',
  'review',
  'pull_request',
  'issue',
  'release',
  'discussion',
  'deployment',
  'head_commit',
  'repository',
  'sender',
] as const;

const nameOf = (subject: string, object: unknown): string => {
  const number = memberAt(object, 'number') ?? memberAt(object, 'run_number');
  const name = textAt(object, 'full_name') ?? textAt(object, 'login') ?? textAt(object, 'tag_name');
  const words = subject.replaceAll('_', ' ');
  return typeof number === 'number' ? `${words} #${number}` : [words, name].filter(Boolean).join(' ');
};

/** Only addresses that a browser may open. */
export function linksIn(payload: unknown): readonly ForgeLink[] {
  const named = subjects.flatMap((subject) => {
    const object = objectAt(payload, subject);
    const url = textAt(object, 'html_url') ?? textAt(object, 'url');
    return object && url !== undefined ? [{ label: nameOf(subject, object), url }] : [];
  });
  const compare = textAt(payload, 'compare') ?? textAt(payload, 'compare_url');
  const all = compare === undefined ? named : [{ label: 'compare', url: compare }, ...named];
  return all.filter(({ url }) => safeUrl(url) !== undefined && !url.startsWith('https://api.github.com/')).slice(0, 8);
}
