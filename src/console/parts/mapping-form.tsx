import { ApiError } from '../../errors.ts'
import type { Change, Values, Visit } from '../page.ts'
import { visible } from './data.tsx'
import { ChangeForm, Field, type Option } from './forms.tsx'

// The form of a map from words of a partner to their meanings.

/**
 * Returns a word of the form.
 *
 * @throws ApiError `validation_failed` if no form of the console can have sent it.
 */
function decodeWord(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (cause) {
    throw new ApiError('validation_failed', {
      detail: 'A word of this form is damaged. Open the page again and repeat the change.',
      cause,
    })
  }
}

/** Returns the words of a form with their meanings. A word without a meaning is left out. */
function readWords(values: Values): Record<string, string> {
  const words = new Map<string, string>()
  for (let i = 0; values(`word${i}`) !== ''; i++) {
    const means = values(`means${i}`)
    if (means !== '') words.set(decodeWord(values(`word${i}`)), means)
  }
  const [word, means] = [values('word'), values('means')]
  // A word without a meaning, or a meaning without a word, is an error of the API.
  if (word !== '' || means !== '') words.set(word, means)
  return Object.fromEntries(words)
}

/** Returns the change that replaces a map by that of its form. */
export const mappingChange = (
  put: (call: Visit, words: Record<string, string>) => Promise<unknown>,
): Change => ({
  done: 'The meanings are saved.',
  perform: (values, visit) => put(visit, readWords(values)),
})

interface MappingProps {
  readonly visit: Visit
  readonly change: string
  /** The text of the button. */
  readonly submit: string
  readonly mapping: Readonly<Record<string, string>>
  /** Words of the records that have no meaning yet. */
  readonly unmapped: readonly string[]
  /** The meanings that can be chosen; any text if it is empty. */
  readonly meanings: readonly string[]
}

/** Renders a field for the meaning of each word, those without a meaning first, and for another word. */
export function MappingForm({ visit, change, submit, mapping, unmapped, meanings }: MappingProps) {
  const options: readonly Option[] = [
    ['', 'no meaning'],
    ...meanings.map((one): Option => [one, one]),
  ]
  const choice = meanings.length > 0 ? { options } : {}
  const shared = { visit, change }
  const words = [...unmapped.map((word) => [word, ''] as const), ...Object.entries(mapping)]
  return (
    <ChangeForm visit={visit} change={change} submit={submit}>
      <div class="words">
        {words.map(([word, means], i) => (
          <>
            {/* Browsers would change the line breaks of a word that is not encoded. */}
            <input type="hidden" name={`word${i}`} value={encodeURIComponent(word)} />
            <Field
              {...shared}
              {...choice}
              name={`means${i}`}
              label={visible(word)}
              value={means}
              pointer={`/${word.replaceAll('~', '~0').replaceAll('/', '~1')}`}
            />
          </>
        ))}
        <Field {...shared} name="word" label="Another word" />
        <Field {...shared} {...choice} name="means" label="Its meaning" />
      </div>
    </ChangeForm>
  )
}
