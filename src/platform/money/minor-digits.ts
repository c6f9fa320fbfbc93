/** The currencies of ISO 4217 whose minor unit is not a hundredth, by their decimal places. */
const PLACES: readonly (readonly [places: number, codes: string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]

const BY_CODE = new Map(
  PLACES.flatMap(([places, codes]) => codes.split(' ').map((code) => [code, places] as const)),
)

/** Those without a minor unit: metals, units of account, and codes for tests and for no currency. */
const WITHOUT_MINOR = 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX'.split(' ')

/** Returns whether ISO 4217 defines a minor unit of a currency, to which amounts are rounded. */
export const hasMinorUnit = (currency: string): boolean => !WITHOUT_MINOR.includes(currency)

/** Returns the decimal places of a currency's minor unit. */
export const minorDigits = (currency: string): number => BY_CODE.get(currency) ?? 2
