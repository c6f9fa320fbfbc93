import type { Words } from '../../commission/words/words.ts'
import { DETAIL_CHOICES, detailPointer, flatDetails } from '../../payouts/fields.ts'
import { COUNTRIES } from '../../platform/validation/country.ts'
import { Data } from './data.tsx'
import type { Input } from './forms.tsx'
import { Table } from './table.tsx'

// Bank details and the fields that enter them, in each language: for the team and for affiliates.

/** The names that no language has other words for. */
const BRANDS: Readonly<Record<string, string>> = { wise: 'Wise', paypal: 'PayPal' }

/** How bank details are written. */
export interface DetailWords {
  readonly words: Readonly<
    Record<'payee_caption' | 'payee_detail' | 'payee_before' | 'payee_now', string>
  >
  readonly speech: Pick<Words, 'language' | 'country'>
}

const wordOf = (name: string, { words }: DetailWords): string | undefined =>
  Reflect.get(words, name === 'country' ? name : `payee_${name}`)

/** Returns what a member of bank details is called. */
export const detailTitle = (name: string, words: DetailWords): string =>
  wordOf(name, words) ?? name.toUpperCase()

/** Returns the text of a member of bank details in words. */
export function detailText(name: string, text: string, words: DetailWords): string {
  if (name === 'country') return words.speech.country(text)
  return DETAIL_CHOICES.has(name) ? (BRANDS[text] ?? wordOf(text, words) ?? text) : text
}

const countries = (words: DetailWords) =>
  [...COUNTRIES.keys()].sort((a, b) =>
    words.speech.country(a).localeCompare(words.speech.country(b), words.speech.language),
  )

/** Returns the fields of a form with bank details, with what is `known` of them. */
export const detailInputs = (
  names: readonly string[],
  words: DetailWords,
  known?: ReadonlyMap<string, string>,
): Input[] =>
  names.map((name) => {
    const choices = name === 'country' ? ['', ...countries(words)] : DETAIL_CHOICES.get(name)
    return {
      ...{ name, label: detailTitle(name, words), pointer: detailPointer(name) },
      options: choices?.map((one) => [one, one && detailText(name, one, words)]),
      value: known?.get(name),
      required: ['name', 'city', 'country'].includes(name),
    }
  })

/** Renders what is entered beside what was approved before, masked. */
export function ComparedDetails(props: {
  details: object | null
  previous: object | null
  changed: readonly string[]
  names: readonly string[]
  words: DetailWords
}) {
  const { names, words, details, previous, changed } = props
  const [now, before] = [details, previous].map((of) => new Map(flatDetails(of ?? {})))
  // What is not shown at all may have changed, too.
  const cell = (of: ReadonlyMap<string, string> | undefined, name: string) => (
    <Data text={detailText(name, of?.get(name) ?? (changed.includes(name) ? '…' : ''), words)} />
  )
  return (
    <Table
      isNarrow
      caption={words.words.payee_caption}
      rows={names.filter((name) => now?.has(name) || before?.has(name) || changed.includes(name))}
      columns={{
        [words.words.payee_detail]: (name) => detailTitle(name, words),
        [words.words.payee_before]: previous !== null && ((name) => cell(before, name)),
        [words.words.payee_now]: (name) =>
          changed.includes(name) ? <strong>{cell(now, name)}</strong> : cell(now, name),
      }}
    />
  )
}
