// The identity of a mail, from its header alone, so that a repeat is not parsed again. Pure.
import { createHash } from 'node:crypto';
import { headLength, maxHeadBytes } from '../../platform/mail/limits.ts';

/** SHA-256 of the Message-Id; where there is none, of Date, From and Subject; where none of these is there, of the whole mail. */
export function identityOf(raw: Buffer): Buffer {
  const head = raw.toString('latin1', 0, Math.min(headLength(raw), maxHeadBytes)).replace(/\r?\n[ \t]+/g, ' ');
  const header = (name: string) => new RegExp(`^${name}[ \\t]*:(.*)$`, 'im').exec(head)?.[1]?.trim() ?? '';
  const messageId = header('message-id');
  const others = ['date', 'from', 'subject'].map(header);
  const isNamed = others.some((value) => value !== '');
  const hash = createHash('sha256');
  if (messageId !== '') return hash.update(messageId, 'latin1').digest();
  return isNamed ? hash.update(others.join('\n'), 'latin1').digest() : hash.update(raw).digest();
}
