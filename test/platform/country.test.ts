import { expect, test } from 'vitest'
import { COUNTRIES, foldCountry, isCountryCode } from '../../src/platform/validation/country.ts'

test.each([
  ['DE', 'DE'],
  ['de', 'DE'],
  [' De', 'DE'],
  ['DEU', 'DE'],
  ['AND', 'AD'],
  [' and ', 'AD'],
  ['deu', 'DE'],
  ['Germany', 'DE'],
  ['GERMANY ', 'DE'],
  ['UK', 'GB'],
  ['England', 'GB'],
  ['usa', 'US'],
  ['U.S.A.', 'US'],
  ['United States of America', 'US'],
  ['the Netherlands', 'NL'],
  ["Cote d'Ivoire", 'CI'],
  ['Côte d’Ivoire', 'CI'],
  ['Korea, Republic of', 'KR'],
  ['Republic of Korea', 'KR'],
  ['St Lucia', 'LC'],
  ['Saint Lucia', 'LC'],
  ['Trinidad & Tobago', 'TT'],
  ['Turkiye', 'TR'],
  ['Congo', 'CG'],
  ['DR Congo', 'CD'],
  ['Dominica', 'DM'],
  ['Dominican Republic', 'DO'],
  ['Guinea', 'GN'],
  ['Guinea-Bissau', 'GW'],
  ['XK', 'XK'],
])('the country %o is %s', (text, code) => {
  expect(foldCountry(text)).toBe(code)
})

test.each(['', ' ', '49', 'EU', 'ZZ', 'Deutschland', 'Korea', 'D E', 'DE1', '__proto__', 'the'])(
  'the country %o is not known',
  (text) => {
    expect(foldCountry(text)).toBeNull()
  },
)

test('each code and each name means one country', () => {
  expect(COUNTRIES.size).toBe(250)
  const names = new Intl.DisplayNames('en', { type: 'region' })
  for (const [code, others] of COUNTRIES) {
    const texts = [code, names.of(code)!, ...others]
    expect(texts.map(foldCountry), code).toEqual(texts.map(() => code))
  }
})

test.each([
  ['DE', true],
  ['de', false],
  ['DEU', false],
  ['UK', false],
  ['EU', false],
])('%s as a code of ISO 3166-1: %s', (text, isCode) => {
  expect(isCountryCode(text)).toBe(isCode)
})
