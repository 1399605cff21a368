// The policy of pages: nothing but what the console itself serves runs, is shown or is asked.
import type { ConsoleConfig } from './config.ts';

/** The needs of a single page beyond it. */
export type FurtherPolicy = {
  /** An origin of pictures. */
  readonly images: string;
  /** Whether its script makes the one default policy of Trusted Types; without it there is none. */
  readonly hasDefaultPolicy: boolean;
};

export function policyOf({ imageOrigins }: Pick<ConsoleConfig, 'imageOrigins'>, further?: FurtherPolicy): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' data:", ...imageOrigins, ...(further ? [further.images] : [])].join(' '),
    "connect-src 'self'",
    "manifest-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${further?.hasDefaultPolicy ? 'default' : "'none'"}`,
  ].join('; ');
}
