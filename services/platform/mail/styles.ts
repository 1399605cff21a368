// Tells by the styles of a mail's HTML which elements no reader sees, and whose text is too small to be read. Pure.

/** The effect of declarations on what a reader sees. */
export type Style = {
  readonly isHidden: boolean;
  /** Whether the text is struck. */
  readonly isStruck: boolean;
  /** Whether `display` says that the element is shown. */
  readonly isShown: boolean;
  /** Undefined where the font size is that of the element around it. */
  readonly isTiny: boolean | undefined;
  /** An image of one pixel, or of none, counts openings. */
  readonly isPixel: boolean;
};

const plain: Style = { isHidden: false, isStruck: false, isShown: false, isTiny: undefined, isPixel: false };

const end = String.raw`\s*(?:;|!|$)`;
const nothing = String.raw`0(?:\.0\d*)?(?:px|pt|em|rem|%)?${end}`;
const hiding = new RegExp(
  String.raw`(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:max-height|max-width|opacity)\s*:\s*${nothing}|(?:left|top|text-indent)\s*:\s*-\d{3,}|clip\s*:\s*rect\(\s*[01]\D|transform\s*:\s*scale\(\s*0\s*[,)])`,
  'i',
);
/** Hidden in Outlook alone where `display` says that the element is shown: the usual button has another form there. */
const outlook = /(?:^|;)\s*mso-hide\s*:\s*all/i;
const shown = /(?:^|;)\s*display\s*:\s*(?!none)[a-z]/i;
const emptyBox = new RegExp(String.raw`(?:^|;)\s*(?:height|width)\s*:\s*(?:1px${end}|${nothing})`, 'i');
const clipped = /overflow\s*:\s*hidden/i;
const struck = /(?:^|;)\s*text-decoration[\w-]*\s*:[^;]*line-through/i;
const pixelSides = ['width', 'height'].map((side) => new RegExp(String.raw`(?:^|;)\s*${side}\s*:\s*[01](?:px)?${end}`, 'i'));

/** An element within sets its own font size, as in each section of MJML, so a size of 0 hides the text of its element only. */
const fontSizes = /(?:^|;)\s*font(?:-size)?\s*:([^;]*)/gi;
const noSize = /(?:^|\s)(?:0(?:\.0+)?(?:px|pt|em|rem|%)?|0?\.\d+px|1px)(?=[\s/!]|$)/i;
const relativeSize = /^\s*$|(?:^|\s)(?:[\d.]+(?:em|%)|inherit|unset|smaller|larger)(?=[\s/!]|$)/i;
function isTinyIn(style: string): boolean | undefined {
  let isTiny: boolean | undefined;
  for (const [, size = ''] of style.matchAll(fontSizes)) isTiny = noSize.test(size) || (relativeSize.test(size) ? undefined : false);
  return isTiny;
}

function read(declarations: string): Style {
  const isShown = shown.test(declarations);
  return {
    isHidden: hiding.test(declarations) || (outlook.test(declarations) && !isShown) || (emptyBox.test(declarations) && clipped.test(declarations)),
    isStruck: struck.test(declarations),
    isShown,
    isTiny: isTinyIn(declarations),
    isPixel: pixelSides.every((side) => side.test(declarations)),
  };
}

const comments = /\/\*[^]*?(?:\*\/|$)|<!--|-->/g;
/** Blocks for some screens or media only, which say nothing of what a mail program shows. */
const conditional = /@[\w-]+[^{}@;]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g;

/** Simple selectors, in lower case, with the declarations of their rules: `.preheader`, `td.old-price`, `#preview`. */
function rulesOf(sheet: string): { readonly selector: string; readonly declarations: string }[] {
  const rules = sheet.replace(comments, '').replace(conditional, '').split('}');
  return rules.flatMap((rule) => {
    const [prelude = '', declarations = ''] = rule.split('{', 2);
    if (declarations === '') return [];
    // Statements such as an `@import` stand before it and end with a semicolon.
    const selectors = prelude.slice(prelude.lastIndexOf(';') + 1).split(',');
    return selectors.flatMap((selector) => {
      const found = /^\s*(?:\*|([a-z\d]*))([.#][\w-]+)\s*$/i.exec(selector);
      return found ? [{ selector: `${found[1] ?? ''}${found[2] ?? ''}`.toLowerCase(), declarations }] : [];
    });
  });
}

export type Styled = { readonly name: string; readonly classes: string; readonly id: string; readonly style: string };

/** The styles of one document: those of its sheets so far, and those of an element itself, which count before them. */
export function createStyles() {
  const ofDeclarations = new Map<string, Style>();
  const bySelector = new Map<string, Style>();
  let last: { readonly declarations: string; readonly style: Style } | undefined;
  // A document repeats few styles many times, most of all the one before: to compare is cheaper than to look up.
  function readOnce(declarations: string): Style {
    if (last?.declarations === declarations) return last.style;
    const known = ofDeclarations.get(declarations);
    const style = known ?? read(declarations);
    if (!known) ofDeclarations.set(declarations, style);
    last = { declarations, style };
    return style;
  }
  const sheetsOf = ({ name, classes, id }: Styled): Style[] => {
    if (bySelector.size === 0 || (classes === '' && id === '')) return [];
    const marks = [...classes.split(/\s+/).map((one) => `.${one}`), `#${id}`].map((mark) => mark.toLowerCase());
    return marks.flatMap((mark) => [mark, `${name}${mark}`].flatMap((selector) => bySelector.get(selector) ?? []));
  };
  return {
    learn(sheet: string): void {
      for (const { selector, declarations } of rulesOf(sheet)) {
        const before = bySelector.get(selector) ?? plain;
        const { isShown, ...style } = readOnce(declarations);
        bySelector.set(selector, {
          isHidden: style.isHidden || (before.isHidden && !isShown),
          isStruck: style.isStruck || before.isStruck,
          isShown,
          isTiny: style.isTiny ?? before.isTiny,
          isPixel: style.isPixel || before.isPixel,
        });
      }
    },
    styleOf(element: Styled): Style {
      const own = element.style === '' ? plain : readOnce(element.style);
      const sheets = sheetsOf(element);
      if (sheets.length === 0) return own;
      return {
        isHidden: own.isHidden || (!own.isShown && sheets.some(({ isHidden }) => isHidden)),
        isStruck: own.isStruck || sheets.some(({ isStruck }) => isStruck),
        isShown: own.isShown,
        isTiny: own.isTiny ?? sheets.find(({ isTiny }) => isTiny !== undefined)?.isTiny,
        isPixel: own.isPixel || sheets.some(({ isPixel }) => isPixel),
      };
    },
  };
}
