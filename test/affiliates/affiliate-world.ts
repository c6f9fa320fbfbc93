import { introspectWorkflow } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { assign, monthly, storePlan } from '../commission/stored.ts'
import { ada, ask, askAdmin, deposit, json, partner, resumed, traded } from '../partner.ts'
import { builtOnce } from '../world.ts'

// A firm with affiliates above, below and beside one another, for the tests of what affiliates read.

/** What no affiliate may ever see: it marks each personal value of the world. */
export const MARK = 'zq9marked'

const BASE = [{ transactions: ['deposit' as const] }]

/** The affiliates, each with a customer of the same name: `own` is below `top`, and above `below`. */
export const AFFILIATES = ['top', 'own', 'below', 'other'] as const
export type Who = (typeof AFFILIATES)[number]

/** Sends a request with the key of an affiliate. */
export const askWith = (key: string, path: string, accept = 'application/json') =>
  ask(`/affiliate/v1/${path}`, { headers: { Authorization: `Bearer ${key}`, Accept: accept } })

/** Creates the firm, its records and the drafts of October. Returns the firm and its statements. */
async function build(account: string, mark: string) {
  const acme = await partner('forex', { account, affiliates: [...AFFILIATES] })
  const path = `accounts/${account}`
  await askAdmin(`${path}/affiliates`, 'PUT', [
    { affiliate_id: 'own', parent: 'top', from: '2026-01-01', note: `${mark} note` },
    { affiliate_id: 'below', parent: 'own', from: '2026-01-01' },
  ])
  const rules = monthly([
    {
      ...{ id: 'cpa', kind: 'once', trigger: { transactions: ['deposit'], min: '10' } },
      ...{
        amount: '20.00',
        qualify: [{ count: { activity: 'lots_traded' }, min: 1, within_days: 60 }],
      },
    },
    { id: 'share', kind: 'share', percent: '10', base: BASE, per: 'customer' },
    { id: 'lots', kind: 'unit', unit: { activity: 'lots_traded' }, amount: '2.50' },
    { id: 'up', kind: 'override', level: 1, of: { base: BASE }, percent: '5' },
    { id: 'master', kind: 'override', level: 1, of: { lines: ['share'] }, percent: '5' },
  ])
  await storePlan(account, 'ib', rules)
  await assign(account, 'ib')
  const customers = AFFILIATES.flatMap((who) => [`c-${who}`, `c-${who}-waits`])
  await acme.post(
    'customers',
    customers.map((customer_id) => ({
      ...ada,
      ...{ customer_id, affiliate_id: customer_id.split('-')[1], country_code: 'MT' },
      ...{ first_name: `${mark}-first`, last_name: `${mark}-last`, email: `${mark}@x.example` },
      ...{ kyc_status_id: `${mark}-kyc`, sales_status_id: `${mark}-sales` },
    })),
  )
  await acme.post(
    'transactions',
    customers.flatMap((customer_id, i) => [
      { ...deposit, customer_id, transaction_id: `t-${i}`, amount_currency: 100 + i },
      {
        ...{ ...deposit, customer_id, transaction_id: `d-${i}`, status: 'declined' },
        ...{ transaction_date: '2026-10-03T09:30:00.000Z' },
      },
    ]),
  )
  await acme.post(
    'trading-activity',
    AFFILIATES.map((who) => ({ ...traded, customer_id: `c-${who}` })),
  )
  for (const who of AFFILIATES) {
    await askAdmin(`${path}/links`, 'POST', {
      ...{ affiliate_id: who, landing_page: `https://${who}.example/`, name: `Link of ${who}` },
    })
  }
  const runs = await introspectWorkflow(env.STATEMENT_RUNS)
  await askAdmin(`${path}/periods/2026-10/run`, 'POST')
  for (const run of await runs.get()) await run.waitForStatus('complete')
  await runs.dispose()
  const { data } = await json(askAdmin(`${path}/statements?period=2026-10`))
  return { firm: acme.firm, data }
}

/** Returns the firm with its requests. */
export async function affiliateWorld(account = 'acme-forex', mark = MARK) {
  const { firm, data } = await builtOnce(`${account} ${mark}`, () => build(account, mark))
  const acme = await resumed('forex', firm)
  const path = `accounts/${account}`
  const statementOf = (who: Who): { id: string; hash: string } =>
    data.find((one: { affiliate_id: string }) => one.affiliate_id === who)
  const makeKey = async (who: Who, fields: object = {}) => {
    const made = await json(
      askAdmin(`${path}/affiliates/${who}/keys`, 'POST', { name: 'Tracker', ...fields }),
    )
    return made.affiliate_key as string
  }
  const linesOf = async (who: Who) => {
    const { lines } = await json(askAdmin(`${path}/statements/${statementOf(who).id}`))
    return lines as { id: string; rule: string; scope: string; amount: string }[]
  }
  /** Reads the lines of an affiliate's statement as they see them: under other ids. */
  const shownLinesOf = async (key: string, who: Who): ReturnType<typeof linesOf> =>
    (await json(askWith(key, `statements/${statementOf(who).id}`))).lines
  const show = (affiliate_view: object) => askAdmin(path, 'PATCH', { affiliate_view })
  return { ...acme, path, statementOf, makeKey, linesOf, shownLinesOf, show }
}
