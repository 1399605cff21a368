// Leaving, preferences and the online version in languages of Europe, as data: kinds of words. A text of such words alone is dropped, so a headline that
// has one of them stays. Chinese, Japanese and Korean have whole phrases.
import { fold } from './texts.ts';

const words = (text: string): ReadonlySet<string> => new Set(fold(text).trim().split(/\s+/));

/** Any of them means leaving. */
const leaving = words(`
  abmelden abmeldung abmeldelink abzumelden abbestellen abbestellung abzubestellen austragen auszutragen
  desabonner desabonnez desabonnement desinscrire desinscrivez desinscription desuscribir desuscribirse desuscribirme desuscribirte desuscribete
  disiscriviti disiscrizione disiscriversi disiscriverti cancellati cancellarti afmelden uitschrijven wypisz wypisac descadastrar descadastre
  avregistrera avregistrering avprenumerera afmeld afmelde afmelding avmeld avmelde avmelding odhlásit odhlásiť odhlaste odhlášení odhlásenie
  leiratkozás leiratkozom leiratkozhat dezabonare dezabonează dezabonați dezabonez отписаться отпишитесь отписка отписки відписатися відписка отпиши
  отписване απεγγραφή διαγραφή`);
const leavingPhrase =
  /(?<!\p{L})(?:(?:dar|date|darse|darme|darte) de baja|schrijf (?:je|u) (?:hier )?uit|uit te schrijven|meld (?:je|u) (?:hier )?af|af te melden|(?:deixar|parar) de receber|melde? de?i?g av|abonelikten c[iı]k\w*|uyelikten (?:ayr[iı]l|c[iı]k)\w*|(?:abonelig|uyelig)i iptal et)(?!\p{L})/gu;
const ending = words(`
  beenden kundigen annuler annulez resilier cancelar cancela cancele anular anula annulla cancella opzeggen anuluj zrezygnuj rezygnuj rezygnacja remover
  avsluta sluta avslutt avslutte peruuta peru lopeta zrušit zrušiť отменить`);
const managing = words(`
  verwalten andern bearbeiten anpassen aktualisieren gerer gerez modifier modifiez changer mettre mettez gestionar gestiona administrar actualizar actualiza
  cambiar cambia modificar modifica gestisci aggiorna wijzig wijzigen beheer beheren aanpassen bijwerken zarzadzaj zmien edytuj zaktualizuj
  gerir gerenciar gerencie atualizar atualize alterar altere
  uppdatera ändra hantera opdater rediger administrer oppdater endre muokkaa muuta päivitä hallitse upravit upraviť změnit spravovat módosítása kezelése
  actualizează actualizați gestionează güncelle düzenle yönet управление изменить обновить управлять змінити`);
const subscriptions = words(`
  abo abonnement abonnements inscription inscriptions suscripcion suscripciones iscrizione iscrizioni sottoscrizione subskrypcje subskrypcji subskrypcja
  inscricao inscricoes assinatura assinaturas subscricao
  prenumeration prenumerationen prenumerationer abonnementet tilaus tilauksen tilauksesi tilaukset odběr odběru odber odberu feliratkozás abonament
  abonamentul abonelik подписка подписки подпиской подписку`);
const settings = words(`
  einstellungen praferenzen profil benutzerprofil preferences parametres preferencias ajustes perfil preferenze impostazioni profilo voorkeuren instellingen gegevens
  profiel preferencje preferencjami ustawienia ustawieniami configuracoes
  inställningar inställningarna præferencer indstillinger innstillinger preferanser asetuksia asetukset asetuksiasi nastavení nastavenia předvolby
  beállítások preferințe preferințele setările tercihler tercihleri tercihlerini ayarları настройки настройками налаштування`);
const seeing = words(`
  ansehen anzeigen anschauen offnen lesen betrachten voir lire afficher affichez ouvrir consulter consultez visualiser visualisez ver veja leer lee abrir
  visualizar visualize ler visualizza vedi leggi apri bekijk bekijken lees zobacz wyswietl otworz przeczytaj
  visa öppna läs se vis åbn læs åpne les avaa näytä katso lue zobrazit zobraziť otevřít megtekintés megtekintése megnyitás vezi vizualizează deschide
  citește görüntüle открыть посмотреть просмотреть читать переглянути відкрити`);
const online = words(`
  browser browserze online web navigateur ligne navegador linea przegladarce webversion webansicht webseitenansicht onlineversion webversie webbläsare webbläsaren webben
  nettleser nettleseren selaimessa verkossa prohlížeči prehliadači böngészőben tarayıcıda tarayıcınızda браузере браузері веб`);
const versions = words(
  'version versione versao versie wersja wersje ansicht webversion webansicht webseitenansicht onlineversion webversie versiunea versjon versjonen verze версия',
);
const mails = words(`
  mail mails email emails newsletter newsletters newslettera courriel correo correos mensaje message messages messaggio mensagem nachricht nachrichten
  nieuwsbrief bericht boletin infolettre lettre wiadomosc wiadomosci benachrichtigungen notifications notificaciones notifiche notificacoes meldingen
  powiadomien nyhetsbrev nyhetsbrevet nyhedsbrev nyhedsbrevet mejl mejlet post posten epost uutiskirje uutiskirjeen uutiskirjettä viesti hírlevél
  hírlevélről zpravodaj рассылка рассылки рассылку письмо розсилки розсилка`);
const others = words(`
  hier ici aqui qui tutaj lien klick klicke klicken sie bitte um sich von vom den der die das diese dieser diesen dem im in ihrem ihren ihr deinem deine dein zu zur zum
  jetzt wird werden nicht korrekt richtig angezeigt dargestellt quiero quero
  als cliquez clic pour vous me se de la le les l cet cette ce mes mon vos votre nos notre dans un une a d jour haz para te tu tus su sus mi mis este esta
  el en los las del clicca per ti il lo i questa questo tuo tua tue nel della dalla al klik voor deze dit je uw u om te onze mijn van het een kliknij aby
  sie z tego tej swoja swoje w mnie clique seu sua no na do da o as os e
  här klicka för att dig din ditt dina på den detta denna dessa från få her klikk at deg dine dette denne å tästä tämä klikkaa zde klikněte pro sa itt ide
  kattintva az aici în buraya tıkla için здесь нажмите чтобы от себя для тут від у в v ve`);
const all = [leaving, ending, managing, subscriptions, settings, seeing, online, versions, mails, others];

/** Folded as the text is: that takes the marks off kana, too. */
const phrases = new RegExp(
  fold(
    '^(?:(?:メール|メルマガ|配信|購読|登録)(?:の|を)?(?:配信)?(?:の|を)?(?:停止|解除)(?:する|はこちら)?|ブラウザー?で(?:表示|見る|開く|読む)(?:する)?|(?:点击|點擊)?(?:退订|取消订阅|取消訂閱)|在(?:浏览器|瀏覽器)中(?:查看|打开|檢視|開啟)|수신 ?거부|구독 ?(?:취소|해지)|(?:웹 ?)?브라우저에서 ?보기)[。！]?$',
  ),
  'u',
);

const mostWords = 16;

/** @param text folded */
export function isMailAction(text: string): boolean {
  if (phrases.test(text)) return true;
  const found = text
    .replace(leavingPhrase, ' abmelden ')
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '');
  if (found.length > mostWords || !found.every((word) => all.some((kind) => kind.has(word)))) return false;
  const has = (kind: ReadonlySet<string>) => found.some((word) => kind.has(word));
  const isChanged = (has(ending) && (has(subscriptions) || has(mails))) || (has(managing) && (has(subscriptions) || has(settings)));
  return has(leaving) || isChanged || (has(settings) && (has(mails) || has(subscriptions))) || (has(online) && (has(seeing) || has(versions)));
}

/** Words before "click here" that mean leaving, or a mail that is hard to read. Matched against folded text. */
const announcements = new RegExp(
  [
    String.raw`\b(?:newsletter|e-?mails?|mails?|nachrichten) (?:\w+ ){0,2}(?:nicht (?:mehr|langer)|keine) (?:\w+ )?(?:erhalten|bekommen|empfangen)`,
    String.raw`\bkeinen? (?:\w+ )?(?:newsletter|e-?mails?|mails?|nachrichten) (?:\w+ )?(?:erhalten|bekommen|empfangen)`,
    String.raw`\bnicht (?:richtig|korrekt|vollstandig) (?:angezeigt|dargestellt)`,
    String.raw`\bne (?:(?:souhaitez|voulez|desirez) )?plus recevoir|\bs.affiche (?:pas|mal)|\bvoir (?:ce|cet|le) (?:e-?mail|mail|message) en ligne`,
    String.raw`\bno (?:deseas?|quieres?) (?:seguir )?recib|\bdejar de recibir|\bno (?:se ve|ves|puedes? ver|visualizas?) (?:este|bien|correctamente)`,
    String.raw`\bnon (?:vuoi|desideri) (?:piu )?ricevere|\bnon (?:visualizzi|vedi|riesci a (?:vedere|visualizzare|leggere)) (?:correttamente|bene|quest)`,
    String.raw`\bgeen (?:\w+ )?(?:e-?mails?|mails?|nieuwsbrie(?:f|ven)|berichten) (?:meer )?(?:\w+ )?(?:ontvangen|krijgen)|\bniet (?:goed|correct) (?:weergegeven|leesbaar|zichtbaar)`,
    String.raw`\bnie chcesz (?:\w+ )?(?:otrzymywac|dostawac)|\bnie wyswietla sie`,
    String.raw`\bnao (?:deseja|quer|quiser|desejar) (?:mais )?(?:receber|continuar)|\bnao (?:consegue|esta) (?:ver|visualizar|vendo|visualizando)`,
  ].join('|'),
);
const click = /\b(?:klick\w*|hier|cliquez|clic|aqui|clicca|qui|klik|kliknij|tutaj|clique|ici)\b/;

/** Whether a whole sentence is the link. @param text folded */
export const isAnnouncement = (text: string): boolean => click.test(text) && announcements.test(text);

/** Whether a link whose text says nothing is one of these by the line around it. @param line folded */
export const isAnnounced = (line: string): boolean => announcements.test(line) || /\b(?:zum|zur) (?:abmelden|abbestellen|abmeldung)\b/.test(line);
