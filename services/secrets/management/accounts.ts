// ServiceAccounts of Kubernetes that are bound to an application: tokens of their pods read like its keys. Routes and rules.
import { v7 as newId } from 'uuid';
import { answer, route } from '../../platform/http/route.ts';
import { hashOfAccount } from '../consumer/store.ts';
import { InApplication, Problems } from '../contract.ts';
import { findApplication } from './applications.ts';
import { accountCursor, AccountsQuery, BoundAccount, BoundAccounts, maxAccounts, NewBinding, OfAccount } from './contract.ts';
import { pageOf } from '../paging.ts';
import type { ManagementStore } from './store.ts';
import type { UnitOfWork } from './unit-of-work.ts';

const accountPath = '/api/management/applications/{slug}/service-accounts/{namespace}/{account}';

export const accountRoutes = (store: ManagementStore, write: UnitOfWork) => [
  route({
    method: 'get',
    path: '/api/management/applications/{slug}/service-accounts',
    operationId: 'listServiceAccounts',
    isQueryClosed: true,
    summary: 'The ServiceAccounts that are bound to an application, by namespace and name',
    description: 'Lists the accounts of Kubernetes whose tokens read the secrets and configuration of the application, where `Secrets__ServiceAccounts` is on.',
    params: InApplication,
    query: AccountsQuery,
    answers: { 200: BoundAccounts },
    problems: [Problems.applicationMissing],
    async handle({ params, query: { limit, after: [after] = [''] } }) {
      const { id } = await findApplication(store, params.slug);
      return pageOf(await store.accounts.list(id, after, limit + 1), limit, accountCursor);
    },
  }),
  route({
    method: 'put',
    path: accountPath,
    operationId: 'bindServiceAccount',
    summary: 'Binds a ServiceAccount to an application, whose secrets tokens of the account then read',
    description: `An account is bound to one application; an application has at most ${maxAccounts}. The account need not exist yet. One that is bound to the application already stays so.`,
    params: NewBinding,
    answers: { 200: BoundAccount },
    problems: [Problems.applicationMissing, Problems.accountTaken, Problems.tooManyAccounts],
    handle(request) {
      const account = nameOf(request.params);
      return write.change(request, { action: 'application.bind-account', subject: account }, async ({ accounts }, applicationId, createdAt) => {
        const before = await accounts.find(applicationId, account);
        if (before) return before;
        if ((await accounts.count(applicationId)) >= maxAccounts) throw Problems.tooManyAccounts();
        const id = newId();
        if (!(await accounts.insert(applicationId, { id, account, keyHash: hashOfAccount(account), createdAt }))) throw Problems.accountTaken();
        return { id, namespace: request.params.namespace, name: request.params.account, createdAt, lastUsedAt: null };
      });
    },
  }),
  route({
    method: 'delete',
    path: accountPath,
    operationId: 'unbindServiceAccount',
    summary: 'Unbinds a ServiceAccount; its tokens stop working at once',
    description: 'Tokens of the account are refused on every replica from the moment of the answer.',
    params: OfAccount,
    answers: { 204: null },
    problems: [Problems.applicationMissing, Problems.accountMissing],
    async handle(request) {
      const account = nameOf(request.params);
      await write.change(request, { action: 'application.unbind-account', subject: account }, async ({ accounts }, applicationId) => {
        if (!(await accounts.remove(applicationId, account))) throw Problems.accountMissing();
      });
      return answer(204, null);
    },
  }),
];

const nameOf = ({ namespace, account }: { readonly namespace: string; readonly account: string }) => `${namespace}/${account}`;
