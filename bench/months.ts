import { expectOk } from '../chaos/ask.ts'
import { migrate, newHome, newSecrets, serve, setClock } from '../chaos/service.ts'
import type { Scale } from './compete.ts'
import { beside, type Chapter, format, median } from './print.ts'
import { PERIOD, RECORDS } from './records.ts'
import {
  fill,
  inMonth,
  judgeAgain,
  MORNING,
  measure,
  morningOf,
  putRules,
  runOf,
  type Used,
} from './run.ts'

/** The facts of a customer in a month. */
const PER_CUSTOMER = 10

/** The closed months before the open one, and those of them in which late records lie. */
const CLOSED = [
  ...Array.from({ length: 10 }, (_, i) => `2025-${String(i + 3).padStart(2, '0')}`),
  ...['2026-01', '2026-02'],
]
const LATE_IN = CLOSED.slice(-4, -1)
const LATE_RECORDS = 200

/** The customers who have late records: few, as when a feed is repaired. */
const LATE_CUSTOMERS = 20

const ACTS = [
  'one month',
  '12 closed months and one',
  'the same with late records',
  'the same with fraud rules',
] as const

/** Measures the run of an open month behind closed ones beside the run of an account that has this month alone. */
export async function months(folder: string, { factsOfMonth, rounds }: Scale): Promise<Chapter> {
  const { script, end } = await newHome()
  const service = await serve({ script, state: folder, secrets: await newSecrets() })
  try {
    const customers = Math.max(LATE_CUSTOMERS, Math.floor(factsOfMonth / PER_CUSTOMER))
    await migrate(service)
    await fill(service, 'young', customers)
    const send = await fill(service, 'old', customers, [...CLOSED, PERIOD])
    for (const account of ['young', 'old']) await runOf(service, account)
    for (const month of CLOSED) {
      await expectOk(
        service.admin('POST', `accounts/old/periods/${month}/approve`, {
          body: { leave_out_holds: true },
        }),
      )
    }
    // The first run keeps what closed periods leave, and the second the facts of rules that pay once.
    const settle = async () => {
      for (let i = 0; i < 2; i++) await runOf(service, 'old')
    }
    const used: Record<string, Used>[] = []
    for (let round = 0; round < rounds; round++) {
      const one: Record<string, Used> = {}
      await settle()
      one[ACTS[0]] = await measure(service, (at) => runOf(at, 'young'))
      one[ACTS[1]] = await measure(service, (at) => runOf(at, 'old'))
      const late = Array.from({ length: LATE_RECORDS }, (_, i) =>
        RECORDS.transactions(customers * PER_CUSTOMER + LATE_RECORDS * round + i, {
          customers: LATE_CUSTOMERS,
          isChanged: true,
        }),
      )
      const size = Math.ceil(LATE_RECORDS / LATE_IN.length)
      for (const [i, month] of LATE_IN.entries()) {
        await send('transactions', inMonth(late.slice(i * size, (i + 1) * size), month))
      }
      one[ACTS[2]] = await measure(service, (at) => runOf(at, 'old'))
      used.push(one)
    }
    await putRules(service, 'old')
    await setClock(service, MORNING)
    await morningOf(service, 'old')
    for (const one of used) {
      await judgeAgain(service, { isDisabled: false })
      one[ACTS[3]] = await measure(service, (at) => morningOf(at, 'old'))
    }
    return chapterOf(customers, used)
  } finally {
    await service.end()
    end()
  }
}

function chapterOf(customers: number, used: readonly Record<string, Used>[]): Chapter {
  const ratio = (name: string, base: string, figure: keyof Used = 'cpuMs') =>
    format(median(used.map((one) => one[name]![figure] / one[base]![figure])), 2)
  const row = (name: string) => {
    const of = (figure: keyof Used) => median(used.map((one) => one[name]![figure]))
    const against = (figure: keyof Used) => ratio(name, ACTS[0], figure)
    return [
      name,
      against('cpuMs'),
      against('rowsRead'),
      format(of('cpuMs')),
      format(of('rowsRead')),
    ]
  }
  return {
    title: 'A run behind closed months',
    notes: `Each month has ${format(customers * PER_CUSTOMER)} facts of ${format(customers)} customers. ${LATE_RECORDS} late records of ${LATE_CUSTOMERS} customers lie in three closed months. Medians of ${used.length} rounds, in which the three take turns.`,
    tables: [
      [['', 'CPU ÷ one month', 'rows read ÷ one month', 'CPU-ms', 'rows read'], ...ACTS.map(row)],
    ],
    figures: beside(
      ['CPU of a run behind 12 closed months ÷ one month', ratio(ACTS[1], ACTS[0]), '1.2'],
      ['CPU of the same with 200 late records ÷ one month', ratio(ACTS[2], ACTS[0]), '2'],
      ['CPU of a morning with fraud rules, 13 months ÷ without', ratio(ACTS[3], ACTS[1]), '1.5'],
      [
        'rows read a fact of 13 months, morning with fraud rules',
        format(
          median(used.map((one) => one[ACTS[3]]!.rowsRead)) /
            (customers * PER_CUSTOMER * (CLOSED.length + 1)),
          2,
        ),
        '0.5',
      ],
    ),
  }
}
