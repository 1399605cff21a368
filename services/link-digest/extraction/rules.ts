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
  /** Path segments of unsubscribe, preferences and view-in-browser; compared by letters and digits, without a file extension. */
  readonly droppedSegments: readonly string[];
  /** Whole texts of the same links, and of other actions that newsletters offer. */
  readonly droppedTexts: readonly RegExp[];
  /** Texts that name the sender's own pages, such as Contact; dropped on hosts of the sender only. */
  readonly senderTexts: readonly RegExp[];
  /** Phrases of the same links in the line around a link whose own text is generic. */
  readonly droppedPhrases: RegExp;
  /** Link texts that say nothing about the page, such as "read more". */
  readonly genericTexts: RegExp;
  /** Whole descriptions of images that lead to profiles of the sender, or to his pages. */
  readonly droppedIcons: RegExp;
  /** Texts that rate the mail. */
  readonly ratings: RegExp;
  /** Hosts that count clicks and whose addresses do not look like it. */
  readonly clickCounters: RegExp;
  readonly platforms: readonly Platform[];
};

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

const medium: Platform = {
  hosts: ['medium.com'],
  handles: [/^medium\.com\/(?:@|%40)([^/]+)/, /^(?!(?:www|help|policy|link|about|status|api)\.)([\w-]+)\.medium\.com(?:\/|$)/],
  pages: [
    /^medium\.com\/(?:@|%40)[^/]+(?:\/(?:about|followers|following|lists?|subscribe|membership))?$/,
    /^medium\.com\/(?:me|m|u|settings|plans|membership|policy|jobs-at-medium|new-story|creators|about|subscribe|signin|earn|search)(?:\/|$)/,
    /^(?:www\.)?medium\.com$/,
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
    pages: [/^buttondown\.(?:com|email)\/[^/]+(?:\/archive)?$/],
  },
  { hosts: ['ghost.io'], handles: [], pages: [/^(?:www\.)?ghost\.org$/] },
  { hosts: ['wordpress.com'], handles: [/^(?!www\.)([\w-]+)\.wordpress\.com\/./], pages: [] },
];

/** Services that send mails, whose badges stand below them; profiles on networks that have other pages; buttons that share; referrals. */
const badgesAndButtons: Platform = {
  hosts: [],
  handles: [],
  pages: [
    /^(?:www\.)?(?:mailchimp|kit|convertkit|brevo|sendinblue|mailerlite|mailjet|klaviyo|hubspot|campaignmonitor|activecampaign|buttondown|curated|getrevue)\.(?:com|co|email)$/,
    /^(?:www\.)?mailchimp\.com\/(?:email-referral|monkey-rewards)$/,
    /^bsky\.app\/(?:profile\/[^/]+|intent\/.+)$/,
    /^(?:www\.)?(?:threads\.(?:net|com)|tiktok\.com|(?:[\w-]+\.)*(?:mastodon|mstdn)\.[\w.-]+|fosstodon\.org|hachyderm\.io|infosec\.exchange)\/@[^/]+$/,
    /^(?:www\.)?threads\.(?:net|com)\/intent\/post$/,
    /^news\.ycombinator\.com\/submitlink$|^(?:www\.|old\.)?reddit\.com\/submit$|^(?:api\.whatsapp\.com\/send|wa\.me|t\.me\/share)(?:\/|$)/,
    /^refer(?:rals?)?\.[^/]+\/./,
    /^(?:[\w-]+\.)?sparklp\.co(?:\/|$)/,
  ],
};

const object = String.raw`(?: (?:your|my|our|the|this|these|all|email|e-mail|mail|mailing|newsletter|subscription|notification|communication|contact|account|alert|list))*`;

export const defaultRules: Rules = {
  droppedClasses: ['footer', 'social', 'unsubscribe', 'image-link', 'gmail_signature', 'moz-signature', 'outlook-mobile-signature', 'applemailsignature'],
  socialHosts: words('facebook.com twitter.com x.com linkedin.com instagram.com youtube.com pinterest.com'),
  droppedSegments: words(`
    unsubscribe unsub optout disableemail abmelden abmeldung abbestellen austragen desabonner desabonnement desinscrire desinscription darsedebaja
    cancelarsuscripcion disiscriviti disiscrizione cancellati afmelden uitschrijven wypisz descadastrar cancelarinscricao cancelarassinatura
    preferences emailpreferences mailpreferences preferencecenter preferencescenter managepreferences updatepreferences subscriptionpreferences
    notificationpreferences communicationpreferences managesubscription managesubscriptions emailsettings notificationsettings
    viewinbrowser viewonline browserview webversion webview viewemail viewasawebpage onlineversion webansicht onlineansicht versionenligne versionweb
    versiononline webversie`),
  droppedTexts: [
    /^(?:please )?(?:click here to |you can )?(?:unsub(?:scribe)?|opt[ -]?out)(?: here| now| instantly| with one click| (?:from|of)(?: this| these| our| all| the| future) .{1,40}| from .{1,40} emails?)?[.!]?$/i,
    new RegExp(
      `^(?:click here to )?(?:update|manage|change|edit|adjust|set|review)${object} (?:preferences|settings|subscriptions?|options|frequency|profile|account|alerts|notifications|details|address)(?: here)?[.!]?$`,
      'i',
    ),
    /^(?:leave|stop|cancel|pause|mute)(?: receiving| getting)?(?: (?:this|these|the|your|my|all))?(?: (?:email|e-mail|mail|mailing))? (?:lists?|alerts?|e-?mails?|newsletters?|notifications?|subscriptions?)[.!]?$/i,
    /^(?:email|e-mail|mail|newsletter|subscription|notification|communication) (?:preferences|settings)$/i,
    /^(?:email )?(?:preferences?|subscription) cent(?:er|re)$/i,
    /^(?:click here to )?(?:view|read|open|see)(?: (?:this|the|it|as|a|email|e-mail|mail|newsletter|issue|message|post))* (?:in|on|with) (?:your |a |the |my )?(?:web ?)?(?:browser|web|website|app|page)[.!]?$/i,
    /^(?:view|read|open|see)(?: (?:this|the|it|email|newsletter|issue|message))* (?:online|as (?:a )?web ?page)[.!]?$/i,
    /\b(?:view|read|open|see) (?:this|the|it)(?: (?:email|e-mail|newsletter|message))? in (?:your|a|the) (?:web )?browser[.!]?$/i,
    /^(?:view )?(?:in browser|(?:web|online|browser|html) version)$/i,
    /^(?:(?:track|share|see|check|get)(?: out)? your (?:\w+ )?(?:referrals?|invites?)(?: (?:links?|rewards?|hub|code))?(?: here)?|promote with us|sponsor (?:us|(?:this|an?|our|the next) (?:issue|newsletter)))[.!]?$/i,
    /^(?:advertise(?: with us| here)?|become a (?:member|sponsor)|(?:subscribe|sign ?up)(?: now| here| for free)?|(?:forward|share|send) (?:this|it)(?: \w+)? (?:to|with) a friend|refer a friend)$/i,
    /^(?:get|download|open in|read in)(?: (?:the|our))?(?: (?:iphone|ipad|ios|android|mobile|free|desktop))* app(?: (?:for|on) (?:ios|android|iphone|ipad|your phone))?[.!]?$/i,
    /^(?:(?:receive|get|follow|read)(?: (?:this|the|our))? \w+ (?:as|by|via|in) )?(?:an? )?rss(?: feed)?[.!]?$/i,
    /^unsubscribe (?:me|from (?:all|everything)|all)[.!]?$|^(?:i )?(?:do(?:n['’]t| not) |no longer )want(?: to (?:receive|get))? (?:these|our|such|any more) (?:e-?mails?|newsletters?|messages?).?$/i,
    /^(?:(?:having )?(?:trouble|problems?|difficulty)|can['’]?(?:no)?t|unable to) (?:viewing|reading|seeing|see|view|read|with) (?:this|the) (?:e-?mail|newsletter|message|issue)\b.{0,60}$|^is this (?:e-?mail|newsletter|message) not displaying\b.{0,40}$/i,
    /^(?:(?:safely|one-click|click(?: here)? to) unsubscribe|(?:is this |this )?e-?mail not (?:displaying|displayed|showing)(?: correctly| properly)?)[.!?]?$/i,
    /^why (?:did i|am i|do i) (?:get|getting|receive|receiving)(?: this| these)?(?: e-?mails?| newsletters?| messages?)?.?$|^(?:add us to your (?:address book|contacts|safe senders?(?: list)?)|whitelist us)[.!]?$|^(?:change|update)(?: (?:your|my))? e-?mail(?: address)?[.!]?$|^forward(?: (?:this|it)(?: (?:e-?mail|newsletter|issue))?)?(?: to (?:a friend|someone|a colleague))?$/i,
    // The program that forwarded the mail says so.
    /^(?:get )?outlook (?:for|für|pour|para|per|voor) (?:ios|android|mac)$|^(?:get )?yahoo mail (?:for|on) (?:iphone|ios|android)$|^yahoo mail: search, organi[sz]e, conquer$/i,
    // German sentences; other-languages.ts has the rest.
    /^(?:wird|sehen sie) diese (?:e-?mail|mail|nachricht) nicht (?:richtig|korrekt)(?: dargestellt| angezeigt)?.{0,40}$/i,
  ],
  senderTexts: [
    /^(?:preferences|settings|einstellungen|profil|ajustes|instellingen|voorkeuren|ustawienia|baja|zrezygnuj|rezygnacja|cancellazione|like|comment|(?:share|forward) this (?:post|issue|e-?mail|newsletter)|invite friends|data protection|preferencias|préférences|preferências|preferenze|help(?: cent(?:er|re))?|support|faqs?|report abuse|share(?: (?:this|it))?(?: on (?:facebook|twitter|x|linkedin|whatsapp))?|tweet(?: this)?|follow us(?: on \w+)?|privacy(?: policy| notice| statement)?|terms(?: (?:of (?:use|service)|(?:&|and) conditions))?|legal notice|imprint|contact(?: us)?|impressum|kontakt|datenschutz(?:erklärung|hinweise)?|mentions légales|politique de confidentialité|política de privacidade?|informativa (?:sulla )?privacy|privacyverklaring|aviso legal|note legali|polityka prywatności)$/i,
    // Offers of the newsletter itself, and the service that sent it. On other hosts they are sponsors' links, or headlines.
    /^(?:upgrade(?: to (?:paid|premium|pro))?|(?:leave|write|post) a comment|(?:give|send) a gift(?: subscription)?|gift a subscription|pledge your support|start writing|get substack|restack|read in app|log ?in|sign ?in|yes|no|(?:(?:browse|view|see|read) )?(?:(?:the|all|our|full|complete|past|previous) )*(?:archives?|past issues|previous issues|issues)|(?:subscribe|upgrade) to (?:the |our |my )?(?:premium|paid|pro) (?:edition|version|newsletter|plan|tier)|listen in app|(?:more|less) like this|start (?:a|your) free trial|(?:(?:powered by|sent (?:with|by|via|using)|made with|built (?:with|on)|published (?:with|on|by)|delivered (?:by|with)) )?(?:beehiiv|kit|convertkit|mailchimp|ghost|substack|buttondown|brevo|mailerlite|klaviyo|hubspot|campaign monitor|activecampaign|sendgrid|mailjet|revue|curated)|e?-?mail marketing (?:powered )?by \S+)[.!?]?$/i,
  ],
  droppedPhrases:
    /^(?:(?:in order )?to|please|click|if|you|want|don['’]t|no longer)\b.*\b(?:unsubscribe|opt[ -]?out|stop receiving|preferences|your (?:\w+ )?(?:subscriptions?|settings|profile)|online|browser)\b|^(?:unsubscribe|manage|update|change|view|read)\b.{0,40}\b(?:unsubscribe|preferences|your (?:\w+ )?(?:subscriptions?|settings|profile)|online|browser)\b|^unsubscribe\b|^1\W+2\W+3\b|^no images\?|\bforwarded (?:this|to you)\b|\b(?:email|subscription|notification|newsletter) preferences\b|\bin your browser\b|\b(?:click|tap|go) here to (?:unsubscribe|opt[ -]?out|stop|cancel|leave)\b|\bbecause you (?:signed up|subscribed|registered|opted in|are subscribed)\b|\babmelden\b|\babbestellen\b|\bdésabonner|\bdésinscrire|\bde baja\b|\bafmelden\b|\bnel browser\b/i,
  genericTexts: new RegExp(
    '^\\W*(?:' +
      [
        '(?:read|learn|see|find out|view|show|discover) (?:more|on|now|all|the (?:full |whole )?(?:article|story|post|piece|thing))(?: (?:here|about it|on .{1,30}))?',
        '(?:read|continue|keep) (?:on|reading)?',
        '(?:click |go |over |right )?here',
        'this|link|more|source|article|full (?:article|story)|details|watch(?: now)?|listen(?: now)?|open|visit|check it out|website|via|\\d+',
        '\\d+ min(?:ute)?s?(?: read)?',
        '(?:get|buy|book) (?:your )?(?:tickets?|a (?:seat|place))|(?:buy|book|order|shop|register|download)(?: now)?|rsvp',
        'weiterlesen|(?:klicken sie |klicke )?(?:bitte )?hier(?: klicken)?|cliquez ici|haz clic(?: aquí)?|(?:pulsa|pincha) aquí|clicca(?:re)? qui|klik hier|(?:kliknij )?tutaj|(?:clique|clicando) aqui|mehr(?: lesen| erfahren| dazu)?|hier lesen|zum artikel|jetzt lesen',
        'lire (?:la suite|plus|l.article)|en savoir plus|ici|la suite',
        'leer más|ver más|seguir leyendo|más información|aquí|ler mais|saiba mais|continuar lendo|aqui',
        'leggi (?:tutto|di più|l.articolo)|continua(?: a leggere)?|qui|lees (?:meer|verder)|meer lezen|czytaj (?:więcej|dalej)|läs mer|læs mere|les mer|lue lisää',
        '続きを読む|もっと読む|阅读全文|閱讀更多|читать далее|подробнее',
      ].join('|') +
      ')\\W*$',
    'iu',
  ),
  droppedIcons:
    /^(?:(?:follow|find|join|like)(?: us| me)?(?: on)? )?(?:facebook|fb|twitter|tw|x|x ?\(twitter\)|instagram|insta|ig|linkedin|li|in|youtube|yt|pinterest|tiktok|threads|bluesky|mastodon|snapchat|whatsapp|telegram|discord|reddit|rss|website|e-?mail|mail|share)(?:[ -](?:icon|logo|page|profile|link))?$|^(?:\S+ ){1,3}logo$/i,
  ratings: /^(?:[★☆⭐🌟]\uFE0F? ?){2,}(?:\s*\S+){0,4}$|^[★☆⭐🌟👍👎]\uFE0F?(?: \S+)?$/u,
  clickCounters: /(?:^|\.)(?:list-manage\.com|createsend\d*\.com|cmail\d+\.com)$/,
  platforms: [medium, substack, ...otherPlatforms, badgesAndButtons],
};
