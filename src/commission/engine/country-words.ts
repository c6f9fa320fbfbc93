import { foldCountry } from '../../validation/country.ts'

const REGIONS = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })

/** Returns the name of a country that is written as a code or a name; other texts are returned as they are. */
export function countryName(text: string): string {
  const code = foldCountry(text)
  return (code && REGIONS.of(code)) || text
}
