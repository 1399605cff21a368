// The parts of a mail's HTML that a reader sees, and those that are there without being seen.
import { expect } from 'chai';
import { Tokenizer } from 'htmlparser2';
import { readHtml, type ReadOptions } from '../../../services/platform/mail/html.ts';
import { expectLinearTime } from '../../support/linear-time.ts';

const textOf = (html: string, options?: ReadOptions) =>
  readHtml(html, options)
    .text.replace(/\s*\n\s*/g, '|')
    .replace(/^\||\|$/g, '')
    .trim();
const linksOf = (html: string) =>
  readHtml(html)
    .elements.filter(({ href, isHidden, isEmpty }) => href !== undefined && !isHidden && !isEmpty)
    .map(({ href }) => href);
const link = (inner: string, attributes = '') => `<a href="/x" ${attributes}>${inner}</a>`;

describe('the visible text', () => {
  for (const style of [
    'display:none',
    'DISPLAY : NONE !important',
    'visibility:hidden',
    'visibility:collapse',
    'mso-hide:all',
    'max-height:0',
    'max-height:0px; overflow:hidden',
    'max-width:0',
    'opacity:0',
    'opacity:0.0',
    'opacity:0.01',
    'font-size:0',
    'font-size:0px; line-height:0',
    'font-size:1px',
    'font-size:0.1px',
    'font:0/0 a',
    'height:0;overflow:hidden',
    'width:1px;height:1px;overflow:hidden',
    'position:absolute;left:-10000px',
    'text-indent:-9999px',
    'clip:rect(0 0 0 0)',
    'clip: rect(1px, 1px, 1px, 1px)',
    'transform:scale(0)',
  ])
    it(`has nothing within ${style}`, () => expect(textOf(`a<div style="${style}">b</div>c`)).to.equal('a|c'));

  for (const style of [
    'display:block',
    'color:red',
    'opacity:0.9',
    'max-height:none',
    'max-height:10px',
    'line-height:0',
    'height:0',
    'overflow:hidden',
    'width:1px',
    'font-size:10px',
    'font-size:0.9em',
    'font:14px/1 Arial',
    'text-indent:-1em',
    'left:-9px',
    'mso-line-height-rule:exactly',
    'mso-hide:all;display:inline-block',
    'background:#fff;display:block;mso-hide:all',
    'clip:rect(10px 20px 30px 40px)',
  ])
    it(`has what is within ${style}`, () => expect(textOf(`a<div style="${style}">b</div>c`)).to.equal('a|b|c'));

  for (const sheet of [
    '.x{display:none}',
    'div.x{display:none}',
    '*.x{display:none}',
    '#y{display:none}',
    'div#y { display : none }',
    '.a,.x{display:none!important}',
    '<!-- .x{display:none} -->',
    '.X{display:none}',
    '.x{color:red} .x{display:none}',
    '.x{font-size:0}',
  ])
    it(`has nothing that the sheet ${sheet} hides`, () => expect(textOf(`<style>${sheet}</style>a<div class="w x" id="y">b</div>c`)).to.equal('a|c'));

  for (const sheet of [
    'p.x{display:none}',
    '.w .x{display:none}',
    '.x:hover{display:none}',
    '@media (max-width:600px){.x{display:none}}',
    '.x{display:none} .x{display:block}',
    '#x{display:none}',
    '.y{display:none}',
  ])
    it(`has what the sheet ${sheet} does not hide`, () => expect(textOf(`<style>${sheet}</style>a<div class="w x" id="y">b</div>c`)).to.equal('a|b|c'));

  it('has what the style of the element shows, whatever a sheet says', () =>
    expect(textOf('<style>.x{display:none}</style>a<p class=x style="display:block">b</p>c')).to.equal('a|b|c'));

  it('has nothing of comments for one program alone, and all of those for the others', () =>
    expect(textOf('a<!--[if mso]>b<![endif]--><!--[if !mso]><!-->c<!--<![endif]--><![if !mso]>d<![endif]>')).to.equal('acd'));

  it('has struck text unless it is left out', () => {
    const html =
      'a<s>b</s><strike>c</strike><del>d</del><i style="text-decoration:line-through">e</i><style>.o{text-decoration-line:line-through}</style><i class="o">f</i><i class="p">g</i>h';
    expect(textOf(html)).to.equal('abcdefgh');
    expect(textOf(html, { leavesOutStruck: true, isLeftOut: (classes) => classes.includes('p') })).to.equal('ah');
  });

  it('has the body of a mail whose head is not closed', () =>
    expect(textOf('<head><title>t</title><style>.x{}</style><p>a</p><a href=/x>b</a>')).to.equal('a|b'));

  it('has a line for each block and break', () => expect(textOf('<table><tr><td>a<td>b</table>c<br>d<p>e<p>f<li>g')).to.equal('a|b|c|d|e|f|g'));
});

describe('a link', () => {
  for (const [name, html] of Object.entries({
    'around a pixel': link('<img src="p" width=1 height=1>'),
    'around a pixel by style': link('<img src="p" style="width:1px;height:1px">'),
    'around a pixel of no size': link('<span><img src="p" width="0" height="0px"></span>'),
    'around hidden text': link('<span style="display:none">b</span>'),
    'around a hidden image': link('<img src="p" style="display:none">'),
    'of no font size': link('b', 'style="font-size:0"'),
    'in a hidden element': `<div hidden><p>${link('b')}</p></div>`,
    'in a template': `<template>${link('b')}</template>`,
    'hidden by a sheet': `<style>.x{display:none}</style>${link('b', 'class=x')}`,
  }))
    it(`${name} is not seen`, () => expect(linksOf(html)).to.deep.equal([]));

  for (const [name, html] of Object.entries({
    'around an image': link('<img src="p">'),
    'around an image and a pixel': link('<img src="p" width=600><img src="q" width=1 height=1>'),
    'around a line of an image': link('<img src="p" width=600 height=1>'),
    'of no font size around an image': link('<img src="p">', 'style="font-size:0"'),
    'as a button that Outlook gets in another form': link('b', 'style="background-color:#EB7035;display:inline-block;mso-hide:all"'),
    'behind hidden text': `<div style="display:none">a</div>${link('b')}`,
    'in a cell that also holds a pixel': `<td><img width=1 height=1>${link('<img src="p">')}</td>`,
  }))
    it(`${name} is seen`, () => expect(linksOf(html)).to.deep.equal(['/x']));

  it('keeps the address that a mail program replaced', () =>
    expect(readHtml('<a href="/new" originalsrc="/old?a=1&amp;b=2">a</a>').elements[0]).to.include({ href: '/new', originalHref: '/old?a=1&b=2' }));
});

describe('images', () => {
  it('are the visible ones, with source, description and place, and whether they are small', () => {
    const { images } = readHtml('ab<img src="1.png?a&amp;b" alt="One"><img src=2 width=1 height=1><div hidden><img src=3></div><img alt=4>');
    expect(images).to.deep.equal([{ at: 2, end: 2, source: '1.png?a&b', description: 'One', isSmall: false, isBackground: false }]);
    const small = (size: string) => readHtml(`<img src=1 ${size}>`).images[0]?.isSmall;
    expect(['width=48', 'height=8px width=96', 'width=49', 'width="10%"', ''].map(small)).to.deep.equal([true, true, false, false, false]);
  });
});

describe('pictures in the background', () => {
  it('have what is in front of them', () => {
    const html = `a<td background="1.jpg">bc</td><p style="color:red;background: url( 'http://x.example/2.jpg' )">d</p><p style="background:url(data:x)">`;
    const backgrounds = readHtml(html).images.map(({ at, end, source, isBackground }) => [readHtml(html).text.slice(at, end), source, isBackground]);
    expect(backgrounds).to.deep.equal([
      ['bc', '1.jpg', true],
      ['d', 'http://x.example/2.jpg', true],
    ]);
  });

  it('are found in the time of the length of a style', async () => {
    for (const part of ['background:url(', 'background:', ';background:', 'url(', ' '])
      await expectLinearTime((parts) => readHtml(`<p style="${part.repeat((parts * 60_000) / part.length)}">`), part);
  });
});

describe('readHtml', () => {
  it('replaces a member of the tokenizer that is still there, beside those that the replacement uses', () => {
    const tokenizer: object = Reflect.construct(Tokenizer, [{}, {}]);
    for (const member of ['fastForwardTo', 'buffer', 'index', 'offset']) expect(member in tokenizer, member).to.equal(true);
  });

  it('takes linear time', async () => {
    for (const part of [
      '<div>',
      '</div>',
      '<a href=x>',
      '<td style="font-size:0">',
      '<style>.a{display:none}</style>',
      '<p class="a b">',
      '<img src=x>',
      '<td background=x>',
      '<p style="background:url(',
      '&amp;',
      '<!--',
    ]) {
      await expectLinearTime((parts) => readHtml(part.repeat((parts * 60_000) / part.length)), part);
    }
  });
});
