import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { withAudit } from '../db/directory/audit.ts'
import { type MappedField, putMapping, readMapping } from '../db/directory/status-maps.ts'
import { readQuery } from '../http/query.ts'
import * as f from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { pointerStep } from '../validation/pointer.ts'
import { isObject } from '../validation/record-validator.ts'
import { findRouteAccount } from './accounts.ts'
import { readJson, validationFailed } from './body.ts'

/** What a transaction's status may mean. */
const STATUSES = ['pending', 'approved', 'declined', 'reversed'] as const

const MAX_MAPPED_VALUES = 500

/** What an account's own words mean: a map that is read, and set as a whole. */
const mappingRoutes = (
  field: MappedField,
  meaning: v.GenericSchema<unknown, string>,
  expected?: string,
) => {
  const read = async (c: Context<AppEnv>, account: string) =>
    c.json({ [field]: await readMapping(c.env.DB, account, field) })
  return new Hono<AppEnv>()
    .get('/', async (c) => {
      readQuery(c.req.url)
      return read(c, (await findRouteAccount(c)).id)
    })
    .put('/', async (c) => {
      readQuery(c.req.url)
      const { id: account } = await findRouteAccount(c)
      const words = readMappingBody(await readJson(c), meaning, expected)
      const details = { [field]: words }
      const act = { actor: c.var.actor, action: `${field}.put`, account, details }
      await withAudit(c.env.DB, act, putMapping(c.env.DB, account, field, words))
      return read(c, account)
    })
}

/** A map of words to what they mean, judged. */
function readMappingBody(
  body: unknown,
  meaning: v.GenericSchema<unknown, string>,
  expected?: string,
): Record<string, string> {
  if (!isObject(body)) throw validationFailed([{ pointer: '', code: 'type', expected: 'object' }])
  const words = Object.entries(body)
  if (words.length > MAX_MAPPED_VALUES) {
    throw validationFailed([
      { pointer: '', code: 'length', expected: `at most ${MAX_MAPPED_VALUES} words` },
    ])
  }
  const issues = words.flatMap(([word, means]): Issue[] => {
    if (!v.is(f.text, word))
      return [{ pointer: pointerStep(word), code: 'length', expected: '1 to 500' }]
    if (v.is(meaning, means)) return []
    if (!expected) return [{ pointer: pointerStep(word), code: 'type', expected: 'string' }]
    const shown = typeof means === 'string' && { value: means }
    return [{ pointer: pointerStep(word), code: 'enum', expected, ...shown }]
  })
  if (issues.length > 0) throw validationFailed(issues)
  return Object.fromEntries(words.map(([word, means]) => [word, String(means)]))
}

/** What a partner's own transaction statuses mean. */
export const statusMap = mappingRoutes('status', f.oneOf(...STATUSES), STATUSES.join(', '))

/** How a partner's kyc and sales statuses are called. */
export const labels = new Hono<AppEnv>()
  .route('/kyc_status_id', mappingRoutes('kyc_status_id', f.text))
  .route('/sales_status_id', mappingRoutes('sales_status_id', f.text))
