import type { Operation } from '../operation.ts'
import { readJson } from '../read-body.ts'
import { formatBackTest, simulateRule } from '../simulate-rule.ts'

const DAY = { value: 'YYYY-MM-DD', pattern: /^\d{4}-\d\d-\d\d$/, required: true }

/** Tests rules of the fraud review on past days. */
export const FRAUD_SIMULATION: readonly Operation[] = [
  {
    noun: 'fraud',
    verb: 'simulate',
    summary: 'Shows the cases that a rule, or that of a file, would have opened.',
    example: 'acme resets --from 2026-09-01 --to 2026-10-31',
    method: 'POST',
    path: 'accounts/{account}/fraud-rules/{rule}/simulate',
    argument: 'file',
    isArgumentOptional: true,
    options: {
      from: { ...DAY, description: 'The first day.' },
      to: { ...DAY, description: 'The last day, at most 400 days in all.' },
      affiliate: { value: 'affiliate_id', description: 'Only this affiliate.' },
    },
    run: (send, request, input, report) =>
      simulateRule(
        send,
        request,
        input.operands.file ? (readJson(input.operands.file ?? '') as object) : undefined,
        input,
        report,
      ),
    format: formatBackTest,
    recovery: 'A back-test stores nothing.',
  },
]
