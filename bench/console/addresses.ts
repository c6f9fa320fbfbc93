import { readFileSync } from 'node:fs'
import { pagePaths } from '../../test-node/console/pages.ts'
import { ACCOUNT } from '../commissions/fill.ts'
import { affiliateId, LAST_DAY, PERIOD, PLAN_NAMES } from '../commissions/plans.ts'
import { ADMIN_KEY } from '../cost/parties.ts'
import { expectOk } from '../http.ts'
import type { Running } from '../worker.ts'

/** Queries with which a page reads more than without. The empty query is always measured. */
const QUERIES: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  '/accounts/:account/deliveries': [
    { status: 'refused' },
    { record_id: 'TX-0000001' },
    { record_id: 'TX-refused-1' },
  ],
  '/accounts/:account/customers': [{ unattributed: 'true', from: `${PERIOD}-01`, to: LAST_DAY }],
  '/accounts/:account/customers/:customer': [{ period: PERIOD }],
  '/accounts/:account/reports': [
    { from: `${PERIOD}-01`, to: `${PERIOD}-07`, group_by: 'day' },
    { from: `${PERIOD}-01`, to: LAST_DAY, group_by: 'affiliate_id' },
  ],
  '/accounts/:account/statements': [{ period: PERIOD }],
  '/accounts/:account/lines/:line': [{ customer_id: 'CUSTOMER' }],
  '/accounts/:account/plans/:plan/simulate': [
    { period: PERIOD, affiliate_id: affiliateId(0), terms: 'TERMS' },
  ],
  '/accounts/:account/unearned': [
    { period: PERIOD, affiliate_id: affiliateId(0) },
    { period: PERIOD },
  ],
}

/** A page to measure: how it is called in the table, and its address. */
export interface Address {
  readonly name: string
  readonly path: string
}

async function getAsTeam<T>({ url }: Running, path: string): Promise<T> {
  const headers = { Authorization: `Bearer ${ADMIN_KEY}` }
  return JSON.parse(
    await expectOk(new URL(`/admin/v1/accounts/${ACCOUNT}/${path}`, url), { headers }),
  )
}

interface Ids {
  data: { id: string }[]
  lines: { id: string }[]
}

/** Returns the pages of the account. Those whose parameters have no value here are left out. */
export async function addressesOf(running: Running, delivery: string): Promise<Address[]> {
  const affiliate = affiliateId(0)
  const list = `statements?period=${PERIOD}&affiliate_id=${affiliate}`
  const statement = (await getAsTeam<Ids>(running, list)).data[0]!.id
  const line = (await getAsTeam<Ids>(running, `statements/${statement}`)).lines[0]!.id
  const plan = PLAN_NAMES[0]!
  const customer = 'CU-000001'
  const values: Readonly<Record<string, string>> = {
    account: ACCOUNT,
    affiliate,
    customer,
    delivery,
    line,
    plan,
    statement,
  }
  const terms = readFileSync(`examples/plans/${plan}.json`, 'utf8')
  const written = new Map([
    ['TERMS', terms],
    ['CUSTOMER', customer],
  ])
  return (await pagePaths()).flatMap((path) => {
    const filled = path.replace(/:(\w+)/g, (_, name) => values[name] ?? ':')
    if (filled.includes(':')) return []
    return [{}, ...(QUERIES[path] ?? [])].map((query) => {
      const entries = Object.entries(query)
      const known = entries.map(([name, value]): [string, string] => [
        name,
        written.get(value) ?? value,
      ])
      const search = entries.length === 0 ? '' : `?${new URLSearchParams(known)}`
      const short = path.replace('/accounts/:account', '…') || '/accounts'
      const names = entries.map(([name, value]) => (written.has(value) ? name : `${name}=${value}`))
      return {
        name: `${short}${names.length === 0 ? '' : `?${names.join('&')}`}`,
        path: `/console${filled}${search}`,
      }
    })
  })
}
