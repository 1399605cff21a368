// Keywords of Kubernetes in the schemas of the definitions: rules in CEL, which the API server checks, and kinds of lists.

export const rule = (cel: string, message: string) => ({ rule: cel, message });
export const rules = (...all: readonly { rule: string; message: string }[]) => ({ 'x-kubernetes-validations': all });
export const immutable = (what: string) => rules(rule('self == oldSelf', `${what} is immutable: delete this object and create another one`));
export const exactlyOne = (one: string, other: string) => [rule(`has(self.${one}) != has(self.${other})`, `exactly one of ${one} and ${other} must be given`)];
export const oneOf = (one: string, other: string) => rules(...exactlyOne(one, other));
export const keyedBy = (...keys: readonly string[]) => ({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': keys });
