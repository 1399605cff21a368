// A mail for people to read: its text, and its HTML without anything that runs, submits or fetches. Pure; the caller bounds its cost.
import type { Address, Attachment } from 'postal-mime';
import sanitizeHtml from 'sanitize-html';
import { isTextTooLong, textTooLong } from '../../platform/mail/limits.ts';
import { readMail } from '../../platform/mail/read-mail.ts';
import { storable } from '../../platform/json.ts';
import type { Mailbox, ShownMail, ShowOptions } from './reader.ts';

/** Formats that browsers show without running anything: SVG is not among them. */
const imageTypes = /^image\/(?:png|jpe?g|gif|webp|avif|bmp)$/;
const imageData = /^data:image\/(?:png|jpe?g|gif|webp|avif|bmp);base64,[a-z\d+/=\s]+$/i;
const maxImageBytes = 131_072;
const maxImagesBytes = 1_048_576;
const maxDepth = 256;

/** No value holds a colon, slash or backslash, and none calls a function but those of colors, so none names an address. */
const styleValue = [/^(?![^]*(?<!(?:rgb|hsl)a?)\()[\w\s#%.,()'"!+-]+$/i];
const styles = [
  ...['color', 'background', 'background-color', 'opacity', 'display', 'visibility', 'float', 'clear', 'direction', 'overflow', 'box-sizing'],
  ...['font', 'font-family', 'font-size', 'font-style', 'font-weight', 'font-variant', 'line-height', 'letter-spacing', 'word-spacing', 'list-style-type'],
  ...['text-align', 'text-decoration', 'text-indent', 'text-transform', 'vertical-align', 'white-space', 'word-break', 'overflow-wrap', 'word-wrap'],
  ...['width', 'min-width', 'max-width', 'height', 'min-height', 'max-height', 'border-collapse', 'border-spacing', 'border-radius', 'table-layout'],
  ...['', '-top', '-right', '-bottom', '-left'].flatMap((side) => [`margin${side}`, `padding${side}`, `border${side}`]),
  ...['color', 'style', 'width'].map((part) => `border-${part}`),
];

const attributes = ['style', 'title', 'dir', 'lang', 'align', 'valign', 'width', 'height', 'bgcolor', 'color', 'face', 'size', 'border'];

const allowed: sanitizeHtml.IOptions = {
  allowedTags: [...sanitizeHtml.defaults.allowedTags, 'img', 'font', 'center', 'big', 'strike', 'tt', 'del', 'ins'],
  allowedAttributes: {
    '*': attributes,
    a: ['href', 'rel', 'target'],
    img: ['src', 'alt', 'referrerpolicy'],
    table: ['cellpadding', 'cellspacing'],
    td: ['colspan', 'rowspan', 'nowrap'],
    th: ['colspan', 'rowspan', 'nowrap'],
    col: ['span'],
    ol: ['start', 'type'],
    li: ['value'],
  },
  allowedSchemes: ['http', 'https'],
  allowedSchemesByTag: { img: ['https', 'data'] },
  allowProtocolRelative: false,
  allowedStyles: { '*': Object.fromEntries(styles.map((name) => [name, styleValue])) },
  // Their content is no text of the mail.
  nonTextTags: ['script', 'style', 'title', 'textarea', 'select', 'option', 'datalist', 'noscript', 'template', 'svg', 'math', 'object', 'audio', 'video'],
  nestingLimit: maxDepth,
};

const webAddressOf = (written = ''): URL | undefined => {
  const url = URL.parse(written.trim());
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
};

/** Without a width or height of one pixel or none: an image that counts readers. */
const isPixel = ({ width, height }: sanitizeHtml.Attributes) => [width, height].some((size) => size !== undefined && /^\s*0*[01](?:px)?\s*$/.test(size));

/** The images that come with the mail, by their Content-ID. */
function createInlineImages(attachments: readonly Attachment[]) {
  const byId = new Map(attachments.flatMap((one) => (one.contentId === undefined ? [] : [[one.contentId.replace(/^<|>$/g, ''), one] as const])));
  let left = maxImagesBytes;
  /** Undefined for what is missing, too large, or no such image. */
  const take = (bytes: number, address: string) => {
    if (bytes > maxImageBytes || bytes > left) return undefined;
    left -= bytes;
    return address;
  };
  return (source: string): string | undefined => {
    if (/^data:/i.test(source)) return imageData.test(source) ? take((source.length * 3) / 4, source) : undefined;
    const id = /^cid:(.+)$/is.exec(source)?.[1];
    const found = id === undefined ? undefined : (byId.get(id) ?? byId.get(percentDecoded(id)));
    if (!found || !imageTypes.test(found.mimeType) || !(found.content instanceof ArrayBuffer)) return undefined;
    const bytes = Buffer.from(found.content);
    return bytes.length > maxImageBytes ? undefined : take(bytes.length, `data:${found.mimeType};base64,${bytes.toString('base64')}`);
  };
}

function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function clean(html: string, attachments: readonly Attachment[], { hasRemoteImages }: ShowOptions): { readonly html: string; readonly remoteImages: number } {
  const inlineImage = createInlineImages(attachments);
  let remoteImages = 0;

  function image(tagName: string, { src = '', referrerpolicy: _, ...rest }: sanitizeHtml.Attributes): sanitizeHtml.Tag {
    const inline = inlineImage(src.trim());
    if (inline !== undefined) return { tagName, attribs: { ...rest, src: inline } };
    const url = webAddressOf(src);
    if (url?.protocol !== 'https:' || isPixel(rest)) return { tagName, attribs: rest };
    remoteImages += 1;
    return { tagName, attribs: hasRemoteImages ? { ...rest, src: url.href, referrerpolicy: 'no-referrer' } : rest };
  }
  function anchor(tagName: string, { href, rel: _, target: __, ...rest }: sanitizeHtml.Attributes): sanitizeHtml.Tag {
    const url = webAddressOf(href);
    return { tagName, attribs: url ? { ...rest, href: url.href, rel: 'noreferrer noopener nofollow', target: '_blank' } : rest };
  }
  const cleaned = sanitizeHtml(html, {
    ...allowed,
    transformTags: { img: image, a: anchor },
    // Images that are not shown leave their words.
    exclusiveFilter: ({ tag, attribs }) => tag === 'img' && attribs['src'] === undefined && !attribs['alt']?.trim(),
  });
  return { html: cleaned, remoteImages };
}

const mailboxesOf = ({ name, address, group = [] }: Address): Mailbox[] =>
  group.length > 0
    ? group.flatMap(mailboxesOf)
    : [{ name: storable(name), address: storable(address ?? '') }].filter((one) => one.name !== '' || one.address !== '');

/** @throws Error for a mail nested deeper, or with longer headers or texts, than any newsletter */
export async function showMail(raw: Uint8Array, options: ShowOptions): Promise<ShownMail> {
  const { from, to = [], html, text, attachments } = await readMail(raw);
  if (isTextTooLong(html, text)) throw new Error(textTooLong);
  const cleaned = html === undefined ? undefined : clean(html, attachments, options);
  return {
    kind: 'shown',
    from: (from ? mailboxesOf(from) : [])[0] ?? null,
    to: to.flatMap(mailboxesOf),
    text: text ?? null,
    html: cleaned?.html ?? null,
    remoteImages: cleaned?.remoteImages ?? 0,
  };
}
