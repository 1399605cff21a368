// The part of Preact's types that the console uses, by `paths` of tsconfig.json. Its own types bring those of browsers into every file of the
// project, where they replace those of Node's `fetch` and streams.

export type ComponentChild = VNode | string | number | bigint | boolean | null | undefined;
export type ComponentChildren = ComponentChild | readonly ComponentChildren[];

export type VNode<P = object> = { readonly type: unknown; readonly props: P & { readonly children?: ComponentChildren } };

/** Names as HTML and SVG write them. Values are text or flags: pages have no handlers, which their policy would refuse. */
export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

export function h(tag: string, attributes: Attributes | null, ...children: readonly ComponentChildren[]): VNode;
