import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { hasClosedPeriods } from '../db/commission/books/closings.ts'
import { resolveDatabase } from '../db/database.ts'
import { withAudit } from '../db/directory/audit.ts'
import { bumpVersion } from '../db/directory/credentials.ts'
import {
  DEFAULT_PRODUCT_FIELD,
  deleteDefinition,
  type EventDefinition,
  listDefinitions,
  PRODUCTS,
  putDefinition,
} from '../db/directory/event-definitions.ts'
import type { Account } from '../db/schema.ts'
import { ApiError } from '../errors.ts'
import { checkPercentEncoding, readQuery } from '../http/query.ts'
import { notFound, readFields, validateAt, validationFailed } from '../http/read-fields.ts'
import * as f from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { validateField } from '../validation/strict-object.ts'
import { findRouteAccount } from './accounts.ts'
import { requireBrand } from './brand-tokens.ts'
import { anObject, definitionFields, member } from './definition-fields.ts'
import { propagateNow, propagateSettings } from './propagate.ts'

/** Limits on the definitions of a brand: every authenticated request carries them in its grant. */
const MAX_DEFINITIONS = 200
const MAX_NAMES = 100
const MAX_BYTES = 131_072

/** Reads the names of the KPIs, each once. None may be the member of the product line. */
function readKpiNames(
  sent: readonly unknown[],
  productField: string,
): { kpis: string[]; issues: Issue[] } {
  if (sent.length > MAX_NAMES) {
    const expected = `at most ${MAX_NAMES} names`
    const received = String(sent.length)
    return { kpis: [], issues: [{ pointer: '/kpis', code: 'length', expected, received }] }
  }
  const kpis = new Set<string>()
  const issues = sent.flatMap((name, i): Issue[] => {
    const pointer = `/kpis/${i}`
    const { issue } = validateField('', name, member)
    if (issue) return [{ ...issue, pointer }]
    if (name === productField) return [{ pointer, code: 'duplicate_key' }]
    kpis.add(String(name))
    return []
  })
  return { kpis: [...kpis], issues }
}

/** Reads the member that carries the product line, and the product line of each of its values. */
function readProduct(sent: unknown): { product: EventDefinition['product']; issues: Issue[] } {
  if (sent === undefined || sent === null) return { product: null, issues: [] }
  const { issues, output } = validateAt(sent, { field: member, map: anObject }, '/product')
  const { field = '', map = {} } = output
  const entries = Object.entries(map)
  if (entries.length > MAX_NAMES) {
    const expected = `at most ${MAX_NAMES} values`
    const received = String(entries.length)
    issues.push({ pointer: '/product/map', code: 'length', expected, received })
  }
  for (const [value, line] of entries) {
    const { issue } = validateField(value, line, f.oneOf(...PRODUCTS))
    if (issue) issues.push({ ...issue, pointer: `/product/map${issue.pointer}` })
  }
  return { product: { field, map: Object.fromEntries(entries) }, issues }
}

/** Reads an event definition from the body of a request. */
async function readDefinition(c: Context<AppEnv>, eventname: string): Promise<EventDefinition> {
  const fields = await readFields(c, definitionFields)
  const { product, issues } = readProduct(fields.product)
  const { kpis, issues: kpiIssues } = readKpiNames(
    fields.kpis ?? [],
    product?.field ?? DEFAULT_PRODUCT_FIELD,
  )
  issues.push(...kpiIssues)
  const { granularity, eventid = 'used', currency = null } = fields
  const { outflow = false, status_member = null } = fields
  const others = [...kpis, product?.field ?? DEFAULT_PRODUCT_FIELD]
  if (status_member !== null && others.includes(status_member)) {
    issues.push({
      pointer: '/status_member',
      code: 'not_applicable',
      expected: 'it is neither a KPI nor the field of the product',
    })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return { eventname, granularity, eventid, kpis, product, currency, outflow, status_member }
}

/** Throws `conflict` if a brand would have too many definitions with one more. */
function checkLimits(others: readonly EventDefinition[], definition: EventDefinition): void {
  const bytes = new TextEncoder().encode(JSON.stringify([...others, definition])).length
  if (others.length < MAX_DEFINITIONS && bytes <= MAX_BYTES) return
  const limits = `${MAX_DEFINITIONS} event definitions, of ${MAX_BYTES / 1024} KiB in total`
  throw new ApiError('conflict', { detail: `A brand has at most ${limits}.` })
}

/** What a definition says of stored events, too: their sign, their status and their currency. */
const JUDGED = ['outflow', 'status_member', 'currency'] as const

/**
 * Refuses a change by which stored events would count otherwise while a period is closed: it would change what
 * was approved. A currency may be given to events that had none: they wait for it.
 *
 * @param changed Null: the definition is deleted.
 * @throws ApiError `conflict`
 */
async function admitChange(
  env: Env,
  account: Account,
  stored: EventDefinition,
  changed: EventDefinition | null,
): Promise<void> {
  const after = changed ?? { outflow: false, status_member: null, currency: null }
  const [name] = JUDGED.filter((one) => {
    if (one === 'outflow' && account.amount_signs !== 'signed') return false
    if (one === 'currency' && stored.currency === null) return false
    return stored[one] !== after[one]
  })
  if (name === undefined) return
  if (!(await hasClosedPeriods(resolveDatabase(env, account.binding), account.id))) return
  throw new ApiError('conflict', {
    detail: `The account has closed periods, and another \`${name}\` would also change how stored events count. It can change only while no period is closed.`,
  })
}

async function findBrandAccount(c: Context<AppEnv>): Promise<Account> {
  const account = await findRouteAccount(c)
  requireBrand(account)
  return account
}

/** Routes for the event definitions of a brand; each names one event. */
export const eventDefinitions = new Hono<AppEnv>()
  .get('/', async (c) => {
    readQuery(c.req.url)
    const { id } = await findBrandAccount(c)
    return c.json({ data: await listDefinitions(c.env.DB, id) })
  })

  .put('/:eventname', async (c) => {
    readQuery(c.req.url)
    checkPercentEncoding(new URL(c.req.url).pathname)
    const found = await findBrandAccount(c)
    const { id: account } = found
    const eventname = c.req.param('eventname')
    if (!v.is(f.id, eventname))
      throw validationFailed([{ pointer: '', code: 'length', expected: '1 to 500' }])
    const definition = await readDefinition(c, eventname)
    const definitions = await listDefinitions(c.env.DB, account)
    const others = definitions.filter((other) => other.eventname !== eventname)
    const isNew = others.length === definitions.length
    checkLimits(others, definition)
    const stored = definitions.find((other) => other.eventname === eventname)
    if (stored) await admitChange(c.env, found, stored, definition)
    const details: Record<string, unknown> = { ...definition }
    const entry = { actor: c.var.actor, action: 'event-definition.put', account, details }
    await withAudit(c.env.DB, entry, [
      putDefinition(c.env.DB, account, definition),
      bumpVersion(c.env.DB, account),
    ])
    const takes_effect = await propagateSettings(c.env, account)
    return c.json({ ...definition, takes_effect }, isNew ? 201 : 200)
  })

  .delete('/:eventname', async (c) => {
    readQuery(c.req.url)
    const found = await findBrandAccount(c)
    const { id: account } = found
    const eventname = c.req.param('eventname')
    const definitions = await listDefinitions(c.env.DB, account)
    const stored = definitions.find((definition) => definition.eventname === eventname)
    if (!stored) throw notFound('event definition', eventname)
    await admitChange(c.env, found, stored, null)
    const details = { eventname }
    const entry = { actor: c.var.actor, action: 'event-definition.delete', account, details }
    await withAudit(c.env.DB, entry, [
      deleteDefinition(c.env.DB, account, eventname),
      bumpVersion(c.env.DB, account),
    ])
    await propagateNow(c.env, account)
    return c.body(null, 204)
  })
