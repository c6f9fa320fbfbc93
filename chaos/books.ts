import { setTimeout as wait } from 'node:timers/promises'
import { deliveryTime } from '../src/ingest/delivery-id.ts'
import { HOUR_MS } from '../src/platform/durations.ts'
import { until } from './ask.ts'
import { newWebhook } from './parties.ts'
import {
  currentMonth,
  DATABASES_OF,
  isOver,
  MONTHS,
  type Team,
  teamOf,
  type World,
} from './world.ts'

// The books of the firm: each of its lanes is an affiliate, who earns a tenth of deposits.

const HOOKS = ['/ok/hook', '/once/hook']
const HOOK_EVENTS = ['delivery.refused', 'statement.approved', 'statement.paid']

/** Creates the webhooks of the firm. */
export async function prepareHooks(world: World): Promise<void> {
  for (const path of HOOKS) await newWebhook(world, world.receiver, 'firm', path, HOOK_EVENTS)
  for (const secret of world.receiver.secrets.values()) world.sensitive.add(secret)
}

/** Computes the drafts of a month and of open ones before it. */
async function computeDrafts(team: Team, month: number): Promise<void> {
  for (let tries = 0; tries < 4; tries++) {
    const { id } = await team('POST', `periods/${MONTHS[month]}/run`)
    const status = async () => (await team('GET', `runs/${id}`)).status
    await until(async () => (await status()) !== 'running', 60)
    if ((await status()) === 'done') return
  }
  throw new Error(`No run of ${MONTHS[month]} has ended.`)
}

type Statement = Record<'id' | 'affiliate_id' | 'period' | 'status' | 'hash' | 'payable', string>

const listStatements = async (team: Team, query: string): Promise<Statement[]> =>
  (await team('GET', `statements?${query}`)).data

/** Approves and pays the statements of some months. A draft is refused if its records have changed since. */
async function settle(team: Team, months: readonly string[]): Promise<void> {
  for (const month of months) await team('POST', `periods/${month}/approve`, { body: {} })
  const { data } = await team('GET', 'payable')
  if (data.length === 0) return
  const paid_on = new Date().toISOString().slice(0, 10)
  const rows = data.map(({ id }: { id: string }) => ({ id, reason: 'In cash' }))
  const asked = { method: 'manual', execute_on: paid_on, rows }
  const { id, hash, total } = await team('POST', 'batches', { body: asked })
  await team('POST', `batches/${id}/confirm`, { body: { hash, total } })
  await team('POST', `batches/${id}/pay`, { body: { paid_on } })
}

/** Computes, approves and pays statements while records arrive. The last month stays open. */
export async function keepBooks(world: World): Promise<void> {
  const team = teamOf(world, 'firm')
  while (!isOver(world)) {
    const current = currentMonth(world)
    await computeDrafts(team, current)
    await settle(team, MONTHS.slice(0, Math.min(current, 2)))
    await wait(500)
  }
}

/** Settles all months. */
export async function closeBooks(team: Team): Promise<void> {
  await computeDrafts(team, 2)
  await settle(team, MONTHS)
}

type Entry = Record<'kind' | 'amount' | 'statement', string>

const centsOf = (entries: readonly Entry[]): number =>
  entries.reduce((sum, { amount }) => sum + Math.round(Number(amount) * 100), 0)

const readLedger = async (team: Team, affiliate: string) => {
  const { data }: { data: Entry[] } = await team(
    'GET',
    `ledger?affiliate_id=${affiliate}&per_page=200`,
  )
  return (...kinds: string[]) => data.filter(({ kind }) => kinds.includes(kind))
}

/** Returns what affiliates have earned, in cents. */
export const earnedBy = (team: Team, affiliates: readonly string[]): Promise<number[]> =>
  Promise.all(
    affiliates.map(async (name) => centsOf((await readLedger(team, name))('earned', 'adjusted'))),
  )

/** Checks that each statement is paid once, and that each webhook got each cause once. */
export async function checkBooks(world: World): Promise<string> {
  const team = teamOf(world, 'firm')
  const statements = await listStatements(team, 'per_page=200')
  for (const { id, affiliate_id, payable, status } of statements) {
    const of = await readLedger(team, affiliate_id)
    const paid = of('paid').filter(({ statement }) => statement === id)
    const due = Math.round(Number(payable) * 100)
    const isRight = paid.length === Number(due > 0) && centsOf(paid) === -due
    const what = `${id}, ${status}, of ${due} cents`
    world.check(isRight && status !== 'draft', `${what} was paid ${paid.length} times`)
  }
  await checkWebhooks(world, statements)
  return `${statements.length} statements, ${world.receiver.received.length} events`
}

/** A refused delivery is told once for each resource and hour. */
const refusal = (id: string, resource: string) =>
  `delivery.refused ${resource} ${Math.floor(deliveryTime(id) / HOUR_MS)}`

/** Checks that each webhook got each cause once: refused deliveries, approvals and payments. */
async function checkWebhooks(world: World, statements: readonly Statement[]): Promise<void> {
  // The old copy of a move may still be there.
  const causes = new Set<string>()
  for (const name of DATABASES_OF.firm) {
    const database = await world.service.miniflare.getD1Database(name)
    const { results } = await database
      .prepare(`select id, resource from deliveries where account = 'firm' and errors_total > 0`)
      .all<{ id: string; resource: string }>()
    for (const { id, resource } of results) causes.add(refusal(id, resource))
  }
  for (const { id, payable } of statements) {
    causes.add(`statement.approved ${id}`)
    if (Number(payable) > 0) causes.add(`statement.paid ${id}`)
  }
  for (const path of HOOKS) {
    const got = () => {
      const events = new Map(world.receiver.at(path).map(({ id, event }) => [id, event]))
      return [...events.values()].map(({ type, data }) =>
        data.delivery_id
          ? refusal(String(data.delivery_id), String(data.resource))
          : `${type} ${data.statement_id}`,
      )
    }
    const isWhole = await until(() => `${got().sort()}` === `${[...causes].sort()}`, 240)
    world.check(isWhole, `${path} got ${got().length} events of ${causes.size} causes`)
    const isSigned = world.receiver.at(path).every((one) => one.isSigned)
    world.check(isSigned, `${path} got a wrong signature`)
  }
}
