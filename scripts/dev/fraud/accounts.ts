import { DAY_MS } from '../../../src/durations.ts'
import { computeStatements, senderOf } from '../commissions/create.ts'
import type { DemoAccount } from '../demo-account.ts'
import { monthsUntil } from '../year.ts'
import { plantPatterns, putRules, type Target } from './create.ts'

/** Calls `/admin/v1`. A 404 and a 409 are answers as well. */
type Call = <T>(method: string, path: string, body?: unknown) => Promise<T>

/** The plan of the casino's affiliates with patterns: the others share the revenue, so that nobody qualifies. */
const FIRST_DEPOSITS = {
  name: 'First deposits',
  currency: 'EUR',
  period: 'month',
  terms: 'signup',
  negative: 'carry',
  minimum_payout: '50.00',
  hold_days: 14,
  rules: [{ id: 'cpa', kind: 'once', trigger: { event: 'Deposit', min: '20' }, amount: '60.00' }],
}

/** The affiliate whose statements show that its pattern is complete. */
const LAST = 'OVER-1'

/** The months of which statements are computed: the last three that are over. */
const MONTHS = 3

/**
 * Adds the patterns of fraud, and the rules that find them, to the demo accounts of a prop firm and of a
 * casino. An account that has them stays as it is.
 */
export async function createFraud(
  base: string,
  call: Call,
  accounts: readonly DemoAccount[],
  trackingKeys: string,
): Promise<void> {
  const today = Math.floor(Date.now() / DAY_MS)
  const wanted = accounts.filter(({ vertical }) => vertical !== 'forex')
  await Promise.all(wanted.map((account) => addTo(base, call, account, trackingKeys, today)))
}

async function addTo(
  base: string,
  call: Call,
  account: DemoAccount,
  trackingKeys: string,
  today: number,
): Promise<void> {
  const at = `accounts/${account.account}`
  const months = monthsUntil(today)
  const from = new Date((months[0]?.first ?? 0) * DAY_MS).toISOString().slice(0, 10)
  const { data } = await call<{ data: unknown[] }>('GET', `${at}/statements?affiliate_id=${LAST}`)
  if (data.length > 0) return putRules({ ...account, call }, from)
  const post = await senderOf(base, account)
  const target: Target = {
    account: account.account,
    vertical: account.vertical,
    landing_page: 'https://fraud.example/start',
    call,
    send: (path, records) => post(path, JSON.stringify(records), 200),
    trackingKeys,
  }
  if (account.vertical === 'igaming') {
    await call('PUT', `${at}/plans/first-deposits`, { ...FIRST_DEPOSITS, effective_from: from })
  }
  const affiliates = await plantPatterns(target, today)
  if (account.vertical === 'igaming') {
    await call(
      'PUT',
      `${at}/assignments`,
      affiliates.map((affiliate_id) => ({
        affiliate_id,
        plan: 'first-deposits',
        from,
        customers: 'new',
      })),
    )
  }
  const ended = months.slice(-MONTHS - 1, -1)
  await Promise.all(ended.map(({ period }) => computeStatements(call, at, period)))
  // Each run evaluates the rules, so they come after the last one.
  await putRules(target, from)
}
