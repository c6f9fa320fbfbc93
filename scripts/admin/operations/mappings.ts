import { usageError } from '../../exit-error.ts'
import { mapping } from '../format.ts'
import type { Input, Operation, Options } from '../operation.ts'
import { parsePairs } from './parts.ts'

const CLEAR: Options = { clear: { description: 'Removes all words.' } }

/** Returns the new map. An empty one needs --clear, since the whole map is replaced. */
function mapOf({ options, pairs }: Input, form: string) {
  const isCleared = options.clear !== undefined
  if (isCleared !== (pairs.length === 0)) {
    throw usageError(`Add every word as ${form}, or --clear: the whole map is replaced.`)
  }
  return parsePairs(pairs, form)
}

interface Mapping {
  noun: string
  path: string
  summary: string
  form: string
  /** The arguments of the examples. */
  operands: string
  pair: string
  choices?: Record<string, readonly string[]>
}

function mappingOperations({ form, operands, pair, summary, ...common }: Mapping): Operation[] {
  return [
    { ...common, verb: 'get', summary, example: operands, method: 'GET', format: mapping },
    {
      ...common,
      verb: 'set',
      summary: 'Replaces the whole map.',
      example: `${operands} ${pair}`,
      method: 'PUT',
      pairs: form,
      options: CLEAR,
      body: (input) => mapOf(input, form),
      format: mapping,
    },
  ]
}

/** Maps of the words of partners. */
export const MAPPINGS: readonly Operation[] = [
  ...mappingOperations({
    noun: 'status-map',
    path: 'accounts/{account}/status-map',
    summary: "Shows the meaning of a partner's transaction statuses.",
    form: 'word=pending|approved|declined|reversed',
    operands: 'acme',
    pair: 'done=approved',
  }),
  ...mappingOperations({
    noun: 'labels',
    path: 'accounts/{account}/labels/{field}',
    summary: "Shows the labels of a partner's statuses.",
    choices: { field: ['kyc_status_id', 'sales_status_id'] },
    form: 'word=Label',
    operands: 'acme kyc_status_id',
    pair: '2=Verified',
  }),
]
