// The extraction's rules about senders of newsletters, as data, in the terms of docs/link-digest.md. Patterns of host and path match `example.org/a/b`,
// without a trailing slash; patterns of a text match it on one line.

export type Platform = {
  /** The first group is the handle of the author or of the publication. */
  readonly handles: readonly RegExp[];
  /** The platform's own pages: profiles, settings, actions of its buttons. */
  readonly pages: readonly RegExp[];
  /** Hosts whose authors have no domain of their own. */
  readonly hosts: readonly string[];
};

export type Rules = {
  /** An anchor is dropped when its class or id, or that of an element around it, contains one of these, in any case. */
  readonly droppedClasses: readonly string[];
  /** Social networks, dropped with their subdomains. */
  readonly socialHosts: readonly string[];
  /** Path segments of unsubscribe, preferences, view-in-browser, advertising and referrals; compared by letters and digits, without a file extension. */
  readonly droppedSegments: readonly string[];
  /** Whole texts of the same links, and of other actions that newsletters offer. */
  readonly droppedTexts: readonly RegExp[];
  /** Texts that name the sender's own pages, such as Contact; dropped on hosts of the sender only. */
  readonly senderTexts: readonly RegExp[];
  /** Phrases of the same links in the line around a link whose own text is generic. */
  readonly droppedPhrases: RegExp;
  /** Some of them, which need no address of the mail. */
  readonly leaving: RegExp;
  /** Texts that offer the newsletter to a reader to whom it was forwarded. */
  readonly joining: RegExp;
  /** Lines around such texts. */
  readonly forwarded: RegExp;
  /** Link texts that say nothing about the page, such as "read more". */
  readonly genericTexts: RegExp;
  /** Some of them, which tell only where to click: the line around them says what they do. */
  readonly pointers: RegExp;
  /** Lines of nothing but actions that newsletters offer, as at their top. */
  readonly menus: RegExp;
  /** Whole descriptions of images that lead to profiles of the sender, or to his pages. */
  readonly droppedIcons: RegExp;
  /** Whole descriptions of images behind a click counter; elsewhere a logo may be the story. */
  readonly logos: RegExp;
  /** Texts that rate the mail. */
  readonly ratings: RegExp;
  /** Hosts that count clicks and whose addresses do not look like it. */
  readonly clickCounters: RegExp;
  /** Pages of services that send mails, profiles on networks that have other pages, buttons that share, referrals. */
  readonly droppedPages: readonly RegExp[];
  /** Queries of buttons that share or save, and of a store's badge in a footer. */
  readonly droppedQueries: RegExp;
  readonly platforms: readonly Platform[];
};

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const medium: Platform = {
  hosts: ['medium.com'],
  handles: [/^medium\.com\/(?:@|%40)([^/]+)/, /^(?!(?:www|help|policy|link|about|status|api)\.)([\w-]+)\.medium\.com(?:\/|$)/],
  pages: [
    /^medium\.com\/(?:@|%40)[^/]+(?:\/(?:about|followers|following|lists?|subscribe|membership))?$/,
    /^medium\.com\/(?:me|m|u|settings|plans|membership|policy|jobs-at-medium|new-story|creators|about|subscribe|signin|earn|search)(?:\/|$)/,
    /^(?:www\.)?medium\.com(?:\/[\w-]+(?<!-[\da-f]{8,12}))?$/, // with the pages of publications
    /^(?:help|policy|about|status)\.medium\.com(?:\/|$)/,
    /^[\w-]+\.medium\.com(?:\/(?:about|followers|following|lists?|subscribe))?$/,
  ],
};

const substack: Platform = {
  hosts: ['substack.com'],
  handles: [
    /^substack\.com\/(?:@|%40)([^/]+)\/./,
    /^open\.substack\.com\/pub\/([^/]+)/,
    /^(?!(?:www|open|support|email|on|api|cdn)\.)([\w-]+)\.substack\.com(?:\/|$)/,
  ],
  pages: [
    /^substack\.com\/(?:@|%40)[^/]+$/,
    /^substack\.com$/,
    /^substack\.com\/(?:account|settings|profile|signup|sign-in|app|app-link|inbox|notes|refer|discover|leaderboard)(?:\/|$)/,
    /^[\w-]+\.substack\.com\/(?:account|subscribe|about|leaderboard|action\/.*)$/,
    /^[\w-]+\.substack\.com\/p\/[^/]+\/comments?$/,
  ],
};

const otherPlatforms: readonly Platform[] = [
  { hosts: ['dev.to'], handles: [/^dev\.to\/(?!t\/|p\/|about|settings)([^/]+)\/./], pages: [/^dev\.to\/settings(?:\/|$)/] },
  { hosts: ['hashnode.dev'], handles: [/^(?!www\.)([\w-]+)\.hashnode\.dev(?:\/|$)/], pages: [] },
  { hosts: ['beehiiv.com'], handles: [/^(?!(?:www|app|link\.mail)\.)([\w-]+)\.beehiiv\.com\/p\/./], pages: [/^www\.beehiiv\.com$/] },
  {
    hosts: ['buttondown.com', 'buttondown.email'],
    handles: [/^buttondown\.(?:com|email)\/([^/]+)\/archive\/./],
    pages: [/^buttondown\.(?:com|email)\/(?:refer\/)?[^/]+(?:\/archive)?$/, /^share\.bingo\//],
  },
  { hosts: ['ghost.io'], handles: [], pages: [/^(?:www\.)?ghost\.org$/] },
  { hosts: ['wordpress.com'], handles: [/^(?!www\.)([\w-]+)\.wordpress\.com\/./], pages: [] },
];

const droppedPages: readonly RegExp[] = [
  /^(?:www\.)?(?:mailchimp|kit|convertkit|brevo|sendinblue|mailerlite|mailjet|klaviyo|hubspot|campaignmonitor|activecampaign|buttondown|curated|getrevue)\.(?:com|co|email)$/,
  /^(?:www\.)?mailchimp\.com\/(?:email-referral|monkey-rewards)$/,
  /^bsky\.app\/(?:profile\/[^/]+|intent\/.+)$/,
  /^(?:www\.)?(?:threads\.(?:net|com)|tiktok\.com|(?:[\w-]+\.)*(?:mastodon|mstdn)\.[\w.-]+|fosstodon\.org|hachyderm\.io|infosec\.exchange)\/@[^/]+$/,
  /^(?:www\.)?threads\.(?:net|com)\/intent\/post$/,
  /^news\.ycombinator\.com\/submitlink$|^(?:www\.|old\.)?reddit\.com\/submit$|^(?:api\.whatsapp\.com\/send|wa\.me|t\.me\/share)(?:\/|$)/,
  /^(?:www\.)?google\.(?:com?\.)?[a-z]{2,3}\/alerts(?:\/|$)|^scholar\.google\.(?:com?\.)?[a-z]{2,3}\/(?:scholar_(?:alerts|share)|citations)$|^subscribe\.wordpress\.com$/,
  /^refer(?:rals?)?\.[^/]+\.[^/.]+\/./,
  /^(?:[\w-]+\.)?sparklp\.co(?:\/|$)/,
  // TLDR looks for people below each issue; positions among its stories have other ids.
  /^jobs\.ashbyhq\.com\/tldr\.tech(?:\/c227b917-a6a4-40ce-8950-d3e165357871)?$/,
  // Buttons of Substack, on the hosts of its authors.
  /^[^/]+\/api\/v1\/(?:post|comment)s?\//,
];

/** Texts with nothing but marks around them. */
const whole = (texts: readonly string[]): RegExp => new RegExp(String.raw`^[^\p{L}\p{N}]*(?:${texts.join('|')})[^\p{L}\p{N}]*$`, 'iu');

const pointers = [
  '(?:click |go |over |right )?here|this|link|via|\\d+',
  '(?:klicke |(?:klicken )?sie )?(?:bitte )?hier(?: klicken)?|klicken|click|cliquez ici|ici|haz clic(?: aquí)?|(?:pulsa|pincha) aquí|aquí|clicca(?:re)? qui|qui|klik hier',
  '(?:kliknij )?tutaj|(?:clique|clicando) aqui|aqui|здесь|тут|こちら|点击这里|這裡|여기',
];

const things =
  'article|story|post|piece|thing|essay|interview|review|report|paper|pdf|book|study|guide|recipe|data|video|film|trailer|talk|slides|episode|podcast|thread|job|event|website|site|project';
const buttons = [
  `(?:read|learn|see|find out|view|show|discover|watch|listen to|download|get|explore|continue|keep)(?: reading)? (?:more|on|now|all|(?:the |this |full |whole |our )*(?:${things}))(?: (?:here|about it|of this (?:post|article|entry)|on .{1,30}))?`,
  '(?:read|continue|keep) (?:on|reading)?',
  '(?:watch|listen|read|see|get it|available) (?:on|at) (?:apple podcasts|spotify|youtube|vimeo|amazon|github|soundcloud|netflix|medium)',
  '(?:article |story |comments? |page )?(?:url|link)|(?:for )?more info(?:rmation)?(?: (?:at|here))?|home ?page|(?:please )?(?:see(?: also)?|go to|visit|at|from)|(?:it.s|is|are) at',
  '(?:read|see|learn|find out|find|discuss|comment)(?: (?:more|it|them|this(?: story| article)?))? (?:at|on)',
  'more|source|article|(?:read )?full (?:article|story)|details|watch(?: now)?|listen(?: now)?|open|visit|check it out|website|online',
  '\\d+ min(?:ute)?s?(?: read)?',
  '(?:get|buy|book|save|reserve) (?:(?:your|my) )?(?:tickets?|(?:a )?(?:seat|place|spot))|(?:buy|book|order|shop|register|download|apply|sign ?up|join)(?: now| here| today)?|sign ?up for free|rsvp',
  '(?:(?:jetzt|hier|alles|(?:ganzen )?artikel|video|podcast) )?(?:weiterlesen|lesen|ansehen|anhören|hören|anmelden|registrieren|bewerben|bestellen|buchen|herunterladen)|lesen sie (?:mehr|weiter|hier)(?: weiter)?',
  'mehr(?: lesen| erfahren| dazu)?|zu[mr] (?:(?:ganzen )?artikel|beitrag|bericht|interview|video|podcast|buch|rezept|test|studie|anmeldung|veranstaltung|stellenanzeige)',
  '(?:lire|voir|regarder|écouter|découvrir|consulter|télécharger) (?:la suite|plus|(?:l.|le |la )(?:article|entretien|interview|vidéo|épisode|podcast|étude|rapport|offre))|en savoir plus|la suite|écouter|télécharger',
  '(?:je m.|s.)inscri(?:s|re)|inscrivez-vous|postuler',
  '(?:leer|ver|escuchar|ler|ouvir|leggi|ascolta|guarda) (?:más|mais|tutto|di più|(?:(?:el|la|o|il) |l.)?(?:artículo|vídeo|episodio|artigo|episódio|articolo|video))',
  'seguir leyendo|más información|leer|inscríbete|apúntate|regístrate|saiba mais|leia mais|continuar lendo|inscreva-se|continua(?: a leggere)?|scopri di più|iscriviti',
  'lees (?:meer|verder|het (?:hele )?artikel)|meer lezen|czytaj (?:więcej|dalej)|läs mer|læs mere|les mer|lue lisää',
  'читать (?:далее|дальше|полностью|статью)|подробнее|узнать больше|смотреть|слушать|зарегистрироваться',
  '(?:続きを|もっと|全文を|記事を)読む|(?:詳しくは|詳細は|続きは|お申し込みは)こちら|詳細(?:を見る)?|もっと見る|申し込む',
  '阅读全文|閱讀更多|阅读更多|查看(?:更多|详情)|了解更多|더 ?보기|자세히 ?보기|계속 ?읽기',
];

const object = String.raw`(?: (?:your|my|our|the|this|these|all|email|e-mail|mail|mailing|newsletter|subscription|notification|communication|contact|account|alert|list))*`;

export const defaultRules: Rules = {
  droppedClasses: [
    'footer',
    'social',
    'unsubscribe',
    String.raw`(?:^|\s)image-link(?:\s|$)`,
    'gmail_signature',
    'moz-signature',
    'outlook-mobile-signature',
    'applemailsignature',
  ],
  socialHosts: words('facebook.com twitter.com x.com linkedin.com instagram.com youtube.com pinterest.com'),
  droppedSegments: words(`
    unsubscribe unsub optout disableemail abmelden abmeldung abbestellen austragen desabonner desabonnement desinscrire desinscription darsedebaja
    cancelarsuscripcion disiscriviti disiscrizione cancellati afmelden uitschrijven wypisz descadastrar cancelarinscricao cancelarassinatura
    preferences emailpreferences mailpreferences preferencecenter preferencescenter managepreferences updatepreferences subscriptionpreferences
    notificationpreferences communicationpreferences managesubscription managesubscriptions emailsettings notificationsettings
    viewinbrowser viewonline browserview webversion webview viewemail viewasawebpage onlineversion webansicht onlineansicht versionenligne versionweb
    versiononline webversie advertise referral referafriend`),
  droppedTexts: [
    /^(?:please )?(?:click here to |you can )?(?:(?:unsub(?:scribe)?|opt[ -]?out)(?: here| now| instantly| with one click| (?:from|of) (?:\S+ ){0,4}(?:e-?mails?|(?:mailing )?lists?|newsletters?|messages?|communications?))?|unsubscribe (?:from|of) (?:this|these|our|all|the|future) .{1,40})[.!]?$/i,
    new RegExp(
      `^(?:click here to )?(?:update|manage|change|edit|adjust|set|review)${object} (?:preferences|settings|subscriptions?|options|frequency|profile|account|alerts|notifications|details|address)(?: here)?(?: or unsubscribe(?: here)?)?[.!]?$`,
      'i',
    ),
    /^(?:leave|stop|cancel|pause|mute)(?: receiving| getting)?(?: (?:this|these|the|your|my|all))?(?: (?:email|e-mail|mail|mailing))? (?:lists?|alerts?|e-?mails?|newsletters?|notifications?|subscriptions?)[.!]?$/i,
    /^(?:email|e-mail|mail|newsletter|subscription|notification|communication) (?:preferences|settings)$/i,
    /^(?:email )?(?:preferences?|subscription) cent(?:er|re)$/i,
    /^(?:click here to )?(?:view|read|open|see)(?: (?:this|the|it|as|a|email|e-mail|mail|newsletter|issue|message|post))* (?:in|on|with) (?:your |a |the |my )?(?:web ?)?(?:browser|web|website|app|page)[.!]?$/i,
    /^(?:view|read|open|see)(?: (?:this|the|it|email|newsletter|issue|message|post))* (?:online|as (?:a )?web ?page)[.!]?$/i,
    /\b(?:view|read|open|see) (?:this|the|it)(?: (?:email|e-mail|newsletter|message))? in (?:your|a|the) (?:web )?browser[.!]?$/i,
    /^(?:view )?(?:in browser|(?:web|online|browser|html) version)$/i,
    /^(?:(?:track|share|see|check|get)(?: out)? your (?:\w+ )?(?:referrals?|invites?)(?: (?:links?|rewards?|hub|code))?(?: here)?|promote with us|sponsor (?:us|(?:this|an?|our|the next) (?:issue|newsletter)))[.!]?$/i,
    /^(?:advertise(?: with us| here)?|become a (?:member|sponsor)|subscribe(?: now| here| for free)?|(?:forward|share|send) (?:this|it)(?: \w+)? (?:to|with) a friend|(?:refer|invite) (?:a|your) friends?|click to share|confirm (?:your )?subscription|report this e-?mail)[.!]?$/i,
    /^(?:get|download|open in|read in)(?: (?:the|our))?(?: (?:iphone|ipad|ios|android|mobile|free|desktop))* app(?: (?:for|on) (?:ios|android|iphone|ipad|your phone))?[.!]?$/i,
    /^(?:(?:receive|get|follow|read)(?: (?:this|the|our))? \w+ (?:as|by|via|in) )?(?:an? )?rss(?: feed)?[.!]?$/i,
    /^unsubscribe (?:me|from (?:all|everything)|all)[.!]?$|^(?:i )?(?:do(?:n['’]t| not) |no longer )want(?: to (?:receive|get))? (?:these|our|such|any more) (?:e-?mails?|newsletters?|messages?).?$/i,
    /^(?:(?:having )?(?:trouble|problems?|difficulty)|can['’]?(?:no)?t|unable to) (?:viewing|reading|seeing|see|view|read|with) (?:this|the) (?:e-?mail|newsletter|message|issue)\b.{0,60}$|^is this (?:e-?mail|newsletter|message) not displaying\b.{0,40}$/i,
    /^(?:(?:safely|one-click|click(?: here)? to) unsubscribe|(?:is this |this )?e-?mail not (?:displaying|displayed|showing)(?: correctly| properly)?)[.!?]?$/i,
    /^why (?:did i|am i|do i) (?:get|getting|receive|receiving)(?: this| these)?(?: e-?mails?| newsletters?| messages?)?.?$|^(?:add us to your (?:address book|contacts|safe senders?(?: list)?)|whitelist us|(?:agregar|añadir|agréganos|añádenos) a (?:mis|tus) contactos)[.!]?$|^(?:change|update)(?: (?:your|my))? e-?mail(?: address)?[.!]?$|^forward(?: (?:this|it)(?: (?:e-?mail|newsletter|issue))?)?(?: to (?:a friend|someone|a colleague))?$/i,
    // The program that forwarded the mail says so.
    /^(?:get )?outlook (?:for|für|pour|para|per|voor) (?:ios|android|mac)$|^(?:get )?yahoo mail (?:for|on) (?:iphone|ios|android)$|^yahoo mail: search, organi[sz]e, conquer$/i,
    // German sentences; other-languages.ts has the rest.
    /^(?:wird|sehen sie) diese (?:e-?mail|mail|nachricht) nicht (?:richtig|korrekt)(?: dargestellt| angezeigt)?.{0,40}$|^(?:schauen|sehen) sie sich diese (?:e-?mail|mail|nachricht) (?:in|mit) ihrem browser an[.!]?$/i,
  ],
  senderTexts: [
    /^(?:preferences|settings|einstellungen|profil|ajustes|instellingen|voorkeuren|ustawienia|baja|zrezygnuj|rezygnacja|cancellazione|like|comment|(?:share|forward) this (?:post|issue|e-?mail|newsletter)|invite friends|data protection|preferencias|préférences|preferências|preferenze|help(?: cent(?:er|re))?|support|faqs?|report abuse|share(?: (?:this|it))?(?: on (?:facebook|twitter|x|linkedin|whatsapp))?|tweet(?: this)?|follow us(?: on \w+)?|privacy(?: policy| notice| statement)?|terms(?: (?:of (?:use|service)|(?:&|and) conditions))?|legal notice|imprint|contact(?: us)?|impressum|kontakt|datenschutz(?:erklärung|hinweise)?|mentions légales|conditions d.utilisation|à propos|politique de confidentialité|política de privacidade?|informativa (?:sulla )?privacy|privacyverklaring|t[eé]rminos y condiciones|termos e condições|termini e condizioni|aviso legal|note legali|polityka prywatności)$/i,
    // Offers of the newsletter itself, and the service that sent it. On other hosts they are sponsors' links, or headlines.
    /^(?:upgrade(?: to (?:paid|premium|pro))?|(?:leave|write|post) a comment|(?:give|send) a gift(?: subscription)?|gift a subscription|pledge your support|start writing|get substack|restack|read in app|log ?in|sign ?in|sign ?up(?: now| here| for free)?|yes|no|(?:(?:browse|view|see|read) )?(?:(?:the|all|our|full|complete|past|previous) )*(?:archives?|past issues|previous issues|issues)|(?:subscribe|upgrade) to (?:the |our |my )?(?:premium|paid|pro) (?:edition|version|newsletter|plan|tier)|listen in app|(?:answered|asked|posted|updated) (?:(?:on )?(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?|\d+ ?(?:[hdwmy]|(?:min(?:ute)?|hour|day|week|month|year)s?)(?: ago)?|yesterday)|(?:more|less) like this|start (?:a|your) free trial|abonnez-vous|(?:zum )?(?:mail|newsletter-?)?archiv(?: (?:ansehen|aufrufen|öffnen))?|.{0,40}\bnewslettern? (?:abmelden|abbestellen)|(?:(?:powered by|sent (?:with|by|via|using)|made with|built (?:with|on)|publish(?:ed)? (?:with|on|by)|delivered (?:by|with)) )?(?:beehiiv|kit|convertkit|mailchimp|ghost|substack|buttondown|brevo|mailerlite|klaviyo|hubspot|campaign monitor|activecampaign|sendgrid|mailjet|revue|curated)|e?-?mail marketing (?:powered )?by \S+)[.!?]?$/i,
  ],
  droppedPhrases: new RegExp(
    [
      String.raw`^(?:(?:in order )?to|please|click|if|you|want|don['’]t|no longer)\b.*\b(?:unsubscribe|opt[ -]?out|stop receiving|preferences|your (?:\w+ )?(?:subscriptions?|settings|profile))\b`,
      String.raw`^(?:unsubscribe|manage|update|change|view|read)\b.{0,40}\b(?:unsubscribe|preferences|your (?:\w+ )?(?:subscriptions?|settings|profile))\b`,
      // The online version: the mail is named, is hard to read, or is all that the line is about.
      String.raw`^(?=.*\b(?:this|the|our|your) (?:e-?mail|mailing|newsletter|message|issue|edition)\b)(?=.*\b(?:view|read|see|open|display)).*\b(?:online|browser)\b`,
      String.raw`^(?:if you |are you |having )*(?:can['’]?t|cannot|trouble|problems?|difficulty|unable)\b.*\b(?:online|browser)\b`,
      String.raw`^(?:(?:in order )?to |please |click (?:here )?to )*(?:view|read|see|open)(?: (?:it|this))? (?:online|in (?:your|a|the) (?:web )?browser)\b`,
      String.raw`^unsubscribe\b|^1\W+2\W+3\b|^no images\?|\bforwarded (?:this|to you)\b|\b(?:email|subscription|notification|newsletter) preferences\b`,
      String.raw`\b(?:click|tap|go) here to (?:unsubscribe|opt[ -]?out|stop|cancel|leave)\b|\bbecause you (?:signed up|subscribed|registered|opted in|are subscribed)\b`,
      String.raw`(?:^(?:(?:wenn|falls|sie|hier|möchten|wollen|klicken|bitte)\b.*)?|\b(?:newsletter|e-?mails?|verteiler|jederzeit)\b.*)\b(?:abmelden|abbestellen)\b`,
      String.raw`^(?:_+ )?\S{1,60} mailing list(?: --|,)? \S+@\S+`, // Mailman, below each mail
      String.raw`\bdésabonner|\bdésinscrire|\bda(?:r|rme|rse|rte|te) de baja\b|\bafmelden\b|\b(?:visualizza|apri|vedi|leggi)\w*\b.{0,40}\bnel browser\b`,
    ].join('|'),
    'i',
  ),
  joining:
    /^(?:(?:sign ?up|subscribe|register|join|inscreva|assine|zapisz|prenumerera|tilmeld)\b|(?:abonnez|inscrivez)-vous|s.inscrire|suscr[ií]b|ap[uú]ntate|iscriviti|schrijf (?:je|u)\b|(?:(?:jetzt|hier) )?(?:\p{L}+ )?(?:anmelden|abonnieren|registrieren)).{0,60}$/iu,
  forwarded:
    /\bforwarded (?:this|to you)\b|(?:forwarded|weitergeleitet|transf[ée]r[ée]|reenvia|inoltrat|doorgestuurd|encaminha|przesła|vidarebefordra|videresend)\p{L}*[^.?]{0,60}\?/iu,
  leaving: /\bunsubscribe\b|\bstop receiving\b|\bmailing list(?: --|,)? \S+@/i,
  genericTexts: new RegExp(String.raw`^[^\p{L}\p{N}]*$|${whole([...pointers, ...buttons]).source}`, 'iu'),
  pointers: whole(pointers),
  menus: /^(?:(?:sign ?up|subscribe|log ?in|advertise|sponsor|archives?|(?:view|read) online|view in (?:your )?browser)(?:[^\p{L}\p{N}]+|$)){2,}$/iu,
  droppedIcons:
    /^(?:(?:follow|find|join|like)(?: us| me)?(?: on)? )?(?:facebook|fb|twitter|tw|x|x ?\(twitter\)|instagram|insta|ig|linkedin|li|in|youtube|yt|pinterest|tiktok|threads|bluesky|mastodon|snapchat|whatsapp|telegram|discord|reddit|rss|website|e-?mail|mail|share)(?:[ -](?:icon|logo|page|profile|link))?$/i,
  logos: /^(?:\S+ ){1,3}logo$/i,
  ratings: /^(\p{Extended_Pictographic})\uFE0F?(?: ?\1\uFE0F?){2,}(?:\s*\S+){0,4}$|^(?:[★☆⭐🌟]\uFE0F? ?){2,}(?:\s*\S+){0,4}$|^[★☆⭐🌟👍👎]\uFE0F?(?: \S+)?$/u,
  clickCounters: /(?:^|\.)(?:list-manage\.com|createsend\d*\.com|cmail\d+\.com|cleverreach\.com|amxe\.net)$/,
  droppedPages,
  droppedQueries: /[?&](?:action=(?:share|save|restack-comment)\b|(?:ct|referrer)=[^&]*footer)/i,
  platforms: [medium, substack, ...otherPlatforms],
};
