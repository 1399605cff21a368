// The addresses of the area of secrets, and its parts.
import { z } from 'zod';
import type { VNode } from '../../view/elements.ts';
import { tabs } from '../../view/filters.ts';
import type { Locale } from '../../view/locale.ts';
import { withQuery } from '../../view/pager.ts';

export const area = 'secrets';
export const listPath = '/secrets';
export const auditPath = '/secrets/audit';
export const newPath = '/secrets/new';

/** Pages of the area whose addresses an application could have; no slug has a `~`. */
const taken: readonly string[] = [auditPath, newPath];
export const appPath = (slug: string): `/${string}` => {
  const path = `${listPath}/${encodeURIComponent(slug)}` as const;
  return taken.includes(path) ? `${listPath}/~${slug}` : path;
};
export const secretPath = (slug: string, name: string): `/${string}` => `${appPath(slug)}/${encodeURIComponent(name)}`;

const App = z.string().transform((given) => given.replace(/^~/, ''));
export const InApp = z.object({ app: App });
export const OfSecret = z.object({ app: App, secret: z.string() });
export type SecretNames = z.output<typeof OfSecret>;

/** By the query, as a secret may have any name. */
export const AppPart = z.enum(['secrets', 'new', 'configuration', 'keys', 'import']);
export type AppPart = z.output<typeof AppPart>;
export const PartQuery = z.object({
  part: AppPart.default('secrets'),
  q: z.string().optional(),
  /** In the matrix: secrets that lack a value. */
  lacking: z.literal('true').optional(),
  /** In the configuration: entries that environments have differently. */
  differing: z.literal('true').optional(),
  after: z.string().optional(),
});
export type PartQuery = z.output<typeof PartQuery>;
export const partPath = (slug: string, part: AppPart) => withQuery(appPath(slug), { part: part === 'secrets' ? undefined : part });
export const auditOf = (slug: string, subject?: string) => withQuery(auditPath, { application: slug, subject });

export const areaTabs = ({ t }: Locale, current: 'applications' | 'audit'): VNode =>
  tabs(t.view.areas.secrets, [
    { label: t.secrets.applications, href: listPath, isCurrent: current === 'applications' },
    { label: t.secrets.audit.title, href: auditPath, isCurrent: current === 'audit' },
  ]);

export const appTabs = ({ t }: Locale, slug: string, current: AppPart): VNode =>
  tabs(
    slug,
    (['secrets', 'configuration', 'keys'] as const).map((part) => ({ label: t.secrets.parts[part], href: partPath(slug, part), isCurrent: part === current })),
  );
