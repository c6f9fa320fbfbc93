import { writeCsv } from '../../src/commission/csv.ts'
import { add, type Decimal, decimal, fixedText } from '../../src/commission/engine/decimal.ts'
import { counted } from '../../src/commission/engine/reasons.ts'
import {
  SIMULATION_COLUMNS,
  type Simulated,
  toRows,
} from '../../src/commission/statements/present-simulation.ts'
import { escapeText } from '../../src/validation/quote.ts'
import { list } from './format.ts'
import type { Input } from './operation.ts'
import type { AdminRequest, SendRequest } from './request.ts'

/** Simulates a version: requests all pages, and returns them as one with the sum of their totals. */
export async function simulatePlan(
  send: SendRequest,
  request: AdminRequest,
  version: object,
  { options }: Input,
  report: (text: string) => void,
): Promise<Simulated> {
  const optionOf = (name: string): string | undefined => options[name]?.[0]
  const members = ['period', 'from', 'to'].flatMap((name) => {
    const value = optionOf(name)
    return value === undefined ? [] : [[name, value]]
  })
  const body = { ...Object.fromEntries(members), version }
  const affiliate_id = optionOf('affiliate')
  const query = {
    ...(affiliate_id !== undefined && { affiliate_id }),
    ...(options.all && { all: 'true' }),
  }
  const ask = async (cursor: string | null) =>
    (await send({
      ...request,
      body,
      query: { ...query, ...(cursor !== null && { cursor }) },
    })) as Simulated
  let all = await ask(null)
  while (all.meta.next_cursor !== null) {
    all = join(all, await ask(all.meta.next_cursor))
    report(`${counted(all.data.length, 'row')} so far.`)
  }
  return all
}

const join = (a: Simulated, b: Simulated): Simulated => ({
  ...b,
  data: [...a.data, ...b.data],
  total: [...a.total, ...b.total].reduce<Total[]>(addTotal, []),
  unchanged: a.unchanged + b.unchanged,
  skipped: [...a.skipped, ...b.skipped],
})

type Total = Simulated['total'][number]

/** Adds a total to those before it. All amounts of a currency have the same number of decimals. */
function addTotal(totals: Total[], one: Total): Total[] {
  const at = totals.findIndex(({ currency }) => currency === one.currency)
  const known = totals[at]
  if (!known) return [...totals, one]
  const sum = (name: Exclude<keyof Total, 'currency'>): string => {
    const total: Decimal = add(decimal(known[name]), decimal(one[name]))
    return fixedText(total, total.scale)
  }
  return totals.with(at, {
    currency: one.currency,
    current: sum('current'),
    simulated: sum('simulated'),
    difference: sum('difference'),
    payable_current: sum('payable_current'),
    payable_simulated: sum('payable_simulated'),
  })
}

const formatTable = list(SIMULATION_COLUMNS.filter((name) => name !== 'skipped'))

/** Formats a simulation as a table that ends with its totals, or as CSV. */
export function formatSimulation(body: unknown, input: Input): string {
  const { data, total, unchanged, skipped, warnings } = body as Simulated
  if (input.options.csv) {
    const rows = [SIMULATION_COLUMNS, ...toRows({ data, skipped })]
    // Control characters of ids would reach the terminal.
    const printable = rows.map((row) => row.map(escapeText))
    return writeCsv(printable).replaceAll('\r\n', '\n').trimEnd()
  }
  const totals = total.map((one) => ({ affiliate_id: 'total', ...one }))
  return [
    formatTable({ data: [...data, ...totals] }, input),
    `Affiliates without a difference: ${unchanged}.`,
    ...skipped.map(({ affiliate_id }) => {
      return `${escapeText(affiliate_id)} was left out: it depends on too many records.`
    }),
    ...warnings.map(({ pointer, message }) => escapeText(`${pointer}: ${message}`)),
  ].join('\n')
}
