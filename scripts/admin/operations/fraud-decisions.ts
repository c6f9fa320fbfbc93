import { object } from '../format.ts'
import { membersOf, type Operation, type Options } from '../operation.ts'

const REASON = {
  value: 'text',
  description: 'Why. The case and the audit log show it.',
  required: true,
}

const DECISION: Options = {
  decision: {
    value: 'decision',
    description: 'Whether it is fraud: `confirmed`, or `dismissed`.',
    choices: ['confirmed', 'dismissed'],
    required: true,
  },
  reason: REASON,
  from: {
    value: 'YYYY-MM-DD',
    description: 'The first day from which the refused customers earn nothing. (default: all days)',
    pattern: /^\d{4}-\d\d-\d\d$/,
  },
  shown: {
    value: 'digest',
    description: 'The evidence_digest that you saw: if it has changed since, nothing is decided.',
  },
}

const LISTS: Options = {
  refuse: {
    value: 'customer_id',
    description: 'A customer of the case who earns nothing from now on. Repeatable.',
    repeatable: true,
  },
  'keep-hold': { description: 'The payouts of the affiliate stay held. Only with `confirmed`.' },
}

const NOTE: Options = { text: { value: 'text', description: 'The note.', required: true } }

/** Decisions and notes about the cases of the fraud review. */
export const FRAUD_DECISIONS: readonly Operation[] = [
  {
    noun: 'fraud',
    verb: 'decide',
    summary: 'Confirms or dismisses a case. A decision is final.',
    example: 'acme case_0123456789abcdefghjkmnpqrs --decision dismissed --reason Campaign',
    method: 'POST',
    path: 'accounts/{account}/cases/{case_id}/decide',
    options: { ...DECISION, ...LISTS },
    body: (input) => ({
      ...membersOf(DECISION, input),
      ...(input.options.refuse && { refuse: input.options.refuse }),
      ...(input.options['keep-hold'] && { keep_hold: true }),
    }),
    format: object,
  },
  {
    noun: 'fraud',
    verb: 'note',
    summary: 'Writes a note about a case. Only the team reads it.',
    example: 'acme case_0123456789abcdefghjkmnpqrs --text Asked',
    method: 'POST',
    path: 'accounts/{account}/cases/{case_id}/note',
    options: NOTE,
    body: (input) => membersOf(NOTE, input),
    format: object,
  },
]
