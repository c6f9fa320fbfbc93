import * as v from 'valibot'
import { hasClosedPeriods } from '../commission/db/closings.ts'
import { propagateNow, propagateSettings } from '../platform/auth/propagate.ts'
import { accountDatabase } from '../platform/db/database.ts'
import type { Account } from '../platform/db/schema.ts'
import { changesOf } from '../platform/directory/audit.ts'
import * as rows from '../platform/directory/event-definitions.ts'
import { ApiError } from '../platform/errors.ts'
import { operation, reply } from '../platform/http/operation.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import { takes_effect } from '../platform/validation/answer-fields.ts'
import {
  answered,
  described,
  listOf,
  named,
  withMembers,
} from '../platform/validation/described.ts'
import * as f from '../platform/validation/fields.ts'
import { member, said } from '../platform/validation/fields.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { requireBrand } from './brand-tokens.ts'
import { changeSettings } from './change-settings.ts'
import { definitionFields } from './definition-fields.ts'

/** Limits on the definitions of a brand: every authenticated request carries them in its grant. */
const MAX_DEFINITIONS = 200
const MAX_BYTES = 131_072

type DefinitionFields = v.InferOutput<v.ObjectSchema<typeof definitionFields, undefined>>

/** Returns an event definition with all members. */
function toDefinition(
  eventname: string,
  { granularity, ...fields }: DefinitionFields,
): rows.EventDefinition {
  const { eventid = 'used', kpis = [], product = null, currency = null } = fields
  const { outflow = false, status_member = null } = fields
  const productField = rows.productFieldOf({ product })
  const isProduct = (name: string) =>
    productField ? name === productField : rows.isProductName(name)
  const issues = kpis.flatMap((name, i): Issue[] =>
    isProduct(name) ? [{ pointer: `/kpis/${i}`, code: 'duplicate_key' }] : [],
  )
  if (status_member !== null && (kpis.includes(status_member) || isProduct(status_member))) {
    issues.push({
      pointer: '/status_member',
      code: 'not_applicable',
      expected: 'it is neither a KPI nor the field of the product',
    })
  }
  if (issues.length > 0) throw validationFailed(issues)
  return {
    eventname,
    granularity,
    eventid,
    kpis: [...new Set(kpis)],
    product,
    currency,
    outflow,
    status_member,
  }
}

/** Throws `conflict` if a brand would have too many definitions with one more. */
function checkLimits(
  others: readonly rows.EventDefinition[],
  definition: rows.EventDefinition,
): void {
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
  stored: rows.EventDefinition,
  changed: rows.EventDefinition | null,
): Promise<void> {
  const after = changed ?? { outflow: false, status_member: null, currency: null }
  const [name] = JUDGED.filter((one) => {
    if (one === 'outflow' && account.amount_signs !== 'signed') return false
    if (one === 'currency' && stored.currency === null) return false
    return stored[one] !== after[one]
  })
  if (name === undefined) return
  const db = accountDatabase(env, account)
  if (!(await hasClosedPeriods(db, account.id))) return
  throw new ApiError('conflict', {
    detail: `The account has closed periods, and another \`${name}\` would also change how stored events count. It can change only while no period is closed.`,
  })
}

const eventname = member(v.string(), said('The name of the event.', 'DailyStats'))

/** The definition of an event. */
export const eventDefinition = described(() =>
  named('EventDefinition', withMembers(answered(definitionFields), { eventname })),
)

const ofEvent = {
  topic: 'definitions',
  path: '/events/{eventname}',
  params: { eventname },
} as const

export const listEventDefinitions = operation({
  topic: 'definitions',
  path: '/events',
  id: 'listEventDefinitions',
  shows: 'account',
  method: 'GET',
  words: described(() => ({
    description: 'Lists the event definitions of a brand, ordered by name.',
    answer: listOf(eventDefinition),
    account: 'brand_account',
    errors: ['conflict'],
    command: { name: 'events list' },
  })),
  async run({ env, account }) {
    requireBrand(account)
    return { data: await rows.listDefinitions(env.DB, account.id) }
  },
})

const changedEventDefinition = described(() =>
  named('ChangedEventDefinition', withMembers(eventDefinition, { takes_effect })),
)

export const putEventDefinition = operation({
  ...ofEvent,
  id: 'putEventDefinition',
  shows: 'account',
  method: 'PUT',
  role: 'manager',
  body: definitionFields,
  words: described(() => ({
    description:
      'Creates or replaces the definition of an event. It applies to later requests. A brand has at most 200 definitions.',
    answer: changedEventDefinition,
    others: { 201: changedEventDefinition },
    account: 'brand_account',
    errors: ['conflict'],
    command: { name: 'events put' },
  })),
  async run(call, { eventname: name, ...fields }) {
    const { env, account } = call
    requireBrand(account)
    if (!v.is(f.id, name))
      throw validationFailed([{ pointer: '', code: 'length', expected: '1 to 500' }])
    const definition = toDefinition(name, fields)
    const definitions = await rows.listDefinitions(env.DB, account.id)
    const stored = definitions.find((other) => other.eventname === name)
    const others = definitions.filter((other) => other !== stored)
    checkLimits(others, definition)
    if (stored) await admitChange(env, account, stored, definition)
    const details = { eventname: name, changes: changesOf(stored ?? {}, definition) }
    await changeSettings(call, 'event-definition.put', details, [
      rows.putDefinition(env.DB, account.id, definition),
    ])
    const answer = { ...definition, takes_effect: await propagateSettings(env, account.id) }
    return stored ? answer : reply(201, answer)
  },
})

export const dropEventDefinition = operation({
  ...ofEvent,
  id: 'dropEventDefinition',
  shows: 'account',
  method: 'DELETE',
  role: 'manager',
  words: described(() => ({
    description: 'Deletes a definition. Later events of that name are read without a definition.',
    answer: null,
    account: 'brand_account',
    errors: ['conflict'],
    command: {
      name: 'events delete',
      done: 'Deleted the definition of event {eventname} of account {account}.',
    },
  })),
  async run(call, { eventname: name }) {
    const { env, account } = call
    requireBrand(account)
    const definitions = await rows.listDefinitions(env.DB, account.id)
    const stored = definitions.find((definition) => definition.eventname === name)
    if (!stored) throw notFound('event definition', name)
    await admitChange(env, account, stored, null)
    await changeSettings(call, 'event-definition.delete', { eventname: name }, [
      rows.deleteDefinition(env.DB, account.id, name),
    ])
    await propagateNow(env, account.id)
    return null
  },
})

/** The operations on the event definitions of a brand; each names one event. */
export const EVENT_OPERATIONS = [listEventDefinitions, putEventDefinition, dropEventDefinition]
