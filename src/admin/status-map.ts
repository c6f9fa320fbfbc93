import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { Caller } from '../auth/authorize.ts'
import { audited } from '../db/directory/audit.ts'
import { type Field, putWords, wordsOf } from '../db/directory/status-maps.ts'
import { readQuery } from '../http/query.ts'
import * as f from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { step } from '../validation/pointer.ts'
import { isObject } from '../validation/record-validator.ts'
import { accountOf } from './accounts.ts'
import { readJson, refused } from './body.ts'

/** What a transaction's status may mean. */
const STATUSES = ['pending', 'approved', 'declined', 'reversed'] as const

const MAX_WORDS = 500

/** What an account's own words mean: a map that is read, and set as a whole. */
const wordsAt = (field: Field, meaning: v.GenericSchema<unknown, string>, expected?: string) => {
  const read = async (c: Context<Caller>, account: string) =>
    c.json({ [field]: await wordsOf(c.env.DB, account, field) })
  return new Hono<Caller>()
    .get('/', async (c) => {
      readQuery(c.req.url)
      return read(c, (await accountOf(c)).id)
    })
    .put('/', async (c) => {
      readQuery(c.req.url)
      const { id: account } = await accountOf(c)
      const words = mapOf(await readJson(c), meaning, expected)
      const details = { [field]: words }
      const act = { actor: c.var.actor, action: `${field}.put`, account, details }
      await audited(c.env.DB, act, putWords(c.env.DB, account, field, words))
      return read(c, account)
    })
}

/** A map of words to what they mean, judged. */
function mapOf(
  body: unknown,
  meaning: v.GenericSchema<unknown, string>,
  expected?: string,
): Record<string, string> {
  if (!isObject(body)) throw refused([{ pointer: '', code: 'type', expected: 'object' }])
  const words = Object.entries(body)
  if (words.length > MAX_WORDS) {
    throw refused([{ pointer: '', code: 'length', expected: `at most ${MAX_WORDS} words` }])
  }
  const issues = words.flatMap(([word, means]): Issue[] => {
    if (!v.is(f.text, word)) return [{ pointer: step(word), code: 'length', expected: '1 to 500' }]
    if (v.is(meaning, means)) return []
    if (!expected) return [{ pointer: step(word), code: 'type', expected: 'string' }]
    const shown = typeof means === 'string' && { value: means }
    return [{ pointer: step(word), code: 'enum', expected, ...shown }]
  })
  if (issues.length > 0) throw refused(issues)
  return Object.fromEntries(words)
}

/** What a partner's own transaction statuses mean. */
export const statusMap = wordsAt('status', f.oneOf(...STATUSES), STATUSES.join(', '))

/** How a partner's kyc and sales statuses are called. */
export const labels = new Hono<Caller>()
  .route('/kyc_status_id', wordsAt('kyc_status_id', f.text))
  .route('/sales_status_id', wordsAt('sales_status_id', f.text))
