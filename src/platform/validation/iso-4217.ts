import codes from '../../data/iso-4217.json' with { type: 'json' }

/** The ISO 4217 codes in use. */
export const CURRENCIES: ReadonlySet<string> = new Set(codes.in_use)

/** The ISO 4217 codes withdrawn since 2015, each with its month. */
export const WITHDRAWN: ReadonlyMap<string, string> = new Map(Object.entries(codes.withdrawn))
