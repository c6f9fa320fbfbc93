import type { Operation, Options } from '../operation.ts'
import { readJson } from '../read-body.ts'
import { formatSimulation, simulatePlan } from '../simulate-plan.ts'

const PERIOD = { value: 'period', pattern: /^\d{4}-(?:\d\d|W\d\d)$/ }

const SIMULATION: Options = {
  period: { ...PERIOD, description: 'The month or week.' },
  from: { ...PERIOD, description: 'In place of --period: the first month or week.' },
  to: { ...PERIOD, description: 'The last month or week, with --from.' },
  affiliate: { value: 'affiliate_id', description: 'Only this affiliate.' },
  all: { description: 'Lists affiliates without a difference, too.' },
  csv: { description: 'Prints the rows as CSV.' },
}

/** Plans of commissions, and their assignments to affiliates. */
export const PLANS: readonly Operation[] = [
  {
    noun: 'plans',
    verb: 'simulate',
    summary: 'Shows what the terms in a JSON file would change in past or open periods.',
    example: 'acme standard-ib new.json --period 2026-10',
    method: 'POST',
    path: 'accounts/{account}/plans/{plan}/simulate',
    argument: 'file',
    options: SIMULATION,
    run: (send, request, input, report) =>
      simulatePlan(send, request, readJson(input.operands.file ?? '') as object, input, report),
    format: formatSimulation,
    recovery: 'A simulation stores nothing.',
  },
]
