import { readFileSync } from 'node:fs'
import { messageOf, usageError } from '../../exit-error.ts'
import { object } from '../format.ts'
import { importAssignments } from '../import-assignments.ts'
import type { Input, Operation, Options } from '../operation.ts'
import { formatTemplates, readTemplates } from '../plan-templates.ts'
import { formatSimulation, simulatePlan } from '../simulate-plan.ts'

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Reads the plan of a JSON file, which may be what `plans version --json` prints. */
function readPlan({ operands: { file = '' } }: Input): object {
  let plan: unknown
  try {
    plan = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw usageError(`${file} cannot be read as JSON: ${messageOf(error)}`)
  }
  if (!isObject(plan)) throw usageError(`${file} is not a plan.`)
  return 'terms' in plan && isObject(plan.terms) ? plan.terms : plan
}

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
    verb: 'put',
    summary: 'Stores a JSON file as the next version. `plans templates` lists plans to copy.',
    example: 'acme standard-ib examples/plans/ib-per-lot.json',
    method: 'PUT',
    path: 'accounts/{account}/plans/{plan}',
    argument: 'file',
    run: (send, request, input) => send({ ...request, query: {}, body: readPlan(input) }),
    format: object,
  },
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
      simulatePlan(send, request, readPlan(input), input, report),
    format: formatSimulation,
    recovery: 'A simulation stores nothing.',
  },
  {
    noun: 'plans',
    verb: 'templates',
    summary: 'Lists plans that are ready to copy, or prints one. Sends no request.',
    example: '--print cpa',
    method: 'GET',
    path: '',
    isLocal: true,
    options: {
      print: { value: 'template', description: 'Prints this template as JSON, for plans put.' },
    },
    run: async (_send, _request, input) => readTemplates(input),
    format: formatTemplates,
  },
  {
    noun: 'assignments',
    verb: 'import',
    summary: 'Sets the assignments of a file with columns affiliate_id, plan, from, customers.',
    example: 'acme assignments.csv',
    method: 'PUT',
    path: 'accounts/{account}/assignments',
    argument: 'file',
    run: importAssignments,
    format: object,
  },
]
