// Components as markup: what comes from outside is text, links lead to http(s) only, bounds hold.
import { expect } from 'chai';
import { Problems as Bookmarks } from '../../../../services/bookmarks/contract.ts';
import { h, type VNode, toMarkup } from '../../../../services/console/view/elements.ts';
import { confirmByName, faultSummary, field } from '../../../../services/console/view/forms.ts';
import { copyable, detailList, jsonTree, meter, tiles } from '../../../../services/console/view/details.ts';
import { filterForm } from '../../../../services/console/view/filters.ts';
import { icon } from '../../../../services/console/view/icons.ts';
import { actionButton, actionsFor, bulkBar, rowList, table } from '../../../../services/console/view/lists.ts';
import { createLocale } from '../../../../services/console/view/locale.ts';
import { pager, withQuery } from '../../../../services/console/view/pager.ts';
import { bars, lines } from '../../../../services/console/view/plots.ts';
import { document, renderPage } from '../../../../services/console/view/shell.ts';
import { empty, failure, stale } from '../../../../services/console/view/states.ts';
import { badge, externalLink, time } from '../../../../services/console/view/texts.ts';
import { toTrees } from '../../../../services/console/view/tree-message.ts';
import { Problems as Digest } from '../../../../services/link-digest/contract.ts';
import { Problems as Listings } from '../../../../services/listings/contract.ts';
import { Problems as Secrets } from '../../../../services/secrets/contract.ts';
import { Problems as Intake } from '../../../../services/webhook-intake/contract.ts';
import { Problems as Relay } from '../../../../services/webhook-relay/contract.ts';
import { gallery, galleryFrame, markup, now } from '../browser/gallery.ts';

const kinds = [Bookmarks, Digest, Listings, Secrets, Intake, Relay].flatMap((problems) => Object.values(problems));
const english = createLocale({ language: 'en', zone: 'Europe/Dublin', now });
const german = createLocale({ language: 'de', zone: 'Europe/Berlin', now });
const pageOf = (...shown: Parameters<typeof renderPage>) => renderPage(...shown).toString();
const text = (node: VNode | null) => toMarkup(node ?? h('p', null));

describe('components', () => {
  it('show markup from outside as text, wherever they take any', () => {
    const pieces = [
      table({ caption: markup, columns: [{ label: markup, cell: (item: string) => item }], items: [markup], idOf: (item) => item }),
      rowList({ label: markup, kind: 'cards', items: [markup], idOf: (item) => item, content: (item) => item }),
      detailList([[markup, markup]]),
      copyable(english, markup, { label: markup, isFolded: true }),
      jsonTree(english, { [markup]: markup, deep: { [markup]: [markup] } }),
      tiles([{ label: markup, value: markup, note: markup, href: markup }]),
      meter({ label: markup, value: 1, most: 2, text: markup }),
      field(english, { kind: 'text', name: 'name', label: markup, value: markup, hint: markup, faults: { name: [markup] } }),
      field(english, { kind: 'lines', name: 'name', label: markup, value: `</textarea>${markup}` }),
      confirmByName(english, { path: '/', name: markup, label: markup, explanation: markup }),
      filterForm(english, { path: '/', query: { q: markup }, filters: [{ kind: 'search', name: 'q', label: markup }] }),
      bars(english, { id: 'bars', title: markup, description: markup }, [{ label: markup, tick: markup, value: 1 }]),
      empty({ title: markup, text: markup, command: markup }),
      failure(english, { service: markup, requestId: markup, detail: markup, again: '/' }),
      actionButton({ path: markup, label: markup, isIconOnly: true }),
      externalLink(`https://example.org/${markup}`, markup),
      document(galleryFrame({ notice: { message: markup, undo: { path: markup, fields: { [markup]: markup } } }, person: { id: markup, name: markup } }), {
        title: markup,
        body: markup,
      }),
    ];
    for (const piece of pieces) {
      const rendered = text(piece);
      expect(rendered).to.include('&lt;img');
      expect(rendered).not.to.match(/<img|onerror=alert\(1\)>(?!&)/);
    }
  });

  it('keep a line feed at the beginning of a text, which a browser takes for one of the markup', () => {
    expect(text(h('textarea', null, '\n a'))).to.equal('<textarea>\n\n a</textarea>');
    expect(text(h('pre', null, 'a'))).to.equal('<pre>a</pre>');
  });

  it('have no inline script, style or handler, which the policy of pages would refuse', () => {
    const rendered = pageOf(galleryFrame(), { title: 'All', body: gallery(galleryFrame()) });
    expect(rendered).not.to.match(/<style|<script(?! type="module" src=")|\sstyle=|\son[a-z]+="/);
  });
});

describe('an action of a row', () => {
  it('is one element, whose icon its style draws: a page has hundreds', () => {
    const button = text(actionButton({ path: '/like', label: 'Like', icon: 'like', key: 'l', isIconOnly: true }));
    expect(button).to.match(/^<button [^>]*class="only i-like"[^>]*title="Like \(l\)"[^>]*>Like<\/button>$/);
  });
});

describe('faultText', () => {
  it('says in German each refusal that a service has a title for', () => {
    expect(kinds.filter(({ title }) => german.faultText(title) === title).map(({ title }) => title)).to.deep.equal([]);
  });

  it('keeps what a message says of the request, and messages that it does not know', () => {
    expect(german.faultText("The slug 'a.b' is taken.")).to.equal('Der Name „a.b“ ist schon vergeben.');
    expect(german.faultText('No such unicorn')).to.equal('No such unicorn');
    expect(english.faultText('No such bookmark')).to.equal('No such bookmark');
  });
});

describe('an element', () => {
  it('is no object from outside that looks like one', () => {
    const given = JSON.parse('{ "tag": "b", "attributes": null, "children": ["bold"], "markup": "<script>" }');
    expect(() => toMarkup(given)).to.throw(TypeError);
    expect(() => toMarkup(h('p', null, given))).to.throw(TypeError);
    expect(toMarkup(h('p', null, h('b', null, 'bold')))).to.equal('<p><b>bold</b></p>');
  });
});

describe('externalLink', () => {
  for (const url of [
    'javascript:alert(1)',
    ' javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'no address',
    '//example.org',
  ]) {
    it(`makes no link of ${url}`, () => {
      expect(text(externalLink(url, 'name'))).not.to.include('href');
    });
  }

  it('tells the other site nothing about this one', () => {
    expect(text(externalLink('https://example.org/a', 'name')))
      .to.include('rel="noreferrer noopener"')
      .and.include('href="https://example.org/a"');
  });
});

describe('time', () => {
  it('is as short as it can be told apart from now, with UTC in its title', () => {
    expect(text(time(english, '2026-11-26T06:41:51Z'))).to.equal('<time datetime="2026-11-26T06:41:51.000Z" title="2026-11-26 06:41:51 UTC">06:41</time>');
    expect(text(time(english, '2026-11-24T06:41:51Z'))).to.include('>24 Nov, 06:41<');
    expect(text(time(english, '2025-11-24T06:41:51Z'))).to.include('>24 Nov 2025<');
  });

  it('is of the zone of the person, also for the day that it is', () => {
    expect(text(time(german, '2026-11-26T06:41:51Z'))).to.include('>07:41<');
    const late = createLocale({ language: 'en', zone: 'Pacific/Auckland', now: new Date('2026-11-26T12:00:00Z') });
    expect(text(time(late, '2026-11-26T10:30:00Z'))).to.include('>26 Nov, 23:30<');
  });

  it('is relative where that says more', () => {
    expect(text(time(english, '2026-11-26T09:00:00Z', 'ago'))).to.include('>3 hours ago<');
    expect(text(time(german, '2026-12-01T12:00:00Z', 'ago'))).to.include('>in 5 Tagen<');
  });

  it('says so where there is none', () => {
    expect(text(time(english, null))).to.include('none');
    expect(text(time(english, 'yesterday'))).to.include('none');
  });
});

describe('numbers', () => {
  it('are written as the language does', () => {
    expect(english.format.number(12_345.678)).to.equal('12,345.68');
    expect(german.format.number(12_345.678)).to.equal('12.345,68');
    expect(english.format.bytes(21_400)).to.equal('21.4 kB');
    expect(english.format.bytes(0)).to.equal('0 bytes');
    expect(german.format.bytes(1_500_000_000)).to.equal('1,5\u00a0GB');
    expect(english.format.money(1850, 'EUR')).to.equal('€1,850');
  });

  it('choose the plural form of the language', () => {
    expect(english.t.view.form.faults(1)).to.equal('One entry needs a change');
    expect(english.t.view.tree.more(1200)).to.equal('1,200 more entries');
    expect(german.t.view.tree.more(1)).to.equal('1 weiterer Eintrag');
  });
});

describe('jsonTree', () => {
  it('shows so many members at most, and says how many there are beside them', () => {
    const rendered = text(jsonTree(english, { list: Array.from({ length: 5000 }, (_, index) => index) }, { mostNodes: 100 }));
    expect(rendered.match(/<li/g)?.length).to.equal(52);
    expect(rendered).to.include('4,950 more entries');
    const wide = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`list${index}`, Array.from({ length: 40 }, () => index)]));
    expect(text(jsonTree(english, wide, { mostNodes: 300 })).match(/<button/g)?.length).to.be.below(300);
  });

  it('cuts a long text, and takes any depth', () => {
    let deep: unknown = 'x'.repeat(1000);
    for (let depth = 0; depth < 5000; depth += 1) deep = { deep };
    expect(text(jsonTree(english, deep)).length).to.be.below(100_000);
    expect(text(jsonTree(english, { long: 'x'.repeat(1000) }, { mostCharacters: 20 })))
      .to.include('cut off here')
      .and.not.include('x'.repeat(21));
  });

  it('shows a payload that is no object', () => {
    for (const value of [null, 'text', 3, true, []]) expect(text(jsonTree(english, value))).to.include('class="tree"');
  });
});

describe('lists', () => {
  it('have headers of columns and rows, and name the actions of a row', () => {
    const columns = [
      { label: 'Key', kind: 'main', cell: (item: string) => item },
      { label: 'Actions', kind: 'actions', cell: () => 'End' },
    ] as const;
    const shown = text(table({ caption: 'Keys', columns, items: ['blue'], idOf: (item) => item }));
    expect(shown).to.include('<th role="columnheader" scope="col">Key</th>').and.include('<th role="rowheader" scope="row" class="main">blue</th>');
    expect(text(actionsFor('blue', 'End'))).to.equal('<div class="buttons" role="group" aria-label="blue">End</div>');
  });

  it('lead to the next page with the filters of this one', () => {
    expect(text(pager(english, { path: '/links', query: { q: 'a b', status: undefined, after: 'first' }, shown: 50, next: 'second' }))).to.include(
      '/links?q=a+b&amp;after=second',
    );
    expect(withQuery('/links', { q: '', status: undefined })).to.equal('/links');
  });

  it('offer to clear filters only where one is set', () => {
    const filters = [{ kind: 'search', name: 'q', label: 'Search' }] as const;
    expect(text(filterForm(english, { path: '/links', query: {}, filters }))).not.to.include('Clear filters');
    expect(text(filterForm(english, { path: '/links', query: { q: 'a', sort: 'new' }, filters, kept: ['sort'] }))).to.include('href="/links?sort=new"');
  });

  it('keep the Enter key in a box from pressing the first action', () => {
    expect(text(bulkBar(english, [{ path: '/bulk/delete', label: 'Delete' }]))).to.match(/^<form[^>]*><button disabled hidden>/);
  });

  it('send a row as data that holds no markup', () => {
    expect(toTrees(h('li', { 'data-row': 'a', tabindex: -1, hidden: true }, [badge('good', markup), null, false, 3]))).to.deep.equal([
      ['li', { 'data-row': 'a', tabindex: '-1', hidden: '' }, [['span', { class: 'badge good' }, [markup]], '3']],
    ]);
  });
});

describe('forms', () => {
  it('tie each fault to its field', () => {
    const faults = { url: ['It must begin with https://.'] };
    const rendered = text(field(english, { kind: 'url', name: 'url', label: 'Address', hint: 'Of the page', faults }));
    expect(rendered).to.include('aria-invalid="true"').and.include('aria-describedby="field-url-hint field-url-fault"').and.include('id="field-url-fault"');
    expect(text(faultSummary(english, faults)))
      .to.include('href="#field-url"')
      .and.include('One entry needs a change');
    expect(faultSummary(english, {})).to.equal(null);
  });

  it('name a field with a space before what says that it may be left empty', () => {
    expect(text(field(english, { kind: 'url', name: 'url', label: 'Address' })).replaceAll(/<[^>]+>/g, '')).to.equal('Address optional');
  });

  it('name the field of a confirmation in the summary of its faults, and the reasons at the field', () => {
    const given = { path: '/', name: 'blue', label: 'Delete', explanation: 'Gone.', faults: { confirm: ['Type blue to confirm'] } };
    const rendered = text(confirmByName(english, { ...given, id: 'key-1' }));
    expect(rendered).to.include('href="#field-confirm-key-1"').and.include('id="field-confirm-key-1"');
    expect(rendered).to.include('aria-describedby="field-confirm-key-1-hint field-confirm-key-1-fault"');
    for (const id of ['hint', 'fault']) expect(rendered).to.include(`id="field-confirm-key-1-${id}"`);
    // Screen readers begin at the field, and say why it was refused.
    expect(rendered).to.match(/<input id="field-confirm-key-1"[^>]* autofocus/);
    expect(text(confirmByName(english, given)))
      .to.include('href="#field-confirm"')
      .and.include('id="field-confirm"');
  });

  it('ask for a name that holds every sign of a pattern', () => {
    expect(text(confirmByName(english, { path: '/', name: 'a.b(c)&&d', label: 'Delete', explanation: 'Gone.' }))).to.include(
      'pattern="a\\.b\\(c\\)\\&amp;\\&amp;d"',
    );
  });
});

describe('plots', () => {
  it('have a title, a description and their values as a table', () => {
    const rendered = text(bars(english, { id: 'hourly', title: 'Per hour', description: 'Most at noon.' }, [{ label: '12:00', value: 1234 }]));
    expect(rendered)
      .to.include('aria-labelledby="hourly-title hourly-desc"')
      .and.include('<desc id="hourly-desc">Most at noon.</desc>')
      .and.include('<td class="number">1,234</td>');
  });

  it('take nothing, one value and a gap', () => {
    const plot = { id: 'plot', title: 'Rent', description: 'Rent.' };
    expect(text(bars(english, plot, []))).to.include('No data in this range');
    expect(text(lines(english, plot, { places: [{ label: 'a' }], series: [{ name: 'Rent', values: [3] }] }))).not.to.include('NaN');
    expect(text(lines(english, plot, { places: [{ label: 'a' }, { label: 'b' }], series: [{ name: 'Rent', values: [NaN, 3] }] }))).not.to.include('NaN');
  });
});

describe('a page', () => {
  it('says where it is, what waits and how it looks', () => {
    const rendered = pageOf(galleryFrame(), { title: 'Links', area: 'links', body: stale(english, '2026-11-26T11:00:00Z') });
    expect(rendered).to.match(/^<!doctype html><html lang="en" data-theme="auto" data-density="normal" data-keys="on"/);
    expect(rendered).to.include('<title>Links · Signalbox</title>').and.include('href="/links" aria-current="page"').and.include('24 wait');
  });

  it('is UTF-8, wherever a text stands', () => {
    const said = 'Größe “&” 路 🚦 <b>';
    const body = [said, h('p', { title: said }, said), h('pre', null, `\n${said}`), icon('warning', said)];
    const rendered = pageOf(galleryFrame(), { title: said, area: 'links', body });
    const written = 'Größe “&amp;” 路 🚦 &lt;b>';
    expect(rendered).to.include(`<title>${written} · Signalbox</title>`).and.include(`${written}<p title="${written}">${written}</p><pre>\n\n${written}</pre>`);
    expect(rendered).to.include(`aria-label="${written}"`);
  });

  it('is German for a person who reads German', () => {
    const rendered = pageOf(galleryFrame({ locale: german }), {
      title: 'Links',
      body: failure(german, { service: 'link-digest', requestId: '1', again: '/' }),
    });
    expect(rendered).to.include('<html lang="de"').and.include('link-digest antwortet nicht').and.include('Lesezeichen');
  });

  it('has no navigation before a login', () => {
    const rendered = pageOf(galleryFrame({ person: undefined }), { title: 'Sign in', body: 'form' });
    expect(rendered).not.to.include('<nav').and.not.include('id="menu"');
  });
});
