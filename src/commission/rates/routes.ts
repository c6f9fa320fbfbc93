import { Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../../auth/authorize.ts'
import { loadRates, RATE_SOURCE } from '../../db/commission/rates.ts'
import { DAY_MS } from '../../durations.ts'
import { readCsvBody } from '../../http/body.ts'
import { teamOperation } from '../../http/operation.ts'
import { readFlag, readQuery } from '../../http/query.ts'
import { described, named } from '../../validation/described.ts'
import * as f from '../../validation/fields.ts'
import { member, said } from '../../validation/fields.ts'
import { dayNumber, dayText } from '../engine/calendar.ts'
import { rateFinder } from '../engine/convert.ts'
import { importRates } from './import-rates.ts'
import { fileRefused, parseEcb } from './parse-ecb.ts'

const day = member(f.day, said('The day to which the rates apply.', '2026-10-04'))
const currency = described(() => member(v.string(), 'An ISO 4217 code.'))

export const getFxRates = teamOperation({
  topic: 'plans',
  id: 'getFxRates',
  method: 'GET',
  path: '/fx-rates',
  role: 'viewer',
  callers: ['team', 'account'],
  params: { day },
  words: described(() => ({
    description:
      'Returns the exchange rates that apply to a day: for each currency the last rate published on or before the day, at most 7 days back. Amounts of commissions are converted by these rates.',
    answer: named(
      'Rates',
      v.object({
        source: member(v.literal(RATE_SOURCE), 'The source of the rates.'),
        day: member(f.day, 'The day that was asked for.'),
        last_day: v.nullable(
          member(
            f.day,
            'The last day for which the source has published rates. Null if there is none.',
          ),
        ),
        rates: member(
          v.array(
            v.object({
              currency,
              rate: member(v.string(), 'Units of the currency for one euro, as a decimal.'),
              day: member(f.day, 'The day that the rate was published for, at most 7 days before.'),
            }),
          ),
          'The rates that apply. That of the euro, always 1, is not listed.',
        ),
        missing: member(
          v.array(
            v.object({
              currency,
              reason: member(
                v.picklist(['fx_pending', 'fx_missing']),
                '`fx_pending`: nothing has been published for this day or a later one. `fx_missing`: the currency has no rate of this day or the 7 days before.',
              ),
            }),
          ),
          'The currencies without a rate that applies.',
        ),
      }),
    ),
    command: { name: 'fx show', argument: 'day' },
  })),
  run: ({ env }, sent) => readRates(env, sent.day),
})

/** The route of the integrations team that imports rates. */
export const rateImport = new Hono<AppEnv>().put('/', async (c) => {
  const { correct } = readQuery(c.req.url, 'correct')
  const isCorrection = readFlag('correct', correct)
  const { takeText, release } = await readCsvBody(c.req.raw, Promise.resolve({ account: '' }))
  try {
    const { table, issues } = parseEcb(takeText(), dayText(Math.floor(Date.now() / DAY_MS)))
    if (issues.total > 0) throw fileRefused(issues)
    const request = { actor: c.var.actor, isCorrection, now: Date.now() }
    return c.json(await importRates(c.env.DB, table, request))
  } finally {
    release()
  }
})

/** Returns the rate that applies to a day for each currency, and the currencies without one. */
async function readRates({ DB }: Env, requestedDay: string) {
  const number = dayNumber(requestedDay)
  const stored = await loadRates(DB, {
    currencies: null,
    days: [{ first: number, last: number }],
    at: null,
  })
  const find = rateFinder(stored)
  const rates: { currency: string; rate: string; day: string }[] = []
  const missing: { currency: string; reason: 'fx_pending' | 'fx_missing' }[] = []
  const texts = new Map(stored.rates.map(({ currency, day, rate }) => [`${currency} ${day}`, rate]))
  for (const currency of stored.currencies) {
    const found = find(currency, number)
    if (typeof found === 'string') missing.push({ currency, reason: found })
    else {
      const rate = texts.get(`${currency} ${found.day}`) ?? ''
      rates.push({ currency, rate, day: dayText(found.day) })
    }
  }
  const last_day = stored.lastDay === null ? null : dayText(stored.lastDay)
  return { source: RATE_SOURCE, day: requestedDay, last_day, rates, missing }
}
