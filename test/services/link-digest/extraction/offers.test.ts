// Texts of links that senders of newsletters offer beside their stories, and of stories that begin or end alike.
import { expect } from 'chai';
import { extract } from '../../../../services/link-digest/extraction/extraction.ts';

const mail = { subject: null, date: null, from: 'weekly@news.example', sender: null, to: null, text: null, unsubscribe: [] };

const french = ['Pour vous désabonner, cliquez ici', 'Version web', 'Mettre à jour mes préférences', 'Gérer mon abonnement', 'Lien de désinscription'];
const spanish = ['Anular la suscripción', 'Haz clic aquí para darte de baja', 'Ver este correo en tu navegador', 'Preferencias de correo'];
const portuguese = ['Descadastrar', 'Cancelar a inscrição', 'Ver este e-mail no navegador', 'Atualizar preferências', 'Deixar de receber'];
const italian = ['Clicca qui per disiscriverti', 'Visualizza questa email nel browser', 'Aggiorna le preferenze', 'Versione web'];
const dutch = ['Schrijf je uit', 'Klik hier om je af te melden', 'Wijzig je voorkeuren', 'Bekijk deze e-mail in je browser', 'Webversie'];
const swedish = ['Klicka här för att avregistrera dig', 'Läs nyhetsbrevet på webben', 'Uppdatera dina inställningar'];
const polish = ['Anuluj subskrypcję', 'Kliknij tutaj, aby się wypisać', 'Wyświetl w przeglądarce', 'Zarządzaj subskrypcją', 'Ustawienia powiadomień'];

describe('links behind a click counter', () => {
  const counter = 'https://click.counter.example/f/a/Zk1_2Q34567890abcdEFG';
  const kept = (texts: readonly string[]) => texts.filter((text) => extract({ ...mail, html: `<a href="${counter}">${text}</a>` }).length > 0);
  const offers: Readonly<Record<string, readonly string[]>> = {
    English: [
      ...['Unsubscribe me', 'unsubscribe from all', 'No longer want to receive these emails?', 'Having trouble viewing this email?'],
      ...['Trouble viewing this email? Click here', 'Why did I get this?', 'Add us to your address book', 'Change email address', 'Forward to a friend'],
      ...['Forward this email', 'Help Center', 'FAQ', 'Report abuse', 'Share on Facebook', 'More like this', 'Less like this', 'Follow us', 'Tweet'],
      ...['Upgrade to paid', 'Leave a comment', 'Give a gift subscription', 'Powered by beehiiv', 'Sent with Kit', 'One-click unsubscribe', 'Restack'],
      ...['Unsub', 'Update your details', 'Change your address', 'Track your referrals here.', 'Promote with us', 'Sponsor an issue', 'Log in'],
      ...['Browse the full archives', 'Past issues', 'Subscribe to the premium edition', 'Email marketing powered by Mailchimp', 'Revue', 'Read in app'],
      ...['⭐️⭐️⭐️⭐️⭐️ Nailed it!', '⭐️ Fail', '👍', 'Yes', '🍚🍚🍚 Well cooked', 'Publish on beehiiv'],
      ...['Change your preferences or unsubscribe here.', 'View this post online', 'Subscribe here.', 'Report this email', 'Confirm your subscription'],
      ...['Refer your friends', 'Click to share', 'Answered October 11, 2023', 'Posted Jul 11', 'Asked 3 hours ago', 'Updated 2d'],
    ],
    German: [
      ...['Hier klicken, um sich abzumelden', 'Klicken Sie hier, um den Newsletter abzubestellen', 'Wird diese E-Mail nicht richtig dargestellt?'],
      ...['Datenschutzhinweise', 'Kontakt', 'Abmeldelink', 'Newsletter-Einstellungen', 'Profil aktualisieren', 'Diese E-Mail im Browser anzeigen'],
      ...['Wenn Sie keine weiteren E-Mails erhalten möchten, klicken Sie hier', 'Web-Ansicht', 'Newsletter kündigen'],
      ...['Zur Webseitenansicht', 'Deine E-Mail wird nicht korrekt angezeigt? Im Browser ansehen!', '> Nur vom Reis-Newsletter abmelden'],
      ...['Benutzerprofil ändern', 'Mailarchiv aufrufen', 'Zum Archiv', 'Schauen Sie sich diese Mail in Ihrem Browser an'],
    ],
    French: ['Désabonnez-vous', 'Se désinscrire ici', 'Voir la version en ligne', 'Politique de confidentialité', 'Abonnez-vous', 'À propos', ...french],
    Spanish: ['Ver versión online', 'Política de privacidad', 'Preferencias', 'Quiero desuscribirme', 'Agregar a mis contactos', ...spanish],
    Portuguese: ['Ver versão online', 'Política de privacidade', ...portuguese],
    Italian: ['Cancella iscrizione', 'Termini e condizioni', 'Informativa sulla privacy', ...italian],
    Dutch: ['Bekijk de online versie', 'Voorkeuren aanpassen', 'Privacyverklaring', ...dutch],
    Swedish: ['Avprenumerera', 'Avsluta prenumeration', 'Visa i webbläsaren', ...swedish],
    Norwegian: ['Meld deg av', 'Vis i nettleser', 'Klikk her for å melde deg av', 'Åpne i nettleser', 'Endre innstillinger'],
    Danish: ['Afmeld nyhedsbrev', 'Vis i browser', 'Klik her for at afmelde', 'Se nyhedsbrevet i din browser', 'Opdater dine præferencer'],
    Finnish: ['Peruuta tilaus', 'Peru uutiskirje', 'Avaa selaimessa', 'Muokkaa asetuksia'],
    Czech: ['Odhlásit odběr', 'Zobrazit v prohlížeči', 'Upravit předvolby', 'Klikněte zde pro odhlášení'],
    Hungarian: ['Leiratkozás a hírlevélről', 'Megtekintés böngészőben', 'Beállítások módosítása'],
    Romanian: ['Dezabonează-te', 'Vezi versiunea online', 'Actualizează preferințele'],
    Turkish: ['Abonelikten çık', 'Tarayıcıda görüntüle', 'Tercihleri güncelle'],
    Russian: ['Отписаться от рассылки', 'Открыть в браузере', 'Веб-версия', 'Управление подпиской'],
    Japanese: ['配信停止はこちら', 'ブラウザで表示', '登録解除'],
    Chinese: ['退订', '在浏览器中查看', '取消訂閱'],
    Korean: ['수신거부', '브라우저에서 보기'],
    'mail programs': ['Outlook for iOS', 'Outlook für Android', 'Yahoo Mail on Android'],
    Polish: ['Wypisz się', 'Zobacz w przeglądarce', ...polish],
  };
  for (const [language, texts] of Object.entries(offers)) it(`leave out what senders offer in ${language}`, () => expect(kept(texts)).to.deep.equal([]));

  it('are kept where their text only begins or ends alike', () => {
    const pages = [
      ...['Preferences in political theory', 'How to unsubscribe from life', 'Contact lenses: a history', 'Help wanted', 'The FAQ that changed medicine'],
      ...[
        'Sharing is caring',
        'Following the money',
        'Updated Node 18',
        'Updated 12 recipes',
        'Updated marrow soup',
        'Asked and answered',
        'Lire en ligne ou sur papier ?',
        'Kontaktlinsen',
        'Forward to the past',
        'Why am I here?',
        'The rice-users mailing list is 20',
      ],
      ...['Abmelden von Facebook: so geht es', 'La version en ligne du Louvre', 'Cancelar contratos: guía', 'Cancellazione dei debiti: la guida'],
      ...['Profil eines Mörders', 'Rezygnacja ministra', 'Instellingen van de staat', 'Warum wir keine Briefe mehr erhalten', 'Voli cancellati'],
      ...['Trouble with the view', 'Online-Versionen alter Bücher', 'Support for the strike', 'Visa i Sverige'],
      ...['Peru', 'Avsluta kriget', 'Открыть школу', '配信の歴史', 'Outlook for 2027', 'Zrušit daně'],
      ...[
        '⭐ The best of the year so far',
        '⭐ Staff pick',
        '🔥🔥 Hot rice',
        'Update your kitchen',
        'Archives of the sea',
        'Yes, minister',
        'Sponsors leave the festival',
        'Kitsch',
      ],
    ];
    expect(kept(pages)).to.deep.equal(pages);
  });

  const sentences = [
    'In order to unsubscribe, click <a>here</a>.',
    'If you were forwarded this newsletter and you like it, you can subscribe <a>here</a>.',
    'No Images? <a>Click here</a>',
    'How was it? <br> 1 | 2 | <a>3</a> | 4 | 5',
    'Wenn Sie diesen Newsletter nicht mehr erhalten möchten, klicken Sie bitte <a>hier</a>.',
    'Wenn Sie sich abmelden möchten, klicken Sie <a>hier</a>.',
    'Den Newsletter können Sie <a>hier</a> abbestellen.',
    'Si vous ne souhaitez plus recevoir nos messages, <a>cliquez ici</a>',
    'Si no quieres recibir más correos, haz clic <a>aquí</a>',
    'Se non vuoi più ricevere le nostre email <a>clicca qui</a>',
    'Wil je geen e-mails meer ontvangen? <a>Klik hier</a>',
    'Jeśli nie chcesz otrzymywać wiadomości, kliknij <a>tutaj</a>',
    'Se não deseja receber mais e-mails, <a>clique aqui</a>',
  ];
  for (const sentence of sentences)
    it(`are left out in “${sentence}”`, () =>
      expect(extract({ ...mail, html: `<p>${sentence.replace('<a>', `<a href="${counter}">`)}</p>` })).to.deep.equal([]));

  it('are left out where they are icons, logos, or the name of the sender', () => {
    const found = (inner: string) => extract({ ...mail, sender: 'The Rice Letter', html: `<h2>Rice</h2><a href="${counter}">${inner}</a>` }).length;
    for (const alt of ['Facebook', 'X', 'Follow us on Instagram', 'tiktok icon', 'Website', 'Brevo logo', 'Sent by MailerLite', 'The Rice Letter'])
      expect(found(`<table><tr><td><img src="a.png" alt="${alt}"></td></tr></table>`), alt).to.equal(0);
    expect(found('The rice letter'), 'as text').to.equal(0);
    for (const alt of ['', 'Facebook buys a rice field', 'A logo of rice and of wheat']) expect(found(`<img src="a.png" alt="${alt}">`), alt).to.equal(1);
  });

  it('are once what an image, a title that is a link, and “read more” lead to, though a counter has three addresses of it', () => {
    const at = (place: number) => `https://click.counter.example/f/a/Zk1_2Q34567890abcdEFG${place}`;
    const card = `<a href="${at(1)}"><img src="a.png"></a><h2><a href="${at(2)}">Rice</a></h2><p>Words. <a href="${at(3)}">Read more</a></p>`;
    expect(extract({ ...mail, html: card }).map(({ foundUrl, title }) => [foundUrl, title])).to.deep.equal([[at(2), 'Rice']]);
    const others = card.replaceAll('click.counter.example/f/a/Zk1_2Q34567890abcdEFG', 'rice.example/page-');
    expect(extract({ ...mail, html: others }), 'of other hosts').to.have.length(3);
  });

  for (const host of [
    'gardens.us7.list-manage.com/track/click?u=8f3b2c1d9e&id=5',
    'museum.createsend1.com/t/t-l-fykjrt-jdyklkhiu-r/',
    'museum.cmail20.com/t/x/',
  ])
    it(`are those of ${host}, too`, () => expect(extract({ ...mail, html: `<a href="https://${host}">Privacy policy</a>` })).to.deep.equal([]));

  it('count by a key in a parameter, too', () => {
    const html = `<a href="https://u1.ct.counter.example/ls/click?upn=${'u001.aB3-2F'.repeat(6)}">Preferences</a>`;
    expect(extract({ ...mail, html })).to.deep.equal([]);
  });
});

describe('offers of a newsletter', () => {
  const left = (host: string) =>
    [
      'Start your free trial',
      'Leave a comment',
      'Built with Ghost',
      'Made with Kit',
      'Upgrade',
      'One-click unsubscribe',
      'Is this email not displaying correctly?',
    ].filter((text) => extract({ ...mail, html: `<a href="https://${host}/rice">${text}</a>` }).length > 0);

  it('are left out on the sender’s own host', () => expect(left('www.news.example')).to.deep.equal([]));
  it('are kept on other hosts, but for leaving and the online version', () =>
    expect(left('sponsor.example')).to.deep.equal(['Start your free trial', 'Leave a comment', 'Built with Ghost', 'Made with Kit', 'Upgrade']));
});

describe('pages that are no reading', () => {
  const left = [
    ...['www.mailchimp.com/email-referral/?aid=1', 'kit.com/?ref=x', 'www.brevo.com?utm_source=logo', 'buttondown.com/rice/archive/', 'buttondown.email/rice'],
    ...['buttondown.com/refer/rice', 'share.bingo/bluesky?url=https%3A//rice.example/'],
    ...['bsky.app/profile/rice.example', 'bsky.app/intent/compose?text=x', 'www.threads.net/@rice', 'mastodon.social/@rice', 'www.tiktok.com/@rice'],
    ...['news.ycombinator.com/submitlink?u=x', 'www.reddit.com/submit?url=x', 'wa.me/?text=x', 'refer.rice.example/abc/8', 'hub.sparklp.co/sub_1/8'],
    ...['unsubscribe.rice.example/x5', 'preferences.rice.example/x5', 'subscribe.wordpress.com/?key=x'],
    ...['medium.com/rice-in-plain-english', 'rice.substack.com/p/rice?token=x&action=save'],
    ...['itunes.apple.com/app/rice/id1?mt=8&ct=email_digestFooter', 'play.google.com/store/apps/details?id=rice&referrer=utm_source%3Demail_digestFooter'],
    ...['www.google.com/alerts/feedback?ffu=x', 'www.google.de/alerts?s=x', 'scholar.google.com/scholar_alerts?view_op=x', 'scholar.google.ie/citations?x=y'],
  ];
  for (const page of left) it(`are left out: ${page}`, () => expect(extract({ ...mail, html: `<a href="https://${page}">Rice</a>` })).to.deep.equal([]));

  const kept = [
    ...[
      'mailchimp.com/resources/rice',
      'buttondown.com/rice/archive/how-to',
      'share.bingo',
      'bsky.app/profile/rice.example/post/3k',
      'mastodon.social/@rice/1',
    ],
    ...['medium.com/p/4aa4be1df15b', 'medium.com/how-to-cook-rice-4aa4be1df15b', 'medium.com/rice-in-plain-english/how-to-4aa4be1df15b'],
    ...['itunes.apple.com/app/rice/id1?mt=8&ct=rice-weekly', 'play.google.com/store/apps/details?id=footer'],
    ...[
      'www.tiktok.com/@rice/video/7',
      'news.ycombinator.com/item?id=1',
      'www.reddit.com/r/rice',
      'preferences.example/x5',
      'scholar.google.com/scholar?q=rice',
    ],
  ];
  for (const page of kept) it(`are kept: ${page}`, () => expect(extract({ ...mail, html: `<a href="https://${page}">Rice</a>` })).to.have.length(1));

  it('are left out: a picture that leads to itself', () => {
    const image = '<img src="https://cdn.example/small.jpg" alt="A field">';
    const wrapped = '<a href="https://www.google.com/url?q=https%3A%2F%2Fcdn.example%2Fw_1100%2Fa.png&sa=D">';
    for (const link of [wrapped, '<a href="https://cdn.example/w_1100/a.jpeg?x=1">', '<a class="image-link image2" href="https://cdn.example/a">'])
      expect(extract({ ...mail, html: `<h2>Rice</h2>${link}${image}</a>` }), link).to.deep.equal([]);
    expect(extract({ ...mail, html: `<a href="https://cdn.example/a.jpeg">The field from above</a>` })).to.have.length(1);
  });
});

describe('stories that come near these rules', () => {
  const titles = (html: string) => extract({ ...mail, html }).map(({ title }) => title);

  for (const page of ['developer.example/webkit/WebView', 'wiki.example/wiki/Unsubscribe', 'blog.example/2026/preferences', 'refer.example/how-it-works'])
    it(`are kept on hosts of others: ${page}`, () => expect(titles(`<a href="https://${page}">Rice</a>`)).to.deep.equal(['Rice']));

  for (const text of ['Opt out of the harvest of your data', '★★★★☆ Rice: Part Two'])
    it(`are kept: ${text}`, () => expect(titles(`<a href="https://rice.example/a">${text}</a>`)).to.deep.equal([text]));

  for (const sentence of [
    'Rice that grows in your browser. <a>Read more</a>',
    'Update your settings with one grain. <a>Learn more</a>',
    'You can watch it grow online <a>here</a>.',
    'To register online, click <a>here</a>.',
    'If you change your settings often, <a>this</a> helps.',
    'Un médico de baja cuenta su historia <a>aquí</a>.',
    '<a>Sign up now</a>',
    '<a>Watch the video</a>',
    '<a>Listen on Spotify</a>',
    '<a>Jetzt anmelden</a>',
    '<a>Écouter l’épisode</a>',
    '<a>Читать полностью</a>',
    '<a>詳しくはこちら</a>',
  ])
    it(`have the title of their heading: ${sentence}`, () =>
      expect(titles(`<h2>Rice</h2><p>${sentence.replace('<a>', '<a href="https://rice.example/a">')}</p>`)).to.deep.equal(['Rice']));

  const counter = 'https://click.counter.example/f/a/Zk1_2Q34567890abcdEFG';

  for (const [paragraph, title] of [
    ['<b>Rice is back in town:</b> It grows again, as farmers tell <a>here</a>.', 'Rice is back in town'],
    ['<span><strong>Who grows rice</strong><br>Some do. More: <a>Website</a></span>', 'Who grows rice'],
    ['<b>Who grows rice</b><br>Some do <a>here</a>.<br><b>Who eats it</b><br>All do.', 'Who grows rice'],
    ['<b>Why it matters:</b> It grows again, as farmers tell <a>here</a>.', 'Of grain'],
    ['<b>Dear reader,</b><br>It grows again, as farmers tell <a>here</a>.', 'Of grain'],
    ['<b>Rice is back</b><h3>Who grows it</h3><a>Read more</a>', 'Who grows it'],
    ['<a>…</a>', 'Of grain'],
  ] as const)
    it(`have the title that their paragraph begins with in bold type: ${paragraph}`, () =>
      expect(titles(`<h2>Of grain</h2><p>${paragraph.replace('<a>', '<a href="https://rice.example/a">')}</p>`)).to.deep.equal([title]));

  it('have no label, greeting or subtitle as their title', () => {
    const link = '<a href="https://rice.example/a"><img src="p.png"></a>';
    expect(titles(`<b>Rice is back</b><br>Text.<br><b>In brief:</b><br><b>Dear reader,</b><br>${link}`)).to.deep.equal(['Rice is back']);
    expect(titles(`<h1>Rice is back</h1><h3 class="subtitle x">For all</h3>${link}`)).to.deep.equal(['Rice is back']);
  });

  it('are not the picture again that stands above a button or another picture, behind a click counter', () => {
    const picture = (key: number) => `<p><a href="${counter}${key}"><img src="p.png" width="600"></a></p>`;
    const button = `<p><a href="${counter}9">Read more</a></p>`;
    expect(titles(`<h2>Rice</h2>${picture(1)}${button}<h2>Wheat</h2>${picture(2)}${picture(3)}`)).to.deep.equal(['Rice', 'Wheat']);
    expect(titles(`${picture(1)}<p><a href="${counter}2">The story of rice</a></p>`)).to.deep.equal(['The story of rice']);
  });

  it('are the post that an icon of its platform leads to', () =>
    expect(titles('<h1>Rice</h1><a href="https://open.substack.com/pub/jane/p/rice?r=1"><img src="i.png" width="18"></a>')).to.deep.equal(['Rice']));

  it('are no buttons that share the sender’s newsletter', () => {
    const link = (href: string, text: string) => extract({ ...mail, sender: 'The Rice Road', html: `<a href="${href}">${text}</a>` });
    expect(link(counter, 'Share The Rice Road')).to.deep.equal([]);
    for (const page of ['?action=share', 'p/rice?action=restack-comment', 'api/v1/post/react', 'advertise'])
      expect(link(`https://news.example/${page}`, 'Go')).to.deep.equal([]);
  });

  for (const sentence of [
    'Hier <a>klicken</a>, um den Newsletter im Browser zu öffnen.',
    'Falls Sie unsere E-Mails in Zukunft nicht mehr<br>erhalten möchten, klicken <a>Sie bitte hier</a>.',
  ])
    it(`do not include ${sentence}`, () => expect(titles(`<h2>Rice</h2><p>${sentence.replace('<a>', `<a href="${counter}">`)}</p>`)).to.deep.equal([]));

  for (const link of [
    '<a href="https://lists.example/unsubscribe">here</a>',
    '<a href="https://lists.example/newsletter/unsubscribe">here</a>',
    'To unsubscribe from this list, click <a href="https://lists.example/mailman/listinfo/dev">here</a>.',
  ])
    it(`do not include ${link}`, () => expect(titles(`<h2>Rice</h2><p>${link}</p>`)).to.deep.equal([]));

  for (const sentence of ['Wer sich vom Dienst abmelden will, liest <a>hier</a> weiter.', 'Si gioca nel browser, <a>qui</a>.'])
    it(`are kept on the sender’s host: ${sentence}`, () =>
      expect(titles(`<p>${sentence.replace('<a>', '<a href="https://news.example/a">')}</p>`)).to.have.length(1));

  it('have titles with numbers in every script', () => {
    const written = ['2026年の予算', '10 причин уехать'];
    expect(titles(`<h2>Rice</h2>${written.map((text, at) => `<p><a href="https://rice.example/${at}">${text}</a></p>`).join('')}`)).to.deep.equal(written);
  });

  it('are an image of a logo, of a page with words in its address', () =>
    expect(titles('<h2>A globe comes back</h2><a href="https://rice.example/globe"><img alt="The new Rice logo"></a>')).to.deep.equal(['A globe comes back']));

  it('are links beside a linked heading of another host, whose address looks like a counter’s', () =>
    expect(
      titles('<h2><a href="https://rice.example/a">Rice</a></h2><p>The paper is <a href="https://doi.example/10.1016/j.rice.2026.101234">here</a>.</p>'),
    ).to.have.length(2));
});

describe('links that Substack redirects', () => {
  it('are kept where their target is known to its server only', () => {
    const url = 'https://substack.com/redirect/f28899b5-8283-4255-b169-f4a9f1d4e24f?j=eyJ1IjoieCJ9.abc';
    expect(extract({ ...mail, html: `<a href="${url}">The free press</a>` })).to.have.length(1);
  });
});

describe('a line of nothing but actions', () => {
  const titles = (html: string) => extract({ ...mail, html: `<h2>Rice</h2>${html}` }).map(({ title }) => title);
  const other = (text: string, path = '') => `<a href="https://rice.example/${path}">${text}</a>`;

  it('leads to none, on other hosts too', () => {
    for (const line of [
      `<span>${other('Sign Up', 'ai')}</span>\n|<span>${other('Advertise', 'ads')}</span>|<span>${other('View Online', 'web')}</span><br>`,
      `${other('Subscribe', 'a')} · ${other('Sign up', 'b')}`,
    ])
      expect(titles(`<div>${line}</div><p>${other('A field', 'field')}</p>`)).to.deep.equal(['A field']);
  });

  it('is none with other words in it, or alone', () => {
    for (const line of [other('Sign up', 'a'), `${other('Sign up', 'a')} for the course | View online`, `The course: ${other('Sign up', 'a')} | Advertise`])
      expect(titles(`<div>${line}</div>`)).to.deep.equal(['Rice']);
  });

  it('has no positions at TLDR below it', () => {
    const jobs = 'https://jobs.ashbyhq.com/tldr.tech';
    const footer = `Want to work at TLDR? <a href="${jobs}">Apply here</a> or <a href="${jobs}/c227b917-a6a4-40ce-8950-d3e165357871">create your own role</a>`;
    expect(titles(`<p><a href="${jobs}/3b21aaf8-dea5-4127-be71-602d30e5001e">An engineer</a></p><p>${footer}</p>`)).to.deep.equal(['An engineer']);
  });
});

describe('an offer to a reader to whom the mail was forwarded', () => {
  const link = (text: string) => `<a href="https://click.counter.example/f/a/Zk1_2Q34567890abcdEFG">${text}</a>`;
  const kept = (line: string) => extract({ ...mail, html: `<p>${line}</p>` }).length > 0;

  it('leads to no story', () => {
    for (const line of [
      `Was this email forwarded to you? ${link('Sign up for free here')}.`,
      `Was this email forwarded to you? ${link('Sign up now to receive it in your inbox')}`,
      `If this was forwarded to you, ${link('join 10,000 readers')}`,
      `Wurde dir dieser Newsletter weitergeleitet? ${link('Hier anmelden')}`,
      `Cet e-mail vous a été transféré ? ${link('Inscrivez-vous ici')}`,
      `¿Te han reenviado este correo? ${link('Suscríbete aquí')}`,
      `Ti hanno inoltrato questa mail? ${link('Iscriviti qui')}`,
      `Is deze mail naar je doorgestuurd? ${link('Schrijf je hier in')}`,
    ])
      expect(kept(line), line).to.equal(false);
  });

  it('is none without its question, and no other link beside it', () => {
    for (const line of [
      link('Sign up for the course on queues'),
      `L'atelier est transféré au 12 mars. ${link('Inscrivez-vous')}`,
      `Was this email forwarded to you? Then read ${link('how trees grow')}`,
    ])
      expect(kept(line), line).to.equal(true);
  });
});
