import { type Context, Hono } from 'hono'
import type { AppEnv } from '../../auth/authorize.ts'
import { loadRates, RATE_SOURCE } from '../../db/commission/rates.ts'
import { DAY_MS } from '../../durations.ts'
import { readCsvBody } from '../../http/body.ts'
import { checkDay, invalidQuery, readFlag, readQuery, VALID_DATE } from '../../http/query.ts'
import { dayNumber, dayText } from '../engine/calendar.ts'
import { rateFinder } from '../engine/convert.ts'
import { importRates } from './import-rates.ts'
import { fileRefused, parseEcb } from './parse-ecb.ts'

/** The route of an account: the exchange rates that apply to a day. All accounts have the same. */
export const accountRates = new Hono<AppEnv>().get('/fx-rates', async (c) => {
  const requestedDay = readDay(c)
  await c.var.grantPromise
  return respondWithRates(c, requestedDay)
})

/** The routes of the integrations team: the rates that apply to a day, and their import. */
export const teamRates = new Hono<AppEnv>()
  .get('/', (c) => respondWithRates(c, readDay(c)))

  .put('/', async (c) => {
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

const DAY_REQUIRED = `\`day\` is required: ${VALID_DATE}.`

/** Returns the day that the query asks for. */
function readDay(c: Context<AppEnv>): string {
  // An empty value cannot be left out, as `readQuery` would suggest.
  if (new URL(c.req.url).searchParams.get('day') === '') throw invalidQuery(DAY_REQUIRED)
  const { day: requestedDay } = readQuery(c.req.url, 'day')
  if (requestedDay === undefined) throw invalidQuery(DAY_REQUIRED)
  checkDay('day', requestedDay)
  return requestedDay
}

/** Responds with the rate that applies to a day for each currency, and the currencies without one. */
async function respondWithRates(c: Context<AppEnv>, requestedDay: string) {
  const number = dayNumber(requestedDay)
  const stored = await loadRates(c.env.DB, {
    currencies: null,
    days: [{ first: number, last: number }],
    at: null,
  })
  const find = rateFinder(stored)
  const rates: { currency: string; rate: string; day: string }[] = []
  const missing: { currency: string; reason: string }[] = []
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
  return c.json({ source: RATE_SOURCE, day: requestedDay, last_day, rates, missing })
}
