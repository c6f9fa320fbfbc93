import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { digest, newSecret } from '../src/auth/secret.ts'

/** A demo account, as `.demo.json` shows it. */
export interface DemoAccount {
  name: string
  vertical: string
  client_id: string
  client_secret: string
}

const ACCOUNTS = [
  {
    id: 'demo-prop',
    name: 'Demo Prop Trading',
    vertical: 'prop-trading',
    affiliates: ['AFF-1', 'AFF-2', 'AFF-3'],
  },
  {
    id: 'demo-forex',
    name: 'Demo Forex',
    vertical: 'forex',
    affiliates: ['IB-07', 'IB-08', 'IB-09'],
  },
]

/** The demo accounts with their secrets: those of the last run, or new ones. */
export function demoAccounts(path: string): DemoAccount[] {
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'))
  const accounts = ACCOUNTS.map(({ id, name, vertical }) => ({
    name,
    vertical,
    client_id: id,
    client_secret: newSecret('tcs', 'test'),
  }))
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(accounts))
  return accounts
}

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

/** The statements that make the demo accounts known; run again they change nothing but secrets. */
export async function seedSql(accounts: DemoAccount[]): Promise<string> {
  const lines = ACCOUNTS.map(async ({ id, name, vertical, affiliates }) => {
    const { client_id, client_secret } = accounts.find((demo) => demo.client_id === id)!
    const secret = quote(await digest(client_secret))
    const now = quote(new Date().toISOString())
    const rows = affiliates.map((affiliate) => `(${quote(id)}, ${quote(affiliate)})`).join(', ')
    return `
insert into accounts (id, name, vertical, mode, unknown_customer, created_at)
values (${quote(id)}, ${quote(name)}, ${quote(vertical)}, 'test', 'reject', ${now})
on conflict do nothing;
insert into clients (client_id, account, secret_digest, created_at)
values (${quote(client_id)}, ${quote(id)}, ${secret}, ${now})
on conflict do update set secret_digest = excluded.secret_digest;
insert into affiliates (account, affiliate_id) values ${rows} on conflict do nothing;`
  })
  return (await Promise.all(lines)).join('\n')
}

/** A customer and a transaction that the vertical takes, for the lines that are printed. */
const SAMPLES: Record<string, { customer: object; transaction: object }> = {
  'prop-trading': {
    customer: { affiliate_id: 'AFF-1', challenge_type: 'standard', phase: 'phase_1' },
    transaction: { transaction_type: 'challenge_fee', amount_currency: 540, currency: 'USD' },
  },
  forex: {
    customer: { affiliate_id: 'IB-07', leverage: '1:100' },
    transaction: { transaction_type: 'deposit', amount_currency: 100.25, currency: 'EUR' },
  },
}

/** Lines to copy and paste: get a token, send a bulk, list it, reconcile it. */
export function curlLines(base: string, account: DemoAccount): string {
  const { client_id, client_secret, vertical } = account
  const { customer, transaction } = SAMPLES[vertical]!
  const at = `${base}/api/v1/${vertical}`
  const json = JSON.stringify
  const customers = [
    {
      customer_id: 'C-1001',
      signup_date: '2026-10-01T08:30:00Z',
      tracking_data: 'click-42',
      ...customer,
    },
  ]
  const transactions = [
    {
      transaction_id: 'T-1',
      customer_id: 'C-1001',
      transaction_date: '2026-10-02T09:30:00Z',
      status: 'approved',
      ...transaction,
    },
  ]
  const post = (resource: string, body: unknown) =>
    `curl -s -X POST ${at}/${resource} -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '${json(body)}'`
  const get = (path: string) => `curl -s '${at}/${path}' -H "Authorization: Bearer $TOKEN"`
  return [
    `BASE=${base} TOKEN=$(curl -s ${base}/oauth/token -d grant_type=client_credentials -d client_id=${client_id} -d client_secret=${client_secret} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    post('customers', customers),
    post('transactions', transactions),
    get('transactions?per_page=10'),
    get('totals?from=2026-10-01&to=2026-10-31'),
  ].join('\n')
}
