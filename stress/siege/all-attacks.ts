import { AFFILIATE_ATTACKS } from './affiliate-attacks.ts'
import { ATTACKS, type Attack } from './attacks.ts'
import { FEATURE_ATTACKS } from './feature-attacks.ts'

/** Every attack, in the order of their numbers. */
export const ALL_ATTACKS: readonly Attack[] = [...ATTACKS, ...FEATURE_ATTACKS, ...AFFILIATE_ATTACKS]
