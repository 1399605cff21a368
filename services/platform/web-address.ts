// Addresses that people give, and that a page can show as they are. Pure.

export const isWebAddress = (url: string) => /^https?:\/\//i.test(url) && URL.canParse(url);
/** A URL parser drops tabs and line ends, so that an address with them is another one than a person reads. */
export const hasNoControls = (url: string) => !/\p{Cc}/u.test(url);
export const hasNoPassword = (url: string) => (URL.parse(url) ?? { username: '', password: '' }).username === '' && (URL.parse(url)?.password ?? '') === '';
/** Characters that no address has, and that would end an attribute of a page; a browser sends them in this form. */
export const withoutQuotes = (url: string) => url.replaceAll(/["<>`]/g, (character) => encodeURIComponent(character));

const imageData = /^data:image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon)[;,]/i;
/** Relative, http, https, or the bytes of a picture themselves: nothing that a browser would run. */
export function isPicture(address: string): boolean {
  const protocol = URL.parse(address)?.protocol;
  return protocol === undefined || protocol === 'http:' || protocol === 'https:' || imageData.test(address.trim());
}
