// The English catalogue. Its type is what every other language has to have.
import { view } from './en/view.ts';

export const en = { view };

export type Texts = typeof en;
