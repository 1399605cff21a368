// Words that label a number of rooms, in tables and as descriptions of icons.

/** Rooms as other languages label them, alone or before a colon. */
export const roomLabel =
  'schlafzimmer|badezimmer|bäder|zimmer|chambres?|pièces|salles? de bains?|habitaciones|rec[aá]maras|alcobas|dormit[oó]rios|baños|banheiros|locali|bagni|slaapkamers|badkamers|kamers|quartos|pokoje|pokoi|soverom|rom|sovrum|rum|værelser|комнат|кімнат';
const label = new RegExp(String.raw`^(?:(?:no\.? of |number of )?(?:bed|bath)(?:s|rooms?|\(s\))?|${roomLabel})\s*[:|]?$`, 'i');

export const isRoomLabel = (text: string): boolean => label.test(text);

/** They end the number before them. */
const otherLabel =
  /^(?:(?:car|parking)(?: ?(?:spaces?|parks?|spots?|bays?))?|garages?|(?:floor |living |land )?area|size|m²|sq\.? ?(?:ft|m)|wohnfläche|fläche|surface|superficie|stellplätze|plaatsen|oppervlakte|powierzchnia)$/i;

/** The label in the description of an icon, as in `Bedroom icon`, on a line of its own; empty where it is none. */
export function labelOfIcon(description: string): string {
  const named = description.replace(/^icon(?:e|o)?:? (?:of |for )?| (?:icon|symbol)$/i, '');
  return isRoomLabel(named) || otherLabel.test(named) ? `\n${named}\n` : '';
}
