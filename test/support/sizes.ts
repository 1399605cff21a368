// How much of the same a test does: what CI can pay for, or with TEST_SIZES=full as much as was promised once and is tried before a release.

/** For numbers by which no assertion changes: of events, mails, rows. */
export const sized = (usual: number, full: number): number => (process.env['TEST_SIZES'] === 'full' ? full : usual);
