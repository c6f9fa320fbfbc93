/** The currencies of ISO 4217 whose minor unit is not a hundredth, by their decimal places. */
const PLACES: readonly (readonly [places: number, codes: string])[] = [
  [0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'],
  [3, 'BHD IQD JOD KWD LYD OMR TND'],
  [4, 'CLF UYW'],
]

const BY_CODE = new Map(
  PLACES.flatMap(([places, codes]) => codes.split(' ').map((code) => [code, places] as const)),
)

/** Returns the decimal places of a currency's minor unit. */
export const minorDigits = (currency: string): number => BY_CODE.get(currency) ?? 2
