import { Hono } from 'hono'
import * as v from 'valibot'
import { about } from '../about.ts'
import type { Caller } from '../auth/admission.ts'
import { audited } from '../db/audit.ts'
import { outdate } from '../db/credentials.ts'
import {
  definitionsOf,
  dropDefinition,
  type EventDefinition,
  KNOWN,
  PRODUCTS,
  putDefinition,
} from '../db/definitions.ts'
import { ApiError } from '../errors.ts'
import * as f from '../fields.ts'
import { judged } from '../ingest/closed.ts'
import { isObject } from '../ingest/judge.ts'
import { readQuery } from '../ingest/query.ts'
import type { Issue } from '../ingest/words.ts'
import { judgedAt, missing, readFields, refused } from './body.ts'
import { brandOf } from './brand-tokens.ts'
import { pushed, pushedNow } from './push.ts'

/** They ride in the answer to every request: so many are plenty, and cost little. */
const MAX_DEFINITIONS = 200
const MAX_NAMES = 100
const MAX_BYTES = 131_072

const isOwn = (name: string) => !KNOWN.includes(name)

/** A member that a definition may name: not one that every event has. */
const member = v.pipe(
  f.text,
  v.check(isOwn, `pattern a field of your own, none of: ${KNOWN.join(', ')}`),
)

/** A list of KPIs, each a member of its own. */
function kpisOf(said: readonly unknown[], product: string): Issue[] {
  if (said.length > MAX_NAMES) {
    return [{ pointer: '/kpis', code: 'length', expected: `at most ${MAX_NAMES} names` }]
  }
  return said.flatMap((name, i): Issue[] => {
    const { issue } = judged('', name, member)
    if (issue) return [{ ...issue, pointer: `/kpis/${i}` }]
    return name === product ? [{ pointer: `/kpis/${i}`, code: 'duplicate_key' }] : []
  })
}

/** The field that carries the product line, and what each of its values means. */
function productOf(said: unknown): { product: EventDefinition['product']; issues: Issue[] } {
  if (said === undefined || said === null) return { product: null, issues: [] }
  const { issues, output } = judgedAt(said, { field: member, map: anObject }, '/product')
  const lines = Object.entries((output.map ?? {}) as object)
  if (lines.length > MAX_NAMES) {
    issues.push({ pointer: '/product/map', code: 'length', expected: `at most ${MAX_NAMES} words` })
  }
  for (const [word, line] of lines) {
    const { issue } = judged(word, line, f.oneOf(...PRODUCTS))
    if (issue) issues.push({ ...issue, pointer: `/product/map${issue.pointer}` })
  }
  const product = { field: output.field as string, map: Object.fromEntries(lines) }
  return { product, issues }
}

const anObject = v.custom<object>(isObject, 'type object')

const anArray = v.custom<unknown[]>(Array.isArray, 'type array')

/** What an event definition is made of. */
export const definitionFields = {
  granularity: about(
    f.oneOf('event', 'day'),
    '`day`: one record a customer and day, which a re-send replaces.',
  ),
  eventid: v.optional(
    about(
      f.oneOf('required', 'used', 'ignored'),
      'Whether `eventid` tells one event from another; `used` if left out.',
    ),
  ),
  kpis: v.optional(
    about(anArray, 'The members that are KPIs, and must be decimals; `Value` always is one.', [
      'GGR',
      'NGR',
    ]),
  ),
  product: v.optional(
    v.nullable(
      about(anObject, 'The member that says the product line, and what each of its values means.', {
        field: 'Product',
        map: { Casino: 'casino' },
      }),
    ),
  ),
  currency: v.optional(v.nullable(about(f.currency, 'The currency of what names none.', 'EUR'))),
}

/** How the events of a brand are to be read, a definition a name. */
export const eventDefinitions = new Hono<Caller>()
  .get('/', async (c) => {
    readQuery(c.req.url)
    const { id } = await brandOf(c)
    return c.json({ data: await definitionsOf(c.env.DB, id) })
  })

  .put('/:eventname', async (c) => {
    readQuery(c.req.url)
    const { id: account } = await brandOf(c)
    const eventname = c.req.param('eventname')
    if (!v.is(f.id, eventname))
      throw refused([{ pointer: '', code: 'length', expected: '1 to 500' }])
    const said = await readFields(c, definitionFields)
    const { product, issues } = productOf(said.product)
    issues.push(...kpisOf(said.kpis ?? [], product?.field ?? 'product'))
    if (issues.length > 0) throw refused(issues)
    const definition: EventDefinition = {
      eventname,
      granularity: said.granularity,
      eventid: said.eventid ?? 'used',
      kpis: [...new Set((said.kpis ?? []) as string[])],
      product,
      currency: said.currency ?? null,
    }
    const others = await definitionsOf(c.env.DB, account)
    const isNew = !others.some((other) => other.eventname === eventname)
    const kept = others.filter((other) => other.eventname !== eventname)
    const bytes = new TextEncoder().encode(JSON.stringify([...kept, definition])).length
    if (kept.length >= MAX_DEFINITIONS || bytes > MAX_BYTES) {
      const most = `${MAX_DEFINITIONS} definitions, of ${MAX_BYTES / 1024} KiB in all`
      throw new ApiError('conflict', { detail: `A brand has at most ${most}.` })
    }
    const details: Record<string, unknown> = { ...definition }
    const act = { actor: c.var.actor, action: 'event-definition.put', account, details }
    await audited(c.env.DB, act, [
      putDefinition(c.env.DB, account, definition),
      outdate(c.env.DB, account),
    ])
    const takes_effect = await pushed(c.env, account)
    return c.json({ ...definition, takes_effect }, isNew ? 201 : 200)
  })

  .delete('/:eventname', async (c) => {
    readQuery(c.req.url)
    const { id: account } = await brandOf(c)
    const eventname = c.req.param('eventname')
    const known = await definitionsOf(c.env.DB, account)
    if (!known.some((one) => one.eventname === eventname)) {
      throw missing('event definition', eventname)
    }
    const details = { eventname }
    const act = { actor: c.var.actor, action: 'event-definition.delete', account, details }
    await audited(c.env.DB, act, [
      dropDefinition(c.env.DB, account, eventname),
      outdate(c.env.DB, account),
    ])
    await pushedNow(c.env, account)
    return c.body(null, 204)
  })
