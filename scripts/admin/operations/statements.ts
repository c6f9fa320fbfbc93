import { exportStatements, formatExport } from '../export-statements.ts'
import { list, object } from '../format.ts'
import type { Operation, OperationOption, Options } from '../operation.ts'
import { listOperation } from './parts.ts'

const PERIOD = { value: 'period', pattern: /^\d{4}-(?:\d\d|W\d\d)$/ }

const WHOSE: Options = {
  affiliate: {
    value: 'affiliate_id',
    description: 'Only those of this affiliate.',
    member: 'affiliate_id',
  },
  period: {
    ...PERIOD,
    description: 'Only this month, such as 2026-10, or week, such as 2026-W41.',
  },
  plan: { value: 'plan', description: 'Only those of this plan.' },
}

const STATUS: OperationOption = {
  value: 'status',
  description: 'Only those with this status.',
  choices: ['draft', 'approved', 'paid'],
}

const MONEY = ['currency', 'opening', 'total', 'payable', 'closing']
const COLUMNS = ['id', 'affiliate_id', 'plan', 'period', ...MONEY, 'payable_on', 'status']

const statements: readonly Operation[] = [
  listOperation({
    noun: 'statements',
    verb: 'list',
    summary: 'Lists statements of affiliates by period.',
    example: 'acme --period 2026-10',
    path: 'accounts/{account}/statements',
    options: {
      'approved-since': {
        value: 'time',
        description: 'Only statements that were approved since this time.',
      },
      ...WHOSE,
      status: STATUS,
    },
    format: list(COLUMNS),
  }),
  {
    noun: 'statements',
    verb: 'totals',
    summary: 'Adds up statements by plan, status and currency.',
    example: 'acme --period 2026-10',
    method: 'GET',
    path: 'accounts/{account}/statements/totals',
    options: { ...WHOSE, status: STATUS },
    format: list(),
  },
  {
    noun: 'statements',
    verb: 'periods',
    summary: 'Adds up the statements of the latest periods by status and currency.',
    example: 'acme',
    method: 'GET',
    path: 'accounts/{account}/periods',
    format: list(),
  },
  {
    noun: 'statements',
    verb: 'show',
    summary: 'Shows a statement with its lines.',
    example: 'acme STATEMENT_ID',
    method: 'GET',
    path: 'accounts/{account}/statements/{statement_id}',
    options: {
      part: {
        value: 'n',
        description: 'The part of the lines, if there are several. (default: 1)',
        pattern: /^[1-9]\d{0,4}$/,
      },
    },
    format: object,
  },
  {
    noun: 'statements',
    verb: 'compute',
    summary: 'Computes the statements of an affiliate as they are now. Nothing is stored.',
    example: 'acme --affiliate IB-07 --period 2026-10',
    method: 'GET',
    path: 'accounts/{account}/statements',
    options: {
      affiliate: {
        value: 'affiliate_id',
        description: 'The affiliate.',
        member: 'affiliate_id',
        required: true,
      },
      period: { ...PERIOD, description: 'The month or week.', required: true },
    },
    run: (send, request) => send({ ...request, query: { ...request.query, fresh: 'true' } }),
    format: list([...COLUMNS, 'lines_total']),
  },
]

const exports: readonly Operation[] = [
  {
    noun: 'statements',
    verb: 'export',
    summary: 'Prints statements, or one of them with its lines, as CSV, HTML to print, or JSON.',
    example: 'acme --period 2026-10 --format csv',
    method: 'GET',
    path: 'accounts/{account}/statements',
    options: {
      ...WHOSE,
      status: STATUS,
      statement: {
        value: 'statement_id',
        description: 'Only this statement. As CSV it has one row for each line.',
      },
      format: {
        value: 'format',
        description: 'csv, html or json. HTML has the lines of all statements.',
        choices: ['csv', 'html', 'json'],
        required: true,
      },
    },
    run: exportStatements,
    format: formatExport,
  },
]

const runs: readonly Operation[] = [
  {
    noun: 'runs',
    verb: 'start',
    summary: 'Starts the computation of all statements of a period, a month or a week.',
    example: 'acme 2026-10',
    method: 'POST',
    path: 'accounts/{account}/periods/{period}/run',
    format: object,
    note: () => 'The run continues in the background. `runs show` shows its progress.',
  },
  {
    noun: 'runs',
    verb: 'show',
    summary: 'Shows the progress of a run.',
    example: 'acme RUN_ID',
    method: 'GET',
    path: 'accounts/{account}/runs/{run_id}',
    format: object,
  },
]

/** Statements of commissions, and the runs that compute them. */
export const STATEMENTS: readonly Operation[] = [...statements, ...exports, ...runs]
