// The CustomResourceDefinitions of the operator's kinds, as files of its chart.
import { stringify } from 'yaml';
import { definitions } from '../services/operator/definitions.ts';

const notice = '# Generated from services/operator/contract.ts: npm run generate\n';

export const definitionFiles = (): Record<string, string> =>
  Object.fromEntries(
    definitions().map((definition): [string, string] => [
      `charts/signalbox-operator/files/crds/${definition.spec.names.plural}.yaml`,
      notice + stringify(definition, { lineWidth: 0, aliasDuplicateObjects: false }),
    ]),
  );
