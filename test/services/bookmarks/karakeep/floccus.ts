// The requests of floccus' adapter for Karakeep, in its order and with its bodies: src/lib/adapters/Karakeep.ts of floccus 5 (state a59e059).
import { call } from '../service.ts';

export type Tree = { readonly id: string; readonly title: string; readonly folders: Tree[]; readonly bookmarks: { id: string; title: string; url: string }[] };
type Item = { readonly id?: string; readonly title: string; readonly url?: string; readonly parentId: string };
type List = { readonly id: string; readonly name: string; readonly parentId: string | null };

export class HttpError extends Error {
  readonly status: number;
  constructor(status: number) {
    super(`HTTP ${status}`);
    this.status = status;
  }
}

export function createFloccus(server: string, password: string) {
  /** It sends `undefined` as no body, and refuses any status of 400 and above. */
  async function send(method: string, path: string, body?: unknown) {
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${password}` };
    const response = await call(server, method, path, { ...(body !== undefined && { body: JSON.stringify(body) }), headers });
    if (response.status >= 400) throw new HttpError(response.status);
    return response.body;
  }
  const ignoreMissing = (error: unknown) => {
    if (!(error instanceof HttpError) || error.status !== 404) throw error;
  };
  async function linksOf(listId: string) {
    const links: { id: string; title: string | null; content: { type: string; title: string; url: string } }[] = [];
    let cursor: string | null = null;
    do {
      const page: { bookmarks: typeof links; nextCursor: string | null } = await send(
        'GET',
        `/api/v1/lists/${listId}/bookmarks?includeContent=false&${cursor === null ? '' : `cursor=${cursor}`}`,
      );
      cursor = page.nextCursor;
      links.push(...page.bookmarks);
    } while (cursor !== null);
    return links;
  }
  const floccus = {
    async createBookmark({ url, title, parentId }: Item): Promise<string> {
      const { id, alreadyExists } = await send('POST', '/api/v1/bookmarks', { type: 'link', url, title });
      if (alreadyExists) await send('PATCH', `/api/v1/bookmarks/${id}`, { title });
      await send('PUT', `/api/v1/lists/${parentId}/bookmarks/${id}`);
      return `${id};${parentId}`;
    },
    async updateBookmark({ id: both = '', url, title, parentId }: Item): Promise<string> {
      const [id, oldParentId] = both.split(';');
      await send('PATCH', `/api/v1/bookmarks/${id}`, { url, title });
      if (oldParentId !== parentId)
        await Promise.all([send('DELETE', `/api/v1/lists/${oldParentId}/bookmarks/${id}`), send('PUT', `/api/v1/lists/${parentId}/bookmarks/${id}`)]);
      return `${id};${parentId}`;
    },
    async removeBookmark(both: string): Promise<void> {
      const [id, parentId] = both.split(';');
      try {
        await send('DELETE', `/api/v1/lists/${parentId}/bookmarks/${id}`);
        const { lists } = await send('GET', `/api/v1/bookmarks/${id}/lists`);
        if (lists.length === 0) await send('DELETE', `/api/v1/bookmarks/${id}`);
      } catch (error) {
        ignoreMissing(error);
      }
    },
    createFolder: async ({ title, parentId }: Item): Promise<string> =>
      (await send('POST', '/api/v1/lists', { name: title, icon: '📔', type: 'manual', parentId })).id,
    updateFolder: ({ id, title, parentId }: Item) => send('PATCH', `/api/v1/lists/${id}`, { name: title, parentId }),
    async removeFolder(id: string): Promise<void> {
      const content = async () => void (await Promise.all((await linksOf(id)).map((link) => floccus.removeBookmark(`${link.id};${id}`))));
      const folders = async () => {
        const { lists } = (await send('GET', '/api/v1/lists')) as { lists: List[] };
        await Promise.all(lists.filter((list) => list.parentId === id).map((list) => floccus.removeFolder(list.id)));
      };
      await Promise.all([content(), folders()]);
      await send('DELETE', `/api/v1/lists/${id}`).catch(ignoreMissing);
    },
    async getBookmarksTree(serverFolder: string): Promise<Tree> {
      const { lists } = (await send('GET', '/api/v1/lists')) as { lists: List[] };
      const root: List =
        lists.find((list) => list.name === serverFolder && list.parentId === null) ??
        (await send('POST', '/api/v1/lists', { name: serverFolder, icon: '📔', type: 'manual' }));
      const build = async (list: List): Promise<Tree> => ({
        id: list.id,
        title: list.name,
        bookmarks: (await linksOf(list.id))
          .filter(({ content }) => content.type === 'link')
          .map(({ id, title, content }) => ({ id: `${id};${list.id}`, title: title ?? content.title, url: content.url })),
        folders: await Promise.all(lists.filter(({ parentId }) => parentId === list.id).map(build)),
      });
      return build(root);
    },
  };
  return floccus;
}
