import { globSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ulid } from '../../src/db/ulid.ts'
import { DAY_HOURS, DAY_MS, HOUR_MS } from '../../src/durations.ts'
import { copyRepository, type Demo, serveIn } from '../../test-node/service.ts'
import { activity, customers, DAYS, dayBefore, refused, transactions } from './records.ts'

const ACCOUNT = 'demo-forex'
const RESOURCES = ['customers', 'transactions', 'trading-activity']

/** Starts a service whose demo broker has delivered records on each of the last days. */
export async function startBroker(now: number) {
  const root = copyRepository()
  const deleteFiles = () => rmSync(root, { recursive: true, force: true })
  try {
    const first = await serveIn(root)
    await sendAll(first.demo, now)
    await first.end('SIGTERM')
    logEarlierDays(root, now)
    const { demo, end } = await serveIn(root)
    const stop = async () => {
      await end('SIGTERM')
      deleteFiles()
    }
    return { demo, stop }
  } catch (error) {
    deleteFiles()
    throw error
  }
}

/** Sends the records as the broker, and computes the statements of last month. */
async function sendAll({ base_url, admin_key, accounts }: Demo, now: number): Promise<void> {
  const broker = accounts.find(({ account }) => account === ACCOUNT)
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: broker?.client_id ?? '',
    client_secret: broker?.client_secret ?? '',
  })
  const answer = await fetch(`${base_url}/oauth/token`, { method: 'POST', body: form })
  const { access_token } = (await answer.json()) as { access_token: string }
  const post = (path: string, token: string, body: unknown) =>
    fetch(base_url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const send = async (resource: string, records: object[], expected = 200) => {
    for (let i = 0; i < records.length; i += 1000) {
      const path = `/api/v1/forex/${resource}`
      const response = await post(path, access_token, records.slice(i, i + 1000))
      if (response.status !== expected) throw new Error(await response.text())
    }
  }
  await send('customers', customers(now))
  await send('transactions', transactions(now))
  await send('trading-activity', activity(now))
  await send('transactions', refused(now), 422)
  for (const daysAgo of [0, DAYS]) {
    const period = dayBefore(now, daysAgo).slice(0, 7)
    await post(`/admin/v1/accounts/${ACCOUNT}/periods/${period}/run`, admin_key, {})
  }
}

/** Writes into the stopped service that the records came day by day: a delivery cannot be dated back. */
function logEarlierDays(root: string, now: number): void {
  const isService = (path: string) => {
    const database = new DatabaseSync(path)
    const found = database.prepare(`select 1 from sqlite_schema where name = 'arrivals'`).get()
    database.close()
    return found !== undefined
  }
  const path = globSync(join(root, '.wrangler/state/v3/d1/**/*.sqlite')).find(isService)
  if (!path) throw new Error('The service has no database.')
  const database = new DatabaseSync(path)
  const insert = database.prepare(
    `insert into arrivals (account, hour, resource, deliveries, received, refused, last_at, yesterday, today)
     values (?, ?, ?, 1, ?, ?, ?, 1, 0) on conflict do nothing`,
  )
  database.exec(`update arrivals set received = received / 4 where account = '${ACCOUNT}'`)
  for (let ago = 1; ago < DAYS; ago++) {
    for (const [n, resource] of RESOURCES.entries()) {
      const hour = Math.floor(Date.parse(dayBefore(now, ago)) / HOUR_MS) + 6
      const wave = Math.abs(Math.sin(ago * (n + 1)))
      const received = Math.round([12, 60, 240][n]! * (0.75 + wave / 4) + (DAYS - ago) * 3)
      const refused = ago % 9 === 4 ? Math.round(received * 0.3) : 0
      insert.run(ACCOUNT, hour, resource, received, refused, hour * HOUR_MS + 600_000)
    }
  }
  moveToYesterday(database)
  database.close()
}

/** Writes that the first refused delivery came a day earlier. */
function moveToYesterday(database: DatabaseSync): void {
  const found = database
    .prepare(
      `select id, received_at, received from deliveries where account = ? and refused > 0 order by id limit 1`,
    )
    .get(ACCOUNT)
  const time = Number(found?.received_at) - DAY_MS
  const moved = `dlv_${ulid(time)}`
  const id = String(found?.id)
  database
    .prepare('update deliveries set id = ?, received_at = ? where account = ? and id = ?')
    .run(moved, time, ACCOUNT, id)
  database
    .prepare(
      'update delivery_terms set day = day - 1, delivery = ? where account = ? and delivery = ?',
    )
    .run(moved, ACCOUNT, id)
  database
    .prepare(
      `update arrivals set refused = refused + ? where account = ? and resource = 'transactions'
         and hour = (select max(hour) from arrivals where account = ? and hour < ?)`,
    )
    .run(Number(found?.received), ACCOUNT, ACCOUNT, Math.floor(Date.now() / DAY_MS) * DAY_HOURS)
}
