import { type Call, computeStatements, type DemoAccount, senderOf, sendLocal } from '../client.ts'
import { payByHand } from '../payouts.ts'
import { CLOSED, DEMO_PERIOD, demoCommissions } from './records.ts'

interface List {
  data: { id: string; affiliate_id: string; status: string }[]
}

const statementsOf = (call: Call, account: string) =>
  call<List>('GET', `accounts/${account}/statements?period=${DEMO_PERIOD}`)

/**
 * Gives demo accounts plans and the records of a month, and computes the drafts of that month. One account has its
 * books closed. An account with statements of the month stays as it is. After a failure, the next start repeats every
 * step.
 *
 * @param storeRates Stores the exchange rates, which records need.
 */
export async function createCommissions(
  base: string,
  call: Call,
  accounts: readonly DemoAccount[],
  storeRates: () => Promise<unknown>,
): Promise<void> {
  const drafts = await Promise.all(accounts.map(({ account }) => statementsOf(call, account)))
  const empty = accounts.filter((_, i) => drafts[i]!.data.length === 0)
  const rates = empty.length > 0 ? storeRates() : null
  await Promise.all(
    empty.map(async (demo) => {
      await Promise.all([rates, createRecords(base, call, demo)])
      await computeStatements(call, demo.account, DEMO_PERIOD)
    }),
  )
  await closeBooks(call)
}

async function createRecords(base: string, call: Call, demo: DemoAccount): Promise<void> {
  const { account, vertical, brand_token, link_id } = demo
  const at = `accounts/${account}`
  const trackingData = brand_token ? await followLink(`${base}/go/${link_id}`) : ''
  const { plan, terms, from, affiliates, bulks, refused } = demoCommissions(vertical, trackingData)
  await call('PUT', `${at}/plans/${plan}`, terms)
  await call('PUT', `${at}/assignments`, [{ affiliate_id: '*', plan, from, customers: 'new' }])
  if (affiliates.length > 0) await call('PUT', `${at}/affiliates`, affiliates)
  const send = await senderOf(base, demo)
  for (const [path, records] of Object.entries(bulks)) await send(path, records)
  await send('transactions', refused, 422)
}

/** Returns the `tracking_data` with which a visitor of a link arrives. */
async function followLink(url: string): Promise<string> {
  const { headers } = await sendLocal(url, { redirect: 'manual' })
  return new URL(headers.get('Location') ?? '').searchParams.get('tracking_data') ?? ''
}

/**
 * Approves the statements of a demo account and pays one of them, so that the demo has statements of every status.
 * Does nothing once that statement is no longer a draft.
 */
async function closeBooks(call: Call): Promise<void> {
  const { account, paid, paid_on } = CLOSED
  const { data } = await statementsOf(call, account)
  const statement = data.find(({ affiliate_id }) => affiliate_id === paid)
  if (statement?.status !== 'draft') return
  await call('POST', `accounts/${account}/periods/${DEMO_PERIOD}/approve`, {})
  await payByHand(call, `accounts/${account}`, paid_on, [paid])
}
