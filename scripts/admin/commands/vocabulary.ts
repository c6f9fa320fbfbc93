import { misuse } from '../../push/halt.ts'
import type { Command, Options, Said } from '../command.ts'
import { words } from '../show.ts'
import { pairsOf } from './parts.ts'

const CLEAR: Options = { clear: { about: 'leaves no word, instead of setting some' } }

/** A map of words is set as a whole, and is not emptied by an oversight. */
function mapOf(said: Said, example: string) {
  const isClear = said.options.clear !== undefined
  if (isClear !== (said.words.length === 0)) {
    throw misuse(`Say each word as ${example}, or --clear: the whole map is replaced.`)
  }
  return pairsOf(said.words, example)
}

const map = (noun: string, path: string, about: string, example: string): Command[] => [
  { noun, verb: 'get', about, method: 'GET', path, show: words },
  {
    noun,
    verb: 'set',
    about: 'sets them: replaces the whole map',
    method: 'PUT',
    path,
    words: example,
    options: CLEAR,
    body: (said) => mapOf(said, example),
    show: words,
  },
]

const STATUS_MAP = map(
  'status-map',
  'accounts/ACCOUNT/status-map',
  "what a partner's transaction statuses mean",
  'word=pending|approved|declined|reversed',
)

const LABELS = map(
  'labels',
  'accounts/ACCOUNT/labels/kyc_status_id|sales_status_id',
  "how a partner's statuses are called",
  'word=Label',
)

/** What partners' own words mean. */
export const VOCABULARY: readonly Command[] = [...STATUS_MAP, ...LABELS]
