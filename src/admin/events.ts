import { Hono } from 'hono'
import * as v from 'valibot'
import type { AppEnv } from '../auth/authorize.ts'
import { withAudit } from '../db/directory/audit.ts'
import { bumpVersion } from '../db/directory/credentials.ts'
import {
  deleteDefinition,
  type EventDefinition,
  listDefinitions,
  PRODUCTS,
  putDefinition,
} from '../db/directory/event-definitions.ts'
import { ApiError } from '../errors.ts'
import { checkPercentEncoding, readQuery } from '../http/query.ts'
import * as f from '../validation/fields.ts'
import type { Issue } from '../validation/issue.ts'
import { validateField } from '../validation/strict-object.ts'
import { notFound, readFields, validateAt, validationFailed } from './body.ts'
import { findBrandAccount } from './brand-tokens.ts'
import { anObject, definitionFields, member } from './fields.ts'
import { propagateNow, propagateSettings } from './propagate.ts'

/** They ride in the answer to every request: so many are plenty, and cost little. */
const MAX_DEFINITIONS = 200
const MAX_NAMES = 100
const MAX_BYTES = 131_072

/** A list of KPIs, each a member of its own. */
function checkKpis(said: readonly unknown[], product: string): Issue[] {
  if (said.length > MAX_NAMES) {
    return [{ pointer: '/kpis', code: 'length', expected: `at most ${MAX_NAMES} names` }]
  }
  return said.flatMap((name, i): Issue[] => {
    const { issue } = validateField('', name, member)
    if (issue) return [{ ...issue, pointer: `/kpis/${i}` }]
    return name === product ? [{ pointer: `/kpis/${i}`, code: 'duplicate_key' }] : []
  })
}

/** The field that carries the product line, and what each of its values means. */
function readProductMap(said: unknown): { product: EventDefinition['product']; issues: Issue[] } {
  if (said === undefined || said === null) return { product: null, issues: [] }
  const { issues, output } = validateAt(said, { field: member, map: anObject }, '/product')
  const lines = Object.entries((output.map ?? {}) as object)
  if (lines.length > MAX_NAMES) {
    issues.push({ pointer: '/product/map', code: 'length', expected: `at most ${MAX_NAMES} words` })
  }
  for (const [word, line] of lines) {
    const { issue } = validateField(word, line, f.oneOf(...PRODUCTS))
    if (issue) issues.push({ ...issue, pointer: `/product/map${issue.pointer}` })
  }
  const product = { field: output.field as string, map: Object.fromEntries(lines) }
  return { product, issues }
}

/** How the events of a brand are to be read, a definition a name. */
export const eventDefinitions = new Hono<AppEnv>()
  .get('/', async (c) => {
    readQuery(c.req.url)
    const { id } = await findBrandAccount(c)
    return c.json({ data: await listDefinitions(c.env.DB, id) })
  })

  .put('/:eventname', async (c) => {
    readQuery(c.req.url)
    checkPercentEncoding(new URL(c.req.url).pathname)
    const { id: account } = await findBrandAccount(c)
    const eventname = c.req.param('eventname')
    if (!v.is(f.id, eventname))
      throw validationFailed([{ pointer: '', code: 'length', expected: '1 to 500' }])
    const said = await readFields(c, definitionFields)
    const { product, issues } = readProductMap(said.product)
    issues.push(...checkKpis(said.kpis ?? [], product?.field ?? 'product'))
    if (issues.length > 0) throw validationFailed(issues)
    const definition: EventDefinition = {
      eventname,
      granularity: said.granularity,
      eventid: said.eventid ?? 'used',
      kpis: [...new Set((said.kpis ?? []) as string[])],
      product,
      currency: said.currency ?? null,
    }
    const others = await listDefinitions(c.env.DB, account)
    const isNew = !others.some((other) => other.eventname === eventname)
    const kept = others.filter((other) => other.eventname !== eventname)
    const bytes = new TextEncoder().encode(JSON.stringify([...kept, definition])).length
    if (kept.length >= MAX_DEFINITIONS || bytes > MAX_BYTES) {
      const most = `${MAX_DEFINITIONS} definitions, of ${MAX_BYTES / 1024} KiB in all`
      throw new ApiError('conflict', { detail: `A brand has at most ${most}.` })
    }
    const details: Record<string, unknown> = { ...definition }
    const act = { actor: c.var.actor, action: 'event-definition.put', account, details }
    await withAudit(c.env.DB, act, [
      putDefinition(c.env.DB, account, definition),
      bumpVersion(c.env.DB, account),
    ])
    const takes_effect = await propagateSettings(c.env, account)
    return c.json({ ...definition, takes_effect }, isNew ? 201 : 200)
  })

  .delete('/:eventname', async (c) => {
    readQuery(c.req.url)
    const { id: account } = await findBrandAccount(c)
    const eventname = c.req.param('eventname')
    const known = await listDefinitions(c.env.DB, account)
    if (!known.some((one) => one.eventname === eventname)) {
      throw notFound('event definition', eventname)
    }
    const details = { eventname }
    const act = { actor: c.var.actor, action: 'event-definition.delete', account, details }
    await withAudit(c.env.DB, act, [
      deleteDefinition(c.env.DB, account, eventname),
      bumpVersion(c.env.DB, account),
    ])
    await propagateNow(c.env, account)
    return c.body(null, 204)
  })
