// The headers of a proxy that has logged the person in. The app keeps them only of requests from the proxy's own address.
import type { IncomingHttpHeaders } from 'node:http';
import { Common } from '../../platform/problem.ts';
import type { ConsoleConfig } from '../config.ts';
import { hasHidden } from './hidden-characters.ts';

export type ProxyIdentity = { readonly user: string; readonly groups: readonly string[] };

export type ForwardAuth = ReturnType<typeof createForwardAuth>;

const longestUser = 200;

/** @returns undefined where no proxy is believed */
export function createForwardAuth({
  proxies,
  userHeader,
  groupsHeader,
  proxyLogoutUrl,
}: Pick<ConsoleConfig, 'proxies' | 'userHeader' | 'groupsHeader' | 'proxyLogoutUrl'>) {
  if (proxies.length === 0) return undefined;
  return {
    headers: { names: [userHeader, groupsHeader], from: proxies },
    logoutUrl: proxyLogoutUrl,
    /**
     * The person that the proxy names; undefined where it names none.
     * @throws Problem 400 for a name that may be two
     */
    identify(headers: IncomingHttpHeaders): ProxyIdentity | undefined {
      const user = textOf(headers[userHeader]).trim();
      if (user === '') return undefined;
      if (user.length > longestUser || /[,\ufffd]/.test(user) || hasHidden(user))
        throw Common.malformed({ detail: `The header ${userHeader} must hold one name.` });
      // Authelia and oauth2-proxy separate by commas, Authentik by bars.
      const groups = textOf(headers[groupsHeader]).split(/[,|]/);
      return { user, groups: groups.map((group) => group.trim()).filter((group) => group !== '') };
    },
  };
}

/** Proxies send UTF-8, which Node reads as Latin-1. */
const textOf = (value: string | readonly string[] | undefined) => Buffer.from([value ?? ''].flat().join(','), 'latin1').toString('utf8');
