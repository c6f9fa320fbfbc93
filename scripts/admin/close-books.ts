import { readFileSync, statSync } from 'node:fs'
import { readCsv, writeCsv } from '../../src/commission/csv.ts'
import { counted } from '../../src/commission/engine/reasons.ts'
import { usageError } from '../exit-error.ts'
import { withLines } from './import-rates.ts'
import type { Input } from './operation.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** How often the approval of a period is repeated if it stops for lack of time. */
const MAX_REPETITIONS = 1000

interface ApprovedPeriod {
  closed: boolean
  approved: number
  waiting: number
}

/** Approves a period, and goes on until it is closed or waits for another person. */
export async function approvePeriod(
  send: SendRequest,
  request: AdminRequest,
  _input: Input,
  report: (text: string) => void,
) {
  let approved = 0
  for (let i = 0; ; i++) {
    const result = (await send(request)) as ApprovedPeriod
    approved += result.approved
    const isStopped = !result.closed && result.approved > 0 && result.waiting === 0
    if (!isStopped || i === MAX_REPETITIONS) return { ...result, approved }
    report(`${counted(approved, 'statement')} approved so far.`)
  }
}

/** Sends a CSV file of payments in one request, so that all or none of them are booked. */
export async function importPayments(send: SendRequest, request: AdminRequest, input: Input) {
  const { file = '' } = input.operands
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) {
    throw usageError(`${file} does not exist.`)
  }
  const text = readFileSync(file, 'utf8')
  const [day] = input.options.on ?? []
  const csv = day === undefined ? text : addDay(text, day)
  return send({ ...request, query: {}, csv }).catch((error) => {
    throw withLines(error)
  })
}

/** Fills in the empty cells of `paid_on`. A text that is not CSV stays as it is: the service refuses it. */
function addDay(text: string, day: string): string {
  const [header, ...rows] = readCsv(text).rows ?? []
  if (!header) return text
  const at = header.indexOf('paid_on')
  if (at >= 0) {
    const filled = rows.map((cells) =>
      cells.map((cell, i) => (i === at && cell === '' ? day : cell)),
    )
    return writeCsv([header, ...filled])
  }
  return writeCsv([[...header, 'paid_on'], ...rows.map((cells) => [...cells, day])])
}
