import { foldCountry } from '../../platform/validation/country.ts'

const REGIONS = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Returns the name of a country that is written as a code or a name; other texts are returned as they are. */
export function countryName(text: string): string {
  const code = foldCountry(text)
  return (code && REGIONS.of(code)) || text
}

/** Names that have an article in a sentence. */
const WITH_ARTICLE =
  /^(?:United |Netherlands|Philippines|Bahamas|Gambia|Maldives|Seychelles|Congo|Isle )|(?:Islands|Republic|Territory|Territories)$/

/** Returns the name of a country as it stands in a sentence: `Germany`, `the United States`. */
export function countryInSentence(text: string): string {
  const name = countryName(text)
  return WITH_ARTICLE.test(name) ? `the ${name}` : name
}
