import { usageError } from '../../exit-error.ts'
import { object } from '../format.ts'
import { type Input, membersOf, type Operation, type Options } from '../operation.ts'
import { parsePairs } from './parts.ts'

const FORM = 'day=affiliate'

/** The word that stands for the beginning, and the one that stands for no affiliate. */
const BEGINNING = 'beginning'
const NONE = 'none'

const REASONS: Options = {
  reason: {
    value: 'text',
    description: 'Why it is done. It is in the audit log.',
    required: true,
  },
}

/** Returns the body of a correction. */
function correctionOf(input: Input) {
  const parts = Object.entries(parsePairs(input.pairs, FORM))
  if (parts[0]?.[0] !== BEGINNING) {
    throw usageError(`Begin with ${BEGINNING}=affiliate: the whole history is replaced.`)
  }
  const affiliations = parts.map(([day, affiliate]) => ({
    from: day === BEGINNING ? null : day,
    affiliate_id: affiliate === NONE ? null : affiliate,
  }))
  return { ...membersOf(REASONS, input), affiliations }
}

/** The correction of what is known of a customer by day. The id may be `..`, so it is sent in the query. */
export const HISTORIES: readonly Operation[] = [
  {
    noun: 'customers',
    verb: 'correct',
    summary: `Replaces the affiliates of a customer by day; ${NONE} means no affiliate.`,
    example: `acme C-1001 ${BEGINNING}=IB-01 2026-10-02=IB-07 --reason typo`,
    method: 'PUT',
    path: 'accounts/{account}/customers/affiliations',
    argument: 'customer_id',
    isArgumentInQuery: true,
    pairs: FORM,
    options: REASONS,
    body: correctionOf,
    format: object,
  },
]
