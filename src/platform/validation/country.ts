import countries from '../../data/iso-3166-1.json' with { type: 'json' }

/**
 * The alpha-2 codes of ISO 3166-1, and `XK`, in common use for Kosovo. Each has its alpha-3 code and the English
 * names in use besides those of the runtime (Unicode CLDR).
 */
export const COUNTRIES: ReadonlyMap<string, readonly string[]> = new Map(Object.entries(countries))

/**
 * Returns the ISO 3166-1 alpha-2 code of a country that is written as such a code, as an alpha-3 code or
 * as an English name; null if it is none of them. Letter case, accents, punctuation, surrounding white
 * space and the order of words do not matter.
 */
export function foldCountry(text: string): string | null {
  if (isCountryCode(text)) return text
  return codesByKey().get(countryKey(text)) ?? null
}

/** Returns whether a text is an alpha-2 code of ISO 3166-1, or `XK`, exactly. */
export const isCountryCode = (text: string): boolean => COUNTRIES.has(text)

let codes: ReadonlyMap<string, string> | undefined

/** Returns the alpha-2 codes by the keys of all that a country may be written as. */
function codesByKey(): ReadonlyMap<string, string> {
  const names = new Intl.DisplayNames('en', { type: 'region' })
  codes ??= new Map(
    [...COUNTRIES].flatMap(([code, others]) =>
      [code, names.of(code) ?? code, ...others].map((text) => [countryKey(text), code]),
    ),
  )
  return codes
}

/** Returns the words of a text in alphabetical order, without accents and without what lists leave out. */
const countryKey = (text: string) =>
  text
    .trim()
    .normalize('NFD')
    .replace(/[\p{M}.'’]/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word, _, words) => word !== '' && !(words.length > 1 && IGNORED_WORDS.has(word)))
    .map((word) => (word === 'st' ? 'saint' : word))
    .sort()
    .join(' ')

/** Words that lists of countries write differently. (`AND` alone is Andorra.) */
const IGNORED_WORDS: ReadonlySet<string> = new Set(['the', 'of', 'and'])
