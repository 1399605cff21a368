// The German catalogue.
import { view } from './de/view.ts';
import type { Texts } from './en.ts';

export const de: Texts = { view };
