import * as v from 'valibot'
import { DAY_MS } from '../../platform/durations.ts'
import { operation } from '../../platform/http/operation.ts'
import { dayNumber, dayText } from '../../platform/money/calendar.ts'
import { plainText } from '../../platform/money/decimal.ts'
import { rateFinder } from '../../platform/money/exchange.ts'
import { count } from '../../platform/validation/answer-fields.ts'
import { component, described } from '../../platform/validation/described.ts'
import * as f from '../../platform/validation/fields.ts'
import { member, nullable, optional, said } from '../../platform/validation/fields.ts'
import { loadRates, RATE_SOURCE } from '../db/rates.ts'
import { importRates } from './import-rates.ts'
import { MAX_DAYS, parseEcb } from './parse-ecb.ts'

const day = member(f.day, said('The day to which the rates apply.', '2026-10-04'))

export const getFxRates = operation({
  of: 'team',
  topic: 'plans',
  id: 'getFxRates',
  shows: 'public',
  method: 'GET',
  path: '/fx-rates',
  callers: ['team', 'account'],
  params: { day },
  words: described(() => ({
    description:
      'Returns the exchange rates that apply to a day: for each currency the last rate published on or before the day, at most 7 days back. Amounts of commissions are converted by these rates.',
    answer: component('Rates', () => ({
      source: member(v.literal(RATE_SOURCE), 'The source of the rates.'),
      day: member(f.day, 'The day that was asked for.'),
      last_day: nullable(
        f.day,
        'The last day for which the source has published rates. Null if there is none.',
      ),
      rates: member(
        v.array(
          v.object({
            currency: member(v.string(), 'An ISO 4217 code.'),
            rate: member(v.string(), 'Units of the currency for one euro, as a decimal.'),
            day: member(f.day, 'The day that the rate was published for, at most 7 days before.'),
          }),
        ),
        'The rates that apply. That of the euro, always 1, is not listed.',
      ),
    })),
    command: { name: 'fx show', argument: 'day' },
  })),
  run: ({ env }, sent) => readRates(env, sent.day),
})

export const importFxRates = operation({
  of: 'team',
  topic: 'plans',
  id: 'importFxRates',
  shows: 'firm',
  method: 'PUT',
  path: '/fx-rates',
  role: 'manager',
  params: {
    correct: optional(
      v.boolean(),
      said('Replaces stored rates that differ. They are kept beside the new ones.', true),
    ),
  },
  whole: true,
  body: {
    csv: member(
      v.string(),
      said(
        `The CSV of the European Central Bank: the header \`Date,USD,JPY,…\`, and a row for each day, both in any order. A rate is the units of the currency for one euro; blank or \`N/A\` means none. At most ${MAX_DAYS} days, 6.5 MiB.`,
        'Date,USD,JPY\n2026-10-02,1.1684,186.75\n2026-10-01,1.1711,N/A\n',
      ),
    ),
  },
  words: described(() => ({
    description: `Stores the rates of a file, all or none. It is safe to repeat: stored rates stay as they are. If a rate is stored with another value, the file is refused, and the response names the first 1,000 of these rates. In a pointer, \`/rows/0\` is the first row below the header.`,
    answer: component('RateImport', () => ({
      source: member(v.literal(RATE_SOURCE), 'The source of the rates.'),
      first_day: member(f.day, 'The first day of the file.'),
      last_day: member(f.day, 'The last day of the file.'),
      created: member(count, 'The number of rates that are new.'),
      unchanged: member(count, 'The number of rates that were stored before.'),
      corrected: member(count, 'The number of rates that replace stored ones.'),
    })),
    errors: ['conflict', 'invalid_request'],
    command: { name: 'fx import' },
  })),
  run({ env, actor }, { correct = false, csv }) {
    const now = Date.now()
    const table = parseEcb(csv, dayText(Math.floor(now / DAY_MS)))
    return importRates(env.DB, table, { actor, isCorrection: correct, now })
  },
})

/** Returns the rate that applies to a day for each currency that has one. */
async function readRates({ DB }: Env, requestedDay: string) {
  const day = dayNumber(requestedDay)
  const stored = await loadRates(DB, [{ first: day, last: day }])
  const find = rateFinder(stored)
  const currencies = new Set(stored.rows.flatMap(({ rates }) => Object.keys(rates)))
  return {
    source: RATE_SOURCE,
    day: requestedDay,
    last_day: stored.lastDay === null ? null : dayText(stored.lastDay),
    rates: [...currencies].sort().flatMap((currency) => {
      const found = find(currency, day)
      return typeof found === 'string'
        ? []
        : [{ currency, rate: plainText(found.rate), day: dayText(found.day) }]
    }),
  }
}
