import { writeCsv } from '../../../src/commission/csv.ts'
import { counted } from '../../../src/commission/engine/reasons.ts'
import { approvePeriod, importPayments } from '../close-books.ts'
import { inOptions } from '../errors.ts'
import { list, object } from '../format.ts'
import { type Input, membersOf, type Operation, type Options } from '../operation.ts'
import { listOperation } from './parts.ts'

const DAY = /^\d{4}-\d\d-\d\d$/

const HOLDS: Options = {
  'leave-out-holds': {
    value: 'true|false',
    choices: ['true', 'false'],
    description:
      'Approves although records wait for a rate or a currency. They are paid as an adjustment in a later period, once a rate exists.',
  },
}

/** Returns the member that leaves out holds, if the option is given. */
const leaveOut = ({ options }: Input) => ({
  ...(options['leave-out-holds']?.[0] === 'true' && { leave_out_holds: true }),
})

interface Refused {
  detail: string
}

/** Returns the answer for people: the details of refused statements name options of the command. */
const withOptions = (body: { refused: Refused[] }) => ({
  ...body,
  refused: body.refused.map((one) => ({ ...one, detail: inOptions(one.detail) })),
})

const PLAN: Options = {
  plan: {
    value: 'plan',
    description: 'Only this plan. (default: all plans whose periods are of this kind)',
  },
}

const approvals: readonly Operation[] = [
  {
    noun: 'periods',
    verb: 'approve',
    summary:
      'Approves every draft of the period that can be approved. Affiliates with a refused draft stay open.',
    example: 'acme 2026-10',
    method: 'POST',
    path: 'accounts/{account}/periods/{period}/approve',
    options: { ...PLAN, ...HOLDS },
    body: (input) => ({ ...membersOf(PLAN, input), ...leaveOut(input) }),
    run: approvePeriod,
    format: (body, input) => object(withOptions(body as { refused: Refused[] }), input),
    note: (body) => {
      const { closed, waiting, open_total } = body as {
        closed: boolean
        waiting: number
        open_total: number
      }
      if (closed) {
        return open_total > 0 ? `Closed for all but ${counted(open_total, 'affiliate')}.` : null
      }
      return waiting > 0
        ? 'Another person must approve it, too.'
        : 'The period is not closed yet. Repeat the command, or have another person repeat it.'
    },
  },
]

const PAYOUT = ['affiliate_id', 'currency', 'amount', 'statements']

interface Payout {
  amount_held?: string
  statements: number
  due_days?: { returned?: { returned_on: string; reason: string }[] }[]
  status?: string
  open_cases?: { case_id: string }[]
  [member: string]: unknown
}

interface Payouts {
  data: Payout[]
}

const isHeld = ({ amount_held = '0' }: Payout) => /[1-9]/.test(amount_held)

/** Returns a row for each due day, with cases and payments that came back as texts. */
const rowsByDay = ({ due_days = [{}], open_cases, ...row }: Payout) =>
  due_days.map(({ returned, ...day }) => ({
    ...row,
    ...day,
    open_cases: open_cases?.map(({ case_id }) => case_id).join(' '),
    returned: returned?.map((one) => `${one.returned_on} ${one.reason}`).join(' '),
  }))

const listPayouts = listOperation({
  noun: 'payouts',
  verb: 'list',
  summary:
    'Lists what has to be paid, by affiliate, currency and due day, or the payments that were made.',
  example: 'acme --csv',
  path: 'accounts/{account}/payouts',
  options: {
    status: {
      value: 'status',
      description: '`approved` lists what has to be paid, `paid` the payments. (default: approved)',
      choices: ['approved', 'paid'],
    },
    'payable-on': {
      value: 'YYYY-MM-DD',
      description: 'Only what is payable on this day or earlier.',
      pattern: DAY,
    },
    affiliate: {
      value: 'affiliate_id',
      description: 'Only those of this affiliate.',
      member: 'affiliate_id',
    },
    from: {
      value: 'YYYY-MM-DD',
      description: 'With `--status paid`: only what was paid on this day or later.',
      pattern: DAY,
    },
    to: {
      value: 'YYYY-MM-DD',
      description: 'With `--status paid`: only what was paid on this day or earlier.',
      pattern: DAY,
    },
    'recorded-since': {
      value: 'time',
      description: 'With `--status paid`: only payments that were recorded since this time.',
    },
    'returned-since': {
      value: 'time',
      description: 'With `--status paid`: only payments whose return was recorded since this time.',
    },
    csv: {
      description:
        'Prints CSV, which `payouts import` reads once `paid_on` is filled in. What is held is left out. With `--status paid`, fill in `returned_on` and `reason` of payments that came back.',
    },
  },
  format: (body, input) => {
    const isPaid = input.options.status?.[0] === 'paid'
    const kind = isPaid
      ? ['paid_on', 'reference', 'returned_on', 'reason']
      : ['payable_on', 'reference']
    const shown = [...PAYOUT, ...kind]
    const { data } = body as Payouts
    if (!input.options.csv) {
      const held = data.some(isHeld) ? ['amount_held', 'held_by'] : []
      const isMarked = (row: Payout) =>
        row.due_days?.some((day) => day.returned?.length) || row.status === 'suspended'
      const marks = data.some(isMarked) ? ['status', 'returned'] : []
      const open = data.some(({ open_cases = [] }) => open_cases.length > 0) ? ['open_cases'] : []
      const rows = { ...(body as Payouts), data: data.flatMap(rowsByDay) }
      return list([...shown, ...held, ...marks, ...open])(rows, input)
    }
    // Without its day filled in, the file is what `payouts import --on` reads.
    const columns = isPaid ? shown : [...shown, 'status', 'returned', 'open_cases', 'paid_on']
    const rows = data
      .flatMap(rowsByDay)
      .filter(({ statements }) => statements > 0)
      .map((row) => columns.map((name) => String(Reflect.get(row, name) ?? '')))
    return writeCsv([columns, ...rows]).trimEnd()
  },
})

const payouts: readonly Operation[] = [
  {
    ...listPayouts,
    async run(send, request, input, report) {
      const body = await listPayouts.run?.(send, request, input, report)
      const held = (body as Payouts).data.filter(isHeld)
      if (held.length > 0) {
        const sums = held.map((row) => `${row.amount_held} ${row.currency} (${row.affiliate_id})`)
        report(`Cases hold ${counted(held.length, 'payout')}: ${sums.join(', ')}.`)
      }
      return body
    },
  },
  {
    noun: 'payouts',
    verb: 'import',
    summary:
      'Books the payments of a file with columns affiliate_id, currency, amount, reference, paid_on.',
    example: 'acme payouts.csv --on 2026-11-16',
    method: 'POST',
    path: 'accounts/{account}/payouts',
    argument: 'file',
    options: {
      on: {
        value: 'YYYY-MM-DD',
        description:
          'The day on which the rows were paid whose paid_on is empty. Columns returned_on and reason say that a payment came back.',
        pattern: DAY,
      },
    },
    run: importPayments,
    format: object,
  },
]

/** Approvals and payouts. */
export const BOOKS: readonly Operation[] = [...approvals, ...payouts]
