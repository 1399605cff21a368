// The seal of the platform, by the name that tests know.
export { SealBroken } from '../../platform/seal.ts';
