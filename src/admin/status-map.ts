import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { resolveDatabase } from '../db/database.ts'

import { withAudit } from '../db/directory/audit.ts'
import { bumpVersion } from '../db/directory/credentials.ts'
import { listDefinitions } from '../db/directory/event-definitions.ts'
import { type MappedField, putMapping, readMapping, STATUSES } from '../db/directory/status-maps.ts'
import { readStatuses } from '../db/records/attention.ts'
import { DAY_MS } from '../durations.ts'
import { readQuery } from '../http/query.ts'
import { readJson, validationFailed } from '../http/read-fields.ts'
import { STATUS_DAYS, statusMembersOf } from '../ingest/attention.ts'
import * as f from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { pointerStep } from '../validation/pointer.ts'
import { isObject } from '../validation/record-validator.ts'
import { findRouteAccount } from './accounts.ts'
import { propagateSettings } from './propagate.ts'

const MAX_MAPPED_VALUES = 500

/** Returns the routes that read and replace the mapping of a field's values to their meanings. */
const mappingRoutes = (field: MappedField, meaning: v.GenericSchema<string>, expected?: string) => {
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
      const mapping = readMappingBody(await readJson(c), meaning, expected)
      const details = { [field]: mapping }
      const entry = { actor: c.var.actor, action: `${field}.put`, account, details }
      await withAudit(c.env.DB, entry, [
        ...putMapping(c.env.DB, account, field, mapping),
        bumpVersion(c.env.DB, account),
      ])
      // A failure is no error: the map counts at once, and only warnings wait for the cron.
      await propagateSettings(c.env, account)
      return read(c, account)
    })
}

/** Validates a mapping. `expected` lists the meanings if they are an enumeration. */
function readMappingBody(
  body: unknown,
  meaning: v.GenericSchema<string>,
  expected?: string,
): Record<string, string> {
  if (!isObject(body)) throw validationFailed([{ pointer: '', code: 'type', expected: 'object' }])
  const entries: [string, unknown][] = Object.entries(body)
  if (entries.length > MAX_MAPPED_VALUES) {
    const expected = `at most ${MAX_MAPPED_VALUES} entries`
    const received = String(entries.length)
    throw validationFailed([{ pointer: '', code: 'length', expected, received }])
  }
  const mapping = new Map<string, string>()
  const issues = entries.flatMap(([word, value]): Issue[] => {
    const pointer = pointerStep(word)
    if (!v.is(f.text, word)) return [{ pointer, code: 'length', expected: '1 to 500' }]
    if (v.is(meaning, value)) {
      mapping.set(word, value)
      return []
    }
    if (!expected) return [{ pointer, code: 'type', expected: 'string' }]
    return [{ pointer, code: 'enum', expected, ...(typeof value === 'string' && { value }) }]
  })
  if (issues.length > 0) throw validationFailed(issues)
  return Object.fromEntries(mapping)
}

/** Routes for the meaning of a partner's transaction statuses. */
export const statusMap = mappingRoutes('status', f.oneOf(...STATUSES), STATUSES.join(', '))
  // Lists unmapped statuses, so that nobody has to search the records for them.
  .get('/unmapped', async (c) => {
    readQuery(c.req.url)
    const { id, binding } = await findRouteAccount(c)
    const since = Math.floor(Date.now() / DAY_MS) - STATUS_DAYS
    const members = statusMembersOf(await listDefinitions(c.env.DB, id))
    const [mapping, found] = await Promise.all([
      readMapping(c.env.DB, id, 'status'),
      readStatuses(resolveDatabase(c.env, binding), id, { since, members }),
    ])
    const known = new Set([...Object.keys(mapping), ...STATUSES])
    return c.json({ data: found.flatMap((status) => (known.has(status) ? [] : { status })) })
  })

/** Routes for the labels of a partner's KYC and sales statuses. */
export const labels = new Hono<AppEnv>()
  .route('/kyc_status_id', mappingRoutes('kyc_status_id', f.text))
  .route('/sales_status_id', mappingRoutes('sales_status_id', f.text))
