import { list, object } from '../format.ts'
import type { Operation } from '../operation.ts'

const POSTBACKS = 'accounts/{account}/affiliates/{affiliate_id}/postbacks'

const switched = (verb: 'pause' | 'resume', summary: string): Operation => ({
  noun: 'postbacks',
  verb,
  summary,
  example: 'acme IB-07 POSTBACK_ID',
  method: 'PATCH',
  path: `${POSTBACKS}/{postback_id}`,
  body: () => ({ disabled: verb === 'pause' }),
  format: object,
})

/** Where affiliates have events sent. */
export const POSTBACKS_OF_AFFILIATES: readonly Operation[] = [
  {
    noun: 'postbacks',
    verb: 'list',
    summary: 'Lists where an affiliate has events sent.',
    example: 'acme IB-07',
    method: 'GET',
    path: POSTBACKS,
    format: list(),
  },
  switched('pause', 'Pauses a postback; what is pending becomes dead letters.'),
  switched('resume', 'Lets a postback go on.'),
]
