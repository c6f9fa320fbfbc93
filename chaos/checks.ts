import { cpSync, readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { expectOk, until } from './ask.ts'
import { checkBooks, closeBooks, earnedBy } from './books.ts'
import { newLanes } from './load.ts'
import { migrate, newSecrets, serve } from './service.ts'
import { type Account, MONTHS, type Team, teamOf, type World } from './world.ts'

/** The account and resource of each stored record that is not held, against the table of their numbers. */
const COUNTS = `
  select account, resource, sum(n) as n from (
    select account, 'customers' as resource, count(*) as n from customers group by 1
    union all select account, 'transactions', count(*) from transactions where held = 0 group by 1
    union all select account, 'activities', count(*) from events where held = 0 group by 1
    union all select account, resource, -total from totals
      where resource in ('customers', 'transactions', 'activities'))
  group by 1, 2 having sum(n) <> 0`

/**
 * Opens copies of all SQLite files of a state that no process uses. SQLite recovers them from their logs as
 * workerd will, and the originals stay. `isAtRest` compares the table of totals, too. Returns the number of files.
 */
export function checkFiles({ check }: World, state: string, isAtRest: boolean): number {
  const copy = `${state}-copy`
  cpSync(state, copy, { recursive: true, filter: (path) => !path.endsWith('-shm') })
  const files = readdirSync(copy, { recursive: true, encoding: 'utf8' })
  const stores = files.filter((path) => path.endsWith('.sqlite'))
  for (const path of stores) {
    const database = new DatabaseSync(join(copy, path))
    const all = (sql: string) => database.prepare(sql).all() as Record<string, unknown>[]
    const flaws = all('pragma integrity_check').filter((one) => one.integrity_check !== 'ok')
    const isOurs = all(`select 1 from sqlite_master where name = 'deliveries'`).length > 0
    if (isOurs && isAtRest) flaws.push(...all(COUNTS))
    database.close()
    check(flaws.length === 0, `${basename(path)}: ${JSON.stringify(flaws)}`)
  }
  rmSync(copy, { recursive: true })
  return stores.length
}

type TeamOf = (account: Account) => Team

/** Returns what a service has stored: the control totals of each account, what waits, and what was earned. */
async function figuresOf(team: TeamOf, affiliates: readonly string[]): Promise<string[]> {
  const to = new Date().toISOString().slice(0, 'YYYY-MM-DD'.length)
  const figures = []
  for (const account of ['firm', 'brand'] as const) {
    const totals = await team(account)('GET', `totals?from=${MONTHS[0]}-01&to=${to}`)
    const held = await team(account)('GET', 'held?per_page=1')
    figures.push(...totals.data, { account, held: held.meta.total })
  }
  figures.push({ earned: await earnedBy(team('firm'), affiliates) })
  return figures.map((one) => JSON.stringify(one))
}

/** Sends what the lanes have stored to a service of its own, to which nothing happens. Returns its figures. */
async function figuresInCalm({ lanes }: World, script: string, state: string): Promise<string[]> {
  const service = await serve({ script, state, secrets: await newSecrets() })
  try {
    await migrate(service)
    const calm = await newLanes(service, lanes.length / 2)
    const replay = async ({ stored }: World['lanes'][number], i: number) => {
      for (const request of stored) {
        for (;;) {
          const { status, headers, body } = await calm[i]!.ask(...request)
          if (status < 300) break
          if (status !== 429) throw new Error(`In calm: ${status} ${JSON.stringify(body)}`)
          await wait(1000 * Number(headers.get('Retry-After')))
        }
      }
    }
    await Promise.all(lanes.map(replay))
    const team: TeamOf = (account) => (method, path, sent) =>
      expectOk(service.admin(method, `accounts/${account}/${path}`, sent))
    const isReleased = async () => {
      const { meta } = await team('firm')('GET', 'held?per_page=1')
      return meta.total === 0
    }
    await until(isReleased, 5)
    await closeBooks(team('firm'))
    return await figuresOf(team, affiliatesOf(calm))
  } finally {
    await service.end()
  }
}

const affiliatesOf = (lanes: World['lanes']) =>
  lanes.filter(({ account }) => account === 'firm').map(({ name }) => name)

/** Checks what must hold whatever has gone wrong. `state` is an empty folder. */
export async function checkWorld(world: World, script: string, state: string): Promise<string> {
  const expected = await figuresInCalm(world, script, state)
  const team: TeamOf = (account) => teamOf(world, account)
  const differing = async () => {
    const found = await figuresOf(team, affiliatesOf(world.lanes))
    const only = (a: readonly string[], b: readonly string[]) => a.filter((one) => !b.includes(one))
    return { stored: only(found, expected), acknowledged: only(expected, found) }
  }
  // Held records are released, and statements computed, after their customers have come.
  const isSame = async () => {
    await closeBooks(team('firm'))
    return Object.values(await differing()).every(({ length }) => length === 0)
  }
  if (!(await until(isSame, 180))) {
    world.check(false, `figures differ: ${JSON.stringify(await differing()).slice(0, 2000)}`)
  }
  return `${expected.length} equal figures, ${await checkBooks(world)}`
}
