import { ENGLISH, type Words } from '../../commission/words/words.ts'
import { DETAIL_CHOICES, detailPointer, flatDetails } from '../../payouts/fields.ts'
import { type Words as Texts, WORDS } from '../../platform/documents/texts.ts'
import { COUNTRIES } from '../../platform/validation/country.ts'
import { Data } from './data.tsx'
import type { Input, Option } from './forms.tsx'
import { Table } from './table.tsx'

// Bank details and the fields that enter them, in each language: for the team and for affiliates.

/** How bank details are written. */
export interface DetailWords {
  readonly words: Texts
  readonly speech: Pick<Words, 'language' | 'country'>
}

/** The names that all languages share, and those that only the team reads. */
const NAMES: Readonly<Record<string, string>> = {
  iban: 'IBAN',
  bic: 'BIC',
  wise: 'Wise',
  paypal: 'PayPal',
  ethereum: 'Ethereum',
  base: 'Base',
  polygon: 'Polygon',
  solana: 'Solana',
  tron: 'Tron',
  exempt: 'Exempt',
  exempt_reason: 'Why they are exempt',
  none: 'No business, no invoices',
}

/** Returns what a member of bank details, or a choice of one, is called; any other word as it is. */
export const detailWord = (name: string, { words }: DetailWords): string =>
  NAMES[name] ?? Reflect.get(words, name === 'country' ? name : `payee_${name}`) ?? name

/** How the team reads bank details. */
export const TEAM_WORDS: DetailWords = {
  speech: ENGLISH,
  words: WORDS.en,
}

/** Returns how a payee is paid, as the team reads it. */
export const methodWords = (method: string): string => detailWord(method, TEAM_WORDS)

/** Returns what a member of bank details says. */
export function detailText(name: string, text: string, words: DetailWords): string {
  if (name === 'country') return words.speech.country(text)
  return text && DETAIL_CHOICES.has(name) ? detailWord(text, words) : text
}

function optionsOf(name: string, words: DetailWords): Option[] | undefined {
  const choices = name === 'country' ? ['', ...COUNTRIES.keys()] : DETAIL_CHOICES.get(name)
  const options = choices?.map((one): Option => [one, detailText(name, one, words)])
  if (name !== 'country') return options
  return options?.sort(([, a], [, b]) => a.localeCompare(b, words.speech.language))
}

/** Returns the fields of a form with bank details, with what is `known` of them. */
export const detailInputs = (
  names: readonly string[],
  words: DetailWords,
  known?: ReadonlyMap<string, string>,
): Input[] =>
  names.map((name) => ({
    name,
    label: detailWord(name, words),
    pointer: detailPointer(name),
    options: optionsOf(name, words),
    value: known?.get(name),
    required: ['name', 'city', 'country'].includes(name),
  }))

/** Renders bank details, beside what was approved before if there is any. What differs is bold. */
export function ComparedDetails(props: {
  details: object | null
  previous?: object | null
  changed?: readonly string[]
  names: readonly string[]
  words: DetailWords
}) {
  const { details, previous = null, changed = [], names, words } = props
  const [now, before] = [details, previous].map((of) => new Map(flatDetails(of ?? {})))
  const cell = (of: ReadonlyMap<string, string> | undefined, name: string) => (
    <Data text={detailText(name, of?.get(name) ?? '', words) || '–'} />
  )
  return (
    <Table
      isNarrow
      caption={words.words[changed.length > 0 ? 'payee_changed' : 'payee_caption']}
      rows={names.filter((name) => now?.has(name) || before?.has(name) || changed.includes(name))}
      columns={{
        [words.words.payee_detail]: (name) => detailWord(name, words),
        [words.words.payee_before]: previous !== null && ((name) => cell(before, name)),
        [words.words.payee_now]: (name) =>
          changed.includes(name) ? <strong>{cell(now, name)}</strong> : cell(now, name),
      }}
    />
  )
}
