import { Hono } from 'hono'
import * as v from 'valibot'
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
import { readQuery } from '../ingest/query.ts'
import { fieldsOf, readFields, refused } from './body.ts'
import { brandOf } from './brand-tokens.ts'
import { push } from './push.ts'

/** They ride in the answer to every request: so many are plenty, and cost little. */
const MAX_DEFINITIONS = 200
const MAX_NAMES = 100

const isOwn = (name: string) => !KNOWN.includes(name)

/** A member that a definition may name: not one that every event has. */
const member = v.pipe(
  f.text,
  v.check(isOwn, `pattern a member of your own, none of: ${KNOWN.join(', ')}`),
)

const kpis = v.pipe(
  v.array(member),
  v.check((names) => names.length <= MAX_NAMES, `length at most ${MAX_NAMES} names`),
)

const map = v.custom<EventDefinition['product']>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'type object',
)

function productOf(said: object | null | undefined): EventDefinition['product'] {
  if (!said) return null
  const { field, map: lines } = fieldsOf(said, { field: member, map }, '/product')
  const sent = Object.entries(lines as object)
  const wrong = sent.filter(([name, line]) => name === '' || !PRODUCTS.includes(line))
  if (sent.length > MAX_NAMES || wrong.length > 0) {
    const expected = PRODUCTS.join(', ')
    throw refused([{ pointer: '/product/map', code: 'enum', expected }])
  }
  return { field, map: Object.fromEntries(sent) }
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
    const said = await readFields(c, {
      granularity: f.oneOf('event', 'day'),
      eventid: v.optional(f.oneOf('required', 'used', 'ignored')),
      kpis: v.optional(kpis),
      product: v.optional(
        v.nullable(v.custom<object>((o) => typeof o === 'object', 'type object')),
      ),
      currency: v.optional(v.nullable(f.currency)),
    })
    const definition: EventDefinition = {
      eventname,
      granularity: said.granularity,
      eventid: said.eventid ?? 'used',
      kpis: [...new Set(said.kpis ?? [])],
      product: productOf(said.product),
      currency: said.currency ?? null,
    }
    const others = await definitionsOf(c.env.DB, account)
    const isNew = !others.some((other) => other.eventname === eventname)
    if (isNew && others.length >= MAX_DEFINITIONS) {
      throw new ApiError('conflict', { detail: `A brand has at most ${MAX_DEFINITIONS} of these.` })
    }
    const details = { ...definition }
    const act = { actor: c.var.actor, action: 'event-definition.put', account, details }
    await audited(c.env.DB, act, [
      putDefinition(c.env.DB, account, definition),
      outdate(c.env.DB, account),
    ])
    await push(c.env, account)
    return c.json(definition, isNew ? 201 : 200)
  })

  .delete('/:eventname', async (c) => {
    readQuery(c.req.url)
    const { id: account } = await brandOf(c)
    const eventname = c.req.param('eventname')
    const known = await definitionsOf(c.env.DB, account)
    if (!known.some((one) => one.eventname === eventname)) throw new ApiError('not_found')
    const details = { eventname }
    const act = { actor: c.var.actor, action: 'event-definition.delete', account, details }
    await audited(c.env.DB, act, [
      dropDefinition(c.env.DB, account, eventname),
      outdate(c.env.DB, account),
    ])
    await push(c.env, account)
    return c.body(null, 204)
  })
