// The Secrets that objects may have written or read: types, labels and annotations by which nothing in Kubernetes acts.
import { z } from 'zod';
import { rule, rules } from './keywords.ts';

// Controllers of Kubernetes act on Secrets of their own types, and by their own annotations, with rights that the author of an object lacks:
// the token controller fills a Secret of type service-account-token with a token of any account that an annotation names.
const targetTypes = ['Opaque', 'kubernetes.io/tls', ...['dockerconfigjson', 'dockercfg', 'basic-auth', 'ssh-auth'].map((type) => `kubernetes.io/${type}`)];
/** A pattern of RE2 and of JavaScript alike: domains of Kubernetes, with Helm's releases, which Helm applies with the rights of its user. */
const reservedType = '^([^/]*[.])?(kubernetes[.]io|k8s[.]io|helm[.]sh)(/|$)';
const reservedKey = '^([^/]*[.])?(kubernetes[.]io|k8s[.]io|signalbox[.]dev)/';
/** The recommended labels, which are for people. */
const freePrefix = 'app.kubernetes.io/';

/** Whether an object may have a Secret of the type written or read. */
export const isUsableType = (type: string): boolean => targetTypes.includes(type) || !new RegExp(reservedType).test(type);
const isFreeKey = (key: string) => key.startsWith(freePrefix) || !new RegExp(reservedKey).test(key);

export const TargetType = z
  .string()
  .max(253)
  .refine(isUsableType, { error: `must be ${targetTypes.join(', ')} or a type outside of kubernetes.io, k8s.io and helm.sh` })
  .default('Opaque')
  .meta(
    rules(
      rule('self == oldSelf', 'type is immutable: delete this object and create another one'),
      rule(
        `self in [${targetTypes.map((type) => `'${type}'`).join(', ')}] || !self.matches('${reservedType}')`,
        `must be ${targetTypes.join(', ')} or a type outside of kubernetes.io, k8s.io and helm.sh`,
      ),
    ),
  );
const keysMessage = `keys of kubernetes.io, k8s.io, their subdomains and signalbox.dev are reserved, but for ${freePrefix}`;
const notes = (...further: readonly ReturnType<typeof rule>[]) =>
  z
    .record(z.string().max(253).refine(isFreeKey, { error: keysMessage }), z.string().max(65_536))
    .default({})
    .meta({ maxProperties: 100, ...rules(rule(`self.all(key, key.startsWith('${freePrefix}') || !key.matches('${reservedKey}'))`, keysMessage), ...further) });
/** Annotations of a target. */
export const Annotations = notes();

// Helm finds its releases by this label or by their name, whatever the type.
const helmMessage = 'the label owner must not be helm, by which Helm finds its releases';
/** Labels of a target. */
export const Labels = notes(rule("!('owner' in self) || self['owner'] != 'helm'", helmMessage)).refine(({ owner }) => owner !== 'helm', { error: helmMessage });
/** Whether Helm would take a Secret of the name for one of its releases. */
export const isHelmRelease = (name: string): boolean => name.startsWith('sh.helm.release.');
